"""A child process that answers one JSON line with another; whatever it does instead is a failure of that exchange only.

The child reads a JSON object a line on its standard input and writes one a line on its standard output. What it writes
on standard error is kept, the end of it, for messages. It runs in a process group of its own, which is ended with it.

NOTE(fresh): a child that was late, wrote too much or wrote nonsense could still be writing the answer to an earlier
question. It is ended, and the next exchange begins with a new one; so it is when a child has ended by itself. One
that ends after an answer may do so just when the next question comes: a new one is asked that question, once.
"""

import contextlib
import enum
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from induction.errors import InductionError, InstanceFormatError, UsageError, printable
from induction.worlds.texts import load_json

TIME_LIMIT_S = 60.0
"""Wall seconds for one exchange, unless told otherwise."""

BYTE_LIMIT = 2**20
"""Longest answer in bytes, unless told otherwise."""

STDERR_KEPT = 4096
"""How many bytes of the end of standard error are kept."""

_CHUNK = 65536
_GRACE_S = 0.5
_LAST_WORDS_S = 0.3


class Failure(enum.StrEnum):
    """Why an exchange gave no answer."""

    NOT_STARTED = "not-started"
    """The command could not be run (again)."""
    TIMED_OUT = "timed-out"
    """No whole line came in time, whether or not the question was read."""
    EXITED = "exited"
    """The child ended, or closed its output, before a whole line came."""
    TOO_LONG = "too-long"
    """More bytes than allowed came without the line's end."""
    NOT_JSON = "not-json"
    """The line is no JSON object in UTF-8."""


@dataclass(frozen=True)
class Exchange:
    """One question and what came of it: the `answer`, or None and why.

    `detail` says more of a failure, in one line; `stderr` is the end of what the child has written there so far.
    """

    answer: dict[str, Any] | None
    failure: Failure | None
    detail: str
    stderr: str
    wall_s: float


class ProgramStartError(InductionError, OSError):
    """The command cannot be run."""


def split_command(command: str) -> list[str]:
    """The words of a command line. Raises UsageError: there are none, or a quotation is not closed."""
    try:
        words = shlex.split(command, posix=sys.platform != "win32")
    except ValueError as error:
        raise UsageError(f"the command '{printable(command)}' cannot be read: {error}") from None
    if not words:
        raise UsageError("the command is empty")
    return words


class Program:
    """A command run as a child as long as exchanges last. Use as a context manager, which ends it.

    Raises:
        UsageError: `command` is a text that cannot be split into words.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        time_limit_s: float = TIME_LIMIT_S,
        byte_limit: int = BYTE_LIMIT,
    ) -> None:
        self.command = split_command(command) if isinstance(command, str) else list(command)
        self.time_limit_s = time_limit_s
        self.byte_limit = byte_limit
        self._child: _Child | None = None

    def start(self) -> None:
        """Start the child unless it runs. Raises ProgramStartError: the command cannot be run."""
        if self._child is None or self._child.has_ended:
            self.close()
            self._child = _Child(self.command, self.byte_limit)

    def exchange(self, message: Mapping[str, Any], *, time_limit_s: float | None = None) -> Exchange:
        """Send `message` and take the answer. Never raises for what the child does."""
        started = time.monotonic()
        limit_s = self.time_limit_s if time_limit_s is None else time_limit_s
        line = (json.dumps(message) + "\n").encode()
        while True:
            known = self._child
            try:
                self.start()
            except ProgramStartError as error:
                return Exchange(None, Failure.NOT_STARTED, str(error), "", time.monotonic() - started)
            child = self._child
            assert child is not None
            try:
                came, failure, detail = child.ask(line, started + limit_s, limit_s)
            except BaseException:  # Ctrl-C: what is under way must not outlive it
                self.close()
                raise
            if failure is not Failure.EXITED or child is not known:
                break
            self.close()
        answer = None
        if failure is None:
            answer, detail = _read(came)
            failure = Failure.NOT_JSON if answer is None else None
        if failure is not None:
            self.close()
        return Exchange(answer, failure, detail, child.last_words(), time.monotonic() - started)

    def close(self) -> None:
        """End the child and its process group, if it runs."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _read(line: bytes) -> tuple[dict[str, Any] | None, str]:
    """The JSON object of a line, or None and what is wrong with it."""
    try:
        value: Any = load_json(line.decode(), "the answer")
    except UnicodeDecodeError as error:
        return None, f"the answer is not UTF-8 (byte {error.start + 1})"
    except (InstanceFormatError, RecursionError) as error:
        return None, printable(str(error), 200)
    if not isinstance(value, dict):
        return None, f"the answer is no JSON object: {printable(line.decode().strip(), 80)}"
    return value, ""


