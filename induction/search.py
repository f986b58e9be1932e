"""What every search takes and gives, how one is found by name, and what searches share while they are under way."""

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, Protocol

from induction.budget import Budget, Outcome, OutOfMemoryError, OutOfTimeError, resident_bytes
from induction.errors import (
    BudgetExhaustedError,
    EvaluationLimitError,
    MissingLibraryError,
    UnknownNameError,
    UnsupportedOptionError,
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
    """What is searched for.

    Not every search heeds all of it (`About.heeds`). `noise` and `equality` decide what an answer is: a search that
    does not heed them refuses other values than these defaults. The others only bound: a search may find larger or
    deeper answers, or fewer, and its result says which fragment it covered.

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
    """How far a search is: the AST size it works on, what it has done, the best answer and what is proven so far.

    `done` counts what `unit` says: "classes" held by an enumeration, or "steps". A search that does not go by size
    says 0 for it.
    """

    ast_size: int
    done: int
    unit: str
    best: Formula | None
    none_below: int


NOT_LOOKED_FOR = "not looked for"
ALL_LISTED = "all"


def not_all(reason: str) -> str:
    """What is said of further answers that were not all listed, and why."""
    return f"not all: {reason}"


def settled(outcome: Outcome, further: str, *, proven_smallest: bool) -> tuple[Outcome, str]:
    """The outcome, and what is said of further answers, of a search that ended so.

    NOTE(two facts): once the answer is proven smallest the instance is solved. A budget that ran out after that cost
    further answers only, if any, which is told apart from it.
    """
    if not proven_smallest or outcome not in _RAN_OUT:
        return outcome, further
    return Outcome.SOLVED, not_all(_RAN_OUT[outcome]) if further == NOT_LOOKED_FOR else further


_RAN_OUT = {
    Outcome.TIMED_OUT: Outcome.TIMED_OUT.value,
    Outcome.OUT_OF_MEMORY: Outcome.OUT_OF_MEMORY.value,
    Outcome.UNKNOWN: "interrupted",
}


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    `formulas` are the answers, best first, each confirmed by the reference evaluator. No formula of `fragment` with
    fewer AST nodes than `none_below` fits (0 where nothing is proven). `diagnosis` says in words why nothing fits,
    where that is known. `further_answers` says whether all smallest answers are among `formulas`: "all", "not all: "
    and why, or "not looked for"; what counts as another answer is the search's business. `statistics` holds plain
    values only. A result whose first answer is proven smallest is solved: NOTE(two facts) in `settled`.
    """

    instance_id: str
    search: str
    outcome: Outcome
    formulas: tuple[Formula, ...]
    none_below: int
    fragment: str
    diagnosis: str = ""
    statistics: Mapping[str, Any] = field(default_factory=dict)
    further_answers: str = NOT_LOOKED_FOR

    def __post_init__(self) -> None:
        outcome, further = settled(self.outcome, self.further_answers, proven_smallest=self.is_proven_smallest)
        object.__setattr__(self, "outcome", outcome)
        object.__setattr__(self, "further_answers", further)

    @property
    def is_proven_smallest(self) -> bool:
        """Whether the best answer is as small as any in the fragment."""
        return bool(self.formulas) and self.formulas[0].ast_nodes <= self.none_below


@dataclass(frozen=True)
class About:
    """What a search says of itself: what it does, expresses and proves, a phrase each.

    `heeds` names the fields of `SearchOptions` that it goes by, `needs` the importable modules it cannot do without and
    `extra` what to ask pip for to have them. `schedule` says, a line a step, what it does in which order where that is
    fixed beforehand.
    """

    summary: str
    expresses: str
    proves: str
    heeds: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    extra: str = ""
    schedule: tuple[str, ...] = ()

    @property
    def missing(self) -> tuple[str, ...]:
        """The needed modules that are not installed."""
        return tuple(name for name in self.needs if importlib.util.find_spec(name) is None)

    @property
    def why_not_installed(self) -> str:
        """The missing modules and how to get them, in words."""
        extra = f" (pip install '{self.extra}')" if self.extra else ""
        return f"{', '.join(self.missing)}, which is not installed{extra}"


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
        """The result for one instance. A budget that runs out is an outcome, not an error.

        Raises:
            UnsupportedOptionError: as `refuse_unheeded`, which is the first thing called.
            UnsupportedRegimeError: likewise.
        """
        ...


_DECIDING = {"noise": "takes no noise", "equality": "cannot leave = out"}
"""Options that decide what an answer is, with what is said of a search that does not heed them."""


def refuse_unheeded(search: Search, instance: Instance, options: SearchOptions) -> None:
    """Called by every search first: what is asked of it must be what it goes by.

    Raises:
        UnsupportedOptionError: an option that decides what an answer is has another value than by default, and the
            search does not heed it.
        UnsupportedRegimeError: noise is to be allowed for in an EC instance.
    """
    for name, problem in _DECIDING.items():
        if getattr(options, name) != getattr(SearchOptions, name) and name not in search.about.heeds:
            others = [other for other in search_names() if name in find_search(other).about.heeds]
            do = f"; {_listed(others)} {'do' if len(others) > 1 else 'does'}" if others else ""
            raise UnsupportedOptionError(f"{search.name} {problem}{do}")
    if options.noise and instance.regime is Regime.EC:
        raise UnsupportedRegimeError(f"{instance.instance_id} is an EC instance; noise is for FullObs and CI")


def _listed(names: Sequence[str]) -> str:
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)


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
        raise MissingLibraryError(f"{name} needs {found.about.why_not_installed}")
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

    @property
    def memory_limit_bytes(self) -> int | None:
        """Bytes that this process may hold; None without a limit."""
        return self._meter.budget.memory_limit_bytes

    def tick(self) -> None:
        """Say how far the search is. Raises OutOfTimeError or OutOfMemoryError if a limit is passed."""
        self._steps += 1
        self._report(Progress(0, self._steps, "steps", self.best, self.none_below))
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


def outcome_of(steps: Callable[[], Outcome], *, interrupts: bool = True) -> Outcome:
    """What `steps` ends with; limits that are passed, and `interrupts`, become outcomes."""
    try:
        return steps()
    except OutOfTimeError:
        return Outcome.TIMED_OUT
    except (OutOfMemoryError, MemoryError):
        return Outcome.OUT_OF_MEMORY
    except KeyboardInterrupt:
        if not interrupts:
            raise
        return Outcome.UNKNOWN
