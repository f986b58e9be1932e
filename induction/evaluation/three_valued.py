"""Kleene evaluation: what holds, or fails, whatever the unknown atoms are.

Sound but not complete: a formula may be certain (`(or f (not f))`) where this finds it open.
"""

from collections.abc import Sequence

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
    values: Values = Evaluator([formula]).values(world)[0]
    return values


class Evaluator:
    """Formulas made ready to be evaluated in one world after the other.

    Raises:
        EvaluationLimitError: a subformula with too many free variables.
        ValueError: a formula with a free variable other than x.
    """

    def __init__(self, formulas: Sequence[Formula]) -> None:
        self._number = len(formulas)
        self._program: Program[np.int8] = Program(formulas)

    def values(self, world: World) -> Values:
        """`int8[f, n]`: `evaluate` for each formula.

        Raises:
            EvaluationLimitError, KeyError: as `bitset.extensions`.
        """
        self._program.require_affordable(world.size, MAX_TABLE_CELLS)
        result = np.empty((self._number, world.size), dtype=np.int8)
        for f, table in self._program.run(_Kleene(world)):
            result[f] = table[0]
        return result


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
