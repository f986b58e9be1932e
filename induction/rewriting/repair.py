"""The nearest formulas that explain an instance: what one or two edits of a formula make of it, all looked at.

NOTE(neighbourhood): at distance 1 are the formulas that one edit makes (`edits.changes`, or an exchange everywhere).
At distance 2 are those that two edits make which go together (`edits` NOTE(pairs)), and, where all facts are known,
those in which one place F becomes H, (and F H) or (or F H): H one of the smallest formulas, up to `CLASS_NODES` AST
nodes, for each truth table over at most three of the variables in scope, in the fragment of the exact search. A
formula in which x is not free is no answer. All of this is gone through; of variants of a subformula that have the
same value everywhere in these worlds the smallest is followed up, which loses no answer's size. What is passed over
by whole places is what `Frame.within_reach` rules out: some label is wrong whatever stands there.
"""

import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from induction.budget import Budget, Meter, resident_bytes
from induction.enumeration.classes import SMALLEST, ClassTables
from induction.enumeration.layout import Fragment, Layout
from induction.errors import BudgetExhaustedError, FormulaTooLargeError
from induction.evaluation.verdict import Verdict
from induction.formula.metrics import free_variables
from induction.formula.syntax import FREE_VARIABLE, And, BinaryConnective, Formula, Or, to_sexpr
from induction.grounding.check import check
from induction.grounding.completion import has_completion
from induction.rewriting.edits import (
    KINDS,
    Path,
    Place,
    changes,
    exchanges_everywhere,
    rewrite,
    rewritten_place,
)
from induction.rewriting.variants import (
    Frame,
    Value,
    Variants,
    conjunction,
    connected,
    disjunction,
    packed,
)
from induction.worlds.instance import Instance, Regime

MAX_NODES = 200
"""Largest formula, in AST nodes, that is repaired."""

MAX_EDITS = 2
"""Largest distance that is gone through."""

CLASS_NODES = 10
"""Largest formula, in AST nodes, put in at one place as a second-distance edit."""

CLASS_KINDS = ("part-restricted", "part-extended", "part-rewritten")
"""The kinds of edit that put in a formula H larger than a literal: (and F H), (or F H), H. They count two."""

_WORDS_AT_ONCE = 2**21
_CLASSES_AT_ONCE = 4096
_CHECKED_AFTER_ALL = 10
_MOST_KEPT = 250_000  # of what may fit; the smallest are kept, and the others are told as undecided


class _OutOfWorkError(BudgetExhaustedError):
    """As many formulas were judged as allowed."""


class RepairOutcome(enum.StrEnum):
    """How a repair ended."""

    ALREADY_VALID = "already-valid"
    """The formula explains the instance as it is."""
    REPAIRED = "repaired"
    """There are answers, and none is nearer."""
    NONE_WITHIN = "none-within"
    """No formula of the neighbourhood explains the instance."""
    CUT_SHORT = "cut-short"
    """The budget ran out first; there may be answers, and nearer or smaller ones that were not looked at."""


@dataclass(frozen=True)
class Edit:
    """One edit by name: its kind, the path of its place in the formula before (child numbers), and what became what."""

    kind: str
    path: Path
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.before} -> {self.after}"


@dataclass(frozen=True)
class Repaired:
    """An answer: its edits, innermost first, and how far it is from the formula that was given."""

    formula: Formula
    distance: int
    edits: tuple[Edit, ...]
    verdict: Verdict


@dataclass(frozen=True)
class Closest:
    """Where nothing fits: the formula at distance 1 that mislabels fewest objects (a NO world matched counts one)."""

    formula: Formula
    edits: tuple[Edit, ...]
    wrong: int


