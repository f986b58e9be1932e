"""Compiled loops that store nothing: tables under quantifiers, and whether they come to a target.

Tables as in `kernels`, which adds them to layers. Compiled by numba and cached on disk.

NOTE(marks): beside its table an entry has a mark, its quantifier depth and, in the bit `OPEN`, whether its first
variable, x, occurs free in it. Tables do not tell: "exists y (P(x) or P(y))" holds where "exists y P(y)" does. Where
no entry is open from the beginning none ever is, and marks are plain depths.
"""

from typing import Any

import numba
import numpy as np

OPEN = 256
DEPTH = 255
_compiled: Any = numba.njit(cache=True, boundscheck=False)

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@_compiled
def reduce_rows(table: Any, result: Any, outer: int, inner: int, words: int, existential: bool) -> bool:
    """Reduce the inner rows of `table[outer][inner][words]` into `result[outer][words]`.

    Returns whether the table depends on the inner variable at all.
    """
    depends = False
    for y in range(outer):
        base = y * inner * words
        for k in range(words):
            value = table[base + k]
            first = value
            for z in range(1, inner):
                word = table[base + z * words + k]
                if word != first:
                    depends = True
                if existential:
                    value |= word
                else:
                    value &= word
            result[y * words + k] = value
    return depends


@_compiled
def reduce_rows_within(
    table: Any, within: Any, negated: bool, result: Any, outer: int, inner: int, words: int, existential: bool
) -> None:
    """As `reduce_rows`, of `table and within` for "exists" and `table or within` for "for all".

    With `negated`, of the table's negation; bits not in use are then to be cleared by the caller.
    """
    for y in range(outer):
        for k in range(words):
            value = _ZERO if existential else ~_ZERO
            for z in range(inner):
                place = (y * inner + z) * words + k
                word = ~table[place] if negated else table[place]
                if existential:
                    value |= word & within[place]
                else:
                    value &= word | within[place]
            result[y * words + k] = value


@_compiled
def depth_of(mark: int) -> int:
    """The quantifier depth in a mark."""
    return mark & DEPTH


@_compiled
def count_bits(word: Any) -> int:
    """The number of ones in a word."""
    number = 0
    while word:
        word &= word - _ONE
        number += 1
    return number


@_compiled
def select_operands(
    tables: Any, marks: Any, low: int, high: int, outer: int, inner: int, words: int,
    outer_existential: bool, inner_existential: bool, target: Any, care: Any, noise: int, max_depth: int,
    dependent_only: bool, prune: bool,
) -> Any:  # fmt: skip
    """The entries of [low, high) that can be operands of a body whose quantified value is `target` on `care`.

    At most `noise` bits of the value may be wrong.

    NOTE(monotone): under quantifiers, a conjunction holds of no more than each of its operands does, and a
    disjunction of no less. The body's connective is the one that differs from the inner quantifier: "and" below
    "exists". `prune` switches this off. With `dependent_only`, entries that do not depend on the inner variable are
    left out: with one for an operand, a formula as small has the quantifier further in.
    """
    chosen = np.empty(high - low, dtype=np.int64)
    number = 0
    middle = np.empty(outer * words, dtype=np.uint64)
    final = np.empty(words, dtype=np.uint64)
    for i in range(low, high):
        if depth_of(marks[i]) > max_depth:
            continue
        depends = reduce_rows(tables[i], middle, outer, inner, words, inner_existential)
        if dependent_only and not depends:
            continue
        if prune:
            reduce_rows(middle, final, 1, outer, words, outer_existential)
            left = noise
            for k in range(words):
                wrong = (target[k] & ~final[k]) if inner_existential else (final[k] & ~target[k])
                if wrong & care[k]:
                    left -= count_bits(wrong & care[k])
                    if left < 0:
                        break
            if left < 0:
                continue
        chosen[number] = i
        number += 1
    return chosen[:number].copy()


