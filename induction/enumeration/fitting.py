"""Formulas of one AST size that fit, without storing the largest layers.

A formula of size L is an atom, a negation, a conjunction or disjunction of two smaller formulas of x, or begins with
one quantifier or two over a body that is such a pair. `Fitter.of_size(L)` goes through all of them: stored layers
reach to L - 3, L - 5 and L - 7 for one, two and three variables, and pairs of their entries are tried as they come.

NOTE(duals): a body that begins with `not` needs no case of its own. Q (not f) is not (Q' f), Q' being the other
quantifier, of the same size; so negations are covered by looking for the complement of the target one size earlier.

NOTE(distribution): "exists" over "or" and "for all" over "and" distribute over their operands, so that only the
operands' projections matter, of which there are far fewer than operands.

NOTE(last-layer): from size 15 on, the layer of three variables need reach to L - 8 only. An operand of size L - 7 goes
with one of size 2, an atom U(z). Say it is (a, U(z)) under "exists" and "and". If a is a conjunction, U(z) can be
taken into its smaller part. If it is a disjunction, "exists z ((c or d) and U(z))" is "exists z (c and U(z)) or exists
z (d and U(z))", so that the projections of c and d within U(z) are enough. If it is a negation, of an entry of size
L - 8, the negations are gone through. If it is of two variables only, so is the body, and a smaller layer has it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from induction.enumeration import kernels
from induction.enumeration.classes import AND, OR, SMALLEST, ClassTables, Layer, pairs_at_once
from induction.enumeration.layout import Words
from induction.formula.syntax import And, Atom, Exists, ForAll, Formula, Not, Or

_LAST_LAYER_FROM = 15

LEAST_STORED = 5
"""Up to this size formulas must be stored and looked up: a quantifier over one atom is no pair."""


@dataclass(frozen=True)
class Question:
    """What a formula's row must look like: equal to `target` on the bits `care`, different somewhere in each `misses`.

    `target` and `care` are `uint64[words]`, `misses` `uint64[number, words]`. Of the bits `care`, `noise` may differ.
    """

    target: Words
    care: Words
    misses: Words
    noise: int = 0

    def accepts(self, row: Words) -> bool:
        """Whether a row is as asked for."""
        return bool(kernels.accepts(row, self.target, self.care, self.misses, self.noise))

    def complement(self, full: Words) -> "Question":
        """The question that the negations of the answers answer."""
        return Question(~self.target & full, self.care, self.misses, self.noise)


class _Projections:
    """The distinct projections of one layer's entries, by the size of what was projected."""

    def __init__(self, source: Layer, layer: Layer, *, outer: int, inner: int, words: int, existential: bool) -> None:
        self.layer = layer
        self._source = source
        self._outer, self._inner, self._words, self._existential = outer, inner, words, existential

    def build(self, size: int, *, dependent_only: bool) -> None:
        """Take in the source's entries up to AST size `size`."""
        for missing in range(self.layer.complete + 1, size + 1):
            self.layer.add_projections(
                self._source, *self._source.of_size(missing), outer=self._outer, inner=self._inner,
                words=self._words, existential=self._existential, max_depth=10**6, dependent_only=dependent_only,
            )  # fmt: skip
            self.layer.finish_size()


