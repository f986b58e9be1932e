"""The fast evaluator: all worlds and many formulas at once, on arrays of truth values.

NOTE(padding): worlds of different sizes share a table by repeating object 0 in the missing places. A repeated
object is never the first witness of anything, so `any` and `all` along an axis are exactly the quantifiers.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from induction.errors import EvaluationLimitError
from induction.evaluation.program import Algebra, Program
from induction.formula.syntax import Formula, PredicateName, Signature, Variable
from induction.worlds.world import BoolArray, World

MAX_TABLE_CELLS = 2**27
"""Most table entries for one world at a time; a table has objects to the power of its free variables."""

MAX_EVERY_WORLD = 2**20
"""Most worlds of one batch of all there are."""

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
        algebra = _Truth(Batch.of([worlds[w] for w in chunk]))
        for f, table in program.run(algebra):
            for row, w in enumerate(chunk):
                result[f][w] = table[row, : worlds[w].size].copy()
    return result


def extension_tables(formulas: Sequence[Formula], batch: "Batch") -> BoolArray:
    """`bool[f, w, n]`: `extensions` over a batch, padding included.

    Raises:
        EvaluationLimitError, KeyError, ValueError: as `extensions`.
    """
    return Evaluator(formulas).tables(batch)


class Evaluator:
    """Formulas made ready to be evaluated on one batch after the other.

    Raises:
        EvaluationLimitError: a subformula with too many free variables.
        ValueError: a formula with a free variable other than x.
    """

    def __init__(self, formulas: Sequence[Formula]) -> None:
        self._number = len(formulas)
        self._program: Program[np.bool_] = Program(formulas)

    def tables(self, batch: "Batch") -> BoolArray:
        """`bool[f, w, n]`: for each formula its extension in each world of `batch`, padding included.

        Raises:
            EvaluationLimitError: tables beyond `MAX_TABLE_CELLS` in all.
            KeyError: a predicate that the worlds lack.
        """
        self._program.require_affordable(batch.size, max(1, MAX_TABLE_CELLS // batch.count))
        result = np.empty((self._number, batch.count, batch.size), dtype=np.bool_)
        for f, table in self._program.run(_Truth(batch)):
            result[f] = table
        return result


def subformula_tables(formula: Formula, batch: "Batch") -> dict[int, tuple[tuple[Variable, ...], BoolArray]]:
    """For each node object of `formula`, by identity, its free variables in order and its table, padding included.

    The table is `bool[w, n, ..., n]` with an axis of objects for each of the variables.

    Raises:
        EvaluationLimitError: the tables would together have more than `MAX_TABLE_CELLS` entries.
        KeyError, ValueError: as `extensions`.
    """
    program: Program[np.bool_] = Program([formula])
    program.require_affordable(batch.size, max(1, MAX_TABLE_CELLS // batch.count), keep_all=True)
    numbers = program.number_of(formula)
    tables = program.all_tables(_Truth(batch))
    return {node: (program.variables_of(number), tables[number]) for node, number in numbers.items()}


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
        self._tables = program.all_tables(_Truth(Batch.of([world])))

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


class Batch:
    """Several worlds as one stack of truth values, padded to the largest; see NOTE(padding).

    Constructed by `of` and `every_world`. `tables[name]` is `bool[w, n]` or `bool[w, n, n]`, `equal` is `bool[w, n, n]`
    or, for worlds of one size, `bool[1, n, n]`.
    """

    def __init__(self, tables: Mapping[PredicateName, BoolArray], equal: BoolArray, count: int) -> None:
        self.tables = tables
        self.count = count
        self.equal = equal

    @classmethod
    def of(cls, worlds: Sequence[World]) -> "Batch":
        """These worlds (one or more, of one signature); their unknown atoms count as false."""
        places = np.arange(max(world.size for world in worlds))
        index = np.stack([np.where(places < world.size, places, 0) for world in worlds])
        tables = {
            name: np.stack([world.true[name][np.ix_(*[row] * arity)] for world, row in zip(worlds, index, strict=True)])
            for name, arity in worlds[0].signature.items()
        }
        return cls(tables, index[:, :, None] == index[:, None, :], len(worlds))

    @classmethod
    def every_world(cls, signature: Signature, size: int) -> "Batch":
        """All worlds of `size` objects; bit i of a world's number is the i-th atom, predicates in signature order.

        Raises:
            EvaluationLimitError: there are more than `MAX_EVERY_WORLD`.
        """
        atoms = sum(size**arity for _, arity in signature.items())
        if 2**atoms > MAX_EVERY_WORLD:
            raise EvaluationLimitError(f"there are 2^{atoms} worlds of {size} objects over {signature}")
        numbers = np.arange(2**atoms)
        tables: dict[PredicateName, BoolArray] = {}
        first = 0
        for name, arity in signature.items():
            places = first + np.arange(size**arity)
            tables[name] = ((numbers[:, None] >> places) & 1).astype(np.bool_).reshape(-1, *[size] * arity)
            first += size**arity
        return cls(tables, np.eye(size, dtype=np.bool_)[None], len(numbers))

    @property
    def size(self) -> int:
        """Objects of every world, padding included."""
        return int(self.equal.shape[1])


class _Truth(Algebra[np.bool_]):
    """Truth values over the worlds of a batch."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    @property
    def size(self) -> int:
        return self._batch.size

    def predicate(self, name: PredicateName) -> BoolArray:
        return self._batch.tables[name]

    def equality(self) -> BoolArray:
        return self._batch.equal

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
