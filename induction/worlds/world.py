"""One finite relational world with a labelled target."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from induction.formula.syntax import PredicateName, Signature

Element: TypeAlias = str
"""The name of an object; element i of a world is `domain[i]`."""

BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class World:
    """Objects, the extension of every predicate of a signature over them, and the target's labels.

    `true[name]` is `bool[n]` for a unary and `bool[n, n]`, indexed [first argument, second argument], for a
    binary predicate; `unknown[name]` has the same shape and marks atoms whose truth is not observed, where
    `true` is False. `target` is `bool[n]`. All arrays are read-only. Anybody may construct one; what comes from
    files has been through `worlds.records`, which reports faults by place.

    `extra` holds fields of the record that this library does not interpret, `observation_mode` the record's word
    for how it was observed.

    Raises:
        ValueError: no objects, names that repeat, or a table of another shape or for another predicate.
    """

    name: str
    domain: tuple[Element, ...]
    signature: Signature
    true: Mapping[PredicateName, BoolArray]
    target: BoolArray
    unknown: Mapping[PredicateName, BoolArray] = field(default_factory=dict)
    observation_mode: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        size = len(self.domain)
        if size == 0:
            raise ValueError(f"world {self.name} has no objects")
        if len(set(self.domain)) != size:
            raise ValueError(f"world {self.name} names an object twice")
        for kind, tables in (("true", self.true), ("unknown", self.unknown)):
            stray = set(tables) - set(self.signature)
            if stray:
                raise ValueError(f"world {self.name} has a table for {min(stray)}, which is not in the signature")
            complete = {
                predicate: _frozen(tables.get(predicate), (size,) * arity, f"{kind}[{predicate}] of {self.name}")
                for predicate, arity in self.signature.items()
            }
            object.__setattr__(self, kind, complete)
        for predicate in self.signature:
            if np.any(self.true[predicate] & self.unknown[predicate]):
                raise ValueError(f"world {self.name} has an atom of {predicate} both true and unknown")
        object.__setattr__(self, "target", _frozen(self.target, (size,), f"target of {self.name}"))
        if not self.observation_mode:
            object.__setattr__(self, "observation_mode", "partial" if self.count_unknown() else "full")

    @property
    def size(self) -> int:
        """Number of objects."""
        return len(self.domain)

    def count_unknown(self) -> int:
        """Atoms whose truth is not observed."""
        return sum(int(np.count_nonzero(mask)) for mask in self.unknown.values())

    def density(self, predicate: PredicateName) -> float:
        """Share of the atoms of `predicate` known to be true, of those that are known; 0.0 if none is."""
        known = self.true[predicate].size - int(np.count_nonzero(self.unknown[predicate]))
        return float(np.count_nonzero(self.true[predicate])) / known if known else 0.0

    def elements(self, mask: BoolArray) -> tuple[Element, ...]:
        """The names of the objects that `mask`, a `bool[n]`, selects, in domain order."""
        return tuple(self.domain[i] for i in np.flatnonzero(mask))

    def completed(self, values: Mapping[PredicateName, BoolArray]) -> "World":
        """The same world with every unknown atom given its value in `values` (tables as in `true`)."""
        filled = {
            name: np.where(self.unknown[name], values[name], self.true[name]) if name in values else self.true[name]
            for name in self.signature
        }
        return World(self.name, self.domain, self.signature, filled, self.target, extra=self.extra)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, World):
            return NotImplemented
        return (
            (self.name, self.domain, self.signature, self.observation_mode, self.extra)
            == (other.name, other.domain, other.signature, other.observation_mode, other.extra)
            and np.array_equal(self.target, other.target)
            and all(
                np.array_equal(self.true[p], other.true[p]) and np.array_equal(self.unknown[p], other.unknown[p])
                for p in self.signature
            )
        )

    __hash__ = None  # type: ignore[assignment]  # extra fields may be anything


def _frozen(table: BoolArray | Sequence[Any] | None, shape: tuple[int, ...], what: str) -> BoolArray:
    """A read-only boolean copy of `table`; all False, without taking memory, where there is none."""
    if table is None:
        return np.broadcast_to(np.False_, shape)
    array = np.array(table, dtype=np.bool_)
    if array.shape != shape:
        raise ValueError(f"{what} has shape {array.shape}, not {shape}")
    array.flags.writeable = False
    return array
