"""Boolean circuits: and-inverter graphs with shared, constant-folded gates, built by the array.

Literals follow the AIGER convention: node n stands for the literals 2n and, complemented, 2n + 1; literal 0 is
false and 1 is true. A node is an input or a gate, the conjunction of two literals of earlier nodes. Everything else
is made of these: `or` is a conjunction between complements.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from induction.errors import EvaluationLimitError
from induction.formula.syntax import PredicateName

Literal: TypeAlias = int
Literals: TypeAlias = npt.NDArray[np.int64]
GroundAtom: TypeAlias = tuple[PredicateName, tuple[int, ...]]
"""A predicate and the numbers of the objects it is applied to."""

FALSE: Literal = 0
TRUE: Literal = 1

MAX_GATES = 4_000_000
"""Most gates of one circuit."""


class Circuit:
    """A growing circuit whose inputs are ground atoms.

    No two gates have the same operands, and no gate has a constant, equal or complementary operands: `conjoin`
    folds these. Operands are smaller than the gate's own literals, so node order is an order of computation.
    """

    def __init__(self) -> None:
        self._left: list[Literal] = [FALSE]  # node 0 is the constant
        self._right: list[Literal] = [FALSE]
        self._gates: dict[int, Literal] = {}  # (smaller operand << 32 | larger operand) -> literal
        self._inputs: dict[GroundAtom, Literal] = {}

    @property
    def inputs(self) -> tuple[GroundAtom, ...]:
        """The ground atoms that are inputs, in order of creation."""
        return tuple(self._inputs)

    def input(self, atom: GroundAtom) -> Literal:
        """The literal of an input, made if it is new."""
        literal = self._inputs.get(atom)
        if literal is None:
            literal = self._inputs[atom] = self._add_node(-1, len(self._inputs))
        return literal

    def conjoin(self, left: Literals, right: Literals) -> Literals:
        """Elementwise conjunction, with broadcasting.

        Raises:
            EvaluationLimitError: the circuit would have more than `MAX_GATES` gates.
        """
        left, right = np.broadcast_arrays(left, right)
        low, high = np.minimum(left, right), np.maximum(left, right)
        result = np.where(low == TRUE, high, low)  # also right for equal operands, and false for false
        result[(low ^ 1) == high] = FALSE
        plain = (low > TRUE) & (low != high) & (result != FALSE)
        if plain.any():
            keys, places = np.unique((low[plain] << 32) | high[plain], return_inverse=True)
            result[plain] = np.array([self._gate(key) for key in keys.tolist()], dtype=np.int64)[places]
        return result

    def disjoin(self, left: Literals, right: Literals) -> Literals:
        """Elementwise disjunction, with broadcasting."""
        return self.conjoin(left ^ 1, right ^ 1) ^ 1

    def conjoin_all(self, literals: Literals, axis: int) -> Literals:
        """Conjunction along an axis, by halves; the axis goes. An empty axis gives true."""
        rest = np.moveaxis(literals, axis, 0)
        if not len(rest):
            return np.full(rest.shape[1:], TRUE, dtype=np.int64)
        while len(rest) > 1:
            half = len(rest) // 2
            rest = np.concatenate([self.conjoin(rest[:half], rest[half : 2 * half]), rest[2 * half :]])
        first: Literals = rest[0]
        return first

    def count_gates(self, outputs: Iterable[Literal] | None = None) -> int:
        """Gates that `outputs` depend on; without them all gates of the circuit."""
        if outputs is None:
            return len(self._gates)
        return sum(self._left[node] >= 0 for node in self._cone(outputs))

    def depth(self, outputs: Iterable[Literal]) -> int:
        """Most gates on a path from an input to one of `outputs`."""
        outputs = list(outputs)
        depths = {0: 0}
        for node in self._cone(outputs):
            left, right = self._left[node], self._right[node]
            depths[node] = 0 if left < 0 else 1 + max(depths[left >> 1], depths[right >> 1])
        return max((depths[literal >> 1] for literal in outputs), default=0)

    def evaluate(self, outputs: Sequence[Literal], value_of: Callable[[GroundAtom], bool]) -> list[bool]:
        """The values of `outputs` when each input has the value that `value_of` gives it."""
        atoms = self.inputs
        values = {0: False}
        for node in self._cone(outputs):
            left, right = self._left[node], self._right[node]
            if left < 0:
                values[node] = value_of(atoms[right])
            else:
                values[node] = (values[left >> 1] ^ bool(left & 1)) and (values[right >> 1] ^ bool(right & 1))
        return [values[literal >> 1] ^ bool(literal & 1) for literal in outputs]

    def definitions(self, outputs: Iterable[Literal]) -> Iterator[tuple[int, GroundAtom | tuple[Literal, Literal]]]:
        """The nodes that `outputs` depend on, each after its operands: number, and its atom or its two operands."""
        atoms = self.inputs
        for node in self._cone(outputs):
            left, right = self._left[node], self._right[node]
            yield node, atoms[right] if left < 0 else (left, right)

    def _cone(self, outputs: Iterable[Literal]) -> list[int]:
        """The nodes, the constant apart, that `outputs` depend on, in order of computation."""
        seen: set[int] = {0}
        pending = [literal >> 1 for literal in outputs]
        while pending:
            node = pending.pop()
            if node not in seen:
                seen.add(node)
                if self._left[node] >= 0:
                    pending += (self._left[node] >> 1, self._right[node] >> 1)
        return sorted(seen - {0})

    def _gate(self, key: int) -> Literal:
        literal = self._gates.get(key)
        if literal is None:
            if len(self._gates) >= MAX_GATES:
                raise EvaluationLimitError(f"the circuit would have more than {MAX_GATES:,} gates")
            literal = self._gates[key] = self._add_node(key >> 32, key & 0xFFFFFFFF)
        return literal

    def _add_node(self, left: int, right: int) -> Literal:
        self._left.append(left)
        self._right.append(right)
        return 2 * (len(self._left) - 1)


def to_text(circuit: Circuit, outputs: Sequence[Literal], name_of: Callable[[GroundAtom], str]) -> str:
    """The part of the circuit behind `outputs`, a node a line: `n3 = R(a0, a1)`, `n5 = n3 & !n4`, `out0 = !n5`."""
    lines = [
        f"n{node} = {name_of(of) if isinstance(of[0], str) else ' & '.join(map(_literal_name, of))}"
        for node, of in circuit.definitions(outputs)
    ]
    lines += [f"out{i} = {_literal_name(literal)}" for i, literal in enumerate(outputs)]
    return "\n".join(lines)


def _literal_name(literal: Literal) -> str:
    if literal <= TRUE:
        return "true" if literal else "false"
    return f"{'!' if literal & 1 else ''}n{literal >> 1}"


def to_smtlib(circuit: Circuit, outputs: Sequence[Literal], name_of: Callable[[GroundAtom], str]) -> str:
    """SMT-LIB 2 commands: a constant n<i> an input, a definition n<i> a gate, and out<i> for each output.

    Each input is introduced by a comment with its name.
    """
    lines = ["(set-logic QF_UF)"]
    for node, of in circuit.definitions(outputs):
        if isinstance(of[0], str):
            lines.append(f"; n{node} is {name_of(of)}")
            lines.append(f"(declare-const n{node} Bool)")
        else:
            left, right = (_smtlib_literal(literal) for literal in of)
            lines.append(f"(define-fun n{node} () Bool (and {left} {right}))")
    lines += [f"(define-fun out{i} () Bool {_smtlib_literal(literal)})" for i, literal in enumerate(outputs)]
    return "\n".join(lines) + "\n"


def _smtlib_literal(literal: Literal) -> str:
    if literal <= TRUE:
        return "true" if literal else "false"
    return f"(not n{literal >> 1})" if literal & 1 else f"n{literal >> 1}"
