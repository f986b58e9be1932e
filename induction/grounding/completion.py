"""Existential completion: filling in the unknown atoms of a world so that a formula matches its labels.

Cheap exact answers come first. Three-valued evaluation may show that an object's label is out of reach, and the two
extreme completions (unknown atoms all false, all true) may match. Only what they leave open is grounded and handed to
Z3. Every completion that is returned has been re-checked by the reference evaluator.
"""

from collections.abc import Collection
from functools import cached_property

import numpy as np

from induction.errors import BudgetExhaustedError, EvaluationLimitError
from induction.evaluation import bitset, reference, three_valued
from induction.evaluation.verdict import Completion
from induction.formula.syntax import Formula
from induction.grounding.circuit import Circuit, GroundAtom
from induction.grounding.ground import ground
from induction.grounding.z3_backend import RESOURCE_LIMIT, DemandSolver
from induction.worlds.world import BoolArray, World


def complete(formula: Formula, world: World, *, resource_limit: int = RESOURCE_LIMIT) -> Completion:
    """Whether some completion of `world` makes `formula` match its target, which, and if none does, why.

    Raises:
        BudgetExhaustedError: Z3 could not decide within `resource_limit`.
        EvaluationLimitError: the formula is too wide for the world.
    """
    return _Question(formula, world, resource_limit).answer()


def has_completion(formula: Formula, world: World, *, resource_limit: int = RESOURCE_LIMIT) -> bool:
    """Whether some completion of `world` makes `formula` match its target: `complete` without saying which, or why not.

    Not confirmed by the reference evaluator.

    Raises:
        BudgetExhaustedError, EvaluationLimitError: as `complete`.
    """
    return _Question(formula, world, resource_limit).is_met()


class _Question:
    """One formula in one world; what is expensive is worked out when first needed."""

    def __init__(self, formula: Formula, world: World, resource_limit: int) -> None:
        self._formula = formula
        self._world = world
        self._resource_limit = resource_limit
        self._low_world = self._filled(())
        self._high_world = world.completed(world.unknown)
        ((self._low, self._high),) = bitset.extensions([formula], [self._low_world, self._high_world])

    def answer(self) -> Completion:
        target = self._world.target
        for candidate, extension in ((self._low_world, self._low), (self._high_world, self._high)):
            if (extension == target).all():
                return self._completion(self._smallest(candidate), "an extreme completion")
        values = three_valued.evaluate(self._formula, self._world)
        impossible = np.where(target, values == three_valued.FALSE, values == three_valued.TRUE)
        if impossible.any():
            return self._failure("three-valued evaluation", impossible)
        true_atoms = self._solver.meet(range(self._world.size))
        if true_atoms is not None:
            return self._completion(self._smallest(self._filled(true_atoms)), "Z3")
        return self._failure("Z3", impossible)

    def is_met(self) -> bool:
        target = self._world.target
        if (self._low == target).all() or (self._high == target).all():
            return True
        values = three_valued.evaluate(self._formula, self._world)
        if np.where(target, values == three_valued.FALSE, values == three_valued.TRUE).any():
            return False
        return self._solver.meet(range(self._world.size)) is not None

    @cached_property
    def _solver(self) -> DemandSolver:
        circuit = Circuit()
        literals = ground(self._formula, self._world, circuit)
        demands = np.where(self._world.target, literals, literals ^ 1)
        return DemandSolver(circuit, demands.tolist(), self._resource_limit)

    def _filled(self, true_atoms: Collection[GroundAtom]) -> World:
        """The completion in which of the unknown atoms just `true_atoms` are true."""
        values = {predicate: np.zeros_like(table) for predicate, table in self._world.true.items()}
        for predicate, elements in true_atoms:
            values[predicate][elements] = True
        return self._world.completed(values)

    def _smallest(self, completed: World) -> World:
        """`completed`, a match, with unknown atoms made false until none can be alone: for people to read."""
        before = None
        while completed is not before:
            before = completed
            completed = self._once_smaller(completed)
        return completed

    def _once_smaller(self, completed: World) -> World:
        """`completed` with each unknown atom made false in turn where it still matches."""
        for predicate, mask in self._world.unknown.items():
            for place in np.argwhere(mask & completed.true[predicate]).tolist():
                values = {name: table.copy() for name, table in completed.true.items()}
                values[predicate][tuple(place)] = False
                smaller = self._world.completed(values)
                ((extension,),) = bitset.extensions([self._formula], [smaller])
                if (extension == self._world.target).all():
                    completed = smaller
        return completed

    def _completion(self, completed: World, decided_by: str) -> Completion:
        if not (reference.extension(self._formula, completed) == self._world.target).all():
            raise AssertionError(f"{decided_by} gave a completion that does not match: {self._formula}")
        return self._report(decided_by, completed=completed)

    def _failure(self, decided_by: str, impossible: BoolArray) -> Completion:
        """What to say where no completion matches; `impossible` marks labels already known to be out of reach."""
        target = self._world.target
        reached = (self._low == target) | (self._high == target)
        proven = bool(impossible.any())
        for element in np.flatnonzero(~reached & ~impossible).tolist():
            try:
                impossible[element] = self._solver.meet([element]) is None
            except (BudgetExhaustedError, EvaluationLimitError):
                if not proven:
                    raise
                decided_by += ", other objects not looked into"
                break
        if impossible.any():
            return self._report(decided_by, impossible=impossible)
        conflict = tuple(self._world.domain[element] for element in self._solver.conflict())
        return self._report(decided_by, impossible=impossible, conflict=conflict)

    def _report(
        self,
        decided_by: str,
        *,
        completed: World | None = None,
        impossible: BoolArray | None = None,
        conflict: tuple[str, ...] = (),
    ) -> Completion:
        world = self._world
        if impossible is None:
            impossible = np.zeros(world.size, dtype=np.bool_)
        return Completion(
            completed=completed,
            decided_by=decided_by,
            positives_unachievable=world.elements(impossible & world.target),
            negatives_unachievable=world.elements(impossible & ~world.target),
            conflict=conflict,
            flips_to_true=world.elements(~self._low & self._high),
            flips_to_false=world.elements(self._low & ~self._high),
        )
