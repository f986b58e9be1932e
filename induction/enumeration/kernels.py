"""The inner loops, compiled by numba and cached on disk: those that add tables to layers.

Tables are rows of 64-bit words as in `layout`; a table of one, two and three variables is flattened to
`uint64[words]`, `uint64[size * words]` and `uint64[size * size * words]`. Nothing here knows what a table means.

Those that only look at tables are in `streaming`.

NOTE(cache): numba compiles a function anew when its own file has changed, not when a file that it calls into has.
Whoever changes `reduce_rows` or `reduce_rows_within` touches this file too.
"""

from typing import Any

import numba
import numpy as np

# Callers find all compiled loops here.
from induction.enumeration.streaming import DEPTH as DEPTH
from induction.enumeration.streaming import OPEN as OPEN
from induction.enumeration.streaming import accepts as accepts
from induction.enumeration.streaming import depth_of as depth_of
from induction.enumeration.streaming import find_accepted as find_accepted
from induction.enumeration.streaming import reduce_rows as reduce_rows
from induction.enumeration.streaming import reduce_rows_within as reduce_rows_within
from induction.enumeration.streaming import select_operands as select_operands
from induction.enumeration.streaming import stream_pairs as stream_pairs

AND, OR = 0, 1
_compiled: Any = numba.njit(cache=True, boundscheck=False)

# Odd constants of splitmix64: each word passes a full mixer, so that tables in one bit apart spread far.
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@_compiled
def hash_table(table: Any) -> Any:
    """A 64-bit hash of a table; only a first look, tables are always compared in full."""
    h = _STEP
    for word in table:
        h = (h ^ word) + _STEP
        h = (h ^ (h >> np.uint64(30))) * _MIX_1
        h = (h ^ (h >> np.uint64(27))) * _MIX_2
        h = h ^ (h >> np.uint64(31))
    return h


@_compiled
def joined(mark: int, other: int) -> int:
    """The mark of a conjunction or disjunction: the larger depth, and open if either is."""
    return max(mark & DEPTH, other & DEPTH) | ((mark | other) & OPEN)


@_compiled
def find_slot(tables: Any, marks: Any, slots: Any, index: int, is_open: int, hash_mask: Any) -> Any:
    """The slot that holds an open entry (`is_open` is OPEN) or one that is not (0) with the table at `index`.

    Without such an entry, the free slot where it belongs.
    """
    row = tables[index]
    last = len(slots) - 1
    slot = np.int64(((hash_table(row) + np.uint64(is_open)) & hash_mask) & np.uint64(last))
    while slots[slot] >= 0:
        other = slots[slot]
        same = marks[other] & OPEN == is_open
        for k in range(row.shape[0]):
            if tables[other, k] != row[k]:
                same = False
                break
        if same:
            break
        slot = (slot + 1) & last
    return slot


@_compiled
def admit(tables: Any, marks: Any, slots: Any, full: Any, count: int, mark: int, hash_mask: Any) -> bool:
    """Whether the table at `count` is kept: new, or of less depth than its like, or open where they are not.

    Constants are kept only if open. `full` is the table that is true everywhere. If kept, it is entered in `slots`
    (open addressing; a slot holds the entry of least depth, of those with the table that are open, or are not).
    `hash_mask` is all ones; tests clear bits of it to force collisions.

    NOTE(constants): one that is not open serves only to make an open one, `f and c`. Were a variable free in c, c
    with x for it would be open and as small. A sentence has 4 nodes, or 5 without unary predicates; with f that is
    more than `f and not f` has of the smallest atom of x.
    """
    row = tables[count]
    is_open = mark & OPEN
    width = row.shape[0]
    if not is_open:
        empty = True
        whole = True
        for k in range(width):
            if row[k] != _ZERO:
                empty = False
            if row[k] != full[k]:
                whole = False
        if empty or whole:
            return False
    marks[count] = mark
    slot = find_slot(tables, marks, slots, count, is_open, hash_mask)
    if slots[slot] >= 0 and depth_of(mark) >= depth_of(marks[slots[slot]]):
        return False
    if not is_open:  # an open one serves in its place
        other = slots[find_slot(tables, marks, slots, count, OPEN, hash_mask)]
        if other >= 0 and depth_of(mark) >= depth_of(marks[other]):
            return False
    slots[slot] = count
    return True


