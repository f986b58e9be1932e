"""The truth of very many edited formulas at once, over the worlds of an instance.

NOTE(variants): a value has an axis of worlds, one of objects for each variable in scope (length 1 where the value does
not depend on it), and last the variants, 64 a word. All variants of a subformula go through the rest of the formula in
one operation a node, so that what they share is computed once. Where atoms are unknown (EC) a value is two such
arrays, what surely holds and what may hold (Kleene), elsewhere one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from induction.errors import EvaluationLimitError
from induction.evaluation.bitset import Batch
from induction.formula.syntax import (
    And,
    Atom,
    Equal,
    Exists,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Quantified,
    Variable,
)
from induction.rewriting.edits import Change, Path, Place, is_hole, places
from induction.worlds.instance import Instance, Regime
from induction.worlds.world import BoolArray

Words: TypeAlias = npt.NDArray[np.uint64]
Value: TypeAlias = tuple[Words, ...]

MAX_CELLS = 2**20
"""Most entries of one subformula's table, over all worlds."""

_ONES = np.uint64(2**64 - 1)
_WORD = 64


def packed(truth: BoolArray) -> Words:
    """`uint64[..., ceil(c / 64)]` from `bool[..., c]`: the last axis as bits, the first one lowest."""
    short = -truth.shape[-1] % _WORD
    if short:
        truth = np.concatenate([truth, np.zeros((*truth.shape[:-1], short), dtype=np.bool_)], axis=-1)
    octets = np.packbits(truth, axis=-1, bitorder="little")
    return np.ascontiguousarray(octets).view(np.uint64)


def unpacked(words: Words, count: int) -> BoolArray:
    """`bool[..., count]`: the reverse of `packed`."""
    octets = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(octets, axis=-1, count=count, bitorder="little").view(np.bool_)


def spread(words: Words, count: int) -> Words:
    """`uint64[..., count]`: each variant a word of its own, all ones or none, to be joined with 64 others at a time."""
    return np.where(unpacked(words, count), _ONES, np.uint64(0))


def negation(value: Value) -> Value:
    """`not`: what surely fails is what may not hold."""
    return tuple(~plane for plane in reversed(value))


def conjunction(left: Value, right: Value) -> Value:
    """`and`."""
    return tuple(a & b for a, b in zip(left, right, strict=True))


def disjunction(left: Value, right: Value) -> Value:
    """`or`."""
    return tuple(a | b for a, b in zip(left, right, strict=True))


def connected(node_type: type[Formula], left: Value, right: Value) -> Value:
    """A connective of two values."""
    if node_type is And:
        return conjunction(left, right)
    if node_type is Or:
        return disjunction(left, right)
    if node_type is Implies:
        return disjunction(negation(left), right)
    assert node_type is Iff
    return conjunction(disjunction(negation(left), right), disjunction(negation(right), left))


def quantified(existential: bool, body: Value) -> Value:
    """`exists` or `forall` over the innermost variable of the scope."""
    reduce = np.bitwise_or.reduce if existential else np.bitwise_and.reduce
    return tuple(plane[..., 0, :] if plane.shape[-2] == 1 else reduce(plane, axis=-2) for plane in body)


@dataclass(frozen=True)
class Variants:
    """`count` variants of one subformula: their value, by how many AST nodes each is larger, and which edits they are.

    `value` has `count` bits, and some more, in its last axis; `added` and `edits` are `int64[count]`.
    """

    value: Value
    added: npt.NDArray[np.int64]
    edits: npt.NDArray[np.int64]

    @property
    def count(self) -> int:
        """How many."""
        return len(self.added)

    def chosen(self, indices: npt.NDArray[np.int64]) -> "Variants":
        """Some of them."""
        value = tuple(packed(unpacked(plane, self.count)[..., indices]) for plane in self.value)
        return Variants(value, self.added[indices], self.edits[indices])

    def each_a_word(self) -> Value:
        """The value with a word for each variant."""
        return tuple(spread(plane, self.count) for plane in self.value)


