"""The speed of checking: both evaluators side by side in one run, and the commands from process start.

    python benchmarks/check.py [--tier smoke|full] [--seed 1] [--output results.json]

Claims: bitset at least 20 times the reference (CPU) on 1,000 formulas (AST 10-20, depth 2) over 100 worlds of 10
objects; `induction --help` under 0.3 s and `induction check` of one FullObs formula under 0.6 s of CPU;
an EC check on instances of the benchmark's shape (3 worlds, 6-7 objects, about 28 % of the binary atoms unknown) has a
median under 10 ms; a circuit of a depth-3 formula on 12 objects with every binary atom unknown takes under 0.2 s.
The smoke tier takes a tenth of the formulas and worlds; medians are over repeated runs, times are CPU seconds.
"""

import collections
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from arguments import give, seeded_parser
from machine import PROJECT, machine

from induction.evaluation import bitset, reference
from induction.formula import Formula, parse_formula
from induction.formula.sampling import sample_formula
from induction.grounding import Circuit, check, ground
from induction.worlds import Instance, Regime
from induction.worlds.sampling import sample_world

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


# Shapes of released EC golds: Boolean plus one quantifier, and lifts of families A, B and G.
EC_GOLDS = (
    "(and (P x) (exists y (and (R x y) (Q y))))",
    "(or (not (Q x)) (exists y (and (S y x) (and (R x y) (P y)))))",
    "(forall y (or (not (R x y)) (exists z (S y z))))",
    "(exists y (and (and (P y) (Q y)) (forall z (or (not (S y z)) (S x z)))))",
    "(exists y (forall z (or (not (R y z)) (S z x))))",
)


def existential_completion(seed: int, instances_per_gold: int, rivals: int) -> dict[str, Any]:
    """EC checks of golds, of formulas one edit away and of random ones, and how each world was decided."""
    rng = np.random.default_rng(seed)
    times: dict[str, list[float]] = {"gold": [], "near miss": [], "random": []}
    decided: collections.Counter[str] = collections.Counter()
    for text in EC_GOLDS:
        gold = parse_formula(text)
        for _ in range(instances_per_gold):
            instance = ec_instance(rng, gold)
            near = [swapped for swapped in near_misses(text) if swapped != gold][:rivals]
            random_ones = [sample_formula(rng, int(rng.integers(8, 21)), max_depth=2) for _ in range(rivals)]
            for kind, formulas in (("gold", [gold]), ("near miss", near), ("random", random_ones)):
                for formula in formulas:
                    started = time.process_time()
                    verdict = check(formula, instance)
                    times[kind].append(time.process_time() - started)
                    decided.update(f"{w.completion.decided_by}: {w.completion.failure or 'ok'}" for w in verdict.worlds)
    everything = [figure for figures in times.values() for figure in figures]
    return {
        "checks": len(everything),
        "median_ms": 1000 * statistics.median(everything),
        "p90_ms": 1000 * float(np.percentile(everything, 90)),
        "max_ms": 1000 * max(everything),
        "median_ms_by_kind": {kind: 1000 * statistics.median(figures) for kind, figures in times.items()},
        "worlds_decided_by": dict(decided.most_common()),
    }


def ec_instance(rng: np.random.Generator, gold: Formula) -> Instance:
    """Three partly observed worlds labelled by `gold` before their atoms were hidden."""
    worlds = []
    for i in range(3):
        whole = sample_world(rng, int(rng.integers(6, 8)))
        ((target,),) = bitset.extensions([gold], [whole])
        unknown = {name: rng.random(whole.true[name].shape) < 0.28 for name in ("R", "S")}
        true = {name: table & ~unknown.get(name, np.False_) for name, table in whole.true.items()}
        worlds.append(replace(whole, name=f"train_{i}", true=true, unknown=unknown, target=target, observation_mode=""))
    names = tuple(world.name for world in worlds)
    return Instance("ec", Regime.EC, worlds[0].signature, tuple(worlds), names, gold=gold)


def near_misses(text: str) -> list[Formula]:
    """The formula with one word exchanged for its opposite, at each place in turn."""
    opposite = {
        "R": "S",
        "S": "R",
        "P": "Q",
        "Q": "P",
        "and": "or",
        "or": "and",
        "exists": "forall",
        "forall": "exists",
    }
    words = re.findall(r"[()]|[^\s()]+", text)
    changed = [[*words[:i], opposite[word], *words[i + 1 :]] for i, word in enumerate(words) if word in opposite]
    return [parse_formula(" ".join(variant)) for variant in changed]


def circuits(repeats: int) -> dict[str, Any]:
    """Building circuits of depth-3 formulas over 12 objects with every binary atom unknown."""
    world = sample_world(np.random.default_rng(1), 12, unknown_rate=1.0)
    figures = {}
    for text in (
        "(forall y (or (not (S x y)) (exists z (and (R y z) (forall w (or (not (R z w)) (S x w)))))))",
        "(exists y (and (R x y) (forall z (or (S y z) (exists w (and (R z w) (and (S w y) (R x w))))))))",
        "(exists y (and (R x y) (forall z (iff (S y z) (exists w (iff (R z w) (iff (S w y) (R x w))))))))",
    ):
        formula = parse_formula(text)
        circuit = Circuit()
        outputs = ground(formula, world, circuit).tolist()
        seconds = statistics.median(cpu_seconds(lambda f=formula: ground(f, world, Circuit())) for _ in range(repeats))
        figures[text] = {"build_s": seconds, "gates": circuit.count_gates(outputs), "depth": circuit.depth(outputs)}
    return figures


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
        "check_ec_s": command_cpu_s([induction, "check", EC_GOLDS[0], str(EXAMPLES), "--id", "example_ec"], repeats),
        "check_s": command_cpu_s([induction, "check", formula, str(EXAMPLES), "--id", "example_fullobs"], repeats),
        "python_itself_s": command_cpu_s([sys.executable, "-c", "pass"], repeats),
    }


def main() -> None:
    """Measure and print."""
    options = seeded_parser(__doc__).parse_args()
    full = options.tier == "full"
    results = {
        "command": f"python benchmarks/check.py --tier {options.tier} --seed {options.seed}",
        "machine": machine(),
        "existential_completion": existential_completion(options.seed, 10 if full else 2, 10 if full else 4),
        "circuits": circuits(repeats=5 if full else 3),
        "evaluators": evaluators(options.seed, 1000 if full else 100, 100 if full else 10, repeats=5),
        "commands": commands(repeats=9 if full else 3),
    }
    give(results, options.output)
    if results["evaluators"]["disagreements"]:
        raise SystemExit("the evaluators disagree")


if __name__ == "__main__":
    main()
