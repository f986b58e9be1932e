"""Tasks on this machine, each in a process of its own under hard limits of time and memory.

A task is expected to keep within its budget by itself; the limits here are for when it does not. A process over its
limit is asked to stop, which reaches the task as KeyboardInterrupt, and killed a moment later. CPU time and peak memory
are the operating system's account: what a process reads of itself in the end, or where it was killed, the last that
was read of it from outside. Where there is no /proc (macOS, Windows), memory is not seen from outside, and its limit is
the task's own affair.

NOTE(stopping): Ctrl-C is for this side alone, which notes it and then asks every process to stop. It is never raised
between two steps of the consumer, so that a report that was given is not lost. On the other side the request is
raised only inside of the task's own work: a result that is there is handed over in peace.
"""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from types import FrameType
from typing import Any

from induction.budget import resident_bytes
from induction.interrupts import interrupt_main_thread, interrupts_to, let_none_be_lost
from induction.running.tasks import Limits, Report, Task

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

_POLL_S = 0.05
_GRACE_S = 0.6
_CONTEXT: Any = multiprocessing.get_context("fork" if sys.platform.startswith("linux") else "spawn")

_our_ends: "weakref.WeakSet[Connection]" = weakref.WeakSet()
"""This side of all pipes. A forked process has copies, and must close them for their other ends to notice our death."""


@dataclass
class _Running:
    task: Task
    process: Any
    messages: Connection
    requests: Connection
    started: float = field(default_factory=time.monotonic)
    progress: Any = None
    result: Any = None
    done: bool = False
    failure: str = ""
    peak_bytes: int = 0
    cpu_s: float = 0.0
    stop_by: float | None = None
    ended: float | None = None


def run_tasks(
    tasks: Iterable[Task],
    *,
    jobs: int,
    limits: Limits,
    on_progress: Callable[[str, Any], None] = lambda _name, _progress: None,
) -> Iterator[Report]:
    """Run tasks, at most `jobs` at a time, and give a report for each as it ends.

    When the consumer stops, the tasks under way are killed. On Ctrl-C they are stopped; their reports, with what they
    had to say in the end, still come, and then KeyboardInterrupt, unless all was done. A second Ctrl-C waits for
    nothing.
    """
    waiting = iter(tasks)
    running: list[_Running] = []
    interrupts = 0
    cut_short = False

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        nonlocal interrupts
        interrupts += 1

    with interrupts_to(interrupt):
        try:
            while True:
                try:
                    while not interrupts and len(running) < jobs and (task := next(waiting, None)) is not None:
                        running.append(_start(task))
                    if running:
                        _listen(running, limits, on_progress)
                except KeyboardInterrupt:  # where it could not be had otherwise
                    interrupts += 1
                asked = interrupts
                if asked:
                    for one in running:
                        _ask_to_stop(one, "interrupted")
                for one in [one for one in running if not one.process.is_alive() or one.done]:
                    running.remove(one)
                    report = _finish(one)
                    cut_short |= report.failure == "interrupted"
                    yield report
                if asked > 1 and running:
                    raise KeyboardInterrupt
                if not running:
                    task = next(waiting, None)
                    if asked and (cut_short or task is not None):
                        raise KeyboardInterrupt
                    if task is None:
                        return
                    running.append(_start(task))
        finally:
            for one in running:
                one.process.kill()
                one.process.join()


def _start(task: Task) -> _Running:
    messages, to_us = _CONTEXT.Pipe(duplex=False)
    from_us, requests = _CONTEXT.Pipe(duplex=False)
    _our_ends.update((messages, requests))
    process = _CONTEXT.Process(target=_in_process, args=(task, to_us, from_us), daemon=True)
    with _no_interrupt_inherited():
        process.start()
    to_us.close()
    from_us.close()
    return _Running(task, process, messages, requests)


