"""`induction repair`: the valid formulas nearest to one that is not."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from induction.formula.syntax import Formula
    from induction.rewriting.repair import Edit, Repair
    from induction.worlds.instance import Instance

_LONGEST_SHOWN = 60


def command(
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help="The formula, or - for standard input.")],
    file: Annotated[str, typer.Argument(metavar="FILE", help="Instance file (YAML, JSON, JSONL, .gz), or -.")],
    instance_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="The instance; needed where the file has several.")
    ] = None,
    edits: Annotated[int, typer.Option("--edits", min=1, max=2, help="How far to look: 1 or 2 edits.")] = 2,
    answers: Annotated[int, typer.Option("--answers", min=1, max=1000, help="How many answers to list.")] = 5,
    budget: Annotated[str, typer.Option("--budget", help="Wall time: 60s, 5m.")] = "30s",
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Also show a smallest formula found without the one given (60s at most).")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Find the valid formulas nearest to a formula: smallest change first, each change named.

    Nearest are those that the fewest edits make, and of these the smallest. An edit negates a part, exchanges a
    predicate, a relation, a variable or the direction of an atom, changes a connective or a quantifier, drops a part
    or a quantifier, adds a literal as a guard or a case, puts a literal in a part's place, or exchanges two predicates
    everywhere. Two of them, or a formula of up to 10 AST nodes put beside or in place of a part (the smallest that
    fixes the rest; not for EC), are at distance 2. All formulas that near are gone through: if none is valid, that is
    what is said. docs/rewriting.md has the edits exactly.

    Exit code: 0 there are answers, or the formula is valid already; 1 none within --edits; 3 the budget ran out
    without an answer.

    \b
    Examples:
      induction repair '(exists y (and (R x y) (Q y)))' suite.yaml.gz --id simple_001
      induction repair '(exists y (R y x))' suite.yaml.gz --id simple_001 --edits 1 --json
      echo '(P x)' | induction repair - suite.yaml.gz --id simple_001 --budget 2m
    """
    from induction.budget import Budget
    from induction.cli import inputs, output
    from induction.formula.parsing import parse_formula
    from induction.rewriting.repair import RepairOutcome, repair

    inputs.require_one_standard_input(formula, file)
    seconds = inputs.seconds(budget, "--budget")
    instance = inputs.load_instance(file, instance_id)
    given = parse_formula(inputs.formula_text(formula), instance.signature)
    with output.progress_share("repair") as show:
        result = repair(
            given,
            instance,
            edits=edits,
            answers=answers,
            budget=Budget(seconds),
            report=lambda distance, done, steps: show(f"distance {distance}", done, steps),
        )
    other = _fresh(instance) if fresh else None
    if as_json:
        output.print_json(_as_json(result, edits) | ({"fresh": None if other is None else str(other)} if fresh else {}))
    else:
        _print(result, edits)
        if fresh:
            print()
            output.print_indented(0, "not a repair, for comparison: " + (_described(other) if other else "none found"))
    if result.answers or result.outcome is RepairOutcome.ALREADY_VALID:
        return 0
    return 1 if result.outcome is RepairOutcome.NONE_WITHIN else 3


def _fresh(instance: "Instance") -> "Formula | None":
    """A smallest formula that the default search finds."""
    from induction.budget import Budget
    from induction.search import SearchOptions, load_search

    found = load_search("bottom-up").search(instance, Budget(60.0, 4 << 30), SearchOptions(), lambda _: None)
    return found.formulas[0] if found.formulas else None


def _described(formula: "Formula") -> str:
    return f"AST {formula.ast_nodes}: {formula}"


def _print(result: "Repair", edits: int) -> None:
    from induction.cli import output
    from induction.rewriting.repair import RepairOutcome

    distance = output.plural(edits, "edit")
    if result.outcome is RepairOutcome.ALREADY_VALID:
        print(f"already valid (AST {result.formula.ast_nodes}): nothing to repair")
        return
    for answer in result.answers:
        print(f"distance {answer.distance}, {_size(answer.formula, result)}")
        output.print_indented(1, str(answer.formula))
        for edit in answer.edits:
            output.print_indented(2, in_words(edit))
    judged = f"{result.coverage.judged:,} formulas judged"
    if result.outcome is RepairOutcome.NONE_WITHIN:
        print(f"no valid formula within {distance} ({judged})")
    elif result.outcome is RepairOutcome.CUT_SHORT:
        covered = ", ".join(
            f"{100 * result.coverage.share(d):.0f} % of distance {d}" for d in sorted(result.coverage.steps)
        )
        what = "nearer or smaller ones may be left" if result.answers else "no valid formula so far"
        undecided = f", {result.undecided} undecided by Z3" if result.undecided else ""
        print(f"the budget ran out: {what}; gone through: {covered or 'nothing'} ({judged}{undecided})")
    else:
        print(f"{output.plural(len(result.answers), 'answer')}, none nearer ({judged})")
    if result.closest is not None:
        print(f"closest at distance 1, {output.plural(result.closest.wrong, 'mismatch', 'mismatches')} left:")
        output.print_indented(1, str(result.closest.formula))
        for edit in result.closest.edits:
            output.print_indented(2, in_words(edit))


def _size(formula: "Formula", result: "Repair") -> str:
    return f"AST {formula.ast_nodes} ({formula.ast_nodes - result.formula.ast_nodes:+d})"


def in_words(edit: "Edit") -> str:
    """The edit, its place and what became what, long texts cut in the middle."""
    place = "the whole formula" if not edit.path else f"at {'.'.join(str(number + 1) for number in edit.path)}"
    if edit.kind == "exchanged-everywhere":
        return f"{edit.kind}: {edit.before}"
    return f"{edit.kind} ({place}): {_shortened(edit.before)} -> {_shortened(edit.after)}"


def _shortened(text: str) -> str:
    if len(text) <= _LONGEST_SHOWN:
        return text
    half = (_LONGEST_SHOWN - 3) // 2
    return f"{text[:half]} … {text[-half:]}"


def _as_json(result: "Repair", edits: int) -> dict[str, Any]:
    return {
        "instanceId": result.instance_id,
        "formula": str(result.formula),
        "astSize": result.formula.ast_nodes,
        "outcome": result.outcome.value,
        "edits": edits,
        "noneWithin": result.none_within,
        "answers": [
            {
                "formula": str(answer.formula),
                "astSize": answer.formula.ast_nodes,
                "distance": answer.distance,
                "edits": edits_as_json(answer.edits),
            }
            for answer in result.answers
        ],
        "closest": None
        if result.closest is None
        else {
            "formula": str(result.closest.formula),
            "mismatches": result.closest.wrong,
            "edits": edits_as_json(result.closest.edits),
        },
        "judged": result.coverage.judged,
        "covered": {str(d): round(result.coverage.share(d), 4) for d in sorted(result.coverage.steps)},
        "undecided": result.undecided,
    }


def edits_as_json(edits: "Sequence[Edit]") -> list[dict[str, Any]]:
    """Edits by name; `path` is the numbers of the operands from the root, from 1."""
    return [
        {"kind": edit.kind, "path": [n + 1 for n in edit.path], "before": edit.before, "after": edit.after}
        for edit in edits
    ]
