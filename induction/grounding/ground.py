"""Grounding: a formula over a finite world as a circuit whose inputs are the unknown atoms."""

import numpy as np

from induction.evaluation.program import Algebra, Program
from induction.formula.syntax import Formula, PredicateName
from induction.grounding.circuit import FALSE, TRUE, Circuit, GroundAtom, Literals
from induction.worlds.world import World

MAX_CIRCUIT_CELLS = 2**22
"""Most entries of tables of literals at a time; a table has objects to the power of its free variables."""


def ground(formula: Formula, world: World, circuit: Circuit) -> Literals:
    """`int64[n]`: for each object as x, the literal of `circuit` that says whether `formula` holds of it.

    Quantifiers are unrolled over the objects; known atoms and equality are constants and fold away, unknown atoms
    become inputs, named by predicate and object numbers: ground two worlds into one circuit only if their unknown
    atoms of one name are the same facts.

    Raises:
        EvaluationLimitError: a table beyond `MAX_CIRCUIT_CELLS`, or a circuit beyond its limit.
        KeyError: a predicate that the world lacks.
        ValueError: a free variable other than x.
    """
    program: Program[np.int64] = Program([formula])
    program.require_affordable(world.size, MAX_CIRCUIT_CELLS)
    ((_, table),) = program.run(_Wires(world, circuit))
    literals: Literals = table[0]
    return literals


def atom_name(world: World, atom: GroundAtom) -> str:
    """A ground atom in words: `R(a0, a1)`."""
    predicate, elements = atom
    return f"{predicate}({', '.join(world.domain[element] for element in elements)})"


class _Wires(Algebra[np.int64]):
    """Literals of one circuit over one world."""

    def __init__(self, world: World, circuit: Circuit) -> None:
        self._world = world
        self._circuit = circuit
        self._predicates: dict[PredicateName, Literals] = {}

    @property
    def size(self) -> int:
        return self._world.size

    def predicate(self, name: PredicateName) -> Literals:
        if name not in self._predicates:
            literals = np.where(self._world.true[name], np.int64(TRUE), np.int64(FALSE))
            for place in np.argwhere(self._world.unknown[name]).tolist():
                literals[tuple(place)] = self._circuit.input((name, tuple(place)))
            self._predicates[name] = literals[None]
        return self._predicates[name]

    def equality(self) -> Literals:
        return np.where(np.eye(self.size, dtype=np.bool_), np.int64(TRUE), np.int64(FALSE))[None]

    def negation(self, operand: Literals) -> Literals:
        return operand ^ 1

    def conjunction(self, left: Literals, right: Literals) -> Literals:
        return self._circuit.conjoin(left, right)

    def disjunction(self, left: Literals, right: Literals) -> Literals:
        return self._circuit.disjoin(left, right)

    def implication(self, left: Literals, right: Literals) -> Literals:
        return self._circuit.disjoin(left ^ 1, right)

    def equivalence(self, left: Literals, right: Literals) -> Literals:
        return self._circuit.conjoin(self.implication(left, right), self.implication(right, left))

    def exists(self, body: Literals, axis: int) -> Literals:
        return self._circuit.conjoin_all(body ^ 1, axis) ^ 1

    def forall(self, body: Literals, axis: int) -> Literals:
        return self._circuit.conjoin_all(body, axis)
