"""Rows of a long job: each is kept as soon as it is finished, and the file appears whole, in input order.

Finished rows go to `OUT.partial`, a line each; its first line says which job they belong to. A job started again with
the same key takes them over and does the rest. When all are there, `OUT` is written in one step and the journal goes.

NOTE(journal): whoever has the journal locked may write and remove it, nobody else; it is never replaced by another
file, so that the lock is always on the file that has the name. The lock ends with its process.
"""

import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any, BinaryIO

from induction.errors import InstanceFormatError, UsageError, printable
from induction.interrupts import interrupts_held
from induction.running.locks import LockedFile
from induction.worlds import ledger
from induction.worlds.texts import load_json
from induction.worlds.writing import Content, naming, require_writable, write_whole

Row = dict[str, Any]

_KEY_FIELD = "journalOf"


class RowJournal:
    """The rows of the job that writes `output`, by their ids. Use as a context manager, which closes the file.

    Without `held`, rows stay in the journal and are read from there again, so that memory holds a number for each.

    Raises:
        UsageError: another process is writing `output`, the journal that is there belongs to another job, or `output`
            is a directory or something that rows cannot go to.
        MissingFileError: there is no such folder.
        OutputError: the journal cannot be read or written, or nothing else in its folder.
    """

    def __init__(self, output: str | os.PathLike[str], key: Mapping[str, Any], *, held: bool = True) -> None:
        self.output = Path(output)
        if os.fspath(output) == "-" or (
            self.output.exists() and not self.output.is_file() and not self.output.is_dir()
        ):
            raise UsageError(
                f"{printable(str(output), 200)}: rows go to an ordinary file, beside which a journal is kept"
            )
        ledger.writing(output)
        require_writable(output)
        # Beside what a link stands for: two names of one output have one journal.
        beside = Path(os.path.realpath(output)) if self.output.is_symlink() else self.output
        self.path = beside.with_name(beside.name + ".partial")
        self.rows: MutableMapping[str, Row] = {} if held else _RowsInFile(self.path)
        self._key = {_KEY_FIELD: dict(key)}
        ledger.will_write(self.path, f"the journal of {printable(str(output), 200)}")
        with naming(self.path):
            try:
                self._file = LockedFile(self.path)
            except BlockingIOError:
                raise UsageError(
                    f"{printable(str(output), 200)}: is being written by another process (it holds {self._name})"
                ) from None
        try:
            self._take_over()
        except BaseException:
            self._file.close()
            raise

    @property
    def _name(self) -> str:
        return printable(str(self.path), 200)

    def _take_over(self) -> None:
        """Read what is kept. What no row is in, or was cut short by a crash, goes."""
        if not stat.S_ISREG(os.fstat(self._file.descriptor).st_mode):
            raise UsageError(f"{self._name}: is not a journal of this program; move it away")
        kept = 0
        with naming(self.path):
            stream = self.path.open("rb")
        try:
            with stream:
                for number, line in enumerate(stream, start=1):
                    if not line.endswith(b"\n"):
                        if number == 1 and not line.startswith(f'{{"{_KEY_FIELD}"'.encode()[: len(line)]):
                            raise TypeError
                        break
                    row = load_json(line.decode(), self._name, first_line=number)
                    if number > 1:
                        self._keep(row["instanceId"], row, kept)
                    elif _KEY_FIELD not in row:
                        raise TypeError
                    else:
                        key = row
                    kept += len(line)
            if self.rows and key != self._key:
                raise UsageError(
                    f"{self._name}: is left over from another command; finish that one, or delete the file"
                )
            self._size = kept
        except (InstanceFormatError, UnicodeDecodeError, KeyError, TypeError):
            raise UsageError(f"{self._name}: is not a journal of this program; move it away") from None
        with naming(self.output):
            if not self.rows:
                self._size = 0
            os.ftruncate(self._file.descriptor, self._size)
        if not self.rows:
            try:
                self._append((json.dumps(self._key) + "\n").encode())
            except BaseException:
                self._file.remove()
                raise

    def _keep(self, name: str, row: Row, offset: int) -> None:
        if isinstance(self.rows, _RowsInFile):
            self.rows.offsets[name] = offset
        else:
            self.rows[name] = row

    def add(self, name: str, row: Row) -> None:
        """Keep a finished row. Raises OutputError: it cannot be written; those before are kept."""
        self.add_all({name: row})

    def add_all(self, rows: Mapping[str, Row]) -> None:
        """Keep several finished rows; the disk is waited for once. Raises as `add`."""
        lines = {name: (json.dumps(row) + "\n").encode() for name, row in rows.items()}
        offset = self._size
        self._append(b"".join(lines.values()))
        for name, line in lines.items():
            self._keep(name, rows[name], offset)
            offset += len(line)

    def _append(self, content: bytes) -> None:
        descriptor = self._file.descriptor
        with naming(self.output), interrupts_held():
            try:
                written = 0
                while written < len(content):
                    written += os.write(descriptor, content[written:])
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, self._size)
                raise
            self._size += len(content)

    def finish(self, order: Iterable[str], content_of: Callable[[Iterable[Row]], Content] | None = None) -> None:
        """Write the output and remove the journal.

        The output is the rows in `order`, as JSON lines or by `content_of`. Raises OutputError: it cannot be written;
        the journal is then still there.
        """
        rows = (self.rows[name] for name in order)
        content = as_lines(rows) if content_of is None else content_of(rows)
        with interrupts_held():  # an output that is there, with a journal beside it, would puzzle
            write_whole(self.output, content)
            self._file.remove()

    def __enter__(self) -> "RowJournal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the journal; one without rows goes: nothing is lost, and nothing is in another command's way."""
        if isinstance(self.rows, _RowsInFile):
            self.rows.close()
        if self._file.is_open:
            if self.rows:
                self._file.close()
            else:
                self._file.remove()


def as_lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """Rows as JSON lines, one at a time."""
    return ((json.dumps(row) + "\n").encode() for row in rows)


class _RowsInFile(MutableMapping[str, Row]):
    """Rows by name, of which only the `offsets` of their lines are held."""

    def __init__(self, path: Path) -> None:
        self.offsets: dict[str, int] = {}
        self._path = path
        self._stream: BinaryIO | None = None

    def __getitem__(self, name: str) -> Row:
        offset = self.offsets[name]
        if self._stream is None:
            self._stream = self._path.open("rb")
        self._stream.seek(offset)
        row: Row = json.loads(self._stream.readline())
        return row

    def __setitem__(self, name: str, row: Row) -> None:
        raise TypeError("rows are kept by adding them to the journal")

    def __delitem__(self, name: str) -> None:
        del self.offsets[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets)

    def close(self) -> None:
        """Let go of the file."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None