class _Child:
    """A running child, with a thread for each of its streams, so that none can block an exchange.

    Output is read ahead up to `byte_limit` and then left in the pipe, where the child has to wait with it.
    """

    def __init__(self, command: Sequence[str], byte_limit: int) -> None:
        options: dict[str, Any] = {}
        if sys.platform == "win32":
            options["creationflags"] = subprocess.CREATE_NEW_PROCESS_GROUP
        else:
            options["start_new_session"] = True
        pipe = subprocess.PIPE
        try:
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0, **options)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise ProgramStartError(f"{printable(command[0], 200)}: cannot be run: {reason}") from None
        self._byte_limit = byte_limit
        self._changed = threading.Condition()
        self._output = bytearray()
        self._errors = bytearray()
        self._output_ended = self._ending = False
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin: IO[bytes] = self._process.stdin
        self._threads = [
            threading.Thread(target=self._read_output, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._read_errors, args=(self._process.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    @property
    def has_ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.poll() is not None

    def ask(self, line: bytes, deadline: float, limit_s: float) -> tuple[bytes, Failure | None, str]:
        """Write a line, and give the line that comes; or nothing and why."""
        with self._changed:
            self._output.clear()  # said without being asked
            self._changed.notify_all()
        threading.Thread(target=self._write, args=(line,), daemon=True).start()
        with self._changed:
            while True:
                end = self._output.find(b"\n", 0, self._byte_limit + 1)
                if end >= 0:
                    came = bytes(self._output[:end])
                    del self._output[: end + 1]
                    self._changed.notify_all()
                    return came, None, ""
                if len(self._output) > self._byte_limit:
                    return b"", Failure.TOO_LONG, f"more than {self._byte_limit:,} bytes without the end of a line"
                if self._output_ended:
                    break
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    return b"", Failure.TIMED_OUT, f"no answer within {limit_s:g} s"
                self._changed.wait(remaining)
        return b"", Failure.EXITED, self._how_it_ended(deadline)

    def _how_it_ended(self, deadline: float) -> str:
        """In words, once the output has ended."""
        try:
            code = self._process.wait(max(0.0, min(_GRACE_S, deadline - time.monotonic())))
        except subprocess.TimeoutExpired:
            return "it closed its output"
        return f"it ended with exit code {code}" if code >= 0 else f"it was ended by signal {-code}"

    def _write(self, line: bytes) -> None:
        # A child that ends, or is ended, while it is written to, breaks the pipe: reading tells of that.
        with contextlib.suppress(OSError, ValueError):
            rest = memoryview(line)
            while rest:
                written = self._stdin.write(rest)
                rest = rest[written or 0 :]

    def _read_output(self, stream: IO[bytes]) -> None:
        with stream, contextlib.suppress(OSError, ValueError):
            while chunk := stream.read(_CHUNK):
                with self._changed:
                    self._output += chunk
                    self._changed.notify_all()
                    while len(self._output) > self._byte_limit and not self._ending:
                        self._changed.wait()
                    if self._ending:
                        break
        with self._changed:
            self._output_ended = True
            self._changed.notify_all()

    def _read_errors(self, stream: IO[bytes]) -> None:
        with stream, contextlib.suppress(OSError, ValueError):
            while chunk := stream.read(_CHUNK):
                with self._changed:
                    self._errors += chunk
                    del self._errors[:-STDERR_KEPT]

    def last_words(self) -> str:
        """The end of what came on standard error, as text that is safe to show."""
        if self.has_ended:
            self._threads[1].join(_LAST_WORDS_S)
        with self._changed:
            return bytes(self._errors).decode("utf-8", "replace").strip()

    def end(self) -> None:
        """End the child and everything of its process group, at once if it does not end when its input does."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()
        self._end_group(gently=True)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE_S)
        self._end_group(gently=False)
        self._process.wait()
        with contextlib.suppress(OSError):
            self._stdin.close()
        for thread in self._threads:
            thread.join(_LAST_WORDS_S)

    def _end_group(self, *, gently: bool) -> None:
        if sys.platform == "win32":
            if not gently:
                subprocess.run(
                    ["taskkill", "/F", "/T", "/PID", str(self._process.pid)], capture_output=True, check=False
                )
            return
        # The group outlives its leader while others are in it; its number is not given away before that.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGTERM if gently else signal.SIGKILL)
