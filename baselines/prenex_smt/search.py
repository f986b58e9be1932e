"""Smallest prenex formulas by SMT: for each quantifier prefix in turn Z3 chooses a matrix.

The forms are gone through in order of size, again and again with four times the work allowed, until each is decided
(then no form has a smaller formula than the answer), or a round brought nothing better than the prenex formula there
was. Where rounds bring none at all, the rescue looks for a larger answer of other make.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import combinations_with_replacement, product

from induction.baselines.prenex_smt.counterexamples import Counterexamples
from induction.baselines.prenex_smt.forms import Form
from induction.baselines.prenex_smt.rescue import offer_cover
from induction.baselines.prenex_smt.synthesis import MOST_TUPLES, Shape, Synthesis, Tables, Verdict

from induction.budget import Budget, Outcome
from induction.formula.syntax import And, Formula, Or
from induction.grounding.vocabulary import BOUND_VARIABLES
from induction.search import About, Attempt, Progress, SearchOptions, SearchResult, outcome_of, refuse_unheeded
from induction.worlds.instance import Instance

MOST_TERMS = 3
FIRST_LIMIT = 200_000
"""Z3's count of work for one question in the first round: some tenths of a second."""
GROWTH = 4
_LAST_LIMIT = 2**31
_KEPT = 24  # solvers that stay as they are between rounds; the others are set up again
_AT_ONCE = 2  # quantifiers of forms that are there from the beginning, and of the parts of combinations
_MOST_IN_PAIR = 3  # quantifiers of both parts of a combination
_RESCUE_AFTER = 1  # rounds without an answer
_MORE_FORMS_AFTER = 2  # rounds without an answer; setting those of more quantifiers up takes time


def forms(quantifiers: int, most_terms: int = MOST_TERMS, *, least: int = 0) -> Iterator[Form]:
    """All forms with `least` to so many quantifiers, fewer quantifiers and terms first."""
    for number in range(least, quantifiers + 1):
        for terms in range(1, most_terms + 1):
            for prefix in product((True, False), repeat=number):
                yield from (Form(prefix, terms, conjunctive) for conjunctive in (False, True))


def combinations(quantifiers: int) -> list[Shape]:
    """Two prenex parts with an "and" or an "or" between them, up to three quantifiers in all, fewer first."""
    parts = [Form(form.prefix, 2, form.conjunctive) for form in forms(min(quantifiers, _AT_ONCE), 1)]
    number = {pair: sum(len(form.prefix) for form in pair) for pair in combinations_with_replacement(parts, 2)}
    pairs = sorted((pair for pair in number if number[pair] <= _MOST_IN_PAIR), key=number.__getitem__)
    return [
        Shape(pair, connective)
        for pair in pairs
        for connective in (Or, And)
        # "exists" of an "or" and "for all" of an "and" need no second part of the same prefix.
        if pair[0].prefix != pair[1].prefix or any(existential != (connective is Or) for existential in pair[0].prefix)
    ]


def _is_shallow(shape: Shape) -> bool:
    return len(shape.forms) == 1 and len(shape.forms[0].prefix) <= _AT_ONCE


class Rounds:
    """Shapes gone through in rounds of more and more work, each closed once nothing smaller of it is left.

    `closed` says for a shape below which AST size none of its formulas fits.
    """

    def __init__(self, attempt: Attempt, shapes: list[Shape], *, equality: bool) -> None:
        self._attempt = attempt
        self.open: list[Shape] = []
        self.closed: dict[Shape, int] = {}
        self.too_large: list[Shape] = []
        instance = attempt.instance
        self.counterexamples = Counterexamples(instance)
        self._tables = Tables(self.counterexamples.worlds, instance.signature, equality)
        self._kept: dict[Shape, Synthesis] = {}
        self._tries: dict[Shape, int] = {}
        self.number = 0
        self.candidates = 0
        self.add(shapes)

    def add(self, shapes: list[Shape], tries: int = 0) -> None:
        """Take in more shapes, with the work allowed of those that were tried so often.

        Left out are those whose tables would be too large for some world.
        """
        objects = max(world.size for world in self.counterexamples.worlds)
        for shape in shapes:
            if objects ** (1 + shape.quantifiers) > MOST_TUPLES:
                self.too_large.append(shape)
            else:
                self.open.append(shape)
                self._tries[shape] = tries

    def one(
        self,
        found: Callable[[Shape, Formula], None],
        bound: Callable[[], int],
        wanted: Callable[[Shape], bool] = lambda _: True,
    ) -> None:
        """One round over the open shapes that are `wanted`, each with more work allowed than in its last."""
        still_open = []
        for shape in self.open:
            self._attempt.tick()
            if not wanted(shape):
                still_open.append(shape)
                continue
            synthesis = self._kept.pop(shape, None) or Synthesis(
                shape, self._tables, self.counterexamples, self._attempt.tick
            )
            before = synthesis.candidates
            tries = self._tries[shape]
            self._tries[shape] += 1
            limit = min(_LAST_LIMIT, FIRST_LIMIT * GROWTH**tries)
            verdict = synthesis.advance(bound, limit, lambda: self._attempt.remaining_s, partial(found, shape))
            self.candidates += synthesis.candidates - before
            if verdict is Verdict.NONE_LEFT:
                self.closed[shape] = synthesis.bound or 0
            else:
                still_open.append(shape)
                if len(self._kept) < _KEPT:
                    self._kept[shape] = synthesis
        self.open = still_open
        self.number += 1


