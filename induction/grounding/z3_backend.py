"""What Z3 is asked: which demands on a circuit can be met together, and whether a formula has any model at all."""

from collections.abc import Mapping, Sequence
from typing import Any

from induction.errors import BudgetExhaustedError
from induction.formula.exports import to_smtlib as formula_to_smtlib
from induction.formula.metrics import free_variables
from induction.formula.syntax import FREE_VARIABLE, Formula
from induction.grounding.circuit import Circuit, GroundAtom, Literal, to_smtlib
from induction.interrupts import interrupts_held

RESOURCE_LIMIT = 50_000_000
"""Z3's own count of work for one question: deterministic, unlike seconds. Some tens of seconds at most."""

MAX_PROOF_NODES = 20_000
"""Largest formula, in AST nodes, that is given to Z3 with its quantifiers."""


def new_context() -> Any:
    """A context of Z3 of its own: in a shared one, models would depend on what was asked before.

    Ctrl-C waits: half a context cannot be taken down.
    """
    with interrupts_held():
        import z3

        return z3.Context()


class DemandSolver:
    """Answers questions about `demands`: for each a literal of `circuit` that is to be true.

    The circuit is handed over once, as SMT-LIB text: Z3 reads that far faster than Python can build terms.
    """

    def __init__(self, circuit: Circuit, demands: Sequence[Literal], resource_limit: int = RESOURCE_LIMIT) -> None:
        import z3

        self._z3: Any = z3
        self._number = len(demands)
        self._resource_limit = resource_limit
        self._inputs: Mapping[str, GroundAtom] = {
            f"n{node}": of for node, of in circuit.definitions(demands) if isinstance(of[0], str)
        }
        lines = [to_smtlib(circuit, demands, str)]
        lines += [f"(declare-const demand{i} Bool)(assert (=> demand{i} out{i}))" for i in range(self._number)]
        self._context: Any = new_context()
        self._solver: Any = z3.SolverFor("QF_FD", ctx=self._context)
        self._solver.set("rlimit", resource_limit)
        self._solver.from_string("\n".join(lines))
        self._demands: list[Any] = [z3.Bool(f"demand{i}", self._context) for i in range(self._number)]

    def meet(self, chosen: Sequence[int]) -> set[GroundAtom] | None:
        """The inputs that are true in some assignment meeting the chosen demands; None if there is none.

        Raises:
            BudgetExhaustedError: Z3 gave up within its resource limit.
        """
        if not _is_satisfiable(self._solver, self._resource_limit, *[self._demands[i] for i in chosen]):
            return None
        model = self._solver.model()
        return {
            atom
            for name, atom in self._inputs.items()
            if self._z3.is_true(model.eval(self._z3.Bool(name, self._context), model_completion=True))
        }

    def meet_with_fewest(self, chosen: Sequence[int]) -> tuple[set[GroundAtom], bool] | None:
        """As `meet`, with as few inputs true as possible, and whether that is certain; None if there is no assignment.

        Raises:
            BudgetExhaustedError: Z3 gave up before it found any.
        """
        best = self.meet(chosen)
        if best is None:
            return None
        inputs = [self._z3.Bool(name, self._context) for name in self._inputs]
        self._solver.push()
        try:
            while best:
                self._solver.add(self._z3.AtMost(*inputs, len(best) - 1))
                fewer = self.meet(chosen)
                if fewer is None:
                    break
                best = fewer
            return best, True
        except BudgetExhaustedError:
            return best, False
        finally:
            self._solver.pop()

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


def is_satisfiable(formula: Formula, resource_limit: int) -> bool:
    """Whether some structure, finite or not, and some object in it as x make `formula` true.

    Raises:
        BudgetExhaustedError: Z3 gave up within `resource_limit`, or the formula is larger than `MAX_PROOF_NODES`.
    """
    if formula.ast_nodes > MAX_PROOF_NODES:
        raise BudgetExhaustedError(f"no proof is tried of a formula of more than {MAX_PROOF_NODES:,} AST nodes")
    import z3

    lines = [formula_to_smtlib(formula)]
    if FREE_VARIABLE in free_variables(formula):
        lines.append("(declare-const the_object Object)(assert (phi the_object))")
    else:
        lines.append("(assert phi)")
    solver: Any = z3.SimpleSolver(ctx=new_context())
    solver.set("rlimit", resource_limit)
    solver.from_string("\n".join(lines))
    return _is_satisfiable(solver, resource_limit)


def _is_satisfiable(solver: Any, resource_limit: int, *assumptions: Any) -> bool:
    spent_before = _resources_spent(solver)
    answer = str(solver.check(*assumptions))
    if answer == "unknown":
        reason: str = solver.reason_unknown()
        stopped = "cancel" in reason or "interrupt" in reason
        # Z3 takes the signal of Ctrl-C for itself and reports it in the words it has for its resource limit.
        if stopped and _resources_spent(solver) - spent_before < resource_limit:
            raise KeyboardInterrupt
        raise BudgetExhaustedError(f"Z3 gave up: {reason}")
    return answer == "sat"


def _resources_spent(solver: Any) -> int:
    statistics = solver.statistics()
    return int(statistics.get_key_value("rlimit count")) if "rlimit count" in statistics.keys() else 0  # noqa: SIM118
