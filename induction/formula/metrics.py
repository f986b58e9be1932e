"""What can be counted in a formula."""

from dataclasses import dataclass

from induction.formula.syntax import (
    FREE_VARIABLE,
    Atom,
    Equal,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Quantified,
    Variable,
    fold,
    require_tree_size,
    subformulas,
)

_NO_QUANTIFIER = -1


@dataclass(frozen=True)
class FormulaMetrics:
    """The measures of one formula; see the functions of this module for each."""

    ast_nodes: int
    quantifier_depth: int
    quantifier_alternations: int
    quantifiers: int
    variables: tuple[Variable, ...]
    free_variables: tuple[Variable, ...]
    equality_atoms: int
    lift_depth: int
    is_lifted: bool


def measure(formula: Formula) -> FormulaMetrics:
    """All measures of `formula`. Raises FormulaTooLargeError beyond `MAX_TREE_NODES` AST nodes."""
    lift_depth = count_lift_depth(formula)
    return FormulaMetrics(
        ast_nodes=formula.ast_nodes,
        quantifier_depth=quantifier_depth(formula),
        quantifier_alternations=count_alternations(formula),
        quantifiers=count_quantifiers(formula),
        variables=tuple(sorted(variable_names(formula))),
        free_variables=tuple(sorted(free_variables(formula))),
        equality_atoms=count_equality_atoms(formula),
        lift_depth=lift_depth,
        is_lifted=lift_depth >= 2,
    )


def quantifier_depth(formula: Formula) -> int:
    """The deepest nesting of quantifiers; 0 without any."""

    def combine(node: Formula, *depths: int) -> int:
        return max(depths, default=0) + isinstance(node, Quantified)

    return fold(formula, combine)


def count_quantifiers(formula: Formula) -> int:
    """Quantifier occurrences."""

    def combine(node: Formula, *counts: int) -> int:
        return sum(counts) + isinstance(node, Quantified)

    return fold(formula, combine)


def count_equality_atoms(formula: Formula) -> int:
    """Occurrences of `=`."""

    def combine(node: Formula, *counts: int) -> int:
        return sum(counts) + isinstance(node, Equal)

    return fold(formula, combine)


def count_alternations(formula: Formula) -> int:
    """Most changes between "for all" and "exists" along a path, each quantifier read with its polarity.

    `not (exists y (forall z ...))` alternates once, as does its negation normal form; below `iff` a
    subformula counts with both polarities.
    """

    # Per node: most alternations on a path whose outermost quantifier is universal, and existential.
    # The other polarity swaps the two.
    def combine(node: Formula, *parts: tuple[int, int]) -> tuple[int, int]:
        match node:
            case ForAll():
                ((universal, existential),) = parts
                return max(0, universal, existential + 1), _NO_QUANTIFIER
            case Exists():
                ((universal, existential),) = parts
                return _NO_QUANTIFIER, max(0, existential, universal + 1)
            case Not():
                parts = (parts[0][::-1],)
            case Implies():
                parts = (parts[0][::-1], parts[1])
            case Iff():
                parts = (*parts, *(part[::-1] for part in parts))
        return (
            max((part[0] for part in parts), default=_NO_QUANTIFIER),
            max((part[1] for part in parts), default=_NO_QUANTIFIER),
        )

    return max(0, *fold(formula, combine))


def count_lift_depth(formula: Formula, variable: Variable = FREE_VARIABLE) -> int:
    """The largest number of quantifiers that a free occurrence of `variable` stands under; 0 without any.

    A formula is lifted when this is 2 or more for x (the benchmark's "lift": x under at least two quantifiers).
    """
    absent = -1

    def combine(node: Formula, *depths: int) -> int:
        match node:
            case Atom() | Equal():
                occurs = variable in (node.arguments if isinstance(node, Atom) else node.label)
                return 0 if occurs else absent
            case Quantified():
                return absent if node.variable == variable or depths[0] == absent else depths[0] + 1
            case _:
                return max(depths)

    return max(0, fold(formula, combine))


def variable_names(formula: Formula) -> frozenset[Variable]:
    """Every variable name that occurs, free or bound."""
    names: set[Variable] = set()
    for node in subformulas(formula):
        match node:
            case Atom(_, arguments):
                names.update(arguments)
            case Equal(left, right):
                names.update((left, right))
            case Quantified(variable, _):
                names.add(variable)
    return frozenset(names)


def free_variables(formula: Formula) -> frozenset[Variable]:
    """The variables with a free occurrence.

    Walks the tree from the root with a count of the binders of each variable, so that thousands of distinct
    variables stay linear. Raises FormulaTooLargeError beyond `MAX_TREE_NODES` AST nodes.
    """
    require_tree_size(formula, "finding the free variables")
    free: set[Variable] = set()
    binders: dict[Variable, int] = {}
    pending: list[Formula | Variable] = [formula]  # a variable marks the end of the scope that bound it
    while pending:
        item = pending.pop()
        match item:
            case str():
                binders[item] -= 1
            case Atom(_, variables) | Equal(label=variables):
                free.update(v for v in variables if not binders.get(v))
            case Quantified(variable, body):
                binders[variable] = binders.get(variable, 0) + 1
                pending.extend((variable, body))
            case _:
                pending.extend(item.children)
    return frozenset(free)
