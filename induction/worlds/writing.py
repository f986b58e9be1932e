"""Files written whole or not at all, and whether they can be, asked before the work."""

import contextlib
import gzip
import io
import os
import secrets
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from induction.errors import MissingFileError, OutputError, UsageError, printable
from induction.interrupts import interrupts_held
from induction.worlds import ledger

STANDARD_OUTPUT = "-"

Content: TypeAlias = bytes | Iterable[bytes]
"""What a file is to hold, whole or in pieces."""

_LARGE_PIECE = 2**20
_TEMPORARY = ".induction-"  # whatever the output is called: a name near the longest there may be has no room for more


def write_whole(path: str | os.PathLike[str], content: Content) -> None:
    """Put `content`, whole or in pieces, at `path`, compressed for a `.gz` name, by way of a temporary file beside it.

    `-` is standard output; what is no ordinary file, such as a device or a pipe, is written to as it is. What a link
    stands for is replaced, not the link, and keeps its permissions.

    Raises:
        MissingFileError: there is no such folder.
        UsageError: it is a directory, or a file that the command reads.
        OutputError: the file cannot be written; what stood at `path` is then still there.
    """
    pieces = [content] if isinstance(content, bytes) else content
    if os.fspath(path).lower().endswith(".gz"):
        pieces = _compressed(pieces)
    if os.fspath(path) == STANDARD_OUTPUT:
        sys.stdout.flush()
        sys.stdout.buffer.writelines(pieces)
        return
    ledger.writing(path)
    there = _status(path)
    with naming(path):
        if there is not None and not stat.S_ISREG(there.st_mode):
            with open(path, "wb") as stream:  # a device or a pipe; by its name as given, since a pipe has no other
                stream.writelines(pieces)
        else:
            _replace(os.path.realpath(path), pieces, there)


def _compressed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The gzip form of all pieces together; without a time, so that the same content gives the same bytes."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as stream:
        for piece in pieces:
            stream.write(piece)
            if buffer.tell() > _LARGE_PIECE:
                yield buffer.getvalue()
                buffer.seek(0)
                buffer.truncate()
    yield buffer.getvalue()


def _replace(target: str, pieces: Iterable[bytes], there: os.stat_result | None) -> None:
    temporary = os.path.join(os.path.dirname(target), _TEMPORARY + secrets.token_hex(8))
    with interrupts_held():
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.writelines(pieces)
                stream.flush()
                os.fsync(handle)  # some disks say only now that they are full
            if there is not None:
                os.chmod(temporary, stat.S_IMODE(there.st_mode))
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise


def write_files(files: Sequence[tuple[str | os.PathLike[str], bytes]]) -> None:
    """Write several files, folders made as needed; none is written unless all can be. Raises as `write_whole`."""
    taken: dict[str, str | os.PathLike[str]] = {}
    for path, _ in files:
        real = os.path.realpath(path)
        if real in taken:
            raise UsageError(f"{_shown(path)}: would be written twice")
        taken[real] = path
        ledger.writing(path)
        require_folder(os.path.dirname(path) or ".")
    for path, content in files:
        folder = os.path.dirname(path)
        if folder:
            with naming(folder):
                os.makedirs(folder, exist_ok=True)
        write_whole(path, content)


def require_writable(path: str | os.PathLike[str]) -> None:
    """Find out before the work whether a file can be written, leaving nothing behind. Raises as `write_whole`."""
    if os.fspath(path) == STANDARD_OUTPUT:
        return
    there = _status(path)
    if there is None or stat.S_ISREG(there.st_mode):
        with naming(path), tempfile.TemporaryFile(dir=os.path.dirname(os.path.realpath(path))):
            pass


def require_folder(path: str | os.PathLike[str]) -> None:
    """Find out before the work whether files can be written into a folder, which may be still to make.

    Raises:
        UsageError: it is, or is below, something else than a folder.
        OutputError: nothing can be written there.
    """
    nearest = Path(path)
    while not os.path.lexists(nearest) and nearest != nearest.parent:
        nearest = nearest.parent
    with naming(path):
        if not stat.S_ISDIR(os.stat(nearest).st_mode):
            raise UsageError(f"{_shown(nearest)}: is no folder")
        with tempfile.TemporaryFile(dir=nearest):
            pass


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    """What stands at `path`, if anything; a link is followed. Raises as `write_whole`."""
    with naming(path):
        try:
            status = os.stat(path)
        except FileNotFoundError:
            if not os.path.isdir(os.path.dirname(os.path.realpath(path))):
                raise MissingFileError(path, "there is no such folder to write to") from None
            return None
        except NotADirectoryError:
            raise MissingFileError(path, "there is no such folder to write to") from None
    if stat.S_ISDIR(status.st_mode):
        raise UsageError(f"{_shown(path)}: is a directory")
    return status


@contextlib.contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """What the system says inside against writing, said of `path` as the user named it. Raises OutputError."""
    try:
        yield
    except OSError as error:
        if isinstance(error, (MissingFileError, OutputError)):
            raise
        raise OutputError(path, error.strerror or str(error)) from None
    except ValueError as error:
        if isinstance(error, UsageError):
            raise
        raise OutputError(path, str(error)) from None  # such as a name with a NUL


def _shown(path: str | os.PathLike[str]) -> str:
    return printable(os.fspath(path), 200)
