"""Equivalent formulas that say the same in more words: what simplification is to undo."""

from induction.formula.metrics import variable_names
from induction.formula.normal_forms import flatten, to_prenex
from induction.formula.syntax import (
    And,
    Atom,
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
    fold,
)


def pick(rng, options):
    return options[int(rng.integers(len(options)))]


def sample_part(rng, signature: Signature, scope) -> Formula:
    """A small formula of the variables in scope."""
    name = pick(rng, list(signature))
    part: Formula = Atom(name, tuple(pick(rng, scope) for _ in range(signature.arity(name))))
    if rng.random() < 0.3:
        part = Not(part)
    if rng.random() < 0.25:
        part = pick(rng, (And, Or))(part, sample_part(rng, signature, scope))
    return part


def fresh(formula) -> str:
    taken = variable_names(formula)
    return next(name for name in (f"v{i}" for i in range(1000)) if name not in taken)


def renamed(formula: Formula, old: str, new: str) -> Formula:
    """With the free occurrences of a variable named anew; the new name is nowhere in it."""

    def combine(node, *parts):
        match node:
            case Atom(predicate, arguments):
                return Atom(predicate, tuple(new if a == old else a for a in arguments))
            case Equal(left, right):
                return Equal(new if left == old else left, new if right == old else right)
            case Quantified(variable, _) if variable == old:
                return node
        return node.with_children(*parts)

    # A quantifier of the old name keeps its own body.
    return fold(formula, combine)


def _double_negation(rng, node, part, name):
    return Not(Not(node))


def _duplicated(rng, node, part, name):
    return pick(rng, (And, Or))(node, node)


def _absorbed(rng, node, part, name):
    outer, inner = pick(rng, ((And, Or), (Or, And)))
    return outer(node, inner(node, part))


def _split_in_cases(rng, node, part, name):
    if rng.random() < 0.5:
        return Or(And(node, part), And(node, Not(part)))
    return And(Or(node, part), Or(Not(part), node))


def _tautology_added(rng, node, part, name):
    if rng.random() < 0.5:
        return And(node, Or(part, Not(part)))
    return Or(And(part, Not(part)), node)


def _de_morgan(rng, node, part, name):
    match node:
        case And(left, right):
            return Not(Or(Not(left), Not(right)))
        case Or(left, right):
            return Not(And(Not(left), Not(right)))
        case ForAll(variable, body):
            return Not(Exists(variable, Not(body)))
        case Exists(variable, body):
            return Not(ForAll(variable, Not(body)))
    return None


def _implication(rng, node, part, name):
    return Implies(Not(node), node) if not isinstance(node, Or) else Implies(Not(node.left), node.right)


def _iff_twice(rng, node, part, name):
    return Iff(part, Iff(part, node))


def _vacuous(rng, node, part, name):
    return pick(rng, (Exists, ForAll))(name, node)


def _one_point(rng, node, part, name):
    if not isinstance(node, Atom):
        return None
    old = pick(rng, node.arguments)
    inside = renamed(node, old, name)
    if rng.random() < 0.5:
        return Exists(name, And(Equal(name, old), inside))
    return ForAll(name, Implies(Equal(name, old), inside))


def _distributed(rng, node, part, name):
    match node:
        case And(left, Or(one, other)):
            return Or(And(left, one), And(left, other))
        case Or(left, And(one, other)):
            return And(Or(left, one), Or(left, other))
        case Exists(variable, Or(one, other)):
            return Or(Exists(variable, one), Exists(variable, other))
        case ForAll(variable, And(one, other)):
            return And(ForAll(variable, one), ForAll(variable, other))
    return None


def _quantifier_split(rng, node, part, name):
    match node:
        case Exists(variable, body):
            return Or(Exists(variable, And(body, part)), Exists(variable, And(body, Not(part))))
        case ForAll(variable, body):
            return And(ForAll(variable, Or(body, part)), ForAll(variable, Or(body, Not(part))))
    return None


def _implied_added(rng, node, part, name):
    if isinstance(node, And | Or):
        parts = flatten(type(node), node)
        dual = Or if isinstance(node, And) else And
        return type(node)(node, dual(pick(rng, parts), part))
    return None


ENLARGEMENTS = {
    "double negation": _double_negation,
    "duplicate": _duplicated,
    "absorption": _absorbed,
    "cases": _split_in_cases,
    "tautology": _tautology_added,
    "De Morgan": _de_morgan,
    "implication": _implication,
    "iff twice": _iff_twice,
    "vacuous quantifier": _vacuous,
    "one point": _one_point,
    "distribution": _distributed,
    "quantifier split": _quantifier_split,
    "implied operand": _implied_added,
}


def enlarged_once(rng, formula: Formula, signature: Signature) -> Formula | None:
    """One enlargement of a random kind at a random place; None if that kind does not apply there."""
    places: list[tuple[Formula, tuple[str, ...]]] = []

    def collect(node, scope):
        places.append((node, scope))
        inner = (*scope, node.variable) if isinstance(node, Quantified) and node.variable not in scope else scope
        for child in node.children:
            collect(child, inner)

    collect(formula, ("x",))
    number = int(rng.integers(len(places)))
    node, scope = places[number]
    if isinstance(node, Quantified):
        inner_scope = tuple(dict.fromkeys((*scope, node.variable)))
    kind = pick(rng, list(ENLARGEMENTS))
    part = sample_part(
        rng, signature, inner_scope if kind == "quantifier split" and isinstance(node, Quantified) else scope
    )
    made = ENLARGEMENTS[kind](rng, node, part, fresh(formula))
    if made is None:
        return None
    count = -1

    def rebuild(at):
        nonlocal count
        count += 1
        if count == number:
            count += sum(1 for _ in _walk(at)) - 1
            return made
        return at.with_children(*[rebuild(child) for child in at.children])

    return rebuild(formula)


def _walk(node):
    yield node
    for child in node.children:
        yield from _walk(child)


def enlarged(rng, formula: Formula, signature: Signature, least: int, most: int) -> Formula:
    """The formula after 3 to 8 enlargements, with `least` to `most` AST nodes more."""
    while True:
        made = formula
        for _ in range(int(rng.integers(3, 9))):
            step = None
            while step is None:
                step = enlarged_once(rng, made, signature)
            made = step
            if made.ast_nodes > formula.ast_nodes + most:
                break
        else:
            if rng.random() < 0.1:
                made = to_prenex(made, signature)
            if least <= made.ast_nodes - formula.ast_nodes <= most:
                return made
