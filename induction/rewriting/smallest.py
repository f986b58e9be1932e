"""The smallest formula of a fragment that keeps a promise, with proof that there is no smaller one.

All formulas of the fragment are gone through by AST size, as told apart by the promise's worlds (`enumeration`). What
agrees there with the formula given is proven to be the same, and is the answer, or is told apart from it by a world,
which is taken in; then that size is gone through anew.

NOTE(representatives): the enumeration keeps one formula of each class, a class being what the worlds so far do not tell
apart, so most formulas are never seen. Still none is missed. A formula that is the same as the one given agrees with it
on all worlds, old and new. Its parts may each be exchanged for the kept formula of their class, which is no larger, and
the whole goes on agreeing on the worlds so far. So if any formula of AST size s is the same, some formula of size s or
less that is gone through agrees on the worlds so far (a part that is constant on them has no class: without it the
formula is smaller and agrees as well); and where nothing gone through up to size s agrees, nothing of
size s or less is the same. A kept formula that agrees but is refuted by a new world may have stood for one that is the
same; therefore its size is gone through again with classes built anew over all worlds, and the bound is not raised
before that. A kept formula that agrees and is neither proven nor refuted stops the bound for good.

NOTE(predicates): for a promise about all worlds, only the predicates of the formula given are needed. In a formula that
is the same, let a predicate that the other lacks hold of everything: it stays the same. Folding the constants that
this brings makes it smaller, unless nothing else is left, and then it is a constant and treated as one.

NOTE(constants): formulas that hold of everything, or of nothing, on all worlds have no class. If the one given is such
a one, there is an answer of at most 4 nodes where `=` may be used, and everything so small is a literal or says
nothing of x; all literals of x are tried.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from induction.enumeration.classes import SMALLEST, ClassTables
from induction.enumeration.fitting import Fitter, Question, fitting_by_size
from induction.enumeration.layout import Fragment, Layout
from induction.evaluation import bitset
from induction.formula.metrics import free_variables, quantifier_depth
from induction.formula.syntax import (
    FREE_VARIABLE,
    And,
    Atom,
    Equal,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Quantified,
    Signature,
    Variable,
    fold,
    subformulas,
    to_sexpr,
)
from induction.grounding.equivalence import Sameness
from induction.rewriting.promises import Promise, probe_worlds
from induction.worlds.world import BoolArray, World

_LEAST_UNTRIED = 5  # see NOTE(constants)


@dataclass(frozen=True)
class Effort:
    """How far a search is: the AST size it works on, classes and bytes held, pairs of formulas combined in all."""

    ast_size: int
    classes: int
    bytes: int
    pairs: int


class SmallestSearch:
    """The search for the smallest formula of a fragment that is the same as `formula`, sizes up to `most`.

    After `run`, or whenever `check` has raised to stop it: `best` is the smallest found that is proven the same (None
    if none is), `none_below` the AST size below which no formula of the fragment is the same, proven; `undecided` are
    formulas that agree as far as was looked, in all worlds of up to `agree_up_to` objects; `worlds_added` counts what
    told formulas apart beside the promise's worlds. Where the promise keeps x free, only such formulas count.
    """

    def __init__(
        self,
        formula: Formula,
        promise: Promise,
        fragment: Fragment,
        most: int,
        check: Callable[[Effort], None] = lambda effort: None,
    ) -> None:
        self._formula = formula
        self._promise = promise
        self._fragment = fragment
        self._most = most
        self._check = check
        self._needs_x = promise.keeps_x
        self._worlds: list[World] = list(promise.worlds)
        self._asked = len(self._worlds)
        self._free_worlds: list[World] = []
        self._pairs_before = 0
        self._size = SMALLEST
        self._is_open = True  # whether the bound still rises
        self.best: Formula | None = None
        self.none_below = SMALLEST
        self.undecided: list[Formula] = []
        self.agree_up_to = 0
        self._fitter: Fitter | None = None
        self._tables: ClassTables | None = None

    @property
    def worlds_added(self) -> int:
        """Worlds taken in beside the promise's own."""
        return len(self._worlds) - self._asked

    def run(self) -> None:
        """Search until the answer is proven smallest, or nothing up to the largest size is left."""
        while self.best is None and self._size <= self._most:
            (rows,) = bitset.extensions([self._formula], self._worlds)
            target = np.concatenate(rows)
            if target.all() or not target.any():
                if self._constant(bool(target.all())):
                    return
                continue
            if self._needs_x and not self._free_worlds and self._are_alike(target):
                # Formulas without x can agree here, and would stand for those with x that do; worlds on which
                # anything may hold keep these apart.
                self._free_worlds = list(probe_worlds(self._promise.signature))
            if not self._pass(target):
                return

    def _are_alike(self, target: BoolArray) -> bool:
        """Whether in each world all objects have one value."""
        rest = target
        for world in self._worlds:
            if len(set(rest[: world.size].tolist())) > 1:
                return False
            rest = rest[world.size :]
        return True

    def _pass(self, target: BoolArray) -> bool:
        """Go through sizes from the present one on; whether to begin anew at it, with more worlds."""
        layout = Layout([*self._worlds, *self._free_worlds])
        tables = ClassTables(layout, self._fragment, tick=self._tick)
        fitter = Fitter(tables, tick=self._tick)
        self._pairs_before += 0 if self._fitter is None else self._fitter.pairs_tried
        self._tables, self._fitter = tables, fitter
        masks = layout.world_masks
        care = np.bitwise_or.reduce(masks[: len(self._worlds)], axis=0).astype(np.uint64)
        bits = np.concatenate([target, np.zeros(layout.bits - len(target), dtype=np.bool_)])
        question = Question(layout.row(bits), care, np.ascontiguousarray(masks[:0]))
        first = max(SMALLEST, self._size - 1)  # negations of one size come from what is found at the one before
        for size, hits in fitting_by_size(fitter, question, layout.full, range(first, self._most + 1)):
            if size < self._size:
                continue
            self._size = size
            self._tick()
            if self._judge(hits):
                return True
            if self.best is not None:
                return False
            if self._is_open:
                self.none_below = size + 1
        self._size = self._most + 1
        return False

    def _judge(self, hits: Sequence[Formula]) -> bool:
        """Decide which of the formulas that agree are the same; whether worlds came up that tell some apart."""
        wanted = [f for f in hits if not self._needs_x or free_variables(f) == {FREE_VARIABLE}]
        if len(wanted) < len(hits):
            self._is_open = False  # a sentence may stand for formulas with x; see `run`
        wanted.sort(key=lambda formula: (_body_sizes(formula), to_sexpr(formula)))
        refuted = False
        undecided: list[Formula] = []
        while wanted:
            formula = wanted.pop(0)
            self._tick()
            decision = self._promise.decide(self._formula, formula)
            match decision.sameness:
                case Sameness.EQUIVALENT:
                    self.best = formula
                    if self._is_open:
                        self.none_below = formula.ast_nodes
                    return False
                case Sameness.DIFFERENT:
                    assert decision.world is not None
                    refuted = True
                    self._worlds.append(decision.world)
                    ours, *others = bitset.extensions([self._formula, *wanted], [decision.world])
                    wanted = [f for f, row in zip(wanted, others, strict=True) if (row[0] == ours[0]).all()]
                case Sameness.UNDECIDED:
                    undecided.append(formula)
                    self.agree_up_to = decision.agree_up_to
        if refuted:
            return True
        if undecided:
            self._is_open = False
            self.undecided += undecided
        return False

    def _constant(self, holds: bool) -> bool:
        """The answer for a formula with one value on all worlds; False if a world now shows that it has two."""
        always: Formula = Equal(FREE_VARIABLE, FREE_VARIABLE)
        constant = always if holds else Not(always)
        decision = self._promise.decide(self._formula, constant)
        if decision.sameness is Sameness.DIFFERENT:
            assert decision.world is not None
            self._worlds.append(decision.world)
            return False
        if decision.sameness is Sameness.UNDECIDED:
            if self._fragment.equality:
                self.undecided.append(constant)
                self.agree_up_to = decision.agree_up_to
            return True
        atoms = atoms_of_x(self._promise.signature, equality=self._fragment.equality)
        candidates = sorted([*atoms, *map(Not, atoms)], key=lambda literal: literal.ast_nodes)
        candidates += [(Or if holds else And)(atom, Not(atom)) for atom in atoms[:1]]
        for candidate in candidates:
            if self._promise.decide(self._formula, candidate).sameness is Sameness.EQUIVALENT:
                self.best = candidate
                # Of what is larger than a literal, not all is tried. In all worlds it could not be constant either: an
                # atom alone can be made true or false, and so can two that are both plain.
                tried = candidate.ast_nodes < _LEAST_UNTRIED or not self._needs_x
                self.none_below = candidate.ast_nodes if tried else _LEAST_UNTRIED
                return True
        return True

    def _tick(self) -> None:
        tables, fitter = self._tables, self._fitter
        if tables is None or fitter is None:
            return
        classes = sum(layer.count for layer in tables.layers)
        pairs = self._pairs_before + fitter.pairs_tried
        self._check(Effort(self._size, classes, tables.bytes + fitter.bytes, pairs))


