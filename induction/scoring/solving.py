"""One search on one instance as a task, and the row of what came out.

What goes into a task and comes out of it is plain values, so that a task can run anywhere. Answers are re-checked
here by the reference evaluator, whatever the search or a process that had to be stopped says of them.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from induction.budget import Budget, Outcome
from induction.errors import UnsupportedRegimeError, UsageError, printable
from induction.formula.parsing import parse_formula
from induction.formula.syntax import Formula, to_sexpr
from induction.running.tasks import Limits, Report, Task
from induction.search import (
    NOT_LOOKED_FOR,
    Progress,
    SearchOptions,
    count_mislabelled,
    fits,
    load_search,
    refuse_unheeded,
    settled,
)
from induction.worlds.instance import Instance
from induction.worlds.record_writing import record_from_instance
from induction.worlds.records import instance_from_record

_BETWEEN_REPORTS_S = 0.2
_SPARE_BYTES = 300 * 2**20
_INTERRUPTED = settled(Outcome.UNKNOWN, NOT_LOOKED_FOR, proven_smallest=True)[1]
_STOPPED = {"time": Outcome.TIMED_OUT, "memory": Outcome.OUT_OF_MEMORY}


def limits_of(budget_s: float, memory_bytes: int) -> Limits:
    """The hard limits of a task: a search keeps within its budget by itself, these are for when it does not."""
    return Limits(budget_s * 1.05 + 0.2, int(memory_bytes * 1.1) + _SPARE_BYTES)


def require_heeded(search: str, options: SearchOptions, instances: Sequence[Instance]) -> None:
    """What the search itself refuses for any of the instances is refused before any work begins.

    Raises:
        UsageError: an option is not heeded, or goes with no instance of a regime.
    """
    found = load_search(search)
    for instance in instances:
        try:
            refuse_unheeded(found, instance, options)
        except UnsupportedRegimeError as error:
            raise UsageError(str(error)) from None


def solving_task(
    name: str, search: str, instance: Instance, options: SearchOptions, budget_s: float, memory_bytes: int
) -> Task:
    """The task of running `search` on `instance`."""
    argument = {
        "search": search,
        "instance": record_from_instance(instance),
        "options": asdict(options),
        "budget_s": budget_s,
        "memory_bytes": memory_bytes,
    }
    return Task(name, solve, argument)


def solve(argument: Mapping[str, Any], send: Callable[[Any], None]) -> dict[str, Any]:
    """Run a search, in a process of its own; what it takes to begin counts towards the budget."""
    started = time.monotonic()
    search = load_search(argument["search"])
    instance = instance_from_record(argument["instance"])
    answered: dict[str, Any] = {"size": None, "first_s": None, "best_s": None}
    last = 0.0

    def heard(best: Formula | None) -> None:
        """Note when an answer came, and when a smaller one."""
        if best is not None and (answered["size"] is None or best.ast_nodes < answered["size"]):
            now = round(time.monotonic() - started, 3)
            first = now if answered["first_s"] is None else answered["first_s"]
            answered.update(size=best.ast_nodes, first_s=first, best_s=now)

    def report(progress: Progress) -> None:
        nonlocal last
        better = answered["size"]
        heard(progress.best)
        now = time.monotonic()
        if now - last > _BETWEEN_REPORTS_S or answered["size"] != better:
            last = now
            best = None if progress.best is None else to_sexpr(progress.best)
            send(asdict(progress) | {"best": best, "answered": dict(answered)})

    left = max(0.01, argument["budget_s"] - (time.monotonic() - started))
    result = search.search(
        instance, Budget(left, argument["memory_bytes"]), SearchOptions(**argument["options"]), report
    )
    heard(result.formulas[0] if result.formulas else None)
    return {
        "formulas": [to_sexpr(formula) for formula in result.formulas],
        "outcome": result.outcome.value,
        "none_below": result.none_below,
        "fragment": result.fragment,
        "diagnosis": result.diagnosis,
        "statistics": dict(result.statistics),
        "further_answers": result.further_answers,
        "answered": answered,
    }


def prediction_row(instance: Instance, search: str, options: SearchOptions, report: Report) -> dict[str, Any]:
    """The prediction row of one task, from its result or, if it was stopped, from the last it had said.

    An answer that the reference evaluator does not confirm is none; `diagnosis` and `rejected` tell of it. A slip of
    the search, whatever it is, ends in a row with outcome "unknown" and its reason in `fault`: it is not to cost other
    instances theirs.
    """
    last = report.progress or {}
    fault = "" if report.failure in ("", "interrupted", *_STOPPED) else report.failure
    said: dict[str, Any] = report.result or {
        "formulas": [last["best"]] if last.get("best") else [],
        "outcome": Outcome.UNKNOWN.value,
        "none_below": last.get("none_below", 0),
        "fragment": load_search(search).about.expresses,
        "diagnosis": f"{'stopped' if report.failure in _STOPPED else 'ended'}: {printable(report.failure, 300)}",
        "statistics": {},
        "answered": last.get("answered", {}),
    }
    outcome = Outcome(said["outcome"])
    if outcome is Outcome.UNKNOWN:
        outcome = _STOPPED.get(report.failure, outcome)
    formulas: list[Formula] = []
    rejected: list[str] = []
    diagnosis = said["diagnosis"]
    for text in said["formulas"]:
        try:
            formula = parse_formula(text, instance.signature)
            confirmed = fits(formula, instance, options.noise)
        except Exception as error:  # whatever it is, it is the search's
            fault = f"an answer that cannot be read or judged: {error}"
            rejected.append(text)
            continue
        if confirmed:
            formulas.append(formula)
        else:
            rejected.append(to_sexpr(formula))
    if rejected:
        fault = fault or f"not confirmed by the reference evaluator: {rejected[0]}"
        diagnosis = printable(fault, 2_000)
        outcome = outcome if formulas else Outcome.UNKNOWN
    texts = [to_sexpr(formula) for formula in formulas]
    best = formulas[0] if formulas else None
    mislabelled = None if best is None else count_mislabelled(best, instance)
    proven = best is not None and best.ast_nodes <= said["none_below"]
    outcome, further = settled(outcome, said.get("further_answers", NOT_LOOKED_FOR), proven_smallest=proven)
    return {
        "schemaVersion": "induction_prediction_record_v1",
        "instanceId": instance.instance_id,
        "task": instance.regime.value,
        "scenario": instance.regime.scenario,
        "model": search,
        "success": best is not None,
        "extractedFormula": texts[0] if texts else None,
        "solutions": texts,
        "astSize": None if best is None else best.ast_nodes,
        "goldAst": instance.gold_ast,
        "outcome": outcome.value,
        "noneBelow": said["none_below"],
        "provenSmallest": proven,
        "furtherAnswers": None if best is None else further,
        "fragment": said["fragment"],
        "search": search,
        **({"noise": options.noise, "mislabelled": mislabelled} if options.noise else {}),
        **({"rejected": rejected} if rejected else {}),
        **({"fault": printable(fault, 2_000)} if fault else {}),
        "diagnosis": diagnosis,
        "statistics": said["statistics"],
        "timing": {
            "cpu_s": round(report.cpu_s, 3),
            "wall_s": round(report.wall_s, 3),
            "peak_mb": round(report.peak_mb, 1),
            "first_s": said["answered"].get("first_s"),
            "best_s": said["answered"].get("best_s"),
        },
    }


def is_cut_short(row: Mapping[str, Any], report: Report) -> bool:
    """Whether an interrupt, rather than a limit or the search's end, made the row what it is."""
    return report.failure == "interrupted" and (
        row["outcome"] == Outcome.UNKNOWN.value or row["furtherAnswers"] == _INTERRUPTED
    )
