"""How the worlds of a question are laid out as bits, and the fragment of formulas that is enumerated.

Bit i of a row stands for one object x of one world; worlds follow one another. A table of one free variable is one
row; of two, a row for each value of y; of three, a row for each pair of values of y and z, `[y][z]`. A world smaller
than the largest takes its object 0 again for missing values of y and z, so that reducing the rows with "or" and "and"
is exactly "exists" and "for all". Source of the method: observational equivalence as in bottom-up synthesis.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from induction.formula.syntax import Signature
from induction.worlds.world import BoolArray, World

Words: TypeAlias = npt.NDArray[np.uint64]
Indices: TypeAlias = npt.NDArray[np.int64]

WORD_BITS = 64


@dataclass(frozen=True)
class Fragment:
    """The formulas a search covers: `not`, binary `and` and `or`, quantifiers, atoms, and `=` if `equality`.

    `variables` names may occur (1 to 3), any of them bound again inside its own scope; quantifiers nest at most
    `depth` deep. x is free.
    """

    variables: int = 3
    depth: int = 3
    equality: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.variables <= 3:
            raise ValueError(f"the enumeration covers 1 to 3 variables, not {self.variables}")
        if self.depth < 0:
            raise ValueError(f"the quantifier depth cannot be {self.depth}")

    def depth_allowed(self, arity: int) -> int:
        """The depth a subformula of `arity` free variables may have and still be part of a formula of x alone."""
        return self.depth - (arity - 1)

    def __str__(self) -> str:
        return (
            f"x free and no other; not, binary and/or, exists, forall{', =' if self.equality else ''}; "
            f"{self.variables} variables with rebinding; depth {self.depth}"
        )


class Layout:
    """The bits of some worlds over one signature.

    `words` is the number of 64-bit words of a row, `size` the number of objects of the largest world. `full` marks
    the bits in use (`uint64[words]`), `world_masks` those of each world (`uint64[worlds, words]`).
    `sources[w, y]` is the bit at which world w keeps what it says of object y as x (`int64[worlds, size]`).

    Raises:
        ValueError: no worlds.
    """

    def __init__(self, worlds: Sequence[World]) -> None:
        if not worlds:
            raise ValueError("there are no worlds to lay out")
        self.worlds = tuple(worlds)
        self.signature: Signature = worlds[0].signature
        sizes = [world.size for world in worlds]
        self.size = max(sizes)
        self.bits = sum(sizes)
        self.words = -(-self.bits // WORD_BITS)
        self._offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        places = np.arange(self.size)
        self.sources = np.stack(
            [self._offsets[w] + np.where(places < size, places, 0) for w, size in enumerate(sizes)]
        ).astype(np.int64)
        self.full = self.row(np.ones(self.bits, dtype=np.bool_))
        self.world_masks = np.stack(
            [self.row(np.arange(self.bits) // 1 >= self._offsets[w]) & ~self._after(w + 1) for w in range(len(worlds))]
        )

    def _after(self, w: int) -> Words:
        return self.row(np.arange(self.bits) >= self._offsets[w])

    def row(self, truth: BoolArray) -> Words:
        """`uint64[words]`: the truth values of all objects of all worlds, `bool[bits]`, as bits."""
        padded = np.zeros(self.words * WORD_BITS, dtype=np.uint8)
        padded[: self.bits] = truth
        return np.packbits(padded, bitorder="little").view(np.uint64)

    def target(self) -> Words:
        """The labels as a row."""
        return self.row(np.concatenate([world.target for world in self.worlds]))

    def unary(self, name: str) -> Words:
        """The atom `name(x)` as a row."""
        return self.row(np.concatenate([world.true[name] for world in self.worlds]))

    def diagonal(self, name: str) -> Words:
        """The atom `name(x, x)` as a row."""
        return self.row(np.concatenate([np.diagonal(world.true[name]) for world in self.worlds]))

    def binary(self, name: str, *, swapped: bool = False) -> Words:
        """The atom `name(x, y)`, or `name(y, x)`, as rows `uint64[size, words]`."""
        rows = []
        for y in range(self.size):
            columns = []
            for world in self.worlds:
                element = y if y < world.size else 0
                table = world.true[name]
                columns.append(table[element] if swapped else table[:, element])
            rows.append(self.row(np.concatenate(columns)))
        return np.stack(rows)

    def equality(self) -> Words:
        """`x = y` as rows `uint64[size, words]`."""
        rows = []
        for y in range(self.size):
            columns = [np.arange(world.size) == (y if y < world.size else 0) for world in self.worlds]
            rows.append(self.row(np.concatenate(columns)))
        return np.stack(rows)
