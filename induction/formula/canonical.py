"""A key that formulas share when they differ in writing only."""

from collections.abc import Generator, Mapping
from typing import Any

from induction.formula.normal_forms import flatten, to_miniscoped
from induction.formula.syntax import (
    And,
    Atom,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Variable,
    run_walk,
)


def canonical_key(formula: Formula) -> str:
    """A text equal for formulas that are one up to names of bound variables, the order of operands, De Morgan,
    `implies` and `iff` written out, and parts inside the scope of a quantifier that they do not need.

    Equal keys mean equivalent formulas; equivalent formulas may have different keys.

    Raises:
        FormulaTooLargeError: the negation normal form has more than `MAX_MINISCOPED_NODES` AST nodes.
    """
    return run_walk(_key(to_miniscoped(formula), {}, 0))


def _key(formula: Formula, levels: Mapping[Variable, int], depth: int) -> Generator[Any, str, str]:
    match formula:
        case Atom(predicate, arguments):
            return f"{predicate}({','.join(_name(variable, levels) for variable in arguments)})"
        case Equal(left, right):
            return "=".join(sorted((_name(left, levels), _name(right, levels))))
        case Not(operand):
            return f"!{(yield _key(operand, levels, depth))}"
        case Quantified(variable, body):
            inner = {**levels, variable: depth}
            return f"{formula.keyword}[{(yield _key(body, inner, depth + 1))}]"
        case And() | Or():
            keys = []
            for operand in flatten(type(formula), formula):
                keys.append((yield _key(operand, levels, depth)))  # noqa: PERF401  (no yield in a comprehension)
            distinct = sorted(set(keys))
            return distinct[0] if len(distinct) == 1 else f"{formula.keyword}({';'.join(distinct)})"
    raise TypeError(f"not in negation normal form: {formula!r}")


def _name(variable: Variable, levels: Mapping[Variable, int]) -> str:
    return f"#{levels[variable]}" if variable in levels else variable
