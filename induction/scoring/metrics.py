"""What rows add up to: shares with intervals, sizes, held-out match, paired tests.

Definitions are the benchmark's: accuracy is the valid share of all instances, coverage the share answered with a
formula, Acc@gold+D valid and at most D above the gold's AST size, bloat the share of the valid that is more than 25
above, held-out match the share of valid answers, fresh worlds given, that are right on all of them. The first row of a
model, run and instance counts; rows marked as duplicates do not.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Row: TypeAlias = Mapping[str, Any]

BLOAT_MARGIN = 25
DELTA_BINS: tuple[tuple[str, int | None, int | None], ...] = (
    ("up to gold", None, 0),
    ("+1 to +5", 1, 5),
    ("+6 to +10", 6, 10),
    ("+11 to +25", 11, 25),
    ("above +25", 26, None),
)
"""Bins of AST delta: name, least, most; None is without bound."""

_Z = 1.959963984540054  # 95 %
_RESAMPLES = 2_000


@dataclass(frozen=True)
class Share:
    """A share of `successes` in `trials` with its 95 % Wilson interval; no value where nothing was tried."""

    successes: int
    trials: int

    @property
    def value(self) -> float | None:
        """The share; None without trials."""
        return self.successes / self.trials if self.trials else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval; None without trials."""
        if not self.trials:
            return None
        n, p = self.trials, self.successes / self.trials
        middle = (p + _Z * _Z / (2 * n)) / (1 + _Z * _Z / n)
        reach = _Z / (1 + _Z * _Z / n) * math.sqrt(p * (1 - p) / n + _Z * _Z / (4 * n * n))
        return max(0.0, middle - reach), min(1.0, middle + reach)


@dataclass(frozen=True)
class Mean:
    """A mean and median with a 95 % bootstrap interval of the mean; None without values."""

    mean: float | None
    median: float | None
    interval: tuple[float, float] | None
    count: int


@dataclass(frozen=True)
class Summary:
    """The figures of some rows, each instance once. Sizes are AST nodes; deltas are against the gold."""

    instances: int
    coverage: Share
    strict: Share
    accuracy: Share
    within: Mapping[int, Share]
    bloat: Share
    holdout: Share
    untried: int
    """Valid answers that no fresh worlds were there for."""
    holdout_by_delta: Mapping[str, Share]
    size: Mean
    delta: Mean
    excess: Mean
    """Valid answers' size above the smallest formula known: a search's, a certificate's, or the gold."""


def counted(rows: Sequence[Row]) -> list[Row]:
    """The rows that count: of each instance, model and run the first that is not marked as a duplicate."""
    first: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        if not row["metadata"].get("duplicate"):
            first.setdefault((*instance_key(row), row["model_id"], row["run_id"]), row)
    return list(first.values())


def instance_key(row: Row) -> tuple[str, str, str]:
    """What tells instances apart when rows of several files come together."""
    return str(row.get("dataset_path") or ""), str(row["task"]), str(row["instance_id"])


def summarise(
    rows: Sequence[Row], margins: Sequence[int] = (0, 10, 25), smallest: Mapping[str, int] | None = None
) -> Summary:
    """The figures of rows of one model, or of any group of them."""
    rows = counted(rows)
    valid = [row for row in rows if row["valid"]]
    tried = [row for row in valid if row["metadata"].get("holdoutMatch") is not None]
    with_delta = [row for row in valid if row["ast_delta"] is not None]
    known = smallest or {}

    def excess(row: Row) -> int | None:
        bounds = [row["metadata"].get("sizeReference"), row["gold_ast"], known.get(row["instance_id"])]
        given = [bound for bound in bounds if bound is not None]
        return row["prediction"]["ast_size"] - min(given) if given else None

    return Summary(
        instances=len(rows),
        coverage=_share(rows, lambda row: bool(row["parse_ok"])),
        strict=_share(rows, lambda row: bool(row["metadata"].get("strict"))),
        accuracy=_share(rows, lambda row: bool(row["valid"])),
        within={margin: Share(sum(within(row, margin) for row in rows), len(rows)) for margin in margins},
        bloat=_share(with_delta, lambda row: row["ast_delta"] > BLOAT_MARGIN),
        holdout=_share(tried, lambda row: bool(row["metadata"]["holdoutMatch"])),
        untried=len(valid) - len(tried),
        holdout_by_delta={
            name: _share(
                [row for row in tried if row["ast_delta"] is not None and _in_bin(row["ast_delta"], least, most)],
                lambda row: bool(row["metadata"]["holdoutMatch"]),
            )
            for name, least, most in DELTA_BINS
        },
        size=mean_of([row["prediction"]["ast_size"] for row in valid]),
        delta=mean_of([row["ast_delta"] for row in with_delta]),
        excess=mean_of([value for value in map(excess, valid) if value is not None]),
    )


