"""`induction formula`: what a formula is, and the same formula in other forms."""

import enum
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from induction.formula.syntax import Formula, Signature


class Form(enum.StrEnum):
    """The forms `--to` knows."""

    SEXPR = "sexpr"
    PRETTY = "pretty"
    UNICODE = "unicode"
    NNF = "nnf"
    PRENEX = "prenex"
    MINISCOPED = "miniscoped"
    ALPHA = "alpha"
    LATEX = "latex"
    TPTP = "tptp"
    SMTLIB = "smtlib"


_SHOWN = (Form.SEXPR, Form.UNICODE, Form.NNF, Form.PRENEX, Form.ALPHA)


def command(
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help="The formula, or - for standard input.")],
    to: Annotated[Form | None, typer.Option("--to", help="Print this form only.")] = None,
    signature: Annotated[
        str, typer.Option("--signature", help="The predicates and their arities.", metavar="NAME/ARITY ...")
    ] = "P/1 Q/1 R/2 S/2",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Parse a formula; show its sizes, free variables and normal forms.

    Any formula of the language is taken, also one that is no definition of T because its free variables are not
    exactly x; that is said. Forms: sexpr (the released text form), pretty (indented), unicode (mathematical), nnf
    (negation normal form), prenex, miniscoped (quantifiers as far in as they go), alpha (bound variables renamed by
    nesting level), latex, tptp, smtlib.

    \b
    Examples:
      induction formula '(forall y (or (not (R x y)) (exists z (S y z))))'
      induction formula '(exists y (and (R x y) (P y)))' --to unicode
      induction formula '(exists y (and (R x y) (P y)))' --to smtlib
      echo '(not (P x))' | induction formula - --json
    """
    from induction.cli import inputs, output
    from induction.formula.metrics import measure
    from induction.formula.parsing import parse_formula
    from induction.formula.syntax import FREE_VARIABLE, to_sexpr

    predicates = inputs.parse_signature(signature)
    parsed = parse_formula(inputs.formula_text(formula), predicates, free=None)
    if to is not None:
        text = _in_form(parsed, to, predicates)
        if as_json:
            output.print_json({"form": to.value, "text": text})
        else:
            print(text)
        return 0
    metrics = measure(parsed)
    defines_target = metrics.free_variables == (FREE_VARIABLE,)
    if as_json:
        output.print_json(
            {
                "formula": to_sexpr(parsed),
                "astSize": metrics.ast_nodes,
                "quantifierDepth": metrics.quantifier_depth,
                "quantifierAlternations": metrics.quantifier_alternations,
                "quantifiers": metrics.quantifiers,
                "variables": list(metrics.variables),
                "freeVariables": list(metrics.free_variables),
                "equalityAtoms": metrics.equality_atoms,
                "liftDepth": metrics.lift_depth,
                "lifted": metrics.is_lifted,
                "definesTarget": defines_target,
                "forms": {form.value: _in_form_or_why_not(parsed, form, predicates) for form in Form},
            }
        )
        return 0
    free = ", ".join(metrics.free_variables) or "none"
    alternations = output.plural(metrics.quantifier_alternations, "alternation")
    lift = f"x under {output.plural(metrics.lift_depth, 'quantifier')}"
    fields: list[tuple[str, object]] = [
        ("AST size", metrics.ast_nodes),
        (
            "quantifier depth",
            f"{metrics.quantifier_depth}, {alternations}",
        ),
        ("variables", f"{len(metrics.variables)}: {' '.join(metrics.variables)}"),
        ("free variables", free if defines_target else f"{free} (a definition of T leaves exactly x free)"),
        ("equality atoms", metrics.equality_atoms),
        ("lifted", f"{'yes' if metrics.is_lifted else 'no'}: {lift}"),
    ]
    fields += [(form.value, _in_form_or_why_not(parsed, form, predicates)) for form in _SHOWN]
    output.print_fields(fields)
    return 0


def _in_form(formula: "Formula", form: Form, signature: "Signature") -> str:
    from induction.formula import exports, normal_forms, printing
    from induction.formula.syntax import to_sexpr

    match form:
        case Form.SEXPR:
            return to_sexpr(formula)
        case Form.PRETTY:
            return printing.to_pretty(formula)
        case Form.UNICODE:
            return printing.to_unicode(formula)
        case Form.NNF:
            return to_sexpr(normal_forms.to_nnf(formula))
        case Form.PRENEX:
            return to_sexpr(normal_forms.to_prenex(formula, signature))
        case Form.MINISCOPED:
            return to_sexpr(normal_forms.to_miniscoped(formula))
        case Form.ALPHA:
            return to_sexpr(normal_forms.to_alpha_canonical(formula, signature))
        case Form.LATEX:
            return printing.to_latex(formula)
        case Form.TPTP:
            return exports.to_tptp(formula)
        case Form.SMTLIB:
            return exports.to_smtlib(formula)


def _in_form_or_why_not(formula: "Formula", form: Form, signature: "Signature") -> str:
    from induction.errors import InductionError

    try:
        return _in_form(formula, form, signature)
    except InductionError as error:
        return f"({error})"
