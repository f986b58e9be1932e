"""Near misses of a formula: what comes of one small edit, or of several, each result named by its edits.

Edits are made in the miniscoped negation normal form, bound variables renamed by level: every part stands positively,
so that a conjunction turned into a disjunction always weakens, and what restricts a quantifier stands in its own scope.
A part of a scope is called its guard when it stands beside a quantified part, or restricts the quantifier itself: the
antecedent of a "for all", the edge of an "exists". Other parts are conditions.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from induction.errors import FormulaTooLargeError, UnknownNameError, printable
from induction.formula.canonical import canonical_key
from induction.formula.metrics import count_lift_depth, count_quantifiers, free_variables
from induction.formula.normal_forms import flatten, to_alpha_canonical, to_miniscoped, to_nnf
from induction.formula.syntax import (
    FREE_VARIABLE,
    And,
    Atom,
    Equal,
    Exists,
    ForAll,
    Formula,
    Not,
    Or,
    PredicateName,
    Quantified,
    Signature,
    Variable,
    conjunction_of,
    disjunction_of,
    fold,
    to_sexpr,
    with_predicates,
)
from induction.grounding.equivalence import Comparer

KINDS = {
    "quantifier-collapsed": "every G is C -> some G is C",
    "quantifier-strengthened": "some G is C -> every G is C",
    "quantifier-flipped": "forall <-> exists, the body kept",
    "lift-replaced": "x under two quantifiers replaced by a bound variable, or the outer variable by x",
    "lift-dropped": "an atom with x under two quantifiers dropped",
    "guard-dropped": "a guard dropped",
    "guard-negated": "a guard negated",
    "guard-added": "a guard added",
    "relation-swapped": "one binary predicate for another, at one place or everywhere",
    "direction-swapped": "the arguments of a binary atom exchanged",
    "literal-negated": "a literal that is no guard negated",
    "condition-dropped": "a part that is no guard dropped",
    "condition-added": "a literal added to an innermost scope",
    "predicate-exchanged": "one unary predicate for another, at one place or everywhere",
    "connective-weakened": "and -> or",
    "connective-strengthened": "or -> and",
}
"""The kinds of edit. Of several edits of one formula that lead to the same, the first kind here gives the name."""

_ALWAYS = Equal(FREE_VARIABLE, FREE_VARIABLE)

MAX_NODES = 200
"""Largest formula, in AST nodes of its negation normal form, that near misses are made of."""

MAX_CANDIDATES = 50_000
"""Most edited formulas that are compared for one answer."""


@dataclass(frozen=True)
class Edit:
    """One edit: its kind, a key of `KINDS`, and what was changed."""

    kind: str
    detail: str


@dataclass(frozen=True)
class NearMiss:
    """An edited formula, true of something and false of something, equivalent neither to the original nor to any
    near miss before it.

    `also` names the other kinds of last edit by which as many edits lead to an equivalent formula.
    """

    formula: Formula
    edits: tuple[Edit, ...]
    also: tuple[str, ...] = ()


def near_misses(
    formula: Formula, comparer: Comparer, *, kinds: Collection[str] = tuple(KINDS), edits: int = 1
) -> list[NearMiss]:
    """The results of one to `edits` edits of these kinds, fewest edits first.

    All leave x free; no two are equivalent, nor is one to `formula` or true of everything or of nothing, as far as
    `comparer` tells formulas apart.

    Raises:
        UnknownNameError: a kind that is none.
        FormulaTooLargeError: a formula of more than `MAX_NODES`, or more than `MAX_CANDIDATES` results to compare.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise UnknownNameError(f"there is no kind of edit named '{printable(kind)}'; there are {', '.join(KINDS)}")
    formula = _bounded(formula)
    found: list[NearMiss] = []
    level = [NearMiss(_plain(formula, comparer.signature), ())]
    seen = {canonical_key(formula)}
    compared: list[Formula] = [formula, _ALWAYS, Not(_ALWAYS)]
    for _ in range(edits):
        candidates: dict[str, NearMiss] = {}
        for source_miss in level:
            for candidate in _edited_once(source_miss, comparer.signature, kinds):
                key = canonical_key(candidate.formula)
                if key in seen:
                    continue
                known = candidates.get(key)
                candidates[key] = candidate if known is None else _also(known, candidate)
                if len(candidates) + len(compared) > MAX_CANDIDATES:
                    raise FormulaTooLargeError(
                        f"more than {MAX_CANDIDATES:,} edited formulas; choose fewer kinds or edits"
                    )
        level = _distinct(compared, list(candidates.values()), comparer)
        seen.update(candidates)
        compared += [miss.formula for miss in level]
        found += level
    return found


