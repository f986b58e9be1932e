"""The semantics, as directly as it can be written down: the judge of every fast path.

Slow on purpose. It shares no code with `bitset`, knows no shortcut but that of `and`, `or` and the quantifiers
themselves, and looks up one atom at a time.
"""

from collections.abc import Generator
from typing import Any, TypeAlias

import numpy as np

from induction.formula.syntax import (
    FREE_VARIABLE,
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
    Variable,
    fold,
    run_walk,
)
from induction.worlds.world import BoolArray, World

# What the variables stand for: the latest binding, above the ones before it; None binds nothing.
_Bindings: TypeAlias = "tuple[Variable, int, _Bindings] | None"


def holds(formula: Formula, world: World, element: int) -> bool:
    """Whether `formula` is true of object number `element` as x in `world`; unknown atoms count as false.

    Raises:
        KeyError: a free variable other than x, or a predicate that the world's signature lacks.
    """
    return holds_under(formula, world, {FREE_VARIABLE: element})


def holds_under(formula: Formula, world: World, assignment: dict[Variable, int]) -> bool:
    """Whether `formula` is true in `world` when each free variable is the object of this number."""
    bindings: _Bindings = None
    for variable, element in assignment.items():
        bindings = (variable, element, bindings)
    return run_walk(_holds(formula, world, bindings))


def extension(formula: Formula, world: World) -> BoolArray:
    """`bool[n]`: for each object of `world`, whether `formula` is true of it as x."""
    return np.array([holds(formula, world, element) for element in range(world.size)], dtype=np.bool_)


def bound_steps(formula: Formula, size: int) -> float:
    """An upper bound on the subformula visits that `extension` makes in a world of `size` objects."""

    def combine(node: Formula, *inner: float) -> float:
        return 1.0 + sum(inner) * (size if isinstance(node, ForAll | Exists) else 1)

    return size * fold(formula, combine)


def _holds(formula: Formula, world: World, bindings: _Bindings) -> Generator[Any, bool, bool]:
    match formula:
        case Atom(predicate, arguments):
            elements = tuple(_value(variable, bindings) for variable in arguments)
            return bool(world.true[predicate][elements])
        case Equal(left, right):
            return _value(left, bindings) == _value(right, bindings)
        case Not(operand):
            return not (yield _holds(operand, world, bindings))
        case And(left, right):
            return (yield _holds(left, world, bindings)) and (yield _holds(right, world, bindings))
        case Or(left, right):
            return (yield _holds(left, world, bindings)) or (yield _holds(right, world, bindings))
        case Implies(left, right):
            return not (yield _holds(left, world, bindings)) or (yield _holds(right, world, bindings))
        case Iff(left, right):
            return (yield _holds(left, world, bindings)) == (yield _holds(right, world, bindings))
        case ForAll(variable, body):
            for element in range(world.size):
                if not (yield _holds(body, world, (variable, element, bindings))):
                    return False
            return True
        case Exists(variable, body):
            for element in range(world.size):
                if (yield _holds(body, world, (variable, element, bindings))):
                    return True
            return False
    raise TypeError(f"not a formula: {formula!r}")


def _value(variable: Variable, bindings: _Bindings) -> int:
    while bindings is not None:
        name, element, bindings = bindings
        if name == variable:
            return element
    raise KeyError(f"variable {variable} is free")
