"""How fast predictions are scored at the release's scale, and whether a killed run goes on.

    python benchmarks/score.py [--tier smoke|full] [--seed 1] [--output results.json]

Claims: 775 instances by 15 models, half of the answers repeated, are scored on two cores within 60 s including EC and
hold-out worlds, in under 1 GB; a run killed half-way goes on without a row lost or doubled. Instances and predictions
are made first and not timed: golds, near misses, random formulas and broken texts. The smoke tier takes a tenth.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from arguments import give, seeded_parser
from machine import machine

from induction.families.mutations import edited_once
from induction.formula.sampling import sample_formula
from induction.formula.syntax import to_sexpr
from induction.worlds.formats import read_instances

INDUCTION = str(Path(sys.executable).with_name("induction"))
MODELS = 15


def predictions(suite: Path, seed: int) -> list[dict[str, Any]]:
    """Fifteen models' answers to each instance; every other answer repeats an earlier one."""
    rng = np.random.default_rng(seed)
    rows = []
    for instance in read_instances(suite):
        assert instance.gold is not None
        near = [to_sexpr(formula) for formula in edited_once(instance.gold, instance.signature)]
        texts: list[str] = []
        for number in range(MODELS):
            kind = rng.random()
            if number % 2 and texts:
                text = texts[int(rng.integers(len(texts)))]
            elif kind < 0.3:
                text = to_sexpr(instance.gold)
            elif kind < 0.6:
                text = near[int(rng.integers(len(near)))]
            elif kind < 0.95:
                text = to_sexpr(sample_formula(rng, int(rng.integers(8, 40)), max_depth=3))
            else:
                text = '{"formula": "(exists y (and (R x y) (P y))"}'
            texts.append(text)
            rows.append({"instanceId": instance.instance_id, "model": f"model_{number}", "rawResponse": text})
    return rows


def timed(arguments: Sequence[str]) -> dict[str, float]:
    """Wall and CPU seconds of a command, and the largest resident memory of one of its processes, in MiB."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    subprocess.run(arguments, check=True, capture_output=True)
    wall_s = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "wall_s": round(wall_s, 2),
        "cpu_s": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
        "peak_mb": round(after.ru_maxrss / 1024, 1),
    }


def killed_and_resumed(command: list[str], out: Path, expected: bytes) -> dict[str, Any]:
    """Kill a run when half its rows are there, start it again, compare with the run that was not killed."""
    total = expected.count(b"\n")
    process = subprocess.Popen([*command, str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal = out.with_name(out.name + ".partial")
    while process.poll() is None and not (journal.exists() and journal.read_bytes().count(b"\n") > total // 2):
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = journal.read_bytes().count(b"\n") - 1 if journal.exists() else total
    subprocess.run([*command, str(out)], check=True, capture_output=True)
    return {"rows_kept": kept, "same_bytes": out.read_bytes() == expected}


def main() -> None:
    """Measure and print."""
    options = seeded_parser(__doc__).parse_args()
    count = "775" if options.tier == "full" else "78"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        suite, holdout, answers = folder / "suite.jsonl.gz", folder / "holdout.jsonl", folder / "answers.jsonl"
        make = [INDUCTION, "generate", "-n", count, "--seed", str(options.seed), "--jobs", "2", "-o", str(suite)]
        subprocess.run(make, check=True, capture_output=True)
        subprocess.run(
            [INDUCTION, "holdout", str(suite), "-n", "5", "-o", str(holdout)], check=True, capture_output=True
        )
        rows = predictions(suite, options.seed)
        answers.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        score = [INDUCTION, "score", str(suite), str(answers), "--holdout", str(holdout)]
        out = folder / "evaluation.jsonl"
        figures = timed([*score, "--jobs", "2", "-o", str(out)])
        content = out.read_bytes()
        os.unlink(out)
        one_job = timed([*score, "--jobs", "1", "-o", str(out)])
        same = out.read_bytes() == content
        resumed = killed_and_resumed([*score, "--jobs", "2", "-o"], folder / "resumed.jsonl", content)
        report = timed([INDUCTION, "report", str(out), "--csv", str(folder / "tables")])
    results = {
        "command": f"python benchmarks/score.py --tier {options.tier} --seed {options.seed}",
        "machine": machine(),
        "rows": len(rows),
        "distinct_answers": len({(row["instanceId"], row["rawResponse"]) for row in rows}),
        "two_jobs": figures,
        "one_job": one_job,
        "same_bytes_for_one_job": same,
        "killed_and_resumed": resumed,
        "report": report,
    }
    give(results, options.output)


if __name__ == "__main__":
    main()
