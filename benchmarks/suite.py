"""All searches on all suites under one time budget: what they solve, prove and cost, beside the published figures.

    python benchmarks/suite.py [--tier smoke|full] [--jobs 2] [--folder DIR] [--output FILE]

Runs `induction bench-suite` on data/ (60 instances over all regimes and bands, 6 of the challenge kind, with their
hold-out worlds) and on the release's instances where ../shared/data/real is beside the project, at 10 s and 60 s an
instance (full; smoke: 5 s, every fourth instance), and prints tables for each budget, regime and search, over all
bands and by band. Rows are kept in --folder (a temporary one by default), so that a run goes on where it was stopped,
and can be reported again with `induction report`.

Claims, on data/suite.yaml.gz at 60 s, which are checked: bottom-up solves all of FullObs and CI with proof; prenex-smt
with rescue at least the published shares (48.8, 82.0, 100 %), portfolio at least 65.9 % of FullObs; no answer is
rejected by the reference evaluator. The published figures are of other instances, and of 30 minutes each.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import arguments
from machine import PROJECT, machine

from induction.scoring.metrics import summarise, within
from induction.scoring.rows import read_rows
from induction.scoring.tables import PUBLISHED_SEARCHES
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
PUBLISHED = {"prenex-smt": "z3-prenex + rescue (30 min)", "portfolio": "z3-ad-mix (30 min)", "ilp-asp": "ilasp-frag"}
"""The published search that each of ours follows."""


def run(suite: str, budget_s: int, searches: list[str], folder: Path, jobs: int, every: int) -> Path | None:
    """The run file of one suite, made where it is not there yet; None where the suite is not here."""
    instances, holdout = SUITES[suite]
    if not instances.exists():
        return None
    part = f"_every_{every}" if every > 1 else ""
    out = folder / f"{suite.replace(' ', '_')}_{budget_s}s{part}.jsonl"
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
                    "cpu_median_s": statistics.median(one["cpu_s"] for one in runs),
                    "peak_max_mb": max(one["peak_mb"] for one in runs),
                    "wall_max_s": max(one["wall_s"] for one in runs),
                    "published_percent": dict(PUBLISHED_SEARCHES[regime]).get(PUBLISHED.get(search, "")),
                }


def main() -> None:
    """Run the suites and print the tables."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--budgets", help="wall seconds, comma-separated, instead of the tier's")
    parser.add_argument("--suites", help="of data, challenge, real examples, real challenge: only these")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="suite-"))
    folder.mkdir(parents=True, exist_ok=True)
    full = options.tier == "full"
    result: dict[str, Any] = {"machine": machine(), "tier": options.tier, "suites": {}}
    budgets = [int(text) for text in options.budgets.split(",")] if options.budgets else [10, 60] if full else [5]
    for budget_s in budgets:
        for suite in options.suites.split(",") if options.suites else SUITES:
            path = run(suite, budget_s, search_names(), folder, options.jobs, 1 if full else 4)
            name = f"{suite}, {budget_s} s"
            if path is None:
                result["suites"][name] = "skipped: the release's data is not beside this project"
                continue
            result["suites"][name] = list(figures(path))
            print_table(name, [one for one in result["suites"][name] if one["band"] == "all"])
            print_bands(result["suites"][name])
            if suite == "data" and budget_s == 60:
                result["claims"] = claims(result["suites"][name])
    rows = [
        json.loads(line) for path in folder.glob("*.jsonl") for line in path.read_text(encoding="utf-8").splitlines()
    ]
    result["rejected"] = sum(len(row.get("rejected", [])) for row in rows)
    print(json.dumps({key: result[key] for key in ("machine", "claims", "rejected") if key in result}))
    if options.output:
        options.output.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8", newline="\n")


def claims(lines: list[dict[str, Any]]) -> dict[str, bool]:
    """Whether what is claimed of the suite at 60 s holds."""

    def share(search: str, regime: str, what: str = "solved") -> float:
        one = next(line for line in lines if (line["search"], line["regime"], line["band"]) == (search, regime, "all"))
        return 100 * float(one[what]) / float(one["instances"])

    return {
        "bottom-up proves all of FullObs and CI": share("bottom-up", "FullObs", "proven") == 100
        and share("bottom-up", "CI", "proven") == 100,
        "prenex-smt reaches the published shares": share("prenex-smt", "FullObs") >= 48.8
        and share("prenex-smt", "CI") >= 82.0
        and share("prenex-smt", "EC") == 100,
        "portfolio reaches the published share": share("portfolio", "FullObs") >= 65.9,
    }


def print_bands(lines: list[dict[str, Any]]) -> None:
    """Solved, at the gold's size, and all instances by band, a line for each search."""
    bands = list(dict.fromkeys(f"{one['regime']} {one['band']}" for one in lines if one["band"] != "all"))
    if not bands:
        return
    print(f"{'by band':12}" + "".join(f"{band:>17}" for band in bands))
    for search in dict.fromkeys(one["search"] for one in lines):
        by_band = {f"{one['regime']} {one['band']}": one for one in lines if one["search"] == search}
        cells = [f"{by_band[b]['solved']}/{by_band[b]['at_gold']}/{by_band[b]['instances']}" for b in bands]
        print(f"{search:12}" + "".join(f"{cell:>17}" for cell in cells))


def print_table(name: str, lines: list[dict[str, Any]]) -> None:
    """The figures over all bands, a line each."""
    print(f"\n{name}")
    print(
        f"{'regime':8}{'search':12}{'n':>4}{'solved':>7}{'@+0':>5}{'@+25':>5}{'proven':>7}"
        f"{'held out':>10}{'CPU s':>7}{'MB':>6}  published"
    )
    for one in lines:
        published = "" if one["published_percent"] is None else f"{one['published_percent']} % (30 min, others)"
        print(
            f"{one['regime']:8}{one['search']:12}{one['instances']:4}{one['solved']:7}{one['at_gold']:5}"
            f"{one['at_gold_25']:5}{one['proven']:7}{one['holdout']:>10}{one['cpu_median_s']:7.2f}"
            f"{one['peak_max_mb']:6.0f}  {published}"
        )


if __name__ == "__main__":
    main()
