"""Write `examples.yaml`: small instances of the v1 form, drawn from fixed seeds and labelled by their gold.

Run from anywhere: `python data/examples/make_examples.py`. The same version gives the same bytes.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from induction.evaluation import bitset
from induction.formula import Formula, parse_formula
from induction.formula.syntax import DEFAULT_SIGNATURE
from induction.worlds import Instance, Regime, World, write_instances
from induction.worlds.sampling import sample_world

OUTPUT = Path(__file__).with_name("examples.yaml")
OBJECTS = 6


def labelled(world: World, formula: Formula) -> World:
    """`world` with the formula's extension as its target."""
    return replace(world, target=bitset.extensions([formula], [world])[0][0])


def draw_worlds(rng: np.random.Generator, number: int, prefix: str, gold: Formula, rival: Formula) -> list[World]:
    """Worlds in which gold and rival differ and the gold labels some objects, but not all."""
    worlds: list[World] = []
    while len(worlds) < number:
        world = sample_world(rng, OBJECTS, name=f"{prefix}_{len(worlds)}")
        (of_gold,), (of_rival,) = bitset.extensions([gold, rival], [world])
        if 1 <= of_gold.sum() < OBJECTS and (of_gold != of_rival).any():
            worlds.append(world)
    return worlds


def full_obs() -> Instance:
    """Objects that have an R-successor in P."""
    gold = parse_formula("(exists y (and (R x y) (P y)))")
    rival = parse_formula("(exists y (R x y))")
    worlds = draw_worlds(np.random.default_rng(1), 4, "train", gold, rival)
    return Instance(
        instance_id="example_fullobs",
        regime=Regime.FULL_OBS,
        signature=DEFAULT_SIGNATURE,
        worlds=tuple(labelled(world, gold) for world in worlds),
        train_ids=tuple(world.name for world in worlds),
        gold=gold,
        gold_description="x has an R-successor that is P",
        band="simple",
    )


def contrastive() -> Instance:
    """Objects all of whose R-successors have an S-successor; in the NO worlds a rival labels the objects."""
    gold = parse_formula("(forall y (or (not (R x y)) (exists z (and (S y z) (P z)))))")
    rival = parse_formula("(exists y (and (R x y) (exists z (and (S y z) (P z)))))")
    rng = np.random.default_rng(2)
    yes = [labelled(world, gold) for world in draw_worlds(rng, 4, "yes", gold, rival)]
    no = [labelled(world, rival) for world in draw_worlds(rng, 2, "no", gold, rival)]
    return Instance(
        instance_id="example_ci",
        regime=Regime.CI,
        signature=DEFAULT_SIGNATURE,
        worlds=(*yes, *no),
        train_ids=tuple(world.name for world in yes),
        no_ids=tuple(world.name for world in no),
        gold=gold,
        gold_description="every R-successor of x has an S-successor that is P",
        band="core",
    )


def partly_observed() -> Instance:
    """Objects in P with an R-successor in Q, where a third of the binary atoms is unknown."""
    gold = parse_formula("(and (P x) (exists y (and (R x y) (Q y))))")
    rng = np.random.default_rng(3)
    worlds: list[World] = []
    while len(worlds) < 3:
        whole = sample_world(rng, OBJECTS, name=f"train_{len(worlds)}")
        target = bitset.extensions([gold], [whole])[0][0]
        unknown = {predicate: rng.random((OBJECTS, OBJECTS)) < 0.3 for predicate in ("R", "S")}
        true = {name: table & ~unknown[name] if name in unknown else table for name, table in whole.true.items()}
        world = replace(whole, true=true, unknown=unknown, target=target, observation_mode="partial")
        # Worth asking: some label is not there yet when the unknown atoms are false.
        if 1 <= target.sum() < OBJECTS and (bitset.extensions([gold], [world])[0][0] != target).any():
            worlds.append(world)
    return Instance(
        instance_id="example_ec",
        regime=Regime.EC,
        signature=DEFAULT_SIGNATURE,
        worlds=tuple(worlds),
        train_ids=tuple(world.name for world in worlds),
        gold=gold,
        gold_description="x is P and has an R-successor that is Q",
        band="core",
    )


if __name__ == "__main__":
    output = Path(sys.argv[1]) if len(sys.argv) > 1 else OUTPUT
    write_instances(output, [full_obs(), contrastive(), partly_observed()])
