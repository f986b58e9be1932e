"""`induction templates`: the structures that concepts come in."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from induction.errors import UnknownNameError, UsageError, printable

if TYPE_CHECKING:
    from induction.families.templates import Template, Variant


def command(
    family: Annotated[
        list[str] | None,
        typer.Option("--family", metavar="NAME", help="Only this family or challenge slice; may be repeated."),
    ] = None,
    band: Annotated[
        list[str] | None,
        typer.Option("--band", metavar="BAND", help="Only this band (hard, EC, 'FullObs hard'); may be repeated."),
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
    With --like the exit code is 1 if the formula is equivalent to an instance of none. Our templates are made from the
    families and golds that the benchmark publishes; its own list of templates was not released.

    \b
    Examples:
      induction templates --family B --band hard
      induction templates --band challenge --json
      induction templates --like '(exists y (exists z (and (and (S x y) (R y z)) (P z))))'
    """
    from induction.cli import output

    if like is not None:
        if family or band:
            raise UsageError("--like looks through all templates: leave --family and --band away")
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
    all_bands = dict.fromkeys(band for template in templates for band in template.bands)
    chosen_families = _named("family", families, {name: {name} for name in (*FAMILIES, *CHALLENGE_SLICES)})
    by_name: dict[str, set[str]] = {}
    for band in all_bands:
        for name in (band, *band.split()):
            by_name.setdefault(name, set()).add(band)
    # The two halves that the release has of this band are made from the same templates.
    by_name |= {"extreme_logic": by_name["extreme"], "extreme_context": by_name["extreme"]}
    chosen_bands = _named("band", bands, by_name)
    return [
        template
        for template in templates
        if (not families or {template.family, template.challenge_slice} & chosen_families)
        and (not bands or chosen_bands.intersection(template.bands))
    ]


def _named(kind: str, wanted: list[str], known: dict[str, set[str]]) -> set[str]:
    """What the names stand for, in upper or lower case and separated by commas or repeated."""
    by_lower = {name.lower(): members for name, members in known.items()}
    chosen: set[str] = set()
    for name in (part.strip() for text in wanted for part in text.split(",")):
        if name.lower() not in by_lower:
            raise UnknownNameError(f"there is no {kind} '{printable(name)}'; there are {', '.join(known)}")
        chosen |= by_lower[name.lower()]
    return chosen


def _print_match(text: str, as_json: bool) -> int:
    from induction.cli import inputs, output
    from induction.families.templates import find_equivalent_variant, find_variant
    from induction.formula.parsing import parse_formula
    from induction.formula.syntax import DEFAULT_SIGNATURE
    from induction.grounding.equivalence import Comparer

    formula = parse_formula(inputs.formula_text(text), DEFAULT_SIGNATURE)
    found = find_variant(formula)
    as_written = found is not None
    found = found or find_equivalent_variant(formula, Comparer(DEFAULT_SIGNATURE))
    if found is None:
        if as_json:
            output.print_json({"template": None, "variant": None, "asWritten": False})
        else:
            print("equivalent to an instance of no template")
        return 1
    template, variant = found
    if as_json:
        shown = {"template": _as_json(template), "variant": _variant_as_json(variant), "asWritten": as_written}
        output.print_json(shown)
    else:
        if not as_written:
            print("written otherwise, but equivalent to:\n")
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
    exchanged = "" if shown.formula == template.formula else " (with letters exchanged)"
    print(f"{template.template_id}{exchanged}")
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
