"""The forms of prenex formulas.

A prenex formula of x has a variable of its own for each quantifier; its matrix is a disjunction of conjunctions of
literals, or a conjunction of disjunctions. NOTE(dual): the second is the first negated, with the quantifiers exchanged
and the literals complemented, so that only the first is ever encoded.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from induction.formula.syntax import Exists, ForAll, Formula, Variable, conjunction_of, disjunction_of
from induction.grounding.vocabulary import BOUND_VARIABLES, x_and


@dataclass(frozen=True)
class Form:
    """What prenex formulas look like: quantifiers, number of terms, and whether the matrix is conjunctive.

    `prefix` holds True for "exists" and False for "for all", outermost first. A disjunctive matrix is a disjunction
    of at most `terms` conjunctions, a conjunctive one the dual.
    """

    prefix: tuple[bool, ...]
    terms: int
    conjunctive: bool

    @property
    def variables(self) -> tuple[Variable, ...]:
        """X and the bound variables."""
        return x_and(len(self.prefix))

    def __str__(self) -> str:
        quantifiers = " ".join("exists" if existential else "forall" for existential in self.prefix)
        inner, outer = ("disjunction", "conjunction") if self.conjunctive else ("conjunction", "disjunction")
        matrix = f"{outer} of up to {self.terms} {inner}s" if self.terms > 1 else inner
        return f"{quantifiers or 'no quantifier'}: {matrix}"

    def build(self, terms: Sequence[Sequence[Formula]]) -> Formula:
        """The formula with these literals in its terms; no term is empty."""
        inner, outer = (disjunction_of, conjunction_of) if self.conjunctive else (conjunction_of, disjunction_of)
        matrix = outer(inner(literals) for literals in terms)
        for existential, variable in reversed(list(zip(self.prefix, BOUND_VARIABLES, strict=False))):
            matrix = Exists(variable, matrix) if existential else ForAll(variable, matrix)
        return matrix
