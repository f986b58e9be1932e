"""The fast evaluator: one table of truth values a subformula, all worlds and many formulas at once.

A subformula with free variables v1 < ... < vk becomes a `bool[w, n, ..., n]` array with k axes of objects, in
the alphabetical order of the variables; connectives are elementwise, a quantifier reduces one axis. Subformulas
that occur in several places, or in several formulas, are computed once.

NOTE(padding): worlds of different sizes share a table by repeating object 0 in the missing places. A repeated
object is never the first witness of anything, so `any` and `all` along an axis are exactly the quantifiers.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

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
from induction.worlds.world import BoolArray, World

MAX_TABLE_CELLS = 2**27
"""Most entries of a subformula's table for one world: objects to the power of its free variables."""

MAX_FREE_VARIABLES = 24
"""Most variables free in one subformula; numpy arrays have no more than 32 axes in older versions."""

_CELLS_AT_ONCE = 2**20  # worlds are taken together while their tables stay about this large (cache, memory)


def extensions(formulas: Sequence[Formula], worlds: Sequence[World]) -> list[list[BoolArray]]:
    """`result[f][w]`, a `bool[n]`: for each object of world w, whether formula f is true of it as x.

    Unknown atoms count as false. The worlds share a signature that covers the formulas, whose only free
    variable, if any, is x.

    Raises:
        EvaluationLimitError: a subformula needs a table beyond `MAX_TABLE_CELLS` or `MAX_FREE_VARIABLES`.
        KeyError: a predicate that the worlds lack.
        ValueError: a formula with a free variable other than x.
    """
    program = _Program(formulas)
    result: list[list[BoolArray]] = [[np.empty(0, dtype=np.bool_)] * len(worlds) for _ in formulas]
    # Worlds of like size together, so that padding stays small.
    order = sorted(range(len(worlds)), key=lambda w: worlds[w].size)
    for chunk in _chunks(order, worlds, program.widest):
        stack = _WorldStack([worlds[w] for w in chunk])
        for f, table in program.run(stack):
            for row, w in enumerate(chunk):
                result[f][w] = table[row, : worlds[w].size].copy()
    return result


def _chunks(order: list[int], worlds: Sequence[World], widest: int) -> Iterator[list[int]]:
    chunk: list[int] = []
    for w in order:
        cells = worlds[w].size ** widest
        if cells > MAX_TABLE_CELLS:
            raise EvaluationLimitError(
                f"a subformula with {widest} free variables needs {cells:,} table entries "
                f"in a world of {worlds[w].size} objects; the limit is {MAX_TABLE_CELLS:,}"
            )
        if chunk and (len(chunk) + 1) * cells > _CELLS_AT_ONCE:
            yield chunk
            chunk = []
        chunk.append(w)
    if chunk:
        yield chunk


class _WorldStack:
    """The tables of several worlds in one array a predicate, padded to the largest; see NOTE(padding)."""

    def __init__(self, worlds: Sequence[World]) -> None:
        self._worlds = worlds
        self.size = max(world.size for world in worlds)
        places = np.arange(self.size)
        self._index = np.stack([np.where(places < world.size, places, 0) for world in worlds])

    def predicate(self, name: PredicateName) -> BoolArray:
        """`bool[w, n]` or `bool[w, n, n]`."""
        tables = zip((world.true[name] for world in self._worlds), self._index, strict=True)
        return np.stack([table[np.ix_(*[index] * table.ndim)] for table, index in tables])

    def equality(self) -> BoolArray:
        """`bool[w, n, n]`: whether two places hold the same object."""
        equal: BoolArray = self._index[:, :, None] == self._index[:, None, :]
        return equal


@dataclass(frozen=True)
class _Step:
    """How to compute one table: from the worlds if `operands` is empty, else from earlier tables."""

    compute: Callable[..., BoolArray]
    operands: tuple[int, ...]
    variables: tuple[Variable, ...]