@_compiled
def rebuild_slots(tables: Any, marks: Any, slots: Any, count: int, hash_mask: Any) -> None:
    """Enter the first `count` tables into fresh slots; of like tables, which come by falling depth, the last."""
    for i in range(count):
        slots[find_slot(tables, marks, slots, i, marks[i] & OPEN, hash_mask)] = i


@_compiled
def add_negations(
    tables: Any, marks: Any, tops: Any, lefts: Any, rights: Any, slots: Any, full: Any, count: int,
    low: int, high: int, start: int, top: int, hash_mask: Any,
) -> Any:  # fmt: skip
    """Admit the negation of each entry in [low, high), from `start` on; stop where the room is used up.

    Returns the new count and where to go on (`high` when done).
    """
    width = tables.shape[1]
    for i in range(start, high):
        if count == tables.shape[0]:
            return count, i
        for k in range(width):
            tables[count, k] = ~tables[i, k] & full[k]
        if admit(tables, marks, slots, full, count, marks[i], hash_mask):
            tops[count] = top
            lefts[count] = i
            rights[count] = -1
            count += 1
    return count, high


@_compiled
def add_pairs(
    tables: Any, marks: Any, tops: Any, lefts: Any, rights: Any, slots: Any, full: Any, count: int,
    low_a: int, high_a: int, low_b: int, high_b: int, start_a: int, start_b: int,
    operation: int, top: int, reducible_top: int, max_depth: int, left_larger: bool, same_size: bool, hash_mask: Any,
) -> Any:  # fmt: skip
    """Admit a op b for a in [low_a, high_a) and b in [low_b, high_b), b not itself topped by op.

    NOTE(irreducible): a op (b1 op b2) is also (a op b1) op b2, of the same size and depth, so the right operand may
    be taken irreducible. Where both are, one order is enough: the smaller one first. `reducible_top` is the code of
    op, or -1 to take every operand for irreducible, which switches this off.

    Returns the new count and where to go on (`high_a`, 0 when done).
    """
    width = tables.shape[1]
    for i in range(start_a, high_a):
        left_irreducible = tops[i] != reducible_top
        if left_irreducible and left_larger:
            continue
        first_b = start_b if i == start_a else low_b
        for j in range(first_b, high_b):
            if tops[j] == reducible_top:
                continue
            if same_size and left_irreducible and j <= i:
                continue
            mark = joined(marks[i], marks[j])
            if depth_of(mark) > max_depth:
                continue
            if count == tables.shape[0]:
                return count, i, j
            if operation == AND:
                for k in range(width):
                    tables[count, k] = tables[i, k] & tables[j, k]
            else:
                for k in range(width):
                    tables[count, k] = tables[i, k] | tables[j, k]
            if admit(tables, marks, slots, full, count, mark, hash_mask):
                tops[count] = top
                lefts[count] = i
                rights[count] = j
                count += 1
    return count, high_a, low_b


@_compiled
def add_projections_within(
    tables: Any, marks: Any, tops: Any, lefts: Any, rights: Any, slots: Any, full: Any, count: int,
    sources: Any, source_marks: Any, within: Any, negated: bool, low: int, high: int, start: int,
    outer: int, inner: int, words: int, existential: bool, top: int, hash_mask: Any,
) -> Any:  # fmt: skip
    """Admit `reduce_rows_within` of each source in [low, high). Returns the new count and where to go on."""
    for i in range(start, high):
        if count == tables.shape[0]:
            return count, i
        row = tables[count]
        reduce_rows_within(sources[i], within, negated, row, outer, inner, words, existential)
        for k in range(row.shape[0]):
            row[k] &= full[k]
        if admit(tables, marks, slots, full, count, source_marks[i] & OPEN, hash_mask):
            tops[count] = top
            lefts[count] = i
            rights[count] = -1
            count += 1
    return count, high