def atoms_of_x(signature: Signature, *, equality: bool) -> list[Formula]:
    """The atoms in which x is the only variable."""
    atoms: list[Formula] = [Atom(name, (FREE_VARIABLE,)) for name in signature.unary]
    atoms += [Atom(name, (FREE_VARIABLE, FREE_VARIABLE)) for name in signature.binary]
    return atoms + ([Equal(FREE_VARIABLE, FREE_VARIABLE)] if equality else [])


def _body_sizes(formula: Formula) -> int:
    return sum(node.body.ast_nodes for node in subformulas(formula) if isinstance(node, Quantified))


def is_within(formula: Formula, fragment: Fragment) -> bool:
    """Whether the formula is of the fragment but for the names of its bound variables.

    With k names a formula can be written just if no subformula has more than k free variables: a name that is bound
    again is one that the scope does not need.
    """
    if any(isinstance(node, Implies | Iff) for node in subformulas(formula)):
        return False
    if not fragment.equality and any(isinstance(node, Equal) for node in subformulas(formula)):
        return False
    return quantifier_depth(formula) <= fragment.depth and width(formula) <= fragment.variables


def width(formula: Formula) -> int:
    """The most free variables of a subformula, x counted where a quantifier would need a name beside it."""
    widest = 1

    def combine(node: Formula, *scopes: frozenset[Variable]) -> frozenset[Variable]:
        nonlocal widest
        match node:
            case Atom(_, names) | Equal(label=names):
                scope = frozenset(names)
            case Quantified(variable, _):
                widest = max(widest, len(scopes[0] | {variable}))
                scope = scopes[0] - {variable}
            case _:
                scope = frozenset().union(*scopes)
        widest = max(widest, len(scope))
        return scope

    fold(formula, combine)
    return widest
