"""Equivalent formulas of a wanted shape. Each is compared with its source on all small worlds in the tests."""

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field

from induction.errors import FormulaTooLargeError
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
    subformulas,
)

MAX_MINISCOPED_NODES = 10_000
"""Largest negation normal form whose quantifiers are moved inward: a part may be copied once a quantifier around it."""

_LETTERS = "yzwvutsrqponmlkjihgfedcba"


def to_nnf(formula: Formula) -> Formula:
    """Negation normal form: `not` only above atoms and `=`, no `implies`, no `iff`.

    `(iff f g)` becomes `(or (and f g) (and (not f) (not g)))`, pushed inward. Subformulas are shared, so nested
    `iff` costs memory in proportion to the source although its AST size doubles at each level.
    """
    # NOTE(nnf-pairs): per node, the form of the node and the form of its negation.
    forms: dict[int, tuple[Formula, Formula]] = {}
    for node in subformulas(formula):
        pairs = [forms[id(child)] for child in node.children]
        match node:
            case Not():
                form = pairs[0][::-1]
            case And():
                (f, not_f), (g, not_g) = pairs
                form = node.with_children(f, g), Or(not_f, not_g)
            case Or():
                (f, not_f), (g, not_g) = pairs
                form = node.with_children(f, g), And(not_f, not_g)
            case Implies():
                (f, not_f), (g, not_g) = pairs
                form = Or(not_f, g), And(f, not_g)
            case Iff():
                (f, not_f), (g, not_g) = pairs
                form = Or(And(f, g), And(not_f, not_g)), Or(And(f, not_g), And(not_f, g))
            case ForAll(variable, _):
                form = node.with_children(pairs[0][0]), Exists(variable, pairs[0][1])
            case Exists(variable, _):
                form = node.with_children(pairs[0][0]), ForAll(variable, pairs[0][1])
            case _:
                form = node, Not(node)
        forms[id(node)] = form
    return forms[id(formula)][0]


def to_miniscoped(formula: Formula) -> Formula:
    """Negation normal form with every quantifier as far in as it goes without being copied.

    Parts that lack the bound variable leave its scope, and a quantifier over none at all goes; domains are never
    empty, which is what makes both sound. No larger than the negation normal form.

    Raises:
        FormulaTooLargeError: the negation normal form has more than `MAX_MINISCOPED_NODES` AST nodes.
    """
    source = to_nnf(formula)
    if source.ast_nodes > MAX_MINISCOPED_NODES:
        raise FormulaTooLargeError(
            f"quantifiers are moved inward in negation normal forms of up to {MAX_MINISCOPED_NODES:,} AST nodes, "
            f"not of {source.ast_nodes:,}"
        )
    results: dict[int, Formula] = {}
    free: dict[int, frozenset[Variable]] = {}  # of nodes that `held` keeps, so that no id is used again
    held: list[Formula] = []

    def noted(node: Formula) -> Formula:
        held.append(node)
        match node:
            case Quantified(variable, body):
                free[id(node)] = free[id(body)] - {variable}
            case Atom() | Equal():
                free[id(node)] = frozenset(node.arguments if isinstance(node, Atom) else node.label)
            case _:
                free[id(node)] = frozenset().union(*(free[id(child)] for child in node.children))
        return node

    def joined(connective: type[And] | type[Or], parts: list[Formula]) -> Formula:
        *front, result = parts
        for part in reversed(front):
            result = noted(connective(part, result))
        return result

    def quantified(quantifier: type[Quantified], variable: Variable, body: Formula) -> Formula:
        around: list[tuple[type[And] | type[Or], list[Formula], bool]] = []
        while isinstance(body, And | Or):
            parts = flatten(type(body), body)
            outside = [part for part in parts if variable not in free[id(part)]]
            inside = [part for part in parts if variable in free[id(part)]]
            if not outside or not inside:
                break
            # What stood first stays first, so that the result reads like the source.
            around.append((type(body), outside, parts[0] is outside[0]))
            body = joined(type(body), inside)
        if variable in free[id(body)]:
            body = noted(quantifier(variable, body))
        for connective, outside, lead in reversed(around):
            body = joined(connective, [*outside, body] if lead else [body, *outside])
        return body

    for node in subformulas(source):
        children = [results[id(child)] for child in node.children]
        if isinstance(node, Quantified):
            results[id(node)] = quantified(type(node), node.variable, children[0])
        else:
            results[id(node)] = noted(node.with_children(*children))
    return results[id(source)]


def flatten(connective: type[BinaryConnective], formula: Formula) -> list[Formula]:
    """The operands of nested `connective` at the top of `formula`, left to right; `formula` alone if it has none."""
    operands: list[Formula] = []
    pending = [formula]
    while pending:
        node = pending.pop()
        if type(node) is connective:
            pending.extend(reversed(node.children))
        else:
            operands.append(node)
    return operands


def to_alpha_canonical(formula: Formula, avoid: Iterable[str] = ()) -> Formula:
    """Bound variables renamed by nesting level (y, z, w, v, ...), so that alphabetic variants become equal.

    Free variables keep their names; a level takes the first name that is neither free in `formula` nor one of
    its predicates nor in `avoid` (where other predicates of the signature could look like variables).

    Raises:
        FormulaTooLargeError: more than `MAX_TREE_NODES` AST nodes.
    """
    names = _NamesByLevel(_names_taken(formula).union(avoid))
    return _rename_bound(formula, lambda scope_depth, _order: names[scope_depth])


