"""The loop: rounds of proposals, each followed by repair and simplification, and a best formula that only improves.

What a round does depends on the instance, the proposals so far and nothing else: work is counted, not timed, so that
a trace run again from its recorded proposals gives the same bytes. Source of the idea: Hypothesis Frontier,
arXiv 2608.10843; whose code is not released.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from induction.baselines.frontier.proposers import (
    PROTOCOL,
    ProgramProposer,
    Proposal,
    Proposer,
    RecordedProposer,
    count_mismatches,
    described_instance,
    described_verdict,
    proposal_as_row,
)

from induction.budget import Budget, Outcome
from induction.errors import InductionError, InstanceFormatError, UsageError, printable
from induction.evaluation.verdict import Verdict
from induction.formula.answers import AnswerStatus, read_answer
from induction.formula.metrics import free_variables, quantifier_depth, variable_names
from induction.formula.syntax import FREE_VARIABLE, Equal, Formula, subformulas, to_sexpr
from induction.grounding.check import check
from induction.rewriting.repair import MAX_NODES, repair
from induction.rewriting.simplify import simplify
from induction.running.program import Program
from induction.search import About, Attempt, Progress, SearchOptions, SearchResult, outcome_of
from induction.worlds.instance import Instance
from induction.worlds.record_writing import record_from_instance

ROUNDS = 6
"""Rounds of a run, unless told otherwise."""

REPAIRED_A_ROUND = 3
"""How many of a round's formulas that are not valid are repaired: those with the fewest mismatches."""

MOST_JUDGED = 2_000_000
"""How many formulas one repair looks at."""

_KEPT = 3  # how many of a repair's answers


def simplified(formula: Formula, instance: Instance) -> Formula:
    """An equivalent formula that is no larger; too large a formula as it is."""
    if formula.ast_nodes > MAX_NODES:
        return formula
    return simplify(formula, signature=instance.signature).formula


