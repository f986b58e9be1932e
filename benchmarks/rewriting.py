"""Rewriting formulas: how small bloated ones become, and how often the smallest is proven.

    python benchmarks/rewriting.py [--parts simplify,smallest,...] [--tier smoke|full] [--seed 1] [--output FILE]

simplify   golds enlarged by 3 to 8 equivalence-preserving steps (10 to 60 nodes more), simplified back: sizes against
           the gold and against the smallest formula there is; and the recorded formulas of models, if they are there
smallest   --smallest on the example of every template and on the published golds: share proven, time, and the golds
           that are not smallest
instances  valid but case-splitting answers of greedy and of the rescue of prenex-smt on generated FullObs instances:
           --on --smallest, and how often the result does better on fresh worlds
others     the same on CI and EC instances

Times are CPU seconds.
"""

import argparse
import collections
import functools
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from machine import PROJECT, machine

from induction.budget import Budget, Outcome
from induction.errors import InductionError
from induction.evaluation import bitset
from induction.families.templates import all_templates
from induction.formula.parsing import parse_formula
from induction.formula.syntax import DEFAULT_SIGNATURE, Formula, to_sexpr
from induction.generation.bands import BANDS
from induction.generation.holdout import make_holdout
from induction.generation.pipeline import Options, instance_id, instance_seeds, make_instance
from induction.grounding.check import check
from induction.grounding.equivalence import Comparer, Sameness
from induction.rewriting.simplify import Simplification, simplify
from induction.search import Attempt, SearchOptions, outcome_of
from induction.worlds.instance import Instance
from induction.worlds.world import World

sys.path += [str(PROJECT / "tests" / "rewriting")]
from enlarging import enlarged

REAL_DATA = PROJECT.parent / "shared" / "data" / "real"
BUDGET_S = 120.0
MEMORY = 3_000_000_000
_FULL_OBS = ("FullObs simple", "FullObs easy", "FullObs medium", "FullObs hard", "FullObs extreme")
_OTHERS = ("CI core", "CI lift_mix", "EC core", "EC hard")
_ON_BUDGET_S = 30.0
_OTHERS_BUDGET_S = 10.0
_FRESH = 5


def timed(formula: Formula, **options: Any) -> tuple[Simplification, float]:
    """A simplification and its CPU seconds."""
    started = time.process_time()
    result = simplify(formula, **{"signature": DEFAULT_SIGNATURE, **options})
    return result, time.process_time() - started


def note(message: str) -> None:
    """How far it is, for who waits."""
    print(message, file=sys.stderr, flush=True)


def spread(figures: list[float]) -> dict[str, float]:
    """What is told of a list of figures."""
    return {
        "median": round(statistics.median(figures), 3),
        "p90": round(float(np.percentile(figures, 90)), 3),
        "max": round(max(figures), 3),
    }


@functools.cache
def smallest_of(gold: Formula) -> Simplification:
    """The smallest equal of a gold."""
    return simplify(gold, signature=DEFAULT_SIGNATURE, smallest=True, budget=Budget(BUDGET_S, MEMORY))


def bloated(seed: int, count: int) -> dict[str, Any]:
    """Golds of up to 18 nodes made larger without a change of meaning, and made small again."""
    rng = np.random.default_rng(seed)
    golds = [template.formula for template in all_templates() if template.formula.ast_nodes <= 18]
    comparer = Comparer(DEFAULT_SIGNATURE)
    times: list[float] = []
    near = equal = proven = 0
    unlike: list[dict[str, Any]] = []
    steps: collections.Counter[str] = collections.Counter()
    grown: list[int] = []
    for number in range(count):
        gold = golds[int(rng.integers(len(golds)))]
        large = enlarged(rng, gold, DEFAULT_SIGNATURE, 10, 60)
        result, seconds = timed(large)
        times.append(seconds)
        grown.append(large.ast_nodes - gold.ast_nodes)
        steps.update(step.name for step in result.steps)
        if result.formula.ast_nodes > large.ast_nodes:
            raise AssertionError(f"{number}: larger than before")
        if comparer.compare(gold, result.formula).sameness is Sameness.DIFFERENT:
            raise AssertionError(f"{number}: {result.formula} is not {gold}")
        smallest = smallest_of(gold)
        best = smallest.formula.ast_nodes
        near += result.formula.ast_nodes <= gold.ast_nodes + 2
        equal += smallest.is_proven_smallest and result.formula.ast_nodes <= best
        proven += result.is_proven_smallest
        if number % 50 == 49:
            note(f"{number + 1}: near {near}, equal {equal}, median {statistics.median(times):.3f} s")
        if result.formula.ast_nodes > best and len(unlike) < 20:
            unlike.append({"from": to_sexpr(large), "to": to_sexpr(result.formula), "smallest": best})
    return {
        "formulas": count,
        "nodes_added": spread([float(size) for size in grown]),
        "at_most_gold_plus_2": near / count,
        "equal_to_the_proven_smallest": equal / count,
        "told_to_be_smallest_without_being_asked": proven / count,
        "cpu_s": spread(times),
        "steps": dict(steps.most_common()),
        "larger_than_the_smallest": unlike,
    }