def to_renamed_apart(formula: Formula, avoid: Iterable[str] = ()) -> Formula:
    """Every quantifier with a variable of its own, unlike any free one, named in order of appearance.

    `avoid` as for `to_alpha_canonical`.

    Raises:
        FormulaTooLargeError: more than `MAX_TREE_NODES` AST nodes.
    """
    names = _NamesByLevel(_names_taken(formula).union(avoid))
    return _rename_bound(formula, lambda _scope_depth, order: names[order])


def to_prenex(formula: Formula, avoid: Iterable[str] = ()) -> Formula:
    """Quantifiers in front, over a quantifier-free matrix in negation normal form.

    The order of the prefix is a linear extension of the nesting with the fewest alternations, existential first
    where both beginnings do equally well. Domains are never empty, which is what makes pulling sound.
    `avoid` as for `to_alpha_canonical`.

    Raises:
        FormulaTooLargeError: the negation normal form has more than `MAX_TREE_NODES` AST nodes.
    """
    apart = to_renamed_apart(to_nnf(formula), avoid)
    roots, matrix = _quantifier_forest(apart)
    prefix = min((_prefix_starting_with(quantifier, roots) for quantifier in (Exists, ForAll)), key=_count_blocks)
    for quantifier, variable in reversed(prefix):
        matrix = quantifier(variable, matrix)
    return matrix


def _names_taken(formula: Formula) -> frozenset[PredicateName | Variable]:
    predicates = {node.predicate for node in subformulas(formula) if isinstance(node, Atom)}
    return free_variables(formula) | predicates


class _NamesByLevel:
    """Variable names by number: single letters first, then v26, v27, ... (as the released reports do)."""

    def __init__(self, avoid: Collection[str]) -> None:
        self._fresh: Iterator[str] = (
            name
            for name in itertools.chain(_LETTERS, (f"v{i}" for i in itertools.count(len(_LETTERS) + 1)))
            if name not in avoid
        )
        self._names: list[str] = []

    def __getitem__(self, level: int) -> Variable:
        while len(self._names) <= level:
            self._names.append(next(self._fresh))
        return self._names[level]


def _rename_bound(formula: Formula, name_of: Callable[[int, int], Variable]) -> Formula:
    """`formula` with each quantifier's variable named `name_of(quantifiers around it, quantifiers before it)`."""
    require_tree_size(formula, "renaming")
    scopes: dict[Variable, list[Variable]] = {}  # new names of each bound variable, innermost last
    built: list[Formula] = []
    order = itertools.count()
    scope_depth = 0

    def current(variable: Variable) -> Variable:
        names = scopes.get(variable)
        return names[-1] if names else variable

    pending: list[tuple[Formula, Variable | None, bool]] = [(formula, None, False)]
    while pending:
        node, new_name, children_done = pending.pop()
        if not children_done:
            if isinstance(node, Quantified):
                new_name = name_of(scope_depth, next(order))
                scopes.setdefault(node.variable, []).append(new_name)
                scope_depth += 1
            pending.append((node, new_name, True))
            pending.extend((child, None, False) for child in reversed(node.children))
            continue
        match node:
            case Atom(predicate, arguments):
                built.append(Atom(predicate, tuple(map(current, arguments))))
            case Equal(left, right):
                built.append(Equal(current(left), current(right)))
            case Quantified(variable, _):
                assert new_name is not None
                scopes[variable].pop()
                scope_depth -= 1
                built.append(type(node)(new_name, built.pop()))
            case _:
                operands = built[-len(node.children) :]
                del built[-len(node.children) :]
                built.append(node.with_children(*operands))
    return built[0]


@dataclass
class _QuantifierNode:
    """One quantifier of a formula in negation normal form, above those it governs."""

    quantifier: type[Quantified]
    variable: Variable
    inner: list["_QuantifierNode"] = field(default_factory=list)


def _quantifier_forest(formula: Formula) -> tuple[list[_QuantifierNode], Formula]:
    """The outermost quantifiers of `formula`, and `formula` without any. Bound variables must be apart."""
    results: list[tuple[list[_QuantifierNode], Formula]] = []
    # Renaming apart has unshared every quantifier, so visiting distinct node objects visits each just once.
    position: dict[int, int] = {}
    for node in subformulas(formula):
        parts = [results[position[id(child)]] for child in node.children]
        if isinstance(node, Quantified):
            ((inner, matrix),) = parts
            result = [_QuantifierNode(type(node), node.variable, inner)], matrix
        else:
            # The longer list is extended in place: no other node will look at a child's list again.
            forest = max((part[0] for part in parts), key=len, default=[])
            result = forest, node.with_children(*(part[1] for part in parts))
            for other, _ in parts:
                if other is not forest:
                    forest.extend(other)
        position[id(node)] = len(results)
        results.append(result)
    return results[-1]


def _prefix_starting_with(
    quantifier: type[Quantified], roots: list[_QuantifierNode]
) -> list[tuple[type[Quantified], Variable]]:
    prefix: list[tuple[type[Quantified], Variable]] = []
    waiting: dict[type[Quantified], list[_QuantifierNode]] = {ForAll: [], Exists: []}
    for root in roots:
        waiting[root.quantifier].append(root)
    while waiting[ForAll] or waiting[Exists]:
        available = waiting[quantifier]
        for node in available:  # grows as inner quantifiers of the same kind become available
            prefix.append((node.quantifier, node.variable))
            for inner in node.inner:
                waiting[inner.quantifier].append(inner)
        waiting[quantifier] = []
        quantifier = ForAll if quantifier is Exists else Exists
    return prefix


def _count_blocks(prefix: list[tuple[type[Quantified], Variable]]) -> int:
    return sum(1 for _ in itertools.groupby(prefix, key=lambda pair: pair[0]))
