"""What is run, under which limits, and how it ended: the same whoever runs it, one machine or many.

A runner takes tasks and gives a report for each as it ends, in whatever order (`local.run_tasks` does it on this
machine). What goes into a task and comes out of it can be pickled; nothing in it may depend on where it runs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Task:
    """`work(argument, send)`, called in the process; what it returns is the result, what it sends is progress."""

    name: str
    work: Callable[[Any, Callable[[Any], None]], Any]
    argument: Any


@dataclass(frozen=True)
class Limits:
    """Hard limits of one task: wall seconds and bytes of resident memory; None is without limit."""

    time_s: float | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True)
class Report:
    """How a task ended: its `result`, or None; `failure` says why it was stopped or failed, "" if it was not.

    A task stopped for "time", "memory" or because it was "interrupted" may still have a result to give. `progress` is
    the last progress it sent. Times in seconds, `peak_mb` the largest resident memory in MiB.
    """

    name: str
    result: Any
    failure: str
    progress: Any
    cpu_s: float
    wall_s: float
    peak_mb: float
