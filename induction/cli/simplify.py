"""`induction simplify`: the same formula in fewer nodes, or in as few as there can be, with proof."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from induction.errors import UsageError, printable

if TYPE_CHECKING:
    from induction.formula.syntax import Formula, Signature
    from induction.rewriting.simplify import Simplification
    from induction.rewriting.smallest import Effort
    from induction.worlds.instance import Instance

_SIGNATURE = "P/1 Q/1 R/2 S/2"
_PROGRESS_WIDTH = 79


def command(
    formula: Annotated[str, typer.Argument(metavar="F", help="A formula, or - for standard input.")],
    on: Annotated[
        str | None,
        typer.Option(
            "--on", metavar="FILE", help="Keep the extension on the worlds of an instance of this file, no more."
        ),
    ] = None,
    instance_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="With --on: which instance; needed if there are several.")
    ] = None,
    smallest: Annotated[
        bool, typer.Option("--smallest", help="Find the smallest such formula of the fragment, with proof.")
    ] = False,
    variables: Annotated[
        int, typer.Option("--variables", min=1, max=3, help="The fragment: variable names that may occur.")
    ] = 3,
    depth: Annotated[
        int, typer.Option("--depth", min=0, max=10, help="The fragment: deepest nesting of quantifiers.")
    ] = 3,
    equality: Annotated[
        bool, typer.Option("--equality/--no-equality", help="The fragment: whether = may occur.")
    ] = True,
    budget: Annotated[str, typer.Option("--budget", help="With --smallest: wall time, 60s or 5m.")] = "60s",
    memory: Annotated[str, typer.Option("--memory", help="With --smallest: memory, 500MB or 4GB.")] = "4GB",
    signature: Annotated[
        str | None,
        typer.Option(
            "--signature",
            metavar="NAME/ARITY ...",
            help=f"The predicates and their arities, without --on: {_SIGNATURE} by default.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Write a formula with fewer AST nodes: true of the same objects in every world, every step proven.

    Never larger; the steps are named. With --on only the extension in the worlds to match and to miss of one instance
    is kept, for EC in every completion of each, so that much more can go. With --smallest the result is the smallest
    formula of the fragment (not, binary and/or, quantifiers, =, within --variables and --depth) that will do, and that
    none is smaller is proven; when the budget runs out, the best formula and the proven bound are given. A formula that
    uses implies, iff or more than the fragment has may be smaller still: then it stays.

    Exit code: 0 simplified, or as simple as it gets; 3 with --smallest, if the smallest is not known.

    \b
    Examples:
      induction simplify '(or (exists y (R x y)) (exists z (and (R x z) (not (P z)))))'
      induction simplify '(forall y (or (P x) (not (R x y))))' --smallest
      induction simplify '(and (P x) (exists y (R x y)))' --on suite.yaml.gz --id simple_001 --smallest
    """
    from induction.budget import Budget
    from induction.cli import inputs, output
    from induction.enumeration.layout import Fragment
    from induction.rewriting.simplify import simplify

    inputs.require_one_standard_input(formula, on)
    limits = Budget(inputs.seconds(budget, "--budget"), inputs.byte_count(memory, "--memory"))
    instance = _instance(on, instance_id, signature)
    predicates = instance.signature if instance is not None else inputs.parse_signature(signature or _SIGNATURE)
    source = _parsed(inputs.formula_text(formula), predicates, instance)
    show = _progress_line()
    result = simplify(
        source,
        signature=predicates,
        on=instance,
        smallest=smallest,
        fragment=Fragment(variables, depth, equality),
        budget=limits,
        report=show,
    )
    show(None, 0)
    if as_json:
        output.print_json(_as_json(result))
    else:
        _print(result, smallest)
    if result.interrupted:
        raise KeyboardInterrupt
    return 3 if smallest and result.outcome.value != "solved" else 0


def _instance(on: str | None, instance_id: str | None, signature: str | None) -> "Instance | None":
    from induction.cli import inputs

    if on is None:
        if instance_id is not None:
            raise UsageError("--id goes with --on FILE")
        return None
    if signature is not None:
        raise UsageError("--signature does not go with --on, whose file tells the predicates")
    instances, faults, ids = inputs.load_instances(on, [instance_id] if instance_id is not None else None)
    if faults:
        raise faults[0]
    if len(instances) != 1:
        raise UsageError(f"{printable(on, 200)} has {len(ids)} instances; choose one with --id")
    return instances[0]


def _parsed(text: str, signature: "Signature", instance: "Instance | None") -> "Formula":
    from induction.formula.metrics import free_variables
    from induction.formula.parsing import parse_formula
    from induction.formula.syntax import FREE_VARIABLE

    if instance is not None:
        return parse_formula(text, signature)
    parsed = parse_formula(text, signature, free=None)
    stray = free_variables(parsed) - {FREE_VARIABLE}
    if stray:
        raise UsageError(f"formula: variable {min(stray)} is free; only {FREE_VARIABLE} may be")
    return parsed


