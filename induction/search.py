"""What every search takes and gives, and how one is found by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, Protocol

from induction.budget import Budget, Outcome
from induction.errors import UnknownNameError, printable
from induction.formula.syntax import Formula
from induction.worlds.instance import Instance

ENTRY_POINTS = "induction.searches"
"""The entry point group in which searches are registered."""


@dataclass(frozen=True)
class SearchOptions:
    """What is searched for. Not every search heeds all of it; its result says which fragment it covered.

    `max_ast` is the largest AST size looked for, `variables` how many variable names may occur, `depth` how deep
    quantifiers may nest, `equality` whether `=` may occur, and `solutions` how many answers are wanted.
    """

    max_ast: int = 22
    variables: int = 3
    depth: int = 3
    equality: bool = True
    solutions: int = 1


@dataclass(frozen=True)
class Progress:
    """How far a search is: the AST size it works on, classes held, the best answer and what is proven so far."""

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


class Search(Protocol):
    """A way of finding formulas that explain an instance."""

    name: str

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
    """The names of the searches installed."""
    return sorted(entry.name for entry in metadata.entry_points(group=ENTRY_POINTS))


def load_search(name: str) -> Search:
    """The search registered as `name`. Raises UnknownNameError if there is none."""
    for entry in metadata.entry_points(group=ENTRY_POINTS):
        if entry.name == name:
            found: Search = entry.load()()
            return found
    raise UnknownNameError(f"there is no search '{printable(name)}'; there are {', '.join(search_names())}")
