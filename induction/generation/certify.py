"""Certificates: that an instance has one answer up to a size, by going through all formulas of that size.

All formulas of the fragment up to the gold's AST size (and a margin) are enumerated over the instance's worlds and
beside them over probes: more worlds of the recipe, whose labels no formula has to match, and some small varied ones.
NOTE(probes): formulas are told apart by what they and their parts say on all these worlds. So every formula up to that
size that fits agrees on all of them with one that is enumerated; where all enumerated ones agree with the gold on the
probes, so does every formula that fits. Probes on which one does not are taken in as worlds to match, until none is
left. What fits then is compared with the gold itself. Proven equivalent, or to agree wherever labels are mixed and
objects have the recipe's numbers of successors, it may stay; else a world is made that tells it from the gold, out of
a random one with some atoms left open, and taken in too. Where no such world is found the formula is said to agree on
sampled worlds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from induction.enumeration.classes import SMALLEST, ClassTables
from induction.enumeration.fitting import Fitter, Question, fitting_by_size
from induction.enumeration.layout import Fragment, Layout
from induction.errors import BudgetExhaustedError
from induction.evaluation import bitset
from induction.evaluation.verdict import check
from induction.formula.metrics import free_variables
from induction.formula.normal_forms import to_renamed_apart
from induction.formula.syntax import (
    FREE_VARIABLE,
    And,
    Atom,
    Equal,
    Exists,
    ForAll,
    Formula,
    Iff,
    Not,
    Or,
    conjunction_of,
    to_sexpr,
)
from induction.generation.recipes import Recipe
from induction.generation.refusals import NoWorldsError
from induction.generation.worlds import WorldSource
from induction.grounding.circuit import Circuit
from induction.grounding.equivalence import Comparer, Sameness
from induction.grounding.ground import ground
from induction.grounding.z3_backend import DemandSolver, is_satisfiable
from induction.worlds.instance import Instance
from induction.worlds.sampling import sample_world
from induction.worlds.world import World

FRAGMENT = Fragment(variables=3, depth=3, equality=True)
"""The formulas that certificates speak of."""

MOST_BYTES = 1_600_000_000
MOST_PAIRS = 60_000_000
"""Work that one certificate may take: bytes of tables held and pairs tried. Some ten seconds."""

_STATUSES = (
    ("unique as sampled", "sampled"),
    ("unique on the recipe", "on the recipe's worlds"),
    ("unique", "equivalent"),
)
_PROBES = 14
_SMALL_PROBES = 12
_FRESH_WORLDS = 200
_MOST_HITS = 2_000
_PROOF_LIMIT = 2_000_000
_OPEN_SHARES = (0.15, 0.15, 0.3, 0.3, 0.3, 0.5, 0.5, 0.7, 0.7, 1.0, 1.0)


class _OpenError(BudgetExhaustedError):
    """No certificate comes about; the text says why."""


@dataclass(frozen=True)
class Survivor:
    """A formula that fits, and why it counts as the gold's equal.

    `evidence` is "equivalent" (proven), "on the recipe's worlds" (proven to agree there) or "sampled".
    """

    formula: Formula
    evidence: str


@dataclass(frozen=True)
class Certificate:
    """What is known about the formulas of AST size `up_to` at most that fit an instance.

    `status` is "unique" (all that fit are equivalent to the gold), "unique on the recipe" (all are proven to agree with
    it there), "unique as sampled" (some agree with it on sampled worlds) or "open", with the `reason`. `survivors`
    holds what fits, smallest first; `probes` counts the worlds that told formulas apart beside the instance's own.
    """

    status: str
    up_to: int
    probes: int
    survivors: tuple[Survivor, ...] = ()
    worlds_added: int = 0
    reason: str = ""

    @property
    def smallest(self) -> Survivor | None:
        """The smallest formula that is proven to be the gold's equal; None without a result."""
        return next((survivor for survivor in self.survivors if survivor.evidence != "sampled"), None)

    def to_record(self, gold: Formula) -> dict[str, Any]:
        """The certificate as it stands in an instance's record."""
        evidence = [survivor.evidence for survivor in self.survivors]
        record: dict[str, Any] = {
            "status": self.status,
            "fragment": str(FRAGMENT),
            "upToAst": self.up_to,
            "margin": self.up_to - gold.ast_nodes,
            "probeWorlds": self.probes,
            "worldsAdded": self.worlds_added,
            "goldEquals": len(self.survivors),
            "goldEqualsByEvidence": {kind: evidence.count(kind) for kind in dict.fromkeys(evidence)},
        }
        if self.smallest is not None:
            record["smallest"] = {
                "formula": to_sexpr(self.smallest.formula),
                "astSize": self.smallest.formula.ast_nodes,
                "evidence": self.smallest.evidence,
            }
        if self.reason:
            record["reason"] = self.reason
        return record


