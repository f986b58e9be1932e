"""Z3 chooses the literals of one or two prenex parts so that the formula meets demands.

A selector variable says for each term and literal whether the literal stands in the term. An object's label becomes a
Boolean constraint over the selectors by writing out the quantifiers; tuples of objects on which all atoms have the
same values share their part of it. In EC, unknown atoms are variables of the same problem.
"""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from induction.baselines.prenex_smt.counterexamples import Demand, Demands
from induction.baselines.prenex_smt.forms import Form

from induction.errors import BudgetExhaustedError, EvaluationLimitError
from induction.formula.metrics import free_variables
from induction.formula.syntax import FREE_VARIABLE, And, Formula, Or, Signature
from induction.grounding.vocabulary import Vocabulary
from induction.grounding.z3_backend import new_context
from induction.worlds.world import World

MOST_TUPLES = 100_000
"""Of objects of one world: shapes with more variables than that allows are left out, being too slow to set up."""
FIRST_DEMANDS = 12  # of those that other shapes failed, taken over at the start
_FIRST_TUPLES = 2_000  # and fewer where they would have more tuples of objects than this
_MOST_ROUNDS = 200  # candidates looked at in one call of `Synthesis.advance`


Choice: TypeAlias = list[list[list[int]]]
"""The literals chosen: of each part, of each term of it that is in use."""


class Verdict(enum.Enum):
    """What a question to Z3, or a whole attempt, came to."""

    FOUND = "found"
    """There is an answer to the question."""
    NONE_LEFT = "none left"
    """No formula of the form below the bound fits."""
    UNDECIDED = "undecided"
    """The work allowed was done first."""


class Tables:
    """The atoms' values on tuples of objects, worked out once for each world and vocabulary."""

    def __init__(self, worlds: Sequence[World], signature: Signature, equality: bool) -> None:
        self.worlds = tuple(worlds)
        self._signature, self._equality = signature, equality
        self._vocabularies: dict[int, Vocabulary] = {}
        self._truth: dict[tuple[int, int], tuple[Any, Any]] = {}

    def vocabulary(self, form: Form) -> Vocabulary:
        """The literals over the form's variables."""
        number = len(form.variables)
        if number not in self._vocabularies:
            self._vocabularies[number] = Vocabulary(self._signature, form.variables, self._equality)
        return self._vocabularies[number]

    def truth(self, w: int, vocabulary: Vocabulary) -> tuple[Any, Any]:
        """`Vocabulary.truth` of world number w."""
        key = (w, len(vocabulary.variables))
        if key not in self._truth:
            self._truth[key] = vocabulary.truth(self.worlds[w])
        return self._truth[key]


class Terms:
    """A solver of its own with Boolean terms made by Z3's C interface: the Python operators are many times slower."""

    def __init__(self) -> None:
        import z3

        self.z3: Any = z3
        self.context: Any = new_context()
        self.solver: Any = z3.SolverFor("QF_FD", ctx=self.context)
        self._number = 0

    def fresh(self) -> Any:
        """A new variable."""
        self._number += 1
        return self.z3.Bool(f"b{self._number}", self.context)

    def disjunction(self, parts: Sequence[Any]) -> Any:
        """The disjunction; false of nothing."""
        return self._nary(self.z3.Z3_mk_or, parts)

    def conjunction(self, parts: Sequence[Any]) -> Any:
        """The conjunction; true of nothing."""
        return self._nary(self.z3.Z3_mk_and, parts)

    def _nary(self, make: Any, parts: Sequence[Any]) -> Any:
        if len(parts) == 1:
            return parts[0]
        array = (self.z3.Ast * len(parts))(*[part.as_ast() for part in parts])
        return self.z3.BoolRef(make(self.context.ref(), len(parts), array), self.context)

    def negation(self, part: Any) -> Any:
        """The negation."""
        return self.z3.BoolRef(self.z3.Z3_mk_not(self.context.ref(), part.as_ast()), self.context)

    def require(self, *alternatives: Any) -> None:
        """Assert that one of the alternatives holds."""
        self.z3.Z3_solver_assert(self.context.ref(), self.solver.solver, self.disjunction(alternatives).as_ast())

    def require_at_most(self, costs: Sequence[tuple[Any, int]], most: int) -> None:
        """Assert that the true ones of some variables cost at most so much."""
        if most < 0:
            self.require(self.z3.BoolVal(False, self.context))
        elif costs:  # of no variables Z3 would make a term of its main context
            self.require(self.z3.PbLe(costs, most))

    def solve(self, resource_limit: int, remaining_s: float | None) -> Verdict:
        """Whether all that is asserted can hold, within limits of Z3's own count of work and of wall seconds."""
        self.solver.set("rlimit", resource_limit)
        if remaining_s is not None:
            self.solver.set("timeout", max(1, int(1000 * remaining_s)))
        answer = self.solver.check()
        if answer == self.z3.sat:
            return Verdict.FOUND
        return Verdict.NONE_LEFT if answer == self.z3.unsat else Verdict.UNDECIDED


