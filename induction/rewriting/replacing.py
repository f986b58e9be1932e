"""Smaller equals for the subformulas of a formula, from the enumeration over a promise's worlds."""

from collections.abc import Iterator

import numpy as np

from induction.enumeration import kernels
from induction.enumeration.classes import ClassTables
from induction.enumeration.layout import WORD_BITS, Fragment, Layout, Words
from induction.errors import EvaluationLimitError
from induction.evaluation import bitset
from induction.formula.normal_forms import to_renamed_apart
from induction.formula.syntax import Formula, Variable
from induction.rewriting.promises import Promise
from induction.rewriting.rules import FALSE, TRUE, names_in, replaced, tops
from induction.rewriting.writing import to_shortest, to_working
from induction.worlds.world import BoolArray

_STORED_UP_TO = (10, 9, 8)
"""The AST sizes up to which smaller equals are looked up, for one, two and three free variables."""


class Replacements:
    """Looks subformulas of up to three free variables up among all formulas of modest size."""

    def __init__(self, promise: Promise, *, equality: bool = True) -> None:
        self._batch = bitset.Batch.of(promise.worlds)
        self._layout = Layout(promise.worlds)
        self._tables = ClassTables(self._layout, Fragment(variables=3, depth=3, equality=equality))
        sizes = [world.size for world in promise.worlds]
        self._world_of_bit = np.repeat(np.arange(len(sizes)), sizes)
        self._object_of_bit = np.concatenate([np.arange(size) for size in sizes])

    def candidates(self, formula: Formula) -> Iterator[Formula]:
        """`formula`, in working form, with one subformula replaced by a smaller one that agrees on all worlds.

        Subformulas come from the largest to the smallest.
        """
        try:
            tables = bitset.subformula_tables(formula, self._batch)
        except EvaluationLimitError:
            return
        for node in sorted(tops(formula), key=lambda node: -node.ast_nodes):
            variables, table = tables[id(node)]
            found = self._smaller(variables, table, to_shortest(node).ast_nodes)
            if found is not None:
                yield replaced(formula, node, to_working(to_renamed_apart(found, names_in(formula))))

    def _smaller(self, variables: tuple[Variable, ...], table: BoolArray, size: int) -> Formula | None:
        if table.all() or not table.any():
            return TRUE if table.all() else FALSE
        arity = len(variables)
        if not 1 <= arity <= 3:
            return None
        most = min(size - 1, _STORED_UP_TO[arity - 1])
        self._tables.build(arity, most)
        layer = self._tables.layer(arity)
        row = self._rows(table)
        nothing = np.zeros((0, len(row)), dtype=np.uint64)
        for index in kernels.find_accepted(
            layer.tables, layer.marks, 0, 0, layer.start(most + 1), row, layer.full, nothing, 0
        ).tolist():
            return self._tables.formula(arity, index, variables)
        return None

    def _rows(self, table: BoolArray) -> Words:
        """A table `bool[w, n, ...]` as the enumeration lays it out; see `enumeration.layout`."""
        rows = np.moveaxis(table[self._world_of_bit, self._object_of_bit], 0, -1)
        padded = np.zeros((*rows.shape[:-1], self._layout.words * WORD_BITS), dtype=np.uint8)
        padded[..., : rows.shape[-1]] = rows
        return np.ascontiguousarray(np.packbits(padded, axis=-1, bitorder="little").view(np.uint64).reshape(-1))
