"""What every search takes and gives, how one is found by name, and what searches share while they are under way."""

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, Protocol

from induction.budget import Budget, Outcome, OutOfMemoryError, OutOfTimeError, resident_bytes
from induction.errors import (
    BudgetExhaustedError,
    EvaluationLimitError,
    MissingLibraryError,
    UnknownNameError,
    UnsupportedRegimeError,
    printable,
)
from induction.formula.metrics import free_variables
from induction.formula.syntax import FREE_VARIABLE, Formula
from induction.grounding.check import check
from induction.worlds.instance import Instance, Regime

ENTRY_POINTS = "induction.searches"
"""The entry point group in which searches are registered."""


@dataclass(frozen=True)
class SearchOptions:
    """What is searched for. Not every search heeds all of it; its result says which fragment it covered.

    `max_ast` is the largest AST size looked for, `variables` how many variable names may occur, `depth` how deep
    quantifiers may nest, `equality` whether `=` may occur, and `solutions` how many answers are wanted. `noise` is the
    number of objects that may be mislabelled, over all worlds to match together.
    """

    max_ast: int = 22
    variables: int = 3
    depth: int = 3
    equality: bool = True
    solutions: int = 1
    noise: int = 0


@dataclass(frozen=True)
class Progress:
    """How far a search is: the AST size it works on, classes held, the best answer and what is proven so far.

    A search that does not go by size says 0 for it, and counts its steps as `classes`.
    """

    ast_size: int
    classes: int
    best: Formula | None
    none_below: int


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    `formulas` are the answers, best first, each confirmed by the reference evaluator. No formula of `fragment` with
    fewer AST nodes than `none_below` fits (0 where nothing is proven). `diagnosis` says in words why nothing fits,
    where that is known. `statistics` holds plain values only.
    """

    instance_id: str
    search: str
    outcome: Outcome
    formulas: tuple[Formula, ...]
    none_below: int
    fragment: str
    diagnosis: str = ""
    statistics: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_proven_smallest(self) -> bool:
        """Whether the best answer is as small as any in the fragment."""
        return bool(self.formulas) and self.formulas[0].ast_nodes <= self.none_below


@dataclass(frozen=True)
class About:
    """What a search says of itself: what it does, expresses and proves, a phrase each.

    `noise` says whether it heeds `SearchOptions.noise`, `needs` which importable modules it cannot do without, and
    `schedule`, a line a step, what it does in which order where that is fixed beforehand.
    """

    summary: str
    expresses: str
    proves: str
    noise: bool = False
    needs: tuple[str, ...] = ()
    schedule: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """The needed modules that are not installed."""
        return tuple(name for name in self.needs if importlib.util.find_spec(name) is None)


class Search(Protocol):
    """A way of finding formulas that explain an instance, of any regime."""

    name: str
    about: About

    def search(
        self,
        instance: Instance,
        budget: Budget,
        options: SearchOptions,
        report: Callable[[Progress], None],
    ) -> SearchResult:
        """The result for one instance. A budget that runs out is an outcome, not an error."""
        ...


def search_names() -> list[str]:
    """The names of the searches there are, installed in full or not."""
    return sorted(entry.name for entry in metadata.entry_points(group=ENTRY_POINTS))


def find_search(name: str) -> Search:
    """The search registered as `name`, whether or not it can run. Raises UnknownNameError if there is none."""
    for entry in metadata.entry_points(group=ENTRY_POINTS):
        if entry.name == name:
            found: Search = entry.load()()
            return found
    raise UnknownNameError(f"there is no search '{printable(name)}'; there are {', '.join(search_names())}")


def load_search(name: str) -> Search:
    """The search registered as `name`.

    Raises:
        UnknownNameError: there is none.
        MissingLibraryError: it needs a library that is not installed.
    """
    found = find_search(name)
    if found.about.missing:
        raise MissingLibraryError(f"{name} needs {', '.join(found.about.missing)}, which is not installed")
    return found


def count_mislabelled(formula: Formula, instance: Instance) -> int | None:
    """How many objects of the worlds to match `formula` mislabels, by the reference evaluator.

    None where it does not explain the instance whatever is put down to noise: a NO world is matched, an EC world has
    no completion, or it could not be decided.
    """
    try:
        verdict = check(formula, instance, use_reference=True)
    except (BudgetExhaustedError, EvaluationLimitError):
        return None
    if instance.regime is Regime.EC:
        return 0 if verdict.valid else None
    if any(world.side == "NO" for world in verdict.failed_worlds):
        return None
    return sum(world.mismatches for world in verdict.worlds if world.side != "NO")


def fits(formula: Formula, instance: Instance, noise: int = 0) -> bool:
    """Whether `formula`, of x alone, explains the instance but for up to `noise` labels, by the reference evaluator."""
    if free_variables(formula) != {FREE_VARIABLE}:
        return False
    wrong = count_mislabelled(formula, instance)
    return wrong is not None and wrong <= noise


def refuse_noise_in_ec(instance: Instance, options: SearchOptions) -> None:
    """Raises UnsupportedRegimeError: there is noise to allow for, but the instance is an EC one."""
    if options.noise and instance.regime is Regime.EC:
        raise UnsupportedRegimeError(f"{instance.instance_id}: noise is for FullObs and CI, not for EC")


class Attempt:
    """One search under way on one instance: what it may still spend, and its best answer so far.

    Whatever is offered as an answer is re-checked by the reference evaluator first. `by` says how the best one was
    found.
    """

    def __init__(
        self, instance: Instance, budget: Budget, options: SearchOptions, report: Callable[[Progress], None]
    ) -> None:
        self.instance = instance
        self.options = options
        self.best: Formula | None = None
        self.by = ""
        self.none_below = 0
        self._steps = 0
        self._meter = budget.start()
        self._report = report

    @property
    def bound(self) -> int:
        """Formulas of this AST size and more are no improvement, or larger than asked for."""
        return self.best.ast_nodes if self.best is not None else self.options.max_ast + 1

    @property
    def remaining_s(self) -> float | None:
        """Wall seconds left; None without a limit."""
        limit = self._meter.budget.time_limit_s
        return None if limit is None else max(0.0, limit - self._meter.elapsed_s)

    def tick(self) -> None:
        """Say how far the search is. Raises OutOfTimeError or OutOfMemoryError if a limit is passed."""
        self._steps += 1
        self._report(Progress(0, self._steps, self.best, self.none_below))
        self._meter.check(resident_bytes())

    def offer(self, formula: Formula, by: str = "", *, even_if_larger: bool = False) -> bool:
        """Take `formula` for the best answer if it explains the instance and is smaller; whether it was taken."""
        if not even_if_larger and self.best is not None and formula.ast_nodes >= self.best.ast_nodes:
            return False
        if not fits(formula, self.instance, self.options.noise):
            return False
        self.best, self.by = formula, by
        self.tick()
        return True

    def ended(self, *, none_left: bool) -> Outcome:
        """The outcome of a search that came to its end by itself.

        `none_left` says that without an answer there is none up to the size asked for.
        """
        if self.best is not None:
            return Outcome.SOLVED
        return Outcome.EXHAUSTED if none_left else Outcome.UNKNOWN

    def result(
        self,
        search: str,
        outcome: Outcome,
        *,
        fragment: str,
        none_below: int = 0,
        diagnosis: str = "",
        statistics: Mapping[str, Any] | None = None,
    ) -> SearchResult:
        """The result of the search so called: the best answer, and what is told beside it."""
        return SearchResult(
            instance_id=self.instance.instance_id,
            search=search,
            outcome=outcome,
            formulas=() if self.best is None else (self.best,),
            none_below=none_below,
            fragment=fragment,
            diagnosis=diagnosis,
            statistics=statistics or {},
        )


def outcome_of(steps: Callable[[], Outcome]) -> Outcome:
    """What `steps` ends with; limits that are passed, and interrupts, become outcomes."""
    try:
        return steps()
    except OutOfTimeError:
        return Outcome.TIMED_OUT
    except (OutOfMemoryError, MemoryError):
        return Outcome.OUT_OF_MEMORY
    except KeyboardInterrupt:
        return Outcome.UNKNOWN
