"""Smallest prenex formulas by SMT: for each quantifier prefix in turn Z3 chooses a matrix.

The forms are gone through in order of size, again and again with four times the work allowed, until each is decided:
then no form has a smaller formula than the answer. When the first round found none, the rescue looks for a larger
answer of other make.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations_with_replacement, product

from induction.baselines.prenex_smt.counterexamples import Counterexamples
from induction.baselines.prenex_smt.forms import Form
from induction.baselines.prenex_smt.rescue import cover
from induction.baselines.prenex_smt.synthesis import Shape, Synthesis, Tables, Verdict

from induction.budget import Budget, Outcome
from induction.formula.syntax import And, Formula, Or
from induction.grounding.vocabulary import BOUND_VARIABLES
from induction.search import About, Attempt, Progress, SearchOptions, SearchResult, outcome_of
from induction.worlds.instance import Instance

MOST_TERMS = 3
FIRST_LIMIT = 200_000
"""Z3's count of work for one question in the first round: some tenths of a second."""
GROWTH = 4
_LAST_LIMIT = 2**31
_KEPT = 24  # solvers that stay as they are between rounds; the others are set up again
_AT_ONCE = 2  # quantifiers of forms that are there from the beginning, and of the parts of combinations
_SHALLOW_ROUNDS = 2  # before forms of more quantifiers and the rescue join in: setting these up takes time


def forms(quantifiers: int, most_terms: int = MOST_TERMS, *, least: int = 0) -> Iterator[Form]:
    """All forms with `least` to so many quantifiers, fewer quantifiers and terms first."""
    for number in range(least, quantifiers + 1):
        for terms in range(1, most_terms + 1):
            for prefix in product((True, False), repeat=number):
                yield from (Form(prefix, terms, conjunctive) for conjunctive in (False, True))


def combinations(quantifiers: int) -> list[Shape]:
    """Two prenex parts with an "and" or an "or" between them, fewer quantifiers first."""
    parts = [Form(form.prefix, 2, form.conjunctive) for form in forms(min(quantifiers, _AT_ONCE), 1)]
    pairs = sorted(combinations_with_replacement(parts, 2), key=lambda pair: sum(len(form.prefix) for form in pair))
    return [
        Shape(pair, connective)
        for pair in pairs
        for connective in (Or, And)
        # "exists" of an "or" and "for all" of an "and" need no second part of the same prefix.
        if pair[0].prefix != pair[1].prefix or any(existential != (connective is Or) for existential in pair[0].prefix)
    ]


class Rounds:
    """Shapes gone through in rounds of more and more work, each dropped once nothing smaller of it is left."""

    def __init__(self, attempt: Attempt, shapes: list[Shape], *, equality: bool) -> None:
        self._attempt = attempt
        self.open = list(shapes)
        instance = attempt.instance
        self.counterexamples = Counterexamples(instance)
        self._tables = Tables(self.counterexamples.worlds, instance.signature, equality)
        self._kept: dict[Shape, Synthesis] = {}
        self.limit = FIRST_LIMIT
        self.number = 0
        self.candidates = 0

    def one(self, found: Callable[[Shape, Formula], None], bound: Callable[[], int]) -> None:
        """One round over the open shapes; the next one has more work."""
        still_open = []
        for shape in self.open:
            self._attempt.tick()
            synthesis = self._kept.pop(shape, None) or Synthesis(shape, self._tables, self.counterexamples)
            before = synthesis.candidates
            verdict = synthesis.advance(bound, self.limit, lambda: self._attempt.remaining_s, partial(found, shape))
            self.candidates += synthesis.candidates - before
            if verdict is Verdict.UNDECIDED:
                still_open.append(shape)
                if len(self._kept) < _KEPT:
                    self._kept[shape] = synthesis
        self.open = still_open
        self.number += 1
        self.limit = min(_LAST_LIMIT, GROWTH * self.limit)


