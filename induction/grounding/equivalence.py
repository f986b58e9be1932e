"""Whether two formulas mean the same: a proof, a smallest world that tells them apart, or neither.

Every question here is whether a formula is true of some object in some finite world: of `not (iff f g)` for
equivalence, of `f and not g` for implication. Answers come in this order:

1. The writing: formulas with one canonical key are equivalent.
2. The filter: both are evaluated, once each, at every object of all worlds of one and two objects (of as many as are
   within `_MOST_FILTER_WORLDS`) and of some random larger ones.
3. A proof: Z3 over an uninterpreted sort, within a resource limit. That no structure at all makes the formula true is
   more than is asked; that one does may be an infinite one and counts for nothing.
4. Worlds of one size after the other, grounded with every atom unknown; by symmetry the object can be number 0.

Whatever tells two formulas apart has been re-checked by the reference evaluator.
"""

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from induction.errors import BudgetExhaustedError, EvaluationLimitError, FormulaTooLargeError
from induction.evaluation import bitset, reference
from induction.formula.canonical import canonical_key
from induction.formula.syntax import And, Formula, Iff, Not, Signature
from induction.grounding.circuit import Circuit
from induction.grounding.ground import ground
from induction.grounding.z3_backend import DemandSolver, is_satisfiable
from induction.worlds.sampling import sample_world
from induction.worlds.world import World

UP_TO = 8
"""Most objects of the worlds that are looked through, unless told otherwise."""

PROOF_LIMIT = 10_000_000
"""Z3's own count of work for one question it is asked: about two seconds."""

_QUICK_LIMIT = PROOF_LIMIT // 50
_QUICK_SIZE = 4  # sizes up to here are looked through before the long proof is tried
_MOST_FILTER_WORLDS = 2**12
_LARGEST_FILTER_SIZE = 5
_DENSITIES = (0.15, 0.3, 0.5, 0.7, 0.85)
_WORLDS_OF_A_DENSITY = 12
_WORLD_NAME = "separating"
_FORMULAS_AT_ONCE = 256

Fingerprint = npt.NDArray[np.uint8]


class Sameness(enum.StrEnum):
    """Whether two formulas mean the same."""

    EQUIVALENT = "equivalent"
    """True of the same objects in every world: proven."""
    DIFFERENT = "different"
    """A world tells them apart."""
    UNDECIDED = "undecided"
    """They agree on all worlds of up to some number of objects, and no proof was found."""


class Relation(enum.StrEnum):
    """How the extensions of a first and a second formula lie in every world."""

    IDENTICAL = "identical"
    NARROWER = "narrower"
    """The first implies the second, not the other way round."""
    WIDER = "wider"
    """The second implies the first, not the other way round."""
    OVERLAPPING = "overlapping"
    """Neither implies the other, and some object of some world has both."""
    DISJOINT = "disjoint"
    """No object of any world has both, though either is possible."""


@dataclass(frozen=True)
class Witness:
    """An object of a world, all atoms known, at which what was asked for is the case.

    `is_smallest` says that no world with fewer objects would do, `has_fewest_atoms` that none of this size with
    fewer true atoms would.
    """

    world: World
    element: int
    is_smallest: bool
    has_fewest_atoms: bool


@dataclass(frozen=True)
class Finding:
    """Whether a formula is true of some object of some finite world: a witness, or how far there is none.

    No world of up to `none_up_to` objects has a witness, as far as was looked; `proven_none` says no world at all.
    `decided_by` is for people.
    """

    witness: Witness | None
    proven_none: bool
    none_up_to: int
    decided_by: str

    @property
    def is_certain(self) -> bool:
        """Whether there is a witness, or a proof that there is none."""
        return self.proven_none or self.witness is not None


@dataclass(frozen=True)
class Comparison:
    """Whether two formulas are equivalent; `finding` is about their difference."""

    first: Formula
    second: Formula
    finding: Finding

    @property
    def sameness(self) -> Sameness:
        """The verdict."""
        if self.finding.witness is not None:
            return Sameness.DIFFERENT
        return Sameness.EQUIVALENT if self.finding.proven_none else Sameness.UNDECIDED


