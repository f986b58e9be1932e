"""`induction show`: the worlds of an instance, as a picture or as text."""

from collections.abc import Sequence
from dataclasses import dataclass
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
    world: Annotated[
        list[str] | None, typer.Option("--world", metavar="WORLD", help="Show this world alone; may be repeated.")
    ] = None,
    formula: Annotated[
        str | None, typer.Option("--formula", help="Mark what this formula hits, misses and takes for T (- for stdin).")
    ] = None,
    picture: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Draw to this .svg, .png or .pdf file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Show the worlds of an instance: as text, or with -o as a picture of all of them on one sheet.

    With --formula, objects are marked as hits, misses (T, but the formula fails) and false alarms (the formula holds,
    but not T); in EC worlds for a completion that matches, or if there is none with every unknown atom false.

    \b
    Examples:
      induction show suite.yaml.gz --id simple_001
      induction show suite.yaml.gz --id simple_001 --formula '(exists y (R x y))'
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


@dataclass(frozen=True)
class _Marked:
    """A world to show and, with a formula, of which objects it holds (`bool[n]`); `note` says what was assumed."""

    world: "World"
    extension: "BoolArray | None" = None
    note: str = ""


def _marked(formula: "Formula | None", instance: "Instance", world: "World") -> _Marked:
    from induction.evaluation import bitset
    from induction.grounding.completion import complete
    from induction.worlds.instance import Regime

    if formula is None:
        return _Marked(world)
    shown, note = world, ""
    if instance.regime is Regime.EC:
        completed = complete(formula, world).completed
        note = "unknown atoms false: no completion matches" if completed is None else "in a completion that matches"
        shown = completed or world
    ((extension,),) = bitset.extensions([formula], [shown])
    return _Marked(world, extension, note)


def _title(instance: "Instance", marked: _Marked) -> str:
    note = f"; {marked.note}" if marked.note else ""
    return f"{marked.world.name} ({instance.sides()[marked.world.name]}{note})"


def _draw(path: str, form: str, heading: str, instance: "Instance", marked: Sequence[_Marked]) -> None:
    from induction.drawing.worlds import Panel, draw
    from induction.worlds.writing import write_whole

    panels = [Panel(one.world, _title(instance, one), one.extension) for one in marked]
    write_whole(path, draw(panels, heading, form))


def _mark(labelled: bool, held: bool | None) -> str:
    if held is None:
        return "T" if labelled else "-"
    if labelled:
        return "hit" if held else "MISS"
    return "FALSE ALARM" if held else "-"


def _print_worlds(heading: str, instance: "Instance", marked: Sequence[_Marked]) -> None:
    from induction.cli import world_tables

    print(printable(heading, 2_000))
    for one in marked:
        held = [None] * one.world.size if one.extension is None else one.extension.tolist()
        marks = [_mark(bool(labelled), mark) for labelled, mark in zip(one.world.target, held, strict=True)]
        print(f"\n{_title(instance, one)}")
        world_tables.print_world(one.world, {"T" if one.extension is None else "formula": marks})
    if any(one.world.count_unknown() for one in marked):
        print("\n?: unknown")


def _as_json(instance: "Instance", marked: Sequence[_Marked], picture: str | None) -> dict[str, Any]:
    from induction.worlds.record_writing import atom_names

    sides = instance.sides()
    return {
        "instanceId": instance.instance_id,
        "regime": instance.regime.value,
        "picture": picture,
        "worlds": [
            {
                "worldId": one.world.name,
                "side": sides[one.world.name],
                "domain": list(one.world.domain),
                "true": {name: atom_names(one.world, table) for name, table in one.world.true.items()},
                "unknown": {p: atom_names(one.world, mask) for p, mask in one.world.unknown.items() if mask.any()},
                "labelled": list(one.world.elements(one.world.target)),
                "holds": None if one.extension is None else list(one.world.elements(one.extension)),
                "note": one.note or None,
            }
            for one in marked
        ],
    }
