"""Ctrl-C held back for a moment, where it must not come between two steps that belong together."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Inside, Ctrl-C is only noted; it comes at the end. Nothing changes where it is ignored or another thread's."""
    noted: list[tuple[int, Any]] = []
    with interrupts_to(lambda number, frame: noted.append((number, frame))) as before:
        yield
    if noted and before is not None:
        before(*noted[-1])


@contextlib.contextmanager
def interrupts_to(handler: Callable[[int, Any], Any]) -> Iterator[Callable[[int, Any], Any] | None]:
    """Inside, Ctrl-C calls `handler`. Gives what it called before, or None where it cannot or should not be changed.

    Python hears signals in its main thread alone, and who started us may have Ctrl-C ignored.
    """
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield None
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield before
    finally:
        signal.signal(signal.SIGINT, before)