def certify(
    instance: Instance,
    recipe: Recipe,
    source: WorldSource,
    comparer: Comparer,
    *,
    margin: int,
    most_worlds: int,
    avoid: Sequence[Formula] = (),
) -> tuple[Instance, Certificate]:
    """`instance`, with worlds added until one answer is left, and the certificate.

    At most `most_worlds` worlds to match are used. Worlds that are added agree with the gold on each of `avoid` where
    such worlds are found, so that formulas which other worlds refute go on fitting these.
    """
    gold = instance.gold
    if gold is None:
        raise ValueError(f"{instance.instance_id} has no gold to certify")
    up_to = gold.ast_nodes + margin
    try:
        probes = source.draw(_PROBES, lambda world: _agree(world, avoid))
        avoided = avoid
    except NoWorldsError:
        probes, avoided = source.draw(_PROBES), ()
    sweep = _Sweep(instance, probes, up_to, most_worlds)
    reason = ""
    try:
        sweep.run()
    except _OpenError as error:
        reason = str(error)
    grown = sweep.grown_instance()
    added = len(grown.train_ids) - len(instance.train_ids)
    if reason:
        return grown, Certificate("open", up_to, sweep.probes, worlds_added=added, reason=reason)
    fresh = source.draw(_FRESH_WORLDS)
    survivors: list[Survivor] = []
    for formula in sweep.fitting():
        if not check(formula, grown).valid:
            continue  # refuted by a world that was taken in for another
        evidence = _evidence(formula, gold, recipe, comparer)
        if evidence is None:
            differing = next(
                (world for world in fresh if not _agree(world, [formula]) and _agree(world, avoided)),
                next((world for world in fresh if not _agree(world, [formula])), None),
            )
            if differing is None and not recipe.out_degree:
                differing = _made_to_differ(formula, gold, source, avoided)
            if differing is not None and len(grown.train_ids) < most_worlds:
                grown = with_world(grown, differing)
                source.taken.append(differing)
                added += 1
                continue
            if differing is not None:
                reason = f"{most_worlds} worlds leave a formula that is not the gold's equal"
                return grown, Certificate("open", up_to, sweep.probes, worlds_added=added, reason=reason)
            evidence = "sampled"
        survivors.append(Survivor(to_renamed_apart(formula, instance.signature), evidence))
    survivors = [survivor for survivor in survivors if check(survivor.formula, grown, use_reference=True).valid]
    if not survivors:
        raise AssertionError(f"{instance.instance_id}: not even the gold {gold} is among what fits")
    evidence_found = {survivor.evidence for survivor in survivors}
    status = next(name for name, kind in _STATUSES if kind in evidence_found)
    return grown, Certificate(status, up_to, sweep.probes, tuple(survivors), added)


def with_world(instance: Instance, world: World) -> Instance:
    """`instance` with one more world to match, named after those it has."""
    stem = instance.train_ids[0].rsplit("_", 1)[0]
    named = replace(world, name=f"{stem}_{len(instance.train_ids)}")
    train = (*instance.train_worlds, named)
    return replace(
        instance,
        worlds=(*train, *instance.no_worlds),
        train_ids=tuple(one.name for one in train),
    )


