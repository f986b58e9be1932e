"""Why a formula holds, or fails, of an object: the witness or the failing part at each quantifier, and in words."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from induction.errors import UnknownNameError, printable
from induction.evaluation.bitset import TruthTables
from induction.evaluation.verdict import Verdict, WorldVerdict
from induction.formula.metrics import free_variables
from induction.formula.syntax import (
    FREE_VARIABLE,
    And,
    Atom,
    Equal,
    Exists,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    PredicateName,
    Quantified,
    Variable,
    run_walk,
)
from induction.grounding.check import check
from induction.rewriting.english import English, abridged, predicate_of, to_english
from induction.worlds.instance import Instance
from induction.worlds.world import BoolArray, Element, World

Assignment: TypeAlias = Mapping[Variable, int]
"""The number of the object each variable stands for."""

MAX_STEPS = 200
"""Longest trace; what comes after is left out."""


@dataclass(frozen=True)
class Claim:
    """That `formula` is true (`holds`) or false under `assignment`."""

    formula: Formula
    assignment: Assignment
    holds: bool


@dataclass(frozen=True)
class Group:
    """Objects for which one and the same `part` of a quantifier's body decides: its value, `holds`, is shared."""

    elements: tuple[int, ...]
    part: Formula
    holds: bool


@dataclass(frozen=True)
class Step:
    """One claim of a trace and what it rests on; the steps after it at `level + 1` are its reasons.

    At a quantifier, either `element` decides it (a witness of "exists", a counterexample of "for all"), or no object
    does: then `groups` says for every object which part of the body rules it out.
    """

    level: int
    claim: Claim
    element: int | None = None
    groups: tuple[Group, ...] = ()

    def claims(self) -> Iterator[Claim]:
        """Everything the step asserts, each checkable alone."""
        yield self.claim
        if isinstance(self.claim.formula, Quantified):
            variable, body = self.claim.formula.variable, self.claim.formula.body
            if self.element is not None:
                yield Claim(body, {**self.claim.assignment, variable: self.element}, self.claim.holds)
            for group in self.groups:
                yield from _claims_of(self, group)


def _claims_of(step: Step, group: Group) -> Iterator[Claim]:
    for element in group.elements:
        yield Claim(group.part, {**step.claim.assignment, _variable(step): element}, group.holds)


def is_literal(formula: Formula) -> bool:
    """Whether `formula` is an atom or equality, negated or not."""
    while isinstance(formula, Not):
        formula = formula.operand
    return isinstance(formula, Atom | Equal)


def explain(formula: Formula, world: World, element: int) -> list[Step]:
    """Why `formula` holds or fails of object number `element` of `world`; unknown atoms count as false.

    Of several reasons one is given: an atom before a compound part, else the first; the first object before others.
    Where a compound part rules out several objects alike, it is explained for the first of them. Negations are passed
    through, and chains of one connective are taken as a whole. The trace ends after `MAX_STEPS`.

    Raises:
        EvaluationLimitError: the world is too large to tabulate the formula.
    """
    tables = TruthTables(formula, world)
    steps: list[Step] = []
    run_walk(_Explainer(tables, world.size, steps).walk(formula, {FREE_VARIABLE: element}, 0))
    return steps


class _Explainer:
    def __init__(self, tables: TruthTables, size: int, steps: list[Step]) -> None:
        self._tables = tables
        self._size = size
        self._steps = steps

    def walk(self, formula: Formula, assignment: Assignment, level: int) -> Generator[Any, None, None]:
        """Append the steps that explain the value of `formula`."""
        while isinstance(formula, Not):
            formula = formula.operand
        if len(self._steps) >= MAX_STEPS:
            return
        holds = self._tables.holds(formula, assignment)
        claim = Claim(formula, assignment, holds)
        if isinstance(formula, Quantified):
            yield self._quantifier(formula, claim, level)
            return
        self._steps.append(Step(level, claim))
        if not isinstance(formula, Atom | Equal):
            for part in self._reasons(formula, assignment, holds):
                yield self.walk(part, assignment, level + 1)

    def _reasons(self, formula: Formula, assignment: Assignment, holds: bool) -> Sequence[Formula]:
        """The parts of a connective that give it its value."""
        if isinstance(formula, Iff):
            return formula.children
        parts = _parts(formula)
        # A conjunction is true, and a disjunction false, by all of its parts; else one part is enough.
        if holds == isinstance(formula, And):
            return [part for part, _ in parts]
        return [self._deciding(parts, assignment, holds)]

    def _deciding(self, parts: Sequence[tuple[Formula, bool]], assignment: Assignment, value: bool) -> Formula:
        """The simplest part that gives a connective `value`; one negated in it does so by being the opposite."""
        decisive = [part for part, negated in parts if self._tables.holds(part, assignment) == (value != negated)]
        return min(decisive, key=lambda part: not is_literal(part))

    def _quantifier(self, formula: Quantified, claim: Claim, level: int) -> Generator[Any, None, None]:
        variable, body = formula.variable, formula.body
        existential = isinstance(formula, Exists)
        if claim.holds == existential:
            element = next(
                e
                for e in range(self._size)
                if self._tables.holds(body, {**claim.assignment, variable: e}) == existential
            )
            self._steps.append(Step(level, claim, element=element))
            yield self.walk(body, {**claim.assignment, variable: element}, level + 1)
            return
        # No object decides: each is ruled out by a part of the body that is false ("exists") or true ("for all").
        parts = _parts(body) if isinstance(body, And if existential else Or | Implies) else [(body, False)]
        by_part: dict[int, list[int]] = {}
        part_of: dict[int, Formula] = {}
        for element in range(self._size):
            part = self._deciding(parts, {**claim.assignment, variable: element}, claim.holds)
            by_part.setdefault(id(part), []).append(element)
            part_of[id(part)] = part
        groups = tuple(
            Group(
                tuple(elements),
                part_of[key],
                self._tables.holds(part_of[key], {**claim.assignment, variable: elements[0]}),
            )
            for key, elements in by_part.items()
        )
        self._steps.append(Step(level, claim, groups=groups))
        for group in groups:
            if not is_literal(group.part):
                yield self.walk(group.part, {**claim.assignment, variable: group.elements[0]}, level + 1)


