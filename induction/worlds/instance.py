"""One induction problem: worlds, which of them count how, and where known the planted formula."""

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from induction.formula.syntax import Formula, Signature
from induction.worlds.world import World

_BANDS = {"simple", "easy", "medium", "hard", "extreme_context", "extreme_logic", "core", "lift_mix"}


class Regime(enum.Enum):
    """When a formula explains an instance; the value is the record's `task`."""

    FULL_OBS = "FullObs"
    """It matches the target on every object of every training world."""
    CI = "CI"
    """It matches in every YES world and mislabels an object in every NO world."""
    EC = "EC"
    """For each training world separately, some completion of its unknown atoms makes it match."""

    @property
    def scenario(self) -> str:
        """The record's `scenario`."""
        return {"FullObs": "AD", "CI": "C", "EC": "E"}[self.value]


@dataclass(frozen=True)
class Instance:
    """Worlds over one signature, sorted by the part they play.

    `worlds` holds all of them in file order; `train_ids` those to match (for CI: the YES worlds), `no_ids` those
    to miss (CI only), `test_ids` those set aside. Names are unique and each id names a world. `gold` is the
    recorded formula, None where the file holds none. `band` is the record's difficulty band, "" if unknown.
    `extra` holds, nested as in the record, every field this library does not interpret.

    Raises:
        ValueError: anything of this does not hold, or there is no world to match.
    """

    instance_id: str
    regime: Regime
    signature: Signature
    worlds: tuple[World, ...]
    train_ids: tuple[str, ...]
    no_ids: tuple[str, ...] = ()
    test_ids: tuple[str, ...] = ()
    gold: Formula | None = None
    gold_description: str = ""
    band: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    __hash__ = None  # type: ignore[assignment]  # extra fields may be anything

    def __post_init__(self) -> None:
        by_name = {world.name: world for world in self.worlds}
        if len(by_name) != len(self.worlds):
            raise ValueError(f"instance {self.instance_id} has two worlds of one name")
        if any(world.signature != self.signature for world in self.worlds):
            raise ValueError(f"instance {self.instance_id} has a world over another signature")
        if self.no_ids and self.regime is not Regime.CI:
            raise ValueError(f"instance {self.instance_id} has NO worlds, which only CI has")
        for name in (*self.train_ids, *self.no_ids, *self.test_ids):
            if name not in by_name:
                raise ValueError(f"instance {self.instance_id} has no world {name}")
        if not self.train_ids and not self.no_ids:
            raise ValueError(f"instance {self.instance_id} has no world to match")

    @property
    def band_label(self) -> str:
        """The recorded band; without one what the release's way of naming instances says; else "-"."""
        if self.band:
            return self.band
        stem = re.sub(r"_\d+$", "", self.instance_id)
        if stem.startswith("fullobs_v2_"):
            return "challenge"
        stem = re.sub(r"^[CE]_", "", stem)
        return stem if stem in _BANDS else "-"

    @property
    def train_worlds(self) -> tuple[World, ...]:
        """The worlds to match; for CI the YES worlds."""
        return self._named(self.train_ids)

    @property
    def no_worlds(self) -> tuple[World, ...]:
        """The worlds to miss; empty but for CI."""
        return self._named(self.no_ids)

    @property
    def test_worlds(self) -> tuple[World, ...]:
        """The worlds set aside."""
        return self._named(self.test_ids)

    def sides(self) -> dict[str, str]:
        """The part each world plays, by name: "train", "YES", "NO", "test" or "unused"."""
        yes = "YES" if self.regime is Regime.CI else "train"
        return (
            dict.fromkeys((world.name for world in self.worlds), "unused")
            | dict.fromkeys(self.train_ids, yes)
            | dict.fromkeys(self.no_ids, "NO")
            | dict.fromkeys(self.test_ids, "test")
        )

    @property
    def gold_ast(self) -> int | None:
        """AST size of the gold formula; None without one."""
        return None if self.gold is None else self.gold.ast_nodes

    @property
    def description_extra(self) -> Mapping[str, Any]:
        """What the record's `problemDescription` holds that this library does not interpret."""
        description = self.extra.get("problemDescription")
        return description if isinstance(description, Mapping) else {}

    @property
    def size_reference(self) -> int | None:
        """AST size of the smallest formula recorded to say what the gold says, or of the gold; None without a gold."""
        recorded = self.description_extra.get("size_reference")
        if self.gold_ast is None or not isinstance(recorded, int) or isinstance(recorded, bool):
            return self.gold_ast
        return min(self.gold_ast, max(2, recorded))

    def _named(self, names: tuple[str, ...]) -> tuple[World, ...]:
        by_name = {world.name: world for world in self.worlds}
        return tuple(by_name[name] for name in names)