@_compiled
def add_projections(
    tables: Any, marks: Any, tops: Any, lefts: Any, rights: Any, slots: Any, full: Any, count: int,
    sources: Any, source_marks: Any, low: int, high: int, start: int,
    outer: int, inner: int, words: int, existential: bool, top: int, max_depth: int, dependent_only: bool,
    hash_mask: Any,
) -> Any:  # fmt: skip
    """Admit "exists" or "for all" of each source in [low, high), reducing its innermost variable.

    With `dependent_only`, sources that do not depend on it are passed over: a formula of one variable fewer, as
    small, has their table.
    Returns the new count and where to go on (`high` when done).
    """
    for i in range(start, high):
        if count == tables.shape[0]:
            return count, i
        if depth_of(source_marks[i]) + 1 > max_depth:
            continue
        depends = reduce_rows(sources[i], tables[count], outer, inner, words, existential)
        if (depends or not dependent_only) and admit(tables, marks, slots, full, count, source_marks[i] + 1, hash_mask):
            tops[count] = top
            lefts[count] = i
            rights[count] = -1
            count += 1
    return count, high


@_compiled
def add_pair_projections(
    tables: Any, marks: Any, tops: Any, lefts: Any, rights: Any, slots: Any, full: Any, count: int,
    sources: Any, source_marks: Any, source_tops: Any, firsts: Any, seconds: Any, start_a: int, start_b: int,
    stop_a: int, outer: int, inner: int, words: int, existential: bool, source_top: int, top: int, max_depth: int,
    left_larger: bool, same_size: bool, hash_mask: Any,
) -> Any:  # fmt: skip
    """Admit Q z (a op b) for a in `firsts` (up to `stop_a`) and b in `seconds`, without keeping a op b itself.

    The connective is the one that differs from the quantifier; `source_top` is its code, for NOTE(irreducible).
    Returns the new count and where to go on (`stop_a`, 0 when done).
    """
    for a in range(start_a, stop_a):
        i = firsts[a]
        left_irreducible = source_tops[i] != source_top
        if left_irreducible and left_larger:
            continue
        first_b = start_b if a == start_a else 0
        for b in range(first_b, seconds.shape[0]):
            j = seconds[b]
            if source_tops[j] == source_top or (same_size and left_irreducible and j <= i):
                continue
            mark = joined(source_marks[i], source_marks[j]) + 1
            if depth_of(mark) > max_depth:
                continue
            if count == tables.shape[0]:
                return count, a, b
            for y in range(outer):
                for k in range(words):
                    value = _ZERO if existential else ~_ZERO
                    for z in range(inner):
                        place = (y * inner + z) * words + k
                        if existential:
                            value |= sources[i, place] & sources[j, place]
                        else:
                            value &= sources[i, place] | sources[j, place]
                    tables[count, y * words + k] = value
            if admit(tables, marks, slots, full, count, mark, hash_mask):
                tops[count] = top
                lefts[count] = i
                rights[count] = j
                count += 1
    return count, stop_a, 0


@_compiled
def add_joined(
    tables: Any, marks: Any, tops: Any, lefts: Any, rights: Any, slots: Any, full: Any, count: int,
    sources: Any, source_marks: Any, origins: Any, low_a: int, high_a: int, low_b: int, high_b: int,
    start_a: int, start_b: int, operation: int, top: int, max_depth: int, same_size: bool, hash_mask: Any,
) -> Any:  # fmt: skip
    """Admit the join of two projections: a op b for a in [low_a, high_a) and b in [low_b, high_b) of `sources`.

    `origins` are the entries that were projected, kept as operands. Returns the new count and where to go on.
    """
    width = tables.shape[1]
    for i in range(start_a, high_a):
        first_b = start_b if i == start_a else low_b
        for j in range(first_b, high_b):
            if same_size and j <= i:
                continue
            mark = joined(source_marks[i], source_marks[j])
            if depth_of(mark) > max_depth:
                continue
            if count == tables.shape[0]:
                return count, i, j
            for k in range(width):
                if operation == AND:
                    tables[count, k] = sources[i, k] & sources[j, k]
                else:
                    tables[count, k] = sources[i, k] | sources[j, k]
            if admit(tables, marks, slots, full, count, mark, hash_mask):
                tops[count] = top
                lefts[count] = origins[i]
                rights[count] = origins[j]
                count += 1
    return count, high_a, low_b


