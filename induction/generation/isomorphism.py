"""Whether two worlds are the same but for the names of their objects."""

from collections.abc import Generator
from typing import Any

import numpy as np

from induction.formula.syntax import run_walk
from induction.worlds.world import World


def may_be_isomorphic(first: World, second: World) -> bool:
    """Whether some renaming of the objects makes all atoms known in both agree; labels are not looked at.

    With all atoms known this is isomorphism. The worlds share a signature.
    """
    if first.size != second.size:
        return False
    allowed = np.ones((first.size, second.size), dtype=np.bool_)  # by element of first, of second
    for name in first.signature.unary:
        allowed &= ~_clash(first, second, name)
    for name in first.signature.binary:
        loops = [(np.diagonal(w.true[name]), np.diagonal(w.unknown[name])) for w in (first, second)]
        (true, unknown), (other_true, other_unknown) = loops
        allowed &= ~((true[:, None] != other_true[None]) & ~unknown[:, None] & ~other_unknown[None])
        for axis in (0, 1):
            if not first.unknown[name].any() and not second.unknown[name].any():
                allowed &= first.true[name].sum(axis=axis)[:, None] == second.true[name].sum(axis=axis)[None]
    # The object with the fewest partners first, so that wrong beginnings end early.
    order = np.argsort(allowed.sum(axis=1), kind="stable").tolist()
    return run_walk(_extend(first, second, allowed, order, []))


def profile(world: World) -> object:
    """What isomorphic worlds share, to look up those that may be; None for a world with unknown atoms."""
    if world.count_unknown():
        return None
    parts: list[bytes] = [
        world.true[name].sum().tobytes()
        if world.true[name].ndim == 1
        else b"".join(np.sort(world.true[name].sum(axis=axis)).tobytes() for axis in (0, 1))
        for name in world.signature
    ]
    return (world.size, *parts)


def _clash(first: World, second: World, name: str) -> Any:
    """`bool[m, t]`: whether a unary atom is known differently at object m of `first` and t of `second`."""
    known = ~first.unknown[name][:, None] & ~second.unknown[name][None]
    return known & (first.true[name][:, None] != second.true[name][None])


def _extend(
    first: World, second: World, allowed: Any, order: list[int], images: list[int]
) -> Generator[Any, bool, bool]:
    """Whether the partial renaming that sends `order[i]` to `images[i]` can be completed."""
    if len(images) == len(order):
        return True
    element = order[len(images)]
    before = order[: len(images)]
    for image in np.flatnonzero(allowed[element]).tolist():
        if image in images or not _agrees(first, second, element, image, before, images):
            continue
        if (yield _extend(first, second, allowed, order, [*images, image])):
            return True
    return False


def _agrees(first: World, second: World, element: int, image: int, before: list[int], images: list[int]) -> bool:
    for name in first.signature.binary:
        for mine, theirs in (
            ((element, before), (image, images)),
            ((before, element), (images, image)),
        ):
            known = ~first.unknown[name][mine] & ~second.unknown[name][theirs]
            if (known & (first.true[name][mine] != second.true[name][theirs])).any():
                return False
    return True
