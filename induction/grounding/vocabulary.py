"""The literals over some variables, and their values on tuples of objects."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

from induction.formula.metrics import free_variables
from induction.formula.syntax import (
    FREE_VARIABLE,
    Atom,
    Equal,
    Exists,
    Formula,
    Not,
    Signature,
    Variable,
    conjunction_of,
    disjunction_of,
)
from induction.worlds.world import BoolArray, World

BOUND_VARIABLES: tuple[Variable, ...] = ("y", "z", "w", "v")
"""The names of variables beside x, in order."""


def x_and(number: int) -> tuple[Variable, ...]:
    """X and the first `number` of `BOUND_VARIABLES`."""
    return (FREE_VARIABLE, *BOUND_VARIABLES[:number])


@dataclass(frozen=True)
class Vocabulary:
    """The literals over some variables: literal i < n is atom i, literal n + i its negation."""

    signature: Signature
    variables: tuple[Variable, ...]
    equality: bool

    @cached_property
    def atoms(self) -> tuple[Formula, ...]:
        """The atoms, binary ones in both directions and with one variable twice, equality once for each pair."""
        made: list[Formula] = [
            Atom(name, arguments)
            for name, arity in self.signature.items()
            for arguments in product(self.variables, repeat=arity)
        ]
        if self.equality:
            made += [Equal(left, right) for left, right in combinations(self.variables, 2)]
        return tuple(made)

    @cached_property
    def literals(self) -> tuple[Formula, ...]:
        """The atoms, then their negations."""
        return (*self.atoms, *(Not(atom) for atom in self.atoms))

    @cached_property
    def of_x(self) -> tuple[int, ...]:
        """The literals that speak of x."""
        return tuple(i for i, literal in enumerate(self.literals) if FREE_VARIABLE in free_variables(literal))

    def complement(self, literal: int) -> int:
        """The negation of a literal, as a literal."""
        return (literal + len(self.atoms)) % len(self.literals)

    def truth(self, world: World) -> tuple[BoolArray, npt.NDArray[np.int64]]:
        """What the atoms are on all tuples of objects, x first.

        Returns `bool[tuples, atoms]`, an unknown atom counting as false, and `int64[tuples, atoms]`: the number of the
        unknown ground atom (predicates in order, row-major), -1 where the atom is known.
        """
        n, k = world.size, len(self.variables)
        places = np.indices((n,) * k).reshape(k, -1)
        axis = {variable: places[i] for i, variable in enumerate(self.variables)}
        true, unknown = [], []
        offset = 0
        numbers = {}
        for name, arity in self.signature.items():
            table = np.arange(offset, offset + n**arity, dtype=np.int64).reshape((n,) * arity)
            numbers[name] = np.where(world.unknown[name], table, -1)
            offset += n**arity
        for atom in self.atoms:
            if isinstance(atom, Equal):
                true.append(axis[atom.left] == axis[atom.right])
                unknown.append(np.full(n**k, -1, dtype=np.int64))
            else:
                assert isinstance(atom, Atom)
                place = tuple(axis[argument] for argument in atom.arguments)
                true.append(world.true[atom.predicate][place])
                unknown.append(numbers[atom.predicate][place])
        if not true:  # a signature without predicates, and no equality
            return np.zeros((n**k, 0), dtype=np.bool_), np.zeros((n**k, 0), dtype=np.int64)
        return np.stack(true, axis=1), np.stack(unknown, axis=1)


def definition_by_rules(vocabulary: Vocabulary, rules: Sequence[Sequence[int]]) -> Formula:
    """What rules with these literals in their bodies say; no rule is empty.

    It is the disjunction of their conjunctions, each under "exists" for the variables it needs.
    """
    bodies = []
    for literals in rules:
        body = conjunction_of(vocabulary.literals[i] for i in literals)
        for variable in reversed(vocabulary.variables[1:]):
            if variable in free_variables(body):
                body = Exists(variable, body)
        bodies.append(body)
    return disjunction_of(bodies)
