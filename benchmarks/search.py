"""The exact search: what it solves, proves and costs, on its own seeded instances of the benchmark's shapes.

    python benchmarks/search.py [--tier smoke|full] [--seed 1] [--parts bands,exhaust,real] [--output FILE]

Each instance is solved in a process of its own; CPU is that of the search itself, after a small warm-up search in the
same process, and peak memory the operating system's account of the process. Claims:

- bands: shapes of the hard and extreme bands (4-6 worlds, 7-10 objects, golds of AST 15-18): all solved at AST <= gold
  and proven smallest; depth 2: median CPU <= 0.5 s, p90 <= 1 s, peak <= 300 MB; depth 3 (default): median <= 1.5 s.
- exhaust: AST 20 without a solution (random labels, 6 worlds of 10 objects, depth 2) <= 8 s and 1 GB; AST 22 (full
  tier) <= 120 s and 4 GB.
- real: the released challenge tasks, where ../shared/data/real is beside the project.
- scaling: CPU against AST limit, number of worlds, objects a world, predicates.
- peers: the golds that other systems were measured on, side by side with cvc5's SyGuS interface where it is installed
  (`pip install 'induction[peers]'`), 60 s each; else skipped, and said.
"""

import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from arguments import give, seeded_parser
from machine import PROJECT, machine

from induction.budget import Budget
from induction.evaluation import bitset
from induction.formula import DEFAULT_SIGNATURE, Formula, Signature, parse_formula, to_sexpr
from induction.running.local import run_tasks
from induction.running.tasks import Limits, Report, Task
from induction.search import SearchOptions, load_search
from induction.worlds import Instance, Regime, World, read_instances
from induction.worlds.sampling import sample_world

PEER_LIMIT_S = 60.0
REAL = PROJECT.parent / "shared" / "data" / "real" / "fullobs_v2_dev.yaml.gz"

# Shapes of the released golds of the hard and extreme bands: families B, C, D, F, H, P-or-Q guards, responses.
GOLDS = (
    "(exists y (and (and (P y) (Q y)) (forall z (or (not (R z y)) (S x z)))))",
    "(exists y (and (and (P y) (Q y)) (forall z (or (not (S y z)) (R x z)))))",
    "(exists y (and (or (P y) (Q y)) (forall z (or (not (R y z)) (R x z)))))",
    "(exists y (and (not (P y)) (forall z (or (not (R y z)) (R z x)))))",
    "(exists y (and (not (Q y)) (forall z (or (not (S y z)) (S x z)))))",
    "(forall y (or (not (R x y)) (exists z (and (R y z) (Q z)))))",
    "(forall y (or (not (R x y)) (exists z (and (S y z) (not (P z))))))",
    "(exists y (exists z (and (and (S x y) (R y z)) (and (P z) (not (Q z))))))",
    "(forall y (or (not (S x y)) (exists z (and (R y z) (R z x)))))",
    "(exists y (and (Q y) (forall z (or (not (R y z)) (and (S z x) (Q z))))))",
)
# The five golds and the probes that other systems were measured on.
PEER_GOLDS = {
    "G1": "(exists y (and (R x y) (P y)))",
    "G2": "(forall y (or (not (R x y)) (P y)))",
    "G3": "(and (and (not (P x)) (Q x)) (exists y (and (R x y) (and (P y) (Q y)))))",
    "G4": "(forall y (or (not (R x y)) (exists z (and (S y z) (Q z)))))",
    "G5": "(exists y (and (or (P y) (Q y)) (forall z (or (not (S z y)) (R x z)))))",
    "G6": "(exists y (and (R x y) (forall z (or (not (S z y)) (and (P z) (not (R z x)))))))",
    "G7": "(forall y (or (not (R x y)) (exists z (and (S y z) (and (R z x) (not (Q z)))))))",
    "G8": "(exists y (and (and (R x y) (not (= x y))) (exists z (and (and (R y z) (S z x)) (and (S z y) (P z))))))",
}


