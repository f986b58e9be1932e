"""Why an instance cannot be made: what stands in the way of one attempt, and of all of them."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from induction.errors import InductionError


class WorldFault(enum.StrEnum):
    """Why a random world is not taken; the value is the name that `filtersApplied` has."""

    LABELS = "share of labelled objects out of bounds"
    ISOMORPHIC = "isomorphic to another world"
    UNWANTED = "refused"


class Filter(enum.StrEnum):
    """What makes an instance too easy; the value is the name that `filtersApplied` has."""

    ATOM = "atom"
    GOLD_PART = "part of the gold"
    QUANTIFIER_FREE = "quantifier-free formula"


@dataclass(frozen=True)
class TooFewWorlds:
    """Of `drawn` random worlds only `taken` would do, most others had the fault `mostly`."""

    drawn: int
    taken: int
    mostly: WorldFault

    def __str__(self) -> str:
        return f"of {self.drawn} random worlds {self.taken} would do; mostly {self.mostly}"


@dataclass(frozen=True)
class NothingRefuted:
    """After `chosen` worlds of those `wanted` none was found that refutes a rival which fits them."""

    chosen: int
    wanted: int
    masked: bool = False

    def __str__(self) -> str:
        worlds = "masked worlds" if self.masked else "worlds"
        return f"only {self.chosen} of {self.wanted} {worlds} refute a rival that fits the others"


@dataclass(frozen=True)
class NothingToMiss:
    """No rival gives a NO world its labels."""

    def __str__(self) -> str:
        return "no rival that fits the YES worlds differs from the gold on a world with mixed labels"


@dataclass(frozen=True)
class TooEasy:
    """Something trivial explains the instance."""

    by: Filter

    def __str__(self) -> str:
        return f"explained by {'an' if self.by.value[0] in 'aeiou' else 'a'} {self.by}"


@dataclass(frozen=True)
class NoGold:
    """An instance has no gold to label worlds by."""

    def __str__(self) -> str:
        return "no gold is recorded to label fresh worlds by"


@dataclass(frozen=True)
class NoTemplate:
    """The band has none of the templates asked for."""

    template_ids: tuple[str, ...]

    def __str__(self) -> str:
        return f"it has no template named {', '.join(self.template_ids)}"


@dataclass(frozen=True)
class LabelsAlike:
    """No world can have the share of labelled objects that is wanted, for what the reason says."""

    reason: str

    def __str__(self) -> str:
        return f"{self.reason}, so no world can have labels of both kinds"


@dataclass(frozen=True)
class AllHidden:
    """All atoms of a predicate are hidden in every world."""

    predicate: str

    def __str__(self) -> str:
        return f"all atoms of {self.predicate} would be hidden, and an atom of it then explains any labels"


Refusal = TooFewWorlds | NothingRefuted | NothingToMiss | TooEasy | NoGold | NoTemplate | LabelsAlike | AllHidden


class NoWorldsError(InductionError):
    """A recipe and a gold for which no worlds, or not enough, could be made; `refusal` says what stood in the way."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)

    @property
    def refusal(self) -> Refusal:
        """What stood in the way."""
        refusal: Refusal = self.args[0]
        return refusal


class NoInstanceError(InductionError):
    """A band of which no instance came about: why not, as often as each reason stood in the way of an attempt.

    Without attempts the one reason is known beforehand.
    """

    def __init__(self, band: str, refusals: Mapping[Refusal, int], attempts: int) -> None:
        super().__init__(band, refusals, attempts)
        self.band, self.refusals, self.attempts = band, refusals, attempts

    @property
    def is_certain(self) -> bool:
        """Whether it is known beforehand that no instance can be made, with any seed."""
        return not self.attempts

    def __str__(self) -> str:
        if self.is_certain:
            return f"no instance of {self.band} can be made: {'; '.join(map(str, self.refusals))}"
        often = sorted(self.refusals.items(), key=lambda item: -item[1])[:3]
        why = "; ".join(f"{refusal} ({count} times)" for refusal, count in often)
        return f"no instance of {self.band} in {self.attempts} attempts: {why}"