@dataclass(frozen=True)
class RelationReport:
    """The relation of two formulas with its evidence, one finding for each of the three questions behind it."""

    relation: Relation
    first_only: Finding
    second_only: Finding
    both: Finding

    @property
    def proven(self) -> bool:
        """Whether the relation holds in all worlds, and not only in those of up to `up_to` objects."""
        return all(finding.is_certain for finding in self._decisive)

    @property
    def up_to(self) -> int:
        """How many objects worlds may have for the relation to be known to hold in all of them. If it is not proven.

        Raises:
            ValueError: the relation is proven.
        """
        if self.proven:
            raise ValueError("the relation holds in all worlds")
        return min(finding.none_up_to for finding in self._decisive if not finding.is_certain)

    @property
    def _decisive(self) -> tuple[Finding, ...]:
        apart = self.first_only.witness is not None and self.second_only.witness is not None
        return (self.first_only, self.second_only, *((self.both,) if apart else ()))


class Comparer:
    """Compares formulas over one signature and remembers how each of them evaluates on its filter.

    Formulas have no free variable but x and use predicates of the signature; all methods raise ValueError or KeyError
    for others. Where nothing else decides, worlds are looked through up to `up_to` objects (the filter may find a
    larger one); Z3 works within `resource_limit` on each question it is asked. What is remembered is never dropped.
    For tests, `compare_writing` off leaves formulas that differ in writing only to the rest, `use_filter` off leaves
    all to Z3.
    """

    def __init__(
        self,
        signature: Signature,
        *,
        up_to: int = UP_TO,
        resource_limit: int = PROOF_LIMIT,
        compare_writing: bool = True,
        use_filter: bool = True,
    ) -> None:
        self.signature = signature
        self.up_to = up_to
        self._compare_writing = compare_writing
        self._use_filter = use_filter
        self._resource_limit = resource_limit
        self._filter = _Filter(signature)
        self._fingerprints: dict[Formula, Fingerprint | None] = {}
        self._keys: dict[Formula, str | None] = {}

    def compare(self, first: Formula, second: Formula, *, smallest: bool = False) -> Comparison:
        """Whether the two are equivalent.

        With `smallest`, the world that tells different ones apart has the fewest objects and then the fewest true
        atoms; without, it is just one that does.
        """
        if self._same_writing(first, second):
            return Comparison(first, second, _SAME_WRITING)
        difference = Not(Iff(first, second))
        mine, theirs = self._evaluate(first, second)
        hits = None if mine is None or theirs is None else mine ^ theirs
        return Comparison(first, second, self._find(difference, hits, smallest))

    def find_first_only(self, first: Formula, second: Formula, *, smallest: bool = False) -> Finding:
        """Whether `first` can be true where `second` is not; if that is proven impossible, it implies `second`."""
        if self._same_writing(first, second):
            return _SAME_WRITING
        mine, theirs = self._evaluate(first, second)
        hits = None if mine is None or theirs is None else mine & ~theirs
        return self._find(And(first, Not(second)), hits, smallest)

    def find_both(self, first: Formula, second: Formula, *, smallest: bool = False) -> Finding:
        """Whether both can be true of one object."""
        mine, theirs = self._evaluate(first, second)
        hits = None if mine is None or theirs is None else mine & theirs
        return self._find(And(first, second), hits, smallest)

    def relate(self, first: Formula, second: Formula, *, smallest: bool = False) -> RelationReport:
        """How the extensions of the two lie, with an object for each part that can have one."""
        first_only = self.find_first_only(first, second, smallest=smallest)
        second_only = self.find_first_only(second, first, smallest=smallest)
        both = self.find_both(first, second, smallest=smallest)
        match (first_only.witness is not None, second_only.witness is not None, both.witness is not None):
            case (False, False, _):
                relation = Relation.IDENTICAL
            case (False, True, _):
                relation = Relation.NARROWER
            case (True, False, _):
                relation = Relation.WIDER
            case (True, True, True):
                relation = Relation.OVERLAPPING
            case _:
                relation = Relation.DISJOINT
        return RelationReport(relation, first_only, second_only, both)

    def first_alike(self, formulas: Sequence[Formula]) -> list[int]:
        """For each formula the number of the first that means the same; its own if no earlier one does.

        What can be told apart by no world of up to `up_to` objects counts as the same.
        """
        self._evaluate(*formulas)
        result: list[int] = []
        kept: dict[bytes | None, list[int]] = {None: []}  # by fingerprint; None for formulas that have none
        for number, formula in enumerate(formulas):
            fingerprint = self._fingerprints[formula]
            group = None if fingerprint is None else fingerprint.tobytes()
            rivals = [n for numbers in kept.values() for n in numbers] if group is None else kept.get(group, [])
            for earlier in [*rivals, *(kept[None] if group is not None else [])]:
                if self.compare(formulas[earlier], formula).sameness is not Sameness.DIFFERENT:
                    result.append(earlier)
                    break
            else:
                kept.setdefault(group, []).append(number)
                result.append(number)
        return result

    def fingerprint(self, formula: Formula) -> bytes | None:
        """What the formula says on the filter: different for formulas that differ there; None if it is too wide."""
        (made,) = self._evaluate(formula)
        return None if made is None else made.tobytes()

    def _same_writing(self, first: Formula, second: Formula) -> bool:
        if not self._compare_writing:
            return False
        return first == second or (self._key(first) is not None and self._key(first) == self._key(second))

    def _key(self, formula: Formula) -> str | None:
        """The canonical key; None where it would take too large a text."""
        if formula not in self._keys:
            try:
                self._keys[formula] = canonical_key(formula)
            except FormulaTooLargeError:
                self._keys[formula] = None
        return self._keys[formula]

    def _evaluate(self, *formulas: Formula) -> list[Fingerprint | None]:
        """The fingerprint of each; None where a formula is too wide for the filter."""
        new = [f for f in dict.fromkeys(formulas) if f not in self._fingerprints]
        for start in range(0, len(new), _FORMULAS_AT_ONCE):
            chunk = new[start : start + _FORMULAS_AT_ONCE]
            made = self._filter.evaluate(chunk) if self._use_filter else [None] * len(chunk)
            self._fingerprints.update(zip(chunk, made, strict=True))
        return [self._fingerprints[formula] for formula in formulas]

    def _find(self, formula: Formula, hits: Fingerprint | None, smallest: bool) -> Finding:
        """A witness of `formula`; `hits` marks the points of the filter at which it is true, if that is known."""
        known = None if hits is None else self._filter.witness(hits)
        if known is not None and (known.has_fewest_atoms or not smallest):
            none_up_to = min(self._filter.complete_up_to, known.world.size - 1)
            return Finding(_checked(known, formula), False, none_up_to, "evaluation")
        sizes = _SizeSearch(formula, self.signature, 0 if hits is None else self._filter.complete_up_to, smallest)
        if known is not None:
            witness = sizes.look(known.world.size, self._resource_limit)
            decided_by = "evaluation" if witness is None else "grounding"
            return Finding(_checked(witness or known, formula), False, sizes.none_up_to, decided_by)
        for up_to, limit in (
            (min(_QUICK_SIZE, self.up_to), min(_QUICK_LIMIT, self._resource_limit)),
            (self.up_to, self._resource_limit),
        ):
            if _is_refuted(formula, limit):
                return Finding(None, True, sizes.none_up_to, "Z3")
            witness = sizes.look(up_to, limit)
            if witness is not None:
                return Finding(_checked(witness, formula), False, sizes.none_up_to, "grounding")
        return Finding(None, False, sizes.none_up_to, f"all worlds of up to {sizes.none_up_to} objects")