@dataclass
class Coverage:
    """What of the neighbourhood was gone through: formulas judged, and of the steps of each distance how many."""

    judged: int = 0
    steps_done: dict[int, int] = field(default_factory=dict)
    steps: dict[int, int] = field(default_factory=dict)

    def is_whole(self, distance: int) -> bool:
        """Whether all formulas up to this distance were."""
        return all(self.steps_done.get(d, -1) == self.steps.get(d, 0) for d in range(1, distance + 1))

    def share(self, distance: int) -> float:
        """The share of the steps of a distance that are done."""
        return self.steps_done.get(distance, 0) / max(1, self.steps.get(distance, 0))


@dataclass(frozen=True)
class Repair:
    """What repairing a formula gave.

    `answers` are valid, confirmed by the reference evaluator, all at the least distance there is one, smallest first.
    `none_within` is the distance up to which no formula of the neighbourhood is valid, as far as proven.
    """

    formula: Formula
    instance_id: str
    outcome: RepairOutcome
    verdict: Verdict
    answers: tuple[Repaired, ...]
    none_within: int
    coverage: Coverage
    closest: Closest | None = None
    undecided: int = 0


def repair(
    formula: Formula,
    instance: Instance,
    *,
    edits: int = MAX_EDITS,
    answers: int = 5,
    budget: Budget | None = None,
    most_judged: int | None = None,
    class_nodes: int = CLASS_NODES,
    report: Callable[[int, int, int], None] = lambda _distance, _done, _steps: None,
) -> Repair:
    """The valid formulas nearest to `formula`, up to `edits` (1 or 2) away and up to `answers` of them.

    `report` is told the distance gone through, steps done and steps there are. `budget` limits time and memory,
    `most_judged`, the same on every machine, how many formulas are looked at. That one runs out is an outcome, not an
    error; nothing else depends on them.

    Raises:
        FormulaTooLargeError: a formula of more than `MAX_NODES`.
        EvaluationLimitError: tables beyond what can be gone through.
        BudgetExhaustedError: Z3 could not decide the formula itself (EC).
    """
    if not 1 <= edits <= MAX_EDITS:
        raise ValueError(f"repair goes through 1 or 2 edits, not {edits}")
    if formula.ast_nodes > MAX_NODES:
        raise FormulaTooLargeError(
            f"repair takes formulas of up to {MAX_NODES} AST nodes, not of {formula.ast_nodes:,}"
        )
    verdict = check(formula, instance)
    if verdict.valid:
        coverage = Coverage()
        return Repair(formula, instance.instance_id, RepairOutcome.ALREADY_VALID, verdict, (), 0, coverage)
    search = _Search(formula, instance, answers, class_nodes, (budget or Budget()).start(), most_judged, report)
    none_within, cut_short = 0, False
    try:
        for distance in range(1, edits + 1):
            search.go_through(distance)
            if search.answers:
                break
            if not search.undecided:
                none_within = distance
    except BudgetExhaustedError:
        cut_short = True
        search.settle(distance, after_all=True)
    found = search.answers
    if cut_short or search.undecided:
        outcome = RepairOutcome.CUT_SHORT
    else:
        outcome = RepairOutcome.REPAIRED if found else RepairOutcome.NONE_WITHIN
    return Repair(
        formula,
        instance.instance_id,
        outcome,
        verdict,
        tuple(found),
        none_within,
        search.coverage,
        None if found else search.closest(),
        search.undecided,
    )


@dataclass(frozen=True)
class _Hit:
    """A variant that fits or may: by how much it grows, its edits in `_Family.changes`, or a class put in."""

    added: int
    changes: tuple[int, ...]
    put_in: tuple[int, Place, Formula] | None = None


