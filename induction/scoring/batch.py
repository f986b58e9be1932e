"""All predictions of a run against the instances of a file: who answered what, what is odd, and the rows."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from induction.formula.syntax import Signature
from induction.grounding.equivalence import Comparer
from induction.scoring.evaluate import Dataset, Evaluator, evaluation_row
from induction.scoring.predictions import Prediction
from induction.worlds.instance import Instance
from induction.worlds.world import World

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


@dataclass(frozen=True)
class Plan:
    """The rows of a run in their order, and what is odd about the predictions, by kind."""

    jobs: tuple[Job, ...]
    odd: Mapping[str, tuple[str, ...]]


def plan_rows(
    predictions: Sequence[Prediction], instances: Sequence[Instance], models: Sequence[tuple[str, str]] = ()
) -> Plan:
    """A row for each model, run and instance of the file, in file order; missing answers have rows too.

    Of several predictions for one instance by one model in one run the first counts; the others get rows that say so
    in their metadata. Predictions for instances that are not in the file get none: they are told. `models` names pairs
    of model and run that are to have rows even if no prediction is theirs.
    """
    by_id = {instance.instance_id: instance for instance in instances}
    given: dict[tuple[str, str], dict[str, list[Prediction]]] = {pair: {} for pair in models}
    odd: dict[str, list[str]] = {}
    for prediction in predictions:
        instance = by_id.get(prediction.instance_id)
        if instance is None:
            odd.setdefault("for instances that are not in the file", []).append(_told(prediction))
            given.setdefault((prediction.model, prediction.run), {})
            continue
        group = given.setdefault((prediction.model, prediction.run), {}).setdefault(prediction.instance_id, [])
        if group:
            odd.setdefault("second answers to an instance; the first counts", []).append(_told(prediction))
        if prediction.task and prediction.task.lower() not in (
            instance.regime.value.lower(),
            instance.regime.scenario.lower(),
        ):
            odd.setdefault("naming another regime than the instance has", []).append(_told(prediction))
        group.append(prediction)
    jobs: list[Job] = []
    for (model, run), answers in given.items():
        missing = [name for name in by_id if name not in answers]
        if missing:
            odd.setdefault("missing: instances without an answer, which count as wrong", []).extend(
                f"{model}: {name}" for name in missing
            )
        for name in by_id:
            several: Sequence[Prediction | None] = answers.get(name) or [None]
            for number, one in enumerate(several):
                notes = {"duplicate": number} if number else {}
                jobs.append(Job(json.dumps([run, model, name, number]), name, model, run, one, notes))
    return Plan(tuple(jobs), {kind: tuple(places) for kind, places in odd.items()})


def _told(prediction: Prediction) -> str:
    return f"{prediction.place}: {prediction.model} on {prediction.instance_id}"


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
