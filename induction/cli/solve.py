"""`induction solve`: the smallest formulas that explain each instance, with proof."""

import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from induction.errors import printable

if TYPE_CHECKING:
    from induction.formula.syntax import Signature

_LONGEST_ON_ONE_LINE = 240
_MOST_LINES = 20
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
    noise: Annotated[
        int, typer.Option("--noise", min=0, max=1000, help="Allow so many wrong labels, all worlds together.")
    ] = 0,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=256, help="Processes at work at a time.")] = 1,
    out: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write a prediction row for each instance here."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Find the smallest formulas that explain each instance, and prove that none is smaller.

    This is what the default search does; induction searches tells of the others, which print what they can prove.
    The fragment: not, binary and/or, exists, forall, = (unless --no-equality), with --variables names that may be
    bound again inside their own scope, and --depth. Answers of one size come in this order: smallest sum of the AST
    sizes of quantifier bodies, then fewest occurrences of x, then text; of answers that agree on some sixty other
    worlds the first is listed. When time or memory runs out, or on Ctrl-C, the best answer so far and the proven
    bound are given. A run with -o that was interrupted goes on where it stopped when it is started again.
    With --noise, formulas count that are wrong on so many labels (FullObs, and the YES worlds of CI).

    Answers larger than --max-ast can come from shortcuts; the default search's outcome is then "exhausted" unless they
    are proven smallest. Once one is, the outcome is "solved", and whether all others of its size are listed is told
    apart from it. Bound variables are named by nesting, so that an answer may show more names than --variables.

    Exit code: 0 every instance has an answer, 1 some have none, 3 for some the budget ran out without one.

    \b
    Examples:
      induction solve suite.yaml.gz --id simple_001
      induction solve suite.yaml.gz --budget 30s --jobs 2 -o predictions.jsonl
      induction solve suite.yaml.gz --search portfolio --budget 5m
      induction solve noisy.yaml --noise 2
      induction check --formulas predictions.jsonl suite.yaml.gz
    """
    from induction.cli import inputs, output
    from induction.cli.searches import warn_of_faults
    from induction.running.local import run_tasks
    from induction.running.rows import RowJournal
    from induction.scoring import solving
    from induction.search import SearchOptions, load_search

    load_search(search)
    options = SearchOptions(max_ast, variables, depth, equality, solutions, noise)
    seconds = inputs.seconds(budget, "--budget")
    memory_bytes = inputs.byte_count(memory, "--memory")
    instances, faults, _ = inputs.load_instances(file, instance_id)
    solving.require_heeded(search, options, instances)
    by_id = {instance.instance_id: instance for instance in instances}
    rows: dict[str, dict[str, Any]] = {}
    kept = contextlib.ExitStack()
    journal = None
    if out is not None:
        key = inputs.journal_key(
            "solve", instances, search=search, options=asdict(options), budget_s=seconds, memory_bytes=memory_bytes
        )
        journal = kept.enter_context(output.journalled(RowJournal(out, key), len(by_id)))
        rows = dict(journal.rows)
    with kept:
        tasks = [
            solving.solving_task(name, search, instance, options, seconds, memory_bytes)
            for name, instance in by_id.items()
            if name not in rows
        ]
        limits = solving.limits_of(seconds, memory_bytes)
        show = _progress_line(len(by_id))
        interrupted = False
        try:
            for report in run_tasks(tasks, jobs=jobs, limits=limits, on_progress=show):
                show("", None)
                row = solving.prediction_row(by_id[report.name], search, options, report)
                if journal is not None and not solving.is_cut_short(row, report):
                    journal.add(report.name, row)
                rows[report.name] = row
                if not as_json:
                    _print_row(row, by_id[report.name].signature)
        except KeyboardInterrupt:
            interrupted = True
        show("", None)
        if journal is not None and not interrupted:
            journal.finish(list(by_id))
        if as_json:
            output.print_json({"file": file, "rows": [rows[name] for name in by_id if name in rows]})
        elif len(by_id) > 1:
            _print_totals(list(rows.values()))
        warn_of_faults(list(rows.values()))
        inputs.report_faults(faults)
        if interrupted:
            raise KeyboardInterrupt
    if faults:
        return 2
    unanswered = [row["outcome"] for row in rows.values() if row["extractedFormula"] is None]
    if any(outcome in _RAN_OUT for outcome in unanswered):
        return 3
    return 1 if unanswered else 0


def _print_row(row: Mapping[str, Any], signature: "Signature") -> None:
    from induction.cli import output

    parts = [row["outcome"]]
    if row["astSize"] is not None:
        gold = "" if row["goldAst"] is None else f" (gold {row['goldAst']})"
        parts.append(f"AST {row['astSize']}{gold}")
        proven = "proven smallest" if row["provenSmallest"] else f"none below {row['noneBelow']} proven"
        parts.append(proven if row["noneBelow"] else "not proven smallest")
    elif row["noneBelow"]:
        parts.append(f"none below {row['noneBelow']}")
    # Rows of earlier versions say nothing of further answers, and put a budget that ran out for them in the outcome.
    further = row.get("furtherAnswers") or ""
    if row["provenSmallest"] and further.startswith("not all: "):
        parts.append(f"not all of that size listed ({further.removeprefix('not all: ')})")
    timing = row["timing"]
    if row.get("mislabelled") is not None:
        parts.append(f"{row['mislabelled']} mislabelled")
    if row["statistics"].get("answeredBy"):
        parts.append(f"by {row['statistics']['answeredBy']}")
    parts.append(f"{timing['cpu_s']:.2f} s CPU, {timing['peak_mb']:.0f} MB")
    output.print_indented(0, f"{row['instanceId']}: {', '.join(parts)}")
    for text in row["solutions"]:
        _print_formula(text, signature)
    if row["diagnosis"] and not row["provenSmallest"]:
        output.print_indented(1, row["diagnosis"])


def _print_formula(text: str, signature: "Signature") -> None:
    """A formula of the language; a long one laid out, and cut where it would fill the screen."""
    from induction.cli import output
    from induction.formula.parsing import parse_formula
    from induction.formula.printing import to_pretty

    if len(text) <= _LONGEST_ON_ONE_LINE:
        output.print_indented(1, text)
        return
    lines = to_pretty(parse_formula(text, signature), width=76).split("\n")
    shown = lines if len(lines) <= _MOST_LINES else lines[: _MOST_LINES - 1]
    for line in shown:
        print(f"  {line}")
    if len(shown) < len(lines):
        print(f"  ... {len(lines) - len(shown)} more lines; --json and -o give it whole")


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

    def show(name: str, progress: Mapping[str, Any] | None) -> None:
        if progress is None:
            sys.stderr.write("\r" + " " * width + "\r")
            sys.stderr.flush()
            return
        now = time.monotonic()
        if progress["done"] >= state["last"] and now > state["at"]:
            state["rate"] = (progress["done"] - state["last"]) / (now - state["at"])
        state["last"], state["at"] = progress["done"], now
        best = f", best {progress['answered']['size']}" if progress["best"] is not None else ""
        steps = f"{progress['done']:,} {progress['unit']}"
        if progress["ast_size"]:
            steps = f"size {progress['ast_size']}, {steps}, {max(0, state['rate']):,.0f}/s"
        proven = f", none below {progress['none_below']}" if progress["none_below"] else ""
        line = f"{printable(name, 30)}: {steps}{best}{proven}"
        sys.stderr.write("\r" + line[:width].ljust(width))
        sys.stderr.flush()

    return show
