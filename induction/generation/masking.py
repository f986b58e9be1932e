"""Partly observed worlds: which atoms are hidden, chosen so that rivals stay refuted."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from induction.evaluation import three_valued
from induction.formula.syntax import Formula
from induction.generation.recipes import Range
from induction.generation.refusals import NothingRefuted, NoWorldsError
from induction.generation.worlds import BATCH, Chosen, WorldSource
from induction.worlds.world import BoolArray, World

_MASKS_OF_A_WORLD = 3


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
        for whole in source.draw(BATCH // 4):
            for _ in range(_MASKS_OF_A_WORLD):
                world = mask(whole, masked, rate, rng)
                refuted = alive & _out_of_reach(evaluator.values(world), world)
                score = (int(refuted[: len(rivals)].sum()), int(refuted.sum()))
                if best is None or score > best[0]:
                    best = (score, refuted, world, whole)
        assert best is not None
        score, refuted, world, whole = best
        if not score[1]:
            raise NoWorldsError(NothingRefuted(len(chosen), number, masked=True))
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
