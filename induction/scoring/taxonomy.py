"""Kinds of wrong answer, decided by meaning and not by writing, each with its evidence.

An answer is compared with what one edit makes of the gold, and two: if it is equivalent to such a near miss, the edits
name the fault; so does being the gold's complement. Otherwise its parts, its counts and the fresh worlds may tell, then
whether it implies the gold or is implied by it, then whether its quantifiers can express what the gold's do, then which
predicates the one depends on and the other does not; else it stays unexplained.

NOTE(two edits): a gold has many hundred results of two edits, an answer few dozens of one. So the answer is edited
once and looked up among the gold's near misses. From those it meets second edits are tried forward, and one that leads
to the answer names it; where none does, the edit of the answer that met the near miss does, as what it undoes. Answers
much larger than the gold, and what no edit undoes, are missed; a test says how much that is.
"""

import enum
import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from induction.errors import BudgetExhaustedError, EvaluationLimitError, FormulaTooLargeError
from induction.evaluation import bitset
from induction.evaluation.verdict import Verdict
from induction.families.mutations import Edit, NearMiss, edited_again, near_misses
from induction.formula.answers import Answer, AnswerStatus
from induction.formula.metrics import count_lift_depth, free_variables, quantifier_depth
from induction.formula.normal_forms import flatten, to_miniscoped, to_nnf
from induction.formula.syntax import (
    FREE_VARIABLE,
    And,
    Atom,
    Formula,
    Iff,
    Not,
    Or,
    PredicateName,
    subformulas,
    with_predicates,
)
from induction.grounding.equivalence import Comparer, Sameness
from induction.grounding.z3_backend import is_satisfiable
from induction.worlds.instance import Instance, Regime
from induction.worlds.world import World


class ErrorKind(enum.StrEnum):
    """What is wrong with an answer."""

    MISSING = "no answer"
    UNPARSABLE = "unparsable"
    NOT_A_DEFINITION = "not a definition"
    QUANTIFIER_COLLAPSED = "quantifier collapsed"
    QUANTIFIER_STRENGTHENED = "quantifier strengthened"
    QUANTIFIER_FLIPPED = "quantifier flipped"
    LIFT_LOST = "lift lost"
    GUARD_DROPPED = "guard dropped"
    GUARD_ADDED = "guard added"
    GUARD_NEGATED = "guard negated"
    RELATION_SWAPPED = "relation swapped"
    DIRECTION_SWAPPED = "direction swapped"
    LITERAL_NEGATED = "literal negated"
    CONDITION_DROPPED = "condition dropped"
    CONDITION_ADDED = "condition added"
    PREDICATE_EXCHANGED = "predicate exchanged"
    CONNECTIVE_CHANGED = "connective changed"
    CASE_SPLITTING = "case splitting"
    LEANS_ON_UNKNOWN = "leans on unknown atoms"
    OVERFIT = "overfit"
    NEAR_MISS = "few objects wrong"
    COMPLEMENT = "complement"
    UNDECIDED = "undecided"
    TOO_NARROW = "too narrow"
    TOO_WIDE = "too wide"
    TOO_SHALLOW = "too shallow"
    PREDICATE_IGNORED = "predicate ignored"
    PREDICATE_FOREIGN = "foreign predicate"
    UNEXPLAINED = "unexplained"


_KIND_OF_EDIT = {
    "quantifier-collapsed": ErrorKind.QUANTIFIER_COLLAPSED,
    "quantifier-strengthened": ErrorKind.QUANTIFIER_STRENGTHENED,
    "quantifier-flipped": ErrorKind.QUANTIFIER_FLIPPED,
    "lift-replaced": ErrorKind.LIFT_LOST,
    "lift-dropped": ErrorKind.LIFT_LOST,
    "guard-dropped": ErrorKind.GUARD_DROPPED,
    "guard-negated": ErrorKind.GUARD_NEGATED,
    "guard-added": ErrorKind.GUARD_ADDED,
    "relation-swapped": ErrorKind.RELATION_SWAPPED,
    "direction-swapped": ErrorKind.DIRECTION_SWAPPED,
    "literal-negated": ErrorKind.LITERAL_NEGATED,
    "condition-dropped": ErrorKind.CONDITION_DROPPED,
    "condition-added": ErrorKind.CONDITION_ADDED,
    "predicate-exchanged": ErrorKind.PREDICATE_EXCHANGED,
    "connective-weakened": ErrorKind.CONNECTIVE_CHANGED,
    "connective-strengthened": ErrorKind.CONNECTIVE_CHANGED,
}

