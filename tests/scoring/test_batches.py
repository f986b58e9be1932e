"""Outputs of batch interfaces: whose the answers are, and what becomes of requests that failed."""

import gzip
import itertools
import json

import pytest
from conftest import PROJECT

from induction.errors import UsageError
from induction.scoring.predictions import read_predictions
from induction.worlds import read_instances

EXAMPLES = PROJECT / "data" / "examples" / "examples.yaml"
IDS = [one.instance_id for one in read_instances(EXAMPLES)]


def chat(name: str, model: str | None, content: str | None = "(P x)", **extra) -> dict:
    """A line of the chat interface's output."""
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": content}, **extra}]}
    body |= {} if model is None else {"model": model}
    return {"id": "r", "custom_id": name, "response": {"status_code": 200, "body": body}, "error": None}


def responses(name: str, model: str, text: str | None = "(P x)") -> dict:
    """A line of the responses interface's output, with a reasoning part before the answer."""
    content = [] if text is None else [{"type": "output_text", "text": text}]
    output = [
        {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "(Q x), or not"}]},
        {"type": "message", "content": content},
    ]
    return {"custom_id": name, "response": {"status_code": 200, "body": {"model": model, "output": output}}}


def message(name: str, model: str, text: str = "(P x)") -> dict:
    """A line of the message batches' results."""
    content = [{"type": "thinking", "thinking": "(Q x)"}, {"type": "text", "text": text}]
    return {"custom_id": name, "result": {"type": "succeeded", "message": {"model": model, "content": content}}}


GOOD = {"chat": chat, "responses": responses, "message": message}

FAILED = {
    "status 500": {"response": {"status_code": 500, "body": {"error": {"message": "server error"}}}, "error": None},
    "status 429, no body": {"response": {"status_code": 429, "body": None}, "error": None},
    "batch_expired": {"response": None, "error": {"code": "batch_expired", "message": "not run in time"}},
    "no response": {"response": None},
    "errored": {"result": {"type": "errored", "error": {"type": "error", "error": {"message": "overloaded"}}}},
    "errored, flat": {"result": {"type": "errored", "error": {"type": "invalid_request", "message": "too long"}}},
    "canceled": {"result": {"type": "canceled"}},
    "expired": {"result": {"type": "expired"}},
}


def write(path, rows):
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return str(path)


@pytest.mark.parametrize("failure", FAILED)
@pytest.mark.parametrize("good", GOOD)
def test_failed_requests_are_the_one_models_wherever_they_stand(tmp_path, good, failure):
    rows = [GOOD[good](IDS[0], "model-a"), {"custom_id": IDS[1], **FAILED[failure]}]
    for number, order in enumerate(itertools.permutations(rows)):
        path = write(tmp_path / f"batch{number}.jsonl{'.gz' if number else ''}", order)
        read = {one.instance_id: one for one in read_predictions(path)}
        assert (read[IDS[0]].model, read[IDS[0]].text, read[IDS[0]].failure) == ("model-a", "(P x)", "")
        assert (read[IDS[1]].model, read[IDS[1]].text) == ("model-a", None)
        assert read[IDS[1]].failure.startswith("the request failed")
        named = {one.instance_id: one.model for one in read_predictions(path, model="model-b")}
        assert named == {IDS[0]: "model-a", IDS[1]: "model-b"}


@pytest.mark.parametrize("failure", FAILED)
@pytest.mark.parametrize(
    ("others", "words"),
    [
        ([], "nor does any other row"),
        ([chat(IDS[0], "model-a"), message(IDS[2], "model-b")], r"several \(model-a, model-b\)"),
        ([chat(IDS[0], "model-a"), {"instanceId": IDS[2], "formula": "(P x)"}], r"several \(model-a, batch\)"),
        ([{"instanceId": IDS[0], "model": "named", "formula": "(P x)"}, chat(IDS[2], "b")], r"several \(named, b\)"),
    ],
)
def test_failed_requests_of_nobody_are_asked_about(tmp_path, others, words, failure):
    for rows in (
        [*others, {"custom_id": IDS[1], **FAILED[failure]}],
        [{"custom_id": IDS[1], **FAILED[failure]}, *others],
    ):
        path = write(tmp_path / "batch.jsonl", rows)
        with pytest.raises(UsageError, match=f"{words}.*--model"):
            list(read_predictions(path))
        models = [one.model for one in read_predictions(path, model="m") if one.failure]
        assert models == ["m"]


