"""A top-down rule learner: one rule after the other, each grown a literal at a time by information gain.

A rule covers an object if its literals hold of some tuple of objects that begins with it. Rules are added until every
labelled object is covered; then literals and rules that are not needed go. The same is tried with the labels
exchanged, which can say what holds of all neighbours, and the smaller answer is taken. Bodies are kept in a beam.
Source of the method: Quinlan, Learning logical definitions from relations, Machine Learning 5, 1990.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from induction.budget import Budget, Outcome
from induction.evaluation import bitset
from induction.formula.metrics import free_variables
from induction.formula.syntax import FREE_VARIABLE, And, Formula, Not, Or
from induction.grounding.vocabulary import Vocabulary, definition_by_rules, x_and
from induction.search import About, Attempt, Progress, SearchOptions, SearchResult, outcome_of, refuse_unheeded
from induction.worlds.instance import Instance, Regime
from induction.worlds.world import BoolArray, World

MOST_LITERALS = 6
MOST_FURTHER_VARIABLES = 2
MOST_RULES = 40
BEAM = 8

Body: TypeAlias = tuple[int, ...]
"""The literals of a rule, in the order they were added."""


class Greedy:
    """FOIL-style rules by information gain and beam; registered as `greedy`."""

    name = "greedy"
    about = About(
        summary="rules grown a literal at a time by information gain, as FOIL does: the classic yardstick",
        expresses=f"disjunctions of existential conjunctions of up to {MOST_LITERALS} literals and "
        f"{MOST_FURTHER_VARIABLES} quantifiers, or the negation of one; EC with unknown atoms all false or all true",
        proves="nothing",
        heeds=("variables", "depth", "equality", "noise"),
    )

    def search(
        self,
        instance: Instance,
        budget: Budget,
        options: SearchOptions,
        report: Callable[[Progress], None],
    ) -> SearchResult:
        """The smallest of the definitions learnt. `depth` and `variables` bound the quantifiers of a rule.

        Raises:
            UnsupportedRegimeError: noise in EC.
        """
        refuse_unheeded(self, instance, options)
        attempt = Attempt(instance, budget, options, report)
        further = max(0, min(options.depth, options.variables - 1, MOST_FURTHER_VARIABLES))
        counts = {"rules": 0, "bodies": 0}

        def run() -> Outcome:
            for formula in _single_atoms(instance, equality=options.equality):
                attempt.offer(formula)
            for completed in _completions(instance):
                for exchanged in (False, True):
                    for number in range(min(1, further), further + 1):
                        learner = _Learner(completed, exchanged, number, attempt)
                        rules = learner.learn()
                        counts["bodies"] += learner.bodies_tried
                        if rules and attempt.offer(learner.formula(learner.reduced(rules))):
                            counts["rules"] = len(rules)
            return attempt.ended(none_left=False)

        outcome = outcome_of(run)
        best = attempt.best
        return attempt.result(
            self.name,
            outcome,
            fragment=(
                f"disjunction of existential conjunctions of up to {MOST_LITERALS} literals, {further} quantifiers"
                f"{', = between different variables' if options.equality else ''}, or the negation of one"
            ),
            diagnosis="" if best is not None else "the rules found by gain do not explain it; others may",
            statistics={"bodiesTried": counts["bodies"], "rulesBeforeReduction": counts["rules"]},
        )


def _single_atoms(instance: Instance, *, equality: bool) -> Iterator[Formula]:
    """What one atom of x can say: itself, its negation, always, never. Labels all alike give rules nothing to learn."""
    for atom in Vocabulary(instance.signature, x_and(0), equality).atoms:
        yield from (atom, Not(atom), Or(atom, Not(atom)), And(atom, Not(atom)))


def _completions(instance: Instance) -> Iterator[tuple[World, ...]]:
    """The worlds to match; for EC with the unknown atoms all false, and all true."""
    yield tuple(world.completed({}) for world in instance.train_worlds)
    if instance.regime is Regime.EC:
        yield tuple(world.completed(world.unknown) for world in instance.train_worlds)


class _Learner:
    """Learns rules for the labels, or for their contrary, with a fixed number of further variables."""

    def __init__(self, worlds: Sequence[World], exchanged: bool, further: int, attempt: Attempt) -> None:
        options = attempt.options
        self._attempt = attempt
        self._exchanged = exchanged
        self._vocabulary = Vocabulary(attempt.instance.signature, x_and(further), options.equality)
        atoms = [self._vocabulary.truth(world)[0] for world in worlds]
        positive = np.concatenate(atoms) if atoms else np.zeros((0, len(self._vocabulary.atoms)), dtype=np.bool_)
        self._truth: BoolArray = np.concatenate([positive, ~positive], axis=1)  # bool[tuples, literals]
        tuples = [world.size**further for world in worlds for _ in range(world.size)]
        self._starts = np.concatenate([[0], np.cumsum(tuples)[:-1]]).astype(np.int64)
        self._object_of = np.repeat(np.arange(len(tuples)), tuples)
        target = np.concatenate([world.target for world in worlds]) if worlds else np.zeros(0, dtype=np.bool_)
        self._labelled: BoolArray = ~target if exchanged else target
        self.bodies_tried = 0

    def learn(self) -> list[Body]:
        """Rules that between them cover the labelled objects and no others, noise apart; empty if none were found."""
        noise = self._attempt.options.noise
        uncovered = self._labelled.copy()
        spoilt = np.zeros_like(uncovered)
        rules: list[Body] = []
        while int(uncovered.sum()) + int(spoilt.sum()) > noise:
            if len(rules) == MOST_RULES:
                return []
            body = self._rule(uncovered, noise - int(spoilt.sum()))
            if body is None:
                return []
            covered = self._covered(self._bindings(body))
            rules.append(body)
            uncovered &= ~covered
            spoilt |= covered & ~self._labelled
        return rules

    def _rule(self, uncovered: BoolArray, spare: int) -> Body | None:
        """A body that covers some of `uncovered` and at most `spare` objects without the label; None if none came."""
        beam: list[tuple[float, Body, BoolArray]] = [(0.0, (), np.ones(len(self._truth), dtype=np.bool_))]
        best: tuple[int, int, Body] | None = None
        for _ in range(MOST_LITERALS):
            self._attempt.tick()
            grown: dict[frozenset[int], tuple[float, Body]] = {}
            for _, body, bindings in beam:
                gains, right, wrong = self._gains(bindings, uncovered)
                for literal in np.argsort(-gains, kind="stable")[: 2 * BEAM].tolist():
                    if gains[literal] <= 0 or literal in body:
                        continue
                    self.bodies_tried += 1
                    longer = (*body, literal)
                    if wrong[literal] <= spare:
                        candidate = (-int(right[literal]), len(longer), longer)
                        best = candidate if best is None else min(best, candidate)
                    else:
                        grown.setdefault(frozenset(longer), (float(gains[literal]), longer))
            if best is not None:
                return best[2]
            ranked = sorted(grown.values(), key=lambda one: (-one[0], one[1]))[:BEAM]
            beam = [(gain, body, self._bindings(body)) for gain, body in ranked]
            if not beam:
                return None
        return None

    def _gains(
        self, bindings: BoolArray, uncovered: BoolArray
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """FOIL's gain of each literal, and how many of `uncovered` and of the others it leaves covered.

        The gain is in bits: objects kept times what is learnt of the label of a tuple that is still bound.
        """
        held = self._truth & bindings[:, None]
        of_objects = np.logical_or.reduceat(held, self._starts, axis=0)
        right = (of_objects & uncovered[:, None]).sum(axis=0)
        wrong = (of_objects & ~self._labelled[:, None]).sum(axis=0)
        wanted = uncovered[self._object_of]
        contrary = ~self._labelled[self._object_of]
        before = _purity(int((bindings & wanted).sum()), int((bindings & contrary).sum()))
        after = _purity((held & wanted[:, None]).sum(axis=0), (held & contrary[:, None]).sum(axis=0))
        gains: npt.NDArray[np.float64] = np.where(right > 0, right * (after - before), 0.0)
        return gains, right, wrong

    def _bindings(self, body: Body) -> BoolArray:
        return np.asarray(self._truth[:, list(body)].all(axis=1), dtype=np.bool_)

    def _covered(self, bindings: BoolArray) -> BoolArray:
        return np.asarray(np.logical_or.reduceat(bindings, self._starts), dtype=np.bool_)

    def formula(self, rules: Sequence[Body]) -> Formula:
        """What the rules say of the label."""
        said = definition_by_rules(self._vocabulary, rules)
        return Not(said) if self._exchanged else said

    def reduced(self, rules: list[Body]) -> list[Body]:
        """The rules without those, and without the literals, that can go one after the other."""
        if not self._fit(rules):
            return rules
        for i in reversed(range(len(rules))):
            fewer = [*rules[:i], *rules[i + 1 :]]
            if fewer and self._fit(fewer):
                rules = fewer
        for i in range(len(rules)):
            for literal in rules[i]:
                shorter = tuple(one for one in rules[i] if one != literal)
                changed = [*rules[:i], shorter, *rules[i + 1 :]]
                if shorter and self._fit(changed):
                    rules = changed
        return rules

    def _fit(self, rules: Sequence[Body]) -> bool:
        """Whether the rules give the labels here, noise apart, and miss every NO world."""
        self._attempt.tick()
        covered = np.logical_or.reduce([self._covered(self._bindings(body)) for body in rules])
        if int((covered != self._labelled).sum()) > self._attempt.options.noise:
            return False
        formula = self.formula(rules)
        if free_variables(formula) != {FREE_VARIABLE}:
            return False
        no_worlds = self._attempt.instance.no_worlds
        (extensions,) = bitset.extensions([formula], no_worlds)
        return all((table != world.target).any() for table, world in zip(extensions, no_worlds, strict=True))


def _purity(right: npt.ArrayLike, wrong: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """The logarithm, base 2, of the share of right ones; very small where there are none."""
    right, wrong = np.asarray(right, dtype=np.float64), np.asarray(wrong, dtype=np.float64)
    return np.asarray(np.log2(np.maximum(right, 1e-9) / np.maximum(right + wrong, 1e-9)), dtype=np.float64)