_SAME_WRITING = Finding(None, True, 0, "the same but for the writing")


def _is_refuted(formula: Formula, resource_limit: int) -> bool:
    try:
        return not is_satisfiable(formula, resource_limit)
    except BudgetExhaustedError:
        return False


def _checked(witness: Witness, formula: Formula) -> Witness:
    """`witness`, once the reference evaluator agrees that `formula` is true there."""
    if not reference.holds(formula, witness.world, witness.element):
        tables = {name: table.tolist() for name, table in witness.world.true.items()}
        raise AssertionError(f"not true of object {witness.element} of {tables}: {formula}")
    return witness


class _SizeSearch:
    """The search for a witness through worlds of one size after the other; `none_up_to` says how far there is none."""

    def __init__(self, formula: Formula, signature: Signature, none_up_to: int, fewest_atoms: bool) -> None:
        self._formula = formula
        self._signature = signature
        self._fewest_atoms = fewest_atoms
        self.none_up_to = none_up_to

    def look(self, up_to: int, resource_limit: int) -> Witness | None:
        """A witness in the smallest worlds that have one, up to this size and as far as the work allowed goes."""
        while self.none_up_to < up_to:
            try:
                witness = self._of_size(self.none_up_to + 1, resource_limit)
            except (BudgetExhaustedError, EvaluationLimitError):
                return None
            if witness is not None:
                return witness
            self.none_up_to += 1
        return None

    def _of_size(self, size: int, resource_limit: int) -> Witness | None:
        open_world = World(
            name=_WORLD_NAME,
            domain=tuple(f"a{i}" for i in range(size)),
            signature=self._signature,
            true={},
            unknown={name: np.ones((size,) * arity, dtype=np.bool_) for name, arity in self._signature.items()},
            target=np.zeros(size, dtype=np.bool_),
        )
        circuit = Circuit()
        literals = ground(self._formula, open_world, circuit)
        solver = DemandSolver(circuit, [int(literals[0])], resource_limit)
        if self._fewest_atoms:
            found = solver.meet_with_fewest([0])
        else:
            atoms = solver.meet([0])
            found = None if atoms is None else (atoms, False)
        if found is None:
            return None
        true_atoms, fewest = found
        values = {name: np.zeros((size,) * arity, dtype=np.bool_) for name, arity in self._signature.items()}
        for predicate, elements in true_atoms:
            values[predicate][elements] = True
        return Witness(open_world.completed(values), 0, True, fewest)


