"""`induction mutate`: near misses of a formula."""

from typing import TYPE_CHECKING, Annotated

import typer

from induction.errors import UsageError

if TYPE_CHECKING:
    from induction.families.mutations import NearMiss


def command(
    formula: Annotated[
        str | None, typer.Argument(metavar="FORMULA", help="The formula, or - for standard input.")
    ] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option("--kinds", metavar="KIND", help="Only these kinds of edit, separated by commas or repeated."),
    ] = None,
    edits: Annotated[int, typer.Option("--edits", min=1, max=4, help="Up to this many edits one after the other.")] = 1,
    signature: Annotated[
        str, typer.Option("--signature", help="The predicates and their arities.", metavar="NAME/ARITY ...")
    ] = "P/1 Q/1 R/2 S/2",
    list_kinds: Annotated[bool, typer.Option("--list-kinds", help="List the kinds of edit and exit.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """List the near misses of a formula: what comes of one small edit (or --edits), each named by its edits.

    No two of them are equivalent, nor is one to the formula itself: where several edits lead to the same, the kinds
    of the others stand behind "also". Formulas in which x no longer occurs, and those true of everything or of
    nothing, are left out. A guard is a part that stands beside a quantified part or restricts the quantifier itself
    (the antecedent of a "for all", the edge of an "exists"); other parts are conditions. Edits are made with every
    quantifier moved in as far as it goes, and shown so.

    \b
    Examples:
      induction mutate '(exists y (and (P y) (forall z (or (not (R y z)) (S x z)))))'
      induction mutate '(exists y (and (R x y) (P y)))' --kinds guard-dropped,direction-swapped
      induction mutate '(exists y (R x y))' --edits 2 --json
      induction mutate --list-kinds
    """
    from induction.cli import inputs, output
    from induction.families.mutations import KINDS, near_misses
    from induction.formula.parsing import parse_formula
    from induction.formula.syntax import to_sexpr
    from induction.grounding.equivalence import Comparer

    if list_kinds:
        output.print_fields(list(KINDS.items()))
        return 0
    if formula is None:
        raise UsageError("which formula? Give one, or - for standard input")
    predicates = inputs.parse_signature(signature)
    source = parse_formula(inputs.formula_text(formula), predicates)
    wanted = [kind for text in kinds or [",".join(KINDS)] for kind in text.replace(",", " ").split()]
    if not wanted:
        raise UsageError(f"--kinds: there are {', '.join(KINDS)}")
    found = near_misses(source, Comparer(predicates), kinds=wanted, edits=edits)
    if as_json:
        output.print_json(
            {
                "formula": to_sexpr(source),
                "nearMisses": [
                    {
                        "formula": to_sexpr(miss.formula),
                        "astSize": miss.formula.ast_nodes,
                        "edits": [{"kind": edit.kind, "detail": edit.detail} for edit in miss.edits],
                        "also": list(miss.also),
                    }
                    for miss in found
                ],
            }
        )
        return 0
    for miss in found:
        output.print_indented(0, _named(miss))
        output.print_indented(1, to_sexpr(miss.formula))
    print(output.plural(len(found), "near miss", "near misses"))
    return 0


def _named(miss: "NearMiss") -> str:
    edits = ", then ".join(f"{edit.kind}: {edit.detail}" for edit in miss.edits)
    return f"{edits} (also {', '.join(miss.also)})" if miss.also else edits
