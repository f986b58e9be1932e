"""The edits of a formula: what one small change at one place can be, and formulas rewritten by one or two of them.

Edits are made on the formula as it is written. A place is a subformula, named by its path: the numbers of the children
to go to from the root. `changes` lists every edit there is:

- *literal-negated*, *part-negated*: a negation is put on a place, or a negation that stands there goes;
- *predicate-exchanged*, *relation-exchanged*: another predicate of the same arity in an atom;
- *direction-swapped*: the arguments of a binary atom change places;
- *variable-exchanged*: one argument of an atom or equality becomes another variable in scope;
- *connective-changed*: one of and, or, implies, iff for another;
- *quantifier-flipped*: forall for exists or the reverse, the body kept;
- *quantifier-collapsed*: "every G is C" becomes "some G is C"; *quantifier-strengthened* is the reverse. G is any part
  of the body's chain (`or` and `implies` under forall, `and` under exists) or several of them, but not all;
- *part-dropped*: one operand of a connective goes with the connective;
- *quantifier-dropped*: a quantifier goes, its variable becomes another one in scope that is not bound again inside;
- *guard-added*: a place F becomes (and F L), L a literal; *case-added*: it becomes (or F L);
- *part-replaced*: a place becomes a literal, but not the whole formula unless it is one;
- *exchanged-everywhere*: two predicates of one arity trade places in the whole formula.

A literal is an atom, an equality or the negation of one, over the variables in scope; arguments may be the same, but
not those of an equality. An atom below a negation is no place of its own for a literal to be added or put there.

NOTE(pairs): two edits go together if they are at places of which neither lies inside the other, or if one lies inside
what the other keeps: the subformulas that it does not rewrite. Putting something on a place (a negation, a guard, a
case) keeps the whole place, but nothing else can then be put on it. An exchange everywhere is made before the other.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import TypeAlias

from induction.formula.syntax import (
    FREE_VARIABLE,
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
    Quantified,
    Signature,
    Variable,
    conjunction_of,
    disjunction_of,
    subformulas,
    with_predicates,
)

Path: TypeAlias = tuple[int, ...]

KINDS = (
    "literal-negated",
    "predicate-exchanged",
    "relation-exchanged",
    "direction-swapped",
    "variable-exchanged",
    "connective-changed",
    "quantifier-flipped",
    "quantifier-collapsed",
    "quantifier-strengthened",
    "part-dropped",
    "quantifier-dropped",
    "part-negated",
    "exchanged-everywhere",
    "guard-added",
    "case-added",
    "part-replaced",
)
"""The kinds of edit; of edits that lead to formulas of one size, the first kind here is told first."""

_CONNECTIVES: tuple[type[BinaryConnective], ...] = (And, Or, Implies, Iff)
_MOST_CHOSEN_FROM = 5  # of a longer chain only single parts are chosen as what a quantifier ranges over


@dataclass(frozen=True)
class Place:
    """A subformula where it stands. `scope` holds the variables in scope, x first, each binder's after those above."""

    path: Path
    node: Formula
    scope: tuple[Variable, ...]
    parent: Formula | None

    @property
    def visible(self) -> tuple[Variable, ...]:
        """The distinct variables in scope, in order of their latest binders."""
        return tuple(dict.fromkeys(reversed(self.scope)))[::-1]

    @property
    def takes_literals(self) -> bool:
        """Whether literals can be added to it, or stand for it: not so of an atom below a negation."""
        return not (isinstance(self.parent, Not) and isinstance(self.node, Atom | Equal))


def hole(number: int) -> Atom:
    """What stands in a skeleton for part number `number`."""
    return Atom(str(number), ())


def is_hole(node: Formula) -> bool:
    """Whether `node` is a hole of a skeleton."""
    return isinstance(node, Atom) and not node.arguments


@dataclass(frozen=True)
class Change:
    """One edit at one place: what stands there becomes `skeleton`, its holes filled with the subformulas at `parts`.

    `puts_on` says that it keeps the whole place and puts something on it: its one part is the place itself.
    `renamed` is a pair of variables, the first to become the second in the only part.
    """

    kind: str
    place: Place
    skeleton: Formula
    parts: tuple[Path, ...] = ()
    puts_on: bool = False
    renamed: tuple[Variable, Variable] | None = None

    @property
    def path(self) -> Path:
        """Where it is made."""
        return self.place.path

    @cached_property
    def added_nodes(self) -> int:
        """By how many AST nodes the formula grows; the same whatever else is edited, see NOTE(pairs)."""
        kept = sum(node_at(self.place.node, part[len(self.path) :]).ast_nodes for part in self.parts)
        return self.skeleton.ast_nodes - len(self.parts) + kept - self.place.node.ast_nodes

    def goes_with(self, other: "Change") -> bool:
        """Whether both can be made in one formula; see NOTE(pairs)."""
        if not (_lies_in(self.path, other.path) or _lies_in(other.path, self.path)):
            return True
        return self._keeps(other) or other._keeps(self)

    def _keeps(self, other: "Change") -> bool:
        if self.puts_on and other.puts_on and self.path == other.path:
            return False
        return any(_lies_in(other.path, part) for part in self.parts)


