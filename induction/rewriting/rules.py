"""Laws by which one node of a formula becomes an equivalent one, each under its name.

They take and give formulas in working form (see `writing`) in which each quantifier has a variable of its own. A law
that does not apply gives None. What a law gives may be as large as before: whether it is taken is for others to say,
and so is the proof that it is right.
"""

import functools
from collections.abc import Callable, Iterator

from induction.errors import FormulaTooLargeError
from induction.formula.canonical import canonical_key
from induction.formula.metrics import free_variables, variable_names
from induction.formula.syntax import (
    FREE_VARIABLE,
    And,
    Atom,
    Equal,
    Exists,
    ForAll,
    Formula,
    Iff,
    Not,
    Or,
    Quantified,
    Variable,
    fold,
    subformulas,
    to_sexpr,
)
from induction.rewriting.writing import DUAL, JOINED, negated, parts_of

TRUE: Formula = Equal(FREE_VARIABLE, FREE_VARIABLE)
"""What stands for a subformula that always holds: the language has no constants."""

FALSE: Formula = Not(TRUE)
"""What stands for a subformula that never holds."""


def is_true(formula: Formula) -> bool:
    """Whether it is an equality of a variable with itself."""
    return isinstance(formula, Equal) and formula.left == formula.right


def is_false(formula: Formula) -> bool:
    """Whether it is the negation of such an equality."""
    return isinstance(formula, Not) and is_true(formula.operand)


def joined(kind: type[And] | type[Or], parts: list[Formula]) -> Formula:
    """The parts under `kind`; of none, what that means."""
    if not parts:
        return TRUE if kind is And else FALSE
    return JOINED[kind](parts)


@functools.lru_cache(maxsize=2**14)
def key_of(formula: Formula) -> str:
    """A text equal for formulas that differ in writing only, as `canonical_key` where that is within bounds."""
    try:
        return canonical_key(formula)
    except FormulaTooLargeError:
        return to_sexpr(formula)


def _negated_key(formula: Formula) -> str:
    return key_of(negated(formula))


def substituted(formula: Formula, variable: Variable, by: Variable) -> Formula | None:
    """`formula` with a free variable named as another; None where a quantifier inside binds either name."""
    if any(isinstance(node, Quantified) and node.variable in (variable, by) for node in subformulas(formula)):
        return None

    def named(name: Variable) -> Variable:
        return by if name == variable else name

    def combine(node: Formula, *parts: Formula) -> Formula:
        match node:
            case Atom(predicate, arguments):
                return Atom(predicate, tuple(map(named, arguments)))
            case Equal(left, right):
                return Equal(named(left), named(right))
        return node.with_children(*parts)

    return fold(formula, combine)


# --- one law each ---


def _constants(node: Formula) -> Formula | None:
    match node:
        case And() | Or():
            parts = parts_of(node)
            neutral, absorbing = (is_true, is_false) if isinstance(node, And) else (is_false, is_true)
            if any(absorbing(part) for part in parts):
                return FALSE if isinstance(node, And) else TRUE
            kept = [part for part in parts if not neutral(part)]
            return joined(type(node), kept) if len(kept) < len(parts) else None
        case Quantified(_, body) if is_true(body) or is_false(body):
            return TRUE if is_true(body) else FALSE
        case Iff(left, right):
            for one, other in ((left, right), (right, left)):
                if is_true(one) or is_false(one):
                    return other if is_true(one) else negated(other)
    return None


def _duplicates(node: Formula) -> Formula | None:
    if not isinstance(node, And | Or):
        return None
    parts = parts_of(node)
    distinct = {key_of(part): part for part in reversed(parts)}
    kept = [part for part in parts if distinct[key_of(part)] is part]
    kept = list({id(part): part for part in kept}.values())
    return joined(type(node), kept) if len(kept) < len(parts) else None


def _complements(node: Formula) -> Formula | None:
    if not isinstance(node, And | Or):
        return None
    parts = parts_of(node)
    keys = {key_of(part) for part in parts}
    if any(_negated_key(part) in keys for part in parts):
        return FALSE if isinstance(node, And) else TRUE
    return None


def _inner_keys(kind: type[Formula], part: Formula) -> dict[str, Formula]:
    """What a part of a chain of `kind` is made of by the dual connective, by key."""
    return {key_of(inner): inner for inner in (parts_of(part) if type(part) is DUAL[kind] else [part])}


