"""Evaluation rows read back."""

from typing import Any

from induction.errors import InstanceFormatError
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


def read_rows(path: str) -> list[dict[str, Any]]:
    """The evaluation rows of a file; those of the release lack `metadata`, which is then empty.

    Raises:
        InductionError: the file cannot be read, or a row is no evaluation row.
    """
    name = display_name(path)
    rows = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        row = load_json(line, name, first_line=number)
        rows.append(_checked(row, name, f"line {number}"))
    if not rows:
        raise InstanceFormatError("there is no row", file=name)
    return rows


def _checked(row: Any, file: str, place: str) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise InstanceFormatError("the row is no JSON object", file=file, place=place)
    for field, kind in _NEEDED.items():
        if not isinstance(row.get(field), kind):
            raise InstanceFormatError(f"{field} is missing or of another type", file=file, place=place)
    size = row["prediction"].get("ast_size")
    for value in (size, row.get("ast_delta"), row.get("gold_ast")):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise InstanceFormatError("a size is no whole number", file=file, place=place)
    if row["valid"] and size is None:
        raise InstanceFormatError("a valid row has no ast_size", file=file, place=place)
    if not isinstance(row.get("metadata", {}), dict | None):
        raise InstanceFormatError("metadata is no object", file=file, place=place)
    row["metadata"] = row.get("metadata") or {}
    row.setdefault("ast_delta", None)
    row.setdefault("gold_ast", None)
    row.setdefault("gold_formula", None)
    row["prediction"].setdefault("ast_size", None)
    row["prediction"].setdefault("formula", None)
    return row
