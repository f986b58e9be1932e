"""An answer where no single prenex formula was found: parts that each explain some of the objects, joined.

A part is a prenex formula that holds of no object without the label. Parts are added until every labelled object is
covered, without quantifiers where that is possible; then parts that are not needed go. The same is tried with the
labels exchanged, and the smaller answer is taken.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from induction.baselines.prenex_smt.counterexamples import Demand, Demands
from induction.baselines.prenex_smt.forms import Form
from induction.baselines.prenex_smt.synthesis import Shape, Synthesis, Tables

from induction.enumeration.layout import Fragment
from induction.enumeration.types import object_types
from induction.evaluation import bitset
from induction.formula.syntax import Formula, Not, disjunction_of
from induction.search import Attempt
from induction.worlds.instance import Instance, Regime
from induction.worlds.world import BoolArray, World

_LIMIT = 60_000
_LARGEST_PART = 40
_MOST_PARTS = 60
_MOST_AT_ONCE = 6  # labelled objects that one part is to hold of; more are seldom to be had
_SHOWN_AT_ONCE = 3
_PREFIXES = ((), (True,), (False,), (True, True), (True, False), (False, True), (False, False))
_FORMS = ((1, False), (1, True), (2, False), (2, True))  # terms, conjunctive


class _Partial(Demands):
    """Demands on labelled objects in `must`, which are to be held of, and on those without label, which are not."""

    def __init__(self, worlds: Sequence[World], care: Sequence[BoolArray]) -> None:
        super().__init__(worlds)
        self.never = [mask & ~world.target for mask, world in zip(care, worlds, strict=True)]
        self.must: list[Demand] = []

    def first(self) -> list[Demand]:
        return list(self.must)

    def failures(self, formula: Formula) -> list[Demand]:
        (extensions,) = bitset.extensions([formula], self.worlds)
        failed = [one for one in self.must if one.element is not None and not extensions[one.world][one.element]]
        for w, (extension, never) in enumerate(zip(extensions, self.never, strict=True)):
            wrong = extension & never
            if wrong.any():
                failed.append(Demand(w, int(wrong.argmax())))
            if len(failed) >= _SHOWN_AT_ONCE:
                break
        return failed


def offer_cover(attempt: Attempt, quantifiers: int) -> None:
    """Offer formulas of any size that explain the instance, if any are found.

    In EC they do so with all unknown atoms false; in CI one object of each NO world is chosen to be mislabelled.
    """
    worlds, care = _labelled(attempt.instance)
    forms = [Form(prefix, *rest) for prefix in _PREFIXES if len(prefix) <= quantifiers for rest in _FORMS]
    for exchanged in (False, True):
        of = [replace(world, target=~world.target) for world in worlds] if exchanged else worlds
        parts = _parts(attempt, of, care, forms)
        if parts is not None:
            attempt.offer(Not(disjunction_of(parts)) if exchanged else disjunction_of(parts), "patches")


def _labelled(instance: Instance) -> tuple[list[World], list[BoolArray]]:
    """Worlds without unknown atoms, and which of their objects count."""
    worlds = [world.completed({}) for world in instance.train_worlds]
    care = [np.ones(world.size, dtype=np.bool_) for world in worlds]
    if instance.regime is not Regime.CI:
        return worlds, care
    types = object_types((*worlds, *instance.no_worlds), Fragment(2, 2))
    forced: dict[int, bool] = {}
    for world, of_world in zip(worlds, types, strict=False):
        forced.update(zip(of_world.tolist(), world.target.tolist(), strict=True))
    for world, of_world in zip(instance.no_worlds, types[len(worlds) :], strict=True):
        # An object that no object with the same label in a YES world looks like can have the other label.
        kinds, labels = of_world.tolist(), world.target.tolist()
        free = [e for e, kind in enumerate(kinds) if forced.get(kind, not labels[e]) != labels[e]]
        chosen = min(free or range(world.size), key=lambda e: (kinds[e] not in forced, labels[e], e))
        forced[kinds[chosen]] = not labels[chosen]
        worlds.append(replace(world, target=~world.target))
        care.append(np.arange(world.size) == chosen)
    return worlds, care


def _parts(
    attempt: Attempt, worlds: Sequence[World], care: Sequence[BoolArray], forms: Sequence[Form]
) -> list[Formula] | None:
    """Formulas that between them hold of the labelled objects that count and of none of the others that do."""
    tables = Tables(worlds, attempt.instance.signature, attempt.options.equality)
    partial = _Partial(worlds, care)
    left = [Demand(w, e) for w, world in enumerate(worlds) for e in np.flatnonzero(world.target & care[w]).tolist()]
    everything = list(left)
    if not everything:
        return None
    parts: list[Formula] = []
    at_once = min(_MOST_AT_ONCE, len(left))
    while left:
        if len(parts) == _MOST_PARTS:
            return None
        part = None
        while part is None:
            partial.must = left[:at_once]
            # What earlier parts were to hold of is no concern of this one.
            partial.seen = [one for one in partial.seen if one not in everything]
            part = _part(attempt, partial, tables, forms)
            if part is None and at_once == 1:
                return None
            at_once = max(1, at_once // 2) if part is None else at_once
        parts.append(part)
        held = _held(part, worlds)
        left = [one for one in left if one not in held]
    for part in list(parts):
        others = [_held(other, worlds) for other in parts if other is not part]
        if others and set().union(*others).issuperset(everything):
            parts.remove(part)
    return parts


def _part(attempt: Attempt, partial: _Partial, tables: Tables, forms: Sequence[Form]) -> Formula | None:
    found: list[Formula] = []
    for form in forms:
        attempt.tick()
        synthesis = Synthesis(Shape((form,)), tables, partial, attempt.tick)
        # One is enough: with it no smaller one is asked for.
        synthesis.advance(lambda: 0 if found else _LARGEST_PART + 1, _LIMIT, lambda: attempt.remaining_s, found.append)
        if found:
            return found[0]
    return None


def _held(formula: Formula, worlds: Sequence[World]) -> set[Demand]:
    (extensions,) = bitset.extensions([formula], worlds)
    return {Demand(w, e) for w, extension in enumerate(extensions) for e in np.flatnonzero(extension).tolist()}
