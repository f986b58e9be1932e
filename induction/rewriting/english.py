"""A formula as one English sentence, which `reading` turns back into the same formula.

NOTE(one-to-one): every wording stands for one structure, so that a sentence has one reading: "every R-successor of x
is P" is `(forall y (or (not (R x y)) (P y)))` and "each R-successor of x is P" the same with `implies`; "both ... and",
"either ... or ... (or both)" and numbered parts show where a part ends. What a sentence loses is the names of bound
variables alone. `grammars/english.lark` is the list of wordings.

An object is spoken of without a name while it is what the phrase is about ("an R-successor that is P"), and gets one
where something else refers to it ("an R-successor y such that ..."). Where the parts of a connective are too many or
too entangled for one breath they are numbered, and the numbers are announced: "both (1) and (2) hold: (1) ...".
"""

import itertools
import re
import textwrap
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from induction.formula.metrics import free_variables
from induction.formula.syntax import (
    And,
    Atom,
    BinaryConnective,
    Equal,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    PredicateName,
    Quantified,
    Variable,
    require_tree_size,
    run_walk,
    subformulas,
)

PHRASES = {
    "is": "IS", "are": "IS", "has": "HAS", "have": "HAS", "has no": "HAS_NO", "have no": "HAS_NO", "a": "A",
    "an": "A", "not": "NOT", "of": "OF", "itself": "ITSELF", "that": "THAT", "that are": "THAT_IS",
    "that is": "THAT_IS", "that is also": "ALSO", "and that": "AND_THAT", "and that is": "AND_THAT_IS",
    "such that": "SUCH_THAT", "and such that": "AND_SUCH_THAT", "all of whose": "ALL_OF_WHOSE",
    "whose every": "WHOSE_EVERY", "each of whose": "EACH_OF_WHOSE", "none of whose": "NONE_OF_WHOSE",
    "not one of whose": "NOT_ONE_OF_WHOSE", "and all of whose": "AND_ALL_OF_WHOSE",
    "and whose every": "AND_WHOSE_EVERY", "and each of whose": "AND_EACH_OF_WHOSE",
    "and none of whose": "AND_NONE_OF_WHOSE", "and not one of whose": "AND_NOT_ONE_OF_WHOSE", "every": "EVERY",
    "each": "EACH", "no": "NO", "not one": "NOT_ONE", "not every": "NOT_EVERY", "not each": "NOT_EACH",
    "for every": "FOR_EVERY", "for each": "FOR_EACH", "for all objects": "FOR_ALL_OBJECTS",
    "there is a": "THERE_IS_A", "there is an": "THERE_IS_A", "there is an object": "THERE_IS",
    "there is no object": "THERE_IS_NO", "there are objects": "THERE_ARE", "object": "OBJECT",
    "other than": "OTHER_THAN", "in both directions": "IN_BOTH_DIRECTIONS", "the same object as": "SAME_AS",
    "identical to": "IDENTICAL_TO", "different from": "DIFFERENT_FROM", "some": "SOME", "of some": "OF_SOME",
    "for some": "FOR_SOME", "and some": "AND_SOME", "both": "BOTH", "and": "AND", "either": "EITHER", "or": "OR",
    "(or both)": "OR_BOTH", "(but not both)": "BUT_NOT_BOTH", ",": "COMMA", ", and": "COMMA_AND",
    ", and/or": "COMMA_AND_OR", "neither": "NEITHER", "nor": "NOR", "but not": "BUT_NOT", "but is": "BUT_IS",
    "but are": "BUT_IS", "not both": "NOT_BOTH", "at once": "AT_ONCE", "at least one of": "AT_LEAST_ONE_OF",
    "if": "IF", "then": "THEN", "exactly when": "EXACTLY_WHEN", "exactly when it is": "EXACTLY_WHEN_IT_IS",
    "if it is": "IF_IT_IS", "it is not the case that": "DENIAL",
}  # fmt: skip
"""The phrases of the language, with the terminals of the grammar that they are."""

RESERVED = frozenset(re.findall(r"[a-z]+", " ".join(PHRASES))) | {"hold", "holds", "does", "so"}
"""Words of the language: a predicate or variable of such a name is put in quotes."""

MAX_PHRASE_CHARACTERS = 150
"""Longest run of text in which parts are coordinated without numbers."""

_MOST_IN_A_CHAIN = 4
_MOST_TANGLED = 3
_MOST_NODES_IN_A_BREATH = 60
_DEEPEST_MARGIN = 10
_LETTERS = "yzwvutsrqponmlkjihgfedcba"

# How much a phrase carries: what may stand beside it, and where, depends on this.
_LITERAL, _NESTED, _GROUPED, _JOINED, _LISTED = range(5)


@dataclass(frozen=True)
class English:
    """A formula in words. `layout` is the words of `sentence` on lines, a numbered part on its own and indented."""

    sentence: str
    layout: tuple[str, ...]


def to_english(formula: Formula, names: Mapping[Variable, str] | None = None, *, width: int = 80) -> English:
    """`formula` as one sentence, on one line and laid out in lines of at most `width` characters where words allow.

    `names` says what free variables are called instead (objects of a world, say); `reading.read_english` gives the
    formula back, up to the names of bound variables, where there are none.

    Raises:
        FormulaTooLargeError: more than `MAX_TREE_NODES` AST nodes.
    """
    require_tree_size(formula, "saying in words")
    phrase = run_walk(_Writer(formula, names or {}).clause(formula, root=True))
    lines = _lines(phrase)
    return English(" ".join(text for _, text in lines), tuple(_wrapped(lines, width)))


