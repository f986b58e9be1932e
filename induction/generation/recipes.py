"""Recipes: how random worlds of an instance are drawn. They go into its record, and hold-out worlds come of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from induction.errors import InductionError, printable
from induction.formula.syntax import PredicateName, Signature
from induction.worlds.world import BoolArray, World

Range = tuple[float, float]

MAX_OBJECTS = 60
"""Most objects of a world that is made."""

LABEL_SHARE: Range = (0.15, 0.85)
"""Least and largest share of objects labelled T, unless a recipe says otherwise."""


@dataclass(frozen=True)
class Recipe:
    """How worlds are drawn: `objects` least and most, and for each predicate how its atoms come about.

    `density[p]` is the range from which each world draws the probability of an atom of p; `out_degree[p]` instead
    gives every object exactly so many p-successors. `label_share` bounds the share of objects labelled T.
    `inferred` says that it was read off worlds and not recorded.

    Raises:
        ValueError: ranges that are none, more objects than `MAX_OBJECTS`, or an out-degree that does not fit.
    """

    objects: tuple[int, int]
    density: Mapping[PredicateName, Range]
    out_degree: Mapping[PredicateName, int]
    label_share: Range = LABEL_SHARE
    inferred: bool = False

    def __post_init__(self) -> None:
        least, most = self.objects
        if not 1 <= least <= most <= MAX_OBJECTS:
            raise ValueError(f"worlds of {least} to {most} objects cannot be made (1 to {MAX_OBJECTS} can)")
        for name, (low, high) in (*self.density.items(), ("the labels", self.label_share)):
            if not 0 <= low <= high <= 1:
                raise ValueError(f"the density of {name} cannot range from {low} to {high}")
        for name, degree in self.out_degree.items():
            if not 0 <= degree <= least:
                raise ValueError(f"objects of a world of {least} cannot have {degree} {name}-successors each")
        if self.density.keys() & self.out_degree.keys():
            raise ValueError("a predicate has both a density and an out-degree")

    def draw(self, rng: np.random.Generator, signature: Signature, name: str) -> World:
        """A world without labels, objects a0, a1, ..."""
        size = int(rng.integers(self.objects[0], self.objects[1] + 1))
        true: dict[PredicateName, BoolArray] = {}
        for predicate, arity in signature.items():
            if predicate in self.out_degree:
                ranks = rng.random((size, size)).argsort(axis=1).argsort(axis=1)
                true[predicate] = ranks < self.out_degree[predicate]
            else:
                low, high = self.density[predicate]
                true[predicate] = rng.random((size,) * arity) < low + (high - low) * rng.random()
        domain = tuple(f"a{i}" for i in range(size))
        return World(name, domain, signature, true, np.zeros(size, dtype=np.bool_))

    def admits(self, target: BoolArray) -> bool:
        """Whether the share of labelled objects is within bounds."""
        low, high = self.label_share
        return bool(low <= target.mean() <= high)

    def to_record(self) -> dict[str, Any]:
        """The recipe as it stands in an instance's record."""
        return {
            "objects": list(self.objects),
            "density": {name: list(bounds) for name, bounds in self.density.items()},
            "outDegree": dict(self.out_degree),
            "labelShare": list(self.label_share),
        }


def recipe_from_record(value: Any, signature: Signature) -> Recipe:
    """The recipe that stands in a record.

    Raises:
        InductionError: it is none for this signature.
    """
    try:
        recipe = Recipe(
            objects=_pair(value["objects"], int),
            density={str(name): _pair(bounds, float) for name, bounds in value.get("density", {}).items()},
            out_degree={str(name): _whole(degree) for name, degree in value.get("outDegree", {}).items()},
            label_share=_pair(value.get("labelShare", list(LABEL_SHARE)), float),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InductionError(f"the recipe cannot be read: {printable(str(error), 200)}") from None
    told = {*recipe.density, *recipe.out_degree}
    if told != set(signature) or any(signature.arity(name) != 2 for name in recipe.out_degree):
        raise InductionError(f"the recipe is not for the predicates {signature}")
    return recipe


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{value!r} is not a whole number")
    return value


def _pair(value: Any, kind: type[Any]) -> tuple[Any, Any]:
    low, high = value
    for bound in (low, high):
        if (
            isinstance(bound, bool)
            or not isinstance(bound, int | float)
            or (kind is int and not isinstance(bound, int))
        ):
            raise ValueError(f"{bound!r} is not a bound")
    return (low, high)


def infer_recipe(worlds: Sequence[World]) -> Recipe:
    """The recipe that worlds seem to come from: their sizes, and each predicate's densities or common out-degree.

    Densities are of the known atoms. A binary predicate has an out-degree if every object of every world, two or more,
    has that many known successors and none unknown. Shares of labels reach as far as `LABEL_SHARE` or the worlds do.
    """
    signature = worlds[0].signature
    density: dict[PredicateName, Range] = {}
    out_degree: dict[PredicateName, int] = {}
    for name, arity in signature.items():
        degrees = {int(d) for world in worlds for d in world.true[name].sum(axis=-1)} if arity == 2 else set()
        if len(degrees) == 1 and not any(world.unknown[name].any() for world in worlds) and len(worlds) > 1:
            (out_degree[name],) = degrees
        else:
            densities = [world.density(name) for world in worlds]
            density[name] = (round(min(densities), 3), round(max(densities), 3))
    sizes = [world.size for world in worlds]
    shares = [float(world.target.mean()) for world in worlds]
    label_share = (min(LABEL_SHARE[0], *shares), max(LABEL_SHARE[1], *shares))
    return Recipe((min(sizes), max(sizes)), density, out_degree, label_share, inferred=True)