def _agree(world: World, formulas: Sequence[Formula]) -> bool:
    """Whether all formulas have the world's labels for extension."""
    if not formulas:
        return True
    return all((table == world.target).all() for (table,) in bitset.extensions(list(formulas), [world]))


def _evidence(formula: Formula, gold: Formula, recipe: Recipe, comparer: Comparer) -> str | None:
    """What proves that a formula that fits is the gold's equal; None if nothing does."""
    if comparer.compare(formula, gold).sameness is Sameness.EQUIVALENT:
        return "equivalent"
    if _equal_on_recipe(formula, gold, recipe):
        return "on the recipe's worlds"
    return None


def _made_to_differ(formula: Formula, gold: Formula, source: WorldSource, avoid: Sequence[Formula]) -> World | None:
    """A world on which the two differ, made from random ones by letting a share of the atoms fall as it must.

    One on which the gold agrees with all of `avoid` is preferred.
    """
    second_best: World | None = None
    difference = Not(Iff(formula, gold))
    for share in _OPEN_SHARES:
        world = source.draw_raw()
        unknown = {name: source.rng.random(table.shape) < share for name, table in world.true.items()}
        open_world = replace(
            world, true={name: table & ~unknown[name] for name, table in world.true.items()}, unknown=unknown
        )
        circuit = Circuit()
        literals = ground(difference, open_world, circuit).tolist()
        solver = DemandSolver(circuit, literals, _PROOF_LIMIT)
        for element in range(world.size):
            try:
                atoms = solver.meet([element])
            except BudgetExhaustedError:
                continue
            if atoms is None:
                continue
            # Open atoms that do not matter keep what they had.
            named = set(circuit.inputs)
            values = {name: table.copy() for name, table in world.true.items()}
            for predicate, places in named:
                values[predicate][places] = (predicate, places) in atoms
            made = source.take(replace(world, true=values))
            if made is not None and not _agree(made, [formula]):
                if _agree(made, avoid):
                    return made
                second_best = second_best or made
    return second_best


def _equal_on_recipe(formula: Formula, gold: Formula, recipe: Recipe) -> bool:
    """Whether it is proven that the two agree in all worlds that a recipe can give.

    What is used of the recipe: labels are mixed where it bounds their share, and objects have its out-degrees.
    """
    axioms = [_exact_degree(name, degree) for name, degree in recipe.out_degree.items()]
    if recipe.label_share[0] > 0:
        axioms.append(Exists(FREE_VARIABLE, gold))
    if recipe.label_share[1] < 1:
        axioms.append(Exists(FREE_VARIABLE, Not(gold)))
    differ = Or(And(formula, Not(gold)), And(gold, Not(formula)))
    try:
        return not is_satisfiable(conjunction_of([*axioms, differ]), _PROOF_LIMIT)
    except BudgetExhaustedError:
        return False


def _exact_degree(name: str, degree: int) -> Formula:
    """Every object has exactly `degree` successors."""
    successors = [f"s{i}" for i in range(degree)]
    is_one = [Equal("t", successor) for successor in successors]
    only: Formula = Not(Atom(name, ("o", "t")))
    for equal in is_one:
        only = Or(equal, only)
    body: Formula = ForAll("t", only)
    for i, successor in enumerate(successors):
        body = And(Atom(name, ("o", successor)), body)
        for other in successors[:i]:
            body = And(Not(Equal(successor, other)), body)
    for successor in reversed(successors):
        body = Exists(successor, body)
    return ForAll("o", body)


