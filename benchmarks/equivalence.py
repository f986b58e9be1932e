"""Deciding equivalence: agreement with brute force, share decided each way, and time.

    python benchmarks/equivalence.py [--tier smoke|full] [--seed 1] [--output results.json]

Claims: on 2,000 random pairs over P Q R (AST up to 20, half of them sharing a part) no disagreement with all worlds of
up to 3 objects; of pairs that are equivalent by construction at least 95 % are proven, in a median of at most 20 ms;
10,000 comparisons of small formulas take under 60 s. The smoke tier takes a tenth. Times are CPU seconds; every
comparison of the first two parts is by a comparer that has seen neither formula.
"""

import collections
import statistics
import sys
import time
from typing import Any

import numpy as np
from arguments import give, seeded_parser
from machine import PROJECT, machine

from induction.formula.metrics import count_quantifiers
from induction.formula.normal_forms import to_miniscoped
from induction.formula.sampling import sample_formula
from induction.formula.syntax import DEFAULT_SIGNATURE, Exists, ForAll, Formula, Not, fold
from induction.grounding.equivalence import Comparer, Sameness

sys.path += [str(PROJECT / "tests"), str(PROJECT / "tests" / "grounding")]
from test_equivalence import PQR, REWRITINGS, brute_force_sizes, sample_pair


def random_pairs(seed: int, count: int) -> dict[str, Any]:
    """Random pairs, smallest separating worlds asked for, against all worlds of up to three objects."""
    rng = np.random.default_rng(seed)
    comparer = Comparer(PQR)
    decided: collections.Counter[str] = collections.Counter()
    sizes: collections.Counter[int] = collections.Counter()
    times: dict[str, list[float]] = collections.defaultdict(list)
    disagreements = 0
    for _ in range(count):
        first, second = sample_pair(rng)
        started = time.process_time()
        comparison = comparer.compare(first, second, smallest=True)
        seconds = time.process_time() - started
        witness = comparison.finding.witness
        decided[f"{comparison.sameness}, by {comparison.finding.decided_by}"] += 1
        times[comparison.sameness].append(seconds)
        apart = brute_force_sizes(first, second)
        if witness is None:
            disagreements += bool(apart)
        else:
            sizes[witness.world.size] += 1
            disagreements += witness.world.size != min(apart, default=max(4, witness.world.size))
    return {
        "pairs": count,
        "disagreements": disagreements,
        "decided": dict(decided.most_common()),
        "objects_of_the_smallest_world": dict(sorted(sizes.items())),
        "median_ms": {name: 1000 * statistics.median(figures) for name, figures in times.items()},
        "max_ms": {name: 1000 * max(figures) for name, figures in times.items()},
    }


def by_dual_quantifiers(formula: Formula) -> Formula:
    """Every `forall y f` as `not exists y not f`."""

    def combine(node: Formula, *parts: Formula) -> Formula:
        if isinstance(node, ForAll):
            return Not(Exists(node.variable, Not(parts[0])))
        return node.with_children(*parts)

    return fold(formula, combine)


def equivalent_by_construction(seed: int, count: int) -> dict[str, Any]:
    """Random formulas with a rewriting of each, the cheap test on the writing switched off and on."""
    rng = np.random.default_rng(seed)
    rewritings = {**REWRITINGS, "duals": by_dual_quantifiers}
    pairs = []
    for number in range(count):
        name = list(rewritings)[number % len(rewritings)]
        formula = sample_formula(rng, int(rng.integers(6, 21)), max_depth=3)
        while count_quantifiers(to_miniscoped(formula)) == 0:
            formula = sample_formula(rng, int(rng.integers(6, 21)), max_depth=3)
        pairs.append((name, formula, rewritings[name](formula)))
    results: dict[str, Any] = {}
    for by_writing in (True, False):
        comparer = Comparer(DEFAULT_SIGNATURE, compare_writing=by_writing)
        not_proven: collections.Counter[str] = collections.Counter()
        times = []
        for name, formula, rewritten in pairs:
            started = time.process_time()
            comparison = comparer.compare(formula, rewritten)
            times.append(time.process_time() - started)
            not_proven[name] += comparison.sameness is not Sameness.EQUIVALENT
        results["with the writing" if by_writing else "by Z3 alone"] = {
            "pairs": count,
            "proven_share": 1 - sum(not_proven.values()) / count,
            "median_ms": 1000 * statistics.median(times),
            "p90_ms": 1000 * float(np.percentile(times, 90)),
            "max_ms": 1000 * max(times),
            "not_proven": {name: number for name, number in not_proven.items() if number},
        }
    return results


def pool(seed: int, count: int) -> dict[str, Any]:
    """`count` comparisons among small formulas, each of them evaluated once."""
    rng = np.random.default_rng(seed)
    started = time.process_time()
    comparer = Comparer(DEFAULT_SIGNATURE)
    formulas = [sample_formula(rng, int(rng.integers(5, 13)), max_depth=2) for _ in range(1000)]
    sampled_s = time.process_time() - started
    counts: collections.Counter[str] = collections.Counter()
    started = time.process_time()
    for _ in range(count):
        first, second = (formulas[int(rng.integers(len(formulas)))] for _ in "ab")
        counts[comparer.compare(first, second).sameness] += 1
    compared_s = time.process_time() - started
    started = time.process_time()
    alike = comparer.first_alike(formulas)
    return {
        "comparisons": count,
        "formulas": len(formulas),
        "sampling_s": sampled_s,
        "comparing_s": compared_s,
        "outcomes": dict(counts),
        "all_pairs_of_the_pool": len(formulas) * (len(formulas) - 1) // 2,
        "all_pairs_s": time.process_time() - started,
        "different_meanings": len(set(alike)),
    }


def main() -> None:
    """Measure and print."""
    options = seeded_parser(__doc__).parse_args()
    full = options.tier == "full"
    results = {
        "command": f"python benchmarks/equivalence.py --tier {options.tier} --seed {options.seed}",
        "machine": machine(),
        "random_pairs": random_pairs(options.seed, 2000 if full else 200),
        "equivalent_by_construction": equivalent_by_construction(options.seed, 2000 if full else 200),
        "pool": pool(options.seed, 10_000 if full else 1000),
    }
    give(results, options.output)
    if results["random_pairs"]["disagreements"]:
        sys.exit("brute force disagrees")


if __name__ == "__main__":
    main()