def predicate_of(formula: Formula, subject: Variable, names: Mapping[Variable, str]) -> str | None:
    """What `formula` says of `subject` as "is P", "has an R-successor that is Q"; None where it is no such thing.

    `names` says what the other free variables are called.

    Raises:
        FormulaTooLargeError: more than `MAX_TREE_NODES` AST nodes.
    """
    require_tree_size(formula, "saying in words")
    writer = _Writer(formula, {**names, subject: ""})
    about = writer.resolve(subject)
    phrase = run_walk(writer.verb_phrase(formula, about, nested=False))
    if phrase is None or about.uses:
        return None
    return " ".join(text for _, text in _lines(phrase))


def abridged(sentence: str, longest: int = 240) -> str:
    """`sentence`, cut between words where it is longer."""
    if len(sentence) <= longest:
        return sentence
    return f"{sentence[: longest - 2].rsplit(' ', 1)[0]} …"


@dataclass(eq=False)
class _Binding:
    """An object spoken of: what it is called, and how often it is called so; deeper ones are bound further in."""

    name: str
    depth: int
    uses: int = 0


@dataclass(frozen=True)
class _Call:
    """The place where an object is introduced: its name, if anything calls it by that."""

    binding: _Binding


@dataclass(frozen=True, eq=False)
class _Phrase:
    """Words, phrases within and the names of objects. `weight` as above; `ands` and `ors` tell of words inside."""

    parts: "tuple[_Part, ...]"
    weight: int
    ands: bool = False
    ors: bool = False
    length: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", sum(_length(part) for part in self.parts))


@dataclass(frozen=True, eq=False)
class _Numbered:
    """A connective whose parts are numbered: `head` has a place for the first and the last number."""

    head: str
    items: tuple[_Phrase, ...]


_Part: TypeAlias = "str | _Phrase | _Numbered | _Binding | _Call"
_Walk: TypeAlias = Generator[Any, "_Phrase", "_Phrase"]
_Attempt: TypeAlias = Generator[Any, Any, "_Phrase | None"]


def _length(part: _Part) -> int:
    match part:
        case str():
            return len(part) + 1
        case _Phrase():
            return part.length
        case _Binding():
            return len(part.name) + 1
        case _:
            return 0


@dataclass(frozen=True)
class _Relation:
    """That the bound variable is, to `anchor`, a "successor", "predecessor" or (both ways) "neighbour"."""

    predicate: PredicateName
    anchor: Variable
    role: str


@dataclass(frozen=True)
class _Some:
    """The body of "exists" taken apart: a relation, a literal in one part with it (`also`), and the rest, if any."""

    relation: _Relation | None
    rest: Formula | None
    also: Formula | None = None


@dataclass(frozen=True)
class _Every:
    """The body of "forall" taken apart: which objects are spoken of, and what of them (`rest`).

    `how` is how `restriction` restricts: "that" they are so, "also" beside the relation in one part with it, or
    "other" than a variable that they do not equal. `implies` says that it is `implies` that divides the body.
    """

    relation: _Relation | None
    rest: Formula
    restriction: Formula | None = None
    how: str = ""
    implies: bool = False