@dataclass
class FrontierRun:
    """A run so far: the trace's rows, and the best formula's verdict, None without any."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    best: Verdict | None = None


@dataclass(frozen=True)
class _Candidate:
    verdict: Verdict
    by: str
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[bool, int, int, str]:
        return merit(self.verdict)


def merit(verdict: Verdict) -> tuple[bool, int, int, str]:
    """Sort key, best first: valid, fewest mismatches, AST size, text."""
    formula = verdict.formula
    return not verdict.valid, count_mismatches(verdict), formula.ast_nodes, to_sexpr(formula)


class Frontier:
    """A search with a proposer. `rounds` is how many times it is asked.

    As a search it takes formulas of the options' depth, variables and equality alone; `run` takes any.
    """

    name = "frontier"
    about = About(
        summary="a program proposes formulas round by round; repair and simplification work on them",
        expresses="whatever is proposed, and what is within two edits of it; all regimes",
        proves="nothing",
    )

    def __init__(self, proposer: Proposer, rounds: int = ROUNDS) -> None:
        self._proposer = proposer
        self._rounds = rounds

    def search(
        self,
        instance: Instance,
        budget: Budget,
        options: SearchOptions,
        report: Callable[[Progress], None],
    ) -> SearchResult:
        """The best valid formula after all rounds; see `induction.search.Search`."""
        attempt = Attempt(instance, budget, options, report)

        def allowed(formula: Formula) -> bool:
            return (
                quantifier_depth(formula) <= options.depth
                and len(variable_names(formula)) <= options.variables
                and (options.equality or not any(isinstance(node, Equal) for node in subformulas(formula)))
            )

        run = FrontierRun()

        def steps() -> Outcome:
            for _ in self.play(instance, run, allowed=allowed, remaining_s=lambda: attempt.remaining_s):
                if run.best is not None and run.best.valid:
                    attempt.offer(run.best.formula, by="proposals")
                attempt.tick()
            return attempt.ended(none_left=False)

        outcome = outcome_of(steps)
        return attempt.result(
            self.name,
            outcome,
            fragment="what was proposed, and what is within two edits of it",
            statistics={"rounds": len(run.rows)},
            diagnosis=""
            if attempt.best is not None
            else "no formula proposed, nor any near one, explains the instance",
        )

    def play(
        self,
        instance: Instance,
        run: FrontierRun,
        *,
        allowed: Callable[[Formula], bool] = lambda _: True,
        remaining_s: Callable[[], float | None] = lambda: None,
        report: Callable[[str], None] = lambda _phase: None,
    ) -> Iterator[dict[str, Any]]:
        """Play the rounds; the row of each is added to `run` and given as it ends."""
        described = described_instance(instance)
        feedback: list[dict[str, Any]] = []
        for number in range(1, self._rounds + 1):
            message = {
                "protocol": PROTOCOL,
                "round": number,
                "rounds": self._rounds,
                "instance": described,
                "best": None if run.best is None else described_verdict(run.best),
                "feedback": feedback,
            }
            report("waiting for the proposer")
            proposal = self._proposer.propose(message, remaining_s())
            row, feedback = _played(number, proposal, instance, run, allowed, remaining_s, report)
            run.rows.append(row)
            yield row


def frontier(
    instance: Instance, proposer: str | Sequence[str] | Proposer, *, rounds: int = ROUNDS, time_limit_s: float = 60.0
) -> FrontierRun:
    """All rounds with a proposer, or with a command that is run as one and has so many seconds for each answer.

    Raises:
        UsageError: the command is a text that cannot be split into words.
        ProgramStartError: it cannot be run.
    """
    run = FrontierRun()
    if isinstance(proposer, str | Sequence):
        with Program(proposer, time_limit_s=time_limit_s) as program:
            program.start()
            for _ in Frontier(ProgramProposer(program), rounds).play(instance, run):
                pass
        return run
    for _ in Frontier(proposer, rounds).play(instance, run):
        pass
    return run


def _played(
    number: int,
    proposal: Proposal,
    instance: Instance,
    run: FrontierRun,
    allowed: Callable[[Formula], bool],
    remaining_s: Callable[[], float | None],
    report: Callable[[str], None],
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The row of a round, and what the proposer is told of its formulas; the run's best improves."""
    feedback: list[dict[str, Any]] = []
    candidates: dict[str, _Candidate] = {}

    def consider(formula: Formula, by: str, **details: Any) -> Verdict | None:
        """Take a formula into the round; None where it is outside of what is asked for."""
        text = to_sexpr(formula)
        if free_variables(formula) != {FREE_VARIABLE} or not allowed(formula):
            return None
        if text not in candidates:
            verdict = check(formula, instance)
            if verdict.valid:
                verdict = check(formula, instance, use_reference=True)
            candidates[text] = _Candidate(verdict, by, details)
        return candidates[text].verdict

    for text in proposal.texts:
        formula, said = _read(text, instance)
        if formula is not None:
            try:
                verdict = consider(formula, "proposed")
                said |= {"problem": "not in the fragment asked for"} if verdict is None else described_verdict(verdict)
            except InductionError as error:
                said["problem"] = printable(str(error), 300)
        feedback.append(said)
    proposed = sorted(candidates.values(), key=lambda candidate: candidate.key)
    repairs = []
    wanting = [candidate for candidate in proposed if not candidate.verdict.valid]
    for candidate in [c for c in wanting if c.verdict.formula.ast_nodes <= MAX_NODES][:REPAIRED_A_ROUND]:
        report(f"round {number}: repairing")
        repairs.append(_repaired(candidate.verdict.formula, instance, remaining_s(), consider))
    for candidate in list(candidates.values()):
        consider(simplified(candidate.verdict.formula, instance), "simplified", of=to_sexpr(candidate.verdict.formula))
    ranked = sorted(candidates.values(), key=lambda candidate: candidate.key)
    improved = bool(ranked) and (run.best is None or ranked[0].key < merit(run.best))
    if improved:
        run.best = ranked[0].verdict
    row = {
        "round": number,
        **proposal_as_row(proposal),
        "read": feedback,
        "repairs": repairs,
        "improved": improved,
        "improvedBy": {"by": ranked[0].by, **ranked[0].details} if improved else None,
        "best": None if run.best is None else described_verdict(run.best),
    }
    return row, feedback


