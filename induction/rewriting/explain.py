"""Why a formula holds, or fails, of an object: the witness or the failing part at each quantifier."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from induction.evaluation.bitset import TruthTables
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
    Quantified,
    Variable,
    run_walk,
)
from induction.worlds.world import World

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
                for element in group.elements:
                    yield Claim(group.part, {**self.claim.assignment, variable: element}, group.holds)


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


def is_literal(formula: Formula) -> bool:
    """Whether `formula` is an atom or equality, negated or not."""
    while isinstance(formula, Not):
        formula = formula.operand
    return isinstance(formula, Atom | Equal)


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
