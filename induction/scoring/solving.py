"""One search on one instance as a task, and the row of what came out.

What goes into a task and comes out of it is plain values, so that a task can run anywhere. Answers are re-checked
here by the reference evaluator, whatever the search or a process that had to be stopped says of them.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from induction.budget import Budget, Outcome
from induction.errors import UsageError
from induction.formula.parsing import parse_formula
from induction.formula.syntax import Formula, to_sexpr
from induction.running.tasks import Limits, Report, Task
from induction.search import Progress, SearchOptions, count_mislabelled, fits, load_search
from induction.worlds.instance import Instance, Regime
from induction.worlds.records import instance_from_record
from induction.worlds.record_writing import record_from_instance

_BETWEEN_REPORTS_S = 0.2
_SPARE_BYTES = 300 * 2**20
_STOPPED = {"time": Outcome.TIMED_OUT, "memory": Outcome.OUT_OF_MEMORY}


def limits_of(budget_s: float, memory_bytes: int) -> Limits:
    """The hard limits of a task: a search keeps within its budget by itself, these are for when it does not."""
    return Limits(budget_s * 1.05 + 0.2, int(memory_bytes * 1.1) + _SPARE_BYTES)


def require_noise_is_heeded(search: str, options: SearchOptions, instances: Sequence[Instance]) -> None:
    """Raises UsageError: there is noise to allow for, but the search or a regime does not know of any."""
    if not options.noise:
        return
    if not load_search(search).about.noise:
        raise UsageError(f"{search} takes no noise; bottom-up and greedy do")
    for instance in instances:
        if instance.regime is Regime.EC:
            raise UsageError(f"{instance.instance_id} is an EC instance; noise is for FullObs and CI")


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
        "answered": answered,
    }


def prediction_row(instance: Instance, search: str, options: SearchOptions, report: Report) -> dict[str, Any]:
    """The prediction row of one task, from its result or, if it was stopped, from the last it had said.

    An answer that the reference evaluator does not confirm is none; `diagnosis` and `rejected` tell of it.
    """
    last = report.progress or {}
    said: dict[str, Any] = report.result or {
        "formulas": [last["best"]] if last.get("best") else [],
        "outcome": Outcome.UNKNOWN.value,
        "none_below": last.get("none_below", 0),
        "fragment": load_search(search).about.expresses,
        "diagnosis": f"{'stopped' if report.failure in _STOPPED else 'ended'}: {report.failure}",
        "statistics": {},
        "answered": last.get("answered", {}),
    }
    outcome = Outcome(said["outcome"])
    if outcome is Outcome.UNKNOWN:
        outcome = _STOPPED.get(report.failure, outcome)
    given = [parse_formula(text, instance.signature) for text in said["formulas"]]
    formulas = [formula for formula in given if fits(formula, instance, options.noise)]
    rejected = [to_sexpr(formula) for formula in given if formula not in formulas]
    texts = [to_sexpr(formula) for formula in formulas]
    diagnosis = said["diagnosis"]
    if rejected:
        diagnosis = f"not confirmed by the reference evaluator: {rejected[0]}"
        outcome = outcome if formulas else Outcome.UNKNOWN
    best = formulas[0] if formulas else None
    mislabelled = None if best is None else count_mislabelled(best, instance)
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
        "provenSmallest": best is not None and best.ast_nodes <= said["none_below"],
        "fragment": said["fragment"],
        "search": search,
        **({"noise": options.noise, "mislabelled": mislabelled} if options.noise else {}),
        **({"rejected": rejected} if rejected else {}),
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
