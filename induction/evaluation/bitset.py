"""The fast evaluator: all worlds and many formulas at once, on arrays of truth values.

NOTE(padding): worlds of different sizes share a table by repeating object 0 in the missing places. A repeated
object is never the first witness of anything, so `any` and `all` along an axis are exactly the quantifiers.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from induction.evaluation.program import Algebra, Program
from induction.formula.syntax import Formula, PredicateName, Variable
from induction.worlds.world import BoolArray, World

MAX_TABLE_CELLS = 2**27
"""Most table entries for one world at a time; a table has objects to the power of its free variables."""

_CELLS_AT_ONCE = 2**24  # worlds are taken together while their tables stay about this large (cache, memory)


def extensions(formulas: Sequence[Formula], worlds: Sequence[World]) -> list[list[BoolArray]]:
    """`result[f][w]`, a `bool[n]`: for each object of world w, whether formula f is true of it as x.

    Unknown atoms count as false. The worlds share a signature that covers the formulas, whose only free
    variable, if any, is x.

    Raises:
        EvaluationLimitError: tables beyond `MAX_TABLE_CELLS`, or a subformula with too many free variables.
        KeyError: a predicate that the worlds lack.
        ValueError: a formula with a free variable other than x.
    """
    program: Program[np.bool_] = Program(formulas)
    result: list[list[BoolArray]] = [[np.empty(0, dtype=np.bool_)] * len(worlds) for _ in formulas]
    # Worlds of like size together, so that padding stays small.
    order = sorted(range(len(worlds)), key=lambda w: worlds[w].size)
    for chunk in _chunks(order, worlds, program):
        algebra = _Truth([worlds[w] for w in chunk])
        for f, table in program.run(algebra):
            for row, w in enumerate(chunk):
                result[f][w] = table[row, : worlds[w].size].copy()
    return result


class TruthTables:
    """The truth of every subformula of one formula in one world, under every assignment.

    Unknown atoms count as false.

    Raises:
        EvaluationLimitError: the tables would together have more than `MAX_TABLE_CELLS` entries.
        KeyError, ValueError: as `extensions`.
    """

    def __init__(self, formula: Formula, world: World) -> None:
        program: Program[np.bool_] = Program([formula])
        program.require_affordable(world.size, MAX_TABLE_CELLS, keep_all=True)
        self._program = program
        self._number_of = program.number_of(formula)
        self._tables = program.all_tables(_Truth([world]))

    def holds(self, node: Formula, assignment: Mapping[Variable, int]) -> bool:
        """Whether `node`, a node object of the formula, is true when its free variables are these objects."""
        number = self._number_of[id(node)]
        place = (0, *(assignment[variable] for variable in self._program.variables_of(number)))
        return bool(self._tables[number][place])


def _chunks(order: list[int], worlds: Sequence[World], program: Program[np.bool_]) -> Iterator[list[int]]:
    cells_of = {size: program.require_affordable(size, MAX_TABLE_CELLS) for size in {world.size for world in worlds}}
    chunk: list[int] = []
    for w in order:
        cells = cells_of[worlds[w].size]
        if chunk and (len(chunk) + 1) * cells > _CELLS_AT_ONCE:
            yield chunk
            chunk = []
        chunk.append(w)
    if chunk:
        yield chunk


class _Truth(Algebra[np.bool_]):
    """Truth values over several worlds, padded to the largest; see NOTE(padding)."""

    def __init__(self, worlds: Sequence[World]) -> None:
        self._worlds = worlds
        self._size = max(world.size for world in worlds)
        places = np.arange(self._size)
        self._index = np.stack([np.where(places < world.size, places, 0) for world in worlds])

    @property
    def size(self) -> int:
        return self._size

    def predicate(self, name: PredicateName) -> BoolArray:
        tables = zip((world.true[name] for world in self._worlds), self._index, strict=True)
        return np.stack([table[np.ix_(*[index] * table.ndim)] for table, index in tables])

    def equality(self) -> BoolArray:
        equal: BoolArray = self._index[:, :, None] == self._index[:, None, :]
        return equal

    def negation(self, operand: BoolArray) -> BoolArray:
        return np.logical_not(operand)

    def conjunction(self, left: BoolArray, right: BoolArray) -> BoolArray:
        return np.logical_and(left, right)

    def disjunction(self, left: BoolArray, right: BoolArray) -> BoolArray:
        return np.logical_or(left, right)

    def implication(self, left: BoolArray, right: BoolArray) -> BoolArray:
        return np.less_equal(left, right)

    def equivalence(self, left: BoolArray, right: BoolArray) -> BoolArray:
        return np.equal(left, right)

    def exists(self, body: BoolArray, axis: int) -> BoolArray:
        holds: BoolArray = np.logical_or.reduce(body, axis=axis)
        return holds

    def forall(self, body: BoolArray, axis: int) -> BoolArray:
        holds: BoolArray = np.logical_and.reduce(body, axis=axis)
        return holds
