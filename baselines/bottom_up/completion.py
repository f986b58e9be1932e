"""Smallest formulas for EC: candidates in order of size, each decided exactly.

Formulas are told apart on sampled completions of the worlds, which is enough to find answers but not to prove that a
smaller one was not merged with another. The bound is claimed only where the sample is every completion there is.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from induction.baselines.bottom_up.ordering import best_of_each_meaning, named_by_level

from induction.budget import Meter, Outcome, resident_bytes
from induction.enumeration.classes import SMALLEST, ClassTables
from induction.enumeration.layout import Fragment, Layout
from induction.errors import BudgetExhaustedError
from induction.evaluation import three_valued
from induction.formula.metrics import free_variables
from induction.formula.syntax import FREE_VARIABLE, Formula
from induction.grounding.check import check
from induction.search import NOT_LOOKED_FOR, Progress, SearchOptions, SearchResult, not_all, outcome_of
from induction.worlds.instance import Instance
from induction.worlds.world import BoolArray, World

_MOST_COMPLETIONS = 24
_SEED = 7


def search_completions(
    instance: Instance,
    fragment: Fragment,
    meter: Meter,
    options: SearchOptions,
    report: Callable[[Progress], None],
    *,
    interrupts: bool = True,
) -> SearchResult:
    """The smallest formulas found for which each training world has a completion; `interrupts` as for `outcome_of`."""
    samples = [completions(world) for world in instance.train_worlds]
    # Where all labels of each world are alike, a sentence can fit, but only a formula of x will do.
    alike = all(world.target.all() or not world.target.any() for world in instance.train_worlds)
    covers_all = all(complete for _, complete in samples)
    layout = Layout([world for worlds, _ in samples for world in worlds])
    size, none_below, undecided = SMALLEST, SMALLEST, False
    answers: list[Formula] = []

    def tick() -> None:
        meter.check(max(tables.bytes, resident_bytes()))
        classes = sum(layer.count for layer in tables.layers)
        best = answers[0] if answers else None
        report(Progress(size, classes, "classes", best, none_below if covers_all else 0))

    tables = ClassTables(layout, fragment, keep_open=alike, tick=tick, reserve=meter.reserve)

    def run() -> Outcome:
        nonlocal size, none_below, undecided
        for size in range(SMALLEST, options.max_ast + 1):
            if answers and answers[0].ast_nodes <= size:
                return Outcome.SOLVED
            for formula in _formulas_of_size(tables, size):
                tick()
                try:
                    if _may_fit(formula, instance) and check(formula, instance).valid:
                        answers.append(formula)
                except BudgetExhaustedError:
                    undecided = True
                if len(answers) >= 4 * options.solutions:
                    break
            answers.sort(key=lambda answer: answer.ast_nodes)
            if answers and answers[0].ast_nodes <= size:
                return Outcome.SOLVED
            none_below = size + 1
        # With completions left out, a formula that fits may have been taken for another that does not.
        return Outcome.EXHAUSTED if covers_all and not undecided else Outcome.UNKNOWN

    outcome = outcome_of(run, interrupts=interrupts)
    least = min((answer.ast_nodes for answer in answers), default=0)
    smallest = [answer for answer in answers if answer.ast_nodes == least]
    best = best_of_each_meaning(smallest, instance.signature)[: max(1, options.solutions)]
    proven = none_below if covers_all and not undecided else 0
    unproven = "formulas were told apart on sampled completions, so smaller ones are not ruled out"
    sought = best and options.solutions > 1
    further = not_all("only those that completions tell apart") if sought else NOT_LOOKED_FOR
    return SearchResult(
        instance_id=instance.instance_id,
        search="bottom-up",
        outcome=outcome,
        formulas=tuple(named_by_level(best, instance.signature)),
        none_below=proven,
        fragment=str(fragment),
        diagnosis="" if proven else unproven,
        statistics={"sizeReached": size, "completions": [len(worlds) for worlds, _ in samples]},
        further_answers=further,
    )


def completions(world: World) -> tuple[list[World], bool]:
    """All completions of a world if they are few, else the extremes and a sample; and whether it is all."""
    places = [(p, tuple(place)) for p, mask in world.unknown.items() for place in np.argwhere(mask).tolist()]
    choices: Iterator[Sequence[bool]]
    if 2 ** len(places) <= _MOST_COMPLETIONS:
        choices, everything = itertools.product((False, True), repeat=len(places)), True
    else:
        rng = np.random.default_rng(_SEED)
        rows = rng.random((_MOST_COMPLETIONS, len(places))) < 0.5
        rows[0], rows[1] = False, True
        choices, everything = iter(rows.tolist()), False
    result = []
    for values in choices:
        tables: dict[str, BoolArray] = {name: table.copy() for name, table in world.true.items()}
        for (predicate, place), value in zip(places, values, strict=True):
            tables[predicate][place] = value
        result.append(world.completed(tables))
    return result, everything


def _formulas_of_size(tables: ClassTables, size: int) -> Iterator[Formula]:
    tables.build(1, size)
    for entry in tables.entries(1, size):
        if tables.required_mark and not entry.is_open:
            continue
        formula = tables.formula(1, entry.index)
        if free_variables(formula) == {FREE_VARIABLE}:
            yield formula


def _may_fit(formula: Formula, instance: Instance) -> bool:
    """False only if three-valued evaluation already shows a label out of reach."""
    for world in instance.train_worlds:
        values = three_valued.evaluate(formula, world)
        if np.where(world.target, values == three_valued.FALSE, values == three_valued.TRUE).any():
            return False
    return True
