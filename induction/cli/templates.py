"""`induction templates`: the structures that concepts come in."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from induction.errors import UnknownNameError, printable

if TYPE_CHECKING:
    from induction.families.templates import Template, Variant


def command(
    family: Annotated[
        list[str] | None,
        typer.Option("--family", metavar="NAME", help="Only this family or challenge slice; may be repeated."),
    ] = None,
    band: Annotated[
        list[str] | None,
        typer.Option("--band", metavar="BAND", help="Only this band (hard, or 'FullObs hard'); may be repeated."),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option("--like", metavar="FORMULA", help="The template this formula is an instance of (- for stdin)."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """List the templates that gold formulas are made from: id, family, key, bands, size, plain English and example.

    A template stands for its variants too, in which P and Q or R and S have changed places. Families are the letters
    of the benchmark (A B C D F G H OTHER); the ten slices of the challenge set can be asked for by their names.
    With --like the exit code is 1 if the formula is an instance of none.

    \b
    Examples:
      induction templates --family B --band hard
      induction templates --band challenge --json
      induction templates --like '(exists y (exists z (and (and (S x y) (R y z)) (P z))))'
    """
    from induction.cli import output

    if like is not None:
        return _print_match(like, as_json)
    chosen = _chosen(family or [], band or [])
    if as_json:
        output.print_json({"templates": [_as_json(template) for template in chosen]})
        return 0
    for template in chosen:
        _print_template(template)
    variants = sum(len(template.variants) for template in chosen)
    print(f"{output.plural(len(chosen), 'template')}, {output.plural(variants, 'formula')} with their variants")
    return 0


def _chosen(families: list[str], bands: list[str]) -> "list[Template]":
    from induction.families.templates import CHALLENGE_SLICES, FAMILIES, all_templates

    templates = all_templates()
    known_families = {*FAMILIES, *CHALLENGE_SLICES}
    known_bands = {name for template in templates for band in template.bands for name in (band, band.split()[-1])}
    for kind, wanted, known in (("family", families, known_families), ("band", bands, known_bands)):
        for name in wanted:
            if name not in known:
                raise UnknownNameError(f"there is no {kind} '{printable(name)}'; there are {', '.join(sorted(known))}")
    return [
        template
        for template in templates
        if (not families or template.family in families or template.challenge_slice in families)
        and (not bands or any(band in bands or band.split()[-1] in bands for band in template.bands))
    ]


def _print_match(text: str, as_json: bool) -> int:
    from induction.cli import inputs, output
    from induction.families.templates import find_variant
    from induction.formula.parsing import parse_formula
    from induction.formula.syntax import DEFAULT_SIGNATURE

    formula = parse_formula(inputs.formula_text(text), DEFAULT_SIGNATURE)
    found = find_variant(formula)
    if found is None:
        if as_json:
            output.print_json({"template": None, "variant": None})
        else:
            print("an instance of no template")
        return 1
    template, variant = found
    if as_json:
        output.print_json({"template": _as_json(template), "variant": _variant_as_json(variant)})
    else:
        _print_template(template, variant)
    return 0


def _print_template(template: "Template", variant: "Variant | None" = None) -> None:
    from induction.cli import output
    from induction.formula.syntax import to_sexpr

    shown = variant or template.variants[0]
    facts = [
        f"family {template.family}",
        f"AST {shown.formula.ast_nodes}, depth {template.quantifier_depth}",
        "lifted" if template.is_lifted else "not lifted",
        output.plural(len(template.variants), "variant"),
        *([f"slice {template.challenge_slice}"] if template.challenge_slice else []),
    ]
    print(template.template_id)
    output.print_indented(1, "; ".join(facts))
    output.print_indented(1, f"bands: {', '.join(template.bands)}")
    output.print_indented(1, shown.key)
    output.print_indented(1, shown.english)
    output.print_indented(1, to_sexpr(shown.formula))
    print()


def _as_json(template: "Template") -> dict[str, Any]:
    return {
        "id": template.template_id,
        "family": template.family,
        "challengeSlice": template.challenge_slice or None,
        "bands": list(template.bands),
        "lifted": template.is_lifted,
        "quantifierDepth": template.quantifier_depth,
        **_variant_as_json(template.variants[0]),
        "variants": [_variant_as_json(variant) for variant in template.variants],
    }


def _variant_as_json(variant: "Variant") -> dict[str, Any]:
    from induction.formula.syntax import to_sexpr

    return {
        "formula": to_sexpr(variant.formula),
        "astSize": variant.formula.ast_nodes,
        "key": variant.key,
        "english": variant.english,
    }
