"""`induction bench-suite`, and reports of its rows."""

import json
import os
import signal
import subprocess
import time
from dataclasses import replace

import pytest
from conftest import EXAMPLES, heed_interrupts

from induction.formula.syntax import Atom
from induction.worlds import read_instances, write_instances


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def runs(tmp_path_factory, command):
    """The run rows of two searches on the examples."""
    out = tmp_path_factory.mktemp("runs") / "runs.jsonl"
    ran = subprocess.run(
        [str(command), "bench-suite", str(EXAMPLES), "--search", "bottom-up,greedy", "--budget", "20s", "-o", str(out)],
        capture_output=True,
        text=True,
        check=True,
        timeout=200,
    )
    assert "6 runs" in ran.stdout
    return out


def test_rows(runs, induction, tmp_path):
    rows = rows_of(runs)
    instances = ["example_fullobs", "example_ci", "example_ec"]
    assert [(row["instanceId"], row["search"]) for row in rows] == [
        (name, search) for name in instances for search in ("bottom-up", "greedy")
    ]
    for row in rows:
        assert row["budget_s"] == 20
        assert row["memory_mb"] == 4096
        assert row["valid"]
        assert row["timing"]["cpu_s"] > 0
        assert row["timing"]["peak_mb"] > 30
        assert row["metadata"]["band"] in ("simple", "core")
    # They are prediction rows too.
    assert induction("check", "--formulas", str(runs), str(EXAMPLES)).code == 0
    scored = tmp_path / "scored.jsonl"
    assert induction("score", str(EXAMPLES), str(runs), "-o", str(scored)).code == 0
    assert {row["model_id"] for row in rows_of(scored)} == {"bottom-up", "greedy"}


def test_same_rows_whatever_the_processes(runs, induction, tmp_path):
    out = tmp_path / "again.jsonl"
    arguments = ["bench-suite", str(EXAMPLES), "--search", "bottom-up,greedy", "--budget", "20s"]
    assert induction(*arguments, "--jobs", "3", "-o", str(out)).code == 0
    first, second = ([{k: v for k, v in row.items() if k != "timing"} for row in rows_of(path)] for path in (runs, out))
    assert first == second


def test_report(runs, induction, tmp_path):
    ran = induction("report", str(runs), "--published")
    assert "FullObs: searches" in ran.out
    assert "FullObs: agreement of searches" in ran.out
    assert "z3-prenex + rescue (30 min) (published)" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80
    ran = induction(
        "report", str(runs), "--html", str(tmp_path / "r.html"), "--plots", str(tmp_path), "--csv", str(tmp_path)
    )
    assert ran.code == 0
    assert {"cactus.svg", "cactus.png", "cactus_at_gold.svg", "runs_FullObs.csv"} <= set(os.listdir(tmp_path))
    table = (tmp_path / "runs_CI.csv").read_text().splitlines()
    assert table[0].startswith("search,solved,@+0,@+25,proven")
    assert table[1].startswith("bottom-up,1 of 1,1,1,1,")
    agreement = (tmp_path / "agreement_FullObs.csv").read_text().splitlines()
    assert agreement[1] == "bottom-up,greedy,1,0,1,0,0,0"


def test_runs_merge_and_stand_beside_models(runs, induction, tmp_path):
    halves = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    lines = runs.read_text().splitlines(keepends=True)
    for path, part in zip(halves, (lines[:3], lines[3:]), strict=True):
        path.write_text("".join(part))
    together, apart = (induction("report", *map(str, paths)).out for paths in ([runs], halves))
    assert together == apart
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"instanceId": "example_ci", "model": "somebody", "formula": "(P x)"}) + "\n")
    scored = tmp_path / "scored.jsonl"
    assert induction("score", str(EXAMPLES), str(answers), "-o", str(scored)).code == 0
    out = induction("report", str(runs), str(scored)).out
    table = out[out.index("CI: accuracy") :]
    assert "bottom-up" in table
    assert "somebody" in table
    assert "bottom-up  somebody" in out[out.index("CI: models in pairs") :]


