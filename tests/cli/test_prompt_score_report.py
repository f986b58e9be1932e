"""`prompt`, `score` and `report` as typed."""

import json
import re
import subprocess
import time

import pytest
from conftest import PROJECT

from induction.families.mutations import edited_once
from induction.worlds import read_instances

SUITE = PROJECT / "data" / "suite.yaml.gz"
HOLDOUT = PROJECT / "data" / "suite_holdout.jsonl.gz"
INSTANCES = read_instances(SUITE)


@pytest.fixture
def predictions(tmp_path):
    """Three models: one always right, one with near misses, one that answers little and oddly."""
    rows = []
    for number, instance in enumerate(INSTANCES):
        rows.append({"instanceId": instance.instance_id, "model": "right", "formula": str(instance.gold)})
        near = edited_once(instance.gold, instance.signature)
        rows.append(
            {
                "instanceId": instance.instance_id,
                "model": "near",
                "task": instance.regime.value,
                "response": str(near[0]),
            }
        )
        if number % 3 == 0:
            rows.append({"instanceId": instance.instance_id, "model": "odd", "rawResponse": "I give up."})
    rows.append({"instanceId": "nobody", "model": "odd", "formula": "(P x)"})
    rows.append({"instanceId": INSTANCES[0].instance_id, "model": "right", "formula": "(P x)"})
    path = tmp_path / "predictions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_prompts(induction, tmp_path):
    ran = induction("prompt", str(SUITE), "--id", "hard_001")
    assert ran.code == 0
    assert "World train_0: objects a0" in ran.out
    out = tmp_path / "prompts.jsonl"
    assert induction("prompt", str(SUITE), "--format", "jsonl", "-o", str(out)).code == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["instanceId"] for row in rows] == [one.instance_id for one in INSTANCES]
    assert all(row["estimatedTokens"] > 100 for row in rows)
    for form in ("openai-batch", "anthropic-batch"):
        ran = induction("prompt", str(SUITE), "--format", form, "--model", "m", "--id", "hard_001")
        assert json.loads(ran.out)["custom_id"] == "hard_001"
        ran = induction("prompt", str(SUITE), "--format", form)
        assert (ran.code, ran.err.count("\n")) == (2, 1)


def test_score_is_the_same_for_any_jobs_and_tells_what_is_odd(induction, tmp_path, predictions):
    files = [tmp_path / f"{jobs}.jsonl" for jobs in (1, 2)]
    for jobs, file in zip(("1", "2"), files, strict=True):
        ran = induction(
            "score", str(SUITE), str(predictions), "--holdout", str(HOLDOUT), "--jobs", jobs, "-o", str(file)
        )
        assert ran.code == 0, ran.err
    assert files[0].read_bytes() == files[1].read_bytes()
    assert "1 for instances that are not in the file" in ran.err
    assert "1 second answers to an instance" in ran.err
    assert "40 missing" in ran.err
    rows = [json.loads(line) for line in files[0].read_text().splitlines()]
    assert len(rows) == 3 * 60 + 1
    right = [row for row in rows if row["model_id"] == "right" and not row["metadata"].get("duplicate")]
    assert all(row["valid"] and row["metadata"]["holdoutMatch"] for row in right)
    assert {row["metadata"]["errorKind"] for row in rows if row["model_id"] == "odd"} == {"no answer"}
    assert sum(row["completed"] for row in rows if row["model_id"] == "odd") == 20


def test_reports_in_every_form(induction, tmp_path, predictions):
    evaluation = tmp_path / "evaluation.jsonl"
    assert induction("score", str(SUITE), str(predictions), "--holdout", str(HOLDOUT), "-o", str(evaluation)).code == 0
    ran = induction("report", str(evaluation), "--published")
    assert ran.code == 0
    assert "FullObs: accuracy" in ran.out
    assert "GPT-5.2 (published)" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80
    page = tmp_path / "report.html"
    ran = induction(
        "report", str(evaluation), "--html", str(page), "--instances", str(SUITE), "--draw", "2",
        "--latex", str(tmp_path / "t"), "--csv", str(tmp_path / "t"), "--plots", str(tmp_path / "p"),
        "--markdown", str(tmp_path / "t.md"),
    )  # fmt: skip
    assert ran.code == 0, ran.err
    text = page.read_text()
    assert text.count("data:image/svg+xml;base64,") == 2
    assert text.count("<figure>") == 4
    # Nothing is fetched from anywhere: what looks like an address is an XML name space.
    assert not re.findall(r"""(?:src|href)=["'](?!data:|#)""", text)
    assert not re.findall(r"@import|url\((?!#)", text)
    assert {path.suffix for path in (tmp_path / "t").iterdir()} == {".tex", ".csv"}
    assert {path.suffix for path in (tmp_path / "p").iterdir()} == {".svg", ".png"}
    assert (tmp_path / "t.md").read_text().startswith("### ")