@_compiled
def accepts(row: Any, target: Any, care: Any, misses: Any, noise: int) -> bool:
    """Whether a row is `target` on `care`, up to `noise` bits, and differs somewhere in each mask of `misses`."""
    left = noise
    for k in range(row.shape[0]):
        wrong = (row[k] ^ target[k]) & care[k]
        if wrong:
            left -= count_bits(wrong)
            if left < 0:
                return False
    for w in range(misses.shape[0]):
        differs = False
        for k in range(row.shape[0]):
            if (row[k] ^ target[k]) & misses[w, k]:
                differs = True
        if not differs:
            return False
    return True


@_compiled
def stream_pairs(
    tables: Any, marks: Any, required: int, tops: Any, lefts: Any, rights: Any, top: int, left_larger: bool,
    same_size: bool, outer: int, inner: int, words: int, outer_existential: bool, inner_existential: bool,
    target: Any, care: Any, misses: Any, noise: int, start_a: int, max_pairs: int, hits: Any, number_of_hits: int,
) -> Any:  # fmt: skip
    """Try Q_outer Q_inner (a op b) for a in `lefts`, b in `rights`, op being the one that differs from Q_inner.

    Nothing is stored: a pair is given up at the first row that shows it cannot reach `target`, up to `noise` bits:
    the rows of the outer quantifier only ever add wrong bits to those that stay wrong. With `required` OPEN, one of
    a pair must be open; with 0 any will do. Hits go into
    `hits[:, 2]` while there is room. Works on about `max_pairs` pairs; returns the number of hits, where to go on
    in `lefts`, and the pairs tried.
    """
    total = np.empty(words, dtype=np.uint64)
    pairs = 0
    for a in range(start_a, lefts.shape[0]):
        if pairs >= max_pairs:
            return number_of_hits, a, pairs
        i = lefts[a]
        left = tables[i]
        left_irreducible = tops[i] != top
        if left_irreducible and left_larger:
            continue
        for b in range(rights.shape[0]):
            j = rights[b]
            if tops[j] == top or (same_size and left_irreducible and j <= i):
                continue
            if (marks[i] | marks[j]) & required != required:
                continue
            pairs += 1
            right = tables[j]
            alive = True
            for k in range(words):
                total[k] = _ZERO if outer_existential else ~_ZERO
            for y in range(outer):
                base = y * inner * words
                for k in range(words):
                    if inner_existential:
                        value = _ZERO
                        for z in range(inner):
                            p = base + z * words + k
                            value |= left[p] & right[p]
                    else:
                        value = ~_ZERO
                        for z in range(inner):
                            p = base + z * words + k
                            value &= left[p] | right[p]
                    if outer_existential:
                        total[k] |= value
                        wrong = value & ~target[k]
                    else:
                        total[k] &= value
                        wrong = target[k] & ~value
                    if noise == 0 and wrong & care[k]:
                        alive = False
                        break
                if noise > 0:
                    spare = noise
                    for k in range(words):
                        wrong = (total[k] & ~target[k]) if outer_existential else (target[k] & ~total[k])
                        spare -= count_bits(wrong & care[k])
                    alive = spare >= 0
                if not alive:
                    break
            if alive and accepts(total, target, care, misses, noise) and number_of_hits < hits.shape[0]:
                hits[number_of_hits, 0] = i
                hits[number_of_hits, 1] = j
                number_of_hits += 1
    return number_of_hits, lefts.shape[0], pairs


@_compiled
def find_accepted(
    tables: Any, marks: Any, required: int, low: int, high: int, target: Any, care: Any, misses: Any, noise: int
) -> Any:
    """The entries of [low, high) whose one-row tables are accepted; with `required` OPEN, only the open ones."""
    found = np.empty(high - low, dtype=np.int64)
    number = 0
    for i in range(low, high):
        if marks[i] & required == required and accepts(tables[i], target, care, misses, noise):
            found[number] = i
            number += 1
    return found[:number].copy()
