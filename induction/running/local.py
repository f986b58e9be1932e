"""Tasks on this machine, each in a process of its own under hard limits of time and memory.

A task is expected to keep within its budget by itself; the limits here are for when it does not. A process over its
limit is asked to stop, which reaches it as KeyboardInterrupt, and killed a moment later. CPU time and peak memory are
the operating system's account: what a process reads of itself in the end, or where it was killed, the last that was
read of it from outside.
"""

import multiprocessing
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import Any

from induction.budget import resident_bytes
from induction.running.tasks import Limits, Report, Task

_POLL_S = 0.05
_GRACE_S = 0.6
_PARENT_POLL_S = 0.5
_CONTEXT = multiprocessing.get_context("fork" if sys.platform.startswith("linux") else "spawn")


@dataclass
class _Running:
    task: Task
    process: Any
    connection: Connection
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

    When the consumer stops, or Ctrl-C comes, the tasks under way are stopped; their reports, with what they had to
    say in the end, still come if the consumer goes on.
    """
    waiting = iter(tasks)
    running: list[_Running] = []
    stopping = False
    try:
        while True:
            try:
                while not stopping and len(running) < jobs and (task := next(waiting, None)) is not None:
                    running.append(_start(task))
                if not running:
                    return
                _listen(running, limits, on_progress)
            except KeyboardInterrupt:
                if stopping:
                    raise
                stopping = True
                for one in running:
                    _ask_to_stop(one, "interrupted")
            for one in [one for one in running if not one.process.is_alive() or one.done]:
                running.remove(one)
                yield _finish(one)
            if stopping and not running:
                raise KeyboardInterrupt
    finally:
        for one in running:
            one.process.kill()
            one.process.join()


def _start(task: Task) -> _Running:
    here, there = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(  # type: ignore[attr-defined]
        target=_in_process, args=(task, there, os.getpid()), daemon=True
    )
    process.start()
    there.close()
    return _Running(task, process, here)


def _in_process(task: Task, connection: Connection, parent: int) -> None:
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    # Ctrl-C is for the parent, which passes it on as a request to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        kind, content = "done", task.work(task.argument, lambda progress: connection.send(("progress", progress)))
    except KeyboardInterrupt:
        kind, content = "failed", "interrupted"
    except MemoryError:
        kind, content = "failed", "memory"
    except Exception as error:
        kind, content = "failed", f"{type(error).__name__}: {error}"
    connection.send((kind, (content, *_own_account())))


def _own_account() -> tuple[float, int, float]:
    """CPU seconds of this process and those it waited for, its largest resident memory in bytes, and the time now."""
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = own.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime, peak, time.monotonic()


def _end_with(parent: int) -> None:
    """End this process once its parent is gone: killed, it cannot stop its tasks, and their pipes would never break."""
    while os.getppid() == parent:
        time.sleep(_PARENT_POLL_S)
    os._exit(1)


def _interrupt(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _listen(running: list[_Running], limits: Limits, on_progress: Callable[[str, Any], None]) -> None:
    """Wait a moment for messages, take them in, and hold every process to its limits."""
    by_connection = {one.connection: one for one in running}
    for connection in wait(list(by_connection), timeout=_POLL_S):
        assert isinstance(connection, Connection)
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
        while one.connection.poll():
            kind, content = one.connection.recv()
            if kind == "progress":
                one.progress = content
                continue
            said, cpu_s, peak, ended = content
            one.cpu_s, one.peak_bytes, one.done = max(one.cpu_s, cpu_s), max(one.peak_bytes, peak), True
            one.ended = ended
            if kind == "done":
                one.result = said
            else:
                one.failure = one.failure or said
    except (EOFError, OSError):
        if not one.done:  # after its last message a process just ends
            one.failure = one.failure or "died"
            one.done = True


def _ask_to_stop(one: _Running, why: str) -> None:
    one.failure = one.failure or why
    one.stop_by = time.monotonic() + _GRACE_S
    one.process.terminate()


def _finish(one: _Running) -> Report:
    _receive(one)
    one.process.join(_GRACE_S)
    if one.process.is_alive():
        one.process.kill()
        one.process.join()
    one.connection.close()
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
        with open(f"/proc/{pid}/status") as stream:
            return next((int(line.split()[1]) * 1024 for line in stream if line.startswith("VmHWM")), 0)
    except (OSError, IndexError, ValueError):
        return 0


def _cpu_s(pid: int | None) -> float:
    """The CPU seconds of a process so far; 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/stat") as stream:
            fields = stream.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0