def _lies_in(path: Path, other: Path) -> bool:
    return path[: len(other)] == other


def node_at(formula: Formula, path: Path) -> Formula:
    """The subformula at `path`."""
    for number in path:
        formula = formula.children[number]
    return formula


def is_literal(node: Formula) -> bool:
    """Whether `node` is an atom, an equality or the negation of one."""
    return isinstance(node.operand if isinstance(node, Not) else node, Atom | Equal)


def places(formula: Formula) -> list[Place]:
    """All places of `formula`, each before those inside it. Recursive: the caller bounds the formula's size."""

    def walk(node: Formula, path: Path, scope: tuple[Variable, ...], parent: Formula | None) -> Iterator[Place]:
        yield Place(path, node, scope, parent)
        inner = (*scope, node.variable) if isinstance(node, Quantified) else scope
        for number, child in enumerate(node.children):
            yield from walk(child, (*path, number), inner, node)

    return list(walk(formula, (), (FREE_VARIABLE,), None))


def literals(signature: Signature, variables: Sequence[Variable], *, equality: bool = True) -> list[Formula]:
    """All literals over these variables."""
    atoms: list[Formula] = [Atom(name, (v,)) for name in signature.unary for v in variables]
    atoms += [Atom(name, pair) for name in signature.binary for pair in product(variables, repeat=2)]
    if equality:
        atoms += [Equal(*pair) for pair in combinations(variables, 2)]
    return [literal for atom in atoms for literal in (atom, Not(atom))]


def changes(formula: Formula, signature: Signature) -> list[Change]:
    """Every edit of one place of `formula`, in the order of `KINDS`, then of places.

    No two at one place give the same.
    """
    found: list[Change] = []
    for place in places(formula):
        of_place = [*_rewritten(place, signature), *_with_literal(place, signature)]
        seen = {place.node}
        for change in sorted(of_place, key=lambda change: KINDS.index(change.kind)):
            after = rewritten_place(change)
            if after not in seen:
                seen.add(after)
                found.append(change)
    return sorted(found, key=lambda change: KINDS.index(change.kind))


def exchanges_everywhere(formula: Formula, signature: Signature) -> list[tuple[str, Formula]]:
    """`formula` with two predicates exchanged throughout, for each pair of one arity, and in words which."""
    used = {node.predicate for node in subformulas(formula) if isinstance(node, Atom)}
    result = []
    for names in (signature.unary, signature.binary):
        for one, other in combinations(names, 2):
            if one in used or other in used:
                result.append((f"{one} and {other} everywhere", with_predicates(formula, {one: other, other: one})))
    return result


def _rewritten(place: Place, signature: Signature) -> Iterator[Change]:
    """The edits that rewrite what stands at the place, or negate it."""
    node, path = place.node, place.path
    operands = tuple((*path, number) for number in range(len(node.children)))
    negated = "literal-negated" if is_literal(node) else "part-negated"
    if isinstance(node, Not):
        yield Change(negated, place, hole(0), operands)
    elif not isinstance(place.parent, Not):
        yield Change(negated, place, Not(hole(0)), (path,), puts_on=True)
    match node:
        case Atom(predicate, arguments):
            kind = "predicate-exchanged" if len(arguments) == 1 else "relation-exchanged"
            for other in signature.unary if len(arguments) == 1 else signature.binary:
                if other != predicate:
                    yield Change(kind, place, Atom(other, arguments))
            if len(set(arguments)) == 2:
                yield Change("direction-swapped", place, Atom(predicate, arguments[::-1]))
            for exchanged in _exchanged(arguments, place.visible):
                yield Change("variable-exchanged", place, Atom(predicate, exchanged))
        case Equal(left, right):
            for one, other in _exchanged((left, right), place.visible):
                if one != other:
                    yield Change("variable-exchanged", place, Equal(one, other))
        case BinaryConnective():
            for connective in _CONNECTIVES:
                if connective is not type(node):
                    yield Change("connective-changed", place, connective(hole(0), hole(1)), operands)
            for operand in operands:
                yield Change("part-dropped", place, hole(0), (operand,))
        case Quantified(variable, body):
            flipped = ForAll if isinstance(node, Exists) else Exists
            yield Change("quantifier-flipped", place, flipped(variable, hole(0)), operands)
            yield from _ranges_changed(place, node)
            bound = {inner.variable for inner in subformulas(body) if isinstance(inner, Quantified)}
            for other in place.visible:
                if other != variable and other not in bound:
                    yield Change("quantifier-dropped", place, hole(0), operands, renamed=(variable, other))


def _exchanged(arguments: tuple[Variable, ...], visible: Iterable[Variable]) -> Iterator[tuple[Variable, ...]]:
    for number, argument in enumerate(arguments):
        for variable in visible:
            if variable != argument:
                yield (*arguments[:number], variable, *arguments[number + 1 :])