class _Writer:
    """Writes phrases for parts of one formula. The walks are generators for `run_walk`; they push and pop scopes."""

    def __init__(self, formula: Formula, names: Mapping[Variable, str]) -> None:
        self._predicates: set[str] = set()
        self._tangled: dict[int, int] = {}  # by node: groups of connectives within each other
        for node in subformulas(formula):
            if isinstance(node, Atom):
                self._predicates.add(node.predicate)
            self._tangled[id(node)] = self._count_groups(node)
        self._scopes: dict[Variable, list[_Binding]] = {}
        self._taken: dict[str, int] = {}
        self._depth = 0
        self._uses: list[_Binding] = []
        called: dict[str, _Binding] = {}  # variables that stand for one object are one
        for variable in sorted(free_variables(formula)):
            name = names.get(variable)
            shown = (f"'{variable}'" if variable in RESERVED else variable) if name is None else name
            if shown not in called:
                called[shown] = _Binding(shown, 0)
            self._scopes[variable] = [called[shown]]
            self._taken[shown] = 1

    def _count_groups(self, node: Formula) -> int:
        inner = [self._tangled[id(child)] for child in node.children]
        if isinstance(node, And | Or) and type(node.right) is type(node):
            return max(inner[0] + 1, inner[1])
        return max(inner, default=0) + isinstance(node, BinaryConnective)

    # Names.

    def resolve(self, variable: Variable) -> _Binding:
        """The object that `variable` stands for here."""
        scopes = self._scopes.get(variable)
        if not scopes:
            scopes = self._scopes[variable] = [_Binding(variable, 0)]
        return scopes[-1]

    def _push(self, variable: Variable) -> _Binding:
        self._depth += 1
        binding = _Binding(self._fresh(variable), self._depth)
        self._scopes.setdefault(variable, []).append(binding)
        self._taken[binding.name] = self._taken.get(binding.name, 0) + 1
        return binding

    def _pop(self, variable: Variable) -> None:
        self._depth -= 1
        binding = self._scopes[variable].pop()
        self._taken[binding.name] -= 1

    def _fresh(self, variable: Variable) -> str:
        def free(name: str) -> bool:
            return not self._taken.get(name) and name not in self._predicates and name not in RESERVED

        if free(variable):
            return variable
        beyond = (f"v{number}" for number in itertools.count(max(self._depth, len(_LETTERS) + 1)))
        return next(name for name in itertools.chain(_LETTERS, beyond) if free(name))

    def _called(self, binding: _Binding) -> _Binding:
        binding.uses += 1
        self._uses.append(binding)
        return binding

    def _take_back(self, mark: int) -> None:
        """Forget the names called since there were `mark` of them: the words are not going to be said."""
        while len(self._uses) > mark:
            self._uses.pop().uses -= 1

    def _predicate(self, name: PredicateName) -> str:
        return f"'{name}'" if name in RESERVED or self._taken.get(name) else name

    def _role(self, relation: _Relation, *, article: bool = False, plural: bool = False) -> list[_Part]:
        text = f"{self._predicate(relation.predicate)}-{relation.role}{'s' if plural else ''}"
        return [_article(relation.predicate), text] if article else [text]

    # Literals: what an object is.

    def _complement(self, formula: Formula, subject: _Binding, *, plural: bool = False) -> list[_Part] | None:
        """What comes after "is", with "not" first where it is negated; None if `formula` is no literal of `subject`."""
        inner = formula.operand if isinstance(formula, Not) else formula
        negation: list[_Part] = [] if inner is formula else ["not"]
        match inner:
            case Atom(predicate, (one,)) if self.resolve(one) is subject:
                return [*negation, self._predicate(predicate)]
            case Atom(predicate, (one, other)):
                left, right = self.resolve(one), self.resolve(other)
                if right is subject:
                    relation, anchor = _Relation(predicate, one, "successor"), left
                elif left is subject:
                    relation, anchor = _Relation(predicate, other, "predecessor"), right
                else:
                    return None
                noun = self._role(relation, article=not plural, plural=plural)
                return [*negation, *noun, "of", self._term(anchor, subject)]
            case And() if both := self._both_ways(inner, subject):
                noun = self._role(both, article=not plural, plural=plural)
                return [*negation, *noun, "of", self._called(self.resolve(both.anchor)), "in both directions"]
            case Equal(one, other):
                left, right = self.resolve(one), self.resolve(other)
                if left is subject:
                    return ["different from" if negation else "the same object as", self._term(right, subject)]
                if right is subject:
                    return [*negation, "identical to", self._called(left)]
        return None

    def _term(self, binding: _Binding, subject: _Binding) -> _Part:
        return "itself" if binding is subject else self._called(binding)

    def _both_ways(self, formula: Formula, subject: _Binding) -> _Relation | None:
        """The neighbour that `subject` is by `formula`: a successor and a predecessor, in this order."""
        match formula:
            case And(Atom(one, (a, b)), Atom(other, (c, d))) if one == other and (a, b) == (d, c):
                if self.resolve(b) is subject and self.resolve(a) is not subject:
                    return _Relation(one, a, "neighbour")
        return None

    def _is_complement(self, formula: Formula, subject: _Binding) -> bool:
        inner = formula.operand if isinstance(formula, Not) else formula
        match inner:
            case Atom(_, arguments):
                return any(self.resolve(argument) is subject for argument in arguments)
            case Equal(one, other):
                return subject in (self.resolve(one), self.resolve(other))
        return self._both_ways(inner, subject) is not None

    def _group(self, formula: Formula, subject: _Binding) -> list[Formula] | None:
        """The literals of `subject` that `formula` connects, a literal being one; None if it is not of this kind."""
        if self._is_complement(formula, subject):
            return [formula]
        match formula:
            case And() | Or():
                parts = _chain(formula)
            case Iff(left, right) | Implies(left, right) | Not(And(left, right) | Iff(left, right)):
                parts = [left, right]
            case _:
                return None
        if len(parts) > _MOST_IN_A_CHAIN or not all(self._is_complement(part, subject) for part in parts):
            return None
        return parts

    def _being(self, formula: Formula, subject: _Binding, *, plural: bool = False) -> _Phrase | None:
        """The literals of `formula` after "is" (or "are"); None if there is anything else in it."""
        parts = self._group(formula, subject)
        if parts is None:
            return None
        verb = "are" if plural else "is"
        said = [self._complement(part, subject, plural=plural) or [] for part in parts]
        if len(parts) == 1:
            return _Phrase((verb, *said[0]), _LITERAL)
        first, second = said[0], said[1]
        match formula:
            case And() if len(parts) == 2:
                signs = first[0] != "not", second[0] != "not"
                if signs == (True, False):
                    return _Phrase((verb, *first, "but not", *second[1:]), _GROUPED)
                if signs == (False, True):
                    return _Phrase((verb, *first, f"but {verb}", *second), _GROUPED)
                if signs == (False, False):
                    return _Phrase((verb, "neither", *first[1:], "nor", *second[1:]), _GROUPED, ors=True)
                return _Phrase((verb, "both", *first, "and", *second), _GROUPED, ands=True)
            case And():
                return _Phrase((verb, "at once", *_enumerated(said)), _GROUPED, ands=True)
            case Or() if len(parts) == 2:
                return _Phrase((verb, "either", *first, "or", *second, "(or both)"), _GROUPED, ors=True)
            case Or():
                return _Phrase((verb, "at least one of", *_enumerated(said)), _GROUPED, ands=True, ors=True)
            case Not(Iff()):
                return _Phrase((verb, "either", *first, "or", *second, "(but not both)"), _GROUPED, ors=True)
            case Not():
                return _Phrase((verb, "not both", *first, "and", *second), _GROUPED, ands=True)
            case Iff():
                return _Phrase((verb, *first, "exactly when it is", *second), _JOINED)
            case _:
                return _Phrase((verb, *second, "if it is", *first), _JOINED)

    # Verb phrases: what an object is or has.

    def _is_manageable(self, formula: Formula) -> bool:
        """Whether to try and say it without numbers. The bounds keep the tries within each other few."""
        return formula.ast_nodes <= _MOST_NODES_IN_A_BREATH and self._tangled[id(formula)] <= _MOST_TANGLED

    def _can_be_said_of(self, formula: Formula, subject: _Binding) -> bool:
        pending = [formula]
        while pending:
            node = pending.pop()
            if self._group(node, subject) is not None:
                continue
            inner = node.operand if isinstance(node, Not) else node
            if isinstance(inner, Exists):
                relation = self._split_existential(inner).relation
                if relation is None or self.resolve(relation.anchor) is not subject:
                    return False
            elif isinstance(node, And | Or) and self._is_manageable(node) and len(_chain(node)) == 2:
                pending += node.children
            else:
                return False
        return True

    def verb_phrase(self, formula: Formula, subject: _Binding, *, nested: bool, bound: bool = False) -> _Attempt:
        """As "is P", "has an R-successor that ...", "both is ... and has ..."; None if it is not of this kind.

        `nested` says that the phrase stands where "and that" would have two readings; `bound` that "it" can only be
        the subject, as after "every R-successor of x".
        """
        being = self._being(formula, subject)
        if being is not None and being.weight >= _JOINED and not bound:
            return None
        if being is not None or not self._can_be_said_of(formula, subject):
            return being
        if isinstance(formula, Exists):
            having: _Phrase = yield self._having(formula, "has", nested=nested)
            return having
        if isinstance(formula, Not):
            assert isinstance(formula.operand, Exists)
            having = yield self._having(formula.operand, "has no", nested=nested)
            return having
        mark = len(self._uses)
        left = yield self.verb_phrase(formula.children[0], subject, nested=True)
        right = yield self.verb_phrase(formula.children[1], subject, nested=True)
        if left is not None and right is not None:
            joined = _joined(type(formula), left, right)
            if joined is not None:
                return joined
        self._take_back(mark)
        return None

    def _having(self, formula: Exists, verb: str, *, nested: bool) -> _Walk:
        """What follows the name of what has a successor and so on; `verb` is "has" or "has no"."""
        binding = self._push(formula.variable)
        split = self._split_existential(formula)
        assert split.relation is not None
        parts: list[_Part] = [verb, *self._role(split.relation, article=verb == "has")]
        if split.relation.role == "neighbour":
            parts.append("in both directions")
        parts.append(_Call(binding))
        phrase = yield self._with_relative(parts, split, binding, nested=nested)
        self._pop(formula.variable)
        return phrase

    def _with_relative(self, parts: list[_Part], split: _Some, binding: _Binding, *, nested: bool) -> _Walk:
        if split.rest is None:
            return _Phrase(tuple(parts), _NESTED)
        if split.also is not None:
            complement = self._complement(split.also, binding)
            assert complement is not None
            parts += ["that is also", *complement]
            tail = yield self._relative(split.rest, binding, nested=True, named=False)
            return _Phrase((*parts, "and", tail), max(_JOINED, tail.weight), ands=True, ors=tail.ors)
        tail = yield self._relative(split.rest, binding, nested=nested)
        return _Phrase((*parts, tail), max(_NESTED, tail.weight), ands=tail.ands, ors=tail.ors)

    # Relative clauses.

    def _relative(self, formula: Formula, subject: _Binding, *, nested: bool, named: bool = True) -> _Walk:
        """As "that ...", "all of whose ...", or "such that ..." with the subject by name."""
        being = self._being(formula, subject) if self._is_plain_group(formula, subject) else None
        if being is not None:
            return _Phrase(("that", being), being.weight, ands=being.ands, ors=being.ors)
        if isinstance(formula, And) and not nested:
            *front, last = _chain(formula)
            if len(front) < _MOST_IN_A_CHAIN and all(self._is_plain_group(part, subject) for part in front):
                parts: list[_Part] = []
                for part in front:
                    said = self._being(part, subject)
                    assert said is not None
                    parts += ["that", said, "and"]
                tail = yield self._relative(last, subject, nested=True, named=False)
                return _Phrase((*parts, tail), max(_JOINED, tail.weight), ands=True, ors=True)
        phrase = yield self.verb_phrase(formula, subject, nested=nested)
        if phrase is not None:
            return _Phrase(("that", phrase), phrase.weight, ands=phrase.ands, ors=phrase.ors)
        if isinstance(formula, ForAll):
            phrase = yield self._whose(formula, subject)
            if phrase is not None:
                return phrase
        clause = yield self.clause(formula, root=False)
        if named and not subject.uses:  # nothing is said of it at all: a name shows that this is meant
            self._called(subject)
        return _Phrase(("such that", clause), max(_JOINED, clause.weight), ands=True, ors=True)

    def _is_plain_group(self, formula: Formula, subject: _Binding) -> bool:
        return not isinstance(formula, Iff | Implies) and self._group(formula, subject) is not None

    def _whose(self, formula: ForAll, subject: _Binding) -> _Attempt:
        """As "all of whose R-successors are P" and its like; None if it is not of this kind."""
        binding = self._push(formula.variable)
        split = self._split_universal(formula)
        mark = len(self._uses)
        phrase = None
        if (
            split.relation is not None
            and self.resolve(split.relation.anchor) is subject
            and self._can_be_said_of(_positive(split.rest, binding, self), binding)
        ):
            phrase = yield self._whose_split(split, binding)
        if phrase is None:
            self._take_back(mark)
        self._pop(formula.variable)
        return phrase

    def _whose_split(self, split: _Every, binding: _Binding) -> _Attempt:
        assert split.relation is not None
        ways: list[_Part] = ["in both directions"] if split.relation.role == "neighbour" else []
        body = _positive(split.rest, binding, self)
        if split.restriction is not None:
            body = split.rest
        elif body is not split.rest:
            said = yield self.verb_phrase(body, binding, nested=True)
            if said is None:
                return None
            word = "not one of whose" if split.implies else "none of whose"
            parts = [word, *self._role(split.relation, plural=True), *ways, _Call(binding), said]
            return _Phrase(tuple(parts), max(_NESTED, said.weight), ands=said.ands, ors=said.ors)
        elif not split.implies and self._is_plain_group(body, binding) and not isinstance(body, Or | Not):
            said = self._being(body, binding, plural=True)
            assert said is not None
            parts = ["all of whose", *self._role(split.relation, plural=True), *ways, said]
            return _Phrase(tuple(parts), max(_NESTED, said.weight), ands=said.ands, ors=said.ors)
        said = yield self.verb_phrase(body, binding, nested=True)
        if said is None:
            return None
        word = "each of whose" if split.implies else "whose every"
        parts = [word, *self._role(split.relation, plural=split.implies), *ways, _Call(binding)]
        parts += [*self._restriction(split, binding), said]
        heavy = _GROUPED if split.restriction is not None else _NESTED
        return _Phrase(tuple(parts), max(heavy, said.weight), ands=said.ands, ors=said.ors)

    # Quantifiers taken apart.

    def _relation_of(self, formula: Formula, variable: Variable) -> _Relation | None:
        match formula:
            case Atom(predicate, (one, other)) if one != other:
                if other == variable:
                    return _Relation(predicate, one, "successor")
                if one == variable:
                    return _Relation(predicate, other, "predecessor")
        return None

    def _neighbour_of(self, formula: Formula, variable: Variable) -> _Relation | None:
        match formula:
            case And(Atom(one, (a, b)), Atom(other, (c, d))):
                if one == other and (a, b) == (d, c) and b == variable and a != variable:
                    return _Relation(one, a, "neighbour")
        return None

    def _split_existential(self, formula: Exists) -> _Some:
        """What the quantifier ranges over, and what it says of that."""
        variable, body = formula.variable, formula.body
        relation = self._relation_of(body, variable) or self._neighbour_of(body, variable)
        if relation is not None:
            return _Some(relation, None)
        if isinstance(body, And):
            relation = self._relation_of(body.left, variable) or self._neighbour_of(body.left, variable)
            if relation is not None:
                return _Some(relation, body.right)
            if isinstance(body.left, And) and _is_literal_of(body.left.right, variable):
                relation = self._relation_of(body.left.left, variable)
                if relation is not None:
                    return _Some(relation, body.right, body.left.right)
        return _Some(None, body)

    def _split_universal(self, formula: ForAll) -> _Every:
        """As much of the body as goes into naming the objects spoken of, and the rest; the variable must be pushed."""
        variable, body = formula.variable, formula.body
        everything = _Every(None, body)
        if isinstance(body, Implies):
            relation = self._relation_of(body.left, variable) or self._neighbour_of(body.left, variable)
            if relation is not None:
                return _Every(relation, body.right, implies=True)
            if _is_other_than(body.left, variable):
                return _Every(None, body.right, body.left, "other", implies=True)
            return self._split_condition(body.left, body.right, variable, implies=True) or everything
        if not isinstance(body, Or):
            return everything
        match body.left:
            case Or(Not(one), Not(other)):
                relation = self._neighbour_of(And(one, other), variable)
                if relation is not None:
                    return _Every(relation, body.right)
                relation = self._relation_of(one, variable)
                if relation is not None and _is_literal_of(other, variable):
                    return _Every(relation, body.right, other, "also")
            case Not(left):
                relation = self._relation_of(left, variable)
                if relation is not None:
                    return _Every(relation, body.right)
                if not isinstance(left, Not):  # "that is not P" is said of (or (P y) ...), see below
                    return self._split_condition(left, body.right, variable, implies=False) or everything
            case Equal(one, other) if one == variable != other:
                return _Every(None, body.right, Not(body.left), "other")
            case Atom() | Equal() if _is_literal_of(body.left, variable):
                if not self._is_complement(body.right, self.resolve(variable)):
                    return _Every(None, body.right, Not(body.left), "that")
        return everything

    def _split_condition(self, left: Formula, rest: Formula, variable: Variable, *, implies: bool) -> _Every | None:
        """Where the condition `left` is a relation and literals, or literals alone."""
        binding = self.resolve(variable)
        if isinstance(left, And):
            relation = self._relation_of(left.left, variable)
            if relation is not None and self._is_plain_group(left.right, binding):
                return _Every(relation, rest, left.right, "that", implies)
        if self._is_plain_group(left, binding):
            return _Every(None, rest, left, "that", implies)
        return None

    def _restriction(self, split: _Every, binding: _Binding) -> list[_Part]:
        match split.how:
            case "that":
                assert split.restriction is not None
                being = self._being(split.restriction, binding)
                assert being is not None
                return ["that", being]
            case "also":
                assert split.restriction is not None
                complement = self._complement(split.restriction, binding)
                assert complement is not None
                return ["that is also", *complement]
            case "other":
                assert isinstance(split.restriction, Not)
                assert isinstance(split.restriction.operand, Equal)
                return ["other than", self._called(self.resolve(split.restriction.operand.right))]
        return []

    def _kind(self, split: _Every, binding: _Binding) -> list[_Part]:
        """As "R-successor of x that is P", "object other than x": what a universal statement is about."""
        if split.relation is None:
            return ["object", _Call(binding), *self._restriction(split, binding)]
        anchor = self._called(self.resolve(split.relation.anchor))
        noun = [*self._role(split.relation), _Call(binding), "of", anchor]
        if split.relation.role == "neighbour":
            noun.append("in both directions")
        return [*noun, *self._restriction(split, binding)]

    # Clauses.

    def clause(self, formula: Formula, *, root: bool) -> _Walk:
        """A whole statement. `root` says that it ends where the sentence or a numbered part ends."""
        match formula:
            case Atom() | Equal() | Not(Atom() | Equal()):
                literal = self._statement(formula)
                assert literal is not None
                return literal
            case Exists():
                return (yield self._existential(formula, denied=False))
            case ForAll():
                return (yield self._universal(formula, denied=False))
            case Not(Exists()):
                assert isinstance(formula.operand, Exists)
                return (yield self._existential(formula.operand, denied=True))
            case Not(ForAll()):
                assert isinstance(formula.operand, ForAll)
                return (yield self._universal(formula.operand, denied=True))
            case Not(operand):
                literal = self._statement(formula)
                if literal is not None:
                    return literal
                if isinstance(operand, Iff):
                    return (yield self._connective(operand, root=root, exclusive=True))
                inner = yield self.clause(operand, root=False)
                return _Phrase(("it is not the case that", inner), max(_JOINED, inner.weight), ands=True, ors=True)
        assert isinstance(formula, BinaryConnective)
        return (yield self._connective(formula, root=root))

    def _subjects(self, formula: Formula) -> list[_Binding]:
        """Whom `formula` may be about, going by its beginning; who is bound further in comes first."""
        while not isinstance(formula, Atom | Equal):
            if isinstance(formula, Quantified):
                relation = self._split_existential(formula).relation if isinstance(formula, Exists) else None
                return [] if relation is None else [self.resolve(relation.anchor)]
            formula = formula.children[0]
        names = formula.arguments if isinstance(formula, Atom) else (formula.right, formula.left)
        return sorted(dict.fromkeys(self.resolve(name) for name in reversed(names)), key=lambda binding: -binding.depth)

    def _statement(self, formula: Formula) -> _Phrase | None:
        """Literals that one object is the subject of, as a statement; None if there is no such object."""
        if not self._is_manageable(formula):
            return None
        for subject in self._subjects(formula):
            mark = len(self._uses)
            said = self._being(formula, subject)
            if said is not None and any(binding.depth > subject.depth for binding in self._uses[mark:]):
                self._take_back(mark)  # of an outer object, by what inner ones are to it: clearer the other way round
            elif said is not None:
                return _Phrase((self._called(subject), said), said.weight, ands=said.ands, ors=said.ors)
        return None

    def _existential(self, formula: Exists, *, denied: bool) -> _Walk:
        if not denied:
            path = yield self._path(formula)
            if path is not None:
                return path
        split = self._split_existential(formula)
        if split.relation is not None:
            anchor = self._called(self.resolve(split.relation.anchor))
            said = yield self._having(formula, "has no" if denied else "has", nested=False)
            return _Phrase((anchor, said), said.weight, ands=said.ands, ors=said.ors)
        if not denied and self._begins_block(formula):
            return (yield self._block(formula, "there are objects", ("such that",)))
        binding = self._push(formula.variable)
        parts: list[_Part] = ["there is no object" if denied else "there is an object", _Call(binding)]
        other: Formula | None = None
        body: Formula | None = formula.body
        if _is_other_than(formula.body, formula.variable):
            other, body = formula.body, None
        elif isinstance(formula.body, And) and _is_other_than(formula.body.left, formula.variable):
            other, body = formula.body.left, formula.body.right
        if other is not None:
            parts += self._restriction(_Every(None, other, other, "other"), binding)
        phrase = yield self._with_relative(parts, _Some(None, body), binding, nested=False)
        self._pop(formula.variable)
        return phrase

    def _begins_block(self, formula: Quantified) -> bool:
        """Whether quantifiers of one kind follow each other with nothing said of the outer object alone."""
        inner = formula.body
        if isinstance(formula, ForAll) and isinstance(inner, ForAll):
            self._push(formula.variable)
            self._push(inner.variable)
            split = self._split_universal(inner)
            self._pop(inner.variable)
            self._pop(formula.variable)
            return split.relation is None and split.restriction is None
        if isinstance(formula, Exists) and isinstance(inner, Exists):
            relation = self._split_existential(inner).relation
            return relation is None or relation.anchor != formula.variable
        return False

    def _block(self, formula: Quantified, head: str, after: tuple[str, ...]) -> _Walk:
        """As "there are objects y and z such that ...", "for all objects y and z, ..."."""
        block = [formula]
        while self._begins_block(block[-1]):
            inner = block[-1].body
            assert isinstance(inner, Quantified)
            block.append(inner)
        bindings = [self._called(self._push(quantified.variable)) for quantified in block]
        clause = yield self.clause(block[-1].body, root=False)
        for quantified in reversed(block):
            self._pop(quantified.variable)
        names = _enumerated([[binding] for binding in bindings])
        return _Phrase((head, *names, *after, clause), max(_JOINED, clause.weight), ands=True, ors=True)

    def _path(self, formula: Exists) -> _Attempt:
        """A path: "some S-successor of some R-successor of x is P"; None if the formula is no such."""
        inner = formula.body
        if not isinstance(inner, Exists) or inner.variable == formula.variable:
            return None
        body = inner.body
        rest: Formula | None = None
        if isinstance(body, And) and isinstance(body.left, And):
            body, rest = body.left, body.right
        if not isinstance(body, And):
            return None
        first = self._relation_of(body.left, formula.variable)
        second = self._relation_of(body.right, inner.variable)
        if first is None or second is None or second.anchor != formula.variable or first.anchor == inner.variable:
            return None
        anchor = self._called(self.resolve(first.anchor))
        middle = self._push(formula.variable)
        end = self._push(inner.variable)
        one, two = self._role(first), self._role(second)
        mark = len(self._uses)
        phrase: _Phrase
        if rest is None:
            there = f"there is {_article(second.predicate)}"
            phrase = _Phrase((there, *two, "of", *self._role(first, article=True), "of", anchor), _NESTED)
        else:
            said = yield self.verb_phrase(rest, end, nested=False)
            if said is not None and not middle.uses and not end.uses:
                parts = ("some", *two, "of some", *one, "of", anchor, said)
                phrase = _Phrase(parts, max(_NESTED, said.weight), ands=said.ands, ors=said.ors)
            else:
                self._take_back(mark)
                clause = yield self.clause(rest, root=False)
                for binding in (middle, end, middle):  # introduced by name, and the end as what it is to the middle
                    self._called(binding)
                names = ("for some", *one, _Call(middle), "of", anchor, "and some", *two, _Call(end), "of", middle, ",")
                phrase = _Phrase((*names, clause), max(_JOINED, clause.weight), ands=True, ors=True)
        self._pop(inner.variable)
        self._pop(formula.variable)
        return phrase

    def _universal(self, formula: ForAll, *, denied: bool) -> _Walk:
        binding = self._push(formula.variable)
        split = self._split_universal(formula)
        phrase = yield self._every(split, binding, denied=denied)
        self._pop(formula.variable)
        if phrase is not None:
            return phrase
        if denied:
            clause = yield self._universal(formula, denied=False)
            return _Phrase(("it is not the case that", clause), max(_JOINED, clause.weight), ands=True, ors=True)
        if split.relation is None and split.restriction is None and self._begins_block(formula):
            return (yield self._block(formula, "for all objects", (",",)))
        binding = self._push(formula.variable)
        kind = self._kind(split, binding)
        self._called(binding)
        clause = yield self.clause(split.rest, root=False)
        self._pop(formula.variable)
        head = "for each" if split.implies else "for every"
        return _Phrase((head, *kind, ",", clause), max(_JOINED, clause.weight), ands=True, ors=True)

    def _every(self, split: _Every, binding: _Binding, *, denied: bool) -> _Attempt:
        """As "every R-successor of x is P", or `denied` with "not" before it; None where it takes more than that."""
        mark = len(self._uses)
        rest = _positive(split.rest, binding, self)
        if denied and rest is not split.rest:
            return None
        kind = self._kind(split, binding)
        said = yield self.verb_phrase(rest, binding, nested=False, bound=not denied)
        if said is None:
            self._take_back(mark)
            return None
        if rest is not split.rest:
            word = "not one" if split.implies else "no"
        else:
            word = ("not " if denied else "") + ("each" if split.implies else "every")
        heavy = _GROUPED if split.how in ("that", "also") else _NESTED
        return _Phrase((word, *kind, said), max(heavy, said.weight), ands=said.ands, ors=said.ors)

    def _connective(self, formula: BinaryConnective, *, root: bool, exclusive: bool = False) -> _Walk:
        """A statement made of statements; `exclusive` denies an `iff`."""
        mark = len(self._uses)
        literals = None if exclusive else self._statement(formula)
        if literals is not None and literals.weight < _JOINED:
            return literals
        self._take_back(mark)
        parts = _chain(formula) if isinstance(formula, And | Or) else list(formula.children)
        if self._is_manageable(formula) and len(parts) <= _MOST_IN_A_CHAIN:
            phrase = yield self._inline(formula, parts, root=root, exclusive=exclusive)
            if phrase is not None:
                return phrase
            self._take_back(mark)
        items: list[_Phrase] = []
        for part in parts:
            item = yield self.clause(part, root=True)
            items.append(item)
        head = "exactly one of ({0}) and ({1}) holds:" if exclusive else _head(formula, len(parts))
        return _Phrase((_Numbered(head, tuple(items)),), _LISTED, ands=True, ors=True)

    def _inline(self, formula: BinaryConnective, parts: Sequence[Formula], *, root: bool, exclusive: bool) -> _Attempt:
        if not root and len(parts) == 2 and isinstance(formula, And | Or):
            for subject in self._subjects(formula):
                if self._group(formula, subject) is not None:
                    continue  # literals alone, which `_statement` has turned down
                said = yield self.verb_phrase(formula, subject, nested=False)
                if said is not None:
                    return _Phrase((self._called(subject), said), said.weight, ands=said.ands, ors=said.ors)
        clauses: list[_Phrase] = []
        for part in parts:
            clause = yield self.clause(part, root=False)
            clauses.append(clause)
        if sum(clause.length for clause in clauses) > MAX_PHRASE_CHARACTERS:
            return None
        *front, last = clauses
        if any(clause.weight > _GROUPED for clause in front):
            return None
        match formula:
            case And() if root and last.weight <= _JOINED:
                words: list[_Part] = []
                for clause in front:
                    words += [clause, ","]
                return _Phrase((*words[:-1], ", and", last), _JOINED, ands=True, ors=True)
            case And() if len(clauses) == 2:
                return _joined(And, *clauses)
            case Or():
                joined = _joined(Or, *clauses) if len(clauses) == 2 else None
                if joined is not None or not root or last.weight > _JOINED:
                    return joined
                words = [clauses[0]]
                for clause in clauses[1:]:
                    words += [", and/or", clause]
                return _Phrase(tuple(words), _JOINED, ands=True, ors=True)
            case Implies() if last.weight <= (_JOINED if root else _GROUPED):
                return _Phrase(("if", front[0], "then", last), _JOINED, ands=True, ors=True)
            case Iff() if exclusive:
                joined = _joined(Or, *clauses)
                return joined and _Phrase((*joined.parts[:-1], "(but not both)"), _JOINED, ands=joined.ands, ors=True)
            case Iff() if root and last.weight <= _GROUPED and not _has_relative_clause(front[0]):
                return _Phrase((front[0], "exactly when", last), _JOINED, ands=True, ors=True)
        return None


