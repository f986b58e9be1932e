"""Predictions to evaluation rows of the release's form, with what we add under `metadata`.

An answer is evaluated once for each instance, however many rows hold it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from induction.errors import BudgetExhaustedError, EvaluationLimitError, FormulaTooLargeError
from induction.evaluation import bitset
from induction.evaluation.verdict import GOLD_MARGINS, Verdict
from induction.formula.answers import Answer, AnswerStatus, read_answer
from induction.formula.metrics import quantifier_depth
from induction.formula.normal_forms import to_miniscoped
from induction.formula.syntax import Formula, Quantified, fold, to_sexpr
from induction.grounding.check import check
from induction.grounding.equivalence import Comparer
from induction.scoring.predictions import Prediction
from induction.scoring.taxonomy import ErrorKind, Explanation, Taxonomist
from induction.worlds.instance import Instance, Regime
from induction.worlds.world import World

SCHEMA_VERSION = "induction_eval_v1"


@dataclass(frozen=True)
class Evaluated:
    """What one answer text is worth on one instance."""

    answer: Answer
    verdict: Verdict | None
    problem: str
    fresh_right: int | None
    fresh_total: int | None
    explanation: Explanation | None

    @property
    def valid(self) -> bool:
        """Whether the answer explains the instance."""
        return self.verdict is not None and self.verdict.valid


class Evaluator:
    """Evaluates answers to one instance; `fresh` holds its hold-out worlds, None where there are none."""

    def __init__(self, instance: Instance, fresh: Sequence[World] | None, comparer: Comparer) -> None:
        self._instance = instance
        self._fresh = fresh
        self._taxonomist = Taxonomist(instance, comparer)
        self._known: dict[str | None, Evaluated] = {}

    def evaluate(self, text: str | None) -> Evaluated:
        """The worth of an answer."""
        if text not in self._known:
            self._known[text] = self._evaluate(text)
        return self._known[text]

    def _evaluate(self, text: str | None) -> Evaluated:
        answer = read_answer(text, self._instance.signature)
        formula = answer.formula
        if formula is None or answer.status is not AnswerStatus.FORMULA:
            return Evaluated(answer, None, answer.problem, None, None, self._taxonomist.explain_missing(answer))
        try:
            verdict = check(formula, self._instance)
        except (BudgetExhaustedError, EvaluationLimitError) as error:
            undecided = Explanation(ErrorKind.UNDECIDED, str(error))
            return Evaluated(answer, None, str(error), None, None, undecided)
        right = None
        problem = ""
        if verdict.valid and self._fresh is not None:
            try:
                right = count_right(formula, self._fresh)
            except EvaluationLimitError as error:
                problem = f"not tried on fresh worlds: {error}"
        total = None if right is None or self._fresh is None else len(self._fresh)
        explanation = self._taxonomist.explain(formula, verdict, None if right is None else right == total)
        return Evaluated(answer, verdict, problem, right, total, explanation)


def count_right(formula: Formula, worlds: Sequence[World]) -> int:
    """In how many of the worlds the formula matches the target on every object."""
    (tables,) = bitset.extensions([formula], list(worlds))
    return sum(bool((table == world.target).all()) for table, world in zip(tables, worlds, strict=True))


@dataclass(frozen=True)
class Dataset:
    """What rows say of the file that the instances are from."""

    name: str
    path: str

    @classmethod
    def of_file(cls, path: str) -> "Dataset":
        """The file at `path`, named without folders and suffixes."""
        return cls(PurePath(path).name.removesuffix(".gz").rsplit(".", 1)[0], path)


def evaluation_row(
    dataset: Dataset,
    instance: Instance,
    model: str,
    run: str,
    prediction: Prediction | None,
    evaluated: Evaluated,
    alternatives: Sequence[Evaluated] = (),
    notes: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The row of one prediction, or for None of an instance that the model gave no row for."""
    answer = evaluated.answer
    formula = answer.formula if answer.status is AnswerStatus.FORMULA else None
    size = formula.ast_nodes if formula is not None else None
    gold_ast = instance.gold_ast
    delta = None if size is None or gold_ast is None else size - gold_ast
    return {
        "schema_version": SCHEMA_VERSION,
        "dataset_name": dataset.name,
        "dataset_path": dataset.path,
        "instance_id": instance.instance_id,
        "task": instance.regime.value,
        "scenario": instance.regime.scenario,
        "model_id": model,
        "run_id": run,
        "completed": prediction is not None and prediction.text is not None,
        "valid": evaluated.valid,
        "parse_ok": formula is not None,
        "prediction": {
            "formula": to_sexpr(formula) if formula is not None else answer.text,
            "ast_size": size,
            "quantifier_depth": quantifier_depth(formula) if formula is not None else None,
            "description": _description(prediction),
            "parse_error": None if formula is not None else _parse_error(prediction, evaluated),
        },
        "gold_formula": to_sexpr(instance.gold) if instance.gold is not None else None,
        "gold_ast": gold_ast,
        "ast_delta": delta,
        **{f"gold_plus_{margin}": _within(evaluated.valid, delta, margin) for margin in GOLD_MARGINS},
        "evaluation": _evaluation(instance, evaluated, size),
        "metadata": _metadata(instance, prediction, evaluated, alternatives, notes or {}),
    }