def test_answers_without_a_model_keep_the_files_name_and_lend_it(tmp_path):
    rows = [chat(IDS[0], None), {"custom_id": IDS[1], **FAILED["expired"]}]
    path = write(tmp_path / "mine.jsonl", rows)
    assert [one.model for one in read_predictions(path)] == ["mine", "mine"]
    path = write(tmp_path / "bare.jsonl", [{"custom_id": IDS[0], "response": "(P x)"}, rows[1]])
    assert [one.model for one in read_predictions(path)] == ["bare", "bare"]
    path = write(tmp_path / "mixed.jsonl", [*rows, chat(IDS[2], "model-a")])
    assert [one.model for one in read_predictions(path)] == ["model-a"] * 3


def test_a_failed_request_that_names_its_model_is_its_own(tmp_path):
    rows = [chat(IDS[0], "model-a"), {"custom_id": IDS[1], "model": "model-b", **FAILED["expired"]}]
    assert [one.model for one in read_predictions(write(tmp_path / "b.jsonl", rows))] == ["model-a", "model-b"]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (chat("a", "m", None, finish_reason="length"), "the response holds no text: length"),
        (responses("a", "m", None), "the response holds no text"),
        ({"custom_id": "a", **FAILED["status 500"]}, "the request failed: status 500, server error"),
        ({"custom_id": "a", **FAILED["batch_expired"]}, "the request failed: batch_expired, not run in time"),
        ({"custom_id": "a", **FAILED["errored"]}, "the request failed: errored, overloaded"),
    ],
)
def test_why_a_request_came_to_nothing(tmp_path, row, words):
    (one,) = read_predictions(write(tmp_path / "b.jsonl", [row]), model="m")
    assert (one.text, one.failure) == (None, words)


def test_scored_failures_are_told_and_no_model_is_made_up(induction, tmp_path):
    rows = [
        {"custom_id": IDS[1], **FAILED["status 500"]},
        chat(IDS[0], "model-a", '{"formula": "(exists y (and (R x y) (P y)))"}'),
        {"custom_id": IDS[2], **FAILED["batch_expired"]},
    ]
    path, out = write(tmp_path / "batch.jsonl", rows), tmp_path / "e.jsonl"
    ran = induction("score", str(EXAMPLES), path, "-o", str(out))
    assert ran.code == 0
    assert "2 failed requests" in ran.err
    assert "status 500, server error" in ran.err
    scored = [json.loads(line) for line in out.read_text().splitlines()]
    assert {row["model_id"] for row in scored} == {"model-a"}
    assert [row["valid"] for row in scored] == [True, False, False]
    assert [row["metadata"].get("failedRequest") for row in scored] == [
        None,
        "the request failed: status 500, server error",
        "the request failed: batch_expired, not run in time",
    ]
    assert not any(row["completed"] for row in scored[1:])
    second = write(tmp_path / "errors.jsonl", [rows[0], rows[2]])
    ran = induction("score", str(EXAMPLES), path, second, "-o", str(tmp_path / "f.jsonl"))
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert not (tmp_path / "f.jsonl").exists()
    ran = induction("score", str(EXAMPLES), "-", "-o", str(out), stdin="\n".join(map(json.dumps, rows)))
    assert ran.code == 0
    assert {json.loads(line)["model_id"] for line in out.read_text().splitlines()} == {"model-a"}


def test_rows_of_which_none_can_be_read_are_told_one_by_one(induction, tmp_path):
    rows = ['{"instanceId": 3, "formula": "(P x)"}', "nonsense", '{"formula": "(P x)"}'] * 10
    path, out = tmp_path / "p.jsonl", tmp_path / "e.jsonl"
    path.write_text("\n".join(rows))
    for options in ([], ["--model", "m"]):
        ran = induction("score", str(EXAMPLES), str(path), "-o", str(out), *options)
        assert ran.code == 2
        lines = ran.err.splitlines()
        assert [f"line {number}" in line for number, line in enumerate(lines[:20], start=1)] == [True] * 20
        assert "10 more faults" in lines[20]
        assert "--model" not in ran.err
        assert len(lines) == 22
        assert not out.exists()