class _Program:
    """The distinct subformulas of some formulas in an order of computation, each with its last use.

    Structurally equal subformulas are one step, as are `and`, `or` and `iff` with their operands exchanged.
    """

    def __init__(self, formulas: Sequence[Formula]) -> None:
        self._steps: list[_Step] = []
        self._numbers: dict[tuple[object, ...], int] = {}
        self._outputs: dict[int, list[int]] = {}  # step -> the formulas whose extension it is
        for f, formula in enumerate(formulas):
            step = self._add(formula)
            stray = [v for v in self._steps[step].variables if v != FREE_VARIABLE]
            if stray:
                raise ValueError(f"variable {stray[0]} is free")
            self._outputs.setdefault(step, []).append(f)
        self._last_use = list(range(len(self._steps)))
        for i, step_ in enumerate(self._steps):
            for operand in step_.operands:
                self._last_use[operand] = i
        self.widest = max((len(step_.variables) for step_ in self._steps), default=0)

    def run(self, worlds: _WorldStack) -> Iterator[tuple[int, BoolArray]]:
        """Pairs of formula number and its table, `bool[w, n]`, as they are computed."""
        tables: dict[int, BoolArray] = {}
        for i, step in enumerate(self._steps):
            operands = [tables[operand] for operand in step.operands]
            tables[i] = step.compute(*operands) if operands else step.compute(worlds)
            for f in self._outputs.get(i, ()):
                table = tables[i]
                yield f, table if table.ndim == 2 else np.repeat(table[:, None], worlds.size, axis=1)
            for operand in {*step.operands, i}:
                if self._last_use[operand] == i:
                    del tables[operand]

    def _add(self, formula: Formula) -> int:
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
        return step_of[id(formula)]

    def _step(self, node: Formula, operands: tuple[int, ...]) -> _Step:
        scopes = [self._steps[operand].variables for operand in operands]
        match node:
            case Atom(predicate, arguments):
                return _leaf(arguments, lambda worlds: worlds.predicate(predicate))
            case Equal(left, right):
                return _leaf((left, right), _WorldStack.equality)
            case Not():
                return _Step(np.logical_not, operands, scopes[0])
            case Quantified(variable, _):
                if variable not in scopes[0]:
                    return _Step(_unchanged, operands, scopes[0])
                axis = 1 + scopes[0].index(variable)
                reduction = np.logical_or if isinstance(node, Exists) else np.logical_and
                rest = scopes[0][: axis - 1] + scopes[0][axis:]
                return _Step(functools.partial(reduction.reduce, axis=axis), operands, rest)
        connective: Callable[..., BoolArray] = _CONNECTIVES[type(node)]
        if scopes[0] == scopes[1]:
            return _Step(connective, operands, scopes[0])
        variables = tuple(sorted({*scopes[0], *scopes[1]}))
        _require_few(variables)
        left_axes, right_axes = (_axes(scope, variables) for scope in scopes)
        return _Step(lambda left, right: connective(left[left_axes], right[right_axes]), operands, variables)


def _implies(left: BoolArray, right: BoolArray) -> BoolArray:
    return left <= right


def _unchanged(table: BoolArray) -> BoolArray:
    return table


_CONNECTIVES: dict[type[Formula], Callable[..., BoolArray]] = {
    And: np.logical_and,
    Or: np.logical_or,
    Iff: np.equal,
    Implies: _implies,
}


def _leaf(arguments: tuple[Variable, ...], table_of: Callable[[_WorldStack], BoolArray]) -> _Step:
    """An atom or equality: its table with one axis a distinct variable, in alphabetical order."""
    if len(arguments) == 1:
        return _Step(table_of, (), arguments)
    first, second = arguments
    if first == second:
        return _Step(lambda worlds: np.diagonal(table_of(worlds), axis1=1, axis2=2), (), (first,))
    if first < second:
        return _Step(table_of, (), (first, second))
    return _Step(lambda worlds: table_of(worlds).swapaxes(1, 2), (), (second, first))


def _axes(scope: tuple[Variable, ...], variables: tuple[Variable, ...]) -> tuple[slice | None, ...]:
    """The index that spreads a table over `scope` to the axes of `variables`."""
    return (slice(None), *(slice(None) if variable in scope else None for variable in variables))


def _require_few(variables: tuple[Variable, ...]) -> None:
    if len(variables) > MAX_FREE_VARIABLES:
        raise EvaluationLimitError(
            f"a subformula has more than {MAX_FREE_VARIABLES} free variables, the most that can be evaluated"
        )