class _WithinAtom:
    """The distinct projections of entries of three variables within an atom U(z), by the entries' sizes.

    For "exists", of `a and U(z)`; for "for all", of `a or U(z)`. `once` has y left, `twice` has it quantified alike.
    """

    def __init__(self, tables: ClassTables, name: str, existential: bool) -> None:
        size, words = tables.layout.size, tables.layout.words
        self._tables, self._existential = tables, existential
        self.once, self.twice = tables.new_layer(2), tables.new_layer(1)
        of_z = np.empty((size, words), dtype=np.uint64)
        for z in range(size):
            kernels.spread(tables.layout.unary(name), of_z[z], tables.layout.sources[:, z], tables.layout.world_masks)
        self.table: Words = np.tile(of_z.reshape(-1), size)

    def build(self, size: int) -> None:
        """Take in the entries up to AST size `size`."""
        source, layout = self._tables.layer(3), self._tables.layout
        for missing in range(self.once.complete + 1, size + 1):
            self.once.add_projections_within(
                source, self.table, *source.of_size(missing), negated=False, outer=layout.size, inner=layout.size,
                words=layout.words, existential=self._existential,
            )  # fmt: skip
            self.once.finish_size()
            self.twice.add_projections(
                self.once, *self.once.of_size(missing), outer=1, inner=layout.size, words=layout.words,
                existential=self._existential, max_depth=10**6, dependent_only=False,
            )  # fmt: skip
            self.twice.finish_size()


