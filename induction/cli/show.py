"""`induction show`: the worlds of an instance, as a picture or as text."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from induction.errors import UnknownNameError, printable

if TYPE_CHECKING:
    from induction.formula.syntax import Formula
    from induction.worlds.instance import Instance
    from induction.worlds.world import BoolArray, World


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Instance file (YAML, JSON, JSONL, .gz), or -.")],
    instance_id: Annotated[str, typer.Option("--id", help="The instance to show.")],
    world: Annotated[list[str] | None, typer.Option("--world", help="Show this world alone; may be repeated.")] = None,
    formula: Annotated[
        str | None, typer.Option("--formula", help="Mark what this formula hits, misses and takes for T (- for stdin).")
    ] = None,
    picture: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Draw to this .svg, .png or .pdf file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    r"""Show the worlds of an instance: as text, or with -o as a picture of all of them on one sheet.

    With --formula, objects are marked as hits, misses (T, but the formula fails) and false alarms (the formula holds,
    but not T); in EC worlds for a completion that matches, or if there is none with every unknown atom false.

    \b
    Examples:
      induction show suite.yaml.gz --id simple_001
      induction show suite.yaml.gz --id simple_001 --world train_0 --formula '(exists y (R x y))'
      induction show suite.yaml.gz --id simple_001 -o worlds.svg
    """
    from induction.cli import inputs, output
    from induction.drawing.worlds import picture_form
    from induction.formula.parsing import parse_formula
    from induction.formula.printing import to_unicode

    inputs.require_one_standard_input(file, formula)
    form = picture_form(picture) if picture is not None else None
    instances, faults, _ = inputs.load_instances(file, [instance_id])
    if faults:
        raise faults[0]
    instance = instances[0]
    worlds = _chosen(instance, world)
    parsed = None if formula is None else parse_formula(inputs.formula_text(formula), instance.signature)
    marked = [_marked(parsed, instance, one) for one in worlds]
    heading = f"{instance.instance_id} ({instance.regime.value})"
    if parsed is not None:
        heading += f": {to_unicode(parsed)}"
    if picture is not None and form is not None:
        _draw(picture, form, heading, instance, marked)
    if as_json:
        output.print_json(_as_json(instance, marked, picture))
    elif picture is None:
        _print_worlds(heading, instance, marked)
    else:
        print(f"wrote {printable(picture, 200)}: {output.plural(len(worlds), 'world')}")
    return 0


def _chosen(instance: "Instance", names: Sequence[str] | None) -> "list[World]":
    by_name = {world.name: world for world in instance.worlds}
    for name in names or ():
        if name not in by_name:
            raise UnknownNameError(
                f"{instance.instance_id} has no world '{printable(name)}'; it has {printable(', '.join(by_name), 200)}"
            )
    return [by_name[name] for name in names] if names else list(instance.worlds)


def _marked(formula: "Formula | None", instance: "Instance", world: "World") -> "tuple[World, BoolArray | None]":
    """The world to show, and of which objects the formula holds in it."""
    from induction.evaluation import bitset
    from induction.grounding.completion import complete
    from induction.worlds.instance import Regime

    if formula is None:
        return world, None
    if instance.regime is Regime.EC:
        completed = complete(formula, world).completed
        if completed is not None:
            ((extension,),) = bitset.extensions([formula], [completed])
            return world, extension
    ((extension,),) = bitset.extensions([formula], [world])
    return world, extension


def _draw(
    path: str, form: str, heading: str, instance: "Instance", marked: "Sequence[tuple[World, BoolArray | None]]"
) -> None:
    from induction.drawing.worlds import Panel, draw
    from induction.worlds.formats import write_whole

    sides = instance.sides()
    panels = [Panel(world, f"{world.name} ({sides[world.name]})", extension) for world, extension in marked]
    write_whole(path, draw(panels, heading, form))


def _mark(labelled: bool, held: bool | None) -> str:
    if held is None:
        return "T" if labelled else "-"
    if labelled:
        return "hit" if held else "MISS"
    return "FALSE ALARM" if held else "-"


def _print_worlds(heading: str, instance: "Instance", marked: "Sequence[tuple[World, BoolArray | None]]") -> None:
    from induction.cli import output

    print(printable(heading, 2_000))
    sides = instance.sides()
    unary, binary = instance.signature.unary, instance.signature.binary
    for world, extension in marked:
        title = "T" if extension is None else "formula"
        rows = []
        for element, name in enumerate(world.domain):
            held = None if extension is None else bool(extension[element])
            rows.append(
                (
                    name,
                    _mark(bool(world.target[element]), held),
                    " ".join(_marks(world, unary, element)) or "-",
                    *(_successors(world, relation, element) for relation in binary),
                )
            )
        print(f"\n{world.name} ({sides[world.name]})")
        output.print_table(("object", title, "holds", *(f"{name} to" for name in binary)), rows)
    if any(world.count_unknown() for world, _ in marked):
        print("\n?: unknown")


def _marks(world: "World", predicates: Sequence[str], element: int) -> list[str]:
    true = [name for name in predicates if world.true[name][element]]
    return true + [f"{name}?" for name in predicates if world.unknown[name][element]]


def _successors(world: "World", relation: str, element: int) -> str:
    known = world.elements(world.true[relation][element])
    unknown = world.elements(world.unknown[relation][element])
    return " ".join((*known, *(f"{name}?" for name in unknown))) or "-"


def _as_json(
    instance: "Instance", marked: "Sequence[tuple[World, BoolArray | None]]", picture: str | None
) -> dict[str, Any]:
    from induction.worlds.records import atom_names

    sides = instance.sides()
    return {
        "instanceId": instance.instance_id,
        "regime": instance.regime.value,
        "picture": picture,
        "worlds": [
            {
                "worldId": world.name,
                "side": sides[world.name],
                "domain": list(world.domain),
                "true": {name: atom_names(world, table) for name, table in world.true.items()},
                "unknown": {name: atom_names(world, mask) for name, mask in world.unknown.items() if mask.any()},
                "labelled": list(world.elements(world.target)),
                "holds": None if extension is None else list(world.elements(extension)),
            }
            for world, extension in marked
        ],
    }
