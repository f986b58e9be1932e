"""`induction check`: whether a formula explains these worlds, and where it does not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from induction.errors import InductionError, UsageError, printable

if TYPE_CHECKING:
    from induction.cli.inputs import Candidate
    from induction.evaluation.verdict import Verdict
    from induction.formula.syntax import Formula, Signature
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
        list[str] | None, typer.Option("--id", help="Check this instance alone; may be repeated.")
    ] = None,
    formulas: Annotated[
        str | None,
        typer.Option("--formulas", metavar="FILE", help="Check every formula of this file: one a line, or JSONL rows."),
    ] = None,
    reference: Annotated[
        bool, typer.Option("--reference", help="Decide with the naive reference evaluator instead (slow).")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    r"""Check formulas against the worlds of an instance file.

    Without --id every instance is checked, and the exit code is 0 only if the formula is valid on all of them.
    Rows of a JSONL file of formulas may name their instance (instanceId); the formula is extractedFormula,
    formula or text. A formula there that does not parse is a wrong answer, not an error.

    \b
    Examples:
      induction check '(exists y (and (R x y) (P y)))' suite.yaml.gz --id simple_001
      echo '(P x)' | induction check - suite.yaml.gz
      induction check --formulas answers.jsonl suite.yaml.gz --json
    """
    from induction.cli import inputs, output

    formula, file = _split(arguments, formulas)
    inputs.require_one_standard_input(formula, file, formulas)
    row_faults: list[InductionError] = []
    candidates: list[Candidate] = []
    if formulas is None:
        candidates.append(inputs.Candidate(inputs.formula_text(formula or ""), "the formula"))
    else:
        for row in inputs.read_candidates(formulas):
            if isinstance(row, InductionError):
                row_faults.append(row)
            else:
                candidates.append(row)
        if not candidates and not row_faults:
            raise UsageError(f"{printable(formulas, 200)}: holds no formulas")
    instances, faults = inputs.load_instances(file, instance_id)
    row_faults += _unknown_instances(candidates, instances, formulas, everything=not instance_id and not faults)
    parsed_over: dict[Signature, list[_Parsed]] = {}
    alone = formulas is None and len(instances) == 1
    results = []
    for instance in instances:
        if instance.signature not in parsed_over:
            parsed_over[instance.signature] = [
                _parse(candidate, instance.signature, strict=formulas is None) for candidate in candidates
            ]
        parsed = parsed_over[instance.signature]
        results += _check_instance(instance, parsed, use_reference=reference, alone=alone)
    if as_json:
        output.print_json(_as_json(file, results, [*faults, *row_faults]))
    elif alone and results:
        _print_detail(results[0])
    elif results:
        _print_summary(results)
    inputs.report_faults([*faults, *row_faults])
    if faults or row_faults:
        return 2
    return 0 if results and all(result.valid for result in results) else 1


@dataclass(frozen=True)
class _Parsed:
    """A candidate read over one signature: its formula, or why there is none."""

    candidate: "Candidate"
    formula: "Formula | None"
    problem: str = ""


@dataclass(frozen=True)
class _Result:
    """One candidate on one instance: a verdict, or why there is none."""

    instance: "Instance"
    candidate: "Candidate"
    verdict: "Verdict | None"
    problem: str = ""
    confirmed: bool = False

    @property
    def valid(self) -> bool:
        return self.verdict is not None and self.verdict.valid


def _split(arguments: Sequence[str], formulas: str | None) -> tuple[str | None, str]:
    wanted = ("FILE",) if formulas is not None else ("FORMULA", "FILE")
    if len(arguments) != len(wanted):
        hint = " (quote the formula)" if len(arguments) > 2 else ""
        raise UsageError(
            f"check takes {' and '.join(wanted)}{' with --formulas' if formulas is not None else ''}, "
            f"{len(arguments)} given{hint}; see induction check --help"
        )
    return (None, arguments[0]) if formulas is not None else (arguments[0], arguments[1])


def _unknown_instances(
    candidates: Sequence["Candidate"], instances: Sequence["Instance"], formulas: str | None, *, everything: bool
) -> list[InductionError]:
    """Rows that name an instance which the file does not hold; none when only part of the file was asked for."""
    from induction.errors import InstanceFormatError

    known = {instance.instance_id for instance in instances}
    return [
        InstanceFormatError(f"no instance '{printable(c.instance_id)}'", file=formulas or "", place=c.place)
        for c in candidates
        if everything and c.instance_id is not None and c.instance_id not in known
    ]


def _parse(candidate: "Candidate", signature: "Signature", *, strict: bool) -> _Parsed:
    """The candidate's formula over `signature`; with `strict`, a text that is none raises."""
    from induction.errors import FormulaSyntaxError, FormulaTooLargeError
    from induction.formula.parsing import parse_formula

    if candidate.text is None:
        return _Parsed(candidate, None, "no formula")
    try:
        return _Parsed(candidate, parse_formula(candidate.text, signature))
    except (FormulaSyntaxError, FormulaTooLargeError) as error:
        if strict:
            raise
        return _Parsed(candidate, None, str(error))