class _Part:
    """One prenex part: its selectors, and what it says of objects.

    NOTE(dual) in `forms`: inside, the matrix is a disjunction of conjunctions; `_flip` says that this is the dual.
    """

    def __init__(self, terms: Terms, form: Form, tables: Tables, atoms: dict[tuple[int, int], Any]) -> None:
        self._terms, self._form, self._tables, self._unknown = terms, form, tables, atoms
        self._vocabulary = tables.vocabulary(form)
        self._flip = form.conjunctive
        self._prefix = tuple(not existential for existential in form.prefix) if self._flip else form.prefix
        number = len(self._vocabulary.literals)
        self._selectors = [[terms.fresh() for _ in range(number)] for _ in range(form.terms)]
        self._not_selected = [[terms.negation(one) for one in selectors] for selectors in self._selectors]
        self._used = [terms.fresh() for _ in range(form.terms)]
        self._not_used = [terms.negation(one) for one in self._used]
        for used, not_used, selectors, not_selected in zip(
            self._used, self._not_used, self._selectors, self._not_selected, strict=True
        ):
            terms.require(not_used, *selectors)
            for one in not_selected:
                terms.require(used, one)
            half = number // 2
            for i in range(half):  # a literal and its negation never stand together
                terms.require(not_selected[i], not_selected[i + half])
        terms.require(*self._used)
        for first, second in zip(self._used, self._not_used[1:], strict=False):
            terms.require(first, second)
        self._known: dict[tuple[bool, bytes], Any] = {}

    @property
    def of_x(self) -> list[Any]:
        """The selectors of literals that speak of x."""
        return [selectors[i] for selectors in self._selectors for i in self._vocabulary.of_x]

    @property
    def costs(self) -> list[tuple[Any, int]]:
        """What each selector adds to the AST size: its literal and a connective."""
        literals = self._vocabulary.literals
        return [
            (selector, 1 + literals[self._own(i)].ast_nodes)
            for selectors in self._selectors
            for i, selector in enumerate(selectors)
        ]

    @property
    def constant_cost(self) -> int:
        """What the part costs beside its selectors: there is one connective less than literals."""
        return 2 * len(self._prefix) - 1

    def _own(self, literal: int) -> int:
        """The literal as the formula has it."""
        return self._vocabulary.complement(literal) if self._flip else literal

    def read(self, model: Any) -> list[list[int]]:
        """The literals of each term in use."""
        is_true = self._terms.z3.is_true
        terms = [
            [self._own(i) for i, selector in enumerate(selectors) if is_true(model.eval(selector))]
            for selectors in self._selectors
        ]
        return [literals for literals in terms if literals]

    def says(self, w: int, element: int, positive: bool) -> Any:
        """A term that implies that the part holds of the object, or that it fails of it."""
        positive = positive != self._flip
        vocabulary, n = self._vocabulary, self._tables.worlds[w].size
        atoms, unknown = self._tables.truth(w, vocabulary)
        inner = n ** len(self._prefix)
        rows = range(element * inner, (element + 1) * inner)
        partly = bool((unknown[rows.start : rows.stop] >= 0).any())
        leaves = [self._leaf(w, atoms[row], unknown[row] if partly else None, positive) for row in rows]
        for existential in reversed(self._prefix):
            join = self._terms.disjunction if existential == positive else self._terms.conjunction
            leaves = [join(_distinct(leaves[start : start + n])) for start in range(0, len(leaves), n)]
        return leaves[0]

    def _leaf(self, w: int, atoms: Any, unknown: Any, positive: bool) -> Any:
        """A variable that implies that the matrix is true, or false, where the atoms have these values."""
        open_atoms = [] if unknown is None else np.flatnonzero(unknown >= 0).tolist()
        key = atoms.tobytes() + (w.to_bytes(4, "big") + unknown.tobytes() if open_atoms else b"")
        known = self._known.get((positive, key))
        if known is not None:
            return known
        terms, half = self._terms, len(atoms)
        leaf = self._known[positive, key] = terms.fresh()
        not_leaf = terms.negation(leaf)
        closed = [i for i in range(half) if i not in open_atoms] if open_atoms else range(half)
        false = [i + half if atoms[i] else i for i in closed]
        variables = {i: self._atom(w, int(unknown[i])) for i in open_atoms}
        if not positive:
            for selectors, not_used in zip(self._selectors, self._not_used, strict=True):
                false_parts = [selectors[i] for i in false]
                for i, variable in variables.items():
                    false_parts.append(terms.conjunction([selectors[i], terms.negation(variable)]))
                    false_parts.append(terms.conjunction([selectors[i + half], variable]))
                terms.require(not_leaf, not_used, *false_parts)
            return leaf
        chosen = [terms.fresh() for _ in self._selectors] if len(self._selectors) > 1 else [leaf]
        if len(chosen) > 1:
            terms.require(not_leaf, *chosen)
        for number, term in enumerate(chosen):
            not_term, not_selected = terms.negation(term), self._not_selected[number]
            terms.require(not_term, terms.conjunction([self._used[number], *(not_selected[i] for i in false)]))
            for i, variable in variables.items():
                terms.require(not_term, not_selected[i], variable)
                terms.require(not_term, not_selected[i + half], terms.negation(variable))
        return leaf

    def _atom(self, w: int, number: int) -> Any:
        if (w, number) not in self._unknown:
            self._unknown[w, number] = self._terms.fresh()
        return self._unknown[w, number]