def _quantifiers(formula: Formula) -> str:
    """The quantifiers along the deepest path of the miniscoped form, such as `exists forall`; "none" without any."""

    def combine(node: Formula, *paths: tuple[str, ...]) -> tuple[str, ...]:
        longest = max(paths, key=len, default=())
        return (node.keyword, *longest) if isinstance(node, Quantified) else longest

    try:
        return " ".join(fold(to_miniscoped(formula), combine)) or "none"
    except FormulaTooLargeError:
        return "-"


def _parse_error(prediction: Prediction | None, evaluated: Evaluated) -> str:
    return (prediction.failure if prediction is not None else "") or evaluated.problem


def _description(prediction: Prediction | None) -> str:
    """The description that came with an answer: in its row, or in the JSON that was asked for."""
    if prediction is None or prediction.description or not prediction.text:
        return prediction.description if prediction is not None else ""
    try:
        found = json.loads(prediction.text, strict=False)
    except (ValueError, RecursionError):
        return ""
    described = found.get("description") if isinstance(found, dict) else None
    return described if isinstance(described, str) else ""


def _within(valid: bool, delta: int | None, margin: int) -> bool:
    """Whether an answer is valid and at most so much larger than the gold; never without a gold."""
    return valid and delta is not None and delta <= margin


def _evaluation(instance: Instance, evaluated: Evaluated, size: int | None) -> dict[str, Any]:
    """The release's own fields."""
    verdict, answer = evaluated.verdict, evaluated.answer
    formula = answer.formula if answer.status is AnswerStatus.FORMULA else None
    gold_ast = instance.gold_ast
    comparison = None
    if size is not None and gold_ast is not None:
        comparison = "equal" if size == gold_ast else "simpler" if size < gold_ast else "more_complex"
    failed = verdict.failed_worlds[0] if verdict is not None and verdict.failed_worlds else None
    result: dict[str, Any] = {
        "correctFormula": evaluated.valid,
        "formulaParsed": formula is not None,
        "parsedFormula": to_sexpr(formula) if formula is not None else None,
        "llmAstSize": size,
        "llmQuantifierDepth": quantifier_depth(formula) if formula is not None else None,
        "targetFormula": to_sexpr(instance.gold) if instance.gold is not None else None,
        "targetAstSize": gold_ast,
        "complexityComparison": comparison,
        "failedWorld": failed.world if failed is not None else None,
        "failedElements": [*failed.false_positives, *failed.false_negatives] if failed is not None else [],
        "failureExplanation": _failure_in_words(evaluated),
        "z3Status": None,
        "evalMs": None,  # a time would make equal runs differ
    }
    if instance.regime is Regime.CI:
        worlds = verdict.worlds if verdict is not None else ()
        of_side = {side: [one for one in worlds if one.side == side and one.satisfied] for side in ("YES", "NO")}
        result |= {
            "cYesCount": len(of_side["YES"]),
            "cNoCount": len(of_side["NO"]),
            "cFailedWorldType": failed.side if failed is not None else None,
            "cCounterexampleElement": next(iter((*failed.false_positives, *failed.false_negatives)), None)
            if failed is not None and failed.side == "YES"
            else None,
        }
    if instance.regime is Regime.EC:
        result |= _completion_fields(instance, verdict)
    return result