def test_held_out_worlds(induction, tmp_path):
    fresh = tmp_path / "fresh.jsonl"
    assert induction("holdout", str(EXAMPLES), "-n", "3", "--seed", "1", "-o", str(fresh)).code == 0
    out = tmp_path / "runs.jsonl"
    ran = induction(
        "bench-suite",
        str(EXAMPLES),
        "--id",
        "example_fullobs",
        "--holdout",
        str(fresh),
        "--budget",
        "20s",
        "-o",
        str(out),
    )
    assert ran.code == 0
    (row,) = rows_of(out)
    assert (row["metadata"]["holdoutRight"], row["metadata"]["holdoutWorlds"]) == (3, 3)
    assert "3 of" not in induction("report", str(out)).out
    assert "1 of 1" in induction("report", str(out)).out


def test_killed_suite_goes_on(command, tmp_path):
    """SIGKILL in the middle: finished rows count, no process is left, and the end is the same."""
    path, out = tmp_path / "many.yaml", tmp_path / "o.jsonl"
    from dataclasses import replace

    one = read_instances(EXAMPLES, ["example_ci"])[0]
    write_instances(path, [replace(one, instance_id=f"i{number}") for number in range(4)])
    arguments = [str(command), "bench-suite", str(path), "--search", "bottom-up,greedy,portfolio", "-o", str(out)]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=heed_interrupts)
    partial = tmp_path / "o.jsonl.partial"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and not (partial.exists() and partial.read_text().count("\n") >= 4):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    kept = partial.read_text().count("\n") - 1
    assert 3 <= kept < 12
    time.sleep(2.0)
    left = subprocess.run(["ps", "-ef"], capture_output=True, text=True, check=True).stdout
    assert str(path) not in left
    again = subprocess.run(arguments, capture_output=True, text=True, timeout=200, check=True)
    assert f"{kept} of 12 runs are there already" in again.stderr
    rows = rows_of(out)
    assert [(row["instanceId"], row["search"]) for row in rows] == [
        (f"i{number}", search) for number in range(4) for search in ("bottom-up", "greedy", "portfolio")
    ]
    assert not partial.exists()


def test_limits_are_kept_and_told(command, tmp_path):
    """A run that does not end by itself is stopped in time, and what it had found counts."""
    out = tmp_path / "o.jsonl"
    arguments = ["--search", "ilp-asp,prenex-smt", "--budget", "2s", "--jobs", "2", "-o", str(out)]
    subprocess.run(
        [str(command), "bench-suite", str(EXAMPLES), "--id", "example_ci", *arguments], check=True, timeout=60
    )
    for row in rows_of(out):
        assert row["timing"]["wall_s"] < 2 * 1.1 + 1
        assert row["outcome"] in ("timed-out", "solved")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--search", "nonesuch"], "no search 'nonesuch'; there are bottom-up"),
        (["--search", ","], "names no search"),
        (["--search", "portfolio", "--noise", "1"], "portfolio takes no noise; bottom-up and greedy do"),
        (["--search", "greedy", "--noise", "1"], "example_ec is an EC instance; noise is for FullObs and CI"),
        (["--budget", "0s"], "no amount"),
        (["--id", "nothing"], "no instance 'nothing'"),
    ],
)
def test_misuse(induction, examples, tmp_path, arguments, words):
    ran = induction("bench-suite", str(examples), *arguments, "-o", str(tmp_path / "o.jsonl"))
    assert ran.code == 2
    assert words in ran.err
    assert ran.err.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"valid": "yes"}, "line 1: valid is missing or of another type"),
        ({"timing": None}, "line 1: timing is missing"),
        ({"astSize": True}, "line 1: astSize is missing or of another type"),
        ({"task": "Other"}, "line 1: task is none of"),
        ({"metadata": {"band": 3}}, "line 1: metadata.band is no text"),
        ({"timing": {"cpu_s": "long"}}, "line 1: cpu_s is missing or of another type"),
    ],
)
def test_broken_rows(runs, induction, tmp_path, change, words):
    path = tmp_path / "broken.jsonl"
    path.write_text(json.dumps(rows_of(runs)[0] | change) + "\n")
    ran = induction("report", str(path))
    assert ran.code == 2
    assert words in ran.err
    assert ran.err.count("\n") == 1


def test_searches(induction):
    out = induction("searches").out
    for name in ("bottom-up", "greedy", "ilp-asp", "portfolio", "prenex-smt"):
        assert f"{name}: " in out
    assert max(map(len, out.splitlines())) <= 80
    told = json.loads(induction("searches", "portfolio", "--json").out)["searches"]["portfolio"]
    assert told["installed"]
    assert len(told["schedule"]) == 6
    assert induction("searches", "nonesuch").code == 2


