"""A world as a table: an object a line."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from induction.worlds.world import World


def print_world(world: "World", marks: Mapping[str, Sequence[str]]) -> None:
    """The objects of `world` with `marks` (by heading, one an object), unary predicates and successors."""
    from induction.cli import output

    unary, binary = world.signature.unary, world.signature.binary
    rows = [
        (
            name,
            *(column[element] for column in marks.values()),
            " ".join(_predicates(world, unary, element)) or "-",
            *(_successors(world, relation, element) for relation in binary),
        )
        for element, name in enumerate(world.domain)
    ]
    output.print_table(("object", *marks, "unary", *(f"{name} to" for name in binary)), rows)


def _predicates(world: "World", predicates: Sequence[str], element: int) -> list[str]:
    true = [name for name in predicates if world.true[name][element]]
    return true + [f"{name}?" for name in predicates if world.unknown[name][element]]


def _successors(world: "World", relation: str, element: int) -> str:
    known = world.elements(world.true[relation][element])
    unknown = world.elements(world.unknown[relation][element])
    return " ".join((*known, *(f"{name}?" for name in unknown))) or "-"
