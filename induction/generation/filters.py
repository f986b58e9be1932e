"""What makes an instance too easy: something trivial explains it."""

import itertools
from collections.abc import Sequence

import numpy as np

from induction.formula.metrics import free_variables
from induction.formula.syntax import FREE_VARIABLE, Atom, Formula, Signature, subformulas
from induction.generation.refusals import Filter
from induction.grounding.check import check
from induction.worlds.instance import Instance, Regime
from induction.worlds.world import BoolArray, World


def trivially_explained(instance: Instance) -> Filter | None:
    """The first filter that applies to an instance with a gold: what explains it; None if nothing does."""
    if any(_explains(atom, instance) for atom in _atoms(instance.signature)):
        return Filter.ATOM
    if any(_explains(part, instance) for part in gold_parts(instance)):
        return Filter.GOLD_PART
    if explained_without_quantifiers(instance):
        return Filter.QUANTIFIER_FREE
    return None


def _explains(formula: Formula, instance: Instance) -> bool:
    return check(formula, instance).valid


def _atoms(signature: Signature) -> list[Formula]:
    unary = [Atom(name, (FREE_VARIABLE,)) for name in signature.unary]
    return [*unary, *(Atom(name, (FREE_VARIABLE, FREE_VARIABLE)) for name in signature.binary)]


def gold_parts(instance: Instance) -> list[Formula]:
    """The proper subformulas of the gold that define something themselves: x is their one free variable."""
    if instance.gold is None:
        return []
    parts = dict.fromkeys(part for part in subformulas(instance.gold) if part != instance.gold)
    return [part for part in parts if free_variables(part) == {FREE_VARIABLE}]


def explained_without_quantifiers(instance: Instance) -> bool:
    """Whether some formula without quantifiers explains the instance.

    Decided exactly: such a formula is a set of types (which atoms of x alone hold), true of the objects of these. For
    CI it must also miss every NO world. In EC an object has one of several types, as its unknown atoms fall.
    """
    possible = [_possible_types(world) for world in instance.train_worlds]
    inside = [
        kinds for world, kinds in zip(instance.train_worlds, possible, strict=True) for kinds in kinds[world.target]
    ]
    outside = [
        kinds for world, kinds in zip(instance.train_worlds, possible, strict=True) for kinds in kinds[~world.target]
    ]
    misses = [(world.target, _possible_types(world)) for world in instance.no_worlds]
    relevant = _distinct_rows([*inside, *outside, *(row for _, rows in misses for row in rows)])
    if instance.regime is Regime.EC:
        return _some_set_hits(relevant, inside, outside)
    # All atoms known: an object has one type, and a set is right where each type takes the label of its objects.
    forced_in = {row.tobytes() for row in inside}
    forced_out = {row.tobytes() for row in outside}
    if forced_in & forced_out:
        return False
    return _free_types_can_miss(misses, forced_in, forced_out)


def _free_types_can_miss(
    misses: Sequence[tuple[BoolArray, BoolArray]], forced_in: set[bytes], forced_out: set[bytes]
) -> bool:
    """Whether labels for the types that no world to match has can be chosen so that every NO world is missed."""
    open_worlds = []
    for target, rows in misses:
        kinds = [row.tobytes() for row in rows]
        pairs = list(zip(kinds, target.tolist(), strict=True))
        if any((kind in forced_in and not label) or (kind in forced_out and label) for kind, label in pairs):
            continue
        open_worlds.append([(kind, label) for kind, label in pairs if kind not in forced_in | forced_out])
    free = sorted({kind for pairs in open_worlds for kind, _ in pairs})
    for labels in itertools.product((False, True), repeat=len(free)):
        chosen = dict(zip(free, labels, strict=True))
        if all(any(chosen[kind] != label for kind, label in pairs) for pairs in open_worlds):
            return True
    return False


def _possible_types(world: World) -> BoolArray:
    """`bool[n, types]`: which types each object can have; type t holds the i-th atom of x if bit i of t is set."""
    atoms = [(world.true[name], world.unknown[name]) for name in world.signature.unary]
    atoms += [(np.diagonal(world.true[name]), np.diagonal(world.unknown[name])) for name in world.signature.binary]
    kinds = np.arange(2 ** len(atoms))
    possible = np.ones((world.size, len(kinds)), dtype=np.bool_)
    for i, (true, unknown) in enumerate(atoms):
        possible &= unknown[:, None] | (true[:, None] == ((kinds >> i) & 1).astype(np.bool_)[None])
    return possible


def _distinct_rows(rows: Sequence[BoolArray]) -> BoolArray:
    """The types that some object can have, `bool[types]`."""
    found: BoolArray = np.logical_or.reduce(np.stack(rows), axis=0)
    return found


def _some_set_hits(relevant: BoolArray, inside: Sequence[BoolArray], outside: Sequence[BoolArray]) -> bool:
    """Whether some set of types meets what every labelled object can be, and misses some of what every other can be."""
    kinds = np.flatnonzero(relevant)
    weights = 1 << np.arange(len(kinds), dtype=np.int64)
    sets = np.arange(2 ** len(kinds), dtype=np.int64)
    fitting = np.ones(len(sets), dtype=np.bool_)
    for row in np.unique(np.stack(inside), axis=0) if inside else []:
        fitting &= (sets & int(weights[row[kinds]].sum())) != 0
    for row in np.unique(np.stack(outside), axis=0) if outside else []:
        fitting &= (~sets & int(weights[row[kinds]].sum())) != 0
    return bool(fitting.any())