def _check_instance(
    instance: "Instance", parsed: Sequence["_Parsed"], *, use_reference: bool, alone: bool
) -> list[_Result]:
    """The results of the candidates meant for `instance`, in order; what is checked `alone` gets special care."""
    from induction.errors import EvaluationLimitError, UnsupportedRegimeError
    from induction.evaluation.verdict import check, check_many

    meant = [entry for entry in parsed if entry.candidate.instance_id in (None, instance.instance_id)]
    formulas = [entry.formula for entry in meant if entry.formula is not None]
    verdicts: list[Verdict | str] = []
    try:
        verdicts += check_many(formulas, instance, use_reference=use_reference)
    except (UnsupportedRegimeError, EvaluationLimitError) as error:
        if alone:
            raise
        if isinstance(error, UnsupportedRegimeError):
            verdicts = [str(error)] * len(formulas)
            formulas = []
        for formula in formulas:  # one of them is too wide; find out which
            try:
                verdicts.append(check(formula, instance, use_reference=use_reference))
            except EvaluationLimitError as error:
                verdicts.append(str(error))
    decided = iter(verdicts)
    results = []
    for entry in meant:
        verdict = entry.problem if entry.formula is None else next(decided)
        if isinstance(verdict, str):
            results.append(_Result(instance, entry.candidate, None, verdict))
        else:
            confirmed = use_reference or (alone and _confirm(verdict, instance))
            results.append(_Result(instance, entry.candidate, verdict, confirmed=confirmed))
    return results


def _confirm(verdict: "Verdict", instance: "Instance") -> bool:
    """Whether the naive evaluator confirmed the verdict; False where that would take too long."""
    from induction.evaluation.reference import bound_steps
    from induction.evaluation.verdict import check

    worlds = (*instance.train_worlds, *instance.no_worlds)
    if sum(bound_steps(verdict.formula, world.size) for world in worlds) > _CONFIRMED_UP_TO_STEPS:
        return False
    if check(verdict.formula, instance, use_reference=True) != verdict:
        raise AssertionError(f"the evaluators disagree on {verdict.formula} in {instance.instance_id}")
    return True


# --- output ---


def _size_line(result: _Result) -> str:
    from induction.evaluation.verdict import GOLD_MARGINS
    from induction.formula.metrics import quantifier_depth

    verdict = result.verdict
    assert verdict is not None
    line = f"AST {verdict.formula.ast_nodes}, depth {quantifier_depth(verdict.formula)}"
    if verdict.gold_ast is None or verdict.ast_delta is None:
        return f"{line}; no gold recorded"
    line += f"; gold {verdict.gold_ast} ({verdict.ast_delta:+d})"
    if not verdict.valid:
        return line
    marks = (f"+{margin} {'yes' if verdict.within_gold(margin) else 'no'}" for margin in GOLD_MARGINS)
    return f"{line}; within gold {', '.join(marks)}"


def _verdict_line(verdict: "Verdict") -> str:
    from induction.cli import output

    if verdict.valid:
        return "VALID"
    by_side = []
    for side in verdict.failed_sides:
        failed = [world for world in verdict.failed_worlds if world.side == side]
        total = sum(world.side == side for world in verdict.worlds)
        if side == "NO":
            by_side.append(f"{len(failed)} of {output.plural(total, 'NO world')} matched, where a mismatch is needed")
        else:
            wrong = output.plural(sum(world.mismatches for world in failed), "object")
            named = "YES world" if side == "YES" else "world"
            by_side.append(f"{wrong} wrong in {len(failed)} of {output.plural(total, named)}")
    return f"NOT VALID: {'; '.join(by_side)}"


