"""Random formulas of an exact size."""

from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from induction.formula.metrics import free_variables
from induction.formula.syntax import (
    DEFAULT_SIGNATURE,
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
    run_walk,
)

_ATTEMPTS = 1000


def sample_formula(
    rng: np.random.Generator,
    ast_nodes: int,
    *,
    signature: Signature = DEFAULT_SIGNATURE,
    max_depth: int = 2,
    bound_variables: Sequence[Variable] = ("y", "z"),
    equality: bool = True,
    connectives: Sequence[type[BinaryConnective]] = (And, Or, Implies, Iff),
) -> Formula:
    """A formula of exactly `ast_nodes` AST nodes with x, and nothing else, free.

    Quantifiers nest at most `max_depth` deep and bind `bound_variables`, x among them if listed; names may be
    bound again inside their own scope. Neither uniform over formulas nor free of vacuous parts: meant for tests,
    measurements and baselines that should meet everything.

    Raises:
        ValueError: no such formula was found; small or odd sizes may have none.
    """
    smallest_atom = min([2] * bool(signature.unary) + [3] * bool(signature.binary or equality), default=ast_nodes + 1)

    def walk(size: int, depth: int, scope: tuple[Variable, ...]) -> Generator[Any, Formula, Formula]:
        if size == 2 and signature.unary:
            return Atom(_pick(rng, signature.unary), (_pick(rng, scope),))
        if size == 3 and (signature.binary or equality) and (size - 1 < smallest_atom or rng.random() < 0.7):
            name = _pick(rng, (*signature.binary, *(("=",) if equality else ())))
            left, right = _pick(rng, scope), _pick(rng, scope)
            return Equal(left, right) if name == "=" else Atom(name, (left, right))

        def negation() -> Generator[Any, Formula, Formula]:
            return Not((yield walk(size - 1, depth, scope)))

        def quantification() -> Generator[Any, Formula, Formula]:
            quantifier: type[Quantified] = _pick(rng, (ForAll, Exists))
            variable = _pick(rng, bound_variables)
            inner = scope if variable in scope else (*scope, variable)
            return quantifier(variable, (yield walk(size - 2, depth - 1, inner)))

        def combination() -> Generator[Any, Formula, Formula]:
            left_size = int(rng.integers(smallest_atom, size - smallest_atom))
            left = yield walk(left_size, depth, scope)
            right = yield walk(size - 1 - left_size, depth, scope)
            connective: type[BinaryConnective] = _pick(rng, connectives)
            return connective(left, right)

        choices = [negation] if size - 1 >= smallest_atom else []
        if size - 2 >= smallest_atom and depth > 0 and bound_variables:
            choices += [quantification] * 2
        if size - 1 >= 2 * smallest_atom and connectives:
            choices += [combination] * 3
        if not choices:
            raise ValueError(f"no formula of {size} AST nodes over {signature}")
        choice: Callable[[], Generator[Any, Formula, Formula]] = _pick(rng, choices)
        return (yield choice())

    for _ in range(_ATTEMPTS):
        formula = run_walk(walk(ast_nodes, max_depth, (FREE_VARIABLE,)))
        if free_variables(formula) == {FREE_VARIABLE}:
            return formula
    raise ValueError(f"no formula of {ast_nodes} AST nodes with {FREE_VARIABLE} free was found")


def _pick(rng: np.random.Generator, options: Sequence[Any]) -> Any:
    return options[int(rng.integers(len(options)))]