def _absorption(node: Formula) -> Formula | None:
    if not isinstance(node, And | Or):
        return None
    parts = parts_of(node)
    inner = [_inner_keys(type(node), part) for part in parts]
    for i, mine in enumerate(inner):
        for j, theirs in enumerate(inner):
            if i != j and mine.keys() <= theirs.keys() and (mine.keys() != theirs.keys() or i < j):
                return joined(type(node), [part for k, part in enumerate(parts) if k != j])
    return None


def _complement_absorption(node: Formula) -> Formula | None:
    if not isinstance(node, And | Or):
        return None
    kind, parts = type(node), parts_of(node)
    inner = [_inner_keys(kind, part) for part in parts]
    for i, mine in enumerate(inner):
        for key, literal in mine.items():
            opposite = _negated_key(literal)
            for j, theirs in enumerate(inner):
                others = theirs.keys() - {opposite}
                if i != j and opposite in theirs and others and mine.keys() - {key} <= others:
                    kept = [one for k, one in theirs.items() if k != opposite]
                    changed = joined(DUAL[kind], kept)
                    return joined(kind, [changed if k == j else part for k, part in enumerate(parts)])
    return None


def _factoring(node: Formula) -> Formula | None:
    if not isinstance(node, And | Or):
        return None
    kind, parts = type(node), parts_of(node)
    inner = [_inner_keys(kind, part) for part in parts]
    best: Formula | None = None
    tried: set[frozenset[str]] = set()
    for i in range(len(parts)):
        for j in range(i):
            common = frozenset(inner[i].keys() & inner[j].keys())
            if not common or common in tried:
                continue
            tried.add(common)
            group = [k for k, mine in enumerate(inner) if common <= mine.keys()]
            rests = [joined(DUAL[kind], [one for key, one in inner[k].items() if key not in common]) for k in group]
            shared = [one for key, one in inner[group[0]].items() if key in common]
            factored = joined(DUAL[kind], [*shared, joined(kind, rests)])
            changed = [factored if k == group[0] else part for k, part in enumerate(parts)]
            made = joined(kind, [part for k, part in enumerate(changed) if k not in group[1:]])
            if best is None or made.ast_nodes < best.ast_nodes:
                best = made
    return best


def _merging(node: Formula) -> Formula | None:
    if not isinstance(node, And | Or):
        return None
    quantifier = ForAll if isinstance(node, And) else Exists
    parts = parts_of(node)
    chosen = [i for i, part in enumerate(parts) if isinstance(part, quantifier)]
    for i in chosen:
        for j in chosen:
            if i >= j:
                continue
            first, second = parts[i], parts[j]
            assert isinstance(first, Quantified)
            assert isinstance(second, Quantified)
            body: Formula | None = second.body
            if first.variable != second.variable:
                if first.variable in free_variables(second.body):
                    continue
                body = substituted(second.body, second.variable, first.variable)
            if body is not None:
                merged = quantifier(first.variable, type(node)(first.body, body))
                return joined(type(node), [merged if k == i else part for k, part in enumerate(parts) if k != j])
    return None


def _vacuous(node: Formula) -> Formula | None:
    if isinstance(node, Quantified) and node.variable not in free_variables(node.body):
        return node.body
    return None


def _miniscoping(node: Formula) -> Formula | None:
    if not isinstance(node, Quantified) or not isinstance(node.body, And | Or):
        return None
    parts = parts_of(node.body)
    inside = [node.variable in free_variables(part) for part in parts]
    if all(inside) or not any(inside):
        return None
    kind = type(node.body)
    kept = node.with_children(joined(kind, [part for part, is_in in zip(parts, inside, strict=True) if is_in]))
    outside = [part for part, is_in in zip(parts, inside, strict=True) if not is_in]
    return joined(kind, [kept, *outside] if inside[0] else [*outside, kept])


def _one_point(node: Formula) -> Formula | None:
    """`exists y (y = t and f)` is f with t for y, also where it is one part of a disjunction; dually `forall`."""
    if not isinstance(node, Quantified):
        return None
    inner_kind = And if isinstance(node, Exists) else Or
    outer_kind = DUAL[inner_kind]
    cases = parts_of(node.body) if isinstance(node.body, outer_kind) else [node.body]
    for number, case in enumerate(cases):
        parts = parts_of(case) if isinstance(case, inner_kind) else [case]
        for part in parts:
            equal = part if inner_kind is And else part.operand if isinstance(part, Not) else None
            if not isinstance(equal, Equal) or equal.left == equal.right or node.variable not in equal.label:
                continue
            term = equal.right if equal.left == node.variable else equal.left
            rest = [other for other in parts if other is not part]
            instance = substituted(joined(inner_kind, rest), node.variable, term)
            if instance is None:
                continue
            if len(cases) == 1:
                return instance
            others = [other for k, other in enumerate(cases) if k != number]
            return outer_kind(instance, node.with_children(joined(outer_kind, others)))
    return None


