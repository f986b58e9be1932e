"""What a rewriting must keep, and how it is decided that it does.

A promise says when two formulas count as the same and decides it: proven, refuted by a world, or neither. Its `worlds`
are some on which formulas that are the same must agree, all atoms known; they refute cheaply and are what formulas are
enumerated on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Protocol

import numpy as np

from induction.errors import BudgetExhaustedError, EvaluationLimitError
from induction.evaluation import bitset
from induction.formula.metrics import free_variables
from induction.formula.syntax import (
    FREE_VARIABLE,
    Atom,
    Equal,
    ForAll,
    Formula,
    Iff,
    Not,
    Signature,
    subformulas,
)
from induction.grounding.circuit import Circuit
from induction.grounding.equivalence import Comparer, Sameness
from induction.grounding.ground import ground
from induction.grounding.z3_backend import RESOURCE_LIMIT, DemandSolver
from induction.worlds.instance import Instance, Regime
from induction.worlds.sampling import sample_world
from induction.worlds.world import World

_SEED = 20260218
_SHAPES = [
    (size, unary, binary)
    for size, unary, binary in product((1, 2, 3, 3, 4), (0.5, 0.3, 0.75), (0.25, 0.5, 0.75))
    if size > 1 or binary == 0.5
]
_LARGEST_PROBE = 4
_MOST_COMPLETIONS = 24
_SAME = Equal(FREE_VARIABLE, FREE_VARIABLE)


@dataclass(frozen=True)
class Decision:
    """Whether two formulas are the same as promised, how that was found, and a world on which they differ.

    The world has all atoms known. Where the promise is of all worlds and was not decided, the two agree in all of up
    to `agree_up_to` objects.
    """

    sameness: Sameness
    decided_by: str
    world: World | None = None
    agree_up_to: int = 0


class Promise(Protocol):
    """What must stay the same. `keeps_x` says that x must stay free in a formula in which it is."""

    text: str
    proof: str
    signature: Signature
    keeps_x: bool

    @property
    def worlds(self) -> Sequence[World]:
        """Worlds, all atoms known, on which formulas that are the same agree."""
        ...

    @property
    def is_settled_by_worlds(self) -> bool:
        """Whether agreement on `worlds` is all that is promised."""
        ...

    def decide(self, first: Formula, second: Formula) -> Decision:
        """Whether the two are the same as promised."""
        ...


class Everywhere:
    """True of the same objects in every world: proven by Z3, or one up to writing."""

    text = "true of the same objects in every world"
    proof = "each step proven"
    keeps_x = False
    is_settled_by_worlds = False

    def __init__(self, signature: Signature, comparer: Comparer) -> None:
        self.signature = signature
        self._comparer = comparer
        self.worlds: Sequence[World] = tuple(probe_worlds(signature))

    def decide(self, first: Formula, second: Formula) -> Decision:
        """Whether the two are equivalent; a proof for the place where they differ is enough.

        Places are tried from the innermost outwards: what stands there is mostly equivalent by itself, and small.
        """
        whole = self._comparer.fingerprint(first)
        if whole is None or whole == self._comparer.fingerprint(second):
            for one, other in reversed(differing_places(first, second)[1:]):
                closed: Formula = Iff(one, other)
                for variable in sorted((free_variables(one) | free_variables(other)) - {FREE_VARIABLE}):
                    closed = ForAll(variable, closed)
                pair = (one, other) if isinstance(closed, Iff) else (closed, _SAME)
                print_here = self._comparer.fingerprint(pair[0])
                if print_here is None or print_here != self._comparer.fingerprint(pair[1]):
                    continue
                comparison = self._comparer.compare(*pair)
                if comparison.sameness is Sameness.EQUIVALENT:
                    return Decision(Sameness.EQUIVALENT, comparison.finding.decided_by)
        comparison = self._comparer.compare(first, second)
        finding = comparison.finding
        world = None if finding.witness is None else _in_signature(finding.witness.world, self.signature)
        return Decision(comparison.sameness, finding.decided_by, world, finding.none_up_to)


class OnFacts:
    """The same extension in each of some worlds whose facts are all known: decided by evaluation."""

    proof = "by evaluation on all of these worlds"
    keeps_x = True
    is_settled_by_worlds = True

    def __init__(self, worlds: Sequence[World], text: str) -> None:
        self.worlds = tuple(worlds)
        self.signature = worlds[0].signature
        self.text = text

    def decide(self, first: Formula, second: Formula) -> Decision:
        """Whether the two have the same extension in each world."""
        ours, theirs = bitset.extensions([first, second], self.worlds)
        for world, one, other in zip(self.worlds, ours, theirs, strict=True):
            if (one != other).any():
                return Decision(Sameness.DIFFERENT, "evaluation", world)
        return Decision(Sameness.EQUIVALENT, "evaluation")


class OnCompletions:
    """The same extension in every completion of each of some partly observed worlds: grounded, and decided by Z3."""

    proof = "by grounding on all of these worlds"
    keeps_x = True

    def __init__(self, worlds: Sequence[World], text: str) -> None:
        self._open_worlds = tuple(worlds)
        self.signature = worlds[0].signature
        self.text = text
        unknown = sum(world.count_unknown() for world in worlds)
        self.is_settled_by_worlds = unknown == 0
        self.worlds: Sequence[World] = worlds if unknown == 0 else tuple(_some_completions(worlds))

    def decide(self, first: Formula, second: Formula) -> Decision:
        """Whether the two have the same extension in every completion of each world."""
        undecided = False
        difference = Not(Iff(first, second))
        for number, world in enumerate(self._open_worlds):
            circuit = Circuit()
            try:
                literals = ground(difference, world, circuit).tolist()
                solver = DemandSolver(circuit, literals, RESOURCE_LIMIT)
                for element in range(world.size):
                    atoms = solver.meet([element])
                    if atoms is not None:
                        values = {name: np.zeros_like(table) for name, table in world.true.items()}
                        for predicate, place in atoms:
                            values[predicate][place] = True
                        made = replace(world.completed(values), name=f"{world.name} {number}")
                        return Decision(Sameness.DIFFERENT, "Z3", made)
            except (BudgetExhaustedError, EvaluationLimitError):
                undecided = True
        return Decision(Sameness.UNDECIDED if undecided else Sameness.EQUIVALENT, "Z3")


def promise_on(instance: Instance) -> Promise:
    """To keep the extension in the worlds that the instance's verdicts are about, in every completion of each."""
    if instance.regime is Regime.EC:
        return OnCompletions(
            instance.train_worlds, f"the same extension in every completion of every world of {instance.instance_id}"
        )
    sides = "every world to match" + (" and to miss" if instance.no_worlds else "")
    return OnFacts(
        (*instance.train_worlds, *instance.no_worlds), f"the same extension in {sides} of {instance.instance_id}"
    )


def used_signature(formula: Formula, signature: Signature) -> Signature:
    """The predicates of the signature that occur in the formula."""
    names = {node.predicate for node in subformulas(formula) if isinstance(node, Atom)}
    return Signature((name, arity) for name, arity in signature.items() if name in names)


def probe_worlds(signature: Signature) -> Iterator[World]:
    """Small worlds of various densities, the same for the same predicates."""
    rng = np.random.default_rng(_SEED)
    for number, (size, unary, binary) in enumerate(_SHAPES):
        yield sample_world(rng, size, signature=signature, density=binary, unary_density=unary, name=f"probe_{number}")


def differing_places(first: Formula, second: Formula) -> list[tuple[Formula, Formula]]:
    """Pairs of subformulas such that the formulas are the same but for one pair, from the whole inwards."""
    places = [(first, second)]
    while True:
        one, other = places[-1]
        if type(one) is not type(other) or one.label != other.label:
            return places
        apart = [pair for pair in zip(one.children, other.children, strict=True) if pair[0] != pair[1]]
        if len(apart) != 1:
            return places
        places.append(apart[0])


def _in_signature(world: World, signature: Signature) -> World:
    """The world over another signature; predicates it lacks hold of nothing."""
    true = {name: world.true[name] for name in signature if name in world.signature}
    return World(world.name, world.domain, signature, true, world.target)


def _some_completions(worlds: Sequence[World]) -> Iterator[World]:
    """The extreme completions of each world, and some random ones."""
    rng = np.random.default_rng(_SEED)
    for round_number in range(max(2, _MOST_COMPLETIONS // len(worlds))):
        for world in worlds:
            if round_number < 2:
                values = {name: np.full(table.shape, bool(round_number)) for name, table in world.true.items()}
            else:
                values = {name: rng.random(table.shape) < 0.5 for name, table in world.true.items()}
            yield replace(world.completed(values), name=f"{world.name} {round_number}")
