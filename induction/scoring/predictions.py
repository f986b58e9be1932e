"""Predictions as they come: v1 rows, bare rows, raw answers, outputs of batch interfaces; many models and files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from induction.errors import InstanceFormatError, printable
from induction.worlds.texts import display_name, load_json, read_text

ANSWER_FIELDS = ("extractedFormula", "formula", "response", "rawResponse", "text")
"""Where a row's answer stands, in the order in which they are looked at; null ones are passed over."""

_ID_FIELDS = ("instanceId", "instance_id", "custom_id")
_MODEL_FIELDS = ("model", "model_id")


@dataclass(frozen=True)
class Prediction:
    """One row: which instance, by which model, and the answer as text; None where it holds none.

    `alternatives` are further formulas of the same row. `task` is the regime that the row names, "" if it names none.
    """

    instance_id: str
    model: str
    text: str | None
    place: str
    run: str
    task: str = ""
    alternatives: tuple[str, ...] = ()
    description: str = ""


def read_predictions(path: str, model: str | None = None) -> Iterator[Prediction | InstanceFormatError]:
    """The rows of a JSONL file, malformed ones as errors, unraised.

    A row without a model is `model`'s, or by default the file's name without suffixes.

    Raises:
        InductionError: the file as a whole cannot be read.
    """
    name = display_name(path)
    stem = PurePath(path).name.removesuffix(".gz").removesuffix(".jsonl") if path != "-" else "standard input"
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            row = load_json(line, name, first_line=number)
            yield _prediction(row, name, place, stem, model or stem)
        except InstanceFormatError as error:
            yield error


def _prediction(row: Any, file: str, place: str, run: str, default_model: str) -> Prediction:
    if not isinstance(row, dict):
        raise InstanceFormatError("the row is no JSON object", file=file, place=place)
    instance_id = _text_field(row, _ID_FIELDS, file, place)
    if instance_id is None:
        raise InstanceFormatError(f"the row has none of {', '.join(_ID_FIELDS)}", file=file, place=place)
    texts = answer_texts(row)
    if texts is None:
        raise InstanceFormatError(f"the row has none of {', '.join(ANSWER_FIELDS)}", file=file, place=place)
    return Prediction(
        instance_id=instance_id,
        model=_text_field(row, _MODEL_FIELDS, file, place) or default_model,
        text=texts[0] if texts else None,
        place=f"{file}, {place}",
        run=run,
        task=str(row.get("task") or ""),
        alternatives=tuple(texts[1:]),
        description=str(row.get("extractedDescription") or row.get("description") or ""),
    )


def _text_field(row: Mapping[str, Any], fields: Sequence[str], file: str, place: str) -> str | None:
    for field in fields:
        value = row.get(field)
        if value is None:
            continue
        if not isinstance(value, str) or not value:
            raise InstanceFormatError(f"{field} is no text", file=file, place=place)
        return value
    return None


def answer_texts(row: Mapping[str, Any]) -> list[str] | None:
    """The answer of a row and further ones it lists; empty where it is null, None where the row has no field for it.

    Raises:
        InstanceFormatError: an answer that is no text.
    """
    from_batch = _batch_text(row)
    if from_batch is not None:
        return [from_batch]
    present = [field for field in ANSWER_FIELDS if field in row]
    field = next((field for field in present if row[field] is not None), None)
    values: list[Any] = [] if field is None else row[field] if isinstance(row[field], list) else [row[field]]
    listed = row.get("solutions", row.get("formulas"))
    if isinstance(listed, list):
        values += [value for value in listed if value not in values]
    elif not present:
        return None
    for value in values:
        if not isinstance(value, str):
            raise InstanceFormatError(f"the answer {printable(str(value))} is no text")
    return values


def _batch_text(row: Mapping[str, Any]) -> str | None:
    """The text in a line of a batch interface's output; None for other rows."""
    if "custom_id" not in row:
        return None
    try:
        if "response" in row:  # OpenAI
            return str(row["response"]["body"]["choices"][0]["message"]["content"] or "")
        content = row["result"]["message"]["content"]  # Anthropic
        return "".join(str(part["text"]) for part in content if part.get("type") == "text")
    except (KeyError, TypeError, IndexError, AttributeError):
        return "" if "response" in row or "result" in row else None