def test_hostile_texts_stay_text_on_the_page(induction, tmp_path):
    predictions = tmp_path / "p.jsonl"
    evil = "<script>alert(1)</script>"
    predictions.write_text(json.dumps({"instanceId": "easy_001", "model": evil, "formula": evil}) + "\n")
    evaluation, page = tmp_path / "e.jsonl", tmp_path / "page.html"
    assert induction("score", str(SUITE), str(predictions), "-o", str(evaluation)).code == 0
    assert induction("report", str(evaluation), "--html", str(page), "--instances", str(SUITE), "--draw", "0").code == 0
    assert evil not in page.read_text()
    assert "&lt;script&gt;" in page.read_text()


def test_bad_rows_are_reported_and_the_others_scored(induction, tmp_path):
    predictions = tmp_path / "p.jsonl"
    good = json.dumps({"instanceId": "easy_001", "model": "m", "formula": "(P x)"})
    bad = [
        "not json",
        "[1, 2]",
        '{"model": "m"}',
        '{"instanceId": "easy_001"}',
        '{"instanceId": 3, "formula": "(P x)"}',
    ]
    predictions.write_text("\n".join([good, *bad, '{"instanceId": "easy_001", "formula": 7}']))
    out = tmp_path / "e.jsonl"
    ran = induction("score", str(SUITE), str(predictions), "-o", str(out))
    assert ran.code == 2
    assert (
        len([line for line in ran.err.splitlines() if "p.jsonl" in line and "line" in line and "easy" not in line]) >= 5
    )
    assert len(out.read_text().splitlines()) == 60


def test_release_rows_without_metadata_are_reported(induction, tmp_path):
    row = {
        "schema_version": "induction_eval_v1", "dataset_name": "d", "dataset_path": "d", "instance_id": "a",
        "task": "CI", "scenario": "C", "model_id": "m", "run_id": "r", "completed": True, "valid": True,
        "parse_ok": True, "prediction": {"formula": "(P x)", "ast_size": 2}, "gold_formula": "(Q x)", "gold_ast": 2,
        "evaluation": {},
    }  # fmt: skip
    file = tmp_path / "release.jsonl"
    file.write_text(json.dumps(row) + "\n")
    assert "CI: accuracy" in induction("report", str(file)).out
    assert induction("report", str(file), "--html", str(tmp_path / "r.html")).code == 0


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "there is no row"),
        ("{}", "instance_id is missing"),
        ("nonsense", "line 1"),
        ('{"instance_id": "a", "task": "CI", "model_id": "m", "run_id": "r", "valid": true, "parse_ok": true, '
         '"prediction": {}, "evaluation": {}}', "a valid row has no ast_size"),
    ],
)  # fmt: skip
def test_files_that_are_no_evaluations(induction, tmp_path, content, words):
    file = tmp_path / "e.jsonl"
    file.write_text(content)
    ran = induction("report", str(file))
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert words in ran.err


def test_the_smallest_known_formula_is_the_measure(induction, tmp_path):
    predictions, out, solved = tmp_path / "p.jsonl", tmp_path / "e.jsonl", tmp_path / "s.jsonl"
    instance = INSTANCES[0]
    predictions.write_text(
        json.dumps({"instanceId": instance.instance_id, "model": "m", "formula": str(instance.gold)})
    )
    solved.write_text(json.dumps({"instanceId": instance.instance_id, "astSize": instance.gold_ast - 3}) + "\n")
    assert induction("score", str(SUITE), str(predictions), "-o", str(out)).code == 0
    ran = induction("report", str(out), "--smallest", str(solved), "--csv", str(tmp_path / "t"))
    assert ran.code == 0
    sizes = (tmp_path / "t" / "sizes_FullObs.csv").read_text()
    assert "3.0 [3.0-3.0]" in sizes


