"""What `induction check` found, for people and for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from induction.cli import output
from induction.cli.inputs import Candidate
from induction.errors import InductionError
from induction.evaluation.verdict import GOLD_MARGINS, Completion, Verdict, WorldVerdict
from induction.formula.answers import Answer
from induction.formula.metrics import quantifier_depth
from induction.formula.printing import to_unicode
from induction.formula.syntax import Formula, to_sexpr
from induction.rewriting.explain import MAX_STEPS, Reason, group_text, headline, remarks, step_text
from induction.worlds.instance import Instance, Regime
from induction.worlds.record_writing import atom_names
from induction.worlds.world import BoolArray, Element, World


@dataclass(frozen=True)
class Reading:
    """A candidate read over one signature: its formula, or why there is none."""

    candidate: Candidate
    formula: Formula | None
    problem: str = ""
    answer: Answer | None = None


@dataclass(frozen=True)
class Result:
    """One candidate on one instance: a verdict, or why there is none."""

    instance: Instance
    reading: Reading
    verdict: Verdict | None
    problem: str = ""
    confirmed: bool = False
    undecided: bool = False

    @property
    def valid(self) -> bool:
        """Whether there is a verdict and it is "valid"."""
        return self.verdict is not None and self.verdict.valid

    @property
    def repairs(self) -> tuple[str, ...]:
        """What was changed in a model's answer before it was a formula."""
        return () if self.reading.answer is None else self.reading.answer.repairs


def print_detail(result: Result) -> None:
    """Everything about one verdict."""
    verdict, instance = result.verdict, result.instance
    assert verdict is not None
    confirmation = ""
    if not result.confirmed and instance.regime is not Regime.EC:
        confirmation = " (too long to confirm with the reference evaluator)"
    output.print_fields(
        (
            ("instance", f"{instance.instance_id}: {instance.regime.value}, band {instance.band_label}"),
            ("formula", to_unicode(verdict.formula)),
            ("verdict", _verdict_line(verdict) + confirmation),
            ("size", _size_line(verdict)),
        )
    )
    print()
    if instance.regime is Regime.EC:
        _print_completions(verdict, instance)
    else:
        _print_worlds(verdict)


def print_summary(results: Sequence[Result]) -> None:
    """One line a verdict, and how many are valid."""
    several = len({result.reading.candidate.place for result in results}) > 1
    rows = []
    for result in results:
        verdict = result.verdict
        if verdict is None:
            word, size, delta = "undecided" if result.undecided else "no verdict", "-", "-"
            failed = result.problem
        else:
            word, size = "valid" if verdict.valid else "not valid", str(verdict.formula.ast_nodes)
            delta = "-" if verdict.ast_delta is None else f"{verdict.ast_delta:+d}"
            failed = f"{len(verdict.failed_worlds)} of {output.plural(len(verdict.worlds), 'world')}"
        if result.repairs:
            failed += f"; repaired: {', '.join(result.repairs)}"
        place = (result.reading.candidate.place,) if several else ()
        rows.append((*place, result.instance.instance_id, word, size, delta, failed))
    place_heading = ("formula",) if several else ()
    headings = (*place_heading, "instance", "verdict", "AST", "to gold", "failed worlds, or problem")
    output.print_table(headings, rows, numeric=("AST", "to gold"), unbroken=("formula", "verdict"))
    valid = sum(result.valid for result in results)
    repaired = sum(result.valid and bool(result.repairs) for result in results)
    repaired_part = f" ({repaired} of them repaired)" if repaired else ""
    print(f"\n{valid} of {len(results):,} valid{repaired_part}; to gold: AST size less the recorded formula's")


def print_reason(reason: Reason) -> None:
    """The trace in words, indented by level."""
    note = f" ({reason.note})" if reason.note else ""
    print()
    output.print_indented(0, f"why, in {reason.world.name}{note}: {headline(reason)}")
    for remark in remarks(reason):
        output.print_indented(remark.level + 1, remark.text)
    if len(reason.steps) >= MAX_STEPS:
        print(f"  … and so on: a trace ends after {MAX_STEPS} steps")