@contextlib.contextmanager
def _no_interrupt_inherited() -> Iterator[None]:
    """A process made inside does not hear Ctrl-C before it can say what to do about it; here it comes afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _in_process(task: Task, messages: Connection, requests: Connection) -> None:
    """In the process: run the task, and say what came of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for end in list(_our_ends):
        end.close()
    own_frame = sys._getframe()
    at_work = stop_asked = stop_heard = False

    def stop(_signal: int, frame: FrameType | None) -> None:
        nonlocal stop_asked, stop_heard
        stop_asked = True
        if at_work and frame is not own_frame:  # in our own frame the work has not begun, or is over
            stop_heard = True
            raise KeyboardInterrupt

    def send(progress: Any) -> None:
        nonlocal at_work, stop_heard
        at_work = False  # half a message would spoil those after it
        messages.send(("progress", progress))
        at_work = True
        if stop_asked and not stop_heard:
            stop_heard = True
            raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    let_none_be_lost(signal.SIGTERM)
    threading.Thread(target=_heed, args=(requests,), daemon=True).start()
    kind, content = "failed", "interrupted"
    try:
        at_work = True
        if not stop_asked:
            kind, content = "done", task.work(task.argument, send)
        at_work = False
    except KeyboardInterrupt:
        at_work = False
    except MemoryError:
        at_work = False
        kind, content = "failed", "memory"
    except Exception as error:
        at_work = False
        kind, content = "failed", f"{type(error).__name__}: {error}"
    with contextlib.suppress(OSError):  # nobody is there any more
        messages.send((kind, (content, stop_heard, *_own_account())))


def _heed(requests: Connection) -> None:
    """Stop the work when asked to. When there is nobody any more who could ask, end this process."""
    while True:
        try:
            requests.recv()
        except (EOFError, OSError):
            os._exit(1)
        interrupt_main_thread(signal.SIGTERM)


def _own_account() -> tuple[float, int, float]:
    """CPU seconds of this process and those it waited for, its largest resident memory in bytes, and the time now.

    Memory is 0 where the system does not tell.
    """
    if resource is None:
        return time.process_time() + sum(os.times()[2:4]), 0, time.monotonic()
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = own.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime, peak, time.monotonic()


def _listen(running: list[_Running], limits: Limits, on_progress: Callable[[str, Any], None]) -> None:
    """Wait a moment for messages, take them in, and hold every process to its limits."""
    by_connection: dict[Any, _Running] = {one.messages: one for one in running}
    for connection in wait(list(by_connection), timeout=_POLL_S):
        one = by_connection[connection]
        _receive(one)
        if one.progress is not None and not one.done:
            on_progress(one.task.name, one.progress)
    now = time.monotonic()
    for one in running:
        resident = resident_bytes(one.process.pid)
        one.peak_bytes = max(one.peak_bytes, resident, _high_water_bytes(one.process.pid))
        one.cpu_s = max(one.cpu_s, _cpu_s(one.process.pid))
        if one.done:
            continue
        if one.stop_by is not None:
            if now > one.stop_by:
                one.process.kill()
        elif limits.time_s is not None and now - one.started > limits.time_s:
            _ask_to_stop(one, "time")
        elif limits.memory_bytes is not None and resident > limits.memory_bytes:
            _ask_to_stop(one, "memory")


def _receive(one: _Running) -> None:
    """Take in every message that has come."""
    try:
        while one.messages.poll():
            kind, content = one.messages.recv()
            if kind == "progress":
                one.progress = content
                continue
            said, stop_heard, cpu_s, peak, ended = content
            one.cpu_s, one.peak_bytes, one.done = max(one.cpu_s, cpu_s), max(one.peak_bytes, peak), True
            one.ended = ended
            if kind == "done":
                one.result = said
                if not stop_heard:  # asked too late: it had finished by itself
                    one.failure = ""
            else:  # a stop that we did not ask for came from outside
                one.failure = one.failure or ("died" if stop_heard else said)
    except (EOFError, OSError):
        if not one.done:  # after its last message a process just ends
            one.failure = one.failure or "died"
            one.done = True


def _ask_to_stop(one: _Running, why: str) -> None:
    """Ask once; who asks later, or after the end, changes nothing."""
    if one.stop_by is not None or one.done:
        return
    one.failure = one.failure or why
    one.stop_by = time.monotonic() + _GRACE_S
    with contextlib.suppress(OSError):  # it has ended
        one.requests.send(why)


def _finish(one: _Running) -> Report:
    _receive(one)
    one.process.join(_GRACE_S)
    if one.process.is_alive():
        one.process.kill()
        one.process.join()
    one.messages.close()
    one.requests.close()
    return Report(
        name=one.task.name,
        result=one.result,
        failure=one.failure,
        progress=one.progress,
        cpu_s=one.cpu_s,
        wall_s=(one.ended or time.monotonic()) - one.started,
        peak_mb=one.peak_bytes / 2**20,
    )


def _high_water_bytes(pid: int | None) -> int:
    """The largest resident memory the system has seen of a process; 0 where it does not tell."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as stream:
            return next((int(line.split()[1]) * 1024 for line in stream if line.startswith("VmHWM")), 0)
    except (OSError, IndexError, ValueError):
        return 0


def _cpu_s(pid: int | None) -> float:
    """The CPU seconds of a process so far; 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stream:
            fields = stream.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0