def recorded(_seed: int) -> dict[str, Any] | None:
    """The formulas that models wrote; None where the data is not there."""
    path = REAL_DATA / "formulas_dev.jsonl"
    if not path.exists():
        return None
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    saved: list[int] = []
    shares: list[float] = []
    times: list[float] = []
    proven = refused = changed = 0
    for row in rows:
        try:
            formula = parse_formula(row["normalised"] or row["text"] or "", DEFAULT_SIGNATURE, free=None)
            result, seconds = timed(formula)
        except (InductionError, ValueError):
            refused += 1
            continue
        times.append(seconds)
        saved.append(formula.ast_nodes - result.formula.ast_nodes)
        shares.append(saved[-1] / formula.ast_nodes)
        changed += saved[-1] > 0
        proven += result.is_proven_smallest
    return {
        "rows": len(rows),
        "no_formula_of_x": refused,
        "simplified": len(saved),
        "made_smaller": changed,
        "nodes_saved": {
            "mean": round(statistics.mean(saved), 2),
            "median": statistics.median(saved),
            "max": max(saved),
        },
        "share_saved": {"mean": round(statistics.mean(shares), 3), "median": round(statistics.median(shares), 3)},
        "proven_smallest": proven,
        "cpu_s": spread(times),
    }


def part_simplify(seed: int, full: bool) -> dict[str, Any]:
    """The default mode."""
    return {"bloated": bloated(seed, 1000 if full else 100), "recorded": recorded(seed)}


def part_smallest(seed: int, full: bool) -> dict[str, Any]:
    """`--smallest` on golds."""
    pools: dict[str, list[Formula]] = {"templates": [template.formula for template in all_templates()]}
    path = REAL_DATA / "golds.tsv"
    if path.exists():
        texts = [line.split("\t")[3] for line in path.read_text().splitlines()[1:]]
        golds = [parse_formula(text, DEFAULT_SIGNATURE, free=None) for text in dict.fromkeys(texts)]
        pools["published"] = [gold for gold in golds if gold.ast_nodes <= 18]
    results: dict[str, Any] = {}
    rng = np.random.default_rng(seed)
    for name, formulas in pools.items():
        if not full:
            formulas = [formulas[i] for i in sorted(rng.choice(len(formulas), min(40, len(formulas)), replace=False))]
        by_size: dict[str, list[float]] = collections.defaultdict(list)
        times: list[float] = []
        open_ones: list[dict[str, Any]] = []
        smaller: list[list[Any]] = []
        for formula in sorted(formulas, key=lambda formula: formula.ast_nodes):
            result, seconds = timed(formula, smallest=True, budget=Budget(BUDGET_S, MEMORY))
            times.append(seconds)
            if len(times) % 50 == 0:
                note(
                    f"{name} {len(times)}, up to AST {formula.ast_nodes}: {len(open_ones)} open, {len(smaller)} smaller"
                )
            by_size["up to 18" if formula.ast_nodes <= 18 else "above 18"].append(float(result.is_proven_smallest))
            if not result.is_proven_smallest:
                entry = {"gold": to_sexpr(formula), "outcome": result.outcome.value, "none_below": result.none_below}
                open_ones.append(entry)
            if result.formula.ast_nodes < formula.ast_nodes:
                smaller.append(
                    [formula.ast_nodes, to_sexpr(formula), result.formula.ast_nodes, to_sexpr(result.formula)]
                )
        results[name] = {
            "golds": len(formulas),
            "proven_share": {size: round(statistics.mean(flags), 4) for size, flags in by_size.items()},
            "golds_by_size": {size: len(flags) for size, flags in by_size.items()},
            "cpu_s": spread(times),
            "not_smallest": smaller,
            "not_proven": open_ones,
        }
    return results


def part_instances(seed: int, full: bool) -> dict[str, Any]:
    """`--on --smallest` on answers that split cases, FullObs."""
    return on_instances(seed, 200 if full else 20, _FULL_OBS, _ON_BUDGET_S)


def part_others(seed: int, full: bool) -> dict[str, Any]:
    """The same for CI and EC, where more is kept than the verdict needs."""
    return on_instances(seed, 24 if full else 4, _OTHERS, _OTHERS_BUDGET_S)


