"""The shapes that templates come in: formulas with slots for edges and conditions.

A slot's value is written as a word: an edge `Ryz` is the atom `(R y z)`; a condition `P`, `notP`, `PandQ`, `PornotQ`
is one or two literals of a variable that the slot knows. Everything that is told of a template (formula, key,
description, bands) follows from its shape and these words.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from induction.formula.syntax import Variable

Values: TypeAlias = Mapping[str, str]
"""The word in each slot, by the slot's name."""

_RELATIONS = ("R", "S")
_CONDITION = re.compile(r"(?P<first>(?:not)?[A-Z])(?:(?P<connective>and|or)(?P<second>(?:not)?[A-Z]))?")

ONE = ("P", "notP")
DOUBLED = ("PandQ", "PandnotQ", "PorQ", "PornotQ")
ANY = (*ONE, "Q", "notQ", *DOUBLED, "QandnotP", "QornotP", "notPandnotQ")


@dataclass(frozen=True)
class EdgeSlot:
    """An edge between `anchor` and `other`, in either direction and of either relation."""

    anchor: Variable
    other: Variable

    def words(self) -> Iterator[str]:
        """All edges, R before S, from the anchor before towards it."""
        for relation in _RELATIONS:
            yield f"{relation}{self.anchor}{self.other}"
            yield f"{relation}{self.other}{self.anchor}"

    def text(self, word: str) -> str:
        """The atom."""
        return f"({word[0]} {word[1]} {word[2]})"

    def english(self, word: str) -> str:
        """What the other is to the anchor."""
        return f"{word[0]}-{'successor' if word[1] == self.anchor else 'predecessor'}"


@dataclass(frozen=True)
class ConditionSlot:
    """One of `choices` said of `variable`."""

    variable: Variable
    choices: tuple[str, ...]

    def words(self) -> Iterator[str]:
        """All conditions, in order."""
        yield from self.choices

    def text(self, word: str) -> str:
        """The literal, or the conjunction or disjunction of two."""
        literals = [
            f"(not ({literal[3:]} {self.variable}))" if literal.startswith("not") else f"({literal} {self.variable})"
            for literal in literals_of(word)
        ]
        return literals[0] if len(literals) == 1 else f"({connective_of(word)} {' '.join(literals)})"

    def english(self, word: str) -> str:
        """The condition as a verb phrase."""
        parts = [f"lacks {lit[3:]}" if lit.startswith("not") else f"has {lit}" for lit in literals_of(word)]
        if len(parts) == 1:
            return parts[0]
        same_verb = parts[0].split()[0] == parts[1].split()[0]
        connective = connective_of(word)
        if connective == "and" and parts[0].startswith("lacks") and same_verb:
            return f"has neither {parts[0].split()[1]} nor {parts[1].split()[1]}"
        second = parts[1].split()[1] if same_verb else parts[1]
        return f"{parts[0]} {connective} {second}"


def literals_of(word: str) -> tuple[str, ...]:
    """The one or two literals of a condition, a negated one beginning with `not`. Raises ValueError for other words."""
    match = _CONDITION.fullmatch(word)
    if match is None:
        raise ValueError(f"{word!r} is no condition")
    return (match["first"],) if match["second"] is None else (match["first"], match["second"])


def connective_of(word: str) -> str:
    """`and`, `or`, or for a single literal nothing."""
    match = _CONDITION.fullmatch(word)
    return (match and match["connective"]) or ""


@dataclass(frozen=True)
class Shape:
    """Formulas alike but for the words in their slots.

    `formula` and `english` hold the slots in braces. `family` is the letter of the benchmark or OTHER, `key` says for
    each field of a key which slot fills it, `bands` names the bands ("FullObs hard", the challenge apart), `challenge`
    the slice of the challenge set, both for given words; `where` leaves out words that make the formula trivial or
    another template's.
    """

    name: str
    formula: str
    english: str
    slots: Mapping[str, EdgeSlot | ConditionSlot]
    bands: Callable[[Values], tuple[str, ...]]
    family: Callable[[Values], str]
    key: Mapping[str, str]
    challenge: Callable[[Values], str] = lambda values: ""
    where: Callable[[Values], bool] = lambda values: True

    def fillings(self) -> Iterator[Values]:
        """All admissible words for the slots, in order."""
        for words in itertools.product(*(slot.words() for slot in self.slots.values())):
            values = dict(zip(self.slots, words, strict=True))
            if self.where(values):
                yield values

    def text(self, values: Values) -> str:
        """The formula."""
        return self.formula.format_map({name: slot.text(values[name]) for name, slot in self.slots.items()})

    def words(self, values: Values) -> str:
        """The description in English."""
        return self.english.format_map({name: slot.english(values[name]) for name, slot in self.slots.items()})


