"""Predictions as they come: v1 rows, bare rows, raw answers, outputs of batch interfaces; many models and files."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from induction.errors import InstanceFormatError, UsageError, printable
from induction.worlds.texts import Line, TextLines, load_json

ANSWER_FIELDS = ("extractedFormula", "formula", "response", "rawResponse", "text")
"""Where a row's answer stands, in the order in which they are looked at; null ones are passed over."""

_ID_FIELDS = ("instanceId", "instance_id", "custom_id")
_MODEL_FIELDS = ("model", "model_id")


@dataclass(frozen=True)
class Prediction:
    """One row: which instance, by which model, and the answer as text; None where it holds none.

    `alternatives` are further formulas of the same row. `task` is the regime that the row names, "" if it names none;
    `failure` says why a request of a batch came to nothing: failed, expired, or answered without any text.
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
    """The rows of a JSONL file, malformed ones as errors, unraised; see `PredictionFile`.

    Raises:
        InductionError: the file as a whole cannot be read.
        UsageError: a failed request is nobody's.
    """
    return (row for _, row in PredictionFile(path, model, run))


class PredictionFile:
    """The rows of a JSONL file, one after another or by their place.

    A row without a model is `model`'s, or by default the file's name without suffixes; one without a run is of `run`,
    or by default of that name too. Failed requests of a batch name no model: without `model` they are the one's that
    all other rows of the file are of, and where there is no such one, whose they are has to be said.
    """

    def __init__(self, path: str, model: str | None = None, run: str | None = None) -> None:
        self._lines = TextLines(path)
        stem = PurePath(path).name.removesuffix(".gz").removesuffix(".jsonl") if path != "-" else "standard input"
        self._model = model
        self._stem = stem
        self._run = run or stem

    def __iter__(self) -> Iterator[tuple[Line, Prediction | InstanceFormatError]]:
        """Each row with its line.

        Raises:
            InductionError: the file as a whole cannot be read.
            UsageError: a failed request is nobody's.
        """
        for line in self._lines:
            try:
                yield line, self._prediction(line)
            except InstanceFormatError as error:
                yield line, error

    def at(self, number: int, offset: int) -> Prediction:
        """The prediction of the line that begins at `offset`, as an iteration gave it."""
        return self._prediction(self._lines.at(number, offset))

    def close(self) -> None:
        """Let go of the file."""
        self._lines.close()

    def _prediction(self, line: Line) -> Prediction:
        file, place = self._lines.name, line.place
        row = load_json(line.text, file, first_line=line.number)
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
        model = _text_field(row, _MODEL_FIELDS, file, place) or _batch_model(row)
        if model is None:
            model = self._model or (self._model_of_batch(place) if _is_of_batch(row) else self._stem)
        return Prediction(
            instance_id=instance_id,
            model=printable(model, 200),
            text=texts[0] if texts else None,
            place=f"{file}, {place}",
            run=printable(_text_field(row, ("run_id",), file, place) or self._run, 200),
            task=str(row.get("task") or ""),
            alternatives=tuple(texts[1:]),
            description=str(row.get("extractedDescription") or row.get("description") or ""),
            failure=_batch_failure(row) or "",
        )

    def _model_of_batch(self, place: str) -> str:
        """The model of the rows of a batch that name none. `place` is where the first of them stands."""
        if len(self._models) == 1:
            return self._models[0]
        shown = printable(", ".join(self._models[:5]), 200)
        why = f"the other rows are of several ({shown})" if self._models else "nor does any other row"
        raise UsageError(
            f"{self._lines.name}: {place}: a request without an answer names no model, and {why}: say whose it is "
            "with --model"
        )

    @functools.cached_property
    def _models(self) -> list[str]:
        """Whose answers the file holds: the models named in it, and the file's own name for answers without one."""
        named: dict[str, None] = {}
        unnamed: dict[bool, None] = {}  # whether they are of a batch
        for line in self._lines:
            try:
                row = load_json(line.text, self._lines.name)
                if not isinstance(row, dict) or _text_field(row, _ID_FIELDS, "", "") is None:
                    continue
                model = _text_field(row, _MODEL_FIELDS, "", "") or _batch_model(row)
                if model is not None:
                    named[model] = None
                elif answer_texts(row):
                    unnamed[_is_of_batch(row)] = None
            except InstanceFormatError:
                continue
        if False in unnamed or (unnamed and not named):
            named[self._stem] = None
        return list(named)


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


def _is_of_batch(row: Mapping[str, Any]) -> bool:
    """Whether the row is a line of a batch interface's output."""
    return "custom_id" in row and (
        isinstance(row.get("response"), Mapping)
        or isinstance(row.get("result"), Mapping)
        or _batch_failure(row) is not None
    )


def _batch_text(row: Mapping[str, Any]) -> str | None:
    """The text in a line of a batch interface's output; None for other rows and for requests that failed."""
    response, result = row.get("response"), row.get("result")
    if isinstance(response, Mapping) and isinstance(response.get("body"), Mapping):  # OpenAI
        body = response["body"]
        if isinstance(body.get("choices"), list) and body["choices"]:
            return _joined(_at(body["choices"][0], "message", "content"))
        if isinstance(body.get("output"), list):
            messages = [item for item in body["output"] if _at(item, "type") in (None, "message")]
            return _joined([part for item in messages for part in _at(item, "content") or []])
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
    """The text of a message: itself, or that of its parts; None where it has none."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        texts = [part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
        return "".join(texts) if texts else None
    return None


def _batch_failure(row: Mapping[str, Any]) -> str | None:
    """Why a request of a batch has no text, in words; None for rows that are no such thing."""
    if "custom_id" not in row or _batch_text(row) is not None:
        return None
    response, result, error = row.get("response"), row.get("result"), row.get("error")
    if not any(isinstance(value, Mapping) for value in (response, result, error)):
        return "the request failed" if {"error", "result"} & row.keys() or row.get("response", "") is None else None
    body, message = _at(response, "body"), _at(result, "message")
    told = [
        *_words(error, "code", "type", "message"),
        *_words(result, "type"),
        *_words(_at(result, "error"), "message"),
        *_words(_at(result, "error", "error"), "type", "message"),
        *_words(body, "status"),
        *_words(_at(body, "error"), "code", "type", "message"),
        *_words(_at(body, "incomplete_details"), "reason"),
        *_words(message, "stop_reason"),
    ]
    choices = _at(body, "choices")
    if isinstance(choices, list) and choices:
        told += [*_words(choices[0], "finish_reason"), *_words(_at(choices[0], "message"), "refusal")]
    status = _at(response, "status_code")
    if isinstance(status, int) and status >= 400:
        told.insert(0, f"status {status}")
    succeeded = status == 200 or _at(result, "type") == "succeeded"
    what = "the response holds no text" if succeeded else "the request failed"
    return printable(f"{what}: {', '.join(dict.fromkeys(told))}" if told else what, 300)


def _words(value: Any, *fields: str) -> list[str]:
    """Those of the fields that are there and hold a text."""
    if not isinstance(value, Mapping):
        return []
    return [value[field] for field in fields if isinstance(value.get(field), str) and value[field]]
