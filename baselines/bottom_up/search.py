"""The bottom-up search for FullObs and CI, and its plainer form for EC.

For each AST size in turn it is decided whether any formula of that size fits, so the first answer is a smallest one
and proven so. A quick answer of any size comes first, so that there is something to show when time runs out.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from induction.baselines.bottom_up.completion import search_completions
from induction.baselines.bottom_up.ordering import (
    best_of_each_meaning,
    fresh_worlds,
    named_by_level,
    open_by_force,
)

from induction.budget import Budget, Meter, Outcome, resident_bytes
from induction.enumeration.classes import SMALLEST, ClassTables
from induction.enumeration.fitting import Fitter, Question, fitting_by_size
from induction.enumeration.layout import Fragment, Layout
from induction.enumeration.shortcuts import case_split, relation_algebra
from induction.enumeration.types import object_types
from induction.formula.syntax import Formula, Not
from induction.search import (
    ALL_LISTED,
    NOT_LOOKED_FOR,
    About,
    Progress,
    SearchOptions,
    SearchResult,
    fits,
    not_all,
    outcome_of,
    refuse_unheeded,
)
from induction.worlds.instance import Instance, Regime
from induction.worlds.world import World

_RELATION_ALGEBRA_BEFORE = 19  # sizes below are exhausted in the time the shortcut takes
_CHEAP_TYPES = 20_000  # tuples of objects; with more, types are computed only once nothing was found
_PROBES = 3


class BottomUp:
    """Smallest formulas by exhaustive enumeration; registered as `bottom-up`."""

    name = "bottom-up"
    about = About(
        summary="exhaustive enumeration by AST size: the smallest formula first",
        expresses="not, binary and/or, exists, forall, =; up to 3 variables with rebinding, any depth; all regimes",
        proves="every answer smallest in the fragment (FullObs, CI); for EC only where completions are few",
        heeds=("max_ast", "variables", "depth", "equality", "solutions", "noise"),
    )

    def __init__(self, *, interrupts: bool = True) -> None:
        """With `interrupts`, an interrupt is an outcome; without, it is passed on to who uses this search in part."""
        self._interrupts = interrupts

    def search(
        self,
        instance: Instance,
        budget: Budget,
        options: SearchOptions,
        report: Callable[[Progress], None],
    ) -> SearchResult:
        """The smallest formulas that explain `instance`, and below which size none does.

        Raises:
            ValueError: a fragment that the enumeration does not cover.
            UnsupportedRegimeError: noise in EC.
        """
        refuse_unheeded(self, instance, options)
        fragment = Fragment(options.variables, options.depth, options.equality)
        meter = budget.start()
        if instance.regime is Regime.EC:
            return search_completions(instance, fragment, meter, options, report, interrupts=self._interrupts)
        run = _Run(instance, fragment, meter, options, report)
        return run.result(outcome_of(run.run, interrupts=self._interrupts))


class _Run:
    """One search under way: the best answers, and below which size none is proven to exist."""

    def __init__(
        self,
        instance: Instance,
        fragment: Fragment,
        meter: Meter,
        options: SearchOptions,
        report: Callable[[Progress], None],
    ) -> None:
        self._instance, self._fragment, self._meter, self._options = instance, fragment, meter, options
        self._report = report
        self._worlds = (*instance.train_worlds, *instance.no_worlds)
        # Where all labels of each world are alike, noise apart, a sentence can fit, but only a formula of x will do.
        odd_ones = sum(int(min(world.target.sum(), (~world.target).sum())) for world in instance.train_worlds)
        self._keep_open = odd_ones <= options.noise
        self._layout = Layout(self._worlds)
        self._tables = ClassTables(
            self._layout, fragment, keep_open=self._keep_open, tick=self._tick, reserve=self._meter.reserve
        )
        self._fitter = Fitter(self._tables, tick=self._tick)
        self._question = question_of(self._layout, len(instance.train_worlds), len(self._worlds), options.noise)
        self._size = SMALLEST
        self._none_below = SMALLEST
        self._answers: list[Formula] = []
        self._diagnosis = ""
        self._further = NOT_LOOKED_FOR

    def run(self) -> Outcome:
        """Search until there is an outcome; raises where the budget runs out."""
        self._take_shortcut(case_split(self._tables, self._question, self._tick))
        tuples = sum(world.size**self._fragment.variables for world in self._worlds)
        if not self._answers and tuples <= _CHEAP_TYPES and self._nothing_fits():
            return Outcome.PROVEN_NONE
        sizes = range(SMALLEST, self._options.max_ast + 1)
        for size, fitting in fitting_by_size(self._fitter, self._question, self._layout.full, sizes):
            self._take(fitting)
            self._none_below = size if fitting else size + 1
            self._size = size + 1
            self._tick()
            # Nothing smaller than the answer is left; where all answers count, its own size is to be seen too.
            unseen = 0 if self._options.solutions > 1 else 1
            if self._answers and self._answers[0].ast_nodes <= size + unseen:
                break
            if size + 1 == _RELATION_ALGEBRA_BEFORE:
                self._take_shortcut(self._composed())
        else:
            if not self._answers:
                return Outcome.PROVEN_NONE if self._nothing_fits() else Outcome.EXHAUSTED
        if self._options.solutions > 1 and self._answers[0].ast_nodes <= self._none_below:
            self._take(self._further_answers(self._answers[0].ast_nodes))
            self._further = ALL_LISTED
            if len(self._answers) > self._options.solutions:
                self._further = not_all(f"{self._options.solutions} asked for")
            elif self._fitter.left_out:
                self._further = not_all("too many to go through")
        beyond = self._answers[0].ast_nodes > max(self._options.max_ast, self._none_below)
        return Outcome.EXHAUSTED if beyond else Outcome.SOLVED

    def result(self, outcome: Outcome) -> SearchResult:
        """What there is to say now."""
        answers = named_by_level(self._answers[: max(1, self._options.solutions)], self._instance.signature)
        for formula in answers:
            if not self._fits(formula):
                raise AssertionError(f"the search gave a formula that does not fit: {formula}")
        none_below = self._none_below
        if answers and answers[0].ast_nodes < none_below:
            raise AssertionError(
                f"an answer of {answers[0].ast_nodes} nodes, but none below {none_below}: {answers[0]}"
            )
        if outcome is Outcome.PROVEN_NONE:
            none_below = self._options.max_ast + 1
        return SearchResult(
            instance_id=self._instance.instance_id,
            search=BottomUp.name,
            outcome=outcome,
            formulas=tuple(answers),
            none_below=none_below,
            fragment=str(self._fragment),
            diagnosis=self._diagnosis,
            statistics=self._statistics(),
            further_answers=self._further,
        )

    def _tick(self) -> None:
        held = self._tables.bytes + self._fitter.bytes
        self._meter.check(max(held, resident_bytes()))
        classes = sum(layer.count for layer in self._tables.layers)
        best = self._answers[0] if self._answers else None
        self._report(Progress(self._size, classes, "classes", best, self._none_below))

    def _take(self, formulas: Sequence[Formula]) -> None:
        """Keep the smallest of the answers so far and of `formulas`, best of each meaning first."""
        if not formulas:
            return
        least = min(formula.ast_nodes for formula in (*self._answers, *formulas))
        smallest = [formula for formula in (*self._answers, *formulas) if formula.ast_nodes == least]
        self._answers = best_of_each_meaning(smallest, self._instance.signature)

    def _fits(self, formula: Formula) -> bool:
        return fits(formula, self._instance, self._options.noise)

    def _composed(self) -> Formula | None:
        most = self._answers[0].ast_nodes - 1 if self._answers else 10**6
        return relation_algebra(self._tables, self._question, self._tick, min(most, 40))

    def _take_shortcut(self, found: Formula | None) -> None:
        """Take a formula that fits, of any size; a sentence is made to speak of x."""
        if found is not None:
            found = open_by_force(found, self._instance.signature, equality=self._options.equality)
        if found is not None:
            self._take([found])

    def _nothing_fits(self) -> bool:
        """Whether no formula of the fragment fits, whatever its size; what stands in the way is put into words."""
        if self._options.noise:
            clash = _too_many_wrong(self._instance, self._fragment, self._options.noise)
        else:
            clash = _clash(self._instance, self._worlds, self._fragment)
        if clash is None:
            return False
        self._diagnosis = clash
        return True

    def _further_answers(self, size: int) -> list[Formula]:
        """Answers of AST size `size` that differ from others only outside the instance's own worlds.

        The classes are built again over a few fresh worlds beside the instance's, on which anything may hold, so that
        formulas which agree on the instance but not there are told apart all the way up.
        """
        probes = fresh_worlds(self._instance.signature)[-_PROBES:]
        layout = Layout((*self._worlds, *probes))
        tables = ClassTables(
            layout, self._fragment, keep_open=self._keep_open, tick=self._tick, reserve=self._meter.reserve
        )
        fitter = Fitter(tables, tick=self._tick)
        question = question_of(layout, len(self._instance.train_worlds), len(self._worlds), self._options.noise)
        fitting: list[Formula] = [
            Not(formula) for formula in fitter.of_size(size - 1, question.complement(layout.full))
        ]
        fitting += fitter.of_size(size, question)
        self._fitter.left_out |= fitter.left_out
        return fitting

    def _statistics(self) -> dict[str, Any]:
        layers = self._tables.layers
        return {
            "sizeReached": self._size - 1,
            "classes": {
                str(size): [layer.count_of_size(size) for layer in layers]
                for size in range(SMALLEST, max(layer.complete for layer in layers) + 1)
            },
            "pairsTried": self._fitter.pairs_tried,
        }


def question_of(layout: Layout, number_to_match: int, number_asked: int, noise: int = 0) -> Question:
    """Match the first `number_to_match` worlds of the layout and miss those after them up to `number_asked`."""
    masks = layout.world_masks
    care = np.bitwise_or.reduce(masks[:number_to_match], axis=0, initial=np.uint64(0))
    misses = masks[number_to_match:number_asked]
    return Question(layout.target(), care.astype(np.uint64), np.ascontiguousarray(misses), noise)


def _too_many_wrong(instance: Instance, fragment: Fragment, noise: int) -> str | None:
    """That any formula of the fragment mislabels more than `noise` objects, in words; None if that is not certain."""
    labels: dict[int, list[int]] = {}
    types = object_types(instance.train_worlds, fragment)
    for world, of_world in zip(instance.train_worlds, types, strict=True):
        for element, kind in enumerate(of_world.tolist()):
            labels.setdefault(kind, [0, 0])[int(world.target[element])] += 1
    least = sum(min(counts) for counts in labels.values())
    if least <= noise:
        return None
    return (
        f"whatever the formula, at least {least} objects are mislabelled: so many look like others, to this fragment, "
        "that have the other label"
    )


def _clash(instance: Instance, worlds: Sequence[World], fragment: Fragment) -> str | None:
    """Two objects that the fragment cannot tell apart though their labels must differ, in words; None without."""
    types = object_types(worlds, fragment)
    number = len(instance.train_worlds)
    first: dict[tuple[int, bool], tuple[str, str]] = {}
    for world, of_world in zip(worlds[:number], types[:number], strict=True):
        for element, kind in enumerate(of_world.tolist()):
            label = bool(world.target[element])
            here = (world.name, world.domain[element])
            other = first.get((kind, not label))
            if other is not None:
                yes, no = (here, other) if label else (other, here)
                return _clash_in_words(yes, no, instance, worlds, fragment)
            first.setdefault((kind, label), here)
    forced: dict[int, bool] = dict(first.keys())  # the keys are pairs of type and label
    for world, of_world in zip(worlds[number:], types[number:], strict=True):
        labels = [forced.get(kind) for kind in of_world.tolist()]
        if all(label == bool(world.target[e]) for e, label in enumerate(labels)):
            return (
                f"whatever matches the YES worlds also matches NO world {world.name}: every object there looks like "
                "one of theirs with the same label"
            )
    return None


def _clash_in_words(
    yes: tuple[str, str], no: tuple[str, str], instance: Instance, worlds: Sequence[World], fragment: Fragment
) -> str:
    text = (
        f"{yes[1]} in {yes[0]} is labelled T and {no[1]} in {no[0]} is not, but no formula of the fragment tells them "
        "apart"
    )
    wider = {
        "more variables": Fragment(min(3, fragment.variables + 1), fragment.depth, fragment.equality),
        "more depth": Fragment(fragment.variables, fragment.depth + 2, fragment.equality),
        "equality": Fragment(fragment.variables, fragment.depth, True),
    }
    by_name = {world.name: i for i, world in enumerate(worlds)}
    helps = []
    for what, other in wider.items():
        if other == fragment:
            continue
        types = object_types(worlds, other)
        kinds = [types[by_name[w]][worlds[by_name[w]].domain.index(e)] for w, e in (yes, no)]
        if kinds[0] != kinds[1]:
            helps.append(what)
    if helps:
        return f"{text}; {' or '.join(helps)} would"
    return f"{text}, nor would more variables (up to 3), depth or equality: look for a wrong label or fact"