class Fitter:
    """Goes through the formulas of each AST size that answer a question.

    Up to AST size `stored_up_to` every formula is stored and looked up. `prune` switches the selection of operands
    by monotonicity off and `keep_last_layer` what NOTE(last-layer) says, both for tests; `most_hits` bounds the
    answers kept of one kind and size; `left_out` says that it left some out. `pairs_tried` counts the bodies looked at.
    """

    def __init__(
        self,
        tables: ClassTables,
        *,
        prune: bool = True,
        stored_up_to: int = 8,
        keep_last_layer: bool = False,
        most_hits: int = 2_000,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        self._tables = tables
        self._prune = prune
        self._stored_up_to = max(LEAST_STORED, stored_up_to)
        self._keep_last_layer = keep_last_layer
        self._within: dict[tuple[str, bool], _WithinAtom] = {}
        self._most_hits = most_hits
        self._tick = tick
        self.pairs_tried = 0
        self.left_out = False
        size, words = tables.layout.size, tables.layout.words
        two = tables.layer(2)
        # Keyed by the quantifiers, innermost last.
        self._of_two = {
            q: _Projections(two, tables.new_layer(1), outer=1, inner=size, words=words, existential=q)
            for q in (True, False)
        }
        self._of_three_twice = {
            q: _Projections(
                tables.projected(q, 0), tables.new_layer(1), outer=1, inner=size, words=words, existential=q
            )
            for q in (True, False)
        }

    @property
    def bytes(self) -> int:
        """Memory held by the projections."""
        every = (*self._of_two.values(), *self._of_three_twice.values())
        within = sum(one.once.bytes + one.twice.bytes for one in self._within.values())
        return within + sum(projections.layer.bytes for projections in every)

    def of_size(self, size: int, question: Question) -> Iterator[Formula]:
        """Formulas of AST size `size` that answer `question`, those beginning with `not` left out.

        Of formulas with the same tables all the way down one is given; where the tables keep open ones, only formulas
        in which x occurs free. When this ends without any, no formula of
        this size in the fragment fits, beginning with `not` or equal to a smaller one in every world apart.
        """
        tables = self._tables
        one = tables.layer(1)
        if size <= self._stored_up_to:
            tables.build(1, size)
            low, high = one.of_size(size)
            accepted = kernels.find_accepted(
                one.tables, one.marks, tables.required_mark, low, high, question.target, question.care,
                question.misses, question.noise,
            )  # fmt: skip
            for index in accepted.tolist():
                yield tables.formula(1, index)
            return
        tables.build(1, size - 3)
        yield from self._pairs_of_one(size, question)
        if tables.is_open_to(2):
            tables.build(2, size - 5)
            yield from self._pairs_of_two(size, question)
        if tables.is_open_to(3):
            short = size >= _LAST_LAYER_FROM and not self._keep_last_layer
            tables.build(3, size - 8 if short else size - 7)
            yield from self._pairs_of_three(size, question)
            if short:
                yield from self._pairs_with_atoms_of_z(size, question)

    # --- one, two and three variables at the pair ---

    def _pairs_of_one(self, size: int, question: Question) -> Iterator[Formula]:
        formula = self._tables.formula
        for conjunctive in (True, False):
            connective = And if conjunctive else Or
            for a, b in self._stream(self._tables.layer(1), size - 1, 1, 1, True, conjunctive, question, False, 0):
                yield connective(formula(1, a), formula(1, b))

    def _pairs_of_two(self, size: int, question: Question) -> Iterator[Formula]:
        tables, n = self._tables, self._tables.layout.size
        layer, total = tables.layer(2), size - 3
        for existential in (True, False):
            quantifier, connective = (Exists, And) if existential else (ForAll, Or)
            for a, b in self._stream(layer, total, 1, n, True, existential, question, True, 1):
                yield quantifier("y", connective(tables.formula(2, a), tables.formula(2, b)))
            projections = self._of_two[existential]
            projections.build(total - SMALLEST, dependent_only=True)
            distributed = Or if existential else And
            for a, b in self._stream(projections.layer, total, 1, 1, True, not existential, question, False, None):
                operands = (tables.formula(2, int(projections.layer.lefts[i])) for i in (a, b))
                yield quantifier("y", distributed(*operands))

    def _pairs_of_three(self, size: int, question: Question) -> Iterator[Formula]:
        tables, n = self._tables, self._tables.layout.size
        layer, total = tables.layer(3), size - 5
        for inner in (True, False):
            inner_quantifier, connective = (Exists, And) if inner else (ForAll, Or)
            for outer in (True, False):
                outer_quantifier = Exists if outer else ForAll
                for a, b in self._stream(layer, total, n, n, outer, inner, question, True, 2):
                    body = connective(tables.formula(3, a), tables.formula(3, b))
                    yield outer_quantifier("y", inner_quantifier("z", body))
            twice = self._of_three_twice[inner]
            reach = min(total - SMALLEST, layer.complete)
            once = tables.projected(inner, reach)
            twice.build(reach, dependent_only=False)
            distributed = Or if inner else And
            # The other quantifier outside: "for all y" of a disjunction of "exists z", pair by pair.
            for a, b in self._stream(once, total, 1, n, True, not inner, question, False, None):
                operands = (tables.formula(3, int(once.lefts[i])) for i in (a, b))
                outer_quantifier = ForAll if inner else Exists
                yield outer_quantifier("y", inner_quantifier("z", distributed(*operands)))
            for a, b in self._stream(twice.layer, total, 1, 1, True, not inner, question, False, None):
                origins = (int(once.lefts[int(twice.layer.lefts[i])]) for i in (a, b))
                operands = (tables.formula(3, origin) for origin in origins)
                yield inner_quantifier("y", inner_quantifier("z", distributed(*operands)))

    def _pairs_with_atoms_of_z(self, size: int, question: Question) -> Iterator[Formula]:
        """The bodies `a op U(z)` with a of size L - 7, by what NOTE(last-layer) says."""
        tables, n, words = self._tables, self._tables.layout.size, self._tables.layout.words
        layer = tables.layer(3)
        for name in tables.layout.signature.unary:
            for inner in (True, False):
                inner_quantifier, connective, distributed = (Exists, And, Or) if inner else (ForAll, Or, And)
                atom = Atom(name, ("z",))
                if (name, inner) not in self._within:
                    self._within[name, inner] = _WithinAtom(tables, name, inner)
                within = self._within[name, inner]
                self._tick()
                within.build(size - 8 - SMALLEST)
                # "For all y" of a disjunction of "exists z", or the other way round; and both quantifiers alike.
                for a, b in self._stream(within.once, size - 8, 1, n, True, not inner, question, False, None):
                    operands = (tables.formula(3, int(within.once.lefts[i])) for i in (a, b))
                    body = connective(distributed(*operands), atom)
                    yield (ForAll if inner else Exists)("y", inner_quantifier("z", body))
                for a, b in self._stream(within.twice, size - 8, 1, 1, True, not inner, question, False, None):
                    origins = (int(within.once.lefts[int(within.twice.lefts[i])]) for i in (a, b))
                    body = connective(distributed(*(tables.formula(3, origin) for origin in origins)), atom)
                    yield inner_quantifier("y", inner_quantifier("z", body))
                negations = tables.new_layer(2)
                negations.add_projections_within(
                    layer, within.table, *layer.of_size(size - 8), negated=True, outer=n, inner=n, words=words,
                    existential=inner,
                )  # fmt: skip
                for outer in (True, False):
                    final = tables.new_layer(1)
                    final.add_projections(
                        negations, 0, negations.count, outer=1, inner=n, words=words, existential=outer,
                        max_depth=10**6, dependent_only=False,
                    )  # fmt: skip
                    accepted = kernels.find_accepted(
                        final.tables, final.marks, tables.required_mark, 0, final.count, question.target,
                        question.care, question.misses, question.noise,
                    )  # fmt: skip
                    for index in accepted.tolist():
                        origin = int(negations.lefts[int(final.lefts[index])])
                        body = connective(Not(tables.formula(3, origin)), atom)
                        yield (Exists if outer else ForAll)("y", inner_quantifier("z", body))

    def _stream(
        self,
        layer: Layer,
        total: int,
        outer: int,
        inner: int,
        outer_existential: bool,
        inner_existential: bool,
        question: Question,
        dependent_only: bool,
        quantifiers_above: int | None,
    ) -> list[tuple[int, int]]:
        """The pairs of entries of `layer`, of sizes adding up to `total`, whose quantified body answers `question`.

        The connective is the one that differs from the inner quantifier. `quantifiers_above` bounds the depth of the
        operands; None for projections, whose depth is in order already.
        """
        words = self._tables.layout.words
        max_depth = 10**6 if quantifiers_above is None else self._tables.fragment.depth - quantifiers_above
        top = AND if inner_existential else OR
        reducible = quantifiers_above is not None and self._tables.prune_reducible
        dependent_only = dependent_only and self._tables.prune_independent
        selected = {}
        for size in range(SMALLEST, total - SMALLEST + 1):
            self._tick()
            selected[size] = layer.operands(
                size, outer, inner, words, outer_existential, inner_existential, question.target, question.care,
                question.noise, max_depth, dependent_only=dependent_only, prune=self._prune,
            )  # fmt: skip
        hits = np.empty((self._most_hits, 2), dtype=np.int64)
        found = 0
        for left_size in selected:
            lefts, rights = selected[left_size], selected[total - left_size]
            at = 0
            while at < len(lefts) and len(rights):
                self._tick()
                found, at, tried = kernels.stream_pairs(
                    layer.tables, layer.marks, self._tables.required_mark, layer.tops, lefts, rights,
                    top if reducible else -1,
                    left_size > total - left_size, 2 * left_size == total,
                    outer, inner, words, outer_existential, inner_existential,
                    question.target, question.care, question.misses, question.noise,
                    at, pairs_at_once(outer * inner * words), hits, found,
                )  # fmt: skip
                self.pairs_tried += tried
        self.left_out |= found == self._most_hits
        return [(int(a), int(b)) for a, b in hits[:found]]


def fitting_by_size(
    fitter: Fitter, question: Question, full: Words, sizes: Sequence[int]
) -> Iterator[tuple[int, list[Formula]]]:
    """For each of the consecutive `sizes`, from the smallest there is, the formulas of that size that fit.

    Those beginning with `not` are included. An empty list means that none of that size in the fragment fits.
    """
    negated = question.complement(full)
    before: list[Formula] = []
    for size in sizes:
        fitting: list[Formula] = [Not(formula) for formula in before]
        fitting += fitter.of_size(size, question)
        yield size, fitting
        before = list(fitter.of_size(size, negated))