def _completion_fields(instance: Instance, verdict: Verdict | None) -> dict[str, Any]:
    """The release's fields for EC, over all worlds together; none is satisfied by an answer without a formula."""
    worlds = verdict.worlds if verdict is not None else ()
    pairs = [(one.world, one.completion) for one in worlds if one.completion is not None]
    first = next((completion.failure for _, completion in pairs if completion.failure), None)
    positives = [(world, element) for world, c in pairs for element in c.positives_unachievable]
    negatives = [(world, element) for world, c in pairs for element in c.negatives_unachievable]
    up = sum(len(completion.flips_to_true) for _, completion in pairs)
    down = sum(len(completion.flips_to_false) for _, completion in pairs)
    labelled = sum(int(world.target.sum()) for world in instance.train_worlds)
    unsat = [f"{world}:{element}" for world, element in (*positives, *negatives)]
    return {
        "z3Status": None if verdict is None else "sat" if verdict.valid else "unsat",
        "e_semantics_used": "exact_exists",
        "eSat": verdict is not None and verdict.valid,
        "eFailureClassification": first,
        "eLocalUnsatElements": unsat,
        "eCompletionSensitive": bool(up or down),
        "eSensitiveElementsCount": up + down,
        "eFlipsFtoT": up,
        "eFlipsTtoF": down,
        "eNonmonotone": down > 0,
        "ePosUnachievableCount": len(positives),
        "ePosUnachievableElements": [f"{world}:{element}" for world, element in positives],
        "eNegUnachievableCount": len(negatives),
        "eNegUnachievableElements": [f"{world}:{element}" for world, element in negatives],
        "eNumPosLabels": labelled,
        "eNumNegLabels": sum(world.size for world in instance.train_worlds) - labelled,
        "eNumLocalUnsat": len(unsat),
    }


def _failure_in_words(evaluated: Evaluated) -> str | None:
    verdict = evaluated.verdict
    if verdict is None:
        return evaluated.problem or None
    if not verdict.failed_worlds:
        return None
    failed = verdict.failed_worlds[0]
    if failed.side == "NO":
        return f"matches T on every object of NO world {failed.world}"
    parts = []
    if failed.false_positives:
        parts.append(f"true of {' '.join(failed.false_positives)}, not labelled T")
    if failed.false_negatives:
        parts.append(f"false of {' '.join(failed.false_negatives)}, labelled T")
    if not parts and failed.completion is not None:
        parts.append(f"no completion reaches the labels of {' '.join(failed.completion.conflict)} together")
    return f"{failed.world}: {'; '.join(parts)}"


def instance_facts(instance: Instance) -> dict[str, Any]:
    """What tables are made by: band, family, lift, quantifiers of the gold, and the size answers are measured by."""
    description = instance.description_extra
    return {
        "band": instance.band_label,
        "family": description.get("gold_family_id"),
        "lifted": description.get("gold_is_lift_hard"),
        "goldQuantifiers": _quantifiers(instance.gold) if instance.gold is not None else None,
        "sizeReference": instance.size_reference,
    }


def _metadata(
    instance: Instance,
    prediction: Prediction | None,
    evaluated: Evaluated,
    alternatives: Sequence[Evaluated],
    notes: Mapping[str, Any],
) -> dict[str, Any]:
    """What we add: how the answer was read, mismatches by world, fresh worlds, the kind of fault."""
    answer, verdict, explanation = evaluated.answer, evaluated.verdict, evaluated.explanation
    result: dict[str, Any] = {
        **instance_facts(instance),
        "place": prediction.place if prediction is not None else None,
        "answerStatus": answer.status.value,
        "strict": answer.is_strict,
        "repairs": list(answer.repairs),
        "undecided": bool(evaluated.problem) and verdict is None and answer.status is AnswerStatus.FORMULA,
        "mismatches": {} if verdict is None else {one.world: one.mismatches for one in verdict.worlds},
        "holdoutRight": evaluated.fresh_right,
        "holdoutWorlds": evaluated.fresh_total,
        "holdoutMatch": None if evaluated.fresh_right is None else evaluated.fresh_right == evaluated.fresh_total,
        "errorKind": explanation.kind.value if explanation is not None else None,
        "errorEvidence": explanation.evidence if explanation is not None else None,
        "errorAlso": [kind.value for kind in explanation.also] if explanation is not None else [],
    }
    if alternatives:
        result["alternatives"] = {"formulas": len(alternatives), "valid": sum(one.valid for one in alternatives)}
    return result | dict(notes)