def edited_once(formula: Formula, signature: Signature) -> list[Formula]:
    """What one edit of any kind can make of `formula`, x still free: not compared, so some may be equivalent.

    Raises:
        FormulaTooLargeError: a formula of more than `MAX_NODES`.
    """
    return list(dict.fromkeys(miss.formula for miss in edited_again(NearMiss(formula, ()), signature)))


def edited_again(miss: NearMiss, signature: Signature) -> list[NearMiss]:
    """What one more edit of any kind can make of a near miss, or of any formula after no edits, x still free.

    Not compared, so some may be equivalent.

    Raises:
        FormulaTooLargeError: a formula of more than `MAX_NODES`.
    """
    source = replace(miss, formula=_plain(_bounded(miss.formula), signature))
    return _edited_once(source, signature, tuple(KINDS))


def _bounded(formula: Formula) -> Formula:
    """`formula`, if it is small enough to be edited."""
    size = to_nnf(formula).ast_nodes
    if size > MAX_NODES:
        raise FormulaTooLargeError(
            f"near misses are made of formulas of up to {MAX_NODES} AST nodes in negation normal form, not of {size:,}"
        )
    return formula


def _edited_once(source: NearMiss, signature: Signature, kinds: Collection[str]) -> list[NearMiss]:
    """All results of one more edit that leave x free, in the order of `KINDS`."""
    order = {kind: i for i, kind in enumerate(KINDS)}
    results = [
        NearMiss(_plain(edited, signature), (*source.edits, edit))
        for edit, edited in _all_edits(source.formula, signature)
        if edit.kind in kinds
    ]
    results.sort(key=lambda miss: order[miss.edits[-1].kind])
    return [miss for miss in results if FREE_VARIABLE in free_variables(miss.formula)]


def _plain(formula: Formula, signature: Signature) -> Formula:
    return to_alpha_canonical(to_miniscoped(formula), signature)


def _distinct(before: list[Formula], candidates: list[NearMiss], comparer: Comparer) -> list[NearMiss]:
    """The candidates that mean something new, each told which others lead to the same."""
    formulas = [*before, *(candidate.formula for candidate in candidates)]
    kept: dict[int, NearMiss] = {}
    for number, first in enumerate(comparer.first_alike(formulas)):
        if number < len(before):
            continue
        candidate = candidates[number - len(before)]
        if first == number:
            kept[number] = candidate
        elif first >= len(before):
            kept[first] = _also(kept[first], candidate)
    return list(kept.values())


def _also(miss: NearMiss, other: NearMiss) -> NearMiss:
    """`miss`, told that the last edit of `other`, and what else that was told of, leads to the same."""
    kinds = dict.fromkeys((*miss.also, other.edits[-1].kind, *other.also))
    return replace(miss, also=tuple(kind for kind in kinds if kind != miss.edits[-1].kind))


@dataclass(frozen=True)
class _Place:
    """Where a node stands: `variables` in scope, the free one first; `quantifier` whose range the node is part of.

    `chain` is the connective that joins the node with its neighbours, `beside_quantifier` says that one of these
    holds a quantifier.
    """

    variables: tuple[Variable, ...] = (FREE_VARIABLE,)
    quantifier: type[Quantified] | None = None
    chain: type[Formula] | None = None
    beside_quantifier: bool = False

    @property
    def is_lifted(self) -> bool:
        """Whether x would be lifted here."""
        return len(self.variables) > 2

    def is_guard(self, part: Formula) -> bool:
        """Whether `part`, standing here, is a guard."""
        if _has_quantifier(part):
            return False
        restricts = (self.quantifier is ForAll and isinstance(part, Not)) or (
            self.quantifier is Exists and isinstance(part, Atom) and len(part.arguments) == 2
        )
        return self.beside_quantifier or restricts


def _has_quantifier(formula: Formula) -> bool:
    return count_quantifiers(formula) > 0


