"""Worlds for one gold, chosen so that each refutes rivals which fitted all before it."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from induction.evaluation import bitset
from induction.formula.syntax import Formula, Signature
from induction.generation.isomorphism import may_be_isomorphic, profile
from induction.generation.recipes import Recipe
from induction.generation.refusals import NothingRefuted, NothingToMiss, NoWorldsError, TooFewWorlds, WorldFault
from induction.generation.rivals import Rivals, stacked
from induction.worlds.world import BoolArray, World

BATCH = 16
"""Worlds drawn and looked at together."""

_MOST_DRAWN = 640
"""Worlds drawn for one place before it is given up."""

_PLENTY = 6  # rivals to be left for each world to come
_MOST_LABELLINGS = 40
_MOST_IN_VAIN = 4  # batches none of whose worlds refutes a rival


@dataclass(frozen=True)
class Chosen:
    """A world with its labels, and how many rivals it refuted that had fitted every world before."""

    world: World
    kills: int


class WorldSource:
    """Labelled random worlds of a recipe; counts in `rejected` why others were not taken.

    No world that is given is isomorphic to one of `taken`, or to another of the same draw.
    """

    def __init__(self, recipe: Recipe, signature: Signature, gold: Formula, rng: np.random.Generator) -> None:
        self._recipe, self._signature, self.rng = recipe, signature, rng
        self._gold = bitset.Evaluator([gold])
        self.taken: list[World] = []
        self.rejected: Counter[WorldFault] = Counter()

    def draw(
        self, number: int, admit: Callable[[World], bool] = lambda world: True, *, patience: int = 20
    ) -> list[World]:
        """So many worlds that `admit`.

        Raises:
            NoWorldsError: too few worlds will do, of `_MOST_DRAWN` or `patience` times `number`, whichever is more.
        """
        found: list[World] = []
        profiles: dict[object, list[World]] = {}
        for world in self.taken:
            profiles.setdefault(profile(world), []).append(world)
        faults = Counter[WorldFault]()
        while len(found) < number:
            drawn = len(found) + faults.total()
            if drawn > max(_MOST_DRAWN, patience * number):
                raise NoWorldsError(TooFewWorlds(drawn, len(found), faults.most_common(1)[0][0]))
            raw = [self._recipe.draw(self.rng, self._signature, "drawn") for _ in range(BATCH)]
            for world, target in zip(raw, self.labels(raw), strict=True):
                labelled = replace(world, target=target)
                if not self._recipe.admits(target):
                    faults[WorldFault.LABELS] += 1
                elif any(
                    may_be_isomorphic(labelled, other)
                    for other in (*profiles.get(profile(labelled), ()), *profiles.get(None, ()))
                ):
                    faults[WorldFault.ISOMORPHIC] += 1
                elif not admit(labelled):
                    faults[WorldFault.UNWANTED] += 1
                else:
                    found.append(labelled)
                    profiles.setdefault(profile(labelled), []).append(labelled)
                if len(found) == number:
                    break
        self.rejected.update(faults)
        return found

    def admits(self, target: BoolArray) -> bool:
        """Whether the recipe takes worlds with these labels."""
        return self._recipe.admits(target)

    def draw_raw(self) -> World:
        """A world of the recipe, without labels."""
        return self._recipe.draw(self.rng, self._signature, "drawn")

    def take(self, world: World) -> World | None:
        """The world, labelled, if the recipe takes its labels and it is not isomorphic to one of `taken`; else None."""
        (target,) = self.labels([world])
        if not self._recipe.admits(target) or any(may_be_isomorphic(world, other) for other in self.taken):
            return None
        return replace(world, target=target)

    def labels(self, worlds: Sequence[World]) -> list[BoolArray]:
        """The gold's extension in each world."""
        (table,) = self._gold.tables(bitset.Batch.of(worlds))
        return [row[: world.size].copy() for row, world in zip(table, worlds, strict=True)]


def choose_worlds(source: WorldSource, rivals: Rivals, number: int, *, leave: int = 0) -> list[Chosen]:
    """`number` worlds, each of which refutes a rival that fits all before it; what it refutes is not alive afterwards.

    Of a batch the world is taken that refutes most formulas, then most rivals, among those that leave plenty for the
    worlds to come and `leave` beyond: a world that refutes nearly all would leave nothing to choose the others by.
    Rivals that agree with the gold on the whole batch do not count as left.

    Raises:
        NoWorldsError: not so many such worlds were found.
    """
    chosen: list[Chosen] = []
    in_vain = 0
    while len(chosen) < number:
        batch = source.draw(BATCH)
        wrong = rivals.wrong(batch)
        before = len(chosen)
        while len(chosen) < number:
            alive = wrong & rivals.alive[:, None]
            kills = alive.sum(axis=0)
            left = alive.any(axis=1).sum() - kills
            useful = np.flatnonzero(kills > 0)
            if not len(useful):
                break
            needed = _PLENTY * (number - len(chosen) - 1 + leave)
            patient = useful[left[useful] >= min(needed, left[useful].max())]
            formulas = alive[: rivals.formula_count].sum(axis=0)
            best = int(patient[np.lexsort((kills[patient], formulas[patient]))[-1]])
            rivals.alive &= ~wrong[:, best]
            chosen.append(Chosen(replace(batch[best], name="chosen"), int(kills[best])))
            source.taken.append(batch[best])
            wrong[:, best] = False
        in_vain = in_vain + 1 if len(chosen) == before else 0
        if in_vain == _MOST_IN_VAIN:
            raise NoWorldsError(NothingRefuted(len(chosen), number))
    return chosen


def choose_no_worlds(source: WorldSource, rivals: Rivals, number: int) -> list[tuple[Chosen, Formula]]:
    """Worlds whose labels are the extension of a rival that is alive, different there from the gold's.

    All rivals that match a world's labels are refuted by it, and most of all formulas by the one that is taken of a
    batch. Each comes with the rival its labels are of.

    Raises:
        NoWorldsError: there are no rivals alive that differ from the gold on enough worlds.
    """
    chosen: list[tuple[Chosen, Formula]] = []
    for _ in range(number):
        for _ in range(_MOST_IN_VAIN):
            found = _no_world(source, rivals)
            if found is not None:
                break
        else:
            raise NoWorldsError(NothingToMiss())
        world, rival, refuted = found
        rivals.alive &= ~refuted
        source.taken.append(world)
        chosen.append((Chosen(world, int(refuted.sum())), rivals.formula(rival)))
    return chosen


def _no_world(source: WorldSource, rivals: Rivals) -> tuple[World, int, BoolArray] | None:
    """Of one batch the best world to be missed, the number of the rival that labels it, and the rivals it refutes."""
    worlds = source.draw(BATCH)
    batch, targets = stacked(worlds)
    tables = rivals.extensions(batch, targets)
    best: tuple[tuple[int, int], World, int, BoolArray] | None = None
    for w, world in enumerate(worlds):
        here = tables[:, w, : world.size]
        differs = rivals.alive & (here != world.target).any(axis=1)
        for number in np.flatnonzero(differs)[:_MOST_LABELLINGS].tolist():
            target = here[number]
            if not source.admits(target):
                continue
            refuted: BoolArray = rivals.alive & (here == target).all(axis=1)
            score = (int(refuted[: rivals.formula_count].sum()), int(refuted.sum()))
            if best is None or score > best[0]:
                best = (score, replace(world, name="chosen", target=target.copy()), number, refuted)
    return None if best is None else best[1:]
