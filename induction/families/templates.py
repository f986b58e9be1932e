"""The templates: every filling of every shape, told apart up to exchanging P with Q and R with S."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from induction.families.shapes import SHAPES, EdgeSlot, Shape, Values, connective_of, literals_of
from induction.formula.canonical import canonical_key
from induction.formula.metrics import count_lift_depth, quantifier_depth
from induction.formula.normal_forms import to_miniscoped
from induction.formula.parsing import parse_formula
from induction.formula.syntax import DEFAULT_SIGNATURE, Formula, with_predicates
from induction.grounding.equivalence import Comparer

FAMILIES = ("A", "B", "C", "D", "F", "G", "H", "OTHER")
"""The letters of the benchmark."""

CHALLENGE_BAND = "FullObs challenge"

CHALLENGE_SLICES = (
    "guardless_cross_scope_lift_qd2",
    "guardless_same_relation_scope_lift_qd2",
    "dual_role_cross_lift_qd2",
    "binary_guard_incoming_lift_qd2",
    "filtered_ef_lift_qd2",
    "filtered_dual_role_lift_qd2",
    "compact_ef_lift_qd2",
    "compact_response_qd3",
    "nested_containment_qd3",
    "universal_nested_response_qd3",
)
"""The parts of the later FullObs challenge, under the names of its files."""

MAX_AST = 18
"""Largest gold of the released benchmark, the later challenge apart."""

_EXCHANGES = (("PQ", "QP"), ("RS", "SR"), ("PQRS", "QPSR"))  # beside the letters as they are
_KEY_FIELDS = ("guard", "outer", "inner", "lift", "neg")


@dataclass(frozen=True)
class Variant:
    """One formula of a template, with its own letters in place: what a gold is an instance of.

    `key` is in the form of the release's `gold_subfamily_key`, `canonical` the formula's canonical key.
    """

    formula: Formula
    key: str
    english: str
    canonical: str


@dataclass(frozen=True)
class Template:
    """A structure that concepts come in; its `variants` are the formulas of that structure, the first its example.

    `family` is one of `FAMILIES`, `challenge_slice` one of `CHALLENGE_SLICES` or "", `bands` holds names such as
    "FullObs hard". `is_lifted` says that x stands under two quantifiers in miniscoped form.
    """

    template_id: str
    family: str
    challenge_slice: str
    bands: tuple[str, ...]
    is_lifted: bool
    quantifier_depth: int
    variants: tuple[Variant, ...]

    @property
    def formula(self) -> Formula:
        """The example."""
        return self.variants[0].formula

    @property
    def key(self) -> str:
        """The example's key in the form of the release's `gold_subfamily_key`."""
        return self.variants[0].key

    @property
    def english(self) -> str:
        """The example in plain English."""
        return self.variants[0].english


@functools.cache
def all_templates() -> tuple[Template, ...]:
    """Every template, in the order of the shapes."""
    templates: list[Template] = []
    taken: set[str] = set()
    for shape in SHAPES:
        words_taken: set[tuple[str, ...]] = set()
        for values in shape.fillings():
            if tuple(values.values()) in words_taken:
                continue
            words_taken.update(tuple(_exchanged(values, letters).values()) for letters in _EXCHANGES)
            formula = parse_formula(shape.text(values), DEFAULT_SIGNATURE)
            if formula.ast_nodes > MAX_AST and not shape.challenge(values):
                continue
            template = _template(shape, values, formula)
            if template.variants[0].canonical not in taken:
                taken.update(variant.canonical for variant in template.variants)
                templates.append(template)
    return tuple(templates)


def find_variant(formula: Formula) -> tuple[Template, Variant] | None:
    """The template that `formula` is an instance of and the variant it is, up to how it is written; None without."""
    return _variants_by_key().get(canonical_key(formula))


def find_equivalent_variant(formula: Formula, comparer: Comparer) -> tuple[Template, Variant] | None:
    """As `find_variant`, for formulas written in any way: compared by meaning, which takes about a second."""
    pairs = [(template, variant) for template in all_templates() for variant in template.variants]
    number = comparer.first_alike([*(variant.formula for _, variant in pairs), formula])[-1]
    return pairs[number] if number < len(pairs) else None


@functools.cache
def _variants_by_key() -> Mapping[str, tuple[Template, Variant]]:
    return {variant.canonical: (template, variant) for template in all_templates() for variant in template.variants}


def _exchanged(values: Values, letters: tuple[str, str]) -> Values:
    table = str.maketrans(*letters)
    return {slot: word.translate(table) for slot, word in values.items()}


def _variant(shape: Shape, values: Values, formula: Formula) -> Variant:
    return Variant(formula, _key(shape, values), shape.words(values), canonical_key(formula))


def _template(shape: Shape, values: Values, formula: Formula) -> Template:
    first = _variant(shape, values, formula)
    variants = {first.canonical: first}
    for letters in _EXCHANGES:
        exchanged = with_predicates(formula, dict(zip(*letters, strict=True)))
        variant = _variant(shape, _exchanged(values, letters), exchanged)
        variants.setdefault(variant.canonical, variant)
    return Template(
        template_id=f"{shape.name}:{','.join(values.values())}",
        family=shape.family(values),
        challenge_slice=shape.challenge(values),
        bands=(*shape.bands(values), *([CHALLENGE_BAND] if shape.challenge(values) else [])),
        is_lifted=count_lift_depth(to_miniscoped(formula)) >= 2,
        quantifier_depth=quantifier_depth(formula),
        variants=tuple(variants.values()),
    )


def _key(shape: Shape, values: Values) -> str:
    family = shape.family(values)
    fields = dict.fromkeys(_KEY_FIELDS, "none")
    for field, slot in shape.key.items():
        fields[field] = _key_word(field, family, values[slot])
    relations = {values[name][0] for name, slot in shape.slots.items() if isinstance(slot, EdgeSlot)}
    parts = (family, *(f"{field}={word}" for field, word in fields.items()), f"RS={int(len(relations) == 2)}")
    return "|".join(parts)


def _key_word(field: str, family: str, word: str) -> str:
    """How the release writes a slot's word: of a guard the first literal, and none for a disjunction."""
    match field:
        case "guard":
            return "none" if connective_of(word) == "or" else literals_of(word)[0]
        case "neg":
            return word.removeprefix("not") if family == "F" else "none"
        case "lift":
            return f"{word[0]}_{word[1:]}"
    return word
