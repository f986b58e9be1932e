"""All formulas up to an AST size, one smallest representative for each table over some worlds.

Three layers hold tables of one, two and three variables. A layer is complete up to a size: whatever formula of the
fragment has that size or less, its table is in the layer (or is constant), at the least size and, for larger sizes,
again with less quantifier depth.

NOTE(closure): only the innermost variable is ever quantified (z of three, y of two). That loses nothing, because
each layer is closed under renaming its variables: the layer of three variables is built from the one of two at all
three pairs of variables, the one of two from the one of one at both variables, and atoms come in both directions.
A quantified formula of two variables binds the third, whichever it is: that is rebinding.

NOTE(unstored): the layer of three variables is by far the largest, and most of it serves only to be quantified. From
size 12 on, the layer of two takes what quantified entries of three give from pairs of smaller ones, as they are
combined: "exists z (a and b)" and "for all z (a or b)" pair by pair; "exists z (a or b)" and "for all z (a and b)" from
the operands' own projections, over which they distribute. A negation needs nothing: "exists z not a" is "not for all
z a". So the layer of three need reach to s - 5 only for the layer of two to reach to s.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from induction.enumeration import kernels
from induction.enumeration.layout import Fragment, Indices, Layout, Words
from induction.formula.syntax import And, Atom, Equal, Exists, ForAll, Formula, Not, Or, Variable

ATOM, NOT, AND, OR, EXISTS, FORALL = range(6)
EMBED = 6
PAIR = 16
"""Codes of the topmost operation of an entry; EMBED + kind for the kinds of `kernels.add_embeddings`.

