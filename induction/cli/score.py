"""`induction score`: predictions to evaluation rows."""

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from induction.errors import InductionError, InstanceFormatError, UsageError, printable

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
    run: Annotated[
        str | None, typer.Option("--run", help="Rows without a run are of this one (else the file's name).")
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
    from induction.cli import inputs, output
    from induction.running.local import run_tasks
    from induction.running.rows import RowJournal, as_lines
    from induction.running.tasks import Limits, Task
    from induction.scoring import batch
    from induction.scoring.holdouts import read_holdouts
    from induction.scoring.predictions import read_predictions

    inputs.require_one_standard_input(file, *predictions, holdout)
    instances, faults, _ = inputs.load_instances(file, None)
    fresh = read_holdouts(holdout, instances) if holdout is not None else {}
    read, bad = [], list[InductionError](faults)
    runs = {path: run or name for path, name in zip(predictions, _run_names(predictions), strict=True)}
    for path in predictions:
        for one in read_predictions(path, model, runs[path]):
            if isinstance(one, InstanceFormatError):
                bad.append(one)
            else:
                read.append(one)
    if not read and model is None:
        raise UsageError("there is no prediction to score; with --model, all answers of that model count as missing")
    plan = batch.plan_rows(read, instances, [] if read or model is None else [(model, next(iter(runs.values())))])
    key = inputs.journal_key(
        "score",
        instances,
        predictions=inputs.digest([(job.key, job.prediction) for job in plan.jobs]),
        holdout=inputs.worlds_digest(fresh),
        file=file,
    )
    with output.journalled(RowJournal(out, key), len(plan.jobs)) as journal:
        chunks = _chunks(instances, fresh, [job for job in plan.jobs if job.key not in journal.rows])
        tasks = [Task(str(number), _score_chunk, (chunk, file)) for number, chunk in enumerate(chunks)]
        with output.progress_bar("evaluating", len(plan.jobs), len(journal.rows)) as advance:
            for report in run_tasks(tasks, jobs=jobs, limits=Limits()):
                if report.result is None:
                    if report.failure == "interrupted":
                        continue  # others may have ended in time
                    raise InductionError(f"evaluation failed: {report.failure}")
                journal.add_all({name: {"instanceId": name, "row": row} for name, row in report.result})
                advance(len(report.result))
        rows = [journal.rows[job.key]["row"] for job in plan.jobs]
        journal.finish([job.key for job in plan.jobs], lambda kept: as_lines([row["row"] for row in kept]))
    _print_summary(out, rows, plan, holdout=holdout is not None)
    inputs.report_faults(bad)
    return 2 if bad else 0


def _run_names(paths: "Sequence[str]") -> list[str]:
    """A name for each file: without folders and suffixes, or in full where two would be alike."""
    from pathlib import PurePath

    stems = [PurePath(path).name.removesuffix(".gz").removesuffix(".jsonl") for path in paths]
    return [stem if stems.count(stem) == 1 else path for stem, path in zip(stems, paths, strict=True)]


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
    from induction.scoring import batch
    from induction.scoring.evaluate import Dataset

    chunk, file = argument
    dataset = Dataset.of_file(file)
    comparers = batch.comparers([instance.signature for instance, _, _ in chunk])
    rows: list[tuple[str, dict[str, Any]]] = []
    with contextlib.suppress(KeyboardInterrupt):  # what is done by then counts
        for instance, worlds, jobs in chunk:
            rows += batch.rows_of_instance(instance, worlds, jobs, dataset, comparers[instance.signature])
    return rows


def _print_summary(out: str, rows: "Sequence[dict[str, Any]]", plan: "Plan", *, holdout: bool) -> None:
    from induction.cli import output
    from induction.scoring.batch import MOST_TOLD

    valid = sum(row["valid"] for row in rows)
    print(f"wrote {printable(out, 200)}: {output.plural(len(rows), 'row')}, {valid:,} valid")
    undecided = sum(bool(row["metadata"]["undecided"]) for row in rows)
    if undecided:
        output.note(f"{undecided:,} undecided: beyond what can be evaluated; they count as wrong")
    untried = sum(row["valid"] and row["metadata"]["holdoutMatch"] is None for row in rows)
    if holdout and untried:
        output.note(f"{untried:,} valid answers have no hold-out worlds to be tried on")
    for kind, places in plan.odd.items():
        output.note(f"{len(places):,} {kind}")
        for place in places[:MOST_TOLD]:
            output.note(f"  {printable(place, 200)}")
        if len(places) > MOST_TOLD:
            output.note(f"  … and {len(places) - MOST_TOLD:,} more")