class PrenexSmt:
    """Prenex formulas with a matrix chosen by Z3, and a rescue; registered as `prenex-smt`."""

    name = "prenex-smt"
    about = About(
        summary="for each quantifier prefix Z3 chooses a small matrix; else combinations of such parts",
        expresses=f"prenex, a variable for each of --depth quantifiers, DNF or CNF of up to {MOST_TERMS} terms; else "
        "Boolean combinations of prenex parts; all regimes",
        proves="smallest of its prenex forms where every form was decided in time",
        heeds=("max_ast", "depth", "equality"),
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
        refuse_unheeded(self, instance, options)
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
        heeds=PrenexSmt.about.heeds,
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
        self._shallow_left = True

    def run(self) -> Outcome:
        """Rounds until there is nothing more to be had."""
        attempt, rounds = self._attempt, self._rounds
        rescued, joined = not self._rescue, False
        while True:
            before, found = attempt.best, attempt.by == "prenex"
            at_end = not rounds.open
            if not rescued and not found and (at_end or rounds.number >= _RESCUE_AFTER):
                rescued = True
                offer_cover(attempt, self._quantifiers)
            if not joined and (at_end or (not found and rounds.number >= _MORE_FORMS_AFTER)):
                joined = True
                if self._rescue and not found:
                    rounds.add(combinations(self._quantifiers), tries=1)
                rounds.add(self._deep)
                self._deep = []
            if not rounds.open:
                break
            self._shallow_left = any(map(_is_shallow, rounds.open))
            rounds.one(self._found, self._bound, self._is_wanted)
            if found and attempt.best is before:
                break
        return attempt.ended(none_left=self._none_below() > attempt.options.max_ast)

    def _is_wanted(self, shape: Shape) -> bool:
        """With a prenex answer there, combinations are no longer of use, and forms of many quantifiers come last."""
        if self._attempt.by != "prenex":
            return True
        return len(shape.forms) == 1 and (_is_shallow(shape) or not self._shallow_left)

    def _bound(self) -> int:
        # Twice the size asked for: an answer by patches can be so large that it is no bound at all.
        return min(self._attempt.bound, 2 * self._attempt.options.max_ast + 1)

    def _found(self, shape: Shape, formula: Formula) -> None:
        self._attempt.offer(formula, "prenex" if len(shape.forms) == 1 else "two parts")

    def _none_below(self) -> int:
        """Below which AST size no prenex formula of the forms fits."""
        rounds = self._rounds
        undecided = [shape for shape in (*rounds.open, *rounds.too_large, *self._deep) if len(shape.forms) == 1]
        sizes = [size for shape, size in rounds.closed.items() if len(shape.forms) == 1]
        best = self._attempt.best
        if best is not None:
            sizes.append(best.ast_nodes)
        return 0 if undecided else min(sizes, default=0)

    def result(self, name: str, outcome: Outcome) -> SearchResult:
        """What there is to say now."""
        attempt, rounds = self._attempt, self._rounds
        best = attempt.best
        undecided = len(rounds.open) + len(rounds.too_large) + len(self._deep)
        diagnosis = ""
        if best is None and outcome is Outcome.EXHAUSTED:
            diagnosis = f"no formula of these forms with up to {attempt.options.max_ast} AST nodes fits"
        elif undecided:
            diagnosis = f"{undecided} forms are undecided"
        return attempt.result(
            name,
            outcome,
            none_below=self._none_below(),
            fragment=(
                f"prenex, up to {self._quantifiers} quantifiers, matrix a DNF or CNF of up to {MOST_TERMS} terms"
                + (", = between different variables" if attempt.options.equality else "")
            ),
            diagnosis=diagnosis,
            statistics={
                "answeredBy": attempt.by,
                "formsUndecided": undecided,
                "candidates": rounds.candidates,
                "demands": len(rounds.counterexamples.seen),
                "rounds": rounds.number,
            },
        )