def _print(result: "Simplification", asked_for_smallest: bool) -> None:
    from induction.budget import Outcome
    from induction.cli import output
    from induction.formula.printing import to_unicode
    from induction.formula.syntax import to_sexpr

    before, after = result.source.ast_nodes, result.formula.ast_nodes
    fields = [("formula", to_unicode(result.source))]
    if result.steps:
        fields += [("becomes", to_unicode(result.formula)), ("", to_sexpr(result.formula))]
        fields.append(("size", f"AST {before} -> {after} ({after - before})"))
        fields.append(("kept", f"{result.promise} ({result.proof})"))
    else:
        fields.append(
            ("size", f"AST {before}, nothing smaller found" if not result.is_proven_smallest else f"AST {before}")
        )
    told = _told_of_smallest(result, asked_for_smallest)
    if told:
        fields.append(("smallest", told))
    output.print_fields(fields)
    if not asked_for_smallest and result.outcome is not Outcome.SOLVED:
        output.note("the work allowed ended before all steps were tried")
    if result.steps:
        print()
        width = len(str(before))
        for step in result.steps:
            print(f"{step.before:>{width}} -> {step.after:<{width}}  {step.name}")


def _told_of_smallest(result: "Simplification", asked: bool) -> str:
    """What is known about smaller formulas, in words; nothing where nobody asked and nothing is proven."""
    from induction.budget import Outcome
    from induction.formula.syntax import to_sexpr

    if result.is_proven_smallest:
        already = "" if result.steps else "already, "
        text = f"{already}proven: no formula of the fragment is smaller"
        if result.smallest is not None and result.smallest.ast_nodes > result.formula.ast_nodes:
            smallest = result.smallest
            proven = " and is the smallest" if smallest.ast_nodes <= result.none_below else ""
            text += f"; of the fragment itself {to_sexpr(smallest)} has {smallest.ast_nodes}{proven}"
        return text
    if not asked:
        return ""
    text = f"not known: none of the fragment below {result.none_below} nodes, proven"
    if result.undecided:
        one = result.undecided[0]
        where = f"in all worlds of up to {result.agree_up_to} objects" if result.agree_up_to else "as far as was looked"
        text += f"; {to_sexpr(one)} has {one.ast_nodes} and agrees {where}, without a proof"
    reasons = {
        Outcome.TIMED_OUT: "the time allowed is over",
        Outcome.OUT_OF_MEMORY: "the memory allowed is used up",
    }
    reason = "interrupted" if result.interrupted else reasons.get(result.outcome, "")
    return f"{text}; {reason}" if reason else text


def _as_json(result: "Simplification") -> dict[str, Any]:
    from induction.formula.syntax import to_sexpr

    return {
        "source": to_sexpr(result.source),
        "formula": to_sexpr(result.formula),
        "astBefore": result.source.ast_nodes,
        "astAfter": result.formula.ast_nodes,
        "promise": result.promise,
        "proof": result.proof,
        "steps": [
            {
                "name": step.name,
                "astBefore": step.before,
                "astAfter": step.after,
                "formula": to_sexpr(step.formula),
                "decidedBy": step.decided_by,
            }
            for step in result.steps
        ],
        "outcome": result.outcome.value,
        "fragment": result.fragment,
        "noneBelow": result.none_below,
        "provenSmallest": result.is_proven_smallest,
        "smallestOfFragment": None if result.smallest is None else to_sexpr(result.smallest),
        "undecided": [to_sexpr(one) for one in result.undecided],
        "agreeUpTo": result.agree_up_to if result.undecided else None,
        "worldsAdded": result.worlds_added,
    }


def _progress_line() -> "Callable[[Effort | None, int], None]":
    """Shows how far the search for the smallest is, on one line of a terminal; no effort clears it."""
    if not sys.stderr.isatty():
        return lambda _effort, _size: None
    shown = False

    def show(effort: "Effort | None", size: int) -> None:
        nonlocal shown
        if effort is None:
            if shown:
                sys.stderr.write("\r" + " " * _PROGRESS_WIDTH + "\r")
                sys.stderr.flush()
            return
        shown = True
        line = f"simplifying, {size} nodes"
        if effort.ast_size:
            line = f"size {effort.ast_size}, {effort.classes:,} classes, {effort.pairs:,} pairs, best {size}"
        sys.stderr.write("\r" + line[:_PROGRESS_WIDTH].ljust(_PROGRESS_WIDTH))
        sys.stderr.flush()

    return show
