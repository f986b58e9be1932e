"""Requests to stop that come at awkward moments, other ways of starting processes, and locks."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from conftest import EXAMPLES

from induction.interrupts import interrupts_held
from induction.running import local
from induction.running.local import run_tasks
from induction.running.locks import LockedFile
from induction.running.tasks import Limits, Task
from induction.scoring import solving
from induction.search import SearchOptions
from induction.worlds import read_instances


class Late:
    """A result during whose hand-over the request to stop comes."""

    def __reduce__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)
        return (str, ("whole",))


def finish_late(argument, send):
    return Late()


def test_stopped_while_handing_over(capfd):
    reports = list(run_tasks([Task(str(i), finish_late, None) for i in range(3)], jobs=2, limits=Limits()))
    assert [(report.result, report.failure) for report in reports] == [("whole", "")] * 3
    assert capfd.readouterr().err == ""


class Deaf:
    """Ctrl-C that comes while this goes cannot be raised by Python."""

    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)


def drop_something(argument, send):
    try:
        thing = Deaf()
        del thing
        time.sleep(60)
    except KeyboardInterrupt:
        return "heard"


def send_much(argument, send):
    """Progress larger than a pipe takes at once, so that requests come in the middle of messages."""
    try:
        while True:
            send("x" * 300_000)
    except KeyboardInterrupt:
        return "heard"


def test_a_request_is_not_lost_in_a_callback(capfd):
    (report,) = run_tasks([Task("d", drop_something, None)], jobs=1, limits=Limits(time_s=20))
    assert report.result == "heard"
    assert capfd.readouterr().err == ""


def test_messages_stay_whole():
    tasks = [Task(str(i), send_much, None) for i in range(4)]
    reports = list(run_tasks(tasks, jobs=2, limits=Limits(time_s=0.4)))
    assert {(report.result, report.failure) for report in reports} == {("heard", "time")}


def wait_for_interrupt(argument, send):
    send("begun")
    try:
        time.sleep(30)
    except KeyboardInterrupt:
        return f"stopped {argument}"


def quick(argument, send):
    return argument


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_interrupt_while_the_consumer_works():
    """What is being dealt with is not lost, and what the others have to say comes still."""
    kept = []

    def consume():
        for report in run_tasks(tasks, jobs=2, limits=Limits()):
            if report.name == "q":
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.3)
            kept.append((report.result, report.failure))

    tasks = [Task("q", quick, "quick"), *(Task(str(i), wait_for_interrupt, i) for i in range(3))]
    with pytest.raises(KeyboardInterrupt):
        consume()
    assert kept == [("quick", ""), ("stopped 0", "interrupted")]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_interrupted_when_all_was_done():
    for report in run_tasks([Task("q", quick, "quick")], jobs=1, limits=Limits()):
        os.kill(os.getpid(), signal.SIGINT)
        assert report.result == "quick"


def test_a_worker_ended_from_outside_is_told():
    def on_progress(name, progress):
        os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)

    (report,) = run_tasks([Task("w", wait_for_interrupt, 0)], jobs=1, limits=Limits(), on_progress=on_progress)
    assert (report.result, report.failure) == (None, "died")


def solving_tasks():
    options = SearchOptions(max_ast=8)
    instance = read_instances(EXAMPLES, ["example_fullobs"])[0]
    return [solving.solving_task(str(i), "bottom-up", instance, options, 60, 2**30) for i in range(2)]


def test_processes_that_are_not_forked(monkeypatch):
    """As on Windows and macOS: everything that goes to a task is pickled and imported anew."""
    monkeypatch.setattr(local, "_CONTEXT", multiprocessing.get_context("spawn"))
    reports = list(run_tasks(solving_tasks(), jobs=2, limits=Limits()))
    assert [report.result["outcome"] for report in reports] == ["solved", "solved"]
    assert all(report.cpu_s > 0 for report in reports)
    (stopped,) = run_tasks(solving_tasks()[:1], jobs=1, limits=Limits(time_s=0.01))
    assert stopped.failure == "time"


def burn_until_stopped(argument, send):
    send("begun")
    try:
        while True:
            time.sleep(0.01)
    except KeyboardInterrupt:
        return "stopped"


def test_without_what_only_posix_has(monkeypatch):
    """The other branches: no thread can be signalled, nothing is blocked, nobody accounts for processes."""
    monkeypatch.delattr(signal, "pthread_kill", raising=False)
    monkeypatch.delattr(signal, "pthread_sigmask", raising=False)
    monkeypatch.setattr(local, "resource", None)
    (report,) = run_tasks([Task("b", burn_until_stopped, None)], jobs=1, limits=Limits(time_s=0.5))
    assert (report.result, report.failure) == ("stopped", "time")
    assert report.cpu_s > 0


def test_tasks_from_another_thread():
    """Signals are the main thread's; tasks run anyway."""
    found = []
    thread = threading.Thread(
        target=lambda: found.extend(run_tasks([Task("q", quick, 5)], jobs=1, limits=Limits(time_s=30)))
    )
    thread.start()
    thread.join()
    assert [report.result for report in found] == [5]