def _distinct(parts: Sequence[Any]) -> list[Any]:
    """The parts without repetitions."""
    return list({part.get_id(): part for part in parts}.values())


@dataclass(frozen=True)
class Shape:
    """What a formula is put together from: one prenex part, or two joined by a connective."""

    forms: tuple[Form, ...]
    connective: type[And] | type[Or] | None = None

    def __str__(self) -> str:
        between = f" {self.connective.keyword} " if self.connective is not None else ""
        return between.join(f"[{form}]" if len(self.forms) > 1 else str(form) for form in self.forms)

    @property
    def quantifiers(self) -> int:
        """The most quantifiers of a part."""
        return max(len(form.prefix) for form in self.forms)

    def build(self, parts: Sequence[Formula]) -> Formula:
        """The whole formula."""
        return parts[0] if self.connective is None else self.connective(*parts)


class Guided:
    """A search in which Z3 proposes formulas and is told, one demand after the other, what they got wrong.

    It can be taken up again with more work allowed. `tick` is called now and then, and may raise to stop. What is
    proposed is the subclass's business: `_costs`, `_says`, `_read` and `_reduced`.
    """

    def __init__(self, demands: Demands, tick: Callable[[], None]) -> None:
        self._terms = Terms()
        self._demands, self._tick = demands, tick
        self._met: set[Demand] = set()
        self.bound: int | None = None
        """Formulas of this AST size and more are ruled out by now."""
        self.candidates = 0

    def _costs(self) -> tuple[list[tuple[Any, int]], int]:
        """What the true ones of some variables add to the AST size, and the size without them."""
        raise NotImplementedError

    def _says(self, w: int, element: int, positive: bool) -> Any:
        """A term that implies that the formula holds of the object, or that it fails of it."""
        raise NotImplementedError

    def _read(self, model: Any) -> Formula:
        """The formula of a model."""
        raise NotImplementedError

    def _reduced(self, formula: Formula) -> Formula:
        """A formula that fits as well as the last one read, and is no larger."""
        return formula

    def advance(
        self,
        bound: Callable[[], int],
        resource_limit: int,
        remaining_s: Callable[[], float | None],
        found: Callable[[Formula], object],
    ) -> Verdict:
        """Look for formulas of fewer AST nodes than `bound()`, which `found` is told and lowers.

        Each question to Z3 is limited to `resource_limit` of its own count of work, and to the wall seconds that
        `remaining_s()` says are left.
        """
        terms = self._terms
        for _ in range(_MOST_ROUNDS):
            self._tighten(bound())
            answer = terms.solve(resource_limit, remaining_s())
            if answer is not Verdict.FOUND:
                return answer
            self._tick()
            self.candidates += 1
            formula = self._read(terms.solver.model())
            try:
                failed = self._demands.failed_by(formula)
            except (BudgetExhaustedError, EvaluationLimitError):
                return Verdict.UNDECIDED
            if not failed:
                formula = self._reduced(formula)
                found(formula)
                self._tighten(min(bound(), formula.ast_nodes))
            elif not self._demand(failed):
                return Verdict.UNDECIDED  # told all of it already: the judge of EC worlds ran into a limit
        return Verdict.UNDECIDED

    def _demand(self, demands: Sequence[Demand]) -> bool:
        """Assert the demands that were not yet; whether there were any."""
        new = [demand for demand in demands if demand not in self._met]
        for demand in new:
            self._tick()
            self._met.add(demand)
            target = self._demands.worlds[demand.world].target.tolist()
            if demand.element is not None:
                self._terms.require(self._says(demand.world, demand.element, target[demand.element]))
            else:
                self._terms.require(*(self._says(demand.world, e, not label) for e, label in enumerate(target)))
        return bool(new)

    def _tighten(self, bound: int) -> None:
        if self.bound is None or bound < self.bound:
            self.bound = bound
            costs, constant = self._costs()
            self._terms.require_at_most(costs, bound - 1 - constant)