PAIR + 0 to 3 stand for "exists" of a conjunction, "for all" of a disjunction, "exists" of a disjunction and "for all"
of a conjunction, the operands being entries of one variable more.
"""

SMALLEST = 2
"""AST size of the smallest formula, a unary atom."""

_UNSTORED_FROM = 12
_WORDS_AT_ONCE = 40_000_000  # combined between two looks at the clock
_MOST_GROWTH_BYTES = 32 * 2**20
_FIRST_BYTES = 2**20
_NO_MASK = np.uint64(2**64 - 1)
_VARIABLES: tuple[Variable, ...] = ("x", "y", "z")


def pairs_at_once(width: int) -> int:
    """How many pairs of tables of `width` words to combine between two looks at the clock."""
    return max(1_000, _WORDS_AT_ONCE // (width + 20))


class Layer:
    """Distinct tables of one arity, in the order of their sizes, each with how it was first made.

    `tables` is `uint64[capacity, width]`; `tops`, `lefts`, `rights` and `marks` go with it (`kernels` NOTE(marks)).
    Entry i is valid for i < `count`; entries of size s are `start(s)` to `start(s + 1)`.
    """

    def __init__(
        self,
        width: int,
        full: Words,
        hash_mask: np.uint64,
        tick: Callable[[], None],
        reserve: Callable[[int], None],
    ) -> None:
        self.full = full
        self.count = 0
        capacity = max(2, min(64, _FIRST_BYTES // (8 * width)))
        self.tables = np.zeros((capacity, width), dtype=np.uint64)
        self.marks = np.zeros(capacity, dtype=np.int64)
        self.tops = np.zeros(capacity, dtype=np.int64)
        self.lefts = np.zeros(capacity, dtype=np.int64)
        self.rights = np.zeros(capacity, dtype=np.int64)
        self.slots = np.full(256, -1, dtype=np.int64)
        self.complete = SMALLEST - 1
        self._starts = [0] * (SMALLEST + 1)
        self._hash_mask = hash_mask
        self._tick, self._reserve = tick, reserve

    def start(self, size: int) -> int:
        """The first entry of AST size `size` or more."""
        return self._starts[max(0, min(size, self.complete + 1))]

    def of_size(self, size: int) -> tuple[int, int]:
        """The range of entries of AST size `size`."""
        return self.start(size), self.start(size + 1)

    def count_of_size(self, size: int) -> int:
        """The number of entries of AST size `size`."""
        low, high = self.of_size(size)
        return high - low

    def size_of(self, index: int) -> int:
        """The AST size of an entry."""
        return int(np.searchsorted(np.array(self._starts), index, side="right")) - 1

    @property
    def bytes(self) -> int:
        """Memory held."""
        arrays = (self.tables, self.marks, self.tops, self.lefts, self.rights, self.slots)
        return sum(array.nbytes for array in arrays)

    def finish_size(self) -> None:
        """All formulas of the next size have been offered."""
        self.complete += 1
        self._starts.append(self.count)

    def grow(self) -> None:
        """Make room for half as many entries again, or for as many as go into 32 MB if that is less.

        Raises:
            OutOfMemoryError: there is no memory left for them.
        """
        width = self.tables.shape[1]
        more = max(1, min(len(self.tables) // 2, _MOST_GROWTH_BYTES // (8 * width)))
        capacity = len(self.tables) + more
        rebuilt = 2 * capacity > len(self.slots)
        self._reserve(more * 8 * (width + 4) + (2 * self.slots.nbytes if rebuilt else 0))
        for array in (self.tables, self.marks, self.tops, self.lefts, self.rights):
            # In place, so that the largest arrays never exist twice; nobody else holds on to them.
            array.resize((capacity, *array.shape[1:]), refcheck=False)
        if rebuilt:
            self.slots = np.full(2 * len(self.slots), -1, dtype=np.int64)
            kernels.rebuild_slots(self.tables, self.marks, self.slots, self.count, self._hash_mask)

    def add(self, table: Words, top: int, left: int, mark: int = 0) -> None:
        """Offer one table, by default of depth 0 and not open."""
        if self.count == len(self.tables):
            self.grow()
        self.tables[self.count] = table.reshape(-1)
        if kernels.admit(self.tables, self.marks, self.slots, self.full, self.count, mark, self._hash_mask):
            self.tops[self.count], self.lefts[self.count], self.rights[self.count] = top, left, -1
            self.count += 1

    def arrays(self) -> tuple[Any, ...]:
        """What the kernels take first."""
        return (self.tables, self.marks, self.tops, self.lefts, self.rights, self.slots, self.full, self.count)

    def _offer(self, offered: Callable[[int, int, int], tuple[int, int]], low: int, high: int, words: int) -> None:
        """Go through [low, high), entries of so many words each, making room as it is needed.

        `offered(first, last, at)` goes on at `at` of [first, last) and returns the new count and where it stopped.
        """
        step = max(1, _WORDS_AT_ONCE // (words + 20))
        for first in range(low, high, step):
            self._tick()
            at, last = first, min(first + step, high)
            while at < last:
                self.count, at = offered(first, last, at)
                if at < last:
                    self.grow()

    def add_negations(self, low: int, high: int) -> None:
        """Offer the negation of the entries in [low, high)."""

        def offered(first: int, last: int, at: int) -> tuple[int, int]:
            count, at = kernels.add_negations(*self.arrays(), first, last, at, NOT, self._hash_mask)
            return count, at

        self._offer(offered, low, high, self.tables.shape[1])

    def operands(
        self, size: int, outer: int, inner: int, words: int, outer_existential: bool, inner_existential: bool,
        target: Words, care: Words, noise: int, max_depth: int, *, dependent_only: bool, prune: bool,
    ) -> Indices:  # fmt: skip
        """The entries of AST size `size` that `kernels.select_operands` leaves."""
        low, high = self.of_size(size)
        step = max(1, _WORDS_AT_ONCE // (self.tables.shape[1] + 20))
        parts = [np.empty(0, dtype=np.int64)]
        for first in range(low, high, step):
            self._tick()
            part = kernels.select_operands(
                self.tables, self.marks, first, min(first + step, high), outer, inner, words, outer_existential,
                inner_existential, target, care, noise, max_depth, dependent_only, prune,
            )  # fmt: skip
            parts.append(part)
        return np.concatenate(parts)

    def add_pairs(
        self, size: int, operation: int, max_depth: int, tick: Callable[[], None], *, prune_reducible: bool
    ) -> None:
        """Offer a op b for all entries whose sizes add up to `size` - 1."""
        top = AND if operation == kernels.AND else OR
        for left_size in range(SMALLEST, size - SMALLEST):
            low_a, high_a = self.of_size(left_size)
            low_b, high_b = self.of_size(size - 1 - left_size)
            if low_a == high_a or low_b == high_b:
                continue
            step = max(1, pairs_at_once(self.tables.shape[1]) // (high_b - low_b))
            for first in range(low_a, high_a, step):
                tick()
                last = min(first + step, high_a)
                at_a, at_b = first, low_b
                while at_a < last:
                    # NOTE(order): of two irreducible operands the smaller one goes first.
                    self.count, at_a, at_b = kernels.add_pairs(
                        *self.arrays(), first, last, low_b, high_b, at_a, at_b,
                        operation, top, top if prune_reducible else -1, max_depth,
                        left_size > size - 1 - left_size, left_size == size - 1 - left_size, self._hash_mask,
                    )  # fmt: skip
                    if at_a < last:
                        self.grow()

    def add_projections(
        self, source: "Layer", low: int, high: int, *, outer: int, inner: int, words: int,
        existential: bool, max_depth: int, dependent_only: bool = True,
    ) -> None:  # fmt: skip
        """Offer "exists" or "for all" of the innermost variable of the source's entries in [low, high)."""

        def offered(first: int, last: int, at: int) -> tuple[int, int]:
            count, at = kernels.add_projections(
                *self.arrays(), source.tables, source.marks, first, last, at, outer, inner, words,
                existential, EXISTS if existential else FORALL, max_depth, dependent_only, self._hash_mask,
            )  # fmt: skip
            return count, at

        self._offer(offered, low, high, outer * inner * words)

    def add_projections_within(
        self, source: "Layer", within: Words, low: int, high: int, *, negated: bool, outer: int, inner: int,
        words: int, existential: bool,
    ) -> None:  # fmt: skip
        """Offer "exists" of the source's entries and `within`, or "for all" of the entries or `within`."""

        def offered(first: int, last: int, at: int) -> tuple[int, int]:
            count, at = kernels.add_projections_within(
                *self.arrays(), source.tables, source.marks, within, negated, first, last, at, outer, inner, words,
                existential, EXISTS if existential else FORALL, self._hash_mask,
            )  # fmt: skip
            return count, at

        self._offer(offered, low, high, outer * inner * words)

    def add_embeddings(self, source: "Layer", low: int, high: int, kind: int, layout: Layout, max_depth: int) -> None:
        """Offer the source's entries in [low, high) with one variable more; kinds as for the kernel."""

        def offered(first: int, last: int, at: int) -> tuple[int, int]:
            count, at = kernels.add_embeddings(
                *self.arrays(), source.tables, source.marks, first, last, at, layout.size, layout.words,
                layout.sources, layout.world_masks, kind, EMBED + kind, max_depth, self._hash_mask,
            )  # fmt: skip
            return count, at

        # A spread looks at every world for each pair of objects.
        self._offer(offered, low, high, self.tables.shape[1] * (len(layout.worlds) if kind in (1, 4) else 1))