def _parts(formula: Formula) -> list[tuple[Formula, bool]]:
    """The operands of a chain of `and`, or of `or` and `implies`, each with whether it stands negated in the chain."""
    chained = And if isinstance(formula, And) else (Or, Implies)
    parts: list[tuple[Formula, bool]] = []
    pending: list[tuple[Formula, bool]] = [(formula, False)]
    while pending:
        node, negated = pending.pop()
        if negated or not isinstance(node, chained):
            parts.append((node, negated))
        elif isinstance(node, Implies):
            pending += [(node.right, False), (node.left, True)]
        else:
            pending += [(child, False) for child in reversed(node.children)]
    return parts


@dataclass(frozen=True)
class Reason:
    """A trace of why the formula holds or fails of one object of one world.

    `world` is what was evaluated: for EC one of its completions, of which `note` tells (empty elsewhere) and in which
    `made_true` holds by predicate the unknown atoms taken for true, in tables shaped like the world's.
    """

    world: World
    element: int
    holds: bool
    steps: Sequence[Step]
    note: str
    made_true: Mapping[PredicateName, BoolArray]


@dataclass(frozen=True)
class Explanation:
    """A formula in words; with an instance, the verdict on it and the reason for one object."""

    formula: Formula
    english: English
    verdict: Verdict | None = None
    reason: Reason | None = None


@dataclass(frozen=True)
class Remark:
    """A line of a reason: a true sentence about the objects of its world, resting on `claims`.

    The remarks after it at `level + 1` say why.
    """

    level: int
    text: str
    claims: tuple[Claim, ...]


def explanation(
    formula: Formula, instance: Instance | None = None, world: str | None = None, element: Element | None = None
) -> Explanation:
    """What `formula` says and, with an instance, why it holds or fails of the object `element` of its world `world`.

    By default the first world that went wrong and the first object wrong in it, else the first of each.

    Raises:
        FormulaTooLargeError, EvaluationLimitError, BudgetExhaustedError: too much for printing or for a verdict.
        UnknownNameError: no such world among those checked, or no such object in it.
    """
    english = to_english(formula)
    if instance is None:
        return Explanation(formula, english)
    verdict = check(formula, instance)
    return Explanation(formula, english, verdict, reason_for(verdict, instance, world, element))


def reason_for(verdict: Verdict, instance: Instance, world_name: str | None, element_name: Element | None) -> Reason:
    """The trace for the world and object named; by default the first failed world and the first object wrong in it.

    Raises:
        UnknownNameError: no such world among those checked, or no such object in it.
    """
    reports = {report.world: report for report in verdict.worlds}
    if world_name is None:
        world_name = next((world.world for world in verdict.failed_worlds), verdict.worlds[0].world)
    elif world_name not in reports:
        raise UnknownNameError(
            f"{instance.instance_id} has no world '{printable(world_name)}' to check; it has {', '.join(reports)}"
        )
    report = reports[world_name]
    world = observed = next(world for world in instance.worlds if world.name == world_name)
    if element_name is None:
        element_name = next(iter(_objects_at_fault(report)), world.domain[0])
    elif element_name not in world.domain:
        raise UnknownNameError(
            f"world {world_name} has no object '{printable(element_name)}'; it has {' '.join(world.domain)}"
        )
    note = ""
    if report.completion is not None:
        completed = report.completion.completed
        note = "in the completion found" if completed is not None else "with every unknown atom false, as none matches"
        world = completed or world  # explaining takes unknown atoms for false
    element = world.domain.index(element_name)
    steps = explain(verdict.formula, world, element)
    holds = TruthTables(verdict.formula, world).holds(verdict.formula, {FREE_VARIABLE: element})
    made_true = {name: world.true[name] & mask for name, mask in observed.unknown.items() if mask.any()}
    return Reason(world, element, holds, steps, note, made_true)