class _Filter:
    """Worlds that every formula is evaluated on: all of the smallest sizes, some random larger ones.

    Its points are pairs of a world and an object of it, ordered by objects, then true atoms. A fingerprint is
    `uint8[points / 8, rounded up]`; point i is bit 7 - i % 8 of byte i // 8, set if the formula is true there, and
    bits beyond the last point are 0. The first point at which two fingerprints differ is in a smallest world with the
    fewest true atoms, if the formulas differ within `complete_up_to` objects at all.
    """

    def __init__(self, signature: Signature) -> None:
        self._signature = signature
        self._batches: list[bitset.Batch] = []
        self.complete_up_to = 0
        for size in range(1, _LARGEST_FILTER_SIZE + 1):
            atoms = sum(size**arity for _, arity in signature.items())
            if self.complete_up_to == size - 1 and 2**atoms <= _MOST_FILTER_WORLDS:
                self._batches.append(bitset.Batch.every_world(signature, size))
                self.complete_up_to = size
            else:
                self._batches.append(bitset.Batch.of(list(_random_worlds(signature, size))))
        points = [
            (batch.size, atoms, number, world, element)
            for number, batch in enumerate(self._batches)
            for world, atoms in enumerate(_count_true_atoms(batch).tolist())
            for element in range(batch.size)
        ]
        place_of = {(number, world, element): i for i, (_, _, number, world, element) in enumerate(points)}
        self._points = sorted(points)
        self._order = np.array([place_of[point[2:]] for point in self._points])

    def evaluate(self, formulas: Sequence[Formula]) -> list[Fingerprint | None]:
        """The fingerprint of each formula; None where one is too wide to be evaluated here."""
        try:
            tables = [bitset.extension_tables(formulas, batch) for batch in self._batches]
        except EvaluationLimitError:
            if len(formulas) == 1:
                return [None]
            return [self.evaluate([formula])[0] for formula in formulas]
        bits = np.concatenate([table.reshape(len(formulas), -1) for table in tables], axis=1)
        return list(np.packbits(bits[:, self._order], axis=1))

    def witness(self, hits: Fingerprint) -> Witness | None:
        """The first point at which the bit is set."""
        byte = int((hits != 0).argmax())
        if not hits[byte]:
            return None
        size, _, number, row, element = self._points[8 * byte + int(np.unpackbits(hits[byte : byte + 1]).argmax())]
        tables = {name: table[row] for name, table in self._batches[number].tables.items()}
        domain = tuple(f"a{i}" for i in range(size))
        world = World(_WORLD_NAME, domain, self._signature, tables, np.zeros(size, dtype=np.bool_))
        return Witness(world, element, size <= self.complete_up_to + 1, size <= self.complete_up_to)


def _count_true_atoms(batch: bitset.Batch) -> npt.NDArray[np.int64]:
    counts = np.zeros(batch.count, dtype=np.int64)
    for table in batch.tables.values():
        counts += np.count_nonzero(table.reshape(batch.count, -1), axis=1)
    return counts


def _random_worlds(signature: Signature, size: int) -> Iterator[World]:
    rng = np.random.default_rng(size)
    for density in _DENSITIES:
        for _ in range(_WORLDS_OF_A_DENSITY):
            yield sample_world(rng, size, signature=signature, density=density)