def planted(
    rng: np.random.Generator,
    gold: Formula,
    worlds: int,
    sizes: Sequence[int],
    signature: Signature = DEFAULT_SIGNATURE,
    density: float = 0.3,
) -> Instance:
    """Worlds labelled by `gold`, 15 to 85 percent of their objects positive where that can be had."""
    drawn: list[World] = []
    attempts = 0
    while len(drawn) < worlds:
        world = sample_world(rng, int(rng.choice(sizes)), signature=signature, density=density)
        ((target,),) = bitset.extensions([gold], [world])
        attempts += 1
        if 0.15 <= target.mean() <= 0.85 or (attempts > 300 and 0 < target.sum() < world.size):
            drawn.append(replace(world, name=f"w{len(drawn)}", target=target))
    names = tuple(world.name for world in drawn)
    return Instance("planted", Regime.FULL_OBS, signature, tuple(drawn), names, gold=gold)


def random_labels(rng: np.random.Generator, worlds: int, size: int) -> Instance:
    """Nothing small fits these."""
    drawn = tuple(replace(sample_world(rng, size), name=f"w{i}") for i in range(worlds))
    return Instance("random", Regime.FULL_OBS, DEFAULT_SIGNATURE, drawn, tuple(world.name for world in drawn))


def solve(argument: tuple[Instance, SearchOptions, float], _send: Callable[[Any], None]) -> dict[str, Any]:
    """In a process of its own: warm up, search, and say what came out."""
    instance, options, seconds = argument
    search = load_search("bottom-up")
    warm = planted(np.random.default_rng(0), parse_formula("(exists y (and (R x y) (P y)))"), 2, (4,))
    search.search(warm, Budget(60), replace(options, max_ast=9), lambda _: None)
    started = time.process_time()
    result = search.search(instance, Budget(seconds), options, lambda _: None)
    best = result.formulas[0] if result.formulas else None
    return {
        "outcome": result.outcome.value,
        "ast": None if best is None else best.ast_nodes,
        "gold": instance.gold_ast,
        "none_below": result.none_below,
        "proven": result.is_proven_smallest,
        "formula": None if best is None else to_sexpr(best),
        "cpu_s": time.process_time() - started,
    }


