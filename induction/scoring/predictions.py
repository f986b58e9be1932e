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

    `alternatives` are further formulas of the same row. `task` is the regime that the row names, "" if it names none;
    `failure` says why a request of a batch came to nothing.
    """

    instance_id: str
    model: str
    text: str | None
    place: str
    run: str
    task: str = ""
    alternatives: tuple[str, ...] = ()
    description: str = ""
    failure: str = ""


def read_predictions(
    path: str, model: str | None = None, run: str | None = None
) -> Iterator[Prediction | InstanceFormatError]:
    """The rows of a JSONL file, malformed ones as errors, unraised.

    A row without a model is `model`'s, or by default the file's name without suffixes; one without a run is of `run`,
    or by default of that name too.

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
            yield _prediction(row, name, place, run or stem, model or stem)
        except InstanceFormatError as error:
            yield error


def _prediction(row: Any, file: str, place: str, run: str, default_model: str) -> Prediction:
    if not isinstance(row, dict):
        raise InstanceFormatError("the row is no JSON object", file=file, place=place)
    instance_id = _text_field(row, _ID_FIELDS, file, place)
    if instance_id is None:
        raise InstanceFormatError(f"the row has none of {', '.join(_ID_FIELDS)}", file=file, place=place)
    try:
        texts = answer_texts(row)
    except InstanceFormatError as error:
        raise error.within(file=file, place=place) from None
    if texts is None:
        raise InstanceFormatError(f"the row has none of {', '.join(ANSWER_FIELDS)}", file=file, place=place)
    return Prediction(
        instance_id=instance_id,
        model=printable(_text_field(row, _MODEL_FIELDS, file, place) or _batch_model(row) or default_model, 200),
        text=texts[0] if texts else None,
        place=f"{file}, {place}",
        run=printable(_text_field(row, ("run_id",), file, place) or run, 200),
        task=str(row.get("task") or ""),
        alternatives=tuple(texts[1:]),
        description=str(row.get("extractedDescription") or row.get("description") or ""),
        failure=_batch_failure(row) or "",
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
    if _batch_failure(row) is not None:
        return []
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
    """The text in a line of a batch interface's output; None for other rows and for requests that failed."""
    response, result = row.get("response"), row.get("result")
    if isinstance(response, Mapping) and isinstance(response.get("body"), Mapping):  # OpenAI
        body = response["body"]
        if isinstance(body.get("choices"), list) and body["choices"]:
            return _joined(_at(body["choices"][0], "message", "content"))
        if isinstance(body.get("output"), list):
            return _joined([part for item in body["output"] for part in _at(item, "content") or []])
    if isinstance(result, Mapping) and isinstance(result.get("message"), Mapping):  # Anthropic
        return _joined(result["message"].get("content"))
    return None


def _batch_model(row: Mapping[str, Any]) -> str | None:
    model = _at(row.get("response"), "body", "model") or _at(row.get("result"), "message", "model")
    return model if isinstance(model, str) else None


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _joined(content: Any) -> str | None:
    """The text of a message: itself, or that of its parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(
            part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str)
        )
    return None


def _batch_failure(row: Mapping[str, Any]) -> str | None:
    """Why a request of a batch has no message, in words; None for rows that are no such thing."""
    if "custom_id" not in row or _batch_text(row) is not None:
        return None
    for value in (row.get("error"), row.get("result"), row.get("response")):
        if isinstance(value, Mapping):
            return f"the request failed: {printable(str(dict(value)), 200)}"
    return "the request failed" if {"error", "result"} & row.keys() or row.get("response", "") is None else None
