"""Verdicts in every regime: evaluation where all facts are known, completion where some are not."""

from collections.abc import Sequence

from induction.evaluation import verdict as evaluated
from induction.evaluation.verdict import Verdict, WorldVerdict
from induction.formula.syntax import Formula
from induction.grounding.completion import complete
from induction.grounding.z3_backend import RESOURCE_LIMIT
from induction.worlds.instance import Instance, Regime
from induction.worlds.world import World


def check(
    formula: Formula, instance: Instance, *, use_reference: bool = False, resource_limit: int = RESOURCE_LIMIT
) -> Verdict:
    """The verdict on one formula; see `check_many`."""
    return check_many([formula], instance, use_reference=use_reference, resource_limit=resource_limit)[0]


def check_many(
    formulas: Sequence[Formula],
    instance: Instance,
    *,
    use_reference: bool = False,
    resource_limit: int = RESOURCE_LIMIT,
) -> list[Verdict]:
    """The verdict on each formula.

    FullObs and CI are decided by the fast evaluator, or with `use_reference` by the naive one. EC worlds are
    decided by completion, whose positive answers the naive evaluator always confirms.

    Raises:
        BudgetExhaustedError: Z3 could not decide an EC world within `resource_limit`.
        EvaluationLimitError: a formula beyond what can be evaluated.
    """
    if instance.regime is not Regime.EC:
        return evaluated.check_many(formulas, instance, use_reference=use_reference)
    return [
        Verdict(
            instance_id=instance.instance_id,
            regime=instance.regime,
            formula=formula,
            worlds=tuple(_completed(formula, world, resource_limit) for world in instance.train_worlds),
            gold_ast=instance.gold_ast,
            size_reference=instance.size_reference,
        )
        for formula in formulas
    ]


def _completed(formula: Formula, world: World, resource_limit: int) -> WorldVerdict:
    completion = complete(formula, world, resource_limit=resource_limit)
    labelled = int(world.target.sum())
    return WorldVerdict(
        world=world.name,
        side="train",
        size=world.size,
        labelled=labelled,
        predicted=labelled if completion.completed is not None else None,
        false_positives=completion.negatives_unachievable,
        false_negatives=completion.positives_unachievable,
        satisfied=completion.completed is not None,
        completion=completion,
    )
