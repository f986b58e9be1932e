"""`induction explain`: a formula in plain English, and why it holds or fails of an object."""

from typing import Annotated

import typer

from induction.errors import UsageError

_DEFAULT_SIGNATURE = "P/1 Q/1 R/2 S/2"
_WIDTH_BESIDE_NAMES = 68


def command(
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help="The formula, or - for standard input.")],
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="An instance file, to explain one object of it.")
    ] = None,
    instance_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="With FILE: the instance; needed where it has several.")
    ] = None,
    world: Annotated[
        str | None, typer.Option("--world", help="With FILE: the world; by default the first that went wrong.")
    ] = None,
    element: Annotated[
        str | None, typer.Option("--object", help="With FILE: the object; by default the first that is wrong.")
    ] = None,
    signature: Annotated[
        str | None,
        typer.Option(
            "--signature",
            help=f"Without FILE: the predicates and their arities, {_DEFAULT_SIGNATURE} by default.",
            metavar="NAME/ARITY ...",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Say in plain English what a formula says; with a file, why it holds or fails of an object there.

    Every wording stands for one structure, so that the sentence has one reading. Parts that are too many for one
    breath are numbered. With a file, the reason goes through the witness or counterexample of each quantifier down
    to facts of the world; in a partly observed world these are facts of one completion, which is said.

    \b
    Examples:
      induction explain '(exists y (and (R x y) (forall z (or (not (S y z)) (P z)))))'
      induction explain '(exists y (and (R x y) (P y)))' suite.yaml.gz --id simple_001
      induction explain '(exists y (R x y))' suite.yaml.gz --id simple_001 --world train_1 --object a3
      echo '(exists y (likes x y))' | induction explain - --signature likes/2
    """
    from induction.cli import inputs, output, verdicts
    from induction.formula.metrics import free_variables
    from induction.formula.parsing import parse_formula
    from induction.formula.printing import to_unicode
    from induction.formula.syntax import FREE_VARIABLE, to_sexpr
    from induction.rewriting.explain import explanation

    inputs.require_one_standard_input(formula, file)
    if file is None:
        given = {"--id": instance_id, "--world": world, "--object": element}
        for option, value in given.items():
            if value is not None:
                raise UsageError(f"{option} goes with an instance file: induction explain FORMULA FILE {option} ...")
        predicates = inputs.parse_signature(signature or _DEFAULT_SIGNATURE)
        told = explanation(parse_formula(inputs.formula_text(formula), predicates, free=None))
        instance = None
    else:
        if signature is not None:
            raise UsageError("--signature goes without FILE, whose instances have their own")
        instances, faults, _ = inputs.load_instances(file, [instance_id] if instance_id is not None else None)
        if faults:
            raise faults[0]
        if len(instances) != 1:
            raise UsageError(f"explain takes one instance of {len(instances)}; choose it with --id")
        (instance,) = instances
        told = explanation(parse_formula(inputs.formula_text(formula), instance.signature), instance, world, element)
    free = sorted(free_variables(told.formula))
    if as_json:
        report = {
            "formula": to_sexpr(told.formula),
            "sentence": told.english.sentence,
            "layout": list(told.english.layout),
            "freeVariables": free,
            "definesTarget": free == [FREE_VARIABLE],
        }
        if instance is not None and told.verdict is not None and told.reason is not None:
            report |= {"instanceId": instance.instance_id, "regime": instance.regime.value, "valid": told.verdict.valid}
            report["why"] = verdicts.reason_json(told.reason)
        output.print_json(report)
        return 0
    if instance is None or told.reason is None:
        print("\n".join(told.english.layout))
        if free != [FREE_VARIABLE]:
            output.note(f"free variables: {', '.join(free) or 'none'}; a definition of T leaves exactly x free")
        return 0
    from induction.rewriting.english import to_english

    fields: list[tuple[str, object]] = [
        ("instance", f"{instance.instance_id}: {instance.regime.value}, band {instance.band_label}"),
        ("formula", to_unicode(told.formula)),
        ("in words", "\n".join(to_english(told.formula, width=_WIDTH_BESIDE_NAMES).layout)),
    ]
    if told.reason.note:
        made = verdicts.listed_atoms(verdicts.atoms_by_predicate(told.reason.made_true, told.reason.world))
        fields.append(("assumed", f"{' '.join(made) or 'none'} of the unknown atoms true, all others false"))
    output.print_fields(fields)
    verdicts.print_reason(told.reason)
    return 0