def on_instances(seed: int, count: int, bands: Sequence[str], budget_s: float) -> dict[str, Any]:
    """Answers of two searches that are larger than the gold, on `count` instances of these bands in turn."""
    from induction.baselines.greedy import Greedy
    from induction.baselines.prenex_smt.rescue import offer_cover

    def rescued(instance: Instance) -> Formula | None:
        attempt = Attempt(instance, Budget(20.0), SearchOptions(), lambda progress: None)
        outcome_of(lambda: (offer_cover(attempt, 2), Outcome.SOLVED)[1])
        return attempt.best

    def greedy(instance: Instance) -> Formula | None:
        found = Greedy().search(instance, Budget(20.0), SearchOptions(), lambda progress: None).formulas
        return found[0] if found else None

    rows: list[dict[str, Any]] = []
    for number in range(count):
        label = bands[number % len(bands)]
        band = next(band for band in BANDS if band.label == label)
        own_seed = instance_seeds(seed, band, count)[number]
        instance = make_instance(band, instance_id(band, number), own_seed, Options(), seed)
        if number % 10 == 9:
            note(f"{number + 1}: {len(rows)} answers, {sum(row['proven'] for row in rows)} proven smallest")
        fresh = list(make_holdout(instance, _FRESH, 99).worlds)
        for name, answer_of in (("greedy", greedy), ("rescue", rescued)):
            answer = answer_of(instance)
            if answer is None or answer.ast_nodes <= (instance.gold_ast or 0):
                continue
            kept, plain_s = timed(answer, on=instance, signature=instance.signature)
            small, seconds = timed(
                answer, on=instance, signature=instance.signature, smallest=True, budget=Budget(budget_s, MEMORY)
            )
            if not check(small.formula, instance, use_reference=True).valid:
                raise AssertionError(f"{instance.instance_id}: {small.formula} does not fit")
            before, after = (_right_on(formula, fresh) for formula in (answer, small.formula))
            rows.append(
                {
                    "regime": instance.regime.value,
                    "by": name,
                    "ast": [answer.ast_nodes, kept.formula.ast_nodes, small.formula.ast_nodes, instance.gold_ast],
                    "proven": small.is_proven_smallest,
                    "outcome": small.outcome.value,
                    "right": [before, after],
                    "cpu_s": [round(plain_s, 2), round(seconds, 2)],
                }
            )
    groups: dict[str, list[dict[str, Any]]] = collections.defaultdict(list)
    for row in rows:
        groups[f"{row['regime']}, {row['by']}"].append(row)
    return {
        "instances": count,
        "answers": len(rows),
        "proven_share": round(statistics.mean(row["proven"] for row in rows), 4),
        "groups": {
            name: {
                "answers": len(group),
                "proven": sum(row["proven"] for row in group),
                "median_ast_answer_simplified_smallest_gold": [
                    statistics.median(row["ast"][i] for row in group) for i in range(4)
                ],
                "right_on_all_fresh_worlds_before_and_after": [
                    sum(row["right"][i] == 1.0 for row in group) for i in range(2)
                ],
                "better_on_fresh_worlds": sum(row["right"][1] > row["right"][0] for row in group),
                "worse_on_fresh_worlds": sum(row["right"][1] < row["right"][0] for row in group),
                "cpu_s": spread([row["cpu_s"][1] for row in group]),
            }
            for name, group in groups.items()
        },
    }


def _right_on(formula: Formula, worlds: list[World]) -> float:
    """The share of worlds in which the formula has the labels for extension."""
    (tables,) = bitset.extensions([formula], worlds)
    return sum(bool((t == w.target).all()) for t, w in zip(tables, worlds, strict=True)) / len(worlds)


PARTS: dict[str, Callable[[int, bool], dict[str, Any]]] = {
    "simplify": part_simplify,
    "smallest": part_smallest,
    "instances": part_instances,
    "others": part_others,
}
"""What is measured, by name: each from a seed and whether in full."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS), help="some of these, separated by commas")
    parser.add_argument("--tier", choices=("smoke", "full"), default="smoke")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    names = options.parts.split(",")
    if not set(names) <= set(PARTS):
        parser.error(f"--parts: {', '.join(PARTS)}")
    results: dict[str, Any] = {
        "command": "python benchmarks/rewriting.py "
        f"--parts {options.parts} --tier {options.tier} --seed {options.seed}",
        "machine": machine(),
    }
    for name in names:
        results[name] = PARTS[name](options.seed, options.tier == "full")
    text = json.dumps(results, indent=2)
    print(text)
    if options.output:
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
