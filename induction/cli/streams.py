"""Standard output and standard error that may be closed, or full, at any moment.

NOTE(closed pipe): what is said on standard error never matters to the work. Standard output that cannot be written
ends the command, since nobody can have its results, with a code that means neither yes nor no; but where the results
go to a file, the work goes on.
"""

import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator
from typing import Any

from induction.errors import OutputError

_GONE = (errno.EPIPE, errno.ESHUTDOWN, errno.EINVAL)  # the last is what Windows says of a closed pipe


class _Guard(io.FileIO):
    """Fails once, at most, and from then on swallows what is written. With `heedless` it does not even fail."""

    def __init__(self, descriptor: int, called: str, *, heedless: bool = False, gone: bool = False) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self._called = called
        self._gone = gone
        self.heedless = heedless
        self.failure: OSError | None = None

    def write(self, content: Any) -> int:
        if self.failure is None:
            try:
                if self._gone:
                    raise BrokenPipeError(errno.EPIPE, "is closed")
                return super().write(content)
            except OSError as error:
                self.failure = error
                if not self.heedless:
                    if error.errno in _GONE:
                        raise BrokenPipeError(errno.EPIPE, "is closed") from None
                    raise OutputError(self._called, error.strerror or str(error)) from None
        return memoryview(content).nbytes


class Streams:
    """The streams of one command line."""

    def __init__(self, output: _Guard | None) -> None:
        self._output = output

    def go_on_without_output(self) -> None:
        """From now on the work does not end because standard output cannot be written."""
        if self._output is not None:
            self._output.heedless = True

    @property
    def output_is_lost(self) -> bool:
        """Whether somebody who needs what was printed did not get all of it."""
        return self._output is not None and self._output.failure is not None and not self._output.heedless


@contextlib.contextmanager
def guarded() -> Iterator[Streams]:
    """Standard output and error guarded inside. Odd text, or a terminal that lacks a symbol, does not stop them."""
    _occupy_standard_descriptors()
    before = sys.stdout, sys.stderr
    output = _guard("stdout", 1, "standard output")
    errors = _guard("stderr", 2, "standard error")
    if errors is not None:
        errors.heedless = True
    try:
        yield Streams(output)
    finally:
        for guard in (output, errors):
            if guard is not None:
                guard.heedless = True
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        sys.stdout, sys.stderr = before


def _guard(name: str, descriptor: int, called: str) -> _Guard | None:
    """Put a guard before a standard stream; not where a terminal is (or a test), which cannot be a closed pipe."""
    stream = getattr(sys, name)
    try:
        if stream is not None and (stream.isatty() or stream.fileno() != descriptor):
            raise io.UnsupportedOperation
    except (OSError, ValueError):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
        return None
    guard = _Guard(descriptor, called, gone=stream is None)
    if stream is not None:
        stream.flush()
    encoding = stream.encoding if stream is not None else "utf-8"
    # A line at a time, so that a reader who has seen enough is noticed before all the work is done.
    text = io.TextIOWrapper(io.BufferedWriter(guard), encoding, "backslashreplace", line_buffering=True)
    setattr(sys, name, text)
    return guard


def _occupy_standard_descriptors() -> None:
    """Open what is closed of the first three: else the next file opened would get what is printed."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
