"""Names in plots: short, told apart, and nothing said by the plotting library."""

import json

import pytest
from conftest import PROJECT, run_process
from hypothesis import given
from hypothesis import strategies as st

from induction.drawing import plots

SUITE = PROJECT / "data" / "suite.yaml.gz"


@given(st.lists(st.text(max_size=60) | st.text("ab", min_size=38, max_size=90), max_size=30))
def test_shortened_names_are_short_and_as_many(names):
    short = plots.short_names(names)
    assert short.keys() == set(names)
    assert len(set(short.values())) == len(short)
    assert all(plots._width(one) <= 40 for one in short.values())
    assert all(short[one] == one for one in names if plots._width(one) <= 40 and "#" not in one)


def test_the_middle_goes():
    name = "organisation/" + "x" * 120 + "-large"
    assert plots.short_names([name]) == {name: "organisation/xxxxxxx…xxxxxxxxxxxxx-large"}
    alike = [f"{'a' * 60}{i}{'b' * 60}" for i in range(3)]
    assert [one[-3:] for one in plots.short_names(alike).values()] == ["bbb", " #2", " #3"]


@pytest.mark.parametrize("name", ["m" * 150, "a name of words " * 12, "$" * 150, "日本語" * 50, "_" * 150])
def test_long_names_are_whole_in_tables_and_nothing_is_said(command, tmp_path, name):
    rows = [
        {
            "dataset_name": "d", "dataset_path": "-", "instance_id": str(i), "task": "CI", "model_id": f"{name}{number}",
            "run_id": "r", "valid": i > number, "parse_ok": True, "prediction": {"ast_size": 3 + i}, "gold_ast": 2,
            "evaluation": {}, "metadata": {"errorKind": "overfit", "band": name},
        }
        for number in range(5)
        for i in range(4)
    ]  # fmt: skip
    file, page = tmp_path / "e.jsonl", tmp_path / "r.html"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = run_process([str(command), "report", str(file), "--html", str(page), "--plots", str(tmp_path / "p")])
    assert (ran.returncode, ran.stderr) == (0, "")
    tables = page.read_text().partition('id="tables"')[2]
    figures = "".join(path.read_text() for path in (tmp_path / "p").glob("*.svg"))
    for number in range(5):
        assert f"{name}{number}" in tables
        assert f"{name}{number}" not in figures
