"""`induction check`: whether a formula explains these worlds, and where it does not."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from induction.errors import InductionError, UsageError, printable

if TYPE_CHECKING:
    from induction.cli.inputs import Candidate
    from induction.cli.verdicts import Reading, Result
    from induction.evaluation.verdict import Verdict
    from induction.formula.syntax import Signature
    from induction.worlds.instance import Instance

_CONFIRMED_UP_TO_STEPS = 200_000
"""A single verdict is confirmed by the naive evaluator where that takes at most so many steps."""


def command(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="[FORMULA] FILE",
            help="The formula (- for standard input; none with --formulas) and the instance file.",
        ),
    ],
    instance_id: Annotated[
        list[str] | None, typer.Option("--id", metavar="ID", help="Check this instance alone; may be repeated.")
    ] = None,
    formulas: Annotated[
        str | None,
        typer.Option("--formulas", metavar="FILE", help="Check every formula of this file: one a line, or JSONL rows."),
    ] = None,
    why: Annotated[
        bool, typer.Option("--why", help="Trace why the formula holds or fails of one object (one instance).")
    ] = False,
    world: Annotated[
        str | None, typer.Option("--world", help="With --why: the world; by default the first that went wrong.")
    ] = None,
    element: Annotated[
        str | None, typer.Option("--object", help="With --why: the object; by default the first that is wrong.")
    ] = None,
    reference: Annotated[
        bool, typer.Option("--reference", help="Decide FullObs and CI with the naive reference evaluator (slow).")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Check formulas against the worlds of an instance file.

    Without --id every instance is checked, and the exit code is 0 only if the formula is valid on all of them.
    A file of formulas has one a line (# and ; begin comments) or JSONL rows. A row may name its instance
    (instanceId); its formula is looked for in extractedFormula, formula, response, rawResponse and text, the answer
    of a model, and repaired where a parenthesis is all that is wrong (which is said). A text there that holds no
    formula is a wrong answer, not an error.

    \b
    Examples:
      induction check '(exists y (R x y))' suite.yaml.gz --id simple_001
      induction check '(exists y (R x y))' suite.yaml.gz --id simple_001 --why
      echo '(P x)' | induction check - suite.yaml.gz
      induction check --formulas answers.jsonl suite.yaml.gz --json
    """
    from induction.cli import inputs, output, verdicts

    formula, file = _split(arguments, formulas)
    inputs.require_one_standard_input(formula, file, formulas)
    if (world is not None or element is not None) and not why:
        raise UsageError("--world and --object go with --why")
    candidates, row_faults = _candidates(formula, formulas)
    instances, faults, known_ids = inputs.load_instances(file, instance_id)
    others = [c for c in candidates if c.instance_id is not None and c.instance_id not in set(known_ids)]
    alone = formulas is None and len(instances) == 1
    if why and formulas is not None:
        raise UsageError("--why takes one formula; it does not go with --formulas")
    if why and not alone:
        raise UsageError("--why takes one instance; choose it with --id")
    results = _check_all(instances, candidates, use_reference=reference, strict=formulas is None, alone=alone)
    if others:
        first = f"{others[0].place}: '{printable(str(others[0].instance_id))}'"
        output.note(f"{output.plural(len(others), 'row')} passed over, for instances not in the file (first {first})")
    if not results and not faults and not row_faults:
        raise UsageError(f"{printable(formulas or '', 200)}: no row is for an instance asked for")
    reason = None
    from induction.rewriting.explain import reason_for

    if why and results and results[0].verdict is not None:
        reason = reason_for(results[0].verdict, instances[0], world, element)
    all_faults = [*faults, *row_faults]
    if as_json:
        output.print_json(verdicts.as_json(file, results, all_faults, reason) | {"rowsPassedOver": len(others)})
    elif alone and results:
        verdicts.print_detail(results[0])
        if reason is not None:
            verdicts.print_reason(reason)
    elif results:
        verdicts.print_summary(results)
    inputs.report_faults(all_faults)
    if all_faults:
        return 2
    if any(result.undecided for result in results):
        return 3
    return 0 if all(result.valid for result in results) else 1


def _split(arguments: Sequence[str], formulas: str | None) -> tuple[str | None, str]:
    wanted = ("FILE",) if formulas is not None else ("FORMULA", "FILE")
    if len(arguments) != len(wanted):
        hint = " (quote the formula)" if len(arguments) > 2 else ""
        raise UsageError(
            f"check takes {' and '.join(wanted)}{' with --formulas' if formulas is not None else ''}, "
            f"{len(arguments)} given{hint}; see induction check --help"
        )
    return (None, arguments[0]) if formulas is not None else (arguments[0], arguments[1])


