"""Kinds of wrong answer, decided by meaning and not by writing, each with its evidence.

An answer is compared with what one edit makes of the gold: if it is equivalent to such a near miss, the edit names the
fault. Otherwise its parts, its counts and the fresh worlds may tell, then whether it implies the gold or is implied by
it, then whether its quantifiers can express what the gold's do; else it stays unexplained.
"""

import enum
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from induction.errors import EvaluationLimitError, FormulaTooLargeError
from induction.evaluation import bitset
from induction.evaluation.verdict import Verdict
from induction.families.mutations import NearMiss, near_misses
from induction.formula.answers import Answer, AnswerStatus
from induction.formula.metrics import count_lift_depth, free_variables, quantifier_depth
from induction.formula.normal_forms import flatten, to_miniscoped, to_nnf
from induction.formula.syntax import FREE_VARIABLE, And, Formula, Or
from induction.grounding.equivalence import Comparer, Sameness
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
    UNDECIDED = "undecided"
    TOO_NARROW = "too narrow"
    TOO_WIDE = "too wide"
    TOO_SHALLOW = "too shallow"
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
        self._misses: dict[bytes, list[NearMiss]] | None = None

    def explain_missing(self, answer: Answer) -> Explanation:
        """Why an answer without a usable formula is wrong."""
        kinds = {
            AnswerStatus.UNPARSABLE: ErrorKind.UNPARSABLE,
            AnswerStatus.NOT_A_DEFINITION: ErrorKind.NOT_A_DEFINITION,
        }
        return Explanation(kinds.get(answer.status, ErrorKind.MISSING), answer.problem)

    def explain(self, formula: Formula, verdict: Verdict, fresh: Sequence[World] | None) -> Explanation | None:
        """What is wrong with an answer; None for one that is equivalent to the gold or valid without a known fault.

        `fresh` holds hold-out worlds, None where there are none.
        """
        if self._gold is not None and self._is_gold(formula):
            return None
        fails_fresh = fresh is not None and not _matches(formula, fresh)
        if verdict.valid and not fails_fresh:
            return self._leaning(verdict)
        return (
            self._edited(formula)
            or self._case_splitting(formula)
            or (self._leaning(verdict) if verdict.valid else None)
            or (Explanation(ErrorKind.OVERFIT, "valid here, wrong on fresh worlds") if verdict.valid else None)
            or self._few_objects(verdict)
            or self._implied(formula)
            or self._structure_lost(formula)
            or Explanation(ErrorKind.UNEXPLAINED, "")
        )

    def _is_gold(self, formula: Formula) -> bool:
        assert self._gold is not None
        return self._comparer.compare(self._gold, formula).sameness is Sameness.EQUIVALENT

    def _edited(self, formula: Formula) -> Explanation | None:
        """The edit of the gold that the answer is, if it is one."""
        if self._gold is None:
            return None
        if self._misses is None:
            self._misses = {}
            try:
                found = near_misses(self._gold, self._comparer)
            except FormulaTooLargeError:
                found = []
            for miss in found:
                fingerprint = self._comparer.fingerprint(miss.formula)
                if fingerprint is not None:
                    self._misses.setdefault(fingerprint, []).append(miss)
        fingerprint = self._comparer.fingerprint(formula)
        for miss in self._misses.get(fingerprint, []) if fingerprint is not None else []:
            if self._comparer.compare(miss.formula, formula).sameness is Sameness.EQUIVALENT:
                (edit,) = miss.edits
                also = tuple(dict.fromkeys(_KIND_OF_EDIT[kind] for kind in miss.also))
                kind = _KIND_OF_EDIT[edit.kind]
                evidence = f"equivalent to the gold with one edit, {edit.kind}: {edit.detail}"
                return Explanation(kind, evidence, tuple(one for one in also if one is not kind))
        return None

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

    def _few_objects(self, verdict: Verdict) -> Explanation | None:
        wrong = sum(one.mismatches for one in verdict.failed_worlds if one.side != "NO")
        objects = sum(one.size for one in verdict.worlds if one.side != "NO")
        if not 0 < wrong <= max(2, _FEW * objects):
            return None
        return Explanation(ErrorKind.NEAR_MISS, f"{wrong} of {objects} objects are wrong")


def _matches(formula: Formula, worlds: Sequence[World]) -> bool:
    try:
        (tables,) = bitset.extensions([formula], list(worlds))
    except EvaluationLimitError:
        return False
    return all((table == world.target).all() for table, world in zip(tables, worlds, strict=True))
