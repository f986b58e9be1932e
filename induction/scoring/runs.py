"""Run rows: what a search made of an instance under a budget, with what a report needs to know of the instance."""

from collections.abc import Mapping, Sequence
from typing import Any

from induction import __version__
from induction.errors import InstanceFormatError
from induction.formula.parsing import parse_formula
from induction.formula.syntax import to_sexpr
from induction.scoring.evaluate import Dataset, count_right, instance_facts
from induction.worlds.instance import Instance
from induction.worlds.world import World

_TIMES = ("cpu_s", "wall_s", "peak_mb")


def run_row(
    prediction: Mapping[str, Any],
    instance: Instance,
    dataset: Dataset,
    fresh: Sequence[World] | None,
    *,
    budget_s: float,
    memory_mb: float,
) -> dict[str, Any]:
    """The run row of a prediction row; `fresh` holds the instance's hold-out worlds, None where there are none."""
    text = prediction["extractedFormula"]
    right = None
    if text is not None and fresh is not None:
        right = count_right(parse_formula(text, instance.signature), fresh)
    return {
        **prediction,
        "version": __version__,
        "budget_s": budget_s,
        "memory_mb": memory_mb,
        "valid": text is not None,  # but for the noise allowed
        "goldFormula": None if instance.gold is None else to_sexpr(instance.gold),
        "datasetName": dataset.name,
        "datasetPath": dataset.path,
        "metadata": {
            **instance_facts(instance),
            "holdoutRight": right,
            "holdoutWorlds": None if right is None or fresh is None else len(fresh),
            "holdoutMatch": None if right is None or fresh is None else right == len(fresh),
        },
    }


def is_run_row(row: Any) -> bool:
    """Whether a row is a run row rather than an evaluation row."""
    return isinstance(row, dict) and "budget_s" in row and "search" in row


def evaluation_of(row: Mapping[str, Any], *, file: str, place: str) -> dict[str, Any]:
    """What a run row says in the form of an evaluation row, to be reported beside models.

    Raises:
        InstanceFormatError: a field is missing or of another type.
    """

    def field(of: Mapping[str, Any], name: str, *kinds: type) -> Any:
        value = of.get(name)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise InstanceFormatError(f"{name} is missing or of another type", file=file, place=place)
        return value

    nothing = type(None)
    timing = field(row, "timing", dict)
    size, gold = field(row, "astSize", int, nothing), field(row, "goldAst", int, nothing)
    formula = field(row, "extractedFormula", str, nothing)
    valid = field(row, "valid", bool)
    budget_s = field(row, "budget_s", int, float)
    return {
        "instance_id": field(row, "instanceId", str),
        "dataset_name": str(row.get("datasetName") or ""),
        "dataset_path": str(row.get("datasetPath") or ""),
        "task": field(row, "task", str),
        "model_id": field(row, "search", str) + (f" (noise {row['noise']})" if row.get("noise") else ""),
        "run_id": f"{budget_s:g} s",
        "valid": valid,
        "parse_ok": formula is not None,
        "prediction": {"formula": formula, "ast_size": size},
        "gold_formula": field(row, "goldFormula", str, nothing),
        "gold_ast": gold,
        "evaluation": {"failureExplanation": None if formula is not None else str(row.get("diagnosis") or "")},
        "metadata": {
            **field(row, "metadata", dict),
            "strict": formula is not None,
            "run": {
                "outcome": field(row, "outcome", str),
                "proven": field(row, "provenSmallest", bool),
                "none_below": field(row, "noneBelow", int),
                "budget_s": budget_s,
                **{name: field(timing, name, int, float) for name in _TIMES},
                **{name: field(timing, name, int, float, nothing) for name in ("first_s", "best_s")},
            },
        },
    }
