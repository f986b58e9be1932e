"""Formulas as programs over tables: one table of values a subformula, for any algebra of values.

A subformula with free variables v1 < ... < vk becomes an array `[w, n, ..., n]` with one axis of worlds and k axes
of objects, in the alphabetical order of the variables; connectives are elementwise, a quantifier reduces one axis.
Subformulas that occur in several places, or in several formulas, are computed once. What a value is (a truth value,
one of three, a wire of a circuit) is the algebra's business.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from induction.errors import EvaluationLimitError
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
    subformulas,
)

MAX_FREE_VARIABLES = 24
"""Most variables free in one subformula; numpy arrays have no more than 32 axes in older versions."""

_Value = TypeVar("_Value", bound=np.generic)


class Algebra(Protocol[_Value]):
    """Values, and what connectives and quantifiers do to arrays of them. Arrays are never changed in place."""

    @property
    def size(self) -> int:
        """Number of objects: the length of every object axis."""
        ...

    def predicate(self, name: PredicateName) -> npt.NDArray[_Value]:
        """The atoms of a predicate, `[w, n]` or `[w, n, n]`. Raises KeyError for an unknown one."""
        ...

    def equality(self) -> npt.NDArray[_Value]:
        """Whether two places hold the same object, `[w, n, n]`."""
        ...

    def negation(self, operand: npt.NDArray[_Value]) -> npt.NDArray[_Value]:
        """Elementwise `not`."""
        ...

    def conjunction(self, left: npt.NDArray[_Value], right: npt.NDArray[_Value]) -> npt.NDArray[_Value]:
        """Elementwise `and`, with broadcasting."""
        ...

    def disjunction(self, left: npt.NDArray[_Value], right: npt.NDArray[_Value]) -> npt.NDArray[_Value]:
        """Elementwise `or`, with broadcasting."""
        ...

    def implication(self, left: npt.NDArray[_Value], right: npt.NDArray[_Value]) -> npt.NDArray[_Value]:
        """Elementwise `implies`, with broadcasting."""
        ...

    def equivalence(self, left: npt.NDArray[_Value], right: npt.NDArray[_Value]) -> npt.NDArray[_Value]:
        """Elementwise `iff`, with broadcasting."""
        ...

    def exists(self, body: npt.NDArray[_Value], axis: int) -> npt.NDArray[_Value]:
        """`or` along an object axis, which goes."""
        ...

    def forall(self, body: npt.NDArray[_Value], axis: int) -> npt.NDArray[_Value]:
        """`and` along an object axis, which goes."""
        ...


@dataclass(frozen=True)
class _Step(Generic[_Value]):
    """How one table comes about from the algebra and the tables of `operands`, and the variables of its axes."""

    compute: Callable[..., npt.NDArray[_Value]]
    operands: tuple[int, ...]
    variables: tuple[Variable, ...]
    source_axes: int = 0  # object axes of the table that an atom is read from


class Program(Generic[_Value]):
    """The distinct subformulas of some formulas in an order of computation, each with its last use.

    Structurally equal subformulas are one step, as are `and`, `or` and `iff` with their operands exchanged.
    `widest` is the largest number of object axes of a table.

    Raises:
        EvaluationLimitError: a subformula with more than `MAX_FREE_VARIABLES` free variables.
        ValueError: a formula with a free variable other than x.
    """

    def __init__(self, formulas: Sequence[Formula]) -> None:
        self._steps: list[_Step[_Value]] = []
        self._numbers: dict[tuple[object, ...], int] = {}
        self._outputs: dict[int, list[int]] = {}  # step -> the formulas whose extension it is
        self._peaks: dict[tuple[int, bool], int] = {}
        for f, formula in enumerate(formulas):
            number = self._add(formula)[id(formula)]
            stray = [v for v in self._steps[number].variables if v != FREE_VARIABLE]
            if stray:
                raise ValueError(f"variable {stray[0]} is free")
            self._outputs.setdefault(number, []).append(f)
        self._last_use = list(range(len(self._steps)))
        for i, step in enumerate(self._steps):
            for operand in step.operands:
                self._last_use[operand] = i
        self.widest = max((len(step.variables) for step in self._steps), default=0)

    def run(self, algebra: Algebra[_Value]) -> Iterator[tuple[int, npt.NDArray[_Value]]]:
        """Pairs of formula number and its table, `[w, n]` over the values of x, as they are computed."""
        tables: dict[int, npt.NDArray[_Value]] = {}
        for i, step in enumerate(self._steps):
            tables[i] = step.compute(algebra, *[tables[operand] for operand in step.operands])
            for f in self._outputs.get(i, ()):
                table = tables[i]
                yield f, table if table.ndim == 2 else np.repeat(table[:, None], algebra.size, axis=1)
            for operand in {*step.operands, i}:
                if self._last_use[operand] == i:
                    del tables[operand]

    def all_tables(self, algebra: Algebra[_Value]) -> list[npt.NDArray[_Value]]:
        """The table of every step, in order; `number_of` and `variables_of` say which is which."""
        tables: list[npt.NDArray[_Value]] = []
        for step in self._steps:
            tables.append(step.compute(algebra, *[tables[operand] for operand in step.operands]))
        return tables

    def require_affordable(self, size: int, limit: int, *, keep_all: bool = False) -> int:
        """The most table entries needed at one time in one world of `size` objects.

        Raises:
            EvaluationLimitError: a table, or all that are needed at one time (with `keep_all`: all there are), would
                have more than `limit` entries.
        """
        widest = size**self.widest
        if widest > limit:
            raise EvaluationLimitError(
                f"a subformula with {self.widest} free variables needs {widest:,} table entries "
                f"in a world of {size} objects; the limit is {limit:,}"
            )
        peak = self._peaks.get((size, keep_all))
        if peak is None:
            peak = self._peaks[size, keep_all] = self._count_peak_cells(size, keep_all)
        if peak > limit:
            raise EvaluationLimitError(
                f"the formula needs tables of {peak:,} entries at a time in a world of {size} objects; "
                f"the limit is {limit:,}"
            )
        return peak

    def _count_peak_cells(self, size: int, keep_all: bool) -> int:
        held = peak = 0
        for i, step in enumerate(self._steps):
            held += size ** len(step.variables)
            peak = max(peak, held if step.operands else held + size**step.source_axes)
            if not keep_all:
                freed = [operand for operand in {*step.operands, i} if self._last_use[operand] == i]
                held -= sum(size ** len(self._steps[operand].variables) for operand in freed)
        return peak

    def number_of(self, formula: Formula) -> dict[int, int]:
        """For each node object of one of the formulas, by identity, the number of its step."""
        return self._add(formula)

    def variables_of(self, number: int) -> tuple[Variable, ...]:
        """The variables of the object axes of a step's table, in order."""
        return self._steps[number].variables

    def _add(self, formula: Formula) -> dict[int, int]:
        step_of: dict[int, int] = {}
        for node in subformulas(formula):
            operands = tuple(step_of[id(child)] for child in node.children)
            if isinstance(node, And | Or | Iff):
                operands = (min(operands), max(operands))
            key = (type(node), *node.label, *operands)
            number = self._numbers.get(key)
            if number is None:
                number = len(self._steps)
                self._steps.append(self._step(node, operands))
                self._numbers[key] = number
            step_of[id(node)] = number
        return step_of

    def _step(self, node: Formula, operands: tuple[int, ...]) -> _Step[_Value]:
        scopes = [self._steps[operand].variables for operand in operands]
        match node:
            case Atom(predicate, arguments):
                return _leaf(arguments, lambda algebra: algebra.predicate(predicate))
            case Equal(left, right):
                return _leaf((left, right), lambda algebra: algebra.equality())
            case Not():
                return _Step(lambda algebra, operand: algebra.negation(operand), operands, scopes[0])
            case Quantified(variable, _):
                if variable not in scopes[0]:
                    return _Step(lambda _, body: body, operands, scopes[0])
                axis = 1 + scopes[0].index(variable)
                rest = scopes[0][: axis - 1] + scopes[0][axis:]
                if isinstance(node, Exists):
                    return _Step(lambda algebra, body: algebra.exists(body, axis), operands, rest)
                return _Step(lambda algebra, body: algebra.forall(body, axis), operands, rest)
        connective = _CONNECTIVES[type(node)]
        if scopes[0] == scopes[1]:
            return _Step(lambda algebra, *tables: getattr(algebra, connective)(*tables), operands, scopes[0])
        variables = tuple(sorted({*scopes[0], *scopes[1]}))
        if len(variables) > MAX_FREE_VARIABLES:
            raise EvaluationLimitError(
                f"a subformula has more than {MAX_FREE_VARIABLES} free variables, the most that can be evaluated"
            )
        left_axes, right_axes = (_axes(scope, variables) for scope in scopes)
        return _Step(
            lambda algebra, left, right: getattr(algebra, connective)(left[left_axes], right[right_axes]),
            operands,
            variables,
        )


_CONNECTIVES: dict[type[Formula], str] = {
    And: "conjunction",
    Or: "disjunction",
    Implies: "implication",
    Iff: "equivalence",
}


def _leaf(arguments: tuple[Variable, ...], table_of: Callable[[Algebra[_Value]], npt.NDArray[_Value]]) -> _Step[_Value]:
    """An atom or equality: its table with one axis a distinct variable, in alphabetical order."""
    if len(arguments) == 1:
        return _Step(table_of, (), arguments, 1)
    first, second = arguments
    if first == second:
        return _Step(lambda algebra: np.diagonal(table_of(algebra), axis1=1, axis2=2), (), (first,), 2)
    if first < second:
        return _Step(table_of, (), (first, second), 2)
    return _Step(lambda algebra: table_of(algebra).swapaxes(1, 2), (), (second, first), 2)


def _axes(scope: tuple[Variable, ...], variables: tuple[Variable, ...]) -> tuple[slice | None, ...]:
    """The index that spreads a table over `scope` to the axes of `variables`."""
    return (slice(None), *(slice(None) if variable in scope else None for variable in variables))