def run_all(
    jobs: Sequence[tuple[str, Instance, SearchOptions]], seconds: float = 120
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Solve one after another, each in a fresh process."""
    tasks = [Task(name, solve, (instance, options, seconds)) for name, instance, options in jobs]
    for report in run_tasks(tasks, jobs=1, limits=Limits(2 * seconds + 60)):
        yield report.name, _figures(report)


def _figures(report: Report) -> dict[str, Any]:
    result = dict(report.result) if report.result is not None else {"outcome": report.failure, "proven": False}
    return result | {"peak_mb": round(report.peak_mb, 1)}


def summary(figures: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the claims are about."""
    cpu = [one["cpu_s"] for one in figures if "cpu_s" in one]
    return {
        "instances": len(figures),
        "solved_at_gold_or_less": sum(one.get("ast") is not None and one["ast"] <= one["gold"] for one in figures),
        "smaller_than_gold": sum(one.get("ast") is not None and one["ast"] < one["gold"] for one in figures),
        "proven": sum(bool(one["proven"]) for one in figures),
        "cpu_median_s": statistics.median(cpu),
        "cpu_p90_s": float(np.percentile(cpu, 90)),
        "cpu_max_s": max(cpu),
        "peak_median_mb": statistics.median(one["peak_mb"] for one in figures),
        "peak_max_mb": max(one["peak_mb"] for one in figures),
    }


def bands(seed: int, per_gold: int) -> dict[str, Any]:
    """Hard and extreme shapes at depths 2 and 3."""
    rng = np.random.default_rng(seed)
    instances = [
        planted(rng, parse_formula(gold), int(rng.integers(4, 7)), range(7, 11))
        for gold in GOLDS
        for _ in range(per_gold)
    ]
    result = {}
    for depth in (2, 3):
        jobs = [(str(i), one, SearchOptions(depth=depth)) for i, one in enumerate(instances)]
        result[f"depth_{depth}"] = summary([figures for _, figures in run_all(jobs)])
    return result


def exhaust(seed: int, sizes: Sequence[int]) -> dict[str, Any]:
    """Proving that nothing up to a size fits random labels."""
    instance = random_labels(np.random.default_rng(seed), 6, 10)
    jobs = [(f"AST {size}", instance, SearchOptions(max_ast=size, depth=2)) for size in sizes]
    return {
        name: {key: figures.get(key) for key in ("outcome", "none_below", "cpu_s", "peak_mb")}
        for name, figures in run_all(jobs, 300)
    }


def real() -> dict[str, Any] | str:
    """The released challenge tasks: depth 2 where the slice says so, else the default."""
    if not REAL.exists():
        return "skipped: the release's data is not beside this project"
    jobs = []
    for instance in read_instances(REAL):
        depth = 2 if "qd2" in instance.instance_id else 3
        jobs.append((instance.instance_id, instance, SearchOptions(depth=depth)))
    keys = ("outcome", "ast", "gold", "none_below", "proven", "cpu_s", "peak_mb", "formula")
    return {name: {key: figures.get(key) for key in keys} for name, figures in run_all(jobs, 60)}


def scaling(seed: int, full: bool) -> dict[str, Any]:
    """CPU of exhausting or solving, one thing varied at a time."""
    rng = np.random.default_rng(seed)
    depth_2 = SearchOptions(depth=2)
    gold = parse_formula(GOLDS[3])
    jobs: list[tuple[str, Instance, SearchOptions]] = []
    base = random_labels(rng, 5, 8)
    limits = range(14, 23 if full else 19, 2)
    jobs += [(f"AST limit {size}", base, SearchOptions(max_ast=size, depth=2)) for size in limits]
    jobs += [(f"{worlds} worlds", planted(rng, gold, worlds, (8,)), depth_2) for worlds in (2, 4, 8, 16)]
    sizes = (5, 10, 20, 30) if full else (5, 10, 20)
    jobs += [(f"{size} objects", planted(rng, gold, 4, (size,), density=2.4 / size), depth_2) for size in sizes]
    for extra in (0, 1, 2):
        names = {"P": 1, "Q": 1, "R": 2, "S": 2} | dict(list({"U": 1, "V": 1}.items())[:extra])
        names |= dict(list({"E": 2, "F": 2}.items())[:extra])
        jobs.append((f"{2 + extra}+{2 + extra} predicates", planted(rng, gold, 5, (8,), Signature(names)), depth_2))
    keys = ("outcome", "ast", "none_below", "cpu_s", "peak_mb")
    return {name: {key: figures.get(key) for key in keys} for name, figures in run_all(jobs, 300)}


def peers(seed: int, per_gold: int) -> dict[str, Any]:
    """The golds other systems were measured on: 4 worlds of 7 objects; ours always, cvc5 where it is installed."""
    rng = np.random.default_rng(seed)
    jobs = []
    for name, text in PEER_GOLDS.items():
        for i in range(per_gold):
            instance = planted(rng, parse_formula(text), 4, (7,))
            jobs.append((f"{name}.{i}", instance, SearchOptions(max_ast=27 if name == "G8" else 22)))
    ours = dict(run_all(jobs, 60))
    result: dict[str, Any] = {"bottom-up": ours}
    if importlib.util.find_spec("cvc5") is None:
        result["cvc5"] = "skipped: not installed (the extra `peers`)"
    else:
        from peer_cvc5 import synthesise

        tasks = [Task(name, synthesise, instance) for name, instance, _ in jobs]
        result["cvc5"] = {
            report.name: (report.result or {"outcome": report.failure}) | {"cpu_s": report.cpu_s}
            for report in run_tasks(tasks, jobs=1, limits=Limits(PEER_LIMIT_S))
        }
    return result


def main() -> None:
    """Measure and print."""
    parser = seeded_parser(__doc__)
    parser.add_argument("--parts", default="bands,exhaust,real,scaling,peers")
    options = parser.parse_args()
    full = options.tier == "full"
    parts: dict[str, Callable[[], Any]] = {
        "bands": lambda: bands(options.seed, 5 if full else 1),
        "exhaust": lambda: exhaust(options.seed, (18, 20, 22) if full else (18, 20)),
        "real": real if full else lambda: "skipped: full tier only",
        "scaling": lambda: scaling(options.seed, full),
        "peers": lambda: peers(options.seed, 3 if full else 1),
    }
    results: dict[str, Any] = {
        "command": f"python benchmarks/search.py --tier {options.tier} --seed {options.seed} --parts {options.parts}",
        "machine": machine(),
    }
    for part in options.parts.split(","):
        results[part] = parts[part]()
        print(json.dumps({part: results[part]}, indent=1), file=sys.stderr, flush=True)
    give(results, options.output)


if __name__ == "__main__":
    main()
