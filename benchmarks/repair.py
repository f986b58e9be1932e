"""Whether formulas with one or two edits planted are repaired, how near, how large, and at what cost.

    python benchmarks/repair.py [--tier smoke|full] [--seed 1] [--instances FILE] [--output results.json]

Claims, on 300 generated instances of every regime with one or two named edits planted in the gold: a valid formula is
found for at least 98 %, at a distance no larger than the planted one for at least 98 %, of an AST size of at most the
gold's and 3 more; the median costs less than 2 s CPU. Instances whose edited gold is still valid are drawn again.

Two ways of planting are measured apart. *own*: edits of `rewriting/edits.py`, one kind being as likely as another,
but none that takes away more than a literal, whose undoing counts two. *near misses*: any edit of `induction mutate`,
whole quantified parts dropped and formulas brought to miniscoped form included: what comes back then need not be
within two edits of what was given, and repair says so.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from machine import machine

from induction.families.mutations import edited_once
from induction.formula.metrics import free_variables
from induction.formula.syntax import BinaryConnective, Formula
from induction.grounding.check import check
from induction.rewriting.edits import Change, changes, is_literal, node_at, rewrite
from induction.rewriting.repair import repair
from induction.worlds import Instance, read_instances

INDUCTION = str(Path(sys.executable).with_name("induction"))

_TRIES = 30


def planted(instance: Instance, edits: int, way: str, rng: np.random.Generator) -> tuple[Formula, list[str]] | None:
    """The gold with so many edits that it is no longer valid, and their names; None if many tries gave none."""
    assert instance.gold is not None
    for _ in range(_TRIES):
        formula, names = instance.gold, []
        for _ in range(edits):
            if way == "own":
                by_kind: dict[str, list[Change]] = {}
                for change in changes(formula, instance.signature):
                    if not takes_much_away(change):
                        by_kind.setdefault(change.kind, []).append(change)
                kind = sorted(by_kind)[int(rng.integers(len(by_kind)))]
                formula = rewrite(formula, [by_kind[kind][int(rng.integers(len(by_kind[kind])))]])
                names.append(kind)
            else:
                misses = edited_once(formula, instance.signature)
                formula = misses[int(rng.integers(len(misses)))]
                names.append("near miss")
        if "x" in free_variables(formula) and not check(formula, instance).valid:
            return formula, names
    return None


def takes_much_away(change: Change) -> bool:
    """Whether undoing `change` would have to put in more than a literal, or a quantifier."""
    if change.kind == "quantifier-dropped":
        return True
    node = change.place.node
    if change.kind == "part-dropped" and isinstance(node, BinaryConnective):
        kept = node_at(node, change.parts[0][len(change.path) :])
        return not is_literal(node.right if kept is node.left else node.left)
    return change.kind == "part-replaced" and not is_literal(node)


def measured(instances: list[Instance], way: str, seed: int) -> dict[str, Any]:
    """The figures of one way of planting."""
    rng = np.random.default_rng(seed)
    rows = []
    for number, instance in enumerate(instances):
        drawn = planted(instance, 1 + number % 2, way, rng)
        if drawn is None:
            continue
        formula, names = drawn
        started = time.process_time()
        found = repair(formula, instance)
        cpu_s = time.process_time() - started
        best = found.answers[0] if found.answers else None
        assert instance.gold_ast is not None
        rows.append(
            {
                "instance": instance.instance_id,
                "regime": instance.regime.value,
                "planted": names,
                "formula": str(formula),
                "outcome": found.outcome.value,
                "distance": best and best.distance,
                "near": best is not None and best.distance <= len(names),
                "small": best is not None and best.formula.ast_nodes <= instance.gold_ast + 3,
                "above_gold": best and best.formula.ast_nodes - instance.gold_ast,
                "cpu_s": cpu_s,
                "judged": found.coverage.judged,
            }
        )
    times = sorted(row["cpu_s"] for row in rows)
    return {
        "repaired": len(rows),
        "found": sum(row["distance"] is not None for row in rows) / len(rows),
        "no_farther_than_planted": sum(row["near"] for row in rows) / len(rows),
        "at_most_gold_plus_3": sum(row["small"] for row in rows) / len(rows),
        "cpu_s": {
            "median": round(statistics.median(times), 3),
            "p90": round(times[int(0.9 * (len(times) - 1))], 3),
            "max": round(times[-1], 3),
        },
        "outcomes": dict(Counter(row["outcome"] for row in rows)),
        "misses": [row for row in rows if not (row["near"] and row["small"])],
    }


def generated(count: int, seed: int) -> list[Instance]:
    """Fresh instances by `induction generate`: every regime and band, in the proportions of the release."""
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "instances.yaml.gz")
        line = ["generate", "-n", str(count), "--seed", str(seed), "-o", out]
        subprocess.run([INDUCTION, *line], check=True, capture_output=True)
        return list(read_instances(out))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tier", choices=("smoke", "full"), default="smoke")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--instances", type=Path, help="instances made before by the same seed, or others with golds")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    if options.instances is not None:
        instances = list(read_instances(options.instances))
    else:
        instances = generated(300 if options.tier == "full" else 20, options.seed)
    repair(instances[0].gold, instances[0])  # type: ignore[arg-type]  # loads the kernels
    result = {"machine": machine(), "seed": options.seed, "instances": len(instances)}
    for way in ("own", "near misses"):
        result[way] = measured(instances, way, options.seed)
    text = json.dumps(result, indent=2)
    print(text)
    if options.output is not None:
        options.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
