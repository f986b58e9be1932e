"""`induction score`: predictions to evaluation rows."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from induction.errors import InductionError, InstanceFormatError, printable

if TYPE_CHECKING:
    from induction.scoring.batch import Job, Plan
    from induction.worlds.instance import Instance
    from induction.worlds.world import World

_TOGETHER = 6  # instances a process takes at a time


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Instance file (YAML, JSON, JSONL, .gz), or -.")],
    predictions: Annotated[list[str], typer.Argument(metavar="PREDICTIONS...", help="JSONL files, or -.")],
    out: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Write the evaluation rows here.")],
    holdout: Annotated[
        str | None, typer.Option("--holdout", metavar="FILE", help="Fresh worlds, from induction holdout.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="Rows without a model are this one's (else the file's name).")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, max=256, help="Processes at work at a time.")] = 1,
) -> int:
    """Evaluate predictions: one row for each model and instance, in the release's form and with reasons.

    Predictions are v1 rows, rows with instanceId and formula, raw answers (response, rawResponse), or the output of
    a provider's batch interface. An instance that a model gave no row for gets a row too and counts as wrong; second
    answers, unknown instances and wrong regimes are told and counted. Valid answers are tried on the hold-out worlds.
    A run that was interrupted goes on where it stopped. The exit code is 2 if some rows could not be read.

    \b
    Examples:
      induction score suite.yaml.gz predictions.jsonl --holdout holdout.jsonl -o evaluation.jsonl
      induction score suite.yaml.gz a.jsonl b.jsonl --jobs 2 -o evaluation.jsonl
      induction report evaluation.jsonl
    """
    from rich.console import Console
    from rich.progress import Progress

    from induction.cli import inputs, output
    from induction.running.local import Limits, Task, run_tasks
    from induction.running.rows import RowJournal
    from induction.scoring import batch
    from induction.scoring.holdouts import read_holdouts
    from induction.scoring.predictions import read_predictions

    inputs.require_one_standard_input(file, *predictions, holdout)
    instances, faults, _ = inputs.load_instances(file, None)
    fresh = read_holdouts(holdout, instances) if holdout is not None else {}
    read, bad = [], list[InductionError](faults)
    for path in predictions:
        for one in read_predictions(path, model):
            if isinstance(one, InstanceFormatError):
                bad.append(one)
            else:
                read.append(one)
    plan = batch.plan_rows(read, instances)
    key = inputs.journal_key(
        "score",
        instances,
        predictions=_digest([(job.key, job.prediction) for job in plan.jobs]),
        holdout=_digest([(name, len(worlds), [w.target.tolist() for w in worlds]) for name, worlds in fresh.items()]),
    )
    with RowJournal(out, key) as journal:
        if journal.rows:
            path = printable(str(journal.path), 200)
            output.note(f"{len(journal.rows)} of {len(plan.jobs)} rows are there already ({path})")
        chunks = _chunks(instances, fresh, [job for job in plan.jobs if job.key not in journal.rows])
        tasks = [Task(str(number), _score_chunk, (chunk, file)) for number, chunk in enumerate(chunks)]
        screen = Console(stderr=True)
        with Progress(console=screen, transient=True, disable=not screen.is_terminal) as progress:
            bar = progress.add_task("evaluating", total=len(plan.jobs), completed=len(journal.rows))
            for report in run_tasks(tasks, jobs=jobs, limits=Limits()):
                if report.result is None:
                    if report.failure == "interrupted":
                        raise KeyboardInterrupt
                    raise InductionError(f"evaluation failed: {report.failure}")
                journal.add_all({name: {"instanceId": name, "row": row} for name, row in report.result})
                progress.advance(bar, len(report.result))
        rows = [journal.rows[job.key]["row"] for job in plan.jobs]
        journal.finish([job.key for job in plan.jobs], lambda kept: _write(out, [row["row"] for row in kept]))
    _print_summary(out, rows, plan)
    inputs.report_faults(bad)
    return 2 if bad else 0


def _digest(value: object) -> str:
    import hashlib

    return hashlib.sha256(repr(value).encode("utf-8", "backslashreplace")).hexdigest()


def _chunks(
    instances: "Sequence[Instance]", fresh: "dict[str, list[World]]", jobs: "Sequence[Job]"
) -> "list[list[tuple[Instance, list[World] | None, list[Job]]]]":
    """The jobs by instance, some instances together."""
    by_instance: dict[str, list[Job]] = {}
    for job in jobs:
        by_instance.setdefault(job.instance_id, []).append(job)
    groups = [
        (instance, fresh.get(instance.instance_id), by_instance[instance.instance_id])
        for instance in instances
        if instance.instance_id in by_instance
    ]
    return [groups[start : start + _TOGETHER] for start in range(0, len(groups), _TOGETHER)]


def _score_chunk(argument: Any, send: Callable[[Any], None]) -> list[tuple[str, dict[str, Any]]]:
    """In a process of its own: the rows of some instances."""
    from pathlib import PurePath

    from induction.scoring import batch
    from induction.scoring.evaluate import Dataset

    chunk, file = argument
    name = PurePath(file).name.removesuffix(".gz").rsplit(".", 1)[0]
    comparers = batch.comparers([instance.signature for instance, _, _ in chunk])
    return [
        pair
        for instance, worlds, jobs in chunk
        for pair in batch.rows_of_instance(instance, worlds, jobs, Dataset(name, file), comparers[instance.signature])
    ]


def _write(out: str, rows: "list[dict[str, Any]]") -> None:
    import json

    from induction.worlds.formats import write_whole

    write_whole(out, "".join(json.dumps(row) + "\n" for row in rows).encode())


def _print_summary(out: str, rows: "Sequence[dict[str, Any]]", plan: "Plan") -> None:
    from induction.cli import output
    from induction.scoring.batch import MOST_TOLD

    valid = sum(row["valid"] for row in rows)
    print(f"wrote {printable(out, 200)}: {output.plural(len(rows), 'row')}, {valid:,} valid")
    for kind, places in plan.odd.items():
        output.note(f"{len(places):,} {kind}")
        for place in places[:MOST_TOLD]:
            output.note(f"  {printable(place, 200)}")
        if len(places) > MOST_TOLD:
            output.note(f"  … and {len(places) - MOST_TOLD:,} more")
