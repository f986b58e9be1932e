"""What records tell of how their instances were made: templates, kills, survivors, certificates."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from induction.worlds.instance import Instance


def _mapping(value: object) -> Mapping[str, Any]:
    """`value` if it is a mapping: records come from anywhere, and what is no such field is passed over."""
    return value if isinstance(value, Mapping) else {}


def kills_of(instance: "Instance") -> dict[str, int]:
    """How many rivals each world refuted, by the world's name; without those that do not say."""
    told = {world.name: world.extra.get("kills") for world in instance.worlds}
    return {name: kills for name, kills in told.items() if isinstance(kills, int)}


def _survivors(instance: "Instance") -> int | None:
    number = _mapping(instance.description_extra.get("rivalsLeft")).get("formulas")
    return number if isinstance(number, int) else None


def _let_through(instance: "Instance") -> tuple[int, int] | None:
    told = _mapping(instance.description_extra.get("smallFormulasLetThrough"))
    through, tried = told.get("letThrough"), told.get("tried")
    return (through, tried) if isinstance(through, int) and isinstance(tried, int) else None


def facts(instances: "Sequence[Instance]") -> dict[str, Any]:
    """What the records of a file tell together, for programs; empty parts where none tells."""
    families = Counter(
        instance.description_extra["gold_family_id"]
        for instance in instances
        if isinstance(instance.description_extra.get("gold_family_id"), str)
    )
    templates = {
        instance.description_extra["gold_template_id"]
        for instance in instances
        if isinstance(instance.description_extra.get("gold_template_id"), str)
    }
    certificates = Counter(
        str(_mapping(instance.description_extra["certificate"]).get("status"))
        for instance in instances
        if "certificate" in instance.description_extra
    )
    kills = [number for instance in instances for number in kills_of(instance).values()]
    survivors = [number for number in map(_survivors, instances) if number is not None]
    let_through = [pair for pair in map(_let_through, instances) if pair is not None]
    examined = [
        instance
        for instance in instances
        if _mapping(_mapping(instance.description_extra.get("certificate")).get("smallest"))
    ]
    smaller = sum(instance.size_reference != instance.gold_ast for instance in examined)
    return {
        "families": dict(families.most_common()),
        "templates": len(templates),
        "killsPerWorld": _spread(kills),
        "survivors": {
            "instances": len(survivors),
            "with": sum(number > 0 for number in survivors),
            **_spread(survivors),
        },
        "letThrough": _spread([number for number, _ in let_through]),
        "certificates": dict(certificates.most_common()),
        "goldsNotSmallest": {"examined": len(examined), "with": smaller},
    }


def _spread(numbers: Sequence[int]) -> dict[str, float]:
    import statistics

    return {"min": min(numbers), "median": statistics.median(numbers), "max": max(numbers)} if numbers else {}


def print_facts(instances: "Sequence[Instance]") -> None:
    """What the records of a file tell together, for people; nothing where none tells."""
    from induction.cli import output

    told = facts(instances)
    fields: list[tuple[str, object]] = []
    if told["families"]:
        names = ", ".join(f"{name} {number}" for name, number in told["families"].items())
        fields.append(("families", f"{names}; {output.plural(told['templates'], 'template')}"))
    if told["killsPerWorld"]:
        fields.append(("kills per world", _span(told["killsPerWorld"])))
    if told["survivors"]["instances"]:
        left = told["survivors"]
        number = output.plural(left["instances"], "instance")
        fields.append(
            ("survivors", f"rivals that still fit, other than the gold's equals: in {left['with']} of {number}")
        )
    if told["letThrough"]:
        fields.append(("EC", f"formulas no larger than the gold let through: {_span(told['letThrough'])}"))
    if told["certificates"]:
        fields.append(("certificates", ", ".join(f"{status} {n}" for status, n in told["certificates"].items())))
        of_golds = told["goldsNotSmallest"]
        fields.append(("golds not smallest", f"{of_golds['with']} of {of_golds['examined']} examined"))
    if fields:
        print()
        output.print_fields(fields)


def _span(spread: Mapping[str, float]) -> str:
    return f"{spread['min']:,} to {spread['max']:,}, median {spread['median']:,g}"


def fields_of(instance: "Instance") -> list[tuple[str, object]]:
    """What one record tells, as names and values."""
    from induction.errors import printable

    description = instance.description_extra
    fields: list[tuple[str, object]] = []
    if isinstance(description.get("gold_template_id"), str):
        fields.append(("template", printable(description["gold_template_id"], 200)))
    if isinstance(description.get("gold_subfamily_key"), str):
        fields.append(("key", printable(description["gold_subfamily_key"], 200)))
    survivors = _survivors(instance)
    if survivors is not None:
        examples = _mapping(description.get("rivalsLeft")).get("examples")
        shown = [str(one) for one in examples] if isinstance(examples, list) else []
        fields.append(("rivals left", "\n".join([f"{survivors} pool formulas or near misses still fit", *shown])))
    let_through = _let_through(instance)
    if let_through is not None:
        words = f"{let_through[0]} of {let_through[1]} formulas no larger than the gold and not its equals"
        fields.append(("let through", f"{words} have a completion"))
    certificate = _mapping(description.get("certificate"))
    if certificate:
        fields.append(("certificate", _certificate_in_words(certificate, instance.gold_ast)))
    return fields


def _certificate_in_words(certificate: Mapping[str, Any], gold_ast: int | None) -> str:
    status = str(certificate.get("status"))
    if certificate.get("reason"):
        return f"{status}: {certificate['reason']}"
    lines = [
        f"{status}: every formula of AST {certificate.get('upToAst')} or less that fits is the gold's equal",
        f"({certificate.get('fragment')};",
        f"as told apart by its worlds and {certificate.get('probeWorlds')} more)",
    ]
    smallest = _mapping(certificate.get("smallest"))
    if smallest:
        if smallest.get("astSize") == gold_ast:
            lines.append("none of them is smaller")
        else:
            lines.append(f"smallest: AST {smallest.get('astSize')}, {smallest.get('evidence')}:")
            lines.append(str(smallest.get("formula")))
    return "\n".join(lines)
