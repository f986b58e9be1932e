"""`induction info`: what an instance file holds."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from induction.worlds.instance import Instance
    from induction.worlds.world import World


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Instance file (YAML, JSON, JSONL, .gz), or -.")],
    instance_id: Annotated[str | None, typer.Option("--id", help="Describe this instance alone.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Describe an instance file: counts by regime and band, world sizes, densities, labels, gold sizes.

    For generated files also templates and families, how many rivals each world refuted, what still fits, and what the
    certificates say.

    \b
    Examples:
      induction info suite.yaml.gz
      induction info suite.yaml.gz --id simple_001
    """
    from induction.cli import inputs, output, provenance

    instances, faults, _ = inputs.load_instances(file, [instance_id] if instance_id else None)
    if instance_id and instances:
        (_print_instance_json if as_json else _print_instance)(instances[0])
    elif as_json:
        groups = [_group_facts(regime, band, members) for (regime, band), members in _grouped(instances).items()]
        output.print_json(
            {
                "file": file,
                "instances": len(instances),
                "faults": [str(fault) for fault in faults],
                "groups": groups,
                "provenance": provenance.facts(instances),
                "ids": [instance.instance_id for instance in instances],
            }
        )
    elif instances:
        _print_file(file, instances)
    inputs.report_faults(faults)
    return 2 if faults else 0


def _grouped(instances: Sequence["Instance"]) -> dict[tuple[str, str], list["Instance"]]:
    groups: dict[tuple[str, str], list[Instance]] = {}
    for instance in instances:
        groups.setdefault((instance.regime.value, instance.band_label), []).append(instance)
    return groups


def _group_facts(regime: str, band: str, members: Sequence["Instance"]) -> dict[str, Any]:
    worlds = [world for instance in members for world in instance.worlds]
    golds = [instance.gold_ast for instance in members if instance.gold_ast is not None]
    return {
        "regime": regime,
        "band": band,
        "instances": len(members),
        "worldsPerInstance": _range([len(instance.worlds) for instance in members]),
        "objectsPerWorld": _range([world.size for world in worlds]),
        "density": {"unary": _mean_density(worlds, arity=1), "binary": _mean_density(worlds, arity=2)},
        "labelledShare": _labelled_share(worlds),
        "unknownShare": _unknown_share(worlds),
        "golds": len(golds),
        "goldAst": _range(golds) if golds else None,
    }


def _range(values: Sequence[int]) -> dict[str, float]:
    import statistics

    return {"min": min(values), "median": statistics.median(values), "max": max(values)}


def _mean_density(worlds: Sequence["World"], arity: int) -> float | None:
    densities = [w.density(p) for w in worlds for p in (w.signature.unary if arity == 1 else w.signature.binary)]
    return round(sum(densities) / len(densities), 4) if densities else None


def _labelled_share(worlds: Sequence["World"]) -> float:
    return round(sum(int(w.target.sum()) for w in worlds) / sum(w.size for w in worlds), 4)


def _unknown_share(worlds: Sequence["World"]) -> float:
    """Share of unknown atoms among those of the predicates that have any."""
    masks = [mask for world in worlds for mask in world.unknown.values() if mask.any()]
    return round(sum(int(m.sum()) for m in masks) / sum(m.size for m in masks), 4) if masks else 0.0


def _print_file(file: str, instances: Sequence["Instance"]) -> None:
    from induction.cli import output, provenance
    from induction.errors import printable

    print(f"{printable(file, 200)}: {output.plural(len(instances), 'instance')}\n")
    rows = []
    for (regime, band), members in _grouped(instances).items():
        facts = _group_facts(regime, band, members)
        golds = [instance.gold_ast for instance in members if instance.gold_ast is not None]
        densities = "/".join("-" if d is None else f"{d:.2f}" for d in facts["density"].values())
        rows.append(
            (
                regime,
                band,
                len(members),
                output.span([len(instance.worlds) for instance in members]),
                output.span([world.size for instance in members for world in instance.worlds]),
                densities,
                output.percent(facts["labelledShare"]),
                output.percent(facts["unknownShare"]),
                output.span(golds) if golds else "-",
            )
        )
    headings = ("regime", "band", "n", "worlds", "objects", "density", "T", "unknown", "gold AST")
    output.print_table(headings, rows, numeric=headings[2:], unbroken=headings[:2])
    print("\nn: instances; density: mean over unary/binary predicates; T: objects labelled;")
    print("unknown: share of the atoms of the predicates that have unknown ones")
    provenance.print_facts(instances)


def _world_facts(world: "World", side: str) -> dict[str, Any]:
    return {
        "worldId": world.name,
        "side": side,
        "objects": world.size,
        "labelled": int(world.target.sum()),
        "density": {predicate: round(world.density(predicate), 4) for predicate in world.signature},
        "unknown": {p: int(mask.sum()) for p, mask in world.unknown.items() if mask.any()},
    }


def _print_instance_json(instance: "Instance") -> None:
    from induction.cli import output
    from induction.formula.syntax import to_sexpr

    sides = instance.sides()
    output.print_json(
        {
            "instanceId": instance.instance_id,
            "regime": instance.regime.value,
            "band": instance.band_label,
            "signature": dict(instance.signature.items()),
            "gold": None if instance.gold is None else to_sexpr(instance.gold),
            "goldAst": instance.gold_ast,
            "sizeReference": instance.size_reference,
            "worlds": [_world_facts(world, sides[world.name]) for world in instance.worlds],
            "provenance": dict(instance.description_extra),
        }
    )


def _print_instance(instance: "Instance") -> None:
    from induction.cli import output, provenance
    from induction.formula.metrics import quantifier_depth
    from induction.formula.printing import to_unicode
    from induction.formula.syntax import to_sexpr

    gold = "not recorded"
    if instance.gold is not None:
        depth = quantifier_depth(instance.gold)
        gold = f"{to_sexpr(instance.gold)}\n{to_unicode(instance.gold)}\nAST {instance.gold_ast}, depth {depth}"
    output.print_fields(
        (
            ("instance", instance.instance_id),
            ("regime", f"{instance.regime.value}, band {instance.band_label}"),
            ("predicates", instance.signature),
            ("gold", gold),
            *provenance.fields_of(instance),
        )
    )
    print()
    sides = instance.sides()
    names = list(instance.signature)
    shown = names if sum(map(len, names)) + 7 * len(names) <= 42 else []  # what fits beside the rest
    kills = provenance.kills_of(instance)
    headings = ("world", "side", "objects", "T", *shown, "unknown", *(["kills"] if kills else []))
    rows = [
        (
            world.name,
            sides[world.name],
            world.size,
            int(world.target.sum()),
            *(f"{world.density(name):.2f}" for name in shown),
            world.count_unknown() or "-",
            *([kills.get(world.name, "-")] if kills else []),
        )
        for world in instance.worlds
    ]
    output.print_table(headings, rows, numeric=headings[2:])
    if kills:
        print("\nkills: rivals that fitted every world before and not this one", end="")
    print(f"\nT: objects labelled{'; under a predicate the share of its known atoms that hold' if shown else ''}")
