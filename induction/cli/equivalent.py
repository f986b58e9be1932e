"""`induction equivalent`: whether two formulas mean the same, and if not, the smallest world that shows it."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from induction.errors import FormulaSyntaxError, UsageError, printable

if TYPE_CHECKING:
    from induction.formula.syntax import Formula, Signature
    from induction.grounding.equivalence import Comparer, Finding, Witness
    from induction.worlds.world import World


def command(
    first: Annotated[str, typer.Argument(metavar="F", help="A formula, or - for standard input.")],
    second: Annotated[str, typer.Argument(metavar="G", help="Another formula, or - for standard input.")],
    up_to: Annotated[
        int,
        typer.Option("--up-to", min=1, max=64, help="Without a proof, look through worlds of up to this many objects."),
    ] = 8,
    relation: Annotated[
        bool, typer.Option("--relation", help="Say how they lie: identical, narrower, wider, overlapping, disjoint.")
    ] = False,
    signature: Annotated[
        str, typer.Option("--signature", help="The predicates and their arities.", metavar="NAME/ARITY ...")
    ] = "P/1 Q/1 R/2 S/2",
    out: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the world: a picture (.svg, .png, .pdf) or an instance file with F for T (.yaml, .json, ...).",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Decide whether two formulas mean the same: are true of the same objects in every finite world.

    They are proven equivalent (exit code 0); or different (1), and a smallest world that tells them apart is shown,
    with the fewest true atoms among those; or they agree on all worlds up to some size and no proof was found (3).
    With --relation the exit code says likewise whether they are identical.

    \b
    Examples:
      induction equivalent '(not (exists y (R x y)))' '(forall y (not (R x y)))'
      induction equivalent '(exists y (R x y))' '(exists y (R y x))' -o apart.svg
      induction equivalent '(P x)' '(or (P x) (Q x))' --relation
    """
    from induction.cli import inputs, output
    from induction.grounding.equivalence import Comparer, Sameness

    inputs.require_one_standard_input(first, second)
    predicates = inputs.parse_signature(signature)
    formulas = [_parsed(name, inputs.formula_text(text), predicates) for name, text in (("F", first), ("G", second))]
    _require_writable(out)
    comparer = Comparer(_used(predicates, formulas), up_to=up_to)
    if relation:
        return _print_relation(comparer, formulas, predicates, out, as_json)
    comparison = comparer.compare(*formulas, smallest=True)
    finding = comparison.finding
    written = _write(out, formulas, predicates, {} if finding.witness is None else {"separating": finding.witness})
    if as_json:
        output.print_json(
            {
                **_formulas_as_json(formulas),
                "verdict": comparison.sameness.value,
                **_finding_as_json(finding, formulas),
                "written": written,
            }
        )
    else:
        match comparison.sameness:
            case Sameness.EQUIVALENT:
                verdict = f"EQUIVALENT: proven ({finding.decided_by})"
            case Sameness.DIFFERENT:
                verdict = f"DIFFERENT: {_told_apart(finding)}"
            case Sameness.UNDECIDED:
                verdict = f"NOT PROVEN: equal on {finding.decided_by}, and no proof was found"
                if finding.none_up_to < up_to:
                    verdict += f" (the work allowed ended before {up_to} objects)"
        _print_heading(formulas, verdict)
        _print_witness(formulas, finding, "told apart at")
        _print_written(written, out)
    return {Sameness.EQUIVALENT: 0, Sameness.DIFFERENT: 1, Sameness.UNDECIDED: 3}[comparison.sameness]


_PARTS = {"first_only": "F but not G", "second_only": "G but not F", "both": "both F and G"}
_WORLD_NAMES = {"first_only": "F_not_G", "second_only": "G_not_F", "both": "F_and_G"}


def _print_relation(
    comparer: "Comparer", formulas: "list[Formula]", signature: "Signature", out: str | None, as_json: bool
) -> int:
    from induction.cli import output
    from induction.grounding.equivalence import Relation

    report = comparer.relate(*formulas, smallest=True)
    findings = {part: getattr(report, part) for part in _PARTS}
    worlds = {_WORLD_NAMES[part]: finding.witness for part, finding in findings.items() if finding.witness is not None}
    written = _write(out, formulas, signature, worlds)
    if as_json:
        output.print_json(
            {
                **_formulas_as_json(formulas),
                "relation": report.relation.value,
                "proven": report.proven,
                "upTo": None if report.proven else report.up_to,
                "firstOnly": _finding_as_json(report.first_only, formulas),
                "secondOnly": _finding_as_json(report.second_only, formulas),
                "both": _finding_as_json(report.both, formulas),
                "written": written,
            }
        )
    else:
        words = {
            Relation.IDENTICAL: "IDENTICAL: F and G are true of the same objects",
            Relation.NARROWER: "NARROWER: F implies G, and G does not imply F",
            Relation.WIDER: "WIDER: G implies F, and F does not imply G",
            Relation.OVERLAPPING: "OVERLAPPING: neither implies the other",
            Relation.DISJOINT: "DISJOINT: no object has both",
        }[report.relation]
        if report.proven:
            heading = f"{words} (proven)"
        else:
            heading = f"NOT PROVEN beyond {report.up_to} objects; up to there {words}"
        _print_heading(formulas, heading, "relation")
        for part, finding in findings.items():
            _print_witness(formulas, finding, f"{_PARTS[part]} at")
        _print_written(written, out)
    if report.relation is not Relation.IDENTICAL:
        return 1
    return 0 if report.proven else 3