def test_inputs_are_never_replaced(induction, tmp_path):
    predictions = tmp_path / "p.jsonl"
    content = json.dumps({"instanceId": "easy_001", "model": "m", "formula": "(P x)"}) + "\n"
    predictions.write_text(content)
    ran = induction("score", str(SUITE), str(predictions), "-o", str(predictions))
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert predictions.read_text() == content
    for odd in ("-", "/dev/null"):
        ran = induction("score", str(SUITE), str(predictions), "-o", odd)
        assert (ran.code, ran.err.count("\n")) == (2, 1)


def test_files_of_one_name_are_two_runs_and_shards_can_be_one(induction, tmp_path):
    paths = []
    for number in (1, 2):
        folder = tmp_path / f"run{number}"
        folder.mkdir()
        paths.append(folder / "p.jsonl")
        rows = [
            {"instanceId": one.instance_id, "model": "m", "formula": str(one.gold)}
            for i, one in enumerate(INSTANCES)
            if i % 2 == number - 1
        ]
        paths[-1].write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "e.jsonl"
    assert induction("score", str(SUITE), *map(str, paths), "-o", str(out)).code == 0
    assert len(out.read_text().splitlines()) == 120
    ran = induction("score", str(SUITE), *map(str, paths), "--run", "all", "-o", str(out))
    assert ran.err == ""
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 60
    assert all(row["valid"] for row in rows)


def test_no_prediction_at_all(induction, tmp_path):
    empty, out = tmp_path / "p.jsonl", tmp_path / "e.jsonl"
    empty.write_text("")
    assert induction("score", str(SUITE), str(empty), "-o", str(out)).code == 2
    assert induction("score", str(SUITE), str(empty), "--model", "silent", "-o", str(out)).code == 0
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len(rows) == 60
    assert not any(row["valid"] or row["completed"] for row in rows)


def test_odd_rows_do_not_break_a_report(induction, tmp_path):
    base = {
        "dataset_name": "d", "dataset_path": "-", "instance_id": "a", "task": "CI", "model_id": "$\\foo$ _x",
        "run_id": "r", "valid": True, "parse_ok": True, "prediction": {"ast_size": 3}, "gold_ast": 2, "evaluation": {},
        "metadata": {"errorKind": "overfit", "holdoutMatch": True, "holdoutRight": 5, "holdoutWorlds": 5},
    }  # fmt: skip
    file = tmp_path / "e.jsonl"
    file.write_text(json.dumps(base) + "\n" + json.dumps({**base, "model_id": "_hidden\ud800"}) + "\n")
    ran = induction(
        "report", str(file), "--html", str(tmp_path / "r.html"), "--csv", str(tmp_path / "t"), "--latex", str(tmp_path)
    )
    assert ran.code == 0, ran.err
    assert "_hidden" in (tmp_path / "r.html").read_text()
    assert "0 [0-79],100 [21-100]" in (tmp_path / "t" / "accuracy_CI.csv").read_text()  # the delta of 1 is worked out
    for change in (
        {"task": "a/../../evil"},
        {"metadata": {"errorKind": ["x"]}},
        {"metadata": {"sizeReference": "x"}},
        {"metadata": {"holdoutMatch": True}},
        {"prediction": {"ast_size": 10**40}},
    ):
        file.write_text(json.dumps({**base, **change}))
        ran = induction("report", str(file), "--csv", str(tmp_path / "t"))
        assert (ran.code, ran.err.count("\n")) == (2, 1), change


def test_a_killed_run_goes_on_with_no_row_lost_or_doubled(command, tmp_path, predictions):
    out, whole = tmp_path / "e.jsonl", tmp_path / "whole.jsonl"
    arguments = [command, "score", SUITE, predictions, "--holdout", HOLDOUT, "-o"]
    process = subprocess.Popen([*arguments, out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal = tmp_path / "e.jsonl.partial"
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if journal.exists() and journal.read_bytes().count(b"\n") > 20:
            break
        time.sleep(0.02)
    process.kill()
    process.wait()
    subprocess.run([*arguments, out], check=True, capture_output=True)
    subprocess.run([*arguments, whole], check=True, capture_output=True)
    assert out.read_bytes() == whole.read_bytes()
    assert not journal.exists()
