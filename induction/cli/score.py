"""`induction score`: predictions to evaluation rows."""

import contextlib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from induction.errors import InductionError, InstanceFormatError, UsageError, printable

if TYPE_CHECKING:
    from induction.running.tasks import Task
    from induction.scoring.batch import Job, Oddity
    from induction.scoring.predictions import Prediction
    from induction.worlds.instance import Instance
    from induction.worlds.world import World

# A process takes at least so many instances at a time, and more of many rows: a task costs something to begin.
_TOGETHER = 6
_TASKS = 1_000
_MOST_TOGETHER = 300  # rows


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
    from induction.running.tasks import Limits

    inputs.require_one_standard_input(file, *predictions, holdout)
    job = _Job(file, predictions, holdout, model, run)
    with output.journalled(RowJournal(out, job.key, held=False), len(job.index)) as journal:
        with output.progress_bar("evaluating", len(job.index), len(journal.rows)) as advance:
            for report in run_tasks(job.tasks(journal.rows), jobs=jobs, limits=Limits()):
                if report.result is None:
                    if report.failure == "interrupted":
                        continue  # others may have ended in time
                    raise InductionError(f"evaluation failed: {report.failure}")
                journal.add_all({name: {"instanceId": name, "row": row} for name, row in report.result})
                advance(len(report.result))
        counts = _Counts()
        journal.finish(job.index, lambda kept: as_lines(counts.counted(one["row"]) for one in kept))
    job.close()
    _print_summary(out, counts, job.index.odd, holdout=holdout is not None)
    inputs.report_faults(job.faults)
    return 2 if job.faults else 0


class _Job:
    """What there is to score, read once: the index of rows and the key of the journal, not the rows themselves."""

    def __init__(
        self, file: str, predictions: "Sequence[str]", holdout: str | None, model: str | None, run: str | None
    ) -> None:
        from induction.cli import inputs, output
        from induction.scoring.batch import Index
        from induction.scoring.holdouts import HoldoutFile
        from induction.scoring.predictions import PredictionFile

        self._file = file
        self._instances = inputs.InstanceStream(file)
        regimes, signatures, instances = {}, {}, inputs.Digest()
        alike: dict[Any, Any] = {}
        for instance in self._instances:
            regimes[instance.instance_id] = instance.regime
            signatures[instance.instance_id] = alike.setdefault(instance.signature, instance.signature)
            instances.add_instance(instance)
        self._fresh = HoldoutFile(holdout, signatures) if holdout is not None else None
        fresh, read = inputs.Digest(), inputs.Digest()
        for name, worlds in self._fresh or ():
            fresh.add_worlds(name, worlds)
        runs = [run or name for name in _run_names(predictions)]
        self._files = [PredictionFile(path, model, one) for path, one in zip(predictions, runs, strict=True)]
        self.faults = inputs.Faults(self._instances.faults)
        silent = [(model, runs[0])] if model is not None else []
        self.index = Index(regimes)
        found = malformed = 0
        for number, rows in enumerate(self._files):
            for line, row in rows:
                if isinstance(row, InstanceFormatError):
                    self.faults.add(row)
                    malformed += 1
                else:
                    self.index.add(row, number, line.number, line.offset)
                    read.add(row)
                    found += 1
        if not found and malformed:
            inputs.report_faults(self.faults)
            raise UsageError(f"there is nothing to score: no row of {output.plural(malformed, 'row')} could be read")
        if not found:
            if not silent:
                raise UsageError(
                    "there is no prediction to score; with --model, all answers of that model count as missing"
                )
            self.index = Index(regimes, silent)
        self.index.close()
        self.key = inputs.journal_key_of(
            "score", instances, predictions=str(read), silent=silent if not found else [], holdout=str(fresh), file=file
        )

    def tasks(self, done: "Container[str]") -> "Iterator[Task]":
        """The rows that are not done yet, some instances together."""
        from induction.running.tasks import Task

        waiting: list[tuple[Instance, list[World] | None, list[Job]]] = []
        together = min(_MOST_TOGETHER, max(_TOGETHER, len(self.index) // _TASKS))
        number = size = 0
        for instance in self._instances:
            name = instance.instance_id
            jobs = [job for job in self.index.jobs_of(name, self._prediction) if job.key not in done]
            if jobs:
                fresh = self._fresh.worlds_of(name) if self._fresh is not None else None
                waiting.append((instance, fresh, jobs))
                size += len(jobs)
            if len(waiting) >= _TOGETHER and size >= together:
                yield Task(str(number), _score_chunk, (waiting, self._file))
                waiting, size, number = [], 0, number + 1
        if waiting:
            yield Task(str(number), _score_chunk, (waiting, self._file))

    def _prediction(self, file: int, number: int, offset: int) -> "Prediction":
        return self._files[file].at(number, offset)

    def close(self) -> None:
        """Let go of all files."""
        for one in self._files:
            one.close()
        if self._fresh is not None:
            self._fresh.close()


def _run_names(paths: "Sequence[str]") -> list[str]:
    """A name for each file: without folders and suffixes, or in full where two would be alike."""
    from pathlib import PurePath

    stems = [PurePath(path).name.removesuffix(".gz").removesuffix(".jsonl") for path in paths]
    return [stem if stems.count(stem) == 1 else path for stem, path in zip(stems, paths, strict=True)]


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


class _Counts:
    """What is told of all rows together."""

    def __init__(self) -> None:
        self.rows = self.valid = self.undecided = self.untried = 0

    def counted(self, row: dict[str, Any]) -> dict[str, Any]:
        """The same row, taken into account."""
        self.rows += 1
        self.valid += row["valid"]
        self.undecided += bool(row["metadata"]["undecided"])
        self.untried += row["valid"] and row["metadata"]["holdoutMatch"] is None
        return row


def _print_summary(out: str, counts: _Counts, odd: "Mapping[str, Oddity]", *, holdout: bool) -> None:
    from induction.cli import output

    print(f"wrote {printable(out, 200)}: {output.plural(counts.rows, 'row')}, {counts.valid:,} valid")
    if counts.undecided:
        output.note(f"{counts.undecided:,} undecided: beyond what can be evaluated; they count as wrong")
    if holdout and counts.untried:
        output.note(f"{counts.untried:,} valid answers have no hold-out worlds to be tried on")
    for kind, places in odd.items():
        output.note(f"{len(places):,} {kind}")
        for place in places.shown:
            output.note(f"  {printable(place, 400)}")
        if len(places) > len(places.shown):
            output.note(f"  … and {len(places) - len(places.shown):,} more")