def _ranges_changed(place: Place, node: Quantified) -> Iterator[Change]:
    """Some to every: "every G is C" for "some G is C", and the reverse."""
    universal = isinstance(node, ForAll)
    chain = _chain(node.body, (*place.path, 0), universal)
    if len(chain) < 2:
        return
    sizes = range(1, len(chain)) if len(chain) <= _MOST_CHOSEN_FROM else (1,)
    for size in sizes:
        for chosen in combinations(range(len(chain)), size):
            taken = [_taken(part, i, negated=i in chosen) for i, part in enumerate(chain)]
            ranged = [kept for i, (_, kept) in enumerate(taken) if i in chosen]
            claimed = [kept for i, (_, kept) in enumerate(taken) if i not in chosen]
            skeleton: Formula
            if universal:
                skeleton = Exists(node.variable, conjunction_of([*ranged, disjunction_of(claimed)]))
            else:
                skeleton = ForAll(node.variable, disjunction_of([*ranged, conjunction_of(claimed)]))
            kind = "quantifier-collapsed" if universal else "quantifier-strengthened"
            yield Change(kind, place, skeleton, tuple(path for path, _ in taken))


def _chain(node: Formula, path: Path, universal: bool, *, negated: bool = False) -> list[tuple[Path, Formula, bool]]:
    """The parts of a body's chain: path, what stands there, and whether it counts with the opposite sign."""
    if not negated and isinstance(node, Or if universal else And):
        return [*_chain(node.children[0], (*path, 0), universal), *_chain(node.children[1], (*path, 1), universal)]
    if universal and not negated and isinstance(node, Implies):
        left = [(p, n, not s) for p, n, s in _conjuncts(node.left, (*path, 0))]
        return [*left, *_chain(node.right, (*path, 1), universal)]
    return [(path, node, False)]


def _conjuncts(node: Formula, path: Path) -> list[tuple[Path, Formula, bool]]:
    if isinstance(node, And):
        return [*_conjuncts(node.left, (*path, 0)), *_conjuncts(node.right, (*path, 1))]
    return [(path, node, False)]


def _taken(part: tuple[Path, Formula, bool], number: int, *, negated: bool) -> tuple[Path, Formula]:
    """The path of what is kept of a part, and what stands for it: without a double negation."""
    path, node, opposite = part
    if negated == opposite:
        return path, hole(number)
    if isinstance(node, Not):
        return (*path, 0), hole(number)
    return path, Not(hole(number))


def _with_literal(place: Place, signature: Signature) -> Iterator[Change]:
    """The edits that add a literal, or put one there."""
    if not place.takes_literals:
        return
    for literal in literals(signature, place.visible):
        yield Change("guard-added", place, And(hole(0), literal), (place.path,), puts_on=True)
        yield Change("case-added", place, Or(hole(0), literal), (place.path,), puts_on=True)
        if place.path or is_literal(place.node):
            yield Change("part-replaced", place, literal)


def filled(skeleton: Formula, parts: Sequence[Formula]) -> Formula:
    """`skeleton` with its holes filled."""
    if is_hole(skeleton):
        assert isinstance(skeleton, Atom)
        return parts[int(skeleton.predicate)]
    return skeleton.with_children(*(filled(child, parts) for child in skeleton.children))


def rewritten_place(change: Change) -> Formula:
    """What stands at the place of `change` once it alone is made."""
    parts = [node_at(change.place.node, part[len(change.path) :]) for part in change.parts]
    return _completed(change, parts)


def _completed(change: Change, parts: Sequence[Formula]) -> Formula:
    if change.renamed is not None:
        parts = [_renamed(parts[0], *change.renamed)]
    return filled(change.skeleton, parts)


def _renamed(node: Formula, variable: Variable, by: Variable) -> Formula:
    """`node` with `variable`, where it is free, become `by`, which is not bound in it."""
    match node:
        case Atom(predicate, arguments):
            return Atom(predicate, tuple(by if argument == variable else argument for argument in arguments))
        case Equal(left, right):
            return Equal(by if left == variable else left, by if right == variable else right)
        case Quantified(bound, _) if bound == variable:
            return node
    return node.with_children(*(_renamed(child, variable, by) for child in node.children))


def rewrite(formula: Formula, chosen: Iterable[Change]) -> Formula:
    """`formula` with all of `chosen`, which go with one another, made."""
    rewriting: Mapping[Path, Change] = {change.path: change for change in chosen if not change.puts_on}
    putting_on: Mapping[Path, Change] = {change.path: change for change in chosen if change.puts_on}

    def built(path: Path) -> Formula:
        if path in rewriting:
            change = rewriting[path]
            result = _completed(change, [built(part) for part in change.parts])
        else:
            node = node_at(formula, path)
            result = node.with_children(*(built((*path, number)) for number in range(len(node.children))))
        return filled(putting_on[path].skeleton, [result]) if path in putting_on else result

    return built(())