_CHAIN_OF: dict[type[Quantified], type[And] | type[Or]] = {Exists: And, ForAll: Or}


def _all_edits(formula: Formula, signature: Signature) -> Iterator[tuple[Edit, Formula]]:
    yield from _edits(formula, _Place(), signature)
    for literal in _unary_literals(signature, FREE_VARIABLE):
        yield Edit("guard-added", to_sexpr(literal)), And(literal, formula)
    for kind, names in (("predicate-exchanged", signature.unary), ("relation-swapped", signature.binary)):
        for one, other in combinations(names, 2):
            yield Edit(kind, f"{one} and {other} everywhere"), with_predicates(formula, {one: other, other: one})


def _edits(node: Formula, place: _Place, signature: Signature) -> Iterator[tuple[Edit, Formula]]:
    """Edits of `node` at `place`, negation normal form in and out. Recursive: `MAX_NODES` bounds how deep."""
    match node:
        case Atom():
            yield from _literal_edits(node, node, place, signature)
        case Not(Atom() as atom):
            yield from _literal_edits(atom, node, place, signature)
        case Equal() | Not():  # an equality has no predicate to exchange and no direction
            yield _change("guard-negated" if place.is_guard(node) else "literal-negated", node, to_nnf(Not(node)))
        case And() | Or():
            yield from _connective_edits(node, place, signature)
        case Quantified():
            yield from _quantifier_edits(node, place)
            yield from _additions(node, place, signature)
            inner = _Place((*place.variables, node.variable), type(node), _CHAIN_OF[type(node)])
            for edit, body in _edits(node.body, inner, signature):
                yield edit, node.with_children(body)


def _change(kind: str, before: Formula, after: Formula) -> tuple[Edit, Formula]:
    return Edit(kind, f"{to_sexpr(before)} -> {to_sexpr(after)}"), after


def _literal_edits(atom: Atom, literal: Formula, place: _Place, signature: Signature) -> Iterator[tuple[Edit, Formula]]:
    def with_atom(kind: str, predicate: PredicateName, arguments: tuple[Variable, ...]) -> tuple[Edit, Formula]:
        changed = Atom(predicate, arguments)
        return _change(kind, literal, changed if literal is atom else Not(changed))

    predicate, arguments = atom.predicate, atom.arguments
    if place.is_lifted and FREE_VARIABLE in arguments:
        for variable in place.variables[1:]:
            replaced = tuple(variable if argument == FREE_VARIABLE else argument for argument in arguments)
            yield with_atom("lift-replaced", predicate, replaced)
    negated = to_nnf(Not(literal))
    yield _change("guard-negated" if place.is_guard(literal) else "literal-negated", literal, negated)
    if len(arguments) == 2:
        yield with_atom("direction-swapped", predicate, arguments[::-1])
    kind = "relation-swapped" if len(arguments) == 2 else "predicate-exchanged"
    for other in signature.binary if len(arguments) == 2 else signature.unary:
        if other != predicate:
            yield with_atom(kind, other, arguments)


def _connective_edits(node: And | Or, place: _Place, signature: Signature) -> Iterator[tuple[Edit, Formula]]:
    connective, opposite = type(node), Or if isinstance(node, And) else And
    kind = "connective-weakened" if isinstance(node, And) else "connective-strengthened"
    yield Edit(kind, f"in {to_sexpr(node)}"), opposite(*node.children)
    in_chain = place.chain is connective
    for own, other in (node.children, node.children[::-1]):
        here = _Place(
            place.variables,
            place.quantifier if in_chain else None,
            connective,
            _has_quantifier(other) or (in_chain and place.beside_quantifier),
        )
        if type(own) is not connective:  # a longer chain loses its parts one at a time
            yield Edit(_dropped_kind(own, here), to_sexpr(own)), other
            if here.is_guard(own) and isinstance(own, And | Or):
                edit, negated = _change("guard-negated", own, to_nnf(Not(own)))
                yield edit, _in_order(node, own, negated, other)
        for edit, changed in _edits(own, here, signature):
            yield edit, _in_order(node, own, changed, other)


def _in_order(node: And | Or, own: Formula, changed: Formula, other: Formula) -> Formula:
    """`node` with its operand `own` changed; the other stays on its side."""
    return node.with_children(changed, other) if own is node.left else node.with_children(other, changed)