_UNDONE_BY = {
    "quantifier-collapsed": "quantifier-strengthened",
    "quantifier-strengthened": "quantifier-collapsed",
    "lift-dropped": "condition-added",
    "guard-dropped": "guard-added",
    "guard-added": "guard-dropped",
    "condition-dropped": "condition-added",
    "condition-added": "condition-dropped",
    "connective-weakened": "connective-strengthened",
    "connective-strengthened": "connective-weakened",
}
"""The kind of edit that undoes one of another kind; those not here undo their own."""

_MOST_ADDED = 20  # AST nodes: a literal takes six at most, with its connective and a negation
_LOOKED_AT = 3  # worlds
_MOST_TRIED = 6  # near misses from which second edits are tried for one answer
_FLIPPED = 100  # atoms of a world
_DEPENDS_LIMIT = 100_000
_LEAST_BRANCHES = 3
_FEW = 0.05  # of all objects, or two
_SMALL_COVERAGE = 1 / 3


@dataclass(frozen=True)
class Explanation:
    """The kind of fault, the evidence in words, and the other kinds it could as well be called by."""

    kind: ErrorKind
    evidence: str
    also: tuple[ErrorKind, ...] = ()


class Taxonomist:
    """Explains wrong answers to one instance. The near misses of its gold are made when first needed."""

    def __init__(self, instance: Instance, comparer: Comparer, gold: Formula | None = None) -> None:
        self._instance = instance
        self._comparer = comparer
        self._gold = gold if gold is not None else instance.gold
        self._gold_depends_on: dict[PredicateName, bool | None] = {}

    def explain_missing(self, answer: Answer) -> Explanation:
        """Why an answer without a usable formula is wrong."""
        kinds = {
            AnswerStatus.UNPARSABLE: ErrorKind.UNPARSABLE,
            AnswerStatus.NOT_A_DEFINITION: ErrorKind.NOT_A_DEFINITION,
        }
        return Explanation(kinds.get(answer.status, ErrorKind.MISSING), answer.problem)

    def explain(self, formula: Formula, verdict: Verdict, right_on_fresh: bool | None = None) -> Explanation | None:
        """What is wrong with an answer; None for one that is equivalent to the gold or valid without a known fault.

        `right_on_fresh` says whether it was right on all hold-out worlds, None where it was not tried on any.
        """
        if self._gold is not None and self._is_gold(formula):
            return None
        if verdict.valid and right_on_fresh is not False:
            return self._leaning(verdict)
        return (
            self._edited(formula)
            or self._complement(formula)
            or self._edited_twice(formula)
            or self._case_splitting(formula)
            or (self._leaning(verdict) if verdict.valid else None)
            or (Explanation(ErrorKind.OVERFIT, "valid here, wrong on fresh worlds") if verdict.valid else None)
            or self._few_objects(verdict)
            or self._implied(formula)
            or self._structure_lost(formula)
            or self._other_predicates(formula)
            or Explanation(ErrorKind.UNEXPLAINED, "")
        )

    def _is_gold(self, formula: Formula) -> bool:
        assert self._gold is not None
        return self._comparer.compare(self._gold, formula).sameness is Sameness.EQUIVALENT

    def _edited(self, formula: Formula) -> Explanation | None:
        """The edit of the gold that the answer is, if it is one."""
        miss = self._near_miss(formula)
        if miss is None:
            return None
        (edit,) = miss.edits
        return _of_edits(f"equivalent to the gold with one edit, {edit.kind}: {edit.detail}", edit.kind, *miss.also)

    def _near_miss(self, formula: Formula) -> NearMiss | None:
        """The near miss of the gold that the answer is equivalent to."""
        fingerprint = self._comparer.fingerprint(formula)
        for miss in self._misses.get(fingerprint, []) if fingerprint is not None else []:
            if self._same(miss.formula, formula):
                return miss
        return None

    @functools.cached_property
    def _misses(self) -> dict[bytes, list[NearMiss]]:
        """The results of one edit of the gold, by fingerprint; none without a gold, or of one that is too large."""
        found: dict[bytes, list[NearMiss]] = {}
        if self._gold is None:
            return found
        try:
            misses = near_misses(self._gold, self._comparer)
        except FormulaTooLargeError:
            return found
        for miss in misses:
            fingerprint = self._comparer.fingerprint(miss.formula)
            if fingerprint is not None:
                found.setdefault(fingerprint, []).append(miss)
        return found

    def _same(self, first: Formula, second: Formula) -> bool:
        return self._comparer.compare(first, second).sameness is Sameness.EQUIVALENT

    def _complement(self, formula: Formula) -> Explanation | None:
        """Whether the answer is the negation of the gold, as it is or with one edit."""
        if self._gold is None:
            return None
        if self._is_gold(Not(formula)):
            return Explanation(ErrorKind.COMPLEMENT, "true of exactly the objects that the gold is false of")
        miss = self._near_miss(Not(formula))
        if miss is None:
            return None
        (edit,) = miss.edits
        evidence = f"equivalent to the negation of the gold with one edit, {edit.kind}: {edit.detail}"
        return Explanation(ErrorKind.COMPLEMENT, evidence, (_KIND_OF_EDIT[edit.kind],))

    def _edited_twice(self, formula: Formula) -> Explanation | None:
        """The two edits of the gold that the answer is, if it is such; see NOTE(two edits)."""
        if not self._misses or self._gold is None or formula.ast_nodes > self._gold.ast_nodes + _MOST_ADDED:
            return None
        signature = self._comparer.signature
        try:
            worlds = self._instance.worlds[:_LOOKED_AT]
            undone = edited_again(NearMiss(formula, ()), signature)
            own, *looks = self._looks([formula, *(one.formula for one in undone)], worlds)
            met: dict[int, tuple[NearMiss, Edit]] = {}  # by the near miss's place
            for look, one in zip(looks, undone, strict=True):
                for number, miss in self._misses_by_look.get(look, []):
                    if self._comparer.fingerprint(one.formula) == self._comparer.fingerprint(miss.formula):
                        met.setdefault(number, (miss, one.edits[0]))
            tried = [met[number] for number in sorted(met)][:_MOST_TRIED]
            for miss, _ in tried:
                seconds = edited_again(miss, signature)
                for second, look in zip(seconds, self._looks([one.formula for one in seconds], worlds), strict=True):
                    if look == own and self._same(second.formula, formula):
                        words = "; ".join(f"{edit.kind}: {edit.detail}" for edit in second.edits)
                        return _of_edits(
                            f"equivalent to the gold with two edits, {words}", *(edit.kind for edit in second.edits)
                        )
            for miss, undoing in tried:
                if not self._same(miss.formula, next(one.formula for one in undone if one.edits[0] is undoing)):
                    continue
                (edit,) = miss.edits
                return _of_edits(
                    f"two edits from the gold: with {edit.kind}: {edit.detail}, the gold is the answer with "
                    f"{undoing.kind}: {undoing.detail}",
                    edit.kind,
                    _UNDONE_BY.get(undoing.kind, undoing.kind),
                )
        except (EvaluationLimitError, FormulaTooLargeError):
            return None
        return None

    @functools.cached_property
    def _misses_by_look(self) -> dict[bytes, list[tuple[int, NearMiss]]]:
        """The near misses, each with its place among them, by their extensions in some worlds."""
        misses = [miss for several in self._misses.values() for miss in several]
        found: dict[bytes, list[tuple[int, NearMiss]]] = {}
        looks = self._looks([miss.formula for miss in misses], self._instance.worlds[:_LOOKED_AT])
        for number, (miss, look) in enumerate(zip(misses, looks, strict=True)):
            found.setdefault(look, []).append((number, miss))
        return found

    @staticmethod
    def _looks(formulas: Sequence[Formula], worlds: Sequence[World]) -> list[bytes]:
        """The extensions of each in some worlds: a quick first look at which may mean the same."""
        if not formulas:
            return []
        tables = bitset.extensions(list(formulas), list(worlds))
        return [b"".join(table.tobytes() for table in row) for row in tables]

    def _case_splitting(self, formula: Formula) -> Explanation | None:
        """Many branches, each of which covers few labelled objects; or many exceptions, each excluding few others."""
        if self._instance.regime is Regime.EC:
            return None
        worlds = self._instance.train_worlds
        try:
            normal = to_nnf(formula)
            for connective, wanted, words in ((Or, True, "cover"), (And, False, "exclude")):
                branches = flatten(connective, normal)
                whole = [branch for branch in branches if free_variables(branch) <= {FREE_VARIABLE}]
                if len(whole) < _LEAST_BRANCHES:
                    continue
                total = sum(int((world.target == wanted).sum()) for world in worlds)
                tables = bitset.extensions(whole, worlds)
                counts = [
                    sum(
                        int(((table == wanted) & (world.target == wanted)).sum())
                        for table, world in zip(row, worlds, strict=True)
                    )
                    for row in tables
                ]
                if total and np.median(counts) <= _SMALL_COVERAGE * total and self._is_bloated(formula):
                    shown = ", ".join(map(str, sorted(counts, reverse=True)[:8]))
                    of_what = f"{total} {'labelled' if wanted else 'other'} objects"
                    return Explanation(ErrorKind.CASE_SPLITTING, f"{len(whole)} parts {words} {shown} of {of_what}")
        except (EvaluationLimitError, FormulaTooLargeError):
            return None
        return None

    def _is_bloated(self, formula: Formula) -> bool:
        reference = self._instance.size_reference
        return reference is None or formula.ast_nodes > reference

    def _leaning(self, verdict: Verdict) -> Explanation | None:
        """A valid EC answer whose extension depends on the unknown atoms, though it is not the gold."""
        leaning = [one.world for one in verdict.worlds if one.completion is not None and one.completion.sensitive]
        if not leaning or self._gold is None:
            return None
        return Explanation(
            ErrorKind.LEANS_ON_UNKNOWN, f"not the gold, and true of other objects as unknown atoms fall in {leaning[0]}"
        )

    def _implied(self, formula: Formula) -> Explanation | None:
        """Whether the answer implies the gold or is implied by it: it then errs to one side only."""
        if self._gold is None:
            return None
        if self._comparer.find_first_only(formula, self._gold).proven_none:
            return Explanation(ErrorKind.TOO_NARROW, "implies the gold, but misses some of its objects")
        if self._comparer.find_first_only(self._gold, formula).proven_none:
            return Explanation(ErrorKind.TOO_WIDE, "implied by the gold, and true of other objects too")
        return None

    def _structure_lost(self, formula: Formula) -> Explanation | None:
        """Whether the answer lacks what the gold is made of: x under two quantifiers, or nested quantifiers at all."""
        if self._gold is None:
            return None
        try:
            mine, gold = to_miniscoped(formula), to_miniscoped(self._gold)
        except FormulaTooLargeError:
            return None
        lift, wanted_lift = count_lift_depth(mine), count_lift_depth(gold)
        if wanted_lift >= 2 > lift:
            return Explanation(
                ErrorKind.LIFT_LOST, f"x under at most {lift} quantifiers, in the gold under {wanted_lift}"
            )
        depth, wanted_depth = quantifier_depth(mine), quantifier_depth(gold)
        if depth < wanted_depth:
            return Explanation(ErrorKind.TOO_SHALLOW, f"quantifier depth {depth}, the gold's is {wanted_depth}")
        return None

    def _other_predicates(self, formula: Formula) -> Explanation | None:
        """Whether the answer depends on other predicates than the gold: on none that decides it, or on one more."""
        if self._gold is None:
            return None
        signature = self._comparer.signature
        ignored = [
            name for name in signature if self._depends(formula, name) is False and self._gold_depends(name) is True
        ]
        if ignored:
            evidence = f"the same whatever {' and '.join(ignored)} {'is' if len(ignored) == 1 else 'are'}"
            return Explanation(ErrorKind.PREDICATE_IGNORED, f"{evidence}, unlike the gold")
        foreign = [
            name for name in signature if self._gold_depends(name) is False and self._depends(formula, name) is True
        ]
        if foreign:
            return Explanation(
                ErrorKind.PREDICATE_FOREIGN, f"depends on {' and '.join(foreign)}, which the gold does not"
            )
        return None

    def _gold_depends(self, name: PredicateName) -> bool | None:
        if name not in self._gold_depends_on:
            assert self._gold is not None
            self._gold_depends_on[name] = self._depends(self._gold, name)
        return self._gold_depends_on[name]

    def _depends(self, formula: Formula, name: PredicateName) -> bool | None:
        """Whether the formula's extension can change with that of one predicate alone; None where it stays open."""
        if not any(isinstance(part, Atom) and part.predicate == name for part in subformulas(formula)):
            return False
        for world in self._instance.worlds[:_LOOKED_AT]:
            table = world.true[name]
            single = np.eye(table.size, dtype=bool)[:_FLIPPED].reshape(-1, *table.shape)
            variants = [
                World(world.name, world.domain, world.signature, {**world.true, name: changed}, world.target)
                for changed in (table, ~table, np.zeros_like(table), np.ones_like(table), *(table ^ single))
            ]
            try:
                ((first, *others),) = bitset.extensions([formula], variants)
            except EvaluationLimitError:
                return None
            if any((first != other).any() for other in others):
                return True
        signature = self._comparer.signature
        other = next(one for one in (f"{name[:90]}_{i}" for i in itertools.count()) if one not in signature)
        try:
            difference = Not(Iff(formula, with_predicates(formula, {name: other})))
            return None if is_satisfiable(difference, _DEPENDS_LIMIT) else False
        except BudgetExhaustedError:
            return None

    def _few_objects(self, verdict: Verdict) -> Explanation | None:
        wrong = sum(one.mismatches for one in verdict.failed_worlds if one.side != "NO")
        objects = sum(one.size for one in verdict.worlds if one.side != "NO")
        if not 0 < wrong <= max(2, _FEW * objects):
            return None
        return Explanation(ErrorKind.NEAR_MISS, f"{wrong} of {objects} objects are wrong")


def _of_edits(evidence: str, kind: str, *also: str) -> Explanation:
    """The explanation by an edit, and others that it may be called by or that came with it."""
    kinds = dict.fromkeys(_KIND_OF_EDIT[one] for one in also)
    first = _KIND_OF_EDIT[kind]
    return Explanation(first, evidence, tuple(one for one in kinds if one is not first))