class Synthesis(Guided):
    """The search for formulas of one shape."""

    def __init__(
        self,
        shape: Shape,
        tables: Tables,
        demands: Demands,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(demands, tick)
        self._shape = shape
        atoms: dict[tuple[int, int], Any] = {}
        self._parts = [_Part(self._terms, form, tables, atoms) for form in shape.forms]
        self._vocabularies = [tables.vocabulary(form) for form in shape.forms]
        self._chosen: Choice = []
        self._terms.require(*(selector for part in self._parts for selector in part.of_x))
        self._demand(demands.first())
        tuples = max((world.size for world in tables.worlds), default=1) ** shape.quantifiers
        self._demand(demands.seen[: min(FIRST_DEMANDS, _FIRST_TUPLES // tuples)])

    def _costs(self) -> tuple[list[tuple[Any, int]], int]:
        constant = sum(part.constant_cost for part in self._parts) + len(self._parts) - 1
        return [cost for part in self._parts for cost in part.costs], constant

    def _says(self, w: int, element: int, positive: bool) -> Any:
        parts = [part.says(w, element, positive) for part in self._parts]
        conjunctive = (self._shape.connective is And) == positive
        return self._terms.conjunction(parts) if conjunctive else self._terms.disjunction(parts)

    def _read(self, model: Any) -> Formula:
        self._chosen = [part.read(model) for part in self._parts]
        return self._formula(self._chosen)

    def _formula(self, chosen: Choice) -> Formula:
        return self._shape.build(
            [
                form.build([[vocabulary.literals[i] for i in literals] for literals in terms])
                for form, vocabulary, terms in zip(self._shape.forms, self._vocabularies, chosen, strict=True)
            ]
        )

    def _reduced(self, formula: Formula) -> Formula:
        """The last choice without terms and literals that can go one after the other."""
        chosen = self._chosen
        for p, terms in enumerate(chosen):
            t = 0
            while t < len(terms):
                without = [*terms[:t], *terms[t + 1 :]]
                if without and self._fits([*chosen[:p], without, *chosen[p + 1 :]]):
                    terms = chosen[p] = without
                    continue
                i = 0
                while i < len(terms[t]):
                    shorter = [*terms[t][:i], *terms[t][i + 1 :]]
                    changed = [*terms[:t], shorter, *terms[t + 1 :]]
                    if shorter and self._fits([*chosen[:p], changed, *chosen[p + 1 :]]):
                        terms = chosen[p] = changed
                    else:
                        i += 1
                t += 1
        return self._formula(chosen)

    def _fits(self, chosen: Choice) -> bool:
        self._tick()
        formula = self._formula(chosen)
        return free_variables(formula) == {FREE_VARIABLE} and self._demands.is_fitting(formula)
