"""Fresh worlds of an instance's own recipe, for formulas to be tried on that explained its training worlds."""

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from induction.formula.syntax import to_sexpr
from induction.generation.recipes import Recipe, infer_recipe, recipe_from_record
from induction.generation.refusals import NoGold, NoWorldsError
from induction.generation.worlds import WorldSource
from induction.worlds.instance import Instance, Regime
from induction.worlds.record_writing import HOLDOUT_SCHEMA, record_from_instance
from induction.worlds.world import World

_PATIENCE = 1_000  # worlds drawn for each that is wanted: some golds label few objects of most worlds


@dataclass(frozen=True)
class Holdout:
    """Fresh worlds, fully observed and labelled by the gold, with the recipe they come of."""

    instance: Instance
    seed: int
    recipe: Recipe
    worlds: tuple[World, ...]

    def to_record(self) -> dict[str, Any]:
        """The hold-out row."""
        shown = Instance(
            self.instance.instance_id,
            Regime.FULL_OBS,
            self.instance.signature,
            self.worlds,
            tuple(world.name for world in self.worlds),
        )
        gold = self.instance.gold
        return {
            "schemaVersion": HOLDOUT_SCHEMA,
            "instanceId": self.instance.instance_id,
            "seed": self.seed,
            "recipe": "inferred" if self.recipe.inferred else "recorded",
            "recipeUsed": self.recipe.to_record(),
            "labelledBy": None if gold is None else to_sexpr(gold),
            "worlds": record_from_instance(shown)["problem"]["worlds"],
        }


def recipe_of(instance: Instance) -> Recipe:
    """The recorded recipe of an instance, or the one its worlds to match seem to come from.

    Raises:
        InductionError: the recorded one cannot be read.
    """
    recorded = instance.description_extra.get("recipe")
    if recorded is not None:
        return recipe_from_record(recorded, instance.signature)
    return infer_recipe(instance.train_worlds or instance.worlds)


def make_holdout(instance: Instance, count: int, seed: int) -> Holdout:
    """`count` fresh worlds, none isomorphic to another or to one of the instance's.

    They follow from the seed and the instance, whatever other instances its file holds.

    Raises:
        NoWorldsError: the instance has no gold, or too few of the worlds drawn would do.
        InductionError: the recorded recipe cannot be read.
    """
    if instance.gold is None:
        raise NoWorldsError(NoGold())
    recipe = recipe_of(instance)
    digest = hashlib.sha256(f"holdout|{seed}|{instance.instance_id}".encode()).digest()
    source = WorldSource(recipe, instance.signature, instance.gold, np.random.default_rng(list(digest)))
    source.taken.extend(instance.worlds)
    worlds = source.draw(count, patience=_PATIENCE)
    named = tuple(replace(world, name=f"holdout_{i}") for i, world in enumerate(worlds))
    return Holdout(instance, seed, recipe, named)
