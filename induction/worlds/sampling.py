"""Random worlds."""

import numpy as np

from induction.formula.syntax import DEFAULT_SIGNATURE, Signature
from induction.worlds.world import World


def sample_world(
    rng: np.random.Generator,
    size: int,
    *,
    signature: Signature = DEFAULT_SIGNATURE,
    density: float = 0.3,
    unary_density: float = 0.5,
    unknown_rate: float = 0.0,
    name: str = "world_0",
) -> World:
    """A world of `size` objects a0, a1, ... whose atoms and labels are drawn independently.

    Binary atoms are true with probability `density`, unary atoms and labels with `unary_density`; a binary atom
    is unknown with probability `unknown_rate`.
    """
    unknown = {predicate: rng.random((size, size)) < unknown_rate for predicate in signature.binary}
    true = {predicate: rng.random(size) < unary_density for predicate in signature.unary}
    for predicate in signature.binary:
        true[predicate] = (rng.random((size, size)) < density) & ~unknown[predicate]
    return World(
        name=name,
        domain=tuple(f"a{i}" for i in range(size)),
        signature=signature,
        true=true,
        unknown=unknown,
        target=rng.random(size) < unary_density,
    )
