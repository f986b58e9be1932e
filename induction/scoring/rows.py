"""Evaluation rows read back."""

from typing import Any

from induction.errors import InstanceFormatError, printable
from induction.scoring.runs import evaluation_of, is_run_row
from induction.worlds.instance import Regime
from induction.worlds.texts import display_name, load_json, read_text

_NEEDED: dict[str, type | tuple[type, ...]] = {
    "instance_id": str,
    "task": str,
    "model_id": str,
    "run_id": str,
    "valid": bool,
    "parse_ok": bool,
    "prediction": dict,
    "evaluation": dict,
}

_TASKS = tuple(regime.value for regime in Regime)
_WHOLE = ("sizeReference", "holdoutRight", "holdoutWorlds")
_WORDS = ("band", "family", "goldQuantifiers", "errorKind", "errorEvidence")
_MOST = 10**12


def read_rows(path: str) -> list[dict[str, Any]]:
    """The evaluation rows of a file; those of the release lack `metadata`, which is then empty. Run rows become such.

    Raises:
        InductionError: the file cannot be read, or a row is no evaluation row.
    """
    name = display_name(path)
    rows = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        row = load_json(line, name, first_line=number)
        place = f"line {number}"
        if is_run_row(row):
            row = evaluation_of(row, file=name, place=place)
        rows.append(_checked(row, name, place))
    if not rows:
        raise InstanceFormatError("there is no row", file=name)
    return rows


def _checked(row: Any, file: str, place: str) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise InstanceFormatError("the row is no JSON object", file=file, place=place)
    for field, kind in _NEEDED.items():
        if not isinstance(row.get(field), kind):
            raise InstanceFormatError(f"{field} is missing or of another type", file=file, place=place)
    if row["task"] not in _TASKS:
        raise InstanceFormatError(f"task is none of {', '.join(_TASKS)}", file=file, place=place)
    size, gold = row["prediction"].get("ast_size"), row.get("gold_ast")
    metadata = row.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise InstanceFormatError("metadata is no object", file=file, place=place)
    for value in (size, gold, row.get("ast_delta"), *(metadata.get(field) for field in _WHOLE)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or abs(value) > _MOST):
            raise InstanceFormatError("a size or count is no whole number", file=file, place=place)
    for field in _WORDS:
        if not isinstance(metadata.get(field, ""), str | None):
            raise InstanceFormatError(f"metadata.{field} is no text", file=file, place=place)
    match = metadata.get("holdoutMatch")
    if match is not None and (not isinstance(match, bool) or metadata.get("holdoutRight") is None):
        raise InstanceFormatError("metadata.holdoutMatch is without its counts", file=file, place=place)
    if row["valid"] and size is None:
        raise InstanceFormatError("a valid row has no ast_size", file=file, place=place)
    for field in ("model_id", "run_id", "instance_id"):
        row[field] = printable(row[field], 300)
    row["metadata"] = metadata
    row["gold_ast"] = gold
    row.setdefault("gold_formula", None)
    if row.get("ast_delta") is None:
        row["ast_delta"] = size - gold if size is not None and gold is not None else None
    row["prediction"].setdefault("ast_size", None)
    row["prediction"].setdefault("formula", None)
    return row