def _has_relative_clause(phrase: _Phrase) -> bool:
    """Whether what comes after the phrase could be taken to go on with a clause inside it."""
    return any(re.search(r"\b(that|whose)\b", text) for _, text in _lines(phrase))


def _positive(formula: Formula, subject: _Binding, writer: _Writer) -> Formula:
    """What "no" and "none" deny, where `formula` is a denial that would have two readings after "every"."""
    if not isinstance(formula, Not) or isinstance(formula.operand, Equal | Iff | Implies):
        return formula
    return formula.operand if writer._can_be_said_of(formula.operand, subject) else formula


def _joined(connective: type[Formula], left: _Phrase, right: _Phrase) -> _Phrase | None:
    """As "both ... and ...", "either ... or ... (or both)"; None where words inside could be taken for these."""
    if left.length + right.length > MAX_PHRASE_CHARACTERS or max(left.weight, right.weight) > _GROUPED:
        return None
    if connective is And:
        if left.ands:
            return None
        return _Phrase(("both", left, "and", right), _JOINED, ands=True, ors=left.ors or right.ors)
    if left.ors or right.ors:
        return None
    return _Phrase(("either", left, "or", right, "(or both)"), _JOINED, ands=left.ands or right.ands, ors=True)


def _chain(formula: And | Or) -> list[Formula]:
    """The operands of a connective folded to the right."""
    parts: list[Formula] = []
    node: Formula = formula
    while type(node) is type(formula):
        assert isinstance(node, BinaryConnective)
        parts.append(node.left)
        node = node.right
    return [*parts, node]


