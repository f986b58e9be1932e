"""Rivals of a gold: formulas that worlds are to tell from it."""

from collections.abc import Sequence

import numpy as np

from induction.evaluation import bitset
from induction.formula.syntax import And, Formula, Not, Or
from induction.worlds.world import BoolArray, World


class CompiledFormulas:
    """Formulas made ready to be evaluated on any number of batches; what `more` has made ready is shared."""

    def __init__(self, formulas: Sequence[Formula], more: "CompiledFormulas | None" = None) -> None:
        before: tuple[bitset.Evaluator, ...] = () if more is None else more._evaluators
        known: tuple[Formula, ...] = () if more is None else more.formulas
        self.formulas: tuple[Formula, ...] = (*known, *formulas)
        self._evaluators: tuple[bitset.Evaluator, ...] = (*before, bitset.Evaluator(formulas))

    def extensions(self, batch: bitset.Batch) -> BoolArray:
        """`bool[formulas, worlds, objects]`, padding included."""
        return np.concatenate([evaluator.tables(batch) for evaluator in self._evaluators])


class Rivals:
    """What the gold is to be told from: formulas by themselves, and the gold joined with each, which splits off a case.

    A rival has a number: first come the formulas, then the gold and each, or each, and not each, or not each.
    `alive` (`bool[rivals]`) marks those that fit all worlds so far.
    """

    def __init__(self, gold: Formula, formulas: CompiledFormulas) -> None:
        self._gold = gold
        self._ready = formulas
        self.formula_count = len(formulas.formulas)
        self.alive = np.ones(5 * self.formula_count, dtype=np.bool_)

    def formula(self, number: int) -> Formula:
        """Rival `number`."""
        joined, place = divmod(number, self.formula_count)
        formula = self._ready.formulas[place]
        if joined == 0:
            return formula
        operand = formula if joined <= 2 else Not(formula)
        return And(self._gold, operand) if joined % 2 else Or(self._gold, operand)

    def extensions(self, batch: bitset.Batch, targets: BoolArray) -> BoolArray:
        """`bool[rivals, worlds, objects]`; the gold's is `targets`, `bool[worlds, objects]`. Padding is included."""
        own = self._ready.extensions(batch)
        return np.concatenate([own, targets & own, targets | own, targets & ~own, targets | ~own])

    def wrong(self, worlds: Sequence[World]) -> BoolArray:
        """`bool[rivals, worlds]`: whether a rival is wrong about some object of a world labelled by the gold."""
        batch, targets = stacked(worlds)
        own = self._ready.extensions(batch)
        holds, fails = (targets & own).any(axis=2), (targets & ~own).any(axis=2)
        extra, missing = (~targets & own).any(axis=2), (~targets & ~own).any(axis=2)
        return np.concatenate([fails | extra, fails, extra, holds, missing])

    def fitting_formulas(self) -> list[Formula]:
        """The formulas alive by themselves; what the gold is joined with is left out."""
        return [self._ready.formulas[number] for number in np.flatnonzero(self.alive[: self.formula_count]).tolist()]


def stacked(worlds: Sequence[World]) -> tuple[bitset.Batch, BoolArray]:
    """The worlds as a batch, and their labels padded like it."""
    batch = bitset.Batch.of(worlds)
    # Padding repeats object 0 and so agrees wherever that does.
    targets = [np.concatenate([w.target, np.full(batch.size - w.size, w.target[0])]) for w in worlds]
    return batch, np.stack(targets)