def _verdict_line(verdict: Verdict) -> str:
    if verdict.valid:
        return "VALID"
    failed = verdict.failed_worlds
    if verdict.regime is Regime.EC:
        kinds = [world.completion.failure for world in failed if world.completion is not None]
        local, joint = kinds.count("local_impossible"), kinds.count("global_inconsistent")
        causes = [f"{local}: labels out of reach"] * bool(local) + [f"{joint}: labels in conflict"] * bool(joint)
        worlds = output.plural(len(verdict.worlds), "world")
        return f"NOT VALID: no completion in {len(failed)} of {worlds} ({', '.join(causes)})"
    by_side = []
    for side in verdict.failed_sides:
        of_side = [world for world in failed if world.side == side]
        total = sum(world.side == side for world in verdict.worlds)
        if side == "NO":
            by_side.append(f"{len(of_side)} of {output.plural(total, 'NO world')} matched, where a mismatch is needed")
        else:
            wrong = output.plural(sum(world.mismatches for world in of_side), "object")
            named = "YES world" if side == "YES" else "world"
            by_side.append(f"{wrong} wrong in {len(of_side)} of {output.plural(total, named)}")
    return f"NOT VALID: {'; '.join(by_side)}"


def _size_line(verdict: Verdict) -> str:
    line = f"AST {verdict.formula.ast_nodes}, depth {quantifier_depth(verdict.formula)}"
    if verdict.gold_ast is None or verdict.ast_delta is None:
        return f"{line}; no gold recorded"
    smaller = f", smallest equal {verdict.size_reference}" if verdict.size_reference != verdict.gold_ast else ""
    line += f"; gold {verdict.gold_ast}{smaller} ({verdict.ast_delta:+d})"
    if not verdict.valid:
        return line
    marks = (f"+{margin} {'yes' if verdict.within_gold(margin) else 'no'}" for margin in GOLD_MARGINS)
    return f"{line}; within gold {', '.join(marks)}"


def _names(elements: Sequence[Element]) -> str:
    return " ".join(elements) or "-"


def _print_worlds(verdict: Verdict) -> None:
    sided = any(world.side == "NO" for world in verdict.worlds)
    side_heading = ("side",) if sided else ()
    headings = ("", "world", *side_heading, "objects", "T", "holds", "false positives", "false negatives")
    rows = [
        (
            "ok" if world.satisfied else "FAIL",
            world.world,
            *((world.side,) if sided else ()),
            world.size,
            world.labelled,
            world.predicted,
            _names(world.false_positives),
            _names(world.false_negatives),
        )
        for world in verdict.worlds
    ]
    output.print_table(headings, rows, numeric=("objects", "T", "holds"))
    if not verdict.valid:
        print("\nfalse positives: it holds though T does not; false negatives: it misses T")


def _print_completions(verdict: Verdict, instance: Instance) -> None:
    by_name = {world.name: world for world in instance.worlds}
    rows = []
    for report in verdict.worlds:
        completion = report.completion
        assert completion is not None
        rows.append(
            (
                "ok" if report.satisfied else "FAIL",
                report.world,
                report.size,
                by_name[report.world].count_unknown(),
                report.labelled,
                _names(completion.positives_unachievable),
                _names(completion.negatives_unachievable),
                _names(completion.conflict),
            )
        )
    headings = ("", "world", "objects", "unknown", "T", "never holds", "always holds", "conflict")
    output.print_table(headings, rows, numeric=("objects", "unknown", "T"))
    if not verdict.valid:
        print("\nnever holds: labelled T, but it fails in every completion; always holds: not")
        print("labelled, but it holds in every completion; conflict: labels that exclude each other")
    completed = [report for report in verdict.worlds if report.completion and report.completion.completed]
    if completed:
        print("\nOne completion each: the unknown atoms to make true, all others false.")
        output.print_fields(
            [
                (report.world, " ".join(_atoms_made_true(report.completion, by_name[report.world])) or "none")
                for report in completed
            ]
        )


def _atoms_made_true(completion: Completion | None, world: World) -> list[str]:
    return listed_atoms(_true_atoms(completion, world))


def listed_atoms(by_predicate: Mapping[str, Sequence[str]]) -> list[str]:
    """Atoms as `R(a1,a4)`."""
    listed = [(name, atom.strip("()")) for name, atoms in by_predicate.items() for atom in atoms]
    return [f"{name}({arguments})".replace(" ", "") for name, arguments in listed]


def _true_atoms(completion: Completion | None, world: World) -> dict[str, list[str]]:
    """By predicate, the unknown atoms of `world` that are true in the completion, as files write atoms."""
    if completion is None or completion.completed is None:
        return {}
    made = {name: completion.completed.true[name] & mask for name, mask in world.unknown.items()}
    return atoms_by_predicate(made, world)


