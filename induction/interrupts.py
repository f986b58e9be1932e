"""Ctrl-C where it matters when it comes: held back between steps that belong together, told to others, not lost."""

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

_AGAIN_AFTER_S = 0.01


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Inside, Ctrl-C is only noted, as is the request to stop that a task gets (SIGTERM); it comes at the end.

    Nothing changes where it is ignored or another thread's.
    """
    noted: list[tuple[int, Any]] = []

    def note(number: int, frame: Any) -> None:
        noted.append((number, frame))

    with interrupts_to(note) as before, interrupts_to(note, signal.SIGTERM) as before_stop:
        yield
    for number, frame in noted[-1:]:
        handler = before_stop if number == signal.SIGTERM else before
        if handler is not None:
            handler(number, frame)


@contextlib.contextmanager
def interrupts_to(
    handler: Callable[[int, Any], Any], number: int = signal.SIGINT
) -> Iterator[Callable[[int, Any], Any] | None]:
    """Inside, Ctrl-C (or signal `number`) calls `handler`.

    Gives what it called before, or None where it cannot or should not be changed.

    Python hears signals in its main thread alone, and who started us may have Ctrl-C ignored.
    """
    before = signal.getsignal(number)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield None
        return
    signal.signal(number, handler)
    try:
        yield before
    finally:
        signal.signal(number, before)


def interrupt_main_thread(number: int) -> None:
    """Make Python call a signal's handler in the main thread; where threads can have signals, out of a wait too."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:  # Windows
        import _thread

        _thread.interrupt_main(signal.Signals(number))


def let_none_be_lost(number: int) -> None:
    """From now on a KeyboardInterrupt that came where none can be raised comes again, by the signal that made it.

    Python drops exceptions in callbacks from C and in finalizers; libraries that compile have many of these.
    """

    def hook(unraisable: "sys.UnraisableHookArgs") -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            # Not here: the hook itself is a place where nothing can be raised.
            again = threading.Timer(_AGAIN_AFTER_S, interrupt_main_thread, [number])
            again.daemon = True
            again.start()
        else:
            sys.__unraisablehook__(unraisable)

    sys.unraisablehook = hook
