"""The shapes of templates with holes instead of words: predicates, directions and signs are left open.

Unlike templates, sketches know no predicate: a hole takes whatever the signature at hand offers.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, product

from induction.families.shapes import SHAPES, ConditionSlot, EdgeSlot, Shape, connective_of
from induction.formula.metrics import quantifier_depth
from induction.formula.parsing import parse_formula
from induction.formula.syntax import And, Atom, Formula, Not, Or, Signature, Variable, fold


@dataclass(frozen=True)
class Hole:
    """What may stand in one place: an edge between two variables, or a condition on one, of two literals if `doubled`.

    `variables` are one or two; the hole is written as an atom of them, with the hole's name for a predicate.
    """

    name: str
    variables: tuple[Variable, ...]
    doubled: bool = False

    def choices(self, signature: Signature) -> list[Formula]:
        """Everything that the signature offers for the hole, smaller formulas first."""
        if len(self.variables) == 2:
            one, other = self.variables
            return [Atom(name, pair) for name in signature.binary for pair in ((one, other), (other, one))]
        literals = {name: (atom := Atom(name, self.variables), Not(atom)) for name in signature.unary}
        made: list[Formula] = [literal for pair in literals.values() for literal in pair]
        if self.doubled:
            for first, second in combinations(literals.values(), 2):
                made += [join(left, right) for join in (And, Or) for left, right in product(first, second)]
        return sorted(made, key=lambda formula: formula.ast_nodes)


@dataclass(frozen=True)
class Sketch:
    """A formula with holes: `formula` has an atom for each, over the signature `hole_signature`."""

    name: str
    formula: Formula
    holes: tuple[Hole, ...]

    @property
    def hole_signature(self) -> Signature:
        """The holes as predicates."""
        return Signature({hole.name: len(hole.variables) for hole in self.holes})

    @property
    def depth(self) -> int:
        """Quantifier depth."""
        return quantifier_depth(self.formula)

    def fill(self, chosen: Mapping[str, Formula]) -> Formula:
        """The formula with `chosen`, by the holes' names, in their places."""

        def combine(node: Formula, *parts: Formula) -> Formula:
            return chosen[node.predicate] if isinstance(node, Atom) else node.with_children(*parts)

        return fold(self.formula, combine)


@functools.cache
def all_sketches() -> tuple[Sketch, ...]:
    """The sketch of every shape, in the order of the shapes."""
    return tuple(_sketch(shape) for shape in SHAPES)


def _sketch(shape: Shape) -> Sketch:
    holes = []
    for name, slot in shape.slots.items():
        if isinstance(slot, EdgeSlot):
            holes.append(Hole(name, (slot.anchor, slot.other)))
        else:
            assert isinstance(slot, ConditionSlot)
            holes.append(Hole(name, (slot.variable,), any(connective_of(word) for word in slot.choices)))
    atoms = {hole.name: f"({hole.name} {' '.join(hole.variables)})" for hole in holes}
    signature = Signature({hole.name: len(hole.variables) for hole in holes})
    return Sketch(shape.name, parse_formula(shape.formula.format_map(atoms), signature), tuple(holes))
