"""`induction solve`: the smallest formulas that explain each instance, with proof."""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from induction.errors import UsageError, printable

if TYPE_CHECKING:
    from induction.running.tasks import Report
    from induction.search import Progress, SearchOptions, SearchResult
    from induction.worlds.instance import Instance

_UNITS_S = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_UNITS_BYTES = {"": 2**20, "mb": 2**20, "mib": 2**20, "gb": 2**30, "gib": 2**30}
_RAN_OUT = ("timed-out", "out-of-memory", "unknown")


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Instance file (YAML, JSON, JSONL, .gz), or -.")],
    instance_id: Annotated[
        list[str] | None, typer.Option("--id", metavar="ID", help="Solve this instance alone; may be repeated.")
    ] = None,
    search: Annotated[str, typer.Option("--search", help="Which search; see induction searches.")] = "bottom-up",
    budget: Annotated[str, typer.Option("--budget", help="Wall time for each instance: 60s, 5m.")] = "60s",
    memory: Annotated[str, typer.Option("--memory", help="Memory for each instance: 500MB, 4GB.")] = "4GB",
    max_ast: Annotated[int, typer.Option("--max-ast", min=2, max=60, help="Largest AST size looked for.")] = 22,
    variables: Annotated[int, typer.Option("--variables", min=1, max=3, help="Variable names that may occur.")] = 3,
    depth: Annotated[int, typer.Option("--depth", min=0, max=10, help="Deepest nesting of quantifiers.")] = 3,
    equality: Annotated[bool, typer.Option("--equality/--no-equality", help="Whether = may occur.")] = True,
    solutions: Annotated[int, typer.Option("--solutions", min=1, max=1000, help="How many answers to list.")] = 5,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=256, help="Processes at work at a time.")] = 1,
    out: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write a prediction row for each instance here."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Find the smallest formulas that explain each instance, and prove that none is smaller.

    The fragment: not, binary and/or, exists, forall, = (unless --no-equality), with --variables names that may be
    bound again inside their own scope, and --depth. Answers of one size come in this order: smallest sum of the AST
    sizes of quantifier bodies, then fewest occurrences of x, then text; of answers that agree on some sixty other
    worlds the first is listed. When time or memory runs out, or on Ctrl-C, the best answer so far and the proven
    bound are given. A run with -o that was interrupted goes on where it stopped when it is started again.

    Answers larger than --max-ast can come from shortcuts; the outcome is then "exhausted" unless they are proven
    smallest. Variables are renamed apart in print, so that an answer may show more names than --variables.

    Exit code: 0 every instance has an answer, 1 some have none, 3 for some the budget ran out without one.

    \b
    Examples:
      induction solve suite.yaml.gz --id simple_001
      induction solve suite.yaml.gz --budget 30s --jobs 2 -o predictions.jsonl
      induction check --formulas predictions.jsonl suite.yaml.gz
    """
    from induction.cli import inputs, output
    from induction.running.local import run_tasks
    from induction.running.rows import RowJournal
    from induction.running.tasks import Limits, Task
    from induction.search import SearchOptions, load_search

    load_search(search)
    options = SearchOptions(max_ast, variables, depth, equality, solutions)
    seconds = _amount(budget, _UNITS_S, "--budget")
    memory_bytes = int(_amount(memory, _UNITS_BYTES, "--memory"))
    instances, faults, _ = inputs.load_instances(file, instance_id)
    by_id = {instance.instance_id: instance for instance in instances}
    rows: dict[str, dict[str, Any]] = {}
    journal = None
    if out is not None:
        key = inputs.journal_key(
            "solve", instances, search=search, options=asdict(options), budget_s=seconds, memory_bytes=memory_bytes
        )
        journal = RowJournal(out, key)
    if journal is not None:
        rows = journal.rows
        if rows:
            output.note(f"{len(rows)} of {len(by_id)} rows are there already ({printable(str(journal.path), 200)})")
    tasks = [
        Task(name, _solve_one, (search, instance, options, seconds, memory_bytes))
        for name, instance in by_id.items()
        if name not in rows
    ]
    # The search keeps within its budget by itself; these limits are for when it does not.
    limits = Limits(seconds * 1.1 + 0.5, int(memory_bytes * 1.1) + 300 * 2**20)
    show = _progress_line(len(by_id))
    interrupted = False
    try:
        for report in run_tasks(tasks, jobs=jobs, limits=limits, on_progress=show):
            show("", None)
            row = _row(by_id[report.name], search, options, report)
            cut_short = row["outcome"] == "unknown" and report.failure in ("", "interrupted")
            if journal is not None and not cut_short:
                journal.add(report.name, row)
            rows[report.name] = row
            if not as_json:
                _print_row(row)
    except KeyboardInterrupt:
        interrupted = True
    show("", None)
    if journal is not None and not interrupted:
        journal.finish(list(by_id))
    if as_json:
        output.print_json({"file": file, "rows": [rows[name] for name in by_id if name in rows]})
    elif len(by_id) > 1:
        _print_totals(list(rows.values()))
    inputs.report_faults(faults)
    if interrupted:
        raise KeyboardInterrupt
    if faults:
        return 2
    unanswered = [row["outcome"] for row in rows.values() if row["extractedFormula"] is None]
    if any(outcome in _RAN_OUT for outcome in unanswered):
        return 3
    return 1 if unanswered else 0


def _amount(text: str, units: Mapping[str, float], option: str) -> float:
    match = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]{1,6})?)\s*([a-z]*)\s*", text.lower())
    if not match or match[2] not in units or float(match[1]) <= 0:
        known = ", ".join(f"10{unit}" for unit in units if unit)
        raise UsageError(f"{option}: '{printable(text)}' is no amount such as {known}")
    return float(match[1]) * units[match[2]]


def _solve_one(argument: Any, send: Callable[[Any], None]) -> "SearchResult":
    """In a process of its own: one instance."""
    import time

    from induction.budget import Budget
    from induction.search import load_search

    search, instance, options, seconds, memory_bytes = argument
    last = 0.0

    def report(progress: "Progress") -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > 0.2:
            last = now
            send(progress)

    return load_search(search).search(instance, Budget(seconds, memory_bytes), options, report)


def _row(instance: "Instance", search: str, options: "SearchOptions", report: "Report") -> dict[str, Any]:
    """The prediction row of one instance, from its result or, if it was killed, from the last it had said."""
    from induction.budget import Outcome
    from induction.enumeration.layout import Fragment
    from induction.formula.syntax import to_sexpr

    stopped = {"time": Outcome.TIMED_OUT, "memory": Outcome.OUT_OF_MEMORY}
    result: SearchResult | None = report.result
    if result is not None:
        formulas, outcome, none_below = result.formulas, result.outcome, result.none_below
        if outcome is Outcome.UNKNOWN:
            outcome = stopped.get(report.failure, outcome)
        fragment, diagnosis, statistics = result.fragment, result.diagnosis, dict(result.statistics)
    else:
        progress: Progress | None = report.progress
        formulas = (progress.best,) if progress is not None and progress.best is not None else ()
        none_below = progress.none_below if progress is not None else 0
        outcome = stopped.get(report.failure, Outcome.UNKNOWN)
        fragment = str(Fragment(options.variables, options.depth, options.equality))
        diagnosis, statistics = f"stopped from outside: {report.failure}", {}
    texts = [to_sexpr(formula) for formula in formulas]
    return {
        "schemaVersion": "induction_prediction_record_v1",
        "instanceId": instance.instance_id,
        "task": instance.regime.value,
        "scenario": instance.regime.scenario,
        "model": search,
        "success": bool(texts),
        "extractedFormula": texts[0] if texts else None,
        "solutions": texts,
        "astSize": formulas[0].ast_nodes if formulas else None,
        "goldAst": instance.gold_ast,
        "outcome": outcome.value,
        "noneBelow": none_below,
        "provenSmallest": bool(formulas) and formulas[0].ast_nodes <= none_below,
        "fragment": fragment,
        "search": search,
        "diagnosis": diagnosis,
        "statistics": statistics,
        "timing": {
            "cpu_s": round(report.cpu_s, 3),
            "wall_s": round(report.wall_s, 3),
            "peak_mb": round(report.peak_mb, 1),
        },
    }


def _print_row(row: Mapping[str, Any]) -> None:
    from induction.cli import output

    parts = [row["outcome"]]
    if row["astSize"] is not None:
        gold = "" if row["goldAst"] is None else f" (gold {row['goldAst']})"
        parts.append(f"AST {row['astSize']}{gold}")
        proven = "proven smallest" if row["provenSmallest"] else f"none below {row['noneBelow']} proven"
        parts.append(proven if row["noneBelow"] else "not proven smallest")
    elif row["noneBelow"]:
        parts.append(f"none below {row['noneBelow']}")
    timing = row["timing"]
    parts.append(f"{timing['cpu_s']:.2f} s CPU, {timing['peak_mb']:.0f} MB")
    output.print_indented(0, f"{row['instanceId']}: {', '.join(parts)}")
    for text in row["solutions"]:
        output.print_indented(1, text)
    if row["diagnosis"] and not row["provenSmallest"]:
        output.print_indented(1, row["diagnosis"])


def _print_totals(rows: Sequence[Mapping[str, Any]]) -> None:
    import statistics

    from induction.cli import output

    answered = [row for row in rows if row["extractedFormula"] is not None]
    proven = sum(row["provenSmallest"] for row in answered)
    print(f"\n{len(answered)} of {output.plural(len(rows), 'instance')} answered, {proven} proven smallest", end="")
    if rows:
        median = statistics.median(row["timing"]["cpu_s"] for row in rows)
        print(f"; median {median:.2f} s CPU", end="")
    print()


def _progress_line(total: int) -> Callable[[str, Any], None]:
    """Shows how far the searches are, on one line of a terminal; an empty name clears it."""
    if not sys.stderr.isatty():
        return lambda _name, _progress: None
    import time

    width = 79
    state = {"last": 0, "at": time.monotonic(), "rate": 0.0}

    def show(name: str, progress: "Progress | None") -> None:
        if progress is None:
            sys.stderr.write("\r" + " " * width + "\r")
            sys.stderr.flush()
            return
        now = time.monotonic()
        if progress.classes >= state["last"] and now > state["at"]:
            state["rate"] = (progress.classes - state["last"]) / (now - state["at"])
        state["last"], state["at"] = progress.classes, now
        best = f", best {progress.best.ast_nodes}" if progress.best is not None else ""
        line = (
            f"{printable(name, 30)}: size {progress.ast_size}, {progress.classes:,} classes, "
            f"{max(0, state['rate']):,.0f}/s{best}, none below {progress.none_below}"
        )
        sys.stderr.write("\r" + line[:width].ljust(width))
        sys.stderr.flush()

    return show
