"""All predictions of a run against the instances of a file: who answered what, what is odd, and the rows."""

import json
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from induction.formula.syntax import Signature
from induction.grounding.equivalence import Comparer
from induction.scoring.evaluate import Dataset, Evaluator, evaluation_row
from induction.scoring.predictions import Prediction
from induction.worlds.instance import Instance, Regime
from induction.worlds.world import World

NumberArray = npt.NDArray[np.int64]

MOST_TOLD = 20
"""How many rows of one kind of oddity are named; all are counted."""


@dataclass(frozen=True)
class Job:
    """One row to be: the instance, the model and run, and the prediction, None where the model gave none."""

    key: str
    instance_id: str
    model: str
    run: str
    prediction: Prediction | None
    notes: Mapping[str, Any] = field(default_factory=dict)


class Oddity:
    """What is odd of some kind: its length says how often, `shown` names the first `MOST_TOLD`."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, place: str) -> None:
        """Count one more."""
        self._count += 1
        if len(self.shown) < MOST_TOLD:
            self.shown.append(place)


@dataclass(frozen=True)
class Plan:
    """The rows of a run in their order, and what is odd about the predictions, by kind."""

    jobs: tuple[Job, ...]
    odd: Mapping[str, Oddity]


class Index:
    """The rows of a run, known by where their predictions stand: a few numbers for each, whatever they hold.

    A row for each model, run and instance, in the order in which these came; missing answers have rows too. Of several
    predictions for one instance by one model in one run the first counts; the others get rows that say so in their
    metadata. Predictions for instances that are not in the file get none: they are told in `odd`.

    Made from the ids of the instances and their regimes, in file order, and pairs of model and run that are to have
    rows even if no prediction is theirs.
    """

    def __init__(self, regimes: Mapping[str, Regime], models: Sequence[tuple[str, str]] = ()) -> None:
        self.odd: dict[str, Oddity] = {}
        self._regimes = regimes
        self._number = {name: i for i, name in enumerate(regimes)}
        self._pairs: dict[tuple[str, str], int] = {pair: i for i, pair in enumerate(models)}
        self._taken: set[int] = set()  # pair and instance of each row, as one number
        # For each prediction: instance, pair, and where it stands, as `add` was told.
        self._columns = tuple(array("q") for _ in range(5))
        self._by_instance: NumberArray | None = None

    def add(self, prediction: Prediction, file: int, number: int = 0, offset: int = 0) -> None:
        """Take in a prediction, later to be fetched by these three numbers."""
        pair = self._pairs.setdefault((prediction.model, prediction.run), len(self._pairs))
        regime = self._regimes.get(prediction.instance_id)
        if regime is None:
            self._tell("for instances that are not in the file", prediction)
            return
        if prediction.failure:
            self._tell("failed requests or responses without text, which count as wrong", prediction)
        instance = self._number[prediction.instance_id]
        row = pair * len(self._number) + instance
        if row in self._taken:
            self._tell("second answers to an instance; the first counts", prediction)
        self._taken.add(row)
        if prediction.task and prediction.task.lower() not in (regime.value.lower(), regime.scenario.lower()):
            self._tell("naming another regime than the instance has", prediction)
        for column, value in zip(self._columns, (instance, pair, file, number, offset), strict=True):
            column.append(value)

    def _tell(self, kind: str, prediction: Prediction) -> None:
        why = f" ({prediction.failure})" if prediction.failure else ""
        place = f"{prediction.place}: {prediction.model} on {prediction.instance_id}{why}"
        self.odd.setdefault(kind, Oddity()).add(place)

    def close(self) -> None:
        """All predictions are taken in."""
        missing = len(self._pairs) * len(self._number) - len(self._taken)
        if missing:
            told = Oddity()
            for (model, _), pair in self._pairs.items():
                for name, instance in self._number.items():
                    if pair * len(self._number) + instance not in self._taken:
                        told.add(f"{model}: {name}")
            self.odd["missing: instances without an answer, which count as wrong"] = told
        self._taken.clear()
        instances, pairs, *_ = self._columns
        self._by_instance = np.lexsort((np.array(pairs, np.int64), np.array(instances, np.int64)))

    def __len__(self) -> int:
        """How many rows there are to be."""
        return int(np.maximum(self._counts(), 1).sum())

    def __iter__(self) -> Iterator[str]:
        """The keys of all rows, in their order."""
        counts = self._counts()
        for (model, run), pair in self._pairs.items():
            for name, instance in self._number.items():
                for number in range(max(1, counts[pair, instance])):
                    yield _key(run, model, name, number)

    def _counts(self) -> NumberArray:
        instances, pairs, *_ = self._columns
        rows = np.array(pairs, np.int64) * len(self._number) + np.array(instances, np.int64)
        counts = np.bincount(rows, minlength=len(self._pairs) * len(self._number))
        return counts.reshape(len(self._pairs), len(self._number))

    def jobs_of(self, name: str, fetch: Callable[[int, int, int], Prediction]) -> Iterator[Job]:
        """The rows of an instance, in the order of models and runs; `fetch` gets predictions by their numbers."""
        assert self._by_instance is not None, "the index is not closed"
        instances, pairs, files, numbers, offsets = self._columns
        own = self._number[name]
        start = bisect_left(self._by_instance, own, key=instances.__getitem__)
        given: dict[int, list[int]] = {}
        while start < len(instances) and instances[row := int(self._by_instance[start])] == own:
            given.setdefault(pairs[row], []).append(row)
            start += 1
        for (model, run), pair in self._pairs.items():
            if pair not in given:
                yield Job(_key(run, model, name, 0), name, model, run, None)
            for number, row in enumerate(given.get(pair, [])):
                prediction = fetch(files[row], numbers[row], offsets[row])
                notes: dict[str, Any] = {"duplicate": number} if number else {}
                notes |= {"failedRequest": prediction.failure} if prediction.failure else {}
                yield Job(_key(run, model, name, number), name, model, run, prediction, notes)


def _key(run: str, model: str, name: str, number: int) -> str:
    return json.dumps([run, model, name, number])


def plan_rows(
    predictions: Sequence[Prediction], instances: Sequence[Instance], models: Sequence[tuple[str, str]] = ()
) -> Plan:
    """The rows for predictions and instances that are all at hand; see `Index`."""
    index = Index({instance.instance_id: instance.regime for instance in instances}, models)
    for position, prediction in enumerate(predictions):
        index.add(prediction, position)
    index.close()
    jobs = {
        job.key: job
        for instance in instances
        for job in index.jobs_of(instance.instance_id, lambda position, *_: predictions[position])
    }
    return Plan(tuple(jobs[key] for key in index), index.odd)


def rows_of_instance(
    instance: Instance, fresh: Sequence[World] | None, jobs: Sequence[Job], dataset: Dataset, comparer: Comparer
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of one instance with their keys; equal answers are evaluated once."""
    evaluator = Evaluator(instance, fresh, comparer)
    for job in jobs:
        prediction = job.prediction
        evaluated = evaluator.evaluate(prediction.text if prediction is not None else None)
        others = [evaluator.evaluate(text) for text in (prediction.alternatives if prediction is not None else ())]
        row = evaluation_row(dataset, instance, job.model, job.run, prediction, evaluated, others, job.notes)
        yield job.key, row


def comparers(signatures: Sequence[Signature]) -> dict[Signature, Comparer]:
    """One comparer for each signature."""
    return {signature: Comparer(signature, up_to=4, resource_limit=200_000) for signature in dict.fromkeys(signatures)}
