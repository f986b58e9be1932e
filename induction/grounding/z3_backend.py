"""Circuits to Z3: which of several demands on the outputs can be met together, and how."""

from collections.abc import Mapping, Sequence
from typing import Any

from induction.errors import BudgetExhaustedError
from induction.grounding.circuit import Circuit, GroundAtom, Literal, to_smtlib

RESOURCE_LIMIT = 50_000_000
"""Z3's own count of work for one question: deterministic, unlike seconds. Some tens of seconds at most."""


class DemandSolver:
    """Answers questions about `demands`: for each a literal of `circuit` that is to be true.

    The circuit is handed over once, as SMT-LIB text: Z3 reads that far faster than Python can build terms.
    """

    def __init__(self, circuit: Circuit, demands: Sequence[Literal], resource_limit: int = RESOURCE_LIMIT) -> None:
        import z3

        self._z3: Any = z3
        self._number = len(demands)
        self._inputs: Mapping[str, GroundAtom] = {
            f"n{node}": of for node, of in circuit.definitions(demands) if isinstance(of[0], str)
        }
        lines = [to_smtlib(circuit, demands, str)]
        lines += [f"(declare-const demand{i} Bool)(assert (=> demand{i} out{i}))" for i in range(self._number)]
        # A context of its own: in a shared one, models would depend on what was asked before.
        self._context: Any = z3.Context()
        self._solver: Any = z3.SolverFor("QF_FD", ctx=self._context)
        self._solver.set("rlimit", resource_limit)
        self._solver.from_string("\n".join(lines))
        self._demands: list[Any] = [z3.Bool(f"demand{i}", self._context) for i in range(self._number)]

    def meet(self, chosen: Sequence[int]) -> set[GroundAtom] | None:
        """The inputs that are true in some assignment meeting the chosen demands; None if there is none.

        Raises:
            BudgetExhaustedError: Z3 gave up within its resource limit.
        """
        answer = self._solver.check(*[self._demands[i] for i in chosen])
        if answer == self._z3.unsat:
            return None
        if answer != self._z3.sat:
            raise BudgetExhaustedError(f"Z3 gave up: {self._solver.reason_unknown()}")
        model = self._solver.model()
        return {
            atom
            for name, atom in self._inputs.items()
            if self._z3.is_true(model.eval(self._z3.Bool(name, self._context), model_completion=True))
        }

    def conflict(self) -> list[int]:
        """Demands that cannot be met together though any one of them left out can.

        Deletion from Z3's unsatisfiable core, so minimal, though not always the smallest.

        Raises:
            BudgetExhaustedError: Z3 gave up within its resource limit.
            ValueError: all demands can be met together.
        """
        if self.meet(range(self._number)) is not None:
            raise ValueError("the demands do not conflict")
        names = {str(literal) for literal in self._solver.unsat_core()}
        core = [i for i in range(self._number) if f"demand{i}" in names]
        for i in list(core):
            rest = [j for j in core if j != i]
            if self.meet(rest) is None:
                core = rest
        return core
