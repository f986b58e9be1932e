"""`induction frontier` as typed."""

import json
import shlex
import sys

import pytest
from conftest import PROJECT

PROPOSER = shlex.join([sys.executable, str(PROJECT / "data" / "examples" / "proposer.py")])


def test_rounds_and_replay(induction, examples, tmp_path):
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    line = ["frontier", str(examples), "--id", "example_fullobs"]
    ran = induction(*line, "--proposer", PROPOSER, "--rounds", "2", "-o", str(one))
    assert (ran.code, ran.err) == (0, "")
    assert "round 1: 4 texts" in ran.out
    assert "best: VALID, AST 8" in ran.out
    again = induction(*line, "--replay", str(one), "-o", str(two))
    assert (again.code, again.out) == (ran.code, ran.out)
    assert one.read_bytes() == two.read_bytes()
    rows = [json.loads(text) for text in one.read_text().splitlines()]
    assert [row.get("round") for row in rows] == [None, 1, 2]
    as_json = json.loads(induction(*line, "--replay", str(one), "--json").out)
    assert as_json["rounds"] == rows[1:]
    assert as_json["best"] == rows[-1]["best"]
    streamed = induction(*line, "--replay", "-", "-o", "-", stdin=one.read_text())
    assert streamed.out == one.read_text()


def test_nothing_valid(induction, examples, tmp_path):
    script = tmp_path / "silent.py"
    script.write_text("for _ in iter(input, None):\n    print('{\"formulas\": []}', flush=True)\n")
    proposer = shlex.join([sys.executable, str(script)])
    ran = induction("frontier", str(examples), "--id", "example_ci", "--proposer", proposer, "--rounds", "2")
    assert ran.code == 1
    assert "no formula was proposed" in ran.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--id", "example_ci"), "either --proposer CMD or --replay TRACE"),
        (("--id", "example_ci", "--proposer", "x", "--replay", "y"), "either --proposer CMD or --replay TRACE"),
        (("--proposer", "x"), "choose one with --id"),
        (("--id", "example_ci", "--proposer", "no-such-command-here"), "no-such-command-here: cannot be run"),
        (("--id", "example_ci", "--proposer", "'a"), "cannot be read"),
        (("--id", "example_ci", "--proposer", ""), "the command is empty"),
        (("--id", "example_ci", "--replay", "no_such_trace"), "no_such_trace"),
        (("--id", "example_ci", "--replay", "{file}"), "broken JSON"),
        (("--id", "example_ci", "--proposer", "true", "--time-limit", "never"), "--time-limit"),
        (("--id", "example_ci", "--proposer", "true", "-o", "{file}"), "would be replaced"),
        (("--id", "example_ci", "--proposer", "true", "-o", "no/such/folder"), "no such folder"),
        (("--id", "example_ci", "--proposer", "true", "-o", "-", "--json"), "standard output"),
    ],
)
def test_bad_input_is_one_line(induction, examples, arguments, said):
    ran = induction("frontier", str(examples), *(argument.format(file=examples) for argument in arguments))
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.count("\n") == 1
    assert said in ran.err
