"""`induction solve` as a user types it."""

import json
import signal
import subprocess
import time

import pytest
from conftest import heed_interrupts

from induction.worlds import Instance, Regime, read_instances, write_instances


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_rows_are_predictions_that_check_reads(induction, examples, tmp_path):
    out = tmp_path / "predictions.jsonl"
    ran = induction("solve", str(examples), "-o", str(out), "--jobs", "2")
    assert ran.code == 0
    assert "3 of 3 instances answered, 2 proven smallest" in ran.out
    rows = rows_of(out)
    assert [row["instanceId"] for row in rows] == ["example_fullobs", "example_ci", "example_ec"]
    for row in rows:
        assert row["schemaVersion"] == "induction_prediction_record_v1"
        assert row["solutions"][0] == row["extractedFormula"]
        assert row["astSize"] <= row["goldAst"]
        assert row["outcome"] == "solved"
        assert set(row["timing"]) == {"cpu_s", "wall_s", "peak_mb", "first_s", "best_s"}
        assert 0 < row["timing"]["first_s"] <= row["timing"]["best_s"] <= row["timing"]["wall_s"]
        assert row["timing"]["cpu_s"] > 0
        assert "3 variables" in row["fragment"]
    assert [row["noneBelow"] for row in rows[:2]] == [8, 15]
    assert induction("check", "--formulas", str(out), str(examples)).code == 0
    assert not list(tmp_path.glob("*.partial"))


def test_same_bytes_whatever_the_processes(induction, examples, tmp_path):
    contents = []
    for jobs in ("1", "3"):
        out = tmp_path / f"{jobs}.jsonl"
        assert induction("solve", str(examples), "-o", str(out), "--jobs", jobs).code == 0
        contents.append([{k: v for k, v in row.items() if k != "timing"} for row in rows_of(out)])
    assert contents[0] == contents[1]


def hard_instance(tmp_path):
    """Random labels over six worlds of ten objects: nothing small fits."""
    from dataclasses import replace

    import numpy as np

    from induction.worlds.sampling import sample_world

    rng = np.random.default_rng(1)
    worlds = tuple(replace(sample_world(rng, 10), name=f"w{i}") for i in range(6))
    path = tmp_path / "hard.yaml"
    hard = Instance("hard", Regime.FULL_OBS, worlds[0].signature, worlds, tuple(w.name for w in worlds))
    write_instances(path, [hard])
    return path


def test_exit_codes(induction, tmp_path):
    path = hard_instance(tmp_path)
    # Long enough that a busy machine gets to size 10 too, too short for any to get to the end.
    report = json.loads(induction("solve", str(path), "--budget", "4s", "--json").out)
    (row,) = report["rows"]
    assert row["outcome"] == "timed-out"
    assert row["noneBelow"] >= 10
    exhausted = induction("solve", str(path), "--max-ast", "6", "--json")
    (row,) = json.loads(exhausted.out)["rows"]
    assert row["outcome"] in ("exhausted", "solved")
    assert exhausted.code == (0 if row["extractedFormula"] else 1)


def test_budget_holds(induction, tmp_path):
    path = hard_instance(tmp_path)
    started = time.monotonic()
    ran = induction("solve", str(path), "--budget", "2s", "--json")
    (row,) = json.loads(ran.out)["rows"]
    assert row["timing"]["wall_s"] < 2 * 1.1 + 0.5 + 1.0
    assert time.monotonic() - started < 10


def test_interrupted_run_goes_on(command, examples, tmp_path):
    """Ctrl-C keeps the finished rows; the same command does the rest."""
    hard = hard_instance(tmp_path)
    both = tmp_path / "both.yaml"
    write_instances(both, [*read_instances(examples), *read_instances(hard)])
    out = tmp_path / "o.jsonl"
    arguments = [str(command), "solve", str(both), "-o", str(out), "--budget", "8s"]
    process = subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heed_interrupts
    )
    deadline = time.monotonic() + 60
    partial = tmp_path / "o.jsonl.partial"
    while time.monotonic() < deadline and not (partial.exists() and partial.read_text().count("\n") >= 4):
        time.sleep(0.05)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    out_text, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "interrupted" in err
    assert "hard: unknown" in out_text
    assert "none below" in out_text
    assert not out.exists()
    assert partial.read_text().count("\n") == 4
    again = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    assert "3 of 4 rows are there already" in again.stderr
    assert [row["instanceId"] for row in rows_of(out)][-1] == "hard"
    assert not partial.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--budget", "soon"], "--budget: 'soon' is no amount"),
        (["--budget", "0"], "no amount"),
        (["--memory", "4XB"], "--memory: '4XB'"),
        (["--search", "nonesuch"], "no search 'nonesuch'; there are bottom-up"),
        (["--id", "nothing"], "no instance 'nothing'"),
        (["--variables", "4"], "less than or equal to 3"),
        (["-o", "no/such/folder.jsonl"], "no such folder"),
        (["-o", "."], "is a directory"),
    ],
)
def test_misuse(induction, examples, arguments, words):
    ran = induction("solve", str(examples), *arguments)
    assert ran.code == 2
    assert words in ran.err
    assert ran.err.count("\n") == 1


def test_searches(induction):
    assert "bottom-up" in induction("searches").out
    assert "bottom-up" in json.loads(induction("searches", "--json").out)["searches"]


def test_rows_of_other_contents_do_not_count(examples):
    """The journal's key changes with what the instances say, not only with their names."""
    from dataclasses import replace

    from induction.cli.inputs import journal_key

    instance = read_instances(examples, ["example_fullobs"])[0]
    world = instance.worlds[0]
    relabelled = replace(instance, worlds=(replace(world, target=~world.target), *instance.worlds[1:]))
    keys = [journal_key("solve", [one], search="bottom-up") for one in (instance, instance, relabelled)]
    assert keys[0] == keys[1] != keys[2]