def _objects_at_fault(report: WorldVerdict) -> tuple[Element, ...]:
    conflict = report.completion.conflict if report.completion is not None else ()
    return (*report.false_positives, *report.false_negatives, *conflict)


def headline(reason: Reason) -> str:
    """How the object is labelled, and whether the formula holds of it."""
    labelled = bool(reason.world.target[reason.element])
    label = "labelled T" if labelled else "not labelled T"
    agreement = "and" if labelled == reason.holds else "but"
    verb = "holds" if reason.holds else "does not hold"
    return f"{reason.world.domain[reason.element]} is {label}, {agreement} the formula {verb} of it"


@dataclass(frozen=True)
class _Told:
    """A step with the steps that are its reasons."""

    step: Step
    reasons: "list[_Told]"


def remarks(reason: Reason) -> Iterator[Remark]:
    """The reason in words, line by line: every step of the trace but those that say again what is above them."""
    above: list[_Told] = [_Told(Step(-1, reason.steps[0].claim), [])]
    for step in reason.steps:
        while above[-1].step.level >= step.level:
            above.pop()
        told = _Told(step, [])
        above[-1].reasons.append(told)
        above.append(told)
    for told in above[0].reasons:
        yield from _remarks_on(told, 0, reason.world)


def _remarks_on(told: _Told, level: int, world: World) -> Iterator[Remark]:
    step, reasons = told.step, told.reasons  # recursion goes no deeper than a trace is long
    yield Remark(level, step_text(step, world), tuple(step.claims()))
    if step.element is not None and len(reasons) == 1:
        (inner,) = reasons
        if isinstance(inner.step.claim.formula, And | Or | Implies):
            reasons = inner.reasons  # the line above has put its words together already
    if not step.groups:
        for inner in reasons:
            yield from _remarks_on(inner, level + 1, world)
        return
    details = iter(reasons)
    for group in step.groups:
        detail = None if is_literal(group.part) else next(details, None)
        alone = detail is not None and len(group.elements) == 1
        if not alone:
            text = group_text(step, group, world) + ("; for example:" if detail is not None else "")
            yield Remark(level + 1, text, tuple(_claims_of(step, group)))
        if detail is not None:
            yield from _remarks_on(detail, level + (1 if alone else 2), world)


def step_text(step: Step, world: World) -> str:
    """The claim of `step` as a true sentence about the objects of `world`, with the object that decides it."""
    text = _said(step.claim.formula, step.claim.assignment, world, holds=step.claim.holds)
    if step.element is None:
        return text
    kind = "witness" if step.claim.holds else "counterexample"
    return f"{text}: {world.domain[step.element]} is a {kind}"


def group_text(step: Step, group: Group, world: World) -> str:
    """What `group` says of its objects as one sentence about them."""
    part, holds = group.part, group.holds
    while isinstance(part, Not):
        part, holds = part.operand, not holds
    names = [world.domain[element] for element in group.elements]
    variable = _variable(step)
    if len(names) == 1:
        return _said(part, {**step.claim.assignment, variable: group.elements[0]}, world, holds=holds)
    others = {v: e for v, e in step.claim.assignment.items() if v != variable}
    whole = len(names) == world.size
    said = None
    if part.ast_nodes <= _MOST_NODES_SAID and variable in free_variables(part):
        said = predicate_of(part, variable, {v: world.domain[e] for v, e in others.items()})
    if said is None:
        listed = "every object" if whole else f"each of {_listed(names)}"
        return f"with {listed} as {variable}: {_said(part, others, world, holds=holds)}"
    several = f"{'each' if holds else 'none'} of {_listed(names)}"
    who = ("every object" if holds else "no object") if whole else several
    return f"{who} {abridged(said)}"


_MOST_NODES_SAID = 100


def _said(formula: Formula, assignment: Assignment, world: World, *, holds: bool) -> str:
    """That `formula` holds or does not hold, in a line."""
    if formula.ast_nodes > _MOST_NODES_SAID:
        return (
            f"a part of {formula.ast_nodes:,} AST nodes {'holds' if holds else 'does not hold'}: {repr(formula)[1:60]}…"
        )
    names = {variable: world.domain[element] for variable, element in assignment.items()}
    return abridged(to_english(formula if holds else Not(formula), names).sentence)


def _variable(step: Step) -> Variable:
    assert isinstance(step.claim.formula, Quantified)
    return step.claim.formula.variable


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
