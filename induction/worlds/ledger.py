"""What one command reads and writes, so that no output takes the place of an input.

`read_text` and what writes (`writing.py`) ask here, each before it does anything. While no command runs, as in a
program that uses the library, nothing is recorded and nothing refused.

NOTE(ledger): a command names its outputs before it reads. An input that is one of them is then refused as it is
opened, before any work; and an output that was not named is a fault of the command, raised as such, so that a new
command cannot forget. Files are told apart by device and number, which links and spellings do not change.
"""

import contextlib
import os
import stat
from collections.abc import Iterator
from contextvars import ContextVar

from induction.errors import UsageError

_FileId = tuple[int, int]


class Ledger:
    """The files of one command. Use through `keeping_ledger`, `will_write`, `will_write_into`, `reading`, `writing`."""

    def __init__(self) -> None:
        self.outputs: dict[str, str] = {}
        """What is written and what errors call it, by the path without links."""
        self.folders: dict[str, str] = {}
        self.existing: dict[_FileId, str] = {}
        """The outputs that are there already."""
        self.read: dict[_FileId, str] = {}


_current: ContextVar[Ledger | None] = ContextVar("ledger", default=None)


@contextlib.contextmanager
def keeping_ledger() -> Iterator[Ledger]:
    """Record what is read and written inside, from nothing."""
    ledger = Ledger()
    token = _current.set(ledger)
    try:
        yield ledger
    finally:
        _current.reset(token)


def will_write(path: str | os.PathLike[str], called: str) -> None:
    """Name an output; `called` is what errors call it. Raises UsageError: another output is the same file."""
    ledger = _current.get()
    if ledger is None:
        return
    real = os.path.realpath(path)
    file_id = _id_of(path)
    other = ledger.outputs.get(real) or (ledger.existing.get(file_id) if file_id else None)
    if other is not None and other != called:
        raise UsageError(f"{called} would replace {other}")
    ledger.outputs[real] = called
    if file_id is not None:
        ledger.existing[file_id] = called
        _refuse_if_read(ledger, file_id, called)


def will_write_into(folder: str | os.PathLike[str], called: str) -> None:
    """Name a folder that outputs go into; which files these are is told by `writing`."""
    ledger = _current.get()
    if ledger is not None:
        ledger.folders[os.path.realpath(folder)] = called


def stands_on(descriptor: int, called: str) -> None:
    """Name an output that is open already, such as standard output."""
    ledger = _current.get()
    file_id = _open_file_id(descriptor)
    if ledger is not None and file_id is not None:
        ledger.existing[file_id] = called


def reading(descriptor: int, called: str) -> None:
    """Record that an open file is about to be read. Raises UsageError: an output would replace it."""
    ledger = _current.get()
    file_id = _open_file_id(descriptor)
    if ledger is None or file_id is None:
        return
    ledger.read[file_id] = called
    if file_id in ledger.existing:
        raise UsageError(f"{called}: is read, and would be replaced by {ledger.existing[file_id]}")


def writing(path: str | os.PathLike[str]) -> None:
    """Ask before a file is written. Raises UsageError: it was read."""
    ledger = _current.get()
    if ledger is None:
        return
    real = os.path.realpath(path)
    called = ledger.outputs.get(real) or ledger.folders.get(os.path.dirname(real))
    if called is None:
        raise AssertionError(f"{path} is written, but the command did not name it as its output")
    file_id = _id_of(path)
    if file_id is not None:
        _refuse_if_read(ledger, file_id, called)


def _refuse_if_read(ledger: Ledger, file_id: _FileId, called: str) -> None:
    if file_id in ledger.read:
        raise UsageError(f"{ledger.read[file_id]}: is read, and would be replaced by {called}")


def _id_of(path: str | os.PathLike[str]) -> _FileId | None:
    try:
        return _regular(os.stat(path))
    except (OSError, ValueError):
        return None


def _open_file_id(descriptor: int) -> _FileId | None:
    try:
        return _regular(os.fstat(descriptor))
    except (OSError, ValueError):
        return None


def _regular(status: os.stat_result) -> _FileId | None:
    """What tells an ordinary file from others; devices and pipes can be read and written at once."""
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