@_compiled
def spread(row: Any, result: Any, places: Any, masks: Any) -> None:
    """Say of every x of each world what `row` says of one object: `places[w]` is that object's bit."""
    for k in range(result.shape[0]):
        result[k] = _ZERO
    for w in range(masks.shape[0]):
        place = places[w]
        if (row[place >> 6] >> np.uint64(place & 63)) & _ONE:
            for k in range(result.shape[0]):
                result[k] |= masks[w, k]


@_compiled
def add_embeddings(
    tables: Any, marks: Any, tops: Any, lefts: Any, rights: Any, slots: Any, full: Any, count: int,
    sources: Any, source_marks: Any, low: int, high: int, start: int,
    outer: int, words: int, places: Any, masks: Any, kind: int, top: int, max_depth: int, hash_mask: Any,
) -> Any:  # fmt: skip
    """Admit each source in [low, high) as a table of one variable more.

    `outer` rows y (of the target). Kinds, from one variable to two: 0 f(x), 1 f(y); from two to three: 2 f(x, y),
    3 f(x, z), 4 f(y, z). Returns the new count and where to go on (`high` when done).
    """
    for i in range(start, high):
        if count == tables.shape[0]:
            return count, i
        if depth_of(source_marks[i]) > max_depth:
            continue
        source = sources[i]
        row = tables[count]
        if kind <= 1:
            for y in range(outer):
                if kind == 0:
                    row[y * words : (y + 1) * words] = source
                else:
                    spread(source, row[y * words : (y + 1) * words], places[:, y], masks)
        else:
            for y in range(outer):
                for z in range(outer):
                    base = (y * outer + z) * words
                    if kind == 2:
                        row[base : base + words] = source[y * words : (y + 1) * words]
                    elif kind == 3:
                        row[base : base + words] = source[z * words : (z + 1) * words]
                    else:
                        spread(source[z * words : (z + 1) * words], row[base : base + words], places[:, y], masks)
        mark = source_marks[i] if kind in (0, 2, 3) else depth_of(source_marks[i])  # x stays x, or is x no more
        if admit(tables, marks, slots, full, count, mark, hash_mask):
            tops[count] = top
            lefts[count] = i
            rights[count] = -1
            count += 1
    return count, high


@_compiled
def add_compositions(
    tables: Any, marks: Any, tops: Any, lefts: Any, rights: Any, slots: Any, full: Any, count: int,
    sources: Any, source_marks: Any, firsts: Any, seconds: Any, start: int,
    size: int, words: int, places: Any, masks: Any, existential: bool, top: int, max_depth: int, hash_mask: Any,
) -> Any:  # fmt: skip
    """Admit Q z (a(x, z) op b(y, z)) for a in `firsts` and b in `seconds`, tables of two variables.

    The connective is the one that differs from the quantifier. For relations this is composition, or its dual.
    Returns the new count and where to go on in `seconds`.
    """
    turned = np.empty(size * size * words, dtype=np.uint64)
    for b in range(start, seconds.shape[0]):
        j = seconds[b]
        if count + firsts.shape[0] > tables.shape[0]:
            return count, b
        for y in range(size):
            for z in range(size):
                base = (y * size + z) * words
                spread(sources[j, z * words : (z + 1) * words], turned[base : base + words], places[:, y], masks)
        for a in range(firsts.shape[0]):
            i = firsts[a]
            mark = joined(source_marks[i], source_marks[j]) + 1
            if depth_of(mark) > max_depth:
                continue
            for y in range(size):
                for k in range(words):
                    value = _ZERO if existential else ~_ZERO
                    for z in range(size):
                        if existential:
                            value |= sources[i, z * words + k] & turned[(y * size + z) * words + k]
                        else:
                            value &= sources[i, z * words + k] | turned[(y * size + z) * words + k]
                    tables[count, y * words + k] = value & full[y * words + k]
            if admit(tables, marks, slots, full, count, mark, hash_mask):
                tops[count] = top
                lefts[count] = i
                rights[count] = j
                count += 1
    return count, seconds.shape[0]