@dataclass(frozen=True)
class Entry:
    """One class: a formula of `arity` free variables at most, its AST size and quantifier depth.

    `is_open` says, where that is kept, whether x occurs free in it.
    """

    arity: int
    index: int
    ast_nodes: int
    depth: int
    is_open: bool


class ClassTables:
    """The layers over one layout and fragment, grown on demand by `build`.

    With `keep_open`, of the formulas with one table the smallest and the smallest in which x occurs free are kept,
    constants among the latter: where all labels of each world are alike, a sentence can have the table looked for, but
    is no definition.
    `tick` is called every few million steps and `reserve` before so many bytes are allocated; either may raise to stop,
    and the layers are then not to be used further.
    The rest is for tests: `hash_mask` forces collisions, `unstored_from` moves where NOTE(unstored) begins,
    `prune_reducible` switches `kernels` NOTE(irreducible) off, and `prune_independent` the passing over of what does
    not depend on the variable to be quantified.
    """

    def __init__(
        self,
        layout: Layout,
        fragment: Fragment,
        *,
        keep_open: bool = False,
        tick: Callable[[], None] = lambda: None,
        reserve: Callable[[int], None] = lambda _: None,
        hash_mask: np.uint64 = _NO_MASK,
        unstored_from: int = _UNSTORED_FROM,
        prune_reducible: bool = True,
        prune_independent: bool = True,
    ) -> None:
        self._unstored_from = unstored_from
        self.prune_reducible = prune_reducible
        self.prune_independent = prune_independent
        self.layout = layout
        self.fragment = fragment
        self.required_mark = kernels.OPEN if keep_open else 0
        """What the mark of a definition must hold."""
        self._tick = tick
        self._reserve = reserve
        self._hash_mask = hash_mask
        size, words = layout.size, layout.words
        self.widths = (words, size * words, size * size * words)
        self.layers = tuple(self.new_layer(arity) for arity in (1, 2, 3))
        self._projected = {existential: self.new_layer(2) for existential in (True, False)}
        signature = layout.signature
        of_one: list[Formula] = [Atom(name, ("x",)) for name in signature.unary]
        of_one += [Atom(name, ("x", "x")) for name in signature.binary]
        # Where constants count, x = x is the smallest of them.
        of_one += [Equal("x", "x")] if fragment.equality and keep_open else []
        of_two: list[Formula] = [Atom(name, pair) for name in signature.binary for pair in (("x", "y"), ("y", "x"))]
        of_two += [Equal("x", "y")] if fragment.equality else []
        self._atoms = (of_one, of_two)

    def new_layer(self, arity: int) -> Layer:
        """An empty layer for tables of `arity` variables."""
        width = self.widths[arity - 1]
        full = np.tile(self.layout.full, width // self.layout.words)
        return Layer(width, full, self._hash_mask, self._tick, self._reserve)

    def layer(self, arity: int) -> Layer:
        """The tables of `arity` variables."""
        return self.layers[arity - 1]

    @property
    def bytes(self) -> int:
        """Memory held by the layers."""
        return sum(layer.bytes for layer in (*self.layers, *self._projected.values()))

    def is_open_to(self, arity: int) -> bool:
        """Whether the layer of so many free variables holds anything.

        With one variable the layer of two still serves to quantify it: `exists x f(x)` is made as `exists y f(y)`.
        """
        return arity <= max(2, self.fragment.variables) and self.fragment.depth_allowed(arity) >= 0

    def build(self, arity: int, size: int) -> None:
        """Complete the layer of `arity` variables up to AST size `size`, and whatever that takes of the others."""
        for missing in range(self.layer(arity).complete + 1, size + 1):
            self._build_size(arity, missing)

    def entries(self, arity: int, size: int) -> Iterator[Entry]:
        """The classes of exactly this arity and AST size; the layer must be complete up to it."""
        layer = self.layer(arity)
        for index in range(*layer.of_size(size)):
            mark = int(layer.marks[index])
            yield Entry(arity, index, size, kernels.depth_of(mark), bool(mark & kernels.OPEN))

    def _build_size(self, arity: int, size: int) -> None:
        layer, layout = self.layer(arity), self.layout
        max_depth = self.fragment.depth_allowed(arity)
        if self.is_open_to(arity):
            unstored = arity == 2 and size >= self._unstored_from
            if arity < 3 and self.is_open_to(arity + 1):
                self.build(arity + 1, size - 5 if unstored else size - 2)
            if arity > 1:
                self.build(arity - 1, size)
                for kind in ((1,) if self.fragment.variables == 1 else (0, 1)) if arity == 2 else (2, 3, 4):
                    layer.add_embeddings(
                        self.layer(arity - 1), *self.layer(arity - 1).of_size(size), kind, layout, max_depth
                    )
            if arity > self.fragment.variables:
                layer.finish_size()
                return
            self._add_atoms(arity, size)
            layer.add_negations(*layer.of_size(size - 1))
            for operation in (kernels.AND, kernels.OR):
                layer.add_pairs(size, operation, max_depth, self._tick, prune_reducible=self.prune_reducible)
            if unstored and self.is_open_to(3):
                self._add_unstored(size, max_depth)
            elif arity < 3 and self.is_open_to(arity + 1):
                inner = self.layer(arity + 1)
                for existential in (True, False):
                    layer.add_projections(
                        inner, *inner.of_size(size - 2), outer=layout.size ** (arity - 1), inner=layout.size,
                        words=layout.words, existential=existential, max_depth=max_depth,
                        dependent_only=self.prune_independent,
                    )  # fmt: skip
            self._tick()
        layer.finish_size()

    def projected(self, existential: bool, size: int) -> Layer:
        """The distinct "exists z" or "for all z" of entries of three variables, complete up to the size of those.

        `lefts` of its entries are the entries projected. Only entries that depend on z are.
        """
        layer, source, layout = self._projected[existential], self.layer(3), self.layout
        for missing in range(layer.complete + 1, min(size, source.complete) + 1):
            layer.add_projections(
                source, *source.of_size(missing), outer=layout.size, inner=layout.size, words=layout.words,
                existential=existential, max_depth=10**6, dependent_only=self.prune_independent,
            )  # fmt: skip
            layer.finish_size()
        return layer

    def dependent(self, size: int) -> Indices:
        """The entries of three variables of a size that depend on z."""
        n, full = self.layout.size, self.layout.full
        return self.layer(3).operands(
            size, n, n, self.layout.words, True, True, full, full, 0, 10**6,
            dependent_only=self.prune_independent, prune=False,
        )  # fmt: skip

    def _add_unstored(self, size: int, max_depth: int) -> None:
        """What quantified entries of three variables of AST size `size` - 2 give; see NOTE(unstored)."""
        layer, source, n, words = self.layer(2), self.layer(3), self.layout.size, self.layout.words
        total = size - 3
        lists = {part: self.dependent(part) for part in range(SMALLEST, total - SMALLEST + 1)}
        for existential, source_top, code in ((True, AND, PAIR), (False, OR, PAIR + 1)):
            for left_size, firsts in lists.items():
                seconds = lists[total - left_size]
                step = max(1, pairs_at_once(source.tables.shape[1]) // max(1, len(seconds)))
                for first in range(0, len(firsts) if len(seconds) else 0, step):
                    self._tick()
                    stop, at_a, at_b = min(first + step, len(firsts)), first, 0
                    while at_a < stop:
                        layer.count, at_a, at_b = kernels.add_pair_projections(
                            *layer.arrays(), source.tables, source.marks, source.tops, firsts, seconds, at_a, at_b,
                            stop, n, n, words, existential, source_top if self.prune_reducible else -1, code, max_depth,
                            left_size > total - left_size, 2 * left_size == total, self._hash_mask,
                        )  # fmt: skip
                        if at_a < stop:
                            layer.grow()
        for existential, operation, code in ((True, kernels.OR, PAIR + 2), (False, kernels.AND, PAIR + 3)):
            projected = self.projected(existential, total - SMALLEST)
            for left_size in range(SMALLEST, total // 2 + 1):
                low_a, high_a = projected.of_size(left_size)
                low_b, high_b = projected.of_size(total - left_size)
                at_a, at_b = low_a, low_b
                while at_a < high_a and low_b < high_b:
                    self._tick()
                    layer.count, at_a, at_b = kernels.add_joined(
                        *layer.arrays(), projected.tables, projected.marks, projected.lefts, low_a, high_a, low_b,
                        high_b, at_a, at_b, operation, code, max_depth, 2 * left_size == total, self._hash_mask,
                    )  # fmt: skip
                    if at_a < high_a:
                        layer.grow()

    def _add_atoms(self, arity: int, size: int) -> None:
        if arity > 2:
            return
        for number, atom in enumerate(self._atoms[arity - 1]):
            if atom.ast_nodes != size:
                continue
            match atom:
                case Equal("x", "x"):
                    table = self.layout.full
                case Equal():
                    table = self.layout.equality()
                case Atom(name, ("x",)):
                    table = self.layout.unary(name)
                case Atom(name, ("x", "x")):
                    table = self.layout.diagonal(name)
                case Atom(name, arguments):
                    table = self.layout.binary(name, swapped=arguments == ("y", "x"))
                case _:
                    raise AssertionError(atom)
            self.layer(arity).add(table, ATOM, number, self.required_mark)  # x occurs in each of them

    def formula(self, arity: int, index: int, variables: tuple[Variable, ...] = _VARIABLES) -> Formula:
        """The formula of an entry, with `variables` for its free ones and any of x, y, z bound."""
        layer = self.layer(arity)
        top, left, right = int(layer.tops[index]), int(layer.lefts[index]), int(layer.rights[index])
        variables = variables[:arity]
        if top == ATOM:
            renamed = dict(zip(_VARIABLES, variables, strict=False))
            match self._atoms[arity - 1][left]:
                case Atom(name, arguments):
                    return Atom(name, tuple(renamed[v] for v in arguments))
                case Equal(left_of, right_of):
                    return Equal(renamed[left_of], renamed[right_of])
                case other:
                    raise AssertionError(other)
        if top == NOT:
            return Not(self.formula(arity, left, variables))
        if top in (AND, OR):
            operands = (self.formula(arity, left, variables), self.formula(arity, right, variables))
            return And(*operands) if top == AND else Or(*operands)
        if top in (EXISTS, FORALL):
            bound = next(v for v in _VARIABLES if v not in variables)
            body = self.formula(arity + 1, left, (*variables, bound))
            return Exists(bound, body) if top == EXISTS else ForAll(bound, body)
        if top >= PAIR:
            bound = next(v for v in _VARIABLES if v not in variables)
            first, second = (self.formula(3, part, (*variables, bound)) for part in (left, right))
            body = And(first, second) if top in (PAIR, PAIR + 3) else Or(first, second)
            return Exists(bound, body) if top in (PAIR, PAIR + 2) else ForAll(bound, body)
        kept = {0: (0,), 1: (1,), 2: (0, 1), 3: (0, 2), 4: (1, 2)}[top - EMBED]
        return self.formula(arity - 1, left, tuple(variables[k] for k in kept))