def _parsed(name: str, text: str, signature: "Signature") -> "Formula":
    from induction.formula.metrics import free_variables
    from induction.formula.parsing import parse_formula
    from induction.formula.syntax import FREE_VARIABLE

    try:
        formula = parse_formula(text, signature, free=None)
    except FormulaSyntaxError as error:
        raise UsageError(f"{name}, {error}") from None
    stray = free_variables(formula) - {FREE_VARIABLE}
    if stray:
        raise UsageError(f"{name}: variable {min(stray)} is free; only {FREE_VARIABLE} may be")
    return formula


def _used(signature: "Signature", formulas: "list[Formula]") -> "Signature":
    """The predicates that occur, so that worlds hold nothing that cannot matter."""
    from induction.formula.syntax import Atom, Signature, subformulas

    names = {node.predicate for formula in formulas for node in subformulas(formula) if isinstance(node, Atom)}
    return Signature((name, arity) for name, arity in signature.items() if name in names)


def _require_writable(out: str | None) -> None:
    """Raises InductionError for a name that asks for neither a picture nor an instance file."""
    from induction.drawing.worlds import FORMATS
    from induction.worlds.formats import file_suffix

    if out is not None and file_suffix(out).removeprefix(".") not in (*FORMATS, "yaml", "yml", "json", "jsonl"):
        raise UsageError(
            f"{printable(out, 200)}: the name ends in .{', .'.join(FORMATS)} for a picture, "
            "or in .yaml, .json, .jsonl for an instance file"
        )


def _write(
    out: str | None, formulas: "list[Formula]", signature: "Signature", witnesses: "dict[str, Witness]"
) -> str | None:
    """Write the worlds, labelled by the first formula, if there are any and a place for them."""
    from induction.drawing.worlds import FORMATS, Panel, draw
    from induction.formula.metrics import free_variables
    from induction.formula.printing import to_unicode
    from induction.worlds.formats import file_suffix, write_instances
    from induction.worlds.instance import Instance, Regime
    from induction.worlds.world import World
    from induction.worlds.writing import write_whole

    if out is None or not witnesses:
        return None
    form = file_suffix(out).removeprefix(".")
    labelled = {name: _labelled(witness.world, formulas) for name, witness in witnesses.items()}
    if form in FORMATS:
        heading = f"T is F: {to_unicode(formulas[0])}; the formula is G: {to_unicode(formulas[1])}"
        panels = [
            Panel(world, f"{name}, x = {world.domain[witnesses[name].element]}", extensions[1])
            for name, (world, extensions) in labelled.items()
        ]
        write_whole(out, draw(panels, heading, form))
    else:
        # All predicates there are, so that other formulas can be checked against the file too.
        worlds = [World(name, w.domain, signature, w.true, w.target) for name, (w, _) in labelled.items()]
        gold = formulas[0] if free_variables(formulas[0]) else None
        names = tuple(world.name for world in worlds)
        write_instances(out, [Instance("apart", Regime.FULL_OBS, signature, tuple(worlds), names, gold=gold)])
    return out


def _labelled(world: "World", formulas: "list[Formula]") -> "tuple[World, list[Any]]":
    from induction.evaluation import bitset
    from induction.worlds.world import World

    extensions = [table for (table,) in bitset.extensions(formulas, [world])]
    return World(world.name, world.domain, world.signature, world.true, extensions[0]), extensions


def _told_apart(finding: "Finding") -> str:
    from induction.cli import output

    assert finding.witness is not None
    size = output.plural(finding.witness.world.size, "object")
    if finding.witness.is_smallest:
        return f"told apart by a world of {size}, the fewest there are"
    return f"told apart by a world of {size}; none of up to {finding.none_up_to} does"


def _print_heading(formulas: "list[Formula]", verdict: str, name: str = "verdict") -> None:
    from induction.cli import output
    from induction.formula.printing import to_unicode

    output.print_fields([("F", to_unicode(formulas[0])), ("G", to_unicode(formulas[1])), (name, verdict)])


def _print_witness(formulas: "list[Formula]", finding: "Finding", words: str) -> None:
    from induction.cli import world_tables

    if finding.witness is None:
        return
    world, extensions = _labelled(finding.witness.world, formulas)
    print(f"\n{words} x = {world.domain[finding.witness.element]}")
    marks = {name: ["yes" if held else "-" for held in table] for name, table in zip("FG", extensions, strict=True)}
    world_tables.print_world(world, marks)


def _print_written(written: str | None, out: str | None) -> None:
    from induction.cli import output

    if written is not None:
        print(f"\nwrote {printable(written, 200)}")
    elif out is not None:
        output.note(f"{printable(out, 200)} is not written: there is no world to show")


def _formulas_as_json(formulas: "list[Formula]") -> dict[str, Any]:
    from induction.formula.syntax import to_sexpr

    return {"first": to_sexpr(formulas[0]), "second": to_sexpr(formulas[1])}


def _finding_as_json(finding: "Finding", formulas: "list[Formula]") -> dict[str, Any]:
    from induction.worlds.record_writing import atom_names

    witness = finding.witness
    result: dict[str, Any] = {
        "decidedBy": finding.decided_by,
        "certain": finding.is_certain,
        "noneUpTo": None if finding.proven_none else finding.none_up_to,
        "world": None,
    }
    if witness is not None:
        world, extensions = _labelled(witness.world, formulas)
        result["world"] = {
            "domain": list(world.domain),
            "true": {name: atom_names(world, table) for name, table in world.true.items()},
            "object": world.domain[witness.element],
            "firstHolds": list(world.elements(extensions[0])),
            "secondHolds": list(world.elements(extensions[1])),
            "fewestObjects": witness.is_smallest,
            "fewestAtoms": witness.has_fewest_atoms,
        }
    return result