def _read(text: str, instance: Instance) -> tuple[Formula | None, dict[str, Any]]:
    """The formula in a proposed text, read as models' answers are, and what to say of it."""
    answer = read_answer(text, instance.signature)
    said: dict[str, Any] = {"text": text}
    if answer.status is not AnswerStatus.FORMULA or answer.formula is None:
        return None, said | {"problem": printable(answer.problem or "there is no formula in it", 300)}
    if answer.repairs:
        said["readingRepairs"] = list(answer.repairs)
    return answer.formula, said


def _repaired(
    formula: Formula, instance: Instance, remaining_s: float | None, consider: Callable[..., Verdict | None]
) -> dict[str, Any]:
    """Repair a formula, take the answers as candidates, and tell of it."""
    try:
        found = repair(formula, instance, answers=_KEPT, budget=Budget(remaining_s), most_judged=MOST_JUDGED)
    except InductionError as error:
        return {"formula": to_sexpr(formula), "outcome": "failed", "detail": printable(str(error), 300), "answers": []}
    for answer in found.answers:
        names = [str(edit.kind) for edit in answer.edits]
        consider(answer.formula, "repaired", of=to_sexpr(formula), edits=names, distance=answer.distance)
    if found.closest is not None:
        names = [str(edit.kind) for edit in found.closest.edits]
        consider(found.closest.formula, "edited", of=to_sexpr(formula), edits=names, distance=1)
    return {
        "formula": to_sexpr(formula),
        "outcome": found.outcome.value,
        "noneWithin": found.none_within,
        "judged": found.coverage.judged,
        "answers": [
            {
                "formula": to_sexpr(answer.formula),
                "distance": answer.distance,
                "edits": [{"kind": e.kind, "before": e.before, "after": e.after} for e in answer.edits],
            }
            for answer in found.answers
        ],
    }


# --- traces ---


def digest_of(instance: Instance) -> str:
    """What tells instances apart by what they say."""
    return hashlib.sha256(json.dumps(record_from_instance(instance), sort_keys=True).encode()).hexdigest()


def trace_header(instance: Instance, rounds: int, proposer: str, version: str) -> dict[str, Any]:
    """The first row of a trace."""
    return {
        "trace": PROTOCOL,
        "version": version,
        "instanceId": instance.instance_id,
        "instance": digest_of(instance),
        "rounds": rounds,
        "proposer": proposer,
    }


def replayed(rows: Sequence[Mapping[str, Any]], instance: Instance, name: str) -> tuple[Mapping[str, Any], Frontier]:
    """The header of a trace, and the search that plays its recorded proposals again.

    Raises:
        InstanceFormatError: the rows are no trace.
        UsageError: the trace is of another instance.
    """
    if not rows or rows[0].get("trace") != PROTOCOL:
        raise InstanceFormatError(f'does not begin with a row of "trace": "{PROTOCOL}"', file=name, place="line 1")
    header, rounds = rows[0], rows[1:]
    if header.get("instance") != digest_of(instance):
        known = printable(str(header.get("instanceId")))
        raise UsageError(f"{name}: is of an instance {known} that says something else than {instance.instance_id}")
    for number, row in enumerate(rounds, start=1):
        if row.get("round") != number:
            raise InstanceFormatError(f"round {number} was expected", file=name, place=f"line {number + 1}")
    return header, Frontier(RecordedProposer(rounds), len(rounds))
