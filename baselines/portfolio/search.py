"""A schedule of slices: small exhaustive search, family sketches, prenex forms; first small work, then more.

The schedule is data (`SCHEDULE`), is printed by `induction searches portfolio`, and the result says which slice
answered. Nothing else is tried.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from induction.baselines.bottom_up import BottomUp
from induction.baselines.portfolio.filling import Filling
from induction.baselines.prenex_smt.counterexamples import Counterexamples
from induction.baselines.prenex_smt.search import forms
from induction.baselines.prenex_smt.synthesis import MOST_TUPLES, Guided, Shape, Synthesis, Tables, Verdict

from induction.budget import Budget, Outcome
from induction.enumeration.layout import Fragment
from induction.errors import EvaluationLimitError
from induction.families.shapes import SHAPES
from induction.families.sketches import Sketch, all_sketches
from induction.search import About, Attempt, Progress, SearchOptions, SearchResult, outcome_of, refuse_unheeded
from induction.worlds.instance import Instance, Regime

EXHAUSTIVE_AST = 9
"""Up to this size formulas are gone through; more would be the exact search by another name."""

GROWTH = 4

MOST_SKETCH_TUPLES = 20_000
"""Of objects of one world: deeper sketches are left out, since a sketch is grounded on whole worlds at a time."""


@dataclass(frozen=True)
class Slice:
    """One step of the schedule. `work` is Z3's own count of work for one question, times four in each later pass.

    `kind` is "exhaustive" (formulas of up to `EXHAUSTIVE_AST` nodes), "sketches" (every family sketch in turn) or
    "prenex" (prenex forms with `least` to `most` quantifiers and up to `terms` terms).
    """

    kind: str
    work: int = 0
    least: int = 0
    most: int = 0
    terms: int = 0
    only_without_answer: bool = False

    def __str__(self) -> str:
        return self._what() + (", if there is no answer yet" if self.only_without_answer else "")

    def _what(self) -> str:
        if self.kind == "exhaustive":
            return f"all formulas of up to {EXHAUSTIVE_AST} AST nodes (once)"
        if self.kind == "sketches":
            return f"{len(SHAPES)} family sketches, work {self.work:,} a question"
        span = str(self.most) if self.least == self.most else f"{self.least} to {self.most}"
        return f"prenex forms, {span} quantifiers, up to {self.terms} terms, work {self.work:,} a question"


SCHEDULE = (
    Slice("exhaustive"),
    Slice("prenex", 100_000, 0, 1, 2),
    Slice("sketches", 1_000_000),
    Slice("prenex", 200_000, 2, 2, 2),
    Slice("prenex", 200_000, 0, 2, 3),
    Slice("prenex", 200_000, 3, 3, 2, only_without_answer=True),
)
"""One pass. Where it brings no answer it is repeated with more work, the exhaustive slice left out."""


class Portfolio:
    """The schedule of slices; registered as `portfolio`."""

    name = "portfolio"
    about = About(
        summary="a fixed schedule: formulas up to 9 nodes, family sketches filled by Z3, prenex forms",
        expresses="fillings of the templates' shapes; prenex formulas as for prenex-smt; all regimes",
        proves=f"none of up to {EXHAUSTIVE_AST} nodes (FullObs, CI), no more",
        heeds=("depth", "equality"),
        schedule=tuple(str(one) for one in SCHEDULE),
    )

    def search(
        self,
        instance: Instance,
        budget: Budget,
        options: SearchOptions,
        report: Callable[[Progress], None],
    ) -> SearchResult:
        """The smallest formula that the slices found in time."""
        refuse_unheeded(self, instance, options)
        attempt = Attempt(instance, budget, options, report)
        run = _Run(attempt)
        outcome = outcome_of(run.run)
        best = attempt.best
        none_below = attempt.none_below if best is None else min(attempt.none_below, best.ast_nodes)
        return attempt.result(
            self.name,
            outcome,
            none_below=none_below,
            fragment=str(Fragment(options.variables, options.depth, options.equality)),
            diagnosis="" if best is not None else "no slice found an answer",
            statistics={"answeredBy": attempt.by, "slices": run.log},
        )


class _Run:
    """The passes of one search; `log` says what each slice did."""

    def __init__(self, attempt: Attempt) -> None:
        instance = attempt.instance
        self.log: list[dict[str, Any]] = []
        self._attempt = attempt
        self._demands = Counterexamples(instance)
        self._tables = Tables(self._demands.worlds, instance.signature, attempt.options.equality)
        self._decided: set[Shape | Sketch] = set()

    def run(self) -> Outcome:
        passes = 0
        while True:
            for one in SCHEDULE:
                if (one.kind == "exhaustive" and passes) or (
                    one.only_without_answer and self._attempt.best is not None
                ):
                    continue
                self._slice(one, one.work * GROWTH**passes)
            passes += 1
            decided = all(item in self._decided for one in SCHEDULE for item in self._items(one))
            if decided or self._attempt.best is not None:
                return self._attempt.ended(none_left=False)

    def _slice(self, one: Slice, work: int) -> None:
        entry = {"slice": str(replace(one, work=work)), "from": self._size(), "to": None}
        self.log.append(entry)
        if one.kind == "exhaustive":
            self._exhaustive()
        for item in self._items(one):
            if item in self._decided:
                continue
            self._attempt.tick()
            if self._advance(item, work) is Verdict.NONE_LEFT:
                self._decided.add(item)
        entry["to"] = self._size()

    def _items(self, one: Slice) -> list[Shape | Sketch]:
        signature = self._attempt.instance.signature
        if one.kind == "sketches":
            depth = self._deepest(MOST_SKETCH_TUPLES)
            return [
                sketch
                for sketch in all_sketches()
                if sketch.depth <= depth and all(hole.choices(signature) for hole in sketch.holes)
            ]
        if one.kind == "prenex":
            most = min(one.most, self._deepest(MOST_TUPLES))
            return [Shape((form,)) for form in forms(most, one.terms, least=one.least)]
        return []

    def _deepest(self, most_tuples: int) -> int:
        """The depth asked for, or less where so many variables would make too many tuples of objects in a world."""
        depth = self._attempt.options.depth
        objects = max(world.size for world in self._demands.worlds)
        while depth > 0 and objects ** (1 + depth) > most_tuples:
            depth -= 1
        return depth

    def _advance(self, item: Shape | Sketch, work: int) -> Verdict:
        attempt = self._attempt
        name = f"sketch {item.name}" if isinstance(item, Sketch) else f"prenex {item}"
        try:
            search: Guided
            if isinstance(item, Sketch):
                search = Filling(item, attempt.instance.signature, self._demands, attempt.tick)
            else:
                search = Synthesis(item, self._tables, self._demands, attempt.tick)
            return search.advance(
                lambda: attempt.bound,
                work,
                lambda: attempt.remaining_s,
                lambda formula: attempt.offer(formula, name),
            )
        except EvaluationLimitError:  # a world too large for it
            return Verdict.UNDECIDED

    def _exhaustive(self) -> None:
        attempt = self._attempt
        options = replace(attempt.options, max_ast=min(EXHAUSTIVE_AST, attempt.options.max_ast), solutions=1)
        limits = Budget(attempt.remaining_s, attempt.memory_limit_bytes)
        result = BottomUp(interrupts=False).search(attempt.instance, limits, options, lambda _: attempt.tick())
        attempt.none_below = 0 if attempt.instance.regime is Regime.EC else result.none_below
        # The exact search also tells larger answers that it comes upon; those are not this slice's.
        if result.formulas and result.formulas[0].ast_nodes <= EXHAUSTIVE_AST:
            attempt.offer(result.formulas[0], f"exhaustive up to {EXHAUSTIVE_AST}")

    def _size(self) -> int | None:
        return None if self._attempt.best is None else self._attempt.best.ast_nodes
