"""What a proposer is told and what it says: a program, or the record of one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from induction.errors import InstanceFormatError, printable
from induction.evaluation.verdict import Verdict
from induction.formula.syntax import to_sexpr
from induction.running.program import Program
from induction.worlds.instance import Instance
from induction.worlds.world import World

MOST_FORMULAS = 20
"""How many formulas of one answer are looked at."""

LONGEST_FORMULA = 20_000
"""Longest text of a formula, in characters, that is looked at."""

PROTOCOL = "induction-frontier-1"
"""Names the form of the messages."""


@dataclass(frozen=True)
class Proposal:
    """The texts proposed in one round, or why there are none: `failure` is a `running.program.Failure`, or
    "not-formulas" for an answer without a list of texts, or "". `passed_over` counts what was beyond the bounds.
    """

    texts: tuple[str, ...]
    failure: str = ""
    detail: str = ""
    passed_over: int = 0
    wall_s: float = 0.0


class Proposer(Protocol):
    """Where formulas come from."""

    def propose(self, message: Mapping[str, Any], time_limit_s: float | None) -> Proposal:
        """The formulas proposed in answer to `message`. What goes wrong is part of the proposal."""
        ...


class ProgramProposer:
    """A program that is sent the message and answers `{"formulas": [text, ...]}`."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def propose(self, message: Mapping[str, Any], time_limit_s: float | None) -> Proposal:
        """As `Proposer` says."""
        limit_s = self._program.time_limit_s
        limit_s = limit_s if time_limit_s is None else min(limit_s, time_limit_s)
        exchange = self._program.exchange(message, time_limit_s=limit_s)
        wall_s = round(exchange.wall_s, 3)
        if exchange.answer is None:
            said = exchange.stderr.splitlines()[-1:]
            detail = printable("; ".join([exchange.detail, *said]), 300)
            return Proposal((), str(exchange.failure), detail, wall_s=wall_s)
        texts = exchange.answer.get("formulas")
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            return Proposal((), "not-formulas", 'the answer has no list of texts "formulas"', wall_s=wall_s)
        looked_at = [text for text in texts[:MOST_FORMULAS] if len(text) <= LONGEST_FORMULA]
        return Proposal(tuple(looked_at), passed_over=len(texts) - len(looked_at), wall_s=wall_s)


class RecordedProposer:
    """The proposals of a trace, one a round."""

    def __init__(self, rounds: Sequence[Mapping[str, Any]]) -> None:
        self._rounds: Iterator[Mapping[str, Any]] = iter(rounds)

    def propose(self, message: Mapping[str, Any], time_limit_s: float | None) -> Proposal:
        """As `Proposer` says."""
        return proposal_from_row(next(self._rounds))


def proposal_as_row(proposal: Proposal) -> dict[str, Any]:
    """The proposal as a trace holds it."""
    return {
        "proposed": list(proposal.texts),
        "passedOver": proposal.passed_over,
        "failure": proposal.failure,
        "detail": proposal.detail,
        "timing": {"wall_s": proposal.wall_s},
    }


def proposal_from_row(row: Mapping[str, Any]) -> Proposal:
    """The proposal that a row of a trace holds. Raises InstanceFormatError: it holds none."""
    try:
        texts, timing = row["proposed"], row["timing"]["wall_s"]
        failure, detail, passed_over = row["failure"], row["detail"], row["passedOver"]
        texts_are = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
        if not texts_are or not isinstance(failure, str) or not isinstance(detail, str):
            raise TypeError
        return Proposal(tuple(texts), failure, detail, int(passed_over), float(timing))
    except (KeyError, TypeError, ValueError):
        raise InstanceFormatError("the row holds no proposal of a round") from None


def described_instance(instance: Instance) -> dict[str, Any]:
    """The instance as a proposer is told of it: worlds that count, without the gold."""
    return {
        "instanceId": instance.instance_id,
        "task": instance.regime.value,
        "signature": dict(instance.signature.items()),
        "worlds": [
            *(_described_world(world, instance.sides()[world.name]) for world in instance.train_worlds),
            *(_described_world(world, "NO") for world in instance.no_worlds),
        ],
    }


def _described_world(world: World, side: str) -> dict[str, Any]:
    def listed(tables: Mapping[str, np.ndarray[Any, Any]]) -> dict[str, list[Any]]:
        return {
            name: [
                world.domain[place[0]] if len(place) == 1 else [world.domain[e] for e in place]
                for place in np.argwhere(tables[name]).tolist()
            ]
            for name in world.signature
        }

    described = {
        "world": world.name,
        "side": side,
        "objects": list(world.domain),
        "target": list(world.elements(world.target)),
        "true": listed(world.true),
    }
    if any(mask.any() for mask in world.unknown.values()):
        described["unknown"] = listed(world.unknown)
    return described


def described_verdict(verdict: Verdict) -> dict[str, Any]:
    """A verdict with the objects that are wrong, world by world."""
    return {
        "formula": to_sexpr(verdict.formula),
        "astSize": verdict.formula.ast_nodes,
        "valid": verdict.valid,
        "mismatches": count_mismatches(verdict),
        "wrong": [
            {
                "world": world.world,
                "side": world.side,
                "falsePositives": list(world.false_positives) if world.side != "NO" else [],
                "falseNegatives": list(world.false_negatives) if world.side != "NO" else [],
                "conflict": list(world.completion.conflict) if world.completion is not None else [],
            }
            for world in verdict.failed_worlds
        ],
    }


def count_mismatches(verdict: Verdict) -> int:
    """Objects mislabelled in the worlds to match; a NO world that is matched, and an EC conflict, count as one each."""
    return sum(max(1, world.mismatches) if world.side != "NO" else 1 for world in verdict.failed_worlds)
