"""Ctrl-C and kill at random moments: one line, nothing lost, and the same command comes to the same bytes."""

import json
import os
import random
import signal
import subprocess
import time

import pytest
from conftest import EXAMPLES, heed_interrupts, without_times

from induction.worlds import read_instances, write_instances

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    """Four commands that take a second or two, without their -o."""
    folder = tmp_path_factory.mktemp("inputs")
    instances = str(folder / "instances.jsonl")
    one = read_instances(EXAMPLES, ["example_fullobs"])[0]
    from dataclasses import replace

    write_instances(instances, [replace(one, instance_id=f"copy_{i}") for i in range(8)])
    predictions = str(folder / "predictions.jsonl")
    with open(predictions, "w") as stream:
        for i in range(8):
            for model in "ab":
                row = {"instanceId": f"copy_{i}", "model": model, "formula": "(exists y (R x y))"}
                stream.write(json.dumps(row) + "\n")
    small = ["--max-ast", "8", "--budget", "60s"]
    return {
        "solve": ["solve", instances, *small, "--jobs", "2"],
        "generate": ["generate", "--regime", "fullobs", "--band", "simple", "-n", "6", "--seed", "3", "--jobs", "2"],
        "score": ["score", instances, predictions, "--jobs", "2"],
        "bench-suite": ["bench-suite", instances, "--search", "bottom-up,greedy", *small, "--jobs", "2"],
    }


def kept_rows(journal):
    if not journal.exists():
        return []
    lines = journal.read_bytes().split(b"\n")[:-1]  # a row cut short does not count
    return [without_times(line.decode()) for line in lines[1:]]


def come_to_an_end(command, arguments, out, rng, signals, took_s):
    """Interrupt at random moments, twice at most, then let it finish; everything on the way is looked at."""
    journal = out.with_name(out.name + ".partial")
    for number in signals:
        before = kept_rows(journal)
        process = subprocess.Popen(
            [str(command), *arguments, "-o", str(out)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=heed_interrupts,
        )
        time.sleep(rng.uniform(0, took_s))
        process.send_signal(number)
        _, errors = process.communicate(timeout=120)
        after = kept_rows(journal)
        assert after[: len(before)] == before or out.exists()
        lines = [line for line in errors.splitlines() if "are there already" not in line]
        if number == signal.SIGKILL:
            assert process.returncode in (-signal.SIGKILL, 0), errors
            continue
        if process.returncode == -signal.SIGINT or "site.py" in errors or "importlib" in errors:
            assert "induction/cli" not in errors.replace(
                "induction/cli/__init__.py", ""
            )  # no line of ours had been run
            continue
        assert process.returncode in (130, 0), errors
        if process.returncode == 130:
            assert len(lines) == 1, errors
            assert lines[0].startswith("induction: interrupted")
        else:
            assert out.exists()
            assert not journal.exists()
    done = subprocess.run(
        [str(command), *arguments, "-o", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert done.returncode == 0, done.stderr
    assert not journal.exists()
    return without_times(out.read_text().replace(str(out), "OUT"))


def check_interruptions(command, commands, tmp_path, rounds):
    rng = random.Random(7)
    expected, took_s = {}, {}
    for name, arguments in commands.items():
        out = tmp_path / f"{name}.jsonl"
        started = time.monotonic()
        expected[name] = come_to_an_end(command, arguments, out, rng, [], 0)
        took_s[name] = 1.1 * (time.monotonic() - started)
    for i in range(rounds):
        name = list(commands)[i % len(commands)]
        number = (signal.SIGINT, signal.SIGKILL)[(i // len(commands)) % 2]
        out = tmp_path / f"{name}_{i}.jsonl"
        got = come_to_an_end(command, commands[name], out, rng, [number], took_s[name])
        assert got == expected[name], f"{name}, round {i}"
        left = [path.name for path in tmp_path.iterdir() if path.name.startswith(".") and number == signal.SIGINT]
        assert not left


def test_interruptions_at_random_moments(command, commands, tmp_path):
    check_interruptions(command, commands, tmp_path, rounds=8)


@pytest.mark.full
def test_many_interruptions_at_random_moments(command, commands, tmp_path):
    check_interruptions(command, commands, tmp_path, rounds=400)


def test_interrupted_before_anything_is_written(command, commands, tmp_path):
    """While the library loads, Ctrl-C is never swallowed."""
    for i in range(6):
        out = tmp_path / f"{i}.jsonl"
        process = subprocess.Popen(
            [str(command), *commands["solve"], "-o", str(out)],
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=heed_interrupts,
        )
        time.sleep(0.1 + 0.05 * i)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        if not (process.returncode == 130 and errors.startswith("induction: interrupted")):
            assert "induction" not in errors.replace("/induction", "").replace("induction.cli", "")
            assert process.returncode != 0
        assert not out.exists()