@pytest.mark.skipif(os.name == "nt", reason="signals as POSIX has them")
def test_held_interrupts_come_at_the_end():
    steps = []

    @interrupts_held()
    def outer():
        inner()
        steps.append("outer")

    @interrupts_held()
    def inner():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        steps.append("inner")

    with pytest.raises(KeyboardInterrupt):
        outer()
    assert steps == ["inner", "outer"]


def test_a_lock_is_one_holders_and_free_after(tmp_path):
    path = tmp_path / "o.partial"
    first = LockedFile(path)
    with pytest.raises(BlockingIOError):
        LockedFile(path)
    first.close()
    second = LockedFile(path)
    second.remove()
    assert not path.exists()
    LockedFile(path).remove()


HOLD = """
import sys, time
from induction.running.local import run_tasks
from induction.running.rows import RowJournal
from induction.running.tasks import Limits, Task
def sleep(argument, send):
    send("begun")
    time.sleep(30)
with RowJournal(sys.argv[1], {}) as journal:
    journal.add("one", {"instanceId": "one"})
    for report in run_tasks([Task("s", sleep, None)], jobs=1, limits=Limits(), on_progress=lambda *_: print(flush=True)):
        pass
"""

COMPETE = """
import sys
from induction.errors import UsageError
from induction.running.rows import RowJournal
who, added = sys.argv[2], 0
while added < 15:
    try:
        with RowJournal(sys.argv[1], {}) as journal:
            name = f"{who} {added}"
            journal.add(name, {"instanceId": name})
            added += 1
    except UsageError:
        pass
"""


@pytest.mark.skipif(os.name == "nt", reason="kill as POSIX has it")
def test_a_killed_process_holds_no_lock_though_its_workers_live(tmp_path):
    from induction.running.rows import RowJournal

    out = tmp_path / "o.jsonl"
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(out)], stdout=subprocess.PIPE)
    assert process.stdout.readline()
    process.kill()
    process.wait()
    with RowJournal(out, {}) as journal:
        assert list(journal.rows) == ["one"]
    process.stdout.close()


def test_no_row_is_lost_between_processes(tmp_path):
    """Three processes open, add and close in turn: whoever has the journal has all rows before."""
    from induction.running.rows import RowJournal

    out = tmp_path / "o.jsonl"
    processes = [subprocess.Popen([sys.executable, "-c", COMPETE, str(out), who]) for who in "abc"]
    assert [process.wait() for process in processes] == [0, 0, 0]
    with RowJournal(out, {}) as journal:
        assert sorted(journal.rows) == sorted(f"{who} {i}" for who in "abc" for i in range(15))
