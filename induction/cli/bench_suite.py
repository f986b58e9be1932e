"""`induction bench-suite`: several searches on every instance of a file, under the same limits."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from induction.errors import MissingLibraryError, UsageError

if TYPE_CHECKING:
    from induction.running.tasks import Report
    from induction.worlds.world import World


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Instance file (YAML, JSON, JSONL, .gz), or -.")],
    out: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Write the run rows here.")],
    search: Annotated[
        str, typer.Option("--search", metavar="NAME,NAME", help="Searches to run, or all; see induction searches.")
    ] = "bottom-up",
    instance_id: Annotated[
        list[str] | None, typer.Option("--id", metavar="ID", help="Run on this instance alone; may be repeated.")
    ] = None,
    budget: Annotated[str, typer.Option("--budget", help="Wall time for each run: 60s, 30m.")] = "60s",
    memory: Annotated[str, typer.Option("--memory", help="Memory for each run: 500MB, 4GB.")] = "4GB",
    max_ast: Annotated[int, typer.Option("--max-ast", min=2, max=60, help="Largest AST size looked for.")] = 22,
    variables: Annotated[int, typer.Option("--variables", min=1, max=3, help="Variable names that may occur.")] = 3,
    depth: Annotated[int, typer.Option("--depth", min=0, max=10, help="Deepest nesting of quantifiers.")] = 3,
    equality: Annotated[bool, typer.Option("--equality/--no-equality", help="Whether = may occur.")] = True,
    noise: Annotated[
        int, typer.Option("--noise", min=0, max=1000, help="Allow so many wrong labels, all worlds together.")
    ] = 0,
    holdout: Annotated[
        str | None, typer.Option("--holdout", metavar="FILE", help="Fresh worlds, from induction holdout.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=256, help="Runs at work at a time.")] = 1,
) -> int:
    """Run searches on every instance, each run in a process of its own under hard limits of time and memory.

    A run over its limits is asked to stop, then killed; what it had found by then counts. CPU time and peak memory are
    the operating system's. A row is kept as soon as its run has ended, so that an interrupted suite goes on
    where it stopped; the file lists the instances in order, and for each the searches as given. Every answer is
    re-checked by the reference evaluator. A search that needs a library which is not installed is skipped, and the
    summary tells how to get it. induction report reads the rows, of several files together, and beside
    evaluation rows of models.

    Exit code: 0 all runs ended, answered or not; 3 some ended by a fault of the search, which their rows tell.

    \b
    Examples:
      induction bench-suite suite.yaml.gz --search bottom-up,prenex-smt --budget 60s --jobs 2 -o runs.jsonl
      induction bench-suite suite.yaml.gz --search all --budget 10s --holdout holdout.jsonl -o runs.jsonl
      induction report runs.jsonl --html report.html --published
    """
    from dataclasses import asdict

    from induction.cli import inputs, output
    from induction.cli.searches import warn_of_faults
    from induction.running.local import run_tasks
    from induction.running.rows import RowJournal, as_lines
    from induction.scoring import solving
    from induction.scoring.evaluate import Dataset
    from induction.scoring.holdouts import read_holdouts
    from induction.scoring.runs import run_row
    from induction.search import SearchOptions

    inputs.require_one_standard_input(file, holdout)
    names, skipped = _searches(search)
    options = SearchOptions(max_ast, variables, depth, equality, 1, noise)
    budget_s, memory_bytes = inputs.seconds(budget, "--budget"), inputs.byte_count(memory, "--memory")
    instances, faults, _ = inputs.load_instances(file, instance_id)
    for name in names:
        solving.require_heeded(name, options, instances)
    fresh = read_holdouts(holdout, instances) if holdout is not None else {}
    wanted = {f"{name} {one.instance_id}": (name, one) for one in instances for name in names}
    dataset = Dataset.of_file(file)
    key = inputs.journal_key(
        "bench-suite",
        instances,
        searches=names,
        options=asdict(options),
        budget_s=budget_s,
        memory_bytes=memory_bytes,
        holdout=inputs.worlds_digest(fresh),
        file=file,
    )

    def row_of(report: "Report") -> dict[str, Any]:
        name, instance = wanted[report.name]
        prediction = solving.prediction_row(instance, name, options, report)
        worlds: list[World] | None = fresh.get(instance.instance_id)
        return run_row(prediction, instance, dataset, worlds, budget_s=budget_s, memory_mb=memory_bytes / 2**20)

    with output.journalled(RowJournal(out, key), len(wanted), "runs") as journal:
        tasks = [
            solving.solving_task(run, name, instance, options, budget_s, memory_bytes)
            for run, (name, instance) in wanted.items()
            if run not in journal.rows
        ]
        limits = solving.limits_of(budget_s, memory_bytes)
        with output.progress_bar("runs", len(wanted), len(journal.rows)) as advance:
            for report in run_tasks(tasks, jobs=jobs, limits=limits):
                if report.failure != "interrupted":
                    journal.add(report.name, {"instanceId": report.name, "row": row_of(report)})
                    advance(1)
        rows = [journal.rows[run]["row"] for run in wanted]
        journal.finish(list(wanted), lambda kept: as_lines([one["row"] for one in kept]))
    _print_summary(out, rows, names, skipped)
    any_at_fault = warn_of_faults(rows)
    inputs.report_faults(faults)
    return 2 if faults else 3 if any_at_fault else 0


def _searches(text: str) -> tuple[list[str], dict[str, str]]:
    """The searches to run, each once, and why others that were named cannot.

    `all` stands for every search there is.

    Raises:
        UsageError: none is named.
        UnknownNameError: there is no such search.
        MissingLibraryError: none of those named is installed in full.
    """
    from induction.search import find_search, search_names

    everything = text.strip() == "all"
    names = search_names() if everything else [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError("--search names no search")
    found = {name: find_search(name).about for name in names}
    skipped = {name: f"needs {about.why_not_installed}" for name, about in found.items() if about.missing}
    if len(skipped) == len(found):
        raise MissingLibraryError("; ".join(f"{name} {reason}" for name, reason in skipped.items()))
    return [name for name in found if name not in skipped], skipped


def _print_summary(
    out: str, rows: "Sequence[dict[str, Any]]", names: Sequence[str], skipped: Mapping[str, str]
) -> None:
    import statistics

    from induction.cli import output
    from induction.errors import printable

    print(f"wrote {printable(out, 200)}: {output.plural(len(rows), 'run')}")
    lines = []
    for name in names:
        own = [row for row in rows if row["search"] == name]
        at_gold = sum(row["valid"] and row["goldAst"] is not None and row["astSize"] <= row["goldAst"] for row in own)
        cpu = statistics.median(row["timing"]["cpu_s"] for row in own) if own else 0.0
        proven = sum(row["provenSmallest"] for row in own)
        lines.append((name, len(own), sum(row["valid"] for row in own), at_gold, proven, f"{cpu:.2f}"))
    headings = ("search", "runs", "solved", "at gold", "proven", "CPU s")
    output.print_table(headings, lines, numeric=headings[1:])
    output.print_indented(0, "proven: proven smallest of the search's fragment; CPU s: the median run")
    for name, reason in skipped.items():
        output.print_indented(0, f"skipped {printable(name)}: {printable(reason, 300)}")