class _Family:
    """One formula whose edits are gone through: the one given, or it with two predicates exchanged throughout."""

    def __init__(self, formula: Formula, instance: Instance, before: tuple[Edit, ...]) -> None:
        self.formula = formula
        self.before = before
        self.instance = instance
        self.frame = Frame(formula, instance)
        self.changes = changes(formula, instance.signature)
        self.at: dict[Path, list[int]] = {}
        for number, change in enumerate(self.changes):
            self.at.setdefault(change.path, []).append(number)
        self._once: dict[Path, Variants] = {}

    def once(self, path: Path) -> Variants:
        """What one edit at `path` or inside makes of the subformula there."""
        if path not in self._once:
            self._once[path] = self.frame.joined(path, [self.rewritten(path), self._put_on(path)])
        return self._once[path]

    def rewritten(self, path: Path) -> Variants:
        """What one edit at `path` or inside makes of it, but for those that put something on it."""
        node = self.frame.places[path].node
        sets = [self._single(path, [n for n in self.at.get(path, []) if not self.changes[n].puts_on])]
        for number in range(len(node.children)):
            inner = self.once((*path, number))
            value = self.frame.one_up((*path, number), inner.value)
            sets.append(Variants(value, inner.added, inner.edits))
        return self.frame.joined(path, sets)

    def _put_on(self, path: Path) -> Variants:
        return self._single(path, [n for n in self.at.get(path, []) if self.changes[n].puts_on])

    def _single(self, path: Path, numbers: Sequence[int]) -> Variants:
        """The variants that these edits of the place itself make of it, nothing else changed."""
        frame, ndim = self.frame, 2 + len(self.frame.places[path].scope)
        planes: list[list[npt.NDArray[np.uint64]]] = []
        shape = (frame.worlds, *(frame.size for _ in range(ndim - 2)), 1)
        for number in numbers:
            change = self.changes[number]
            value = frame.made(change, [frame.base(part) for part in change.parts])
            planes.append([np.broadcast_to(plane, shape) for plane in value])
        added = np.array([self.changes[n].added_nodes for n in numbers], dtype=np.int64)
        edits = np.array(numbers, dtype=np.int64)
        if not numbers:
            nothing = tuple(np.zeros((*shape[:-1], 0), dtype=np.uint64) for _ in frame.base(path))
            return Variants(nothing, added, edits)
        value = tuple(
            packed(np.concatenate([one[i] for one in planes], axis=-1).astype(np.bool_)) for i in range(len(planes[0]))
        )
        return Variants(value, added, edits)