def _dropped_kind(part: Formula, place: _Place) -> str:
    is_literal = isinstance(part, Atom) or (isinstance(part, Not) and isinstance(part.operand, Atom))
    if place.is_lifted and is_literal and FREE_VARIABLE in free_variables(part):
        return "lift-dropped"
    return "guard-dropped" if place.is_guard(part) else "condition-dropped"


def _quantifier_edits(node: Quantified, place: _Place) -> Iterator[tuple[Edit, Formula]]:
    variable = node.variable
    if len(place.variables) == 1 and count_lift_depth(node) >= 2:
        yield Edit("lift-replaced", f"{variable} -> {FREE_VARIABLE}"), _substituted(node.body, variable, FREE_VARIABLE)
    parts = flatten(_CHAIN_OF[type(node)], node.body)
    if isinstance(node, ForAll):
        ranges = [part for part in parts if isinstance(part, Not)]
        for chosen in _choices(ranges):
            rest = [part for part in parts if not any(part is one for one in chosen)]
            if rest:
                body = conjunction_of([*(to_nnf(Not(part)) for part in chosen), disjunction_of(rest)])
                yield _change("quantifier-collapsed", node, Exists(variable, body))
        yield _change("quantifier-flipped", node, Exists(variable, node.body))
    else:
        literals = [part for part in parts if isinstance(part, Atom | Not)]
        edges = [part for part in literals if isinstance(part, Atom) and len(part.arguments) == 2]
        for chosen in [*_choices(edges), *([part] for part in literals)]:
            rest = [part for part in parts if not any(part is one for one in chosen)]
            if rest:
                body = disjunction_of([*(to_nnf(Not(part)) for part in chosen), conjunction_of(rest)])
                yield _change("quantifier-strengthened", node, ForAll(variable, body))
        yield _change("quantifier-flipped", node, ForAll(variable, node.body))


def _choices(parts: Sequence[Formula]) -> Iterator[Sequence[Formula]]:
    """All of the parts together, then each alone."""
    if parts:
        yield parts
    if len(parts) > 1:
        yield from ([part] for part in parts)


def _additions(node: Quantified, place: _Place, signature: Signature) -> Iterator[tuple[Edit, Formula]]:
    """A literal added to the quantifier's range or, in an innermost scope, to what is said of it."""
    variable = node.variable
    literals: Iterable[Formula] = _unary_literals(signature, variable)
    is_innermost = not _has_quantifier(node.body)
    kind = "condition-added" if is_innermost else "guard-added"
    if not is_innermost:
        literals = [*literals, *_edges(signature, place.variables, variable)]
    parts = flatten(_CHAIN_OF[type(node)], node.body)
    for literal in literals:
        edit = Edit(kind, to_sexpr(literal))
        if isinstance(node, Exists):
            yield edit, Exists(variable, And(literal, node.body))
            continue
        edit = Edit(kind, f"{to_sexpr(literal)} to the antecedent")
        yield edit, ForAll(variable, Or(to_nnf(Not(literal)), node.body))
        if is_innermost:
            for i, part in enumerate(parts):
                if not isinstance(part, Not):
                    changed = disjunction_of([*parts[:i], And(part, literal), *parts[i + 1 :]])
                    yield Edit(kind, f"{to_sexpr(literal)} to {to_sexpr(part)}"), ForAll(variable, changed)


def _unary_literals(signature: Signature, variable: Variable) -> Iterator[Formula]:
    for predicate in signature.unary:
        atom = Atom(predicate, (variable,))
        yield from (atom, Not(atom))


def _edges(signature: Signature, anchors: Iterable[Variable], variable: Variable) -> Iterator[Formula]:
    for anchor in anchors:
        for predicate in signature.binary:
            yield from (Atom(predicate, (anchor, variable)), Atom(predicate, (variable, anchor)))


def _substituted(formula: Formula, variable: Variable, by: Variable) -> Formula:
    """`formula` with one free variable named as another, which is bound nowhere in it."""

    def named(argument: Variable) -> Variable:
        return by if argument == variable else argument

    def combine(node: Formula, *parts: Formula) -> Formula:
        match node:
            case Atom(predicate, arguments):
                return Atom(predicate, tuple(map(named, arguments)))
            case Equal(left, right):
                return Equal(named(left), named(right))
        return node.with_children(*parts)

    return fold(formula, combine)
