"""The command line: `main.py` and one file per command. Only this package prints or exits."""

import contextlib
import os
import signal
import sys

from induction.interrupts import let_none_be_lost

INTERRUPTED = 130
CLOSED = 141
"""Standard output was closed before all was written: neither yes nor no."""


def main() -> None:
    """Run the command line of this process and exit with its code."""
    # While nothing has begun that would have to be cleared up, Ctrl-C ends the process then and there: raised as an
    # exception, half a library that is being loaded could take it for its own affair.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave_at_once)
    let_none_be_lost(signal.SIGINT)
    # Nothing here multiplies matrices; starting numpy's thread pool would double the start-up time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from induction.cli.main import run

    sys.exit(run(sys.argv[1:]))


def leave_at_once(_signal: int, _frame: object) -> None:
    """End the process on Ctrl-C, with the line that says so."""
    with contextlib.suppress(OSError):
        os.write(2, b"induction: interrupted\n")
    os._exit(INTERRUPTED)
