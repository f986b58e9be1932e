"""Worlds for one gold, chosen so that each refutes rivals which fitted all before it."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from induction.errors import InductionError
from induction.evaluation import bitset, three_valued
from induction.formula.syntax import And, Formula, Not, Or, Signature, to_sexpr
from induction.generation.isomorphism import may_be_isomorphic, profile
from induction.generation.recipes import Range, Recipe
from induction.worlds.world import BoolArray, World

_BATCH = 16
_MOST_DRAWN = 640
"""Worlds drawn for one place before it is given up."""

_MASKS_OF_A_WORLD = 3
_PLENTY = 6  # rivals to be left for each world to come
_MOST_LABELLINGS = 40
_MOST_IN_VAIN = 4  # batches none of whose worlds refutes a rival


class NoWorldsError(InductionError):
    """A recipe and a gold for which no worlds, or not enough, could be made. The text says what stood in the way."""


@dataclass(frozen=True)
class Chosen:
    """A world with its labels, and how many rivals it refuted that had fitted every world before."""

    world: World
    kills: int


class Ready:
    """Formulas made ready to be evaluated on any number of batches; what `more` has made ready is shared."""

    def __init__(self, formulas: Sequence[Formula], more: "Ready | None" = None) -> None:
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

    def __init__(self, gold: Formula, formulas: Ready) -> None:
        self._gold = gold
        self._ready = formulas
        self.plain = len(formulas.formulas)
        self.alive = np.ones(5 * self.plain, dtype=np.bool_)

    def formula(self, number: int) -> Formula:
        """Rival `number`."""
        joined, place = divmod(number, self.plain)
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
        batch, targets = _stacked(worlds)
        own = self._ready.extensions(batch)
        holds, fails = (targets & own).any(axis=2), (targets & ~own).any(axis=2)
        extra, missing = (~targets & own).any(axis=2), (~targets & ~own).any(axis=2)
        return np.concatenate([fails | extra, fails, extra, holds, missing])

    def fitting_formulas(self) -> list[Formula]:
        """The formulas alive by themselves; what the gold is joined with is left out."""
        return [self._ready.formulas[number] for number in np.flatnonzero(self.alive[: self.plain]).tolist()]


def _stacked(worlds: Sequence[World]) -> tuple[bitset.Batch, BoolArray]:
    """The worlds as a batch, and their labels padded like it."""
    batch = bitset.Batch.of(worlds)
    # Padding repeats object 0 and so agrees wherever that does.
    targets = [np.concatenate([w.target, np.full(batch.size - w.size, w.target[0])]) for w in worlds]
    return batch, np.stack(targets)


class WorldSource:
    """Labelled random worlds of a recipe; counts in `rejected` why others were not taken.

    No world that is given is isomorphic to one of `taken`, or to another of the same draw.
    """

    def __init__(self, recipe: Recipe, signature: Signature, gold: Formula, rng: np.random.Generator) -> None:
        self._recipe, self._signature, self.rng = recipe, signature, rng
        self._gold = bitset.Evaluator([gold])
        self.taken: list[World] = []
        self.rejected: Counter[str] = Counter()

    def draw(self, number: int, admit: Callable[[World], bool] = lambda world: True) -> list[World]:
        """So many worlds that `admit`.

        Raises:
            NoWorldsError: too few worlds will do, of `_MOST_DRAWN` or twenty times `number`, whichever is more.
        """
        found: list[World] = []
        profiles: dict[object, list[World]] = {}
        for world in self.taken:
            profiles.setdefault(profile(world), []).append(world)
        drawn = Counter[str]()
        while len(found) < number:
            if sum(drawn.values()) > max(_MOST_DRAWN, 20 * number):
                reason = drawn.most_common(1)[0][0]
                raise NoWorldsError(f"of {sum(drawn.values())} random worlds {len(found)} would do; mostly {reason}")
            raw = [self._recipe.draw(self.rng, self._signature, "drawn") for _ in range(_BATCH)]
            for world, target in zip(raw, self.labels(raw), strict=True):
                labelled = replace(world, target=target)
                if not self._recipe.admits(target):
                    why = "share of labelled objects out of bounds"
                elif any(
                    may_be_isomorphic(labelled, other)
                    for other in (*profiles.get(profile(labelled), ()), *profiles.get(None, ()))
                ):
                    why = "isomorphic to another world"
                elif not admit(labelled):
                    why = "refused"
                else:
                    why = "taken"
                    found.append(labelled)
                    profiles.setdefault(profile(labelled), []).append(labelled)
                drawn[why] += 1
                if len(found) == number:
                    break
        self.rejected.update({why: n for why, n in drawn.items() if why != "taken"})
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
        batch = source.draw(_BATCH)
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
            formulas = alive[: rivals.plain].sum(axis=0)
            best = int(patient[np.lexsort((kills[patient], formulas[patient]))[-1]])
            rivals.alive &= ~wrong[:, best]
            chosen.append(Chosen(replace(batch[best], name="chosen"), int(kills[best])))
            source.taken.append(batch[best])
            wrong[:, best] = False
        in_vain = in_vain + 1 if len(chosen) == before else 0
        if in_vain == _MOST_IN_VAIN:
            raise NoWorldsError(f"only {len(chosen)} of {number} worlds refute a rival that fits the others")
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
            raise NoWorldsError("no rival that fits the YES worlds differs from the gold on a world with mixed labels")
        world, rival, refuted = found
        rivals.alive &= ~refuted
        source.taken.append(world)
        chosen.append((Chosen(world, int(refuted.sum())), rivals.formula(rival)))
    return chosen


def _no_world(source: WorldSource, rivals: Rivals) -> tuple[World, int, BoolArray] | None:
    """Of one batch the best world to be missed, the number of the rival that labels it, and the rivals it refutes."""
    worlds = source.draw(_BATCH)
    batch, targets = _stacked(worlds)
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
            score = (int(refuted[: rivals.plain].sum()), int(refuted.sum()))
            if best is None or score > best[0]:
                best = (score, replace(world, name="chosen", target=target.copy()), number, refuted)
    return None if best is None else best[1:]


def choose_masked_worlds(
    source: WorldSource,
    gold: Formula,
    rivals: Sequence[Formula],
    number: int,
    masked: Sequence[str],
    rate: Range,
    rng: np.random.Generator,
) -> tuple[list[Chosen], list[Formula]]:
    """Partly observed worlds for EC, each of which refutes a rival, and the formulas of `rivals` that are left.

    A rival, one of the formulas or the gold joined with one, is refuted where some label is out of its reach whatever
    the unknown atoms are, as far as three-valued evaluation sees. Of several worlds and masks the pair is taken that
    refutes most formulas, then most rivals.

    Raises:
        NoWorldsError: not so many such worlds were found.
    """
    evaluator = three_valued.Evaluator([gold, *rivals])
    alive = np.ones(5 * len(rivals), dtype=np.bool_)
    chosen: list[Chosen] = []
    for _ in range(number):
        best: tuple[tuple[int, int], BoolArray, World, World] | None = None
        for whole in source.draw(_BATCH // 4):
            for _ in range(_MASKS_OF_A_WORLD):
                world = mask(whole, masked, rate, rng)
                refuted = alive & _out_of_reach(evaluator.values(world), world)
                score = (int(refuted[: len(rivals)].sum()), int(refuted.sum()))
                if best is None or score > best[0]:
                    best = (score, refuted, world, whole)
        assert best is not None
        score, refuted, world, whole = best
        if not score[1]:
            raise NoWorldsError(f"only {len(chosen)} of {number} masked worlds refute a rival that fits the others")
        alive &= ~refuted
        chosen.append(Chosen(world, score[1]))
        source.taken.append(whole)
    return chosen, [formula for formula, left in zip(rivals, alive[: len(rivals)].tolist(), strict=True) if left]


def _out_of_reach(values: three_valued.Values, world: World) -> BoolArray:
    """`bool[rivals]`: whether some label is out of reach; `values` are those of the gold and of the formulas."""
    gold, own = values[0], values[1:]
    negated = three_valued.TRUE - own
    every = np.concatenate(
        [own, np.minimum(gold, own), np.maximum(gold, own), np.minimum(gold, negated), np.maximum(gold, negated)]
    )
    impossible = np.where(world.target, every == three_valued.FALSE, every == three_valued.TRUE)
    found: BoolArray = impossible.any(axis=1)
    return found


def mask(world: World, masked: Sequence[str], rate: Range, rng: np.random.Generator) -> World:
    """The world with a share of the atoms of each of `masked` hidden, between the bounds of `rate`."""
    unknown = {}
    for name in masked:
        table = world.true[name]
        hidden = round(float(rng.uniform(*rate)) * table.size)
        places = np.zeros(table.size, dtype=np.bool_)
        places[rng.permutation(table.size)[:hidden]] = True
        unknown[name] = places.reshape(table.shape)
    true = {name: table & ~unknown[name] if name in unknown else table for name, table in world.true.items()}
    return replace(world, true=true, unknown=unknown, observation_mode="partial")


def described(formulas: Sequence[Formula], most: int) -> list[str]:
    """The first few formulas as text, for a record."""
    return [to_sexpr(formula) for formula in formulas[:most]]
