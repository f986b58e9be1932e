"""Quick answers of any size, without proof: to have one early, and where the smallest is out of reach.

Two ways. Relation algebra: a guarded body around a composition of two relations, `Q y (g(x, y) op Q' z (a(x, z) op'
b(y, z)))`, reaches nested patterns of 20 AST nodes and more in a moment. Case splitting: a decision tree over small
formulas fits whatever the fragment can tell apart at that size, however accidental the cases are.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from induction.enumeration import kernels
from induction.enumeration.classes import EXISTS, FORALL, SMALLEST, ClassTables, pairs_at_once
from induction.enumeration.fitting import Question
from induction.formula.syntax import And, Exists, ForAll, Formula, Not, Or

_GUARD_SIZE = 8
_SHORT_OPERAND = 4
_LONG_OPERAND = 10
_TREE_FORMULA_SIZE = 9
_LARGEST_TREE = 64
_MOST_TREE_BITS = 2**25  # a byte each, and as much again a few times over
_NO_MASK = np.uint64(2**64 - 1)


def relation_algebra(
    tables: ClassTables, question: Question, tick: Callable[[], None], most_ast: int
) -> Formula | None:
    """The smallest formula of the shape above with at most `most_ast` nodes; None if none fits.

    Operands are classes of two variables of up to 10 nodes, one of each pair of up to 4, guards of up to 8. The
    formulas are of the tables' fragment.
    """
    if not tables.is_open_to(3):
        return None
    tables.build(2, _LONG_OPERAND)
    layout, two = tables.layout, tables.layer(2)
    long = tables.new_layer(2)
    for index in range(two.start(_GUARD_SIZE + 1)):
        long.add(two.tables[index], 0, index)
    sizes = [two.size_of(index) for index in range(two.count)]
    first_composed = long.count
    short = np.arange(two.start(_SHORT_OPERAND + 1), dtype=np.int64)
    everything = np.arange(two.start(_LONG_OPERAND + 1), dtype=np.int64)
    for existential in (True, False):
        for firsts, seconds in ((short, everything), (everything, short)):
            at = 0
            # Each of them is turned for every pair of objects, and composed with each of the firsts.
            step = max(1, pairs_at_once(long.tables.shape[1] * layout.size) // (len(firsts) + len(layout.worlds)))
            while at < len(seconds):
                tick()
                while len(long.tables) < long.count + len(firsts):
                    long.grow()
                long.count, at = kernels.add_compositions(
                    *long.arrays(), two.tables, two.marks, firsts, seconds[: at + step], at, layout.size, layout.words,
                    layout.sources, layout.world_masks, existential, EXISTS if existential else FORALL,
                    tables.fragment.depth_allowed(2), _NO_MASK,
                )  # fmt: skip
    lengths = _lengths(long.lefts[: long.count], long.rights[: long.count], first_composed, np.array(sizes))
    hits = np.empty((1, 2), dtype=np.int64)
    operands: dict[bool, tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] = {}
    for existential in (True, False):
        fitting = kernels.select_operands(
            long.tables, long.marks, 0, long.count, 1, layout.size, layout.words, True, existential,
            question.target, question.care, question.noise, 10**6, False, True,
        )  # fmt: skip
        operands[existential] = fitting[fitting < first_composed], fitting[fitting >= first_composed]
    for total in range(SMALLEST + 7, most_ast - 2):
        for existential, (guards, composed) in operands.items():
            for guard_size in range(SMALLEST, _GUARD_SIZE + 1):
                lefts = guards[lengths[guards] == guard_size]
                rights = composed[lengths[composed] == total - guard_size]
                if not len(lefts) or not len(rights):
                    continue
                tick()
                found, _, _ = kernels.stream_pairs(
                    long.tables, long.marks, 0, long.tops, lefts, rights, -1, False, False, 1, layout.size,
                    layout.words, True, existential, question.target, question.care, question.misses, question.noise,
                    0, 10**9, hits, 0,
                )  # fmt: skip
                if found:
                    guard = tables.formula(2, int(long.lefts[hits[0, 0]]))
                    body = _composition(tables, long.tops, long.lefts, long.rights, int(hits[0, 1]))
                    return Exists("y", And(guard, body)) if existential else ForAll("y", Or(guard, body))
    return None


def _lengths(
    lefts: npt.NDArray[np.int64],
    rights: npt.NDArray[np.int64],
    first_composed: int,
    sizes: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """AST sizes: of guards, entries below `first_composed`, that of their origin; of compositions 3 and both parts."""
    lengths = sizes[lefts]
    lengths[first_composed:] += 3 + sizes[rights[first_composed:]]
    return lengths


def _composition(
    tables: ClassTables,
    tops: npt.NDArray[np.int64],
    lefts: npt.NDArray[np.int64],
    rights: npt.NDArray[np.int64],
    index: int,
) -> Formula:
    first = tables.formula(2, int(lefts[index]), ("x", "z"))
    second = tables.formula(2, int(rights[index]), ("y", "z"))
    if tops[index] == EXISTS:
        return Exists("z", And(first, second))
    return ForAll("z", Or(first, second))


def case_split(tables: ClassTables, question: Question, tick: Callable[[], None]) -> Formula | None:
    """A decision tree over formulas of up to 9 nodes, as a formula; None where it needs too many cases.

    Where worlds are so large that their rows take more than 32 MB, the smallest of those formulas.
    Only for questions without worlds to miss: each case is settled by the labels in it.
    """
    tables.build(1, _TREE_FORMULA_SIZE)
    one = tables.layer(1)
    if not one.count or len(question.misses):
        return None
    most = max(1, _MOST_TREE_BITS // (64 * tables.layout.words))
    bits = np.unpackbits(one.tables[: min(one.count, most)].view(np.uint8), axis=1, bitorder="little").astype(np.bool_)
    care = np.unpackbits(question.care.view(np.uint8), bitorder="little").astype(np.bool_)
    target = np.unpackbits(question.target.view(np.uint8), bitorder="little").astype(np.bool_)
    cases = 0

    def split(rows: npt.NDArray[np.bool_]) -> Formula | bool | None:
        """A formula for the objects in `rows`; True or False where one label is all there is."""
        nonlocal cases
        labelled, rest = int((rows & target).sum()), int((rows & ~target).sum())
        if not labelled or not rest:
            return not rest
        tick()
        cases += 1
        if cases > _LARGEST_TREE:
            return None
        inside = bits & rows
        positive, negative = (inside & target).sum(axis=1), (inside & ~target).sum(axis=1)
        wrong = np.minimum(positive, negative) + np.minimum(labelled - positive, rest - negative)
        useful = (positive + negative > 0) & (positive + negative < labelled + rest)
        if not useful.any():
            return None
        chosen = int(np.argmin(np.where(useful, wrong, 10**9)))
        test = tables.formula(1, chosen)
        yes, no = split(rows & bits[chosen]), split(rows & ~bits[chosen])
        if yes is None or no is None:
            return None
        return _branch(test, yes, no)

    result = split(care)
    return result if isinstance(result, Formula) else None


def _branch(test: Formula, yes: Formula | bool, no: Formula | bool) -> Formula | bool:
    """`yes` where the test holds, else `no`, without truth constants."""
    if yes is True:
        if no is False:
            return test
        return Or(test, no) if isinstance(no, Formula) else True
    if yes is False:
        if no is True:
            return Not(test)
        return And(Not(test), no) if isinstance(no, Formula) else False
    if no is True:
        return Or(Not(test), yes)
    if no is False:
        return And(test, yes)
    assert isinstance(no, Formula)
    return Or(And(test, yes), And(Not(test), no))