def _is_literal_of(formula: Formula, variable: Variable) -> bool:
    inner = formula.operand if isinstance(formula, Not) else formula
    match inner:
        case Atom(_, arguments):
            return variable in arguments
        case Equal(one, other):
            return variable in (one, other)
    return False


def _is_other_than(formula: Formula, variable: Variable) -> bool:
    match formula:
        case Not(Equal(one, other)):
            return one == variable != other
    return False


def _article(name: PredicateName) -> str:
    """As "a" or "an", by how a letter or a word sounds."""
    letters = name.lstrip("_'")
    spelt = len(letters) == 1 or not letters[1:2].islower()
    return "an" if letters[:1].lower() in ("aefhilmnorsx" if spelt else "aeiou") and letters else "a"


def _enumerated(phrases: "Sequence[Sequence[_Part]]") -> list[_Part]:
    words: list[_Part] = []
    for i, phrase in enumerate(phrases):
        if i:
            words.append("and" if i == len(phrases) - 1 else ",")
        words += phrase
    return words


def _head(formula: BinaryConnective, count: int) -> str:
    match formula:
        case And():
            return "both ({0}) and ({1}) hold:" if count == 2 else "all of ({0}) to ({1}) hold:"
        case Or():
            return f"at least one of ({{0}}) {'and' if count == 2 else 'to'} ({{1}}) holds:"
        case Implies():
            return "if ({0}) holds then so does ({1}):"
        case _:
            return "both or neither of ({0}) and ({1}) hold:"