class Frame:
    """The values of one formula's subformulas over an instance's worlds, and what becomes of others in their place.

    `merges` says that variants of equal value can stand for each other: all facts are known, and some world to match
    has objects of both labels, so that what fits has x free.

    Raises:
        EvaluationLimitError: a subformula's table would have more than `MAX_CELLS` entries.
    """

    def __init__(self, formula: Formula, instance: Instance) -> None:
        self.formula = formula
        self.instance = instance
        self.places = {place.path: place for place in places(formula)}
        worlds = (*instance.train_worlds, *instance.no_worlds)
        self._to_match = len(instance.train_worlds)
        batches = [Batch.of(worlds)]
        if instance.regime is Regime.EC:
            batches.append(Batch.of([world.completed(world.unknown) for world in worlds]))
        self._batches = batches
        self.size = batches[0].size
        self.worlds = len(worlds)
        deepest = max(len(place.scope) for place in self.places.values())
        if self.worlds * self.size**deepest > MAX_CELLS:
            raise EvaluationLimitError(
                f"{deepest} variables in scope at one place, in worlds of up to {self.size} objects, are more than "
                "repair can go through"
            )
        targets = np.zeros((self.worlds, self.size), dtype=np.bool_)
        for w, world in enumerate(worlds):
            targets[w] = world.target[0]  # padding repeats object 0
            targets[w, : world.size] = world.target
        self._target = np.where(targets, _ONES, np.uint64(0))[..., None]
        self._real = np.stack([np.arange(self.size) < world.size for world in worlds])
        mixed = any(world.target.any() and not world.target.all() for world in instance.train_worlds)
        self.merges = instance.regime is not Regime.EC and mixed
        self._base: dict[Path, Value] = {}
        for place in reversed(self.places.values()):
            self._base[place.path] = self._value_of(place)
        self._monotone = {place.path: self._is_monotone(place.path) for place in self.places.values()}

    def base(self, path: Path) -> Value:
        """The value of the subformula at `path` as it is."""
        return self._base[path]

    def literal(self, literal: Formula, scope: Sequence[Variable]) -> Value:
        """The value of an atom, an equality or the negation of one."""
        if isinstance(literal, Not):
            return negation(self.literal(literal.operand, scope))
        arguments: tuple[Variable, ...]
        if isinstance(literal, Equal):
            arguments = (literal.left, literal.right)
            tables = [batch.equal for batch in self._batches]
        else:
            assert isinstance(literal, Atom)
            arguments = literal.arguments
            tables = [batch.tables[literal.predicate] for batch in self._batches]
        latest = {variable: number for number, variable in enumerate(scope)}
        axes = [latest[argument] for argument in arguments]
        planes = []
        for table in tables:
            if len(axes) == 2 and axes[0] == axes[1]:
                table = np.diagonal(table, axis1=1, axis2=2)
            elif len(axes) == 2 and axes[0] > axes[1]:
                table = table.swapaxes(1, 2)
            shape = [table.shape[0], *(self.size if i in axes else 1 for i in range(len(scope))), 1]
            planes.append(np.where(table, _ONES, np.uint64(0)).reshape(shape))
        return tuple(planes)

    def made(self, change: Change, parts: Sequence[Value]) -> Value:
        """The value at the place of `change` when its parts have these values."""
        if change.renamed is not None:
            scope = change.place.scope
            axis = 1 + max(number for number, variable in enumerate(scope) if variable == change.renamed[1])
            parts = [tuple(_identified(plane, axis) for plane in parts[0])]
        return self._filled(change.skeleton, change.place.scope, parts)

    def _filled(self, node: Formula, scope: tuple[Variable, ...], parts: Sequence[Value]) -> Value:
        if is_hole(node):
            assert isinstance(node, Atom)
            return parts[int(node.predicate)]
        if isinstance(node, Quantified):
            return quantified(isinstance(node, Exists), self._filled(node.body, (*scope, node.variable), parts))
        if isinstance(node, Not):
            return negation(self._filled(node.operand, scope, parts))
        if isinstance(node, Atom | Equal):
            return self.literal(node, scope)
        left, right = (self._filled(child, scope, parts) for child in node.children)
        return connected(type(node), left, right)

    def _value_of(self, place: Place) -> Value:
        node = place.node
        parts = [self._base[*place.path, number] for number in range(len(node.children))]
        return self._over_children(node, place.scope, parts)

    def _over_children(self, node: Formula, scope: Sequence[Variable], parts: Sequence[Value]) -> Value:
        if isinstance(node, Not):
            return negation(parts[0])
        if isinstance(node, Quantified):
            return quantified(isinstance(node, Exists), parts[0])
        if isinstance(node, Atom | Equal):
            return self.literal(node, scope)
        return connected(type(node), parts[0], parts[1])

    def one_up(self, path: Path, value: Value) -> Value:
        """The value of the parent when the child at `path` has `value` and the others are as they are."""
        above = self.places[path[:-1]]
        parts = [
            value if number == path[-1] else self._base[*path[:-1], number]
            for number in range(len(above.node.children))
        ]
        return self._over_children(above.node, above.scope, parts)

    def joined_values(self, path: Path, number: int, value: Value, other: Value) -> Value:
        """The value of the connective at `path` whose operand `number` has `value`, and the other one `other`."""
        node_type = type(self.places[path].node)
        return connected(node_type, value, other) if number == 0 else connected(node_type, other, value)

    def at_root(self, path: Path, value: Value) -> Value:
        """The value of the whole formula when the subformula at `path` has `value`."""
        while path:
            value = self.one_up(path, value)
            path = path[:-1]
        return value

    def fitting(self, root: Value, count: int) -> BoolArray:
        """`bool[count]`: which variants of the whole formula fit; in EC, which may."""
        to_match = [plane[: self._to_match] if plane.shape[0] > 1 else plane for plane in root]
        target = self._target[: self._to_match]
        wrong = (target & ~to_match[-1]) | (~target & to_match[0])
        bad = np.bitwise_or.reduce(wrong, axis=(0, 1))
        for w in range(self._to_match, self.worlds):
            of_world = root[0][w if root[0].shape[0] > 1 else 0]
            bad = bad | ~np.bitwise_or.reduce(of_world ^ self._target[w], axis=0)
        return ~unpacked(bad, count)

    def within_reach(self, path: Path, low: Value, high: Value, count: int) -> BoolArray:
        """`bool[count]`: for which variants the worlds to match can have their labels with a value between two.

        `low` and `high` are values at `path`, the first nowhere above the second. All may, where the formula is not
        monotone in the place.
        """
        if not self._monotone[path]:
            return np.ones(count, dtype=np.bool_)
        one, other = (
            [plane[: self._to_match] if plane.shape[0] > 1 else plane for plane in self.at_root(path, value)]
            for value in (low, high)
        )
        target = self._target[: self._to_match]
        wrong = (target & ~(one[-1] | other[-1])) | (~target & one[0] & other[0])
        return ~unpacked(np.bitwise_or.reduce(wrong, axis=(0, 1)), count)

    def count_wrong(self, root: Value, count: int) -> npt.NDArray[np.int64]:
        """`int64[count]`: for variants of the whole formula, objects mislabelled and NO worlds matched."""
        shape = (self.worlds, self.size, root[0].shape[-1])
        wrong = unpacked(np.broadcast_to(root[0] ^ self._target, shape), count) & self._real[..., None]
        mismatches: npt.NDArray[np.int64] = wrong[: self._to_match].sum(axis=(0, 1))
        matched = ~wrong[self._to_match :].any(axis=1)
        of_no_worlds: npt.NDArray[np.int64] = matched.sum(axis=0)
        return mismatches + of_no_worlds

    def _is_monotone(self, path: Path) -> bool:
        above = (self.places[path[:length]].node for length in range(len(path)))
        return not any(isinstance(node, Iff) for node in above)

    def joined(self, path: Path, sets: Sequence[Variants]) -> Variants:
        """Variants of the subformula at `path` together; where `merges`, the smallest of each value that is new."""
        added = np.concatenate([variants.added for variants in sets])
        edits = np.concatenate([variants.edits for variants in sets])
        shape = self._shape(path)
        planes = []
        for number in range(len(self._batches)):
            tables = [
                np.broadcast_to(unpacked(one.value[number], one.count), (*shape, one.count))
                for one in sets
                if one.count
            ]
            planes.append(np.concatenate(tables, axis=-1) if tables else np.zeros((*shape, 0), dtype=np.bool_))
        if self.merges and len(added):
            order = np.lexsort((edits, added))
            base = np.broadcast_to(unpacked(self._base[path][0], 1), (*shape, 1))
            rows = np.concatenate([base, planes[0][..., order]], axis=-1).reshape(-1, len(order) + 1)
            keys = np.packbits(rows, axis=0).T.copy()
            whole = keys.view(np.dtype((np.void, keys.shape[1])))[:, 0]
            _, first = np.unique(whole, return_index=True)
            kept = order[np.sort(first[first > 0]) - 1]
            planes, added, edits = [planes[0][..., kept]], added[kept], edits[kept]
        return Variants(tuple(packed(plane) for plane in planes), added, edits)

    def _shape(self, path: Path) -> tuple[int, ...]:
        return (self.worlds, *(self.size for _ in self.places[path].scope))


def _identified(plane: Words, axis: int) -> Words:
    """The plane with the innermost object axis made the same as another."""
    innermost = plane.ndim - 2
    if plane.shape[innermost] == 1:
        return plane[..., 0, :]
    if plane.shape[axis] == 1:
        return np.moveaxis(plane.squeeze(axis), innermost - 1, axis)
    return np.moveaxis(np.diagonal(plane, axis1=axis, axis2=innermost), -1, axis)
