"""Kleene evaluation: what holds, or fails, whatever the unknown atoms are.

Sound but not complete: a formula may be certain (`(or f (not f))`) where this finds it open.
"""

import numpy as np
import numpy.typing as npt

from induction.evaluation.bitset import MAX_TABLE_CELLS
from induction.evaluation.program import Algebra, Program
from induction.formula.syntax import Formula, PredicateName
from induction.worlds.world import World

FALSE, OPEN, TRUE = 0, 1, 2
"""The three values, ordered by truth: `and` is the minimum and `or` the maximum."""

Values = npt.NDArray[np.int8]


def evaluate(formula: Formula, world: World) -> Values:
    """`int8[n]`: for each object as x, `TRUE` or `FALSE` if so in every completion as far as can be seen, or `OPEN`.

    Raises:
        EvaluationLimitError, KeyError, ValueError: as `bitset.extensions`.
    """
    program: Program[np.int8] = Program([formula])
    program.require_affordable(world.size, MAX_TABLE_CELLS)
    ((_, table),) = program.run(_Kleene(world))
    values: Values = table[0]
    return values


class _Kleene(Algebra[np.int8]):
    """Kleene's strong three values over one world."""

    def __init__(self, world: World) -> None:
        self._world = world

    @property
    def size(self) -> int:
        return self._world.size

    def predicate(self, name: PredicateName) -> Values:
        values = TRUE * self._world.true[name] + OPEN * self._world.unknown[name]
        return values.astype(np.int8)[None]

    def equality(self) -> Values:
        return TRUE * np.eye(self.size, dtype=np.int8)[None]

    def negation(self, operand: Values) -> Values:
        return TRUE - operand

    def conjunction(self, left: Values, right: Values) -> Values:
        return np.minimum(left, right)

    def disjunction(self, left: Values, right: Values) -> Values:
        return np.maximum(left, right)

    def implication(self, left: Values, right: Values) -> Values:
        return np.maximum(TRUE - left, right)

    def equivalence(self, left: Values, right: Values) -> Values:
        return np.minimum(np.maximum(TRUE - left, right), np.maximum(left, TRUE - right))

    def exists(self, body: Values, axis: int) -> Values:
        values: Values = body.max(axis=axis)
        return values

    def forall(self, body: Values, axis: int) -> Values:
        values: Values = body.min(axis=axis)
        return values