def _always(*names: str) -> Callable[[Values], tuple[str, ...]]:
    return lambda values: names


def _family(letter: str) -> Callable[[Values], str]:
    return lambda values: letter


def _cross(values: Values, one: str, other: str) -> bool:
    return values[one][0] != values[other][0]


def _is_first_of_mirrored(values: Values) -> bool:
    """Whether a triangle comes no later than itself walked the other way round, which is the same formula."""
    mirrored = {
        "first": values["lift"].replace("z", "y"),
        "second": values["second"].translate(str.maketrans("yz", "zy")),
        "lift": values["first"].replace("y", "z"),
    }
    if mirrored["first"].startswith("S"):
        mirrored = {slot: word.translate(str.maketrans("RS", "SR")) for slot, word in mirrored.items()}
    return tuple(values.values()) <= tuple(mirrored.values())


def _along(values: Values, *paths: tuple[str, ...]) -> bool:
    """Whether the slots' words are one of `paths` in one relation."""
    return tuple(values.values()) in [
        tuple(f"{relation}{step}" for step in path) for path in paths for relation in "RS"
    ]


def _says_something(values: Values) -> bool:
    """Whether a lift is not true of everything, as it is of one relation and direction: x is such a y itself."""
    outer, lift = values["outer"], values["lift"]
    return (outer[0], outer[1] == "y") != (lift[0], lift[1] == "x")


def _both_ways(values: Values) -> bool:
    """Whether an object is asked to stand in one relation from x and in the other one to x."""
    return values["lift"][1] == "x" and values["back"][1] == "z" and _cross(values, "lift", "back")


def _returns(first: str, second: str) -> bool:
    """Whether a step along the first edge can be taken back along the second: the same relation, turned round."""
    return first[0] == second[0] and (first[1] < first[2]) != (second[1] < second[2])


def _guard_family(condition: str) -> str:
    """B where the guard is positive, C where it is one negated literal, OTHER for what else there is."""
    literals = literals_of(condition)
    if connective_of(condition) == "or" or (len(literals) == 2 and any(lit.startswith("not") for lit in literals)):
        return "OTHER"
    return "C" if literals[0].startswith("not") else "B"


def _guarded_lift_bands(values: Values) -> tuple[str, ...]:
    bands = ["FullObs hard", "FullObs extreme", "CI core", "CI lift_mix"]
    family = _guard_family(values["guard"])
    if family == "C" and not _cross(values, "outer", "lift"):
        bands.insert(0, "FullObs medium")
    if family == "B":
        bands.append("EC hard")
    return tuple(bands)


def _compact_ef_lift(values: Values) -> str:
    compact = values["guard"] in ("P", "Q") and _cross(values, "outer", "lift")
    return "compact_ef_lift_qd2" if compact else ""


def _filtered_ef_lift(values: Values) -> str:
    return "filtered_ef_lift_qd2" if len(values["filter"]) == 1 else ""


def _two_step_bands(values: Values) -> tuple[str, ...]:
    simple = len(literals_of(values["end"])) == 1 and not _cross(values, "first", "second")
    return ("FullObs easy" if simple else "FullObs medium", "FullObs hard", "CI core")


def _inner_family(condition: str) -> str:
    if len(literals_of(condition)) == 2:
        return "OTHER"
    return "F" if condition.startswith("not") else "D"


def _guardless(values: Values) -> str:
    relations = "cross" if _cross(values, "outer", "lift") else "same_relation"
    return f"guardless_{relations}_scope_lift_qd2"


_SIMPLE = _always("FullObs simple", "EC core")
_EC_CORE = _always("EC core")
_HARD_LIFT = _always("FullObs hard", "FullObs extreme", "CI lift_mix")
_CHALLENGE = _always()  # the challenge set alone, which every template with a slice belongs to
_NONE: Mapping[str, str] = {}

