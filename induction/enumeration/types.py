"""Which objects a fragment can tell apart at all, whatever the size of its formulas.

Two objects satisfy the same formulas with k variables and quantifier depth d exactly if the second player survives
d rounds of the k-pebble game between them. The types are computed as in that game: tuples of k objects start with
what their atoms say, and are split d times by which types can be reached by moving one pebble anywhere.
"""

from collections.abc import Hashable, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from induction.enumeration.layout import Fragment
from induction.worlds.world import World


def object_types(worlds: Sequence[World], fragment: Fragment) -> list[npt.NDArray[np.int64]]:
    """For each world an `int64[n]`: objects of any two worlds have one number just if no formula tells them apart.

    Unknown atoms count as false.
    """
    k = fragment.variables
    numbers: dict[Hashable, int] = {}
    types = [_atomic_types(world, k, fragment.equality, numbers) for world in worlds]
    for _ in range(fragment.depth):
        numbers = {}
        refined = []
        for table in types:
            # What moving pebble i anywhere can lead to: a set of types, the same along axis i.
            reached = [_sets_along(table, axis) for axis in range(k)]
            new = np.empty_like(table)
            for place in np.ndindex(table.shape):
                key = (int(table[place]), *(reached[i][place[:i] + place[i + 1 :]] for i in range(k)))
                new[place] = numbers.setdefault(key, len(numbers))
            refined.append(new)
        types = refined
    # All pebbles on one object: what a formula of x alone can say of it.
    return [np.array([table[(element,) * k] for element in range(len(table))], dtype=np.int64) for table in types]


def _sets_along(table: npt.NDArray[np.int64], axis: int) -> dict[tuple[int, ...], frozenset[int]]:
    moved = np.moveaxis(table, axis, -1)
    return {place: frozenset(moved[place].tolist()) for place in np.ndindex(moved.shape[:-1])}


def _atomic_types(world: World, k: int, equality: bool, numbers: dict[Hashable, int]) -> npt.NDArray[np.int64]:
    table = np.empty((world.size,) * k, dtype=np.int64)
    for place in np.ndindex(table.shape):
        key: list[bool] = []
        for predicate, arity in world.signature.items():
            key += [bool(world.true[predicate][arguments]) for arguments in product(place, repeat=arity)]
        if equality:
            key += [a == b for a, b in product(place, repeat=2)]
        table[place] = numbers.setdefault(tuple(key), len(numbers))
    return table