def atoms_by_predicate(tables: Mapping[str, BoolArray], world: World) -> dict[str, list[str]]:
    """By predicate, the atoms that are true in `tables`, as files write atoms."""
    return {name: atom_names(world, table) for name, table in tables.items() if table.any()}


def as_json(
    file: str, results: Sequence[Result], faults: Sequence[InductionError], reason: Reason | None
) -> dict[str, Any]:
    """Everything as plain values."""
    report = {
        "file": file,
        "checked": len(results),
        "valid": sum(result.valid for result in results),
        "faults": [str(fault) for fault in faults],
        "results": [_result_json(result) for result in results],
    }
    if reason is not None:
        report["why"] = reason_json(reason)
    return report


def _result_json(result: Result) -> dict[str, Any]:
    verdict, instance, reading = result.verdict, result.instance, result.reading
    facts: dict[str, Any] = {
        "instanceId": instance.instance_id,
        "regime": instance.regime.value,
        "band": instance.band_label,
        "place": reading.candidate.place,
        "text": reading.candidate.text,
        "parsed": reading.formula is not None,
        "valid": result.valid,
    }
    if reading.answer is not None:
        facts["answer"] = {
            "status": reading.answer.status.value,
            "found": reading.answer.found,
            "repairs": list(reading.answer.repairs),
            "strict": reading.answer.is_strict,
            "candidates": reading.answer.candidates,
        }
    if verdict is None:
        return facts | {"problem": result.problem, "undecided": result.undecided}
    by_name = {world.name: world for world in instance.worlds}
    return facts | {
        "formula": to_sexpr(verdict.formula),
        "astSize": verdict.formula.ast_nodes,
        "quantifierDepth": quantifier_depth(verdict.formula),
        "goldAst": verdict.gold_ast,
        "sizeReference": verdict.size_reference,
        "astDelta": verdict.ast_delta,
        **{f"goldPlus{margin}": verdict.within_gold(margin) for margin in GOLD_MARGINS},
        "failedSides": list(verdict.failed_sides),
        "confirmedByReference": result.confirmed,
        "worlds": [_world_json(report, by_name[report.world]) for report in verdict.worlds],
    }


def _world_json(report: WorldVerdict, world: World) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "worldId": report.world,
        "side": report.side,
        "satisfied": report.satisfied,
        "objects": report.size,
        "labelled": report.labelled,
        "predicted": report.predicted,
        "falsePositives": list(report.false_positives),
        "falseNegatives": list(report.false_negatives),
    }
    completion = report.completion
    if completion is not None:
        facts["completion"] = {
            "found": completion.completed is not None,
            "unknownAtoms": world.count_unknown(),
            "trueAtoms": _true_atoms(completion, world),
            "decidedBy": completion.decided_by,
            "failure": completion.failure or None,
            "positivesUnachievable": list(completion.positives_unachievable),
            "negativesUnachievable": list(completion.negatives_unachievable),
            "conflict": list(completion.conflict),
            "sensitive": completion.sensitive,
            "flipsFtoT": list(completion.flips_to_true),
            "flipsTtoF": list(completion.flips_to_false),
            "nonmonotone": completion.nonmonotone,
        }
    return facts


def reason_json(reason: Reason) -> dict[str, Any]:
    """The trace as plain values: each step with its claim, and the words for it."""
    domain = reason.world.domain

    def assignment(values: Mapping[str, int]) -> dict[str, str]:
        return {variable: domain[element] for variable, element in values.items()}

    return {
        "worldId": reason.world.name,
        "object": domain[reason.element],
        "holds": reason.holds,
        "labelled": bool(reason.world.target[reason.element]),
        "headline": headline(reason),
        "note": reason.note or None,
        "madeTrue": atoms_by_predicate(reason.made_true, reason.world),
        "cut": len(reason.steps) >= MAX_STEPS,
        "steps": [
            {
                "level": step.level,
                "text": step_text(step, reason.world),
                "formula": to_sexpr(step.claim.formula),
                "assignment": assignment(step.claim.assignment),
                "holds": step.claim.holds,
                "object": None if step.element is None else domain[step.element],
                "groups": [
                    {
                        "objects": [domain[element] for element in group.elements],
                        "text": group_text(step, group, reason.world),
                        "part": to_sexpr(group.part),
                        "holds": group.holds,
                    }
                    for group in step.groups
                ],
            }
            for step in reason.steps
        ],
    }