def _print_detail(result: _Result) -> None:
    from induction.cli import output
    from induction.formula.printing import to_unicode

    verdict = result.verdict
    assert verdict is not None
    instance = result.instance
    confirmation = "" if result.confirmed else " (too long to confirm with the reference evaluator)"
    output.print_fields(
        (
            ("instance", f"{instance.instance_id}: {instance.regime.value}, band {instance.band_label}"),
            ("formula", to_unicode(verdict.formula)),
            ("verdict", _verdict_line(verdict) + confirmation),
            ("size", _size_line(result)),
        )
    )
    print()
    sided = any(world.side == "NO" for world in verdict.worlds)
    headings = (
        "",
        "world",
        *(("side",) if sided else ()),
        "objects",
        "T",
        "holds",
        "false positives",
        "false negatives",
    )
    rows = [
        (
            "ok" if world.satisfied else "FAIL",
            world.world,
            *((world.side,) if sided else ()),
            world.size,
            world.labelled,
            world.predicted,
            " ".join(world.false_positives) or "-",
            " ".join(world.false_negatives) or "-",
        )
        for world in verdict.worlds
    ]
    output.print_table(headings, rows, numeric=("objects", "T", "holds"))
    if not verdict.valid:
        print("\nfalse positives: it holds though T does not; false negatives: it misses T")


def _print_summary(results: Sequence[_Result]) -> None:
    from induction.cli import output

    several = len({result.candidate.place for result in results}) > 1
    rows = []
    for result in results:
        verdict = result.verdict
        if verdict is None:
            marks, size, delta, failed = "no verdict", "-", "-", result.problem
        else:
            marks, size = "valid" if verdict.valid else "not valid", str(verdict.formula.ast_nodes)
            delta = "-" if verdict.ast_delta is None else f"{verdict.ast_delta:+d}"
            failed = f"{len(verdict.failed_worlds)} of {output.plural(len(verdict.worlds), 'world')}"
        place = (result.candidate.place,) if several else ()
        rows.append((*place, result.instance.instance_id, marks, size, delta, failed))
    place_heading = ("formula",) if several else ()
    headings = (*place_heading, "instance", "verdict", "AST", "gold", "failed")
    output.print_table(headings, rows, numeric=("AST", "gold"), unbroken=("formula", "verdict"))
    valid = sum(result.valid for result in results)
    print(f"\n{valid} of {output.plural(len(results), 'verdict')} valid; gold: AST size against the recorded formula's")


def _as_json(file: str, results: Sequence[_Result], faults: Sequence[InductionError]) -> dict[str, Any]:
    return {
        "file": file,
        "checked": len(results),
        "valid": sum(result.valid for result in results),
        "faults": [str(fault) for fault in faults],
        "results": [_result_json(result) for result in results],
    }


def _result_json(result: _Result) -> dict[str, Any]:
    from induction.evaluation.verdict import GOLD_MARGINS
    from induction.formula.metrics import quantifier_depth
    from induction.formula.syntax import to_sexpr

    verdict, instance = result.verdict, result.instance
    facts: dict[str, Any] = {
        "instanceId": instance.instance_id,
        "regime": instance.regime.value,
        "band": instance.band_label,
        "place": result.candidate.place,
        "text": result.candidate.text,
        "parsed": verdict is not None,
        "valid": result.valid,
    }
    if verdict is None:
        return facts | {"problem": result.problem}
    return facts | {
        "formula": to_sexpr(verdict.formula),
        "astSize": verdict.formula.ast_nodes,
        "quantifierDepth": quantifier_depth(verdict.formula),
        "goldAst": verdict.gold_ast,
        "astDelta": verdict.ast_delta,
        **{f"goldPlus{margin}": verdict.within_gold(margin) for margin in GOLD_MARGINS},
        "failedSides": list(verdict.failed_sides),
        "confirmedByReference": result.confirmed,
        "worlds": [
            {
                "worldId": world.world,
                "side": world.side,
                "satisfied": world.satisfied,
                "objects": world.size,
                "labelled": world.labelled,
                "predicted": world.predicted,
                "falsePositives": list(world.false_positives),
                "falseNegatives": list(world.false_negatives),
            }
            for world in verdict.worlds
        ],
    }
