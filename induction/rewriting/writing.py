"""Two ways of writing a formula: one to work on, and the shortest one.

A formula is worked on in negation normal form, but with `iff` kept: `not` stands above atoms and `=` only. From there
`to_shortest` finds where `not` costs least: `(and (not f) (and (not g) h))` is `(and (not (or f g)) h)`, one node less.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from induction.formula.normal_forms import flatten
from induction.formula.syntax import (
    And,
    BinaryConnective,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Quantified,
    conjunction_of,
    disjunction_of,
    fold,
    subformulas,
)

JOINED: dict[type[Formula], Callable[[Iterable[Formula]], Formula]] = {And: conjunction_of, Or: disjunction_of}
"""For `And` and `Or`: how one or more operands are put under it."""

DUAL: dict[type[Formula], type[And] | type[Or]] = {And: Or, Or: And}
"""The connective that De Morgan's laws exchange each with."""


def to_working(formula: Formula) -> Formula:
    """Negation normal form with `iff` kept: `not` only above atoms and `=`, no `implies`."""
    forms: dict[int, tuple[Formula, Formula]] = {}  # of each node and of its negation
    for node in subformulas(formula):
        pairs = [forms[id(child)] for child in node.children]
        match node:
            case Not():
                form = pairs[0][::-1]
            case And() | Or():
                (f, not_f), (g, not_g) = pairs
                form = node.with_children(f, g), DUAL[type(node)](not_f, not_g)
            case Implies():
                (f, not_f), (g, not_g) = pairs
                form = Or(not_f, g), And(f, not_g)
            case Iff():
                (f, not_f), (g, _) = pairs
                form = node.with_children(f, g), Iff(not_f, g)
            case Quantified(variable, _):
                other = Exists if isinstance(node, ForAll) else ForAll
                form = node.with_children(pairs[0][0]), other(variable, pairs[0][1])
            case _:
                form = node, Not(node)
        forms[id(node)] = form
    return forms[id(formula)][0]


def negated(formula: Formula) -> Formula:
    """The working form of the negation."""
    return to_working(Not(formula))


def parts_of(node: Formula) -> list[Formula]:
    """The operands of the chain of `and` or of `or` that `node` is the top of; the node alone if it is none."""
    return flatten(type(node), node) if isinstance(node, And | Or) else [node]


@dataclass(frozen=True)
class _Written:
    """The shortest writing of a node and of its negation; of a chain also those of its operands."""

    plain: Formula
    negation: Formula
    chain: type[BinaryConnective] | None = None
    parts: tuple["_Written", ...] = ()

    def operands(self, connective: type[Formula]) -> tuple["_Written", ...]:
        return self.parts if self.chain is connective else (self,)


def to_shortest(formula: Formula, connectives: Iterable[type[Formula]] = ()) -> Formula:
    """A formula in working form with `not` placed to cost least, `implies` too if it is among `connectives`.

    Operands keep their order but for those that share a `not`.
    """
    with_implies = Implies in connectives

    def combine(node: Formula, *children: _Written) -> _Written:
        match node:
            case Not():
                return _Written(children[0].negation, children[0].plain)
            case And() | Or():
                kind = type(node)
                parts = tuple(part for child in children for part in child.operands(kind))
                pairs = [(part.plain, part.negation) for part in parts]
                chain = _chain(kind, pairs, with_implies)
                dual = _chain(DUAL[kind], [pair[::-1] for pair in pairs], with_implies)
                return _Written(_shorter(chain, Not(dual)), _shorter(dual, Not(chain)), kind, parts)
            case Iff():
                first, second = children
                same = _shorter(Iff(first.plain, second.plain), Iff(first.negation, second.negation))
                other = _shorter(Iff(first.negation, second.plain), Iff(first.plain, second.negation))
                return _Written(_shorter(same, Not(other)), _shorter(other, Not(same)))
            case Quantified(variable, _):
                opposite = Exists if isinstance(node, ForAll) else ForAll
                own, dual = type(node)(variable, children[0].plain), opposite(variable, children[0].negation)
                return _Written(_shorter(own, Not(dual)), _shorter(dual, Not(own)))
            case _:
                return _Written(node, Not(node))

    return fold(formula, combine).plain


def _shorter(first: Formula, second: Formula) -> Formula:
    return second if second.ast_nodes < first.ast_nodes else first


def _chain(kind: type[And] | type[Or], pairs: list[tuple[Formula, Formula]], with_implies: bool) -> Formula:
    """The operands under `kind`, those that are shorter negated under one `not` if that saves anything."""
    gains = [plain.ast_nodes - negation.ast_nodes for plain, negation in pairs]
    shared = [i for i, gain in enumerate(gains) if gain > 0]
    saved = sum(gains[i] for i in shared)
    rest = [i for i in range(len(pairs)) if i not in shared]
    if with_implies and kind is Or and shared and rest:
        together = conjunction_of(pairs[i][1] for i in shared)
        return Implies(together, disjunction_of(pairs[i][0] for i in rest))
    if saved < 2:
        return JOINED[kind](plain for plain, _ in pairs)
    together = Not(JOINED[DUAL[kind]](pairs[i][1] for i in shared))
    operands = [pairs[i][0] for i in rest if i < shared[0]] + [together]
    return JOINED[kind](operands + [pairs[i][0] for i in rest if i > shared[0]])