class _Sweep:
    """The pass through all sizes: takes in probes until what fits agrees with the gold on all of them."""

    def __init__(self, instance: Instance, probes: Sequence[World], up_to: int, most_worlds: int) -> None:
        self._instance = instance
        self._probes = list(probes)
        self._up_to = up_to
        self._most_worlds = most_worlds
        self._chosen: list[int] = []  # of the probes, those to match
        rng = np.random.default_rng(0)
        small = [
            sample_world(rng, 2 + i % 3, signature=instance.signature, density=(0.2, 0.5, 0.8)[i // 3 % 3])
            for i in range(_SMALL_PROBES)
        ]
        self._own = len(instance.train_worlds)
        self._others = len(instance.no_worlds)
        self._layout = Layout([*instance.train_worlds, *instance.no_worlds, *self._probes, *small])
        self._tables = ClassTables(self._layout, FRAGMENT, tick=self._tick)
        self._fitter = Fitter(self._tables, most_hits=_MOST_HITS, tick=self._tick)
        self._fitting: list[Formula] = []
        self.probes = len(probes) + len(small)
        self.size = SMALLEST

    def _tick(self) -> None:
        held = self._tables.bytes + self._fitter.bytes
        if held > MOST_BYTES or self._fitter.pairs_tried > MOST_PAIRS:
            raise _OpenError(f"the work allowed ended before AST {self.size} was gone through")

    def _question(self) -> Question:
        masks = self._layout.world_masks
        first_probe = self._own + self._others
        matched = [*range(self._own), *(first_probe + i for i in self._chosen)]
        care = np.bitwise_or.reduce(masks[matched], axis=0)
        # NO worlds are not asked for: what fits the worlds to match alone is to be the gold's equal already.
        return Question(self._layout.target(), care, masks[:0])

    def run(self) -> None:
        """Go through all sizes.

        Raises:
            _OpenError: more than the worlds or the work allowed would be needed.
        """
        while self.size <= self._up_to:
            before = len(self._chosen)
            for size, hits in self._from(self.size):
                self.size = size
                found = [formula for formula in hits if free_variables(formula) == {FREE_VARIABLE}]
                self._take_in(found)
                if len(self._chosen) > before:
                    break  # this size once more, under the stricter question
                if len(hits) >= _MOST_HITS:  # one kind of them may have been cut short
                    raise _OpenError(f"{len(hits):,} formulas of AST {size} are the gold's equal so far, too many")
                self._fitting += found
                self._tick()
            else:
                return

    def _from(self, size: int) -> Iterator[tuple[int, list[Formula]]]:
        """Sizes from `size` on with what fits of each."""
        # One size earlier, since negations of one size come from what is found at the one before.
        sizes = range(max(SMALLEST, size - 1), self._up_to + 1)
        for found_size, hits in fitting_by_size(self._fitter, self._question(), self._layout.full, sizes):
            if found_size >= size:
                yield found_size, hits

    def _take_in(self, formulas: Sequence[Formula]) -> None:
        """Match as many probes as it takes for all formulas that do not agree with the gold to be refuted."""
        if not formulas:
            return
        rows = bitset.extensions(list(formulas), self._probes)
        wrong = np.array(
            [[(t != w.target).any() for t, w in zip(row, self._probes, strict=True)] for row in rows], dtype=np.bool_
        )
        wrong = wrong[wrong.any(axis=1)]
        while len(wrong):
            if self._own + len(self._chosen) >= self._most_worlds:
                raise _OpenError(
                    f"{self._most_worlds} worlds leave a formula of AST {self.size} that is not the gold's equal"
                )
            best = int(wrong.sum(axis=0).argmax())
            self._chosen.append(best)
            wrong = wrong[~wrong[:, best]]

    def fitting(self) -> list[Formula]:
        """What fits, smallest first."""
        return sorted(self._fitting, key=lambda formula: (formula.ast_nodes, to_sexpr(formula)))

    def grown_instance(self) -> Instance:
        """The instance with the probes taken in."""
        grown = self._instance
        for i in self._chosen:
            grown = with_world(grown, self._probes[i])
        return grown
