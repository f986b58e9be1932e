"""What records tell of how their instances were made: templates, kills, survivors, certificates."""

from collections import Counter
from collections.abc import Mapping
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


class Spread:
    """Whole numbers, of which least, median and greatest are told; taken in one after another, kept by how often."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()

    def __len__(self) -> int:
        return self._counts.total()

    def add(self, number: int) -> None:
        """Count one more."""
        self._counts[number] += 1

    def facts(self) -> dict[str, float]:
        """For programs; empty where there are none."""
        if not self._counts:
            return {}
        total = len(self)
        middle = [self._at((total - 1) // 2), self._at(total // 2)]
        median = middle[0] if total % 2 else sum(middle) / 2
        return {"min": min(self._counts), "median": median, "max": max(self._counts)}

    def _at(self, place: int) -> int:
        for number in sorted(self._counts):
            place -= self._counts[number]
            if place < 0:
                return number
        raise IndexError(place)

    @property
    def span(self) -> str:
        """The range as `7-9`, or `7` if all are alike; "" where there are none."""
        from induction.cli import output

        return output.span(list(self._counts)) if self._counts else ""


class Provenance:
    """What the records of a file tell together, taken in one after another."""

    def __init__(self) -> None:
        self._families: Counter[str] = Counter()
        self._templates: set[str] = set()
        self._certificates: Counter[str] = Counter()
        self._kills, self._survivors, self._let_through = Spread(), Spread(), Spread()
        self._with_survivors = self._examined = self._smaller = 0

    def add(self, instance: "Instance") -> None:
        """Take in what one record tells; what is not of the form we know is passed over."""
        description = instance.description_extra
        if isinstance(description.get("gold_family_id"), str):
            self._families[description["gold_family_id"]] += 1
        if isinstance(description.get("gold_template_id"), str):
            self._templates.add(description["gold_template_id"])
        if "certificate" in description:
            self._certificates[str(_mapping(description["certificate"]).get("status"))] += 1
        for number in kills_of(instance).values():
            self._kills.add(number)
        survivors, let_through = _survivors(instance), _let_through(instance)
        if survivors is not None:
            self._survivors.add(survivors)
            self._with_survivors += survivors > 0
        if let_through is not None:
            self._let_through.add(let_through[0])
        if _mapping(_mapping(description.get("certificate")).get("smallest")):
            self._examined += 1
            self._smaller += instance.size_reference != instance.gold_ast

    def facts(self) -> dict[str, Any]:
        """For programs; empty parts where none tells."""
        return {
            "families": dict(self._families.most_common()),
            "templates": len(self._templates),
            "killsPerWorld": self._kills.facts(),
            "survivors": {
                "instances": len(self._survivors),
                "with": self._with_survivors,
                **self._survivors.facts(),
            },
            "letThrough": self._let_through.facts(),
            "certificates": dict(self._certificates.most_common()),
            "goldsNotSmallest": {"examined": self._examined, "with": self._smaller},
        }

    def print(self) -> None:
        """For people; nothing where none tells."""
        _print_facts(self.facts())


def _print_facts(told: Mapping[str, Any]) -> None:
    from induction.cli import output

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
