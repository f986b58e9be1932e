"""Tasks under limits, and rows that survive interruptions."""

import json
import time

import pytest

from induction.errors import UsageError
from induction.running.local import run_tasks
from induction.running.rows import RowJournal
from induction.running.tasks import Limits, Task


def square(argument, send):
    send(argument)
    return argument * argument


def sleep(argument, send):
    send("asleep")
    time.sleep(argument)
    return "awake"


def stubborn(argument, send):
    send("stubborn")
    while True:
        try:
            time.sleep(argument)
        except KeyboardInterrupt:
            continue


def eat(argument, send):
    kept = []
    while True:
        kept.append(bytearray(8 * 2**20))
        time.sleep(0.005)


def fail(argument, send):
    raise RuntimeError(f"no {argument}")


def burn(argument, send):
    started = time.process_time()
    while time.process_time() - started < argument:
        pass
    return "burnt"


def test_results_and_accounts():
    tasks = [Task(str(i), square, i) for i in range(6)]
    reports = list(run_tasks(tasks, jobs=2, limits=Limits()))
    assert {report.name: report.result for report in reports} == {str(i): i * i for i in range(6)}
    assert all(report.failure == "" and report.peak_mb > 5 for report in reports)
    (burnt,) = run_tasks([Task("b", burn, 0.5)], jobs=1, limits=Limits())
    assert 0.4 < burnt.cpu_s < 2
    assert burnt.wall_s >= 0.4


def test_time_limit_is_kept():
    started = time.monotonic()
    reports = list(run_tasks([Task("s", sleep, 60), Task("t", stubborn, 60)], jobs=2, limits=Limits(time_s=0.5)))
    assert time.monotonic() - started < 10
    assert {report.failure for report in reports} == {"time"}
    assert {report.progress for report in reports} == {"asleep", "stubborn"}


def answer_when_stopped(argument, send):
    try:
        time.sleep(argument)
    except KeyboardInterrupt:
        return "best so far"


def test_a_stopped_task_can_still_answer():
    (report,) = run_tasks([Task("a", answer_when_stopped, 60)], jobs=1, limits=Limits(time_s=0.5))
    assert (report.result, report.failure) == ("best so far", "time")


def test_memory_limit_is_kept():
    (report,) = run_tasks([Task("e", eat, None)], jobs=1, limits=Limits(memory_bytes=600 * 2**20))
    assert report.failure == "memory"
    assert report.peak_mb < 1500


def test_failures_are_reported_and_the_rest_is_done():
    reports = list(run_tasks([Task("f", fail, "luck"), Task("g", square, 3)], jobs=1, limits=Limits()))
    assert [(report.result, report.failure) for report in reports] == [(None, "RuntimeError: no luck"), (9, "")]


def test_journal_resumes_and_keeps_input_order(tmp_path):
    output = tmp_path / "rows.jsonl"
    with RowJournal(output, {"a": 1}) as journal:
        journal.add("two", {"instanceId": "two", "n": 2})
    assert not output.exists()
    with RowJournal(output, {"a": 1}) as journal:
        assert journal.rows == {"two": {"instanceId": "two", "n": 2}}
        journal.add("one", {"instanceId": "one", "n": 1})
        journal.finish(["one", "two"])
    assert [json.loads(line)["n"] for line in output.read_text().splitlines()] == [1, 2]
    assert not journal.path.exists()


def test_journal_survives_a_cut_line(tmp_path):
    output = tmp_path / "rows.jsonl"
    with RowJournal(output, {"a": 1}) as journal:
        journal.add("one", {"instanceId": "one"})
    journal.path.write_bytes(journal.path.read_bytes() + b'{"instanceId": "tw')
    with RowJournal(output, {"a": 1}) as again:
        assert list(again.rows) == ["one"]
        again.add("two", {"instanceId": "two"})
    with RowJournal(output, {"a": 1}) as last:
        assert list(last.rows) == ["one", "two"]


def test_places_that_cannot_hold_the_output(tmp_path):
    with pytest.raises(UsageError, match="is a directory"):
        RowJournal(tmp_path, {})
    with pytest.raises(FileNotFoundError, match="no such folder"):
        RowJournal(tmp_path / "no" / "rows.jsonl", {})


def test_foreign_journals_are_not_touched(tmp_path):
    output = tmp_path / "rows.jsonl"
    with RowJournal(output, {"a": 1}) as journal:
        journal.add("one", {"instanceId": "one"})
    content = journal.path.read_bytes()
    with pytest.raises(UsageError, match="another command"):
        RowJournal(output, {"a": 2})
    assert journal.path.read_bytes() == content
    journal.path.write_text("not a journal\n")
    with pytest.raises(UsageError, match="not a journal"):
        RowJournal(output, {"a": 1})
    assert journal.path.read_text() == "not a journal\n"