def _iff_chain(node: Formula) -> list[Formula]:
    parts: list[Formula] = []
    pending = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, Iff):
            pending.extend((one.right, one.left))
        else:
            parts.append(one)
    return parts


def _iff_cancelling(node: Formula) -> Formula | None:
    """Equal operands of a chain of `iff` cancel, opposite ones leave a negation."""
    if not isinstance(node, Iff):
        return None
    parts = _iff_chain(node)
    kept: list[Formula] = []
    negations = 0
    for part in parts:
        same = next((k for k, other in enumerate(kept) if key_of(other) == key_of(part)), None)
        opposite = next((k for k, other in enumerate(kept) if key_of(other) == _negated_key(part)), None)
        if same is not None:
            del kept[same]
        elif opposite is not None:
            del kept[opposite]
            negations += 1
        else:
            kept.append(part)
    if len(kept) == len(parts):
        return None
    result = functools.reduce(Iff, kept) if kept else TRUE
    return negated(result) if negations % 2 else result


def _iff_found(node: Formula) -> Formula | None:
    """`(f and g) or (not f and not g)` is `f iff g`; dually."""
    if not isinstance(node, And | Or):
        return None
    kind, parts = type(node), parts_of(node)
    inner = [_inner_keys(kind, part) for part in parts]
    for i, mine in enumerate(inner):
        if len(mine) != 2:
            continue
        opposite = {_negated_key(one) for one in mine.values()}
        for j in range(i):
            if inner[j].keys() == opposite:
                f, g = mine.values()
                found = Iff(f, g) if kind is Or else Iff(negated(f), g)
                return joined(kind, [found if k == j else part for k, part in enumerate(parts) if k != i])
    return None


Law = Callable[[Formula], Formula | None]

LAWS: dict[str, Law] = {
    "constant folded": _constants,
    "duplicate operand dropped": _duplicates,
    "complementary operands": _complements,
    "operand absorbed": _absorption,
    "complement absorbed": _complement_absorption,
    "vacuous quantifier dropped": _vacuous,
    "one-point rule": _one_point,
    "equal operands of iff cancelled": _iff_cancelling,
    "quantifiers merged": _merging,
    "common operand factored out": _factoring,
    "scope of a quantifier narrowed": _miniscoping,
}
"""The laws by the names under which their steps are told, in the order in which they are tried."""

IFF_LAW = ("iff recognised", _iff_found)
"""Only for formulas that use `iff` anyway."""


def tops(formula: Formula) -> list[Formula]:
    """The node objects that laws apply to, each after those below: no atoms, of chains only the top."""
    inner = {
        id(child)
        for node in subformulas(formula)
        if isinstance(node, And | Or)
        for child in node.children
        if type(child) is type(node)
    }
    return [
        node for node in subformulas(formula) if id(node) not in inner and isinstance(node, And | Or | Iff | Quantified)
    ]


def replaced(formula: Formula, old: Formula, new: Formula) -> Formula:
    """`formula` with the node object `old` replaced wherever it stands."""

    def combine(node: Formula, *parts: Formula) -> Formula:
        return new if node is old else node.with_children(*parts)

    return fold(formula, combine)


def omissions(formula: Formula) -> Iterator[tuple[str, Formula]]:
    """`formula` with one operand of a chain, or of an `iff`, left out: candidates for what its context implies."""
    for node in tops(formula):
        match node:
            case And() | Or():
                parts = parts_of(node)
                for i in range(len(parts)):
                    rest = joined(type(node), parts[:i] + parts[i + 1 :])
                    yield "operand implied by its context dropped", replaced(formula, node, rest)
            case Iff(left, right):
                for rest in (left, right, negated(left), negated(right)):
                    yield "iff decided by its context", replaced(formula, node, rest)


def names_in(formula: Formula) -> frozenset[str]:
    """Every name in it, of variables and of predicates."""
    predicates = {node.predicate for node in subformulas(formula) if isinstance(node, Atom)}
    return variable_names(formula) | predicates