def _candidates(formula: str | None, formulas: str | None) -> tuple[list["Candidate"], list[InductionError]]:
    """The formulas to check, and the rows that hold none."""
    from induction.cli import inputs

    if formulas is None:
        return [inputs.Candidate(inputs.formula_text(formula or ""), "the formula")], []
    candidates: list[Candidate] = []
    faults: list[InductionError] = []
    for row in inputs.read_candidates(formulas):
        if isinstance(row, InductionError):
            faults.append(row)
        else:
            candidates.append(row)
    if not candidates and not faults:
        raise UsageError(f"{printable(formulas, 200)}: holds no formulas")
    return candidates, faults


def _check_all(
    instances: Sequence["Instance"],
    candidates: Sequence["Candidate"],
    *,
    use_reference: bool,
    strict: bool,
    alone: bool,
) -> list["Result"]:
    read_over: dict[Signature, list[Reading]] = {}
    results = []
    for instance in instances:
        if instance.signature not in read_over:
            read_over[instance.signature] = [_read(c, instance.signature, strict=strict) for c in candidates]
        readings = [r for r in read_over[instance.signature] if r.candidate.instance_id in (None, instance.instance_id)]
        results += _check_instance(instance, readings, use_reference=use_reference, alone=alone)
    return results


def _read(candidate: "Candidate", signature: "Signature", *, strict: bool) -> "Reading":
    """The candidate's formula over `signature`; with `strict`, a text that is none raises."""
    from induction.cli.verdicts import Reading
    from induction.errors import FormulaSyntaxError, FormulaTooLargeError
    from induction.formula.answers import AnswerStatus, read_answer
    from induction.formula.parsing import parse_formula

    if candidate.is_answer:
        answer = read_answer(candidate.text, signature)
        formula = answer.formula if answer.status is AnswerStatus.FORMULA else None
        return Reading(candidate, formula, answer.problem, answer)
    try:
        return Reading(candidate, parse_formula(candidate.text or "", signature))
    except (FormulaSyntaxError, FormulaTooLargeError) as error:
        if strict:
            raise
        return Reading(candidate, None, str(error))


def _check_instance(
    instance: "Instance", readings: Sequence["Reading"], *, use_reference: bool, alone: bool
) -> list["Result"]:
    """The results of `readings` on `instance`, in order; what is checked `alone` gets special care."""
    from induction.cli.verdicts import Result
    from induction.errors import BudgetExhaustedError, EvaluationLimitError
    from induction.grounding.check import check, check_many

    formulas = [reading.formula for reading in readings if reading.formula is not None]
    verdicts: list[Verdict | InductionError] = []
    try:
        verdicts += check_many(formulas, instance, use_reference=use_reference)
    except (EvaluationLimitError, BudgetExhaustedError):
        if alone:
            raise
        for formula in formulas:  # some of them are too much; find out which
            try:
                verdicts.append(check(formula, instance, use_reference=use_reference))
            except (EvaluationLimitError, BudgetExhaustedError) as error:
                verdicts.append(error)
    decided = iter(verdicts)
    results = []
    for reading in readings:
        if reading.formula is None:
            results.append(Result(instance, reading, None, reading.problem))
            continue
        verdict = next(decided)
        if isinstance(verdict, InductionError):
            results.append(Result(instance, reading, None, str(verdict), undecided=True))
        else:
            confirmed = (alone or use_reference) and _confirm(verdict, instance, known=use_reference)
            results.append(Result(instance, reading, verdict, confirmed=confirmed))
    return results


def _confirm(verdict: "Verdict", instance: "Instance", *, known: bool) -> bool:
    """Whether the naive evaluator confirmed the verdict (`known`: gave it); False where that would take too long."""
    from induction.evaluation.reference import bound_steps
    from induction.grounding.check import check
    from induction.worlds.instance import Regime

    if instance.regime is Regime.EC:
        return verdict.valid  # a completion is always re-checked; that there is none is not
    if known:
        return True
    worlds = (*instance.train_worlds, *instance.no_worlds)
    if sum(bound_steps(verdict.formula, world.size) for world in worlds) > _CONFIRMED_UP_TO_STEPS:
        return False
    if check(verdict.formula, instance, use_reference=True) != verdict:
        raise AssertionError(f"the evaluators disagree on {verdict.formula} in {instance.instance_id}")
    return True