def _lines(phrase: _Phrase) -> list[tuple[int, str]]:
    """The text, a line up to each numbered part, with the depth of the part that the line belongs to."""
    lines: list[tuple[int, str]] = []
    line: list[str] = []
    depth, numbers = 0, itertools.count(1)

    def end() -> None:
        lines.append((depth, "".join(line)))
        line.clear()

    pending: list[_Part | tuple[int, int]] = [phrase]
    while pending:
        part = pending.pop()
        match part:
            case str():
                line.append(part if part.startswith((",", ";")) or not line else f" {part}")
            case _Binding(name):
                line.append(f" {name}" if line else name)
            case _Call(binding):
                if binding.uses:
                    line.append(f" {binding.name}")
            case _Phrase(parts):
                pending += reversed(parts)
            case (number, level):
                if lines or line:
                    end()
                depth = level
                line.append(f"({number})")
            case _Numbered(head, items):
                given = [next(numbers) for _ in items]
                line.append((" " if line else "") + head.format(given[0], given[-1]))
                for i in reversed(range(len(items))):
                    if i < len(items) - 1:
                        pending.append(";")
                    pending += [items[i], (given[i], depth + 1)]
    end()
    return lines


def _wrapped(lines: Sequence[tuple[int, str]], width: int) -> Iterator[str]:
    for level, text in lines:
        margin = "  " * min(level, _DEEPEST_MARGIN)
        yield from textwrap.wrap(
            text,
            width,
            initial_indent=margin,
            subsequent_indent=margin + "    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
