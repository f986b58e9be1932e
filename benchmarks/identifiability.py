"""Whether an instance has the answer it was made for: the smallest formula that fits, tried on fresh worlds.

    python benchmarks/identifiability.py [--tier smoke|full] [--seed 1] [--output results.json] [--plot plot.svg]

For each regime and band, instances are made uncertified and certified (CI in the paper's style and identified), the
exact search is asked for a smallest fitting formula, and this is compared with the gold on 200 fresh worlds of the
instance's recipe. EC is left out: there a small formula fits because unknown atoms let it. Claims: certified FullObs
at least 99 % exact on all 200, identified CI at least 90 %. The intervals are Wilson's at 95 %. Two processes; the full
tier makes 40 instances of each FullObs band (10 of the challenge) and 30 of each of CI.
"""

import io
import multiprocessing
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from arguments import give, seeded_parser
from machine import machine

from induction.budget import Budget
from induction.evaluation import bitset
from induction.formula.syntax import to_sexpr
from induction.generation.bands import BANDS, Band
from induction.generation.holdout import make_holdout
from induction.generation.pipeline import CiStyle, Options, instance_id, instance_seeds, make_instance, prepare
from induction.scoring.metrics import Share
from induction.search import SearchOptions, load_search
from induction.worlds.instance import Regime

FRESH = 200
BUDGET_S = 60.0


def one(task: tuple[str, int, int, bool]) -> dict[str, Any]:
    """Make one instance, solve it, try the answer."""
    label, number, seed, certified = task
    band = next(band for band in BANDS if band.label == label)
    options = Options(certify=certified, ci_style=CiStyle.IDENTIFIED if certified else CiStyle.PAPER)
    instance = make_instance(band, instance_id(band, number + 1), seed, options, 0)
    result = load_search("bottom-up").search(
        instance, Budget(BUDGET_S), SearchOptions(max_ast=22, solutions=1), lambda progress: None
    )
    row: dict[str, Any] = {
        "band": label,
        "certified": certified,
        "instance": instance.instance_id,
        "status": instance.description_extra.get("certificate", {}).get("status"),
        "worlds": len(instance.train_ids),
        "outcome": result.outcome.value,
        "gold": to_sexpr(instance.gold) if instance.gold else None,
        "answer": to_sexpr(result.formulas[0]) if result.formulas else None,
        "smaller": bool(result.formulas) and result.formulas[0].ast_nodes < (instance.gold_ast or 0),
        "right": 0.0,
    }
    if result.formulas:
        fresh = make_holdout(instance, FRESH, 99).worlds
        (tables,) = bitset.extensions([result.formulas[0]], list(fresh))
        right = [bool((table == world.target).all()) for table, world in zip(tables, fresh, strict=True)]
        row["right"] = sum(right) / len(right)
    return row


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each band and way of making: how many answers are right on all fresh worlds."""
    groups: dict[tuple[str, bool], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["band"], row["certified"]].append(row)
    table = []
    for (band, certified), members in groups.items():
        exact = sum(row["right"] == 1.0 for row in members)
        low, high = Share(exact, len(members)).interval or (0.0, 1.0)
        closed = [row for row in members if row["status"] not in (None, "open")]
        table.append(
            {
                "band": band,
                "certified": certified,
                "instances": len(members),
                "exact": exact,
                "share": round(exact / len(members), 4),
                "interval": [round(low, 3), round(high, 3)],
                "mean_share_of_fresh_worlds_right": round(float(np.mean([row["right"] for row in members])), 4),
                "unsolved": sum(row["answer"] is None for row in members),
                "certificates_closed": len(closed),
                "exact_among_closed": sum(row["right"] == 1.0 for row in closed),
                "mean_worlds": round(float(np.mean([row["worlds"] for row in members])), 1),
            }
        )
    return table


def plot(table: list[dict[str, Any]]) -> bytes:
    """The shares side by side, with their intervals, as SVG."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    bands = list(dict.fromkeys(entry["band"] for entry in table))
    with rc_context({"svg.hashsalt": "induction", "svg.fonttype": "none", "font.family": "DejaVu Sans"}):
        figure = Figure(figsize=(8.2, 4.2), layout="constrained")
        axes = figure.add_subplot()
        for offset, certified, colour, mark in ((-0.17, False, "#b5541c", "o"), (0.17, True, "#1f4e79", "s")):
            chosen = {entry["band"]: entry for entry in table if entry["certified"] is certified}
            places = [i + offset for i, band in enumerate(bands) if band in chosen]
            shares = [100 * chosen[band]["share"] for band in bands if band in chosen]
            low = [s - 100 * chosen[b]["interval"][0] for s, b in zip(shares, chosen, strict=True)]
            high = [100 * chosen[b]["interval"][1] - s for s, b in zip(shares, chosen, strict=True)]
            label = "certified (CI identified)" if certified else "uncertified (CI in the paper's style)"
            errors = [[max(0.0, e) for e in low], [max(0.0, e) for e in high]]
            axes.errorbar(places, shares, errors, fmt=mark, color=colour, capsize=3, label=label)
        axes.set_xticks(range(len(bands)), [band.replace(" ", "\n") for band in bands], fontsize=8)
        axes.set_ylim(0, 104)
        axes.set_ylabel(f"smallest fitting formula right\non all of {FRESH} fresh worlds, %")
        axes.grid(axis="y", linewidth=0.4, color="#bbbbbb")
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        axes.legend(loc="lower left", frameon=False, fontsize=8)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def tasks_of(band: Band, count: int, seed: int) -> list[tuple[str, int, int, bool]]:
    """The same seeds made both ways."""
    seeds = instance_seeds(seed, band, count)
    return [(band.label, number, seeds[number], certified) for certified in (False, True) for number in range(count)]


def main() -> None:
    """Measure and print."""
    parser = seeded_parser(__doc__)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    full = options.tier == "full"
    tasks = []
    for band in BANDS:
        if band.regime is Regime.EC or (band.name == "challenge" and not full):
            continue
        count = (40 if band.regime is Regime.FULL_OBS else 30) if full else 3
        tasks += tasks_of(band, 10 if band.name == "challenge" else count, options.seed)
    prepare(certified=True)
    rows = []
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for row in pool.imap(one, tasks):
            rows.append(row)
            way = "certified" if row["certified"] else "uncertified"
            print(f"{len(rows)} of {len(tasks)}: {row['band']} {way} {row['right']:.3f}", file=sys.stderr)
    table = summary(rows)
    results = {
        "command": f"python benchmarks/identifiability.py --tier {options.tier} --seed {options.seed}",
        "machine": machine(),
        "summary": table,
        "not_exact": [row for row in rows if row["right"] < 1.0 and row["certified"]],
    }
    give(results, options.output)
    if options.plot:
        options.plot.write_bytes(plot(table))


if __name__ == "__main__":
    main()