def within(row: Row, margin: int) -> bool:
    """Whether a row is valid and at most `margin` AST nodes above its gold."""
    return bool(row["valid"]) and row["ast_delta"] is not None and row["ast_delta"] <= margin


def _in_bin(delta: int, least: int | None, most: int | None) -> bool:
    return (least is None or delta >= least) and (most is None or delta <= most)


def _share(rows: Sequence[Row], holds: Callable[[Row], bool]) -> Share:
    return Share(sum(holds(row) for row in rows), len(rows))


def mean_of(values: Sequence[float]) -> Mean:
    """Mean and median of values, with a bootstrap interval of the mean from a fixed seed."""
    if not values:
        return Mean(None, None, None, 0)
    array = np.array(values, dtype=np.float64)
    rng = np.random.default_rng(0)
    means = array[rng.integers(len(array), size=(_RESAMPLES, len(array)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Mean(float(array.mean()), float(np.median(array)), (float(low), float(high)), len(array))


@dataclass(frozen=True)
class Paired:
    """Two models on the instances both have rows for: who alone is right how often, and McNemar's exact p."""

    both: int
    first_only: int
    second_only: int
    neither: int
    p: float


def compare_models(first: Sequence[Row], second: Sequence[Row]) -> Paired:
    """McNemar's exact test on the instances that both have."""
    right = [{instance_key(row): bool(row["valid"]) for row in counted(rows)} for rows in (first, second)]
    shared = [name for name in right[0] if name in right[1]]
    both = sum(right[0][name] and right[1][name] for name in shared)
    first_only = sum(right[0][name] and not right[1][name] for name in shared)
    second_only = sum(right[1][name] and not right[0][name] for name in shared)
    return Paired(
        both, first_only, second_only, len(shared) - both - first_only - second_only, _binomial(first_only, second_only)
    )


def _binomial(first: int, second: int) -> float:
    """The two-sided exact probability of so uneven a split of `first + second` fair coins."""
    n = first + second
    tail = sum(math.comb(n, k) for k in range(min(first, second) + 1))
    return float(min(1.0, 2 * tail / 2**n))


@dataclass(frozen=True)
class SameProblem:
    """Instances that have both compact and bloated valid answers which were tried on fresh worlds."""

    instances: int
    compact: Share
    bloated: Share


def same_problem(rows: Sequence[Row], *, compact: int = 10, bloated: int = BLOAT_MARGIN) -> SameProblem:
    """Held-out match of compact and of bloated answers to the same instances, all models together."""
    by_instance: dict[tuple[str, str, str], list[Row]] = {}
    for row in counted(rows):
        if row["valid"] and row["ast_delta"] is not None and row["metadata"].get("holdoutMatch") is not None:
            by_instance.setdefault(instance_key(row), []).append(row)
    small: list[Row] = []
    large: list[Row] = []
    instances = 0
    for members in by_instance.values():
        short = [row for row in members if row["ast_delta"] <= compact]
        long = [row for row in members if row["ast_delta"] > bloated]
        if short and long:
            instances += 1
            small += short
            large += long
    return SameProblem(
        instances,
        _share(small, lambda row: bool(row["metadata"]["holdoutMatch"])),
        _share(large, lambda row: bool(row["metadata"]["holdoutMatch"])),
    )


def grouped(rows: Sequence[Row], key: Callable[[Row], str]) -> dict[str, list[Row]]:
    """The rows by a key, keys in order of first appearance."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups
