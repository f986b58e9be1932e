"""Z3 fills the holes of a family sketch."""

from collections.abc import Callable
from typing import Any

import numpy as np
from induction.baselines.prenex_smt.counterexamples import Demands
from induction.baselines.prenex_smt.synthesis import FIRST_DEMANDS, Guided

from induction.families.sketches import Sketch
from induction.formula.syntax import And, Atom, Formula, Not, Signature
from induction.grounding.circuit import Circuit, GroundAtom
from induction.grounding.ground import ground
from induction.worlds.world import World


class Filling(Guided):
    """The search for fillings of one sketch: which choice stands in each hole.

    The sketch is grounded with its holes as unknown predicates, a whole world at a time; an atom of a hole is then
    true if one of the choices that are true there was taken. Every hole has a choice.

    Raises:
        EvaluationLimitError: a world is too large for the sketch, now or in `advance`.
    """

    def __init__(
        self,
        sketch: Sketch,
        signature: Signature,
        demands: Demands,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(demands, tick)
        self._sketch = sketch
        self._choices = {hole.name: hole.choices(signature) for hole in sketch.holes}
        self._selectors = {name: [self._terms.fresh() for _ in of] for name, of in self._choices.items()}
        self._atoms: dict[tuple[int, str, tuple[int, ...]], Any] = {}
        self._grounded: dict[int, list[tuple[Any, Any]]] = {}
        for selectors in self._selectors.values():
            self._terms.require(*selectors)
            for i, one in enumerate(selectors):
                for other in selectors[:i]:
                    self._terms.require(self._terms.negation(one), self._terms.negation(other))
        self._demand([*demands.first(), *demands.seen[:FIRST_DEMANDS]])

    def _costs(self) -> tuple[list[tuple[Any, int]], int]:
        holes = sum(1 + len(hole.variables) for hole in self._sketch.holes)
        costs = [
            (selector, choice.ast_nodes)
            for name, choices in self._choices.items()
            for choice, selector in zip(choices, self._selectors[name], strict=True)
        ]
        return costs, self._sketch.formula.ast_nodes - holes

    def _says(self, w: int, element: int, positive: bool) -> Any:
        return self._world(w)[element][0 if positive else 1]

    def _read(self, model: Any) -> Formula:
        is_true = self._terms.z3.is_true
        taken = {
            name: next(choice for choice, one in zip(self._choices[name], of, strict=True) if is_true(model.eval(one)))
            for name, of in self._selectors.items()
        }
        return self._sketch.fill(taken)

    def _world(self, w: int) -> list[tuple[Any, Any]]:
        """For each object of a world the terms that say that the filled sketch holds, and that it fails."""
        if w not in self._grounded:
            world, terms = self._demands.worlds[w], self._terms
            of_holes = World(
                world.name,
                world.domain,
                self._sketch.hole_signature,
                {},
                world.target,
                {
                    hole.name: np.ones((world.size,) * len(hole.variables), dtype=np.bool_)
                    for hole in self._sketch.holes
                },
            )
            circuit = Circuit()
            outputs = ground(self._sketch.formula, of_holes, circuit).tolist()
            truths = {hole.name: self._truths(hole.name, hole.variables, w) for hole in self._sketch.holes}
            literals = {0: terms.disjunction([]), 1: terms.conjunction([])}
            for node, of in circuit.definitions(outputs):
                if isinstance(of[0], str):
                    term = self._atom(of, truths)
                else:
                    term = terms.conjunction([literals[of[0]], literals[of[1]]])
                literals[2 * node], literals[2 * node + 1] = term, terms.negation(term)
            self._grounded[w] = [(literals[output], literals[output ^ 1]) for output in outputs]
        return self._grounded[w]

    def _atom(self, atom: GroundAtom, truths: dict[str, Any]) -> Any:
        """A hole's atom: some choice was taken that is true there."""
        name, place = atom
        parts = []
        for selector, value in zip(self._selectors[name], truths[name], strict=True):
            said = value(place)
            if said is True:
                parts.append(selector)
            elif said is not False:
                parts.append(self._terms.conjunction([selector, said]))
        return self._terms.disjunction(parts)

    def _truths(self, name: str, variables: tuple[str, ...], w: int) -> list[Callable[[tuple[int, ...]], Any]]:
        """For each choice what it is at a place: True, False, or a term of unknown atoms."""
        return [self._truth(choice, variables, w) for choice in self._choices[name]]

    def _truth(self, formula: Formula, variables: tuple[str, ...], w: int) -> Callable[[tuple[int, ...]], Any]:
        world = self._demands.worlds[w]

        def value(node: Formula, place: tuple[int, ...]) -> Any:
            if isinstance(node, Not):
                said = value(node.operand, place)
                return (not said) if isinstance(said, bool) else self._terms.negation(said)
            if isinstance(node, Atom):
                elements = tuple(place[variables.index(argument)] for argument in node.arguments)
                if world.unknown[node.predicate][elements]:
                    key = (w, node.predicate, elements)
                    if key not in self._atoms:
                        self._atoms[key] = self._terms.fresh()
                    return self._atoms[key]
                return bool(world.true[node.predicate][elements])
            left, right = (value(child, place) for child in node.children)
            return self._joined(isinstance(node, And), left, right)

        return lambda place: value(formula, place)

    def _joined(self, conjunctive: bool, left: Any, right: Any) -> Any:
        for one, other in ((left, right), (right, left)):
            if isinstance(one, bool):
                return other if one == conjunctive else one
        join = self._terms.conjunction if conjunctive else self._terms.disjunction
        return join([left, right])