def test_a_missing_library_is_named(induction, examples, monkeypatch):
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "clingo" else found(name, *rest)
    )
    assert "not installed: needs clingo" in " ".join(induction("searches").out.split())
    ran = induction("solve", str(examples), "--search", "ilp-asp")
    assert ran.code == 2
    assert "ilp-asp needs clingo, which is not installed" in ran.err


def test_noise(induction, examples, tmp_path):
    """One label turned round: the gold is found with --noise 1 and larger formulas only without."""
    from dataclasses import replace

    one = read_instances(examples, ["example_fullobs"])[0]
    target = one.worlds[0].target.copy()
    target[0] = ~target[0]
    noisy = tmp_path / "noisy.yaml"
    write_instances(noisy, [replace(one, worlds=(replace(one.worlds[0], target=target), *one.worlds[1:]))])
    (exact,) = json.loads(induction("solve", str(noisy), "--json").out)["rows"]
    (row,) = json.loads(induction("solve", str(noisy), "--noise", "1", "--solutions", "1", "--json").out)["rows"]
    assert (row["noise"], row["mislabelled"]) == (1, 1)
    assert row["provenSmallest"]
    assert row["astSize"] <= one.gold_ast < exact["astSize"]
    assert "1 mislabelled" in induction("solve", str(noisy), "--noise", "1").out
    (greedy,) = json.loads(induction("solve", str(noisy), "--noise", "1", "--search", "greedy", "--json").out)["rows"]
    assert greedy["mislabelled"] <= 1
    out = tmp_path / "runs.jsonl"
    assert induction("bench-suite", str(noisy), "--noise", "1", "-o", str(out)).code == 0
    assert "bottom-up (noise 1)  1 of 1" in induction("report", str(out)).out


def test_a_slip_of_a_search_costs_its_own_row_only(induction, examples, tmp_path, monkeypatch):
    """Whatever a search does wrong on one instance, the others are done and the file is written."""
    from induction.baselines.greedy import Greedy

    whole = Greedy.search

    class OddError(Exception):
        pass

    def slip(self, instance, budget, options, report):
        if instance.instance_id == "example_ci":
            raise OddError("no such thing")
        if instance.instance_id == "example_ec":
            result = whole(self, instance, budget, options, report)
            return replace(result, formulas=(Atom("nonesuch", ("x",)),))
        return whole(self, instance, budget, options, report)

    monkeypatch.setattr(Greedy, "search", slip)
    for command in ("solve", "bench-suite"):
        out = tmp_path / f"{command}.jsonl"
        ran = induction(command, str(examples), "--search", "greedy", "--budget", "5s", "-o", str(out))
        assert ran.code == 3
        assert (
            "warning: 2 runs ended by a fault of the search; greedy on example_ci: OddError: no such thing" in ran.err
        )
        rows = {row["instanceId"]: row for row in rows_of(out)}
        assert rows["example_fullobs"]["success"]
        assert "fault" not in rows["example_fullobs"]
        for name in ("example_ci", "example_ec"):
            assert rows[name]["outcome"] == "unknown"
            assert rows[name]["extractedFormula"] is None
            assert rows[name]["fault"]
            assert rows[name]["diagnosis"]
        assert "nonesuch" in rows["example_ec"]["fault"]
        assert not list(tmp_path.glob("*.partial"))


def test_searches_not_installed_are_skipped(induction, examples, tmp_path, monkeypatch):
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "clingo" else find(name))
    out = tmp_path / "runs.jsonl"
    chosen = ["--id", "example_fullobs", "-o", str(out)]
    ran = induction("bench-suite", str(examples), "--search", "greedy,ilp-asp", *chosen)
    assert ran.code == 0
    assert "skipped ilp-asp: needs clingo, which is not installed" in ran.out
    assert "pip install 'induction[asp]'" in " ".join(ran.out.split())
    assert [json.loads(line)["search"] for line in out.read_text().splitlines()] == ["greedy"]
    assert all(len(line) <= 80 for line in ran.out.splitlines() if not line.startswith("wrote "))
    alone = induction("bench-suite", str(examples), "--search", "ilp-asp", *chosen)
    assert alone.code == 2
    assert "pip install 'induction[asp]'" in alone.err
    assert "pip install 'induction[asp]'" in " ".join(induction("searches", "ilp-asp").out.split())