class _Search:
    """Goes through the neighbourhood of one formula and keeps what fits."""

    def __init__(
        self,
        formula: Formula,
        instance: Instance,
        wanted: int,
        class_nodes: int,
        meter: Meter,
        most_judged: int | None,
        report: Callable[[int, int, int], None],
    ) -> None:
        self.coverage = Coverage()
        self.answers: list[Repaired] = []
        self.undecided = 0
        self._instance = instance
        self._wanted = wanted
        self._class_nodes = class_nodes
        self._meter = meter
        self._most_judged = most_judged
        self._report = report
        self._family = _Family(formula, instance, ())
        self._everywhere: list[_Family] = []
        for said, exchanged in exchanges_everywhere(formula, instance.signature):
            edit = Edit("exchanged-everywhere", (), said, to_sexpr(exchanged))
            self._everywhere.append(_Family(exchanged, instance, (edit,)))
        self._hits: list[tuple[_Family, _Hit]] = []
        self._seen: set[Formula] = set()

    # --- the steps of a distance ---

    def go_through(self, distance: int) -> None:
        """Look at all formulas at `distance`; what fits becomes answers. Raises BudgetExhaustedError."""
        self._hits = []
        steps = list(self._steps(distance))
        self.coverage.steps[distance] = len(steps)
        self.coverage.steps_done[distance] = 0
        for step in steps:
            self._tick(distance)
            step()
            self.coverage.steps_done[distance] += 1
        self._tick(distance)
        self.settle(distance)

    def _tick(self, distance: int) -> None:
        self._report(distance, self.coverage.steps_done[distance], self.coverage.steps[distance])
        self._check()

    def _check(self) -> None:
        self._meter.check(resident_bytes())
        if self._most_judged is not None and self.coverage.judged > self._most_judged:
            raise _OutOfWorkError(f"{self._most_judged:,} formulas were judged")

    def _steps(self, distance: int) -> Iterator[Callable[[], None]]:
        if distance == 1:
            yield lambda: self._take_once(self._family)
            for family in self._everywhere:
                yield lambda family=family: self._take_as_it_is(family)  # type: ignore[misc]
            return
        for family in self._everywhere:
            yield lambda family=family: self._take_once(family)  # type: ignore[misc]
        for one, other in combinations(self._everywhere, 2):
            yield lambda one=one, other=other: self._take_both(one, other)  # type: ignore[misc]
        for path in self._family.frame.places:
            yield lambda path=path: self._edits_around(path)  # type: ignore[misc]
            yield lambda path=path: self._edits_beside(path)  # type: ignore[misc]
        if self._instance.regime is not Regime.EC:
            for path in self._family.frame.places:
                yield lambda path=path: self._classes_at(path)  # type: ignore[misc]

    def _take_as_it_is(self, family: _Family) -> None:
        self._judge(family, (), family.frame.base(()), np.zeros(1, np.int64), lambda _: ())

    def _take_both(self, one: _Family, other: _Family) -> None:
        names = other.before[0].before.split()
        for said, exchanged in exchanges_everywhere(one.formula, self._instance.signature):
            if said.split() == names:
                edit = Edit("exchanged-everywhere", (), said, to_sexpr(exchanged))
                self._take_as_it_is(_Family(exchanged, self._instance, (*one.before, edit)))

    def _take_once(self, family: _Family) -> None:
        """All that one edit makes of the formula."""
        once = family.once(())
        self._judge(family, (), once.value, once.added, lambda i: (int(once.edits[i]),))

    def _edits_around(self, path: Path) -> None:
        """All pairs of an edit at `path` and another in what it keeps."""
        family, frame = self._family, self._family.frame
        place = frame.places[path]
        rewritten = family.rewritten(path)
        with_literal: dict[type[Formula], list[int]] = {And: [], Or: []}
        for number in family.at.get(path, []):
            change = family.changes[number]
            if change.puts_on:
                if type(change.skeleton) in with_literal:
                    with_literal[type(change.skeleton)].append(number)
                    continue
                self._pairs_with(path, number, [rewritten.value], 0, rewritten)
                continue
            for hole, part in enumerate(change.parts):
                inner = family.once(part)
                values = [inner.value if other == hole else frame.base(at) for other, at in enumerate(change.parts)]
                self._pairs_with(path, number, values, hole, inner)
        for connective, numbers in with_literal.items():
            if not numbers or not rewritten.count:
                continue
            bounds = self._bounds_under(connective, rewritten.value)
            reachable = frame.within_reach(path, *bounds, rewritten.count)
            inner = rewritten.chosen(np.flatnonzero(reachable))
            kinds = [family.changes[number].skeleton for number in numbers]
            sets = [
                Variants(
                    frame.literal(kind.children[1], place.scope),
                    np.array([family.changes[number].added_nodes]),
                    np.array([number]),
                )
                for kind, number in zip(kinds, numbers, strict=True)
            ]
            beside = self._literals_joined(sets)
            self._products(path, connective, inner, beside)

    def _literals_joined(self, sets: Sequence[Variants]) -> Variants:
        """Literals as variants; of those with one value the smallest, where values can stand for each other."""
        frame = self._family.frame
        shape = np.broadcast_shapes(*(one.value[0].shape for one in sets))
        planes = [
            np.concatenate([np.broadcast_to(one.value[i], shape) for one in sets], axis=-1).astype(np.bool_)
            for i in range(len(sets[0].value))
        ]
        added = np.concatenate([one.added for one in sets])
        edits = np.concatenate([one.edits for one in sets])
        if frame.merges:
            order = np.lexsort((edits, added))
            rows = np.packbits(planes[0].reshape(-1, len(order))[:, order], axis=0).T.copy()
            keys = rows.view(np.dtype((np.void, rows.shape[1])))[:, 0]
            kept = order[np.sort(np.unique(keys, return_index=True)[1])]
            planes, added, edits = [planes[0][..., kept]], added[kept], edits[kept]
        return Variants(tuple(packed(plane) for plane in planes), added, edits)

    def _bounds_under(self, connective: type[Formula], value: Value) -> tuple[Value, Value]:
        """What `value` joined with something can be at least and at most."""
        nothing = tuple(np.zeros_like(plane) for plane in value)
        everything = tuple(~plane for plane in nothing)
        if connective is And:
            return nothing, value
        if connective is Or:
            return value, everything
        return nothing, everything

    def _pairs_with(self, path: Path, number: int, values: Sequence[Value], hole: int, inner: Variants) -> None:
        """An edit of the place, with each variant of one of its parts."""
        family = self._family
        change = family.changes[number]
        if not inner.count:
            return
        value = family.frame.made(change, values)
        self._judge(family, path, value, inner.added + change.added_nodes, lambda i: (number, int(inner.edits[i])))

    def _edits_beside(self, path: Path) -> None:
        """All pairs of edits in different operands of the connective at `path`."""
        family, frame = self._family, self._family.frame
        node = frame.places[path].node
        if not isinstance(node, BinaryConnective):
            return
        operands = []
        for number in (0, 1):
            once = family.once((*path, number))
            if not once.count:
                return
            nothing = tuple(np.zeros_like(plane) for plane in once.value)
            everything = tuple(~plane for plane in nothing)
            ends = [frame.joined_values(path, number, once.value, other) for other in (nothing, everything)]
            low, high = conjunction(*ends), disjunction(*ends)
            operands.append(once.chosen(np.flatnonzero(frame.within_reach(path, low, high, once.count))))
        self._products(path, type(node), operands[0], operands[1])

    def _products(self, path: Path, connective: type[Formula], left: Variants, right: Variants) -> None:
        """Each variant of the left operand with each of the right, at `path`."""
        family = self._family
        if not left.count or not right.count:
            return
        swapped = right.count < left.count
        few, many = (right, left) if swapped else (left, right)
        cells = max(plane[..., 0].size for plane in (*many.value, *few.value))
        words = many.value[0].shape[-1]
        spread = few.each_a_word()
        step = max(1, _WORDS_AT_ONCE // (cells * words))
        for start in range(0, few.count, step):
            self._check()
            stop = min(start + step, few.count)
            first = tuple(plane[..., start:stop, None] for plane in spread)
            second = tuple(plane[..., None, :] for plane in many.value)
            value = connected(connective, second, first) if swapped else connected(connective, first, second)
            flat = tuple(plane.reshape(*plane.shape[:-2], -1) for plane in value)
            width = 64 * words

            def pair(i: int, start: int = start, width: int = width) -> tuple[int, int]:
                return int(few.edits[start + i // width]), int(many.edits[i % width])

            added = np.full((stop - start, width), np.iinfo(np.int64).max)
            added[:, : many.count] = few.added[start:stop, None] + many.added[None, :]
            self._judge(family, path, flat, added.reshape(-1), pair, real=(stop - start) * many.count)

    def _classes_at(self, path: Path) -> None:
        """All formulas H in place of the subformula at `path`, or beside it."""
        family, frame = self._family, self._family.frame
        place = frame.places[path]
        if not place.takes_literals or self._class_nodes < SMALLEST:
            return
        node_value = frame.base(path)
        ways = []
        for way, connective in enumerate((And, Or, None)):
            if connective is None and not path:
                continue  # a formula that shares nothing with the one given is no repair of it
            low, high = self._bounds_under(connective or type(None), node_value)  # type: ignore[arg-type]
            if frame.within_reach(path, low, high, 1)[0]:
                ways.append((way, connective))
        if not ways:
            return
        for variables in _chosen_variables(place):
            for value, sizes, first in self._classes.over(variables, place.scope):
                for way, connective in ways:
                    self._check()
                    if connective is None:
                        whole, added = value, sizes - place.node.ast_nodes
                    else:
                        join = conjunction if connective is And else disjunction
                        whole, added = join(node_value, value), sizes + 1
                    self._judge(
                        family,
                        path,
                        whole,
                        added,
                        lambda i, way=way, first=first, variables=variables: (  # type: ignore[misc]
                            way,
                            first + i,
                            variables,
                        ),
                        classes=True,
                    )

    @property
    def _classes(self) -> "_Classes":
        if not hasattr(self, "_class_values"):
            self._class_values = _Classes(self._instance, self._class_nodes, self._family.frame.size, self._check)
        return self._class_values

    # --- what fits ---

    def _judge(
        self,
        family: _Family,
        path: Path,
        value: Value,
        added: npt.NDArray[np.int64],
        edits_of: Callable[[int], tuple[Any, ...]],
        *,
        real: int | None = None,
        classes: bool = False,
    ) -> None:
        """Keep those of the variants at `path` that make the whole formula fit."""
        count = len(added)
        self.coverage.judged += count if real is None else real
        fitting = family.frame.fitting(family.frame.at_root(path, value), count)
        fitting &= added != np.iinfo(np.int64).max
        for i in np.flatnonzero(fitting).tolist():
            edits = edits_of(i)
            if classes:
                way, index, variables = edits
                formula = self._classes.formula(index, variables)
                hit = _Hit(int(added[i]), (), (way, family.frame.places[path], formula))
            else:
                hit = _Hit(int(added[i]), edits)
            self._hits.append((family, hit))
        if len(self._hits) > 2 * _MOST_KEPT:
            self._hits.sort(key=lambda item: (item[1].added, self._rank(*item)))
            self.undecided += len(self._hits) - _MOST_KEPT
            del self._hits[_MOST_KEPT:]

    def settle(self, distance: int, *, after_all: bool = False) -> None:
        """Make answers of what was kept, smallest first, each re-checked; at most as many as are wanted.

        With `after_all`, when the budget has run out, only some are looked at where that takes long (EC).
        """
        self._hits.sort(key=lambda item: (item[1].added, self._rank(*item)), reverse=True)
        in_ec = self._instance.regime is Regime.EC
        if after_all and in_ec:
            del self._hits[:-_CHECKED_AFTER_ALL]
        while self._hits and len(self.answers) < self._wanted:
            if in_ec and not after_all:
                self._check()
            formula, edits = self._told(*self._hits.pop())
            if formula in self._seen or free_variables(formula) != {FREE_VARIABLE}:
                continue
            self._seen.add(formula)
            try:
                if in_ec and not all(has_completion(formula, world) for world in self._instance.train_worlds):
                    continue
                verdict = check(formula, self._instance, use_reference=True)
            except BudgetExhaustedError:
                self.undecided += 1
                continue
            if verdict.valid:
                self.answers.append(Repaired(formula, distance, edits, verdict))
            elif not in_ec:
                raise AssertionError(f"{formula} does not fit {self._instance.instance_id} after all")
        self._hits = []

    def _rank(self, family: _Family, hit: _Hit) -> tuple[Any, ...]:
        if hit.put_in is not None:
            way, place, formula = hit.put_in
            return (len(KINDS) * 2, way, place.path, to_sexpr(formula))
        kinds = sorted(KINDS.index(family.changes[number].kind) for number in hit.changes)
        if family.before:
            kinds.append(KINDS.index("exchanged-everywhere"))
        return (sum(kinds), kinds, hit.changes)

    def _told(self, family: _Family, hit: _Hit) -> tuple[Formula, tuple[Edit, ...]]:
        if hit.put_in is not None:
            way, place, formula = hit.put_in
            after = (And(place.node, formula), Or(place.node, formula), formula)[way]
            edit = Edit(CLASS_KINDS[way], place.path, to_sexpr(place.node), to_sexpr(after))
            return _with_subformula(family.formula, place.path, after), (edit,)
        chosen = [family.changes[number] for number in hit.changes]
        edits = tuple(
            Edit(change.kind, change.path, to_sexpr(change.place.node), to_sexpr(rewritten_place(change)))
            for change in sorted(chosen, key=lambda change: (-len(change.path), change.path))
        )
        return rewrite(family.formula, chosen), (*family.before, *edits)

    def closest(self) -> Closest | None:
        """The formula at distance 1 that is wrong least often, if less than the one given; None in EC."""
        if self._instance.regime is Regime.EC or not self.coverage.is_whole(1):
            return None
        family = self._family
        once, own = family.once(()), int(family.frame.count_wrong(family.frame.base(()), 1)[0])
        if not once.count:
            return None
        wrong = family.frame.count_wrong(once.value, once.count)
        for i in np.lexsort((once.edits, once.added, wrong)).tolist():
            if wrong[i] >= own:
                return None
            formula, edits = self._told(family, _Hit(int(once.added[i]), (int(once.edits[i]),)))
            if free_variables(formula) == {FREE_VARIABLE}:
                return Closest(formula, edits, int(wrong[i]))
        return None


class _Classes:
    """The smallest formula for each truth table up to a size, as variants."""

    def __init__(self, instance: Instance, most_nodes: int, size: int, tick: Callable[[], None]) -> None:
        layout = Layout((*instance.train_worlds, *instance.no_worlds))
        assert layout.size == size
        self._layout = layout
        self._most_nodes = most_nodes
        self._tables = ClassTables(layout, Fragment(), tick=tick)
        self._chunks: dict[int, list[tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], int]]] = {}

    def over(
        self, variables: tuple[str, ...], scope: Sequence[str]
    ) -> Iterator[tuple[Value, npt.NDArray[np.int64], int]]:
        """Values in `scope` of the classes over `variables`, their sizes, and the first's number, chunk by chunk."""
        latest = {variable: number for number, variable in enumerate(scope)}
        axes = [latest[variable] for variable in variables]
        for plane, sizes, first in self._of_arity(len(variables)):
            order = np.argsort(axes)
            moved = np.moveaxis(plane, [1 + int(i) for i in order], range(1, 1 + len(axes)))
            shape = (plane.shape[0], *(self._layout.size if i in axes else 1 for i in range(len(scope))), -1)
            yield (moved.reshape(shape),), sizes, first

    def formula(self, index: int, variables: tuple[str, ...]) -> Formula:
        """The formula of a class."""
        return self._tables.formula(len(variables), index, variables)

    def _of_arity(self, arity: int) -> list[tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], int]]:
        if arity not in self._chunks:
            self._tables.build(arity, self._most_nodes)
            layer, layout = self._tables.layer(arity), self._layout
            sizes = np.repeat(
                np.arange(SMALLEST, self._most_nodes + 1),
                [layer.count_of_size(s) for s in range(SMALLEST, self._most_nodes + 1)],
            )
            chunks = []
            for start in range(0, len(sizes), _CLASSES_AT_ONCE):
                tables = layer.tables[start : min(start + _CLASSES_AT_ONCE, len(sizes))]
                bits = np.unpackbits(tables.view(np.uint8), axis=1, bitorder="little")
                bits = bits.reshape(len(tables), *(layout.size,) * (arity - 1), layout.words * 64)
                by_world = bits[..., layout.sources]  # [class, (y, (z,)) world, x]
                plane = np.moveaxis(by_world, (-2, -1), (0, 1))  # [world, x, class, (y, (z))]
                plane = np.moveaxis(plane, 2, -1)
                chunks.append((packed(plane.astype(np.bool_)), sizes[start : start + len(tables)], start))
            self._chunks[arity] = chunks
        return self._chunks[arity]


def _chosen_variables(place: Place) -> list[tuple[str, ...]]:
    """The sets of variables that a formula put in at the place may have free: up to three of those in scope."""
    visible = place.visible
    return list(combinations(visible, min(3, len(visible))))


def _with_subformula(formula: Formula, path: Path, by: Formula) -> Formula:
    if not path:
        return by
    children = list(formula.children)
    children[path[0]] = _with_subformula(children[path[0]], path[1:], by)
    return formula.with_children(*children)
