"""`induction info`: what an instance file holds."""

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
    from induction.cli import inputs, output

    stream = inputs.InstanceStream(file, [instance_id] if instance_id else None)
    if instance_id:
        for instance in stream:
            (_print_instance_json if as_json else _print_instance)(instance)
    else:
        described = _Description()
        for instance in stream:
            described.add(instance)
        if as_json:
            output.print_json(
                {
                    "file": file,
                    "instances": len(described.ids),
                    "faults": [str(fault) for fault in stream.faults],
                    "groups": [group.facts(*names) for names, group in described.groups.items()],
                    "provenance": described.provenance.facts(),
                    "ids": described.ids,
                }
            )
        elif described.ids:
            _print_file(file, described)
    inputs.report_faults(stream.faults)
    return 2 if stream.faults else 0


class _Description:
    """What is told of the instances of a file, taken in one after another."""

    def __init__(self) -> None:
        from induction.cli.provenance import Provenance

        self.ids: list[str] = []
        self.groups: dict[tuple[str, str], _Group] = {}
        self.provenance = Provenance()

    def add(self, instance: "Instance") -> None:
        self.ids.append(instance.instance_id)
        self.groups.setdefault((instance.regime.value, instance.band_label), _Group()).add(instance)
        self.provenance.add(instance)


class _Group:
    """The instances of one regime and band."""

    def __init__(self) -> None:
        from induction.cli.provenance import Spread

        self.instances = 0
        self.worlds, self.objects, self.golds = Spread(), Spread(), Spread()
        self._densities = {1: _Share(), 2: _Share()}  # of a mean of densities: their sum, and how many
        self._labelled, self._unknown = _Share(), _Share()

    def add(self, instance: "Instance") -> None:
        self.instances += 1
        self.worlds.add(len(instance.worlds))
        if instance.gold_ast is not None:
            self.golds.add(instance.gold_ast)
        for world in instance.worlds:
            self.objects.add(world.size)
            self._labelled.add(int(world.target.sum()), world.size)
            for name, arity in world.signature.items():
                self._densities[arity].add(world.density(name), 1)
                if world.unknown[name].any():
                    self._unknown.add(int(world.unknown[name].sum()), world.unknown[name].size)

    def facts(self, regime: str, band: str) -> dict[str, Any]:
        """For programs."""
        return {
            "regime": regime,
            "band": band,
            "instances": self.instances,
            "worldsPerInstance": self.worlds.facts(),
            "objectsPerWorld": self.objects.facts(),
            "density": {"unary": self._densities[1].value, "binary": self._densities[2].value},
            "labelledShare": self._labelled.value,
            # among the atoms of the predicates that have any unknown one in that world
            "unknownShare": self._unknown.value or 0.0,
            "golds": len(self.golds),
            "goldAst": self.golds.facts() or None,
        }


class _Share:
    """A sum and what it is a share of."""

    def __init__(self) -> None:
        self._part: float = 0
        self._of = 0

    def add(self, part: float, of: int) -> None:
        self._part += part
        self._of += of

    @property
    def value(self) -> float | None:
        return round(self._part / self._of, 4) if self._of else None


def _print_file(file: str, described: _Description) -> None:
    from induction.cli import output
    from induction.errors import printable

    print(f"{printable(file, 200)}: {output.plural(len(described.ids), 'instance')}\n")
    rows = []
    for (regime, band), group in described.groups.items():
        facts = group.facts(regime, band)
        densities = "/".join("-" if d is None else f"{d:.2f}" for d in facts["density"].values())
        rows.append(
            (
                regime,
                band,
                group.instances,
                group.worlds.span,
                group.objects.span,
                densities,
                output.percent(facts["labelledShare"]),
                output.percent(facts["unknownShare"]),
                group.golds.span or "-",
            )
        )
    headings = ("regime", "band", "n", "worlds", "objects", "density", "T", "unknown", "gold AST")
    output.print_table(headings, rows, numeric=headings[2:], unbroken=headings[:2])
    print("\nn: instances; density: mean over unary/binary predicates; T: objects labelled;")
    print("unknown: share of the atoms of the predicates that have unknown ones")
    described.provenance.print()


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
