"""Whether searches keep within their limits of memory and time.

    python benchmarks/limits.py [--tier smoke|full] [--seed 1] [--output results.json]

Claims: a run with `--memory` peaks at no more than the limit, 10 % and 50 MB, whatever the size of worlds; a run with
`--budget` ends within 10 % and 0.3 CPU seconds of it. Worlds are random (unary density 0.5, binary 0.2), labels too,
so that nothing small fits and the search goes on until a limit stops it. Each figure is of a run in a process of its
own, as `induction solve` makes it; the full tier has the large worlds, all searches, and the four released nested
challenge tasks where they are at hand.
"""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
from arguments import give, seeded_parser
from machine import machine

from induction.formula.syntax import Signature
from induction.running.local import run_tasks
from induction.scoring import solving
from induction.search import SearchOptions, search_names
from induction.worlds.formats import read_instances
from induction.worlds.instance import Instance
from induction.worlds.records import instance_from_record

CHALLENGE = Path(__file__).resolve().parents[2] / "shared" / "data" / "real" / "fullobs_v2_dev.yaml.gz"
MB = 2**20


def random_instance(rng: np.random.Generator, objects: int, worlds: int, unary: int, binary: int) -> Instance:
    """An instance with random facts and labels."""
    signature = Signature([(f"U{i}", 1) for i in range(unary)] + [(f"B{i}", 2) for i in range(binary)])
    names = [f"a{i}" for i in range(objects)]

    def listed(name: str) -> list[str]:
        if signature.arity(name) == 1:
            return [one for one in names if rng.random() < 0.5]
        return [f"({a}, {b})" for a, b in itertools.product(names, repeat=2) if rng.random() < 0.2]

    record = {
        "instanceId": f"{objects} objects, {worlds} worlds, {unary}+{binary}",
        "task": "FullObs",
        "problem": {
            "signature": {"predicates": [{"name": name, "arity": arity} for name, arity in signature.items()]},
            "worlds": [
                {
                    "domain": names,
                    "predicates": {name: {"true": listed(name)} for name in signature},
                    "targetExtension": {"T_true": [one for one in names if rng.random() < 0.5]},
                }
                for _ in range(worlds)
            ],
        },
    }
    return instance_from_record(record)


def run(search: str, instance: Instance, budget_s: float, memory_mb: int, max_ast: int = 30) -> dict[str, Any]:
    """One run under limits: what it spent."""
    options = SearchOptions(max_ast=max_ast)
    limits = solving.limits_of(budget_s, memory_mb * MB)
    task = solving.solving_task("run", search, instance, options, budget_s, memory_mb * MB)
    (report,) = run_tasks([task], jobs=1, limits=limits)
    row = solving.prediction_row(instance, search, options, report)
    return {
        "search": search,
        "instance": instance.instance_id,
        "outcome": row["outcome"],
        "budget_s": budget_s,
        "memory_mb": memory_mb,
        "peak_mb": round(report.peak_mb),
        "wall_s": round(report.wall_s, 2),
        "cpu_s": round(report.cpu_s, 2),
        "kept_memory": report.peak_mb <= 1.1 * memory_mb + 50,
        "kept_time": report.cpu_s <= 1.1 * budget_s + 0.3,
    }


def main() -> None:
    """Measure and print."""
    options = seeded_parser(__doc__).parse_args()
    full = options.tier == "full"
    rng = np.random.default_rng(options.seed)
    shapes = [(8, 3, 2, 2), (60, 3, 2, 2)]
    if full:
        shapes += [(8, 100, 2, 2), (20, 20, 4, 4), (30, 10, 12, 6), (40, 5, 6, 4), (60, 10, 12, 6), (60, 30, 2, 2)]
    instances = [random_instance(rng, *shape) for shape in shapes]
    rows = [run("bottom-up", one, 60.0, memory) for one in instances for memory in ((300, 1024) if full else (1024,))]
    if full:
        others = [name for name in search_names() if name != "bottom-up"]
        rows += [run(name, one, 20.0, 300) for name in others for one in instances[:4]]
    rows += [run("bottom-up", instances[0], 2.0, 4096)]
    if full and CHALLENGE.exists():
        nested = [one for one in read_instances(CHALLENGE) if "nested" in str(one.description_extra).lower()]
        rows += [run("bottom-up", one, 2.0, 4096, 26) for one in nested[:4]]
    results = {
        "machine": machine(),
        "kept_memory": sum(row["kept_memory"] for row in rows),
        "kept_time": sum(row["kept_time"] for row in rows),
        "runs": len(rows),
        "rows": rows,
    }
    give(results, options.output)


if __name__ == "__main__":
    main()