SHAPES: tuple[Shape, ...] = (
    # Boolean plus one quantifier.
    Shape(
        "literal-and-neighbour",
        "(and {own} (exists y (and {edge} {other})))",
        "x {own}, and it has an {edge} that {other}",
        {"own": ConditionSlot("x", ANY), "edge": EdgeSlot("x", "y"), "other": ConditionSlot("y", ANY)},
        _SIMPLE,
        _family("OTHER"),
        _NONE,
    ),
    Shape(
        "literal-and-any-neighbour",
        "(and {own} (exists y {edge}))",
        "x {own}, and it has an {edge}",
        {"own": ConditionSlot("x", (*ONE, *DOUBLED)), "edge": EdgeSlot("x", "y")},
        _SIMPLE,
        _family("OTHER"),
        _NONE,
    ),
    Shape(
        "literal-or-neighbour",
        "(or {own} (exists y (and {edge} {other})))",
        "x {own}, or it has an {edge} that {other}",
        {"own": ConditionSlot("x", ONE), "edge": EdgeSlot("x", "y"), "other": ConditionSlot("y", ANY)},
        _SIMPLE,
        _family("OTHER"),
        _NONE,
    ),
    Shape(
        "literal-and-all-neighbours",
        "(and {own} (forall y (or (not {edge}) {other})))",
        "x {own}, and every {edge} of x {other}",
        {"own": ConditionSlot("x", ONE), "edge": EdgeSlot("x", "y"), "other": ConditionSlot("y", ANY)},
        _SIMPLE,
        _family("OTHER"),
        _NONE,
    ),
    Shape(
        "neighbour",
        "(exists y (and {edge} {guard}))",
        "x has an {edge} that {guard}",
        {"edge": EdgeSlot("x", "y"), "guard": ConditionSlot("y", (*ONE, *DOUBLED))},
        _EC_CORE,
        lambda values: _guard_family(values["guard"]),
        {"guard": "guard"},
    ),
    Shape(
        "all-neighbours",
        "(forall y (or (not {edge}) {other}))",
        "every {edge} of x {other}",
        {"edge": EdgeSlot("x", "y"), "other": ConditionSlot("y", (*ONE, *DOUBLED))},
        _EC_CORE,
        _family("OTHER"),
        _NONE,
    ),
    Shape(
        "two-way-neighbour",
        "(exists y (and (and {edge} {back}) {guard}))",
        "x has an {edge} that is also an {back} of x, and {guard}",
        {"edge": EdgeSlot("x", "y"), "back": EdgeSlot("x", "y"), "guard": ConditionSlot("y", (*ONE, "PandQ", "PorQ"))},
        _EC_CORE,
        lambda values: _guard_family(values["guard"]),
        {"guard": "guard"},
        where=lambda values: values["edge"] != values["back"],
    ),
    Shape(
        "all-two-way-neighbours",
        "(forall y (or (or (not {edge}) (not {back})) {other}))",
        "every {edge} of x that is also an {back} of x {other}",
        {"edge": EdgeSlot("x", "y"), "back": EdgeSlot("x", "y"), "other": ConditionSlot("y", (*ONE, "PandQ", "PorQ"))},
        _EC_CORE,
        _family("OTHER"),
        _NONE,
        where=lambda values: values["edge"] != values["back"],
    ),
    # Every neighbour has a neighbour.
    Shape(
        "chain",
        "(forall y (or (not {outer}) (exists z {inner})))",
        "every {outer} of x has an {inner}",
        {"outer": EdgeSlot("x", "y"), "inner": EdgeSlot("y", "z")},
        _always("FullObs easy", "FullObs hard", "CI lift_mix", "EC hard"),
        _family("A"),
        {"outer": "outer", "inner": "inner"},
        where=lambda values: not _returns(values["outer"], values["inner"]),
    ),
    Shape(
        "chain-to-condition",
        "(forall y (or (not {outer}) (exists z (and {inner} {end}))))",
        "every {outer} of x has an {inner} that {end}",
        {"outer": EdgeSlot("x", "y"), "inner": EdgeSlot("y", "z"), "end": ConditionSlot("z", (*ONE, "PandQ", "PorQ"))},
        _always("FullObs hard", "CI core", "CI lift_mix"),
        lambda values: _inner_family(values["end"]),
        {"outer": "outer", "inner": "inner", "neg": "end"},
    ),
    # Two steps to something.
    Shape(
        "two-steps",
        "(exists y (exists z (and {first} {second})))",
        "x has an {first} that has an {second}",
        {"first": EdgeSlot("x", "y"), "second": EdgeSlot("y", "z")},
        _always("FullObs easy"),
        _family("H"),
        {"inner": "first"},
        where=lambda values: not _returns(values["first"], values["second"]),
    ),
    Shape(
        "two-steps-to-condition",
        "(exists y (exists z (and (and {first} {second}) {end})))",
        "x has an {first} that has an {second} that {end}",
        {"first": EdgeSlot("x", "y"), "second": EdgeSlot("y", "z"), "end": ConditionSlot("z", (*ONE, *DOUBLED))},
        _two_step_bands,
        _family("H"),
        {"inner": "first"},
    ),
    Shape(
        "triangle",
        "(exists y (exists z (and (and {first} {second}) {lift})))",
        "x has an {first} that has an {second} that is an {lift} of x",
        {"first": EdgeSlot("x", "y"), "second": EdgeSlot("y", "z"), "lift": EdgeSlot("x", "z")},
        _always("FullObs hard", "FullObs extreme", "CI lift_mix"),
        _family("H"),
        {"inner": "first", "lift": "lift"},
        where=_is_first_of_mirrored,
    ),
    # Some object whose neighbours are all neighbours of x.
    Shape(
        "guarded-lift",
        "(exists y (and {guard} (forall z (or (not {outer}) {lift}))))",
        "there is an object y that {guard} such that every {outer} of y is an {lift} of x",
        {
            "guard": ConditionSlot("y", (*ONE, "PandQ", "PorQ")),
            "outer": EdgeSlot("y", "z"),
            "lift": EdgeSlot("x", "z"),
        },
        _guarded_lift_bands,
        lambda values: _guard_family(values["guard"]),
        {"guard": "guard", "outer": "outer", "lift": "lift"},
        challenge=_compact_ef_lift,
    ),
    Shape(
        "lift",
        "(exists y (forall z (or (not {outer}) {lift})))",
        "there is an object y such that every {outer} of y is an {lift} of x",
        {"outer": EdgeSlot("y", "z"), "lift": EdgeSlot("x", "z")},
        _always("FullObs extreme", "CI lift_mix", "EC hard"),
        _family("G"),
        {"outer": "outer", "lift": "lift"},
        challenge=_guardless,
        where=_says_something,
    ),
    Shape(
        "filtered-guarded-lift",
        "(exists y (and {guard} (forall z (or (not {outer}) (and {lift} {filter})))))",
        "there is an object y that {guard} such that every {outer} of y is an {lift} of x, and {filter}",
        {
            "guard": ConditionSlot("y", ("P",)),
            "outer": EdgeSlot("y", "z"),
            "lift": EdgeSlot("x", "z"),
            "filter": ConditionSlot("z", ("P", "Q")),
        },
        _always("FullObs hard", "CI core", "CI lift_mix"),
        lambda values: _guard_family(values["guard"]),
        {"guard": "guard", "outer": "outer", "lift": "lift"},
    ),
    Shape(
        "filtered-lift",
        "(exists y (forall z (or (not {outer}) (and {lift} {filter}))))",
        "there is an object y such that every {outer} of y is an {lift} of x, and {filter}",
        {
            "outer": EdgeSlot("y", "z"),
            "lift": EdgeSlot("x", "z"),
            "filter": ConditionSlot("z", (*ONE, "PandQ", "PorQ")),
        },
        _always("FullObs hard", "CI core", "CI lift_mix"),
        _family("G"),
        {"outer": "outer", "lift": "lift"},
        challenge=_filtered_ef_lift,
    ),
    Shape(
        "lift-of-some",
        "(exists y (forall z (or (not (and {outer} {filter})) {lift})))",
        "there is an object y such that every {outer} of y that {filter} is an {lift} of x",
        {"outer": EdgeSlot("y", "z"), "filter": ConditionSlot("z", ONE), "lift": EdgeSlot("x", "z")},
        _HARD_LIFT,
        _family("G"),
        {"outer": "outer", "lift": "lift"},
        where=_says_something,
    ),
    Shape(
        "binary-guard-lift",
        "(exists y (and {edge} (forall z (or (not {outer}) {lift}))))",
        "x has an {edge} every {outer} of which is an {lift} of x",
        {"edge": EdgeSlot("x", "y"), "outer": EdgeSlot("y", "z"), "lift": EdgeSlot("x", "z")},
        _always("FullObs hard", "FullObs extreme"),
        _family("OTHER"),
        {"outer": "outer", "lift": "lift"},
        challenge=lambda values: "binary_guard_incoming_lift_qd2" if values["outer"][1] == "z" else "",
        # These say no more than that x has an edge to itself.
        where=lambda values: not _along(values, ("yx", "yz", "xz"), ("xy", "zy", "zx")),
    ),
    Shape(
        "response",
        "(forall y (or (not {outer}) (exists z (and {inner} {lift}))))",
        "every {outer} of x has an {inner} that is an {lift} of x",
        {"outer": EdgeSlot("x", "y"), "inner": EdgeSlot("y", "z"), "lift": EdgeSlot("x", "z")},
        _HARD_LIFT,
        _family("OTHER"),
        {"outer": "outer", "inner": "inner", "lift": "lift"},
    ),
    Shape(
        "common-neighbour",
        "(forall y (exists z (and {outer} {lift})))",
        "every object has an {outer} that is an {lift} of x",
        {"outer": EdgeSlot("y", "z"), "lift": EdgeSlot("x", "z")},
        _always("FullObs extreme"),
        _family("OTHER"),
        {"outer": "outer", "lift": "lift"},
        challenge=_guardless,
    ),
    # The other slices of the challenge set.
    Shape(
        "dual-role-lift",
        "(exists y (forall z (or (not {outer}) (and {lift} {back}))))",
        "there is an object y such that every {outer} of y is an {lift} and an {back} of x",
        {"outer": EdgeSlot("y", "z"), "lift": EdgeSlot("x", "z"), "back": EdgeSlot("x", "z")},
        _CHALLENGE,
        _family("OTHER"),
        {"outer": "outer", "lift": "lift"},
        challenge=lambda values: "dual_role_cross_lift_qd2",
        where=_both_ways,
    ),
    Shape(
        "filtered-dual-role-lift",
        "(exists y (forall z (or (not {outer}) (and {filter} (and {lift} {back})))))",
        "there is an object y such that every {outer} of y {filter}, and is an {lift} and an {back} of x",
        {
            "outer": EdgeSlot("y", "z"),
            "filter": ConditionSlot("z", ONE),
            "lift": EdgeSlot("x", "z"),
            "back": EdgeSlot("x", "z"),
        },
        _CHALLENGE,
        _family("OTHER"),
        {"outer": "outer", "lift": "lift"},
        challenge=lambda values: "filtered_dual_role_lift_qd2",
        where=_both_ways,
    ),
    Shape(
        "compact-response",
        "(exists y (forall z (or (not {outer}) (exists w (and {lift} {inner})))))",
        "there is an object y such that every {outer} of y has an {inner} that is an {lift} of x",
        {"outer": EdgeSlot("y", "z"), "inner": EdgeSlot("z", "w"), "lift": EdgeSlot("x", "w")},
        _CHALLENGE,
        _family("OTHER"),
        {"outer": "outer", "inner": "inner", "lift": "lift"},
        challenge=lambda values: "compact_response_qd3",
        # True of everything: y can be a neighbour of x, or x itself where it has none.
        where=lambda values: not _along(values, ("yz", "wz", "xw"), ("zy", "zw", "wx")),
    ),
    Shape(
        "nested-containment",
        "(exists y (and {first} (exists z (and {second} (forall w (or (not {outer}) {lift}))))))",
        "x has an {first} that has an {second} every {outer} of which is an {lift} of x",
        {
            "first": EdgeSlot("x", "y"),
            "second": EdgeSlot("y", "z"),
            "outer": EdgeSlot("z", "w"),
            "lift": EdgeSlot("x", "w"),
        },
        _CHALLENGE,
        _family("OTHER"),
        {"outer": "outer", "inner": "first", "lift": "lift"},
        challenge=lambda values: "nested_containment_qd3",
        where=lambda values: _cross(values, "first", "second") and _cross(values, "outer", "lift"),
    ),
    Shape(
        "universal-nested-response",
        "(forall y (or (not {outer}) (exists z (and {inner} (forall w (or (not {far}) {lift}))))))",
        "every {outer} of x has an {inner} every {far} of which is an {lift} of x",
        {
            "outer": EdgeSlot("x", "y"),
            "inner": EdgeSlot("y", "z"),
            "far": EdgeSlot("z", "w"),
            "lift": EdgeSlot("x", "w"),
        },
        _CHALLENGE,
        _family("OTHER"),
        {"outer": "outer", "inner": "inner", "lift": "lift"},
        challenge=lambda values: "universal_nested_response_qd3",
        where=lambda values: _cross(values, "outer", "inner") and _cross(values, "far", "lift"),
    ),
)
