"""All searches on all suites under one time budget: what they solve, prove and cost, beside the published figures.

    python benchmarks/suite.py [--tier smoke|full] [--jobs 2] [--folder DIR] [--output FILE]

Runs `induction bench-suite` on data/ (60 instances over all regimes and bands, 6 of the challenge kind, with their
hold-out worlds) and on the release's instances where ../shared/data/real is beside the project, at 10 s (smoke: 10 s,
every fourth instance) and 60 s an instance (full), and prints a table for each budget, regime and search. Rows are kept
in --folder (a temporary one by default), so that a run goes on where it was stopped, and can be reported again with
`induction report`. Claims, on FullObs and CI and EC of data/suite.yaml.gz at 60 s: bottom-up solves all of FullObs and
CI with proof; prenex-smt with rescue at least the published shares (48.8, 82.0, 100 %), portfolio at least 65.9 % of
FullObs; no answer is rejected by the reference evaluator (bench-suite stops if one is). The published figures are of
other instances, and of 30 minutes each.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from machine import PROJECT, machine

from induction.scoring.metrics import summarise, within
from induction.scoring.rows import read_rows
from induction.search import search_names
from induction.worlds.formats import read_instances

INDUCTION = str(Path(sys.executable).with_name("induction"))
REAL = PROJECT.parent / "shared" / "data" / "real"
SUITES = {
    "data": (PROJECT / "data" / "suite.yaml.gz", PROJECT / "data" / "suite_holdout.jsonl.gz"),
    "challenge": (PROJECT / "data" / "challenge.yaml.gz", PROJECT / "data" / "challenge_holdout.jsonl.gz"),
    "real examples": (REAL / "examples_v1.yaml", None),
    "real challenge": (REAL / "fullobs_v2_dev.yaml.gz", None),
}
PUBLISHED = {
    ("prenex-smt", "FullObs"): 48.8,
    ("prenex-smt", "CI"): 82.0,
    ("prenex-smt", "EC"): 100.0,
    ("portfolio", "FullObs"): 65.9,
    ("ilp-asp", "FullObs"): 15.7,
}
"""Valid share in per cent at 30 minutes an instance. Source: Batzoglou, INDUCTION, ICML 2026; other instances."""


def run(suite: str, budget_s: int, searches: list[str], folder: Path, jobs: int, every: int) -> Path | None:
    """The run file of one suite, made where it is not there yet; None where the suite is not here."""
    instances, holdout = SUITES[suite]
    if not instances.exists():
        return None
    out = folder / f"{suite.replace(' ', '_')}_{budget_s}s.jsonl"
    if not out.exists():
        command = [INDUCTION, "bench-suite", str(instances), "--search", ",".join(searches), "--budget", f"{budget_s}s"]
        command += ["--jobs", str(jobs), "-o", str(out)]
        command += ["--holdout", str(holdout)] if holdout is not None else []
        if every > 1:
            ids = [instance.instance_id for instance in read_instances(instances)][::every]
            command += [part for one in ids for part in ("--id", one)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return out


def figures(path: Path) -> Iterator[dict[str, Any]]:
    """What the rows of a run file add up to, for each regime, search and band and over all bands."""
    rows = read_rows(str(path))
    for regime in dict.fromkeys(row["task"] for row in rows):
        of_regime = [row for row in rows if row["task"] == regime]
        bands = list(dict.fromkeys(row["metadata"]["band"] for row in of_regime))
        for search in dict.fromkeys(row["model_id"] for row in rows):
            for band in ["all", *(bands if len(bands) > 1 else [])]:
                members = [
                    row for row in of_regime if row["model_id"] == search and band in ("all", row["metadata"]["band"])
                ]
                summary = summarise(members)
                runs = [row["metadata"]["run"] for row in members]
                yield {
                    "regime": regime,
                    "search": search,
                    "band": band,
                    "instances": len(members),
                    "solved": summary.accuracy.successes,
                    "at_gold": sum(within(row, 0) for row in members),
                    "at_gold_25": sum(within(row, 25) for row in members),
                    "proven": sum(one["proven"] for one in runs),
                    "holdout": f"{summary.holdout.successes} of {summary.holdout.trials}",
                    "cpu_median_s": sorted(one["cpu_s"] for one in runs)[len(runs) // 2],
                    "peak_max_mb": max(one["peak_mb"] for one in runs),
                    "wall_max_s": max(one["wall_s"] for one in runs),
                    "published_percent": PUBLISHED.get((search, regime)),
                }


def main() -> None:
    """Run the suites and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tier", choices=["smoke", "full"], default="smoke")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--budgets", help="seconds, comma-separated, instead of the tier's")
    parser.add_argument("--suites", help="of data, challenge, real examples, real challenge: only these")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="suite-"))
    folder.mkdir(parents=True, exist_ok=True)
    full = options.tier == "full"
    result: dict[str, Any] = {"machine": machine(), "tier": options.tier, "suites": {}}
    budgets = [int(text) for text in options.budgets.split(",")] if options.budgets else [10, 60] if full else [10]
    for budget_s in budgets:
        for suite in options.suites.split(",") if options.suites else SUITES:
            path = run(suite, budget_s, search_names(), folder, options.jobs, 1 if full else 4)
            name = f"{suite}, {budget_s} s"
            if path is None:
                result["suites"][name] = "skipped: the release's data is not beside this project"
                continue
            result["suites"][name] = list(figures(path))
            print_table(name, [one for one in result["suites"][name] if one["band"] == "all"])
    print(json.dumps(result["machine"]))
    if options.output:
        options.output.write_text(json.dumps(result, indent=2) + "\n")


def print_table(name: str, lines: list[dict[str, Any]]) -> None:
    """The figures over all bands, a line each."""
    print(f"\n{name}")
    print(
        f"{'regime':8}{'search':12}{'n':>4}{'solved':>7}{'@+0':>5}{'@+25':>5}{'proven':>7}"
        f"{'held out':>10}{'CPU s':>7}{'MB':>6}  published"
    )
    for one in lines:
        published = "" if one["published_percent"] is None else f"{one['published_percent']} % (30 min)"
        print(
            f"{one['regime']:8}{one['search']:12}{one['instances']:4}{one['solved']:7}{one['at_gold']:5}"
            f"{one['at_gold_25']:5}{one['proven']:7}{one['holdout']:>10}{one['cpu_median_s']:7.2f}"
            f"{one['peak_max_mb']:6.0f}  {published}"
        )


if __name__ == "__main__":
    main()
