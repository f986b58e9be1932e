"""The speed of checking: both evaluators side by side in one run, and the commands from process start.

    python benchmarks/check.py [--tier smoke|full] [--seed 1] [--output results.json]

Claims: bitset at least 20 times the reference (CPU) on 1,000 formulas (AST 10-20, depth 2) over 100 worlds of 10
objects; `induction --help` under 0.3 s and `induction check` of one FullObs formula under 0.6 s of CPU. The smoke
tier takes a tenth of the formulas and worlds; medians are over repeated runs, times are CPU seconds.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from induction import __version__
from induction.evaluation import bitset, reference
from induction.formula.sampling import sample_formula
from induction.worlds.sampling import sample_world

PROJECT = Path(__file__).resolve().parent.parent
EXAMPLES = PROJECT / "data" / "examples" / "examples.yaml"


def cpu_seconds(action: Callable[[], object]) -> float:
    """CPU time of `action` in this process."""
    started = time.process_time()
    action()
    return time.process_time() - started


def evaluators(seed: int, number_of_formulas: int, number_of_worlds: int, repeats: int) -> dict[str, Any]:
    """Both evaluators on the same random formulas and worlds; their answers must agree."""
    rng = np.random.default_rng(seed)
    formulas = [sample_formula(rng, int(rng.integers(10, 21)), max_depth=2) for _ in range(number_of_formulas)]
    worlds = [sample_world(rng, 10) for _ in range(number_of_worlds)]
    fast = bitset.extensions(formulas, worlds)
    disagreements = 0

    def naive() -> None:
        nonlocal disagreements
        for formula, row in zip(formulas, fast, strict=True):
            for world, extension in zip(worlds, row, strict=True):
                disagreements += bool((reference.extension(formula, world) != extension).any())

    reference_s = cpu_seconds(naive)
    bitset_s = statistics.median(cpu_seconds(lambda: bitset.extensions(formulas, worlds)) for _ in range(repeats))
    one_by_one_s = cpu_seconds(lambda: [bitset.extensions([formula], worlds) for formula in formulas])
    return {
        "formulas": number_of_formulas,
        "worlds": number_of_worlds,
        "disagreements": disagreements,
        "reference_s": reference_s,
        "bitset_s": bitset_s,
        "bitset_one_formula_at_a_time_s": one_by_one_s,
        "ratio": reference_s / bitset_s,
        "ratio_one_formula_at_a_time": reference_s / one_by_one_s,
    }


def command_cpu_s(arguments: list[str], repeats: int) -> float:
    """Median CPU time, user and system, of a process from its start."""
    figures = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(arguments, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        figures.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(figures)


def commands(repeats: int) -> dict[str, float]:
    """The start-up costs of the command line."""
    induction = str(Path(sys.executable).with_name("induction"))
    formula = "(exists y (and (R x y) (P y)))"
    return {
        "help_s": command_cpu_s([induction, "--help"], repeats),
        "check_s": command_cpu_s([induction, "check", formula, str(EXAMPLES), "--id", "example_fullobs"], repeats),
        "python_itself_s": command_cpu_s([sys.executable, "-c", "pass"], repeats),
    }


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    commit = subprocess.run(
        ["git", "-C", str(PROJECT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return {
        "version": __version__,
        "commit": commit.stdout.strip() or "unknown",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "processor": platform.processor() or platform.machine(),
        "cpus": os.cpu_count(),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tier", choices=("smoke", "full"), default="smoke")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    full = options.tier == "full"
    results = {
        "command": f"python benchmarks/check.py --tier {options.tier} --seed {options.seed}",
        "machine": machine(),
        "evaluators": evaluators(options.seed, 1000 if full else 100, 100 if full else 10, repeats=5),
        "commands": commands(repeats=9 if full else 3),
    }
    text = json.dumps(results, indent=2)
    print(text)
    if options.output:
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