class PrenexSmt:
    """Prenex formulas with a matrix chosen by Z3, and a rescue; registered as `prenex-smt`."""

    name = "prenex-smt"
    about = About(
        summary="for each quantifier prefix Z3 chooses a small matrix; else combinations of such parts",
        expresses=f"prenex, a variable for each of --depth quantifiers, DNF or CNF of up to {MOST_TERMS} terms; else "
        "Boolean combinations of prenex parts; all regimes",
        proves="smallest of its prenex forms where every form was decided in time",
    )
    rescue = True

    def search(
        self,
        instance: Instance,
        budget: Budget,
        options: SearchOptions,
        report: Callable[[Progress], None],
    ) -> SearchResult:
        """The smallest formula of the forms found in time. `options.depth` bounds the quantifiers."""
        attempt = Attempt(instance, budget, options, report)
        run = _Run(attempt, rescue=self.rescue)
        outcome = outcome_of(run.run)
        return run.result(self.name, outcome)


class PrenexOnly(PrenexSmt):
    """Prenex formulas with a matrix chosen by Z3, without rescue; registered as `prenex-only`."""

    name = "prenex-only"
    about = About(
        summary="prenex-smt without its rescue",
        expresses=f"prenex, a variable for each of --depth quantifiers, DNF or CNF of up to {MOST_TERMS} terms; all "
        "regimes",
        proves=PrenexSmt.about.proves,
    )
    rescue = False


class _Run:
    """The rounds of one search."""

    def __init__(self, attempt: Attempt, *, rescue: bool) -> None:
        options = attempt.options
        self._attempt, self._rescue = attempt, rescue
        self._quantifiers = min(options.depth, len(BOUND_VARIABLES))
        shapes = [Shape((form,)) for form in forms(min(self._quantifiers, _AT_ONCE))]
        self._deep = [Shape((form,)) for form in forms(self._quantifiers, least=_AT_ONCE + 1)]
        self._rounds = Rounds(attempt, shapes, equality=options.equality)
        self._by = ""
        self._best_prenex: int | None = None

    def run(self) -> Outcome:
        """Rounds until everything is decided, or four times the work brought nothing better than the answer."""
        attempt, rounds = self._attempt, self._rounds
        joined = False
        while True:
            before = attempt.best
            if not joined and (not rounds.open or (before is None and rounds.number >= _SHALLOW_ROUNDS)):
                joined = True
                if before is None and self._rescue:
                    self._cover()
                    rounds.open += combinations(self._quantifiers)
                rounds.open += self._deep
                self._deep = []
            if not rounds.open:
                break
            rounds.one(self._found, self._bound)
            if before is not None and attempt.best is before:
                break
        return attempt.ended(proven=not rounds.open and not self._deep)

    def _bound(self) -> int:
        return self._attempt.bound

    def _found(self, shape: Shape, formula: Formula) -> None:
        if self._attempt.offer(formula):
            self._by = "prenex" if len(shape.forms) == 1 else "two parts"

    def _cover(self) -> None:
        """An answer of any size: parts that each explain some objects."""
        formula = cover(self._attempt, self._quantifiers)
        if formula is not None and self._attempt.offer(formula):
            self._by = "patches"

    def result(self, name: str, outcome: Outcome) -> SearchResult:
        """What there is to say now."""
        attempt, rounds = self._attempt, self._rounds
        best = attempt.best
        decided = not self._deep and not any(len(shape.forms) == 1 for shape in rounds.open)
        none_below = attempt.bound if decided else 0
        if best is not None and self._by != "prenex":
            none_below = min(none_below, best.ast_nodes)
        undecided = len(rounds.open) + len(self._deep)
        diagnosis = ""
        if best is None and outcome is Outcome.EXHAUSTED:
            diagnosis = f"no formula of these forms with up to {attempt.options.max_ast} AST nodes fits"
        elif undecided:
            diagnosis = f"{undecided} forms are not decided below the answer" if best is not None else ""
        return SearchResult(
            instance_id=attempt.instance.instance_id,
            search=name,
            outcome=outcome,
            formulas=() if best is None else (best,),
            none_below=none_below,
            fragment=(
                f"prenex, up to {self._quantifiers} quantifiers, matrix a DNF or CNF of up to {MOST_TERMS} terms"
                + (", =" if attempt.options.equality else "")
            ),
            diagnosis=diagnosis,
            statistics={
                "answeredBy": self._by,
                "formsUndecided": undecided,
                "candidates": rounds.candidates,
                "demands": len(rounds.counterexamples.seen),
                "workLimit": rounds.limit,
            },
        )
