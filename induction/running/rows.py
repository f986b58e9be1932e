"""Rows of a long job: each is kept as soon as it is finished, and the file appears whole, in input order.

Finished rows go to `OUT.partial`, a line each; its first line says which job they belong to. A job started again with
the same key takes them over and does the rest. When all are there, `OUT` is written in one step and the journal goes.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any, BinaryIO

from induction.errors import InstanceFormatError, MissingFileError, UsageError, printable
from induction.worlds.formats import write_whole
from induction.worlds.texts import load_json

Row = dict[str, Any]

_KEY_FIELD = "journalOf"


class RowJournal:
    """The rows of the job that writes `output`, by their ids. Use as a context manager, which closes the file.

    Without `held`, rows stay in the journal and are read from there again, so that memory holds a number for each.

    Raises:
        UsageError: the journal that is there belongs to another job, or `output` is a directory.
        MissingFileError: there is no such folder.
        OSError: the journal cannot be read or written.
    """

    def __init__(self, output: str | os.PathLike[str], key: Mapping[str, Any], *, held: bool = True) -> None:
        self.output = Path(output)
        if os.fspath(output) == "-" or (
            self.output.exists() and not self.output.is_file() and not self.output.is_dir()
        ):
            raise UsageError(
                f"{printable(str(output), 200)}: rows go to an ordinary file, beside which a journal is kept"
            )
        if self.output.is_dir():
            raise UsageError(f"{printable(str(output), 200)}: is a directory")
        if not self.output.parent.is_dir():
            raise MissingFileError(output, "there is no such folder to write to")
        self.path = self.output.with_name(self.output.name + ".partial")
        self.rows: MutableMapping[str, Row] = {} if held else _RowsInFile(self.path)
        self._key = {_KEY_FIELD: dict(key)}
        kept = self._read() if self.path.exists() else 0
        if kept:
            os.truncate(self.path, kept)
        else:
            write_whole(self.path, (json.dumps(self._key) + "\n").encode())
        self._stream = self.path.open("ab")

    def _read(self) -> int:
        """Take in the rows that are there; the bytes they take: a line cut short by a crash does not count."""
        name = printable(str(self.path), 200)
        whole = 0
        try:
            with self.path.open("rb") as stream:
                for number, line in enumerate(stream, start=1):
                    if not line.endswith(b"\n"):
                        break
                    row = load_json(line.decode(), name, first_line=number)
                    if number > 1:
                        self._keep(row["instanceId"], row, whole)
                    elif row != self._key:
                        raise UsageError(
                            f"{name}: is left over from another command; finish that one, or delete the file"
                        )
                    whole += len(line)
        except (InstanceFormatError, UnicodeDecodeError, KeyError, TypeError):
            raise UsageError(f"{name}: is not a journal of this program; move it away") from None
        return whole

    def _keep(self, name: str, row: Row, offset: int) -> None:
        if isinstance(self.rows, _RowsInFile):
            self.rows.offsets[name] = offset
        else:
            self.rows[name] = row

    def add(self, name: str, row: Row) -> None:
        """Keep a finished row."""
        self.add_all({name: row})

    def add_all(self, rows: Mapping[str, Row]) -> None:
        """Keep several finished rows; the disk is waited for once."""
        lines = []
        offset = self._stream.tell()
        for name, row in rows.items():
            self._keep(name, row, offset)
            lines.append((json.dumps(row) + "\n").encode())
            offset += len(lines[-1])
        self._stream.write(b"".join(lines))
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def finish(self, order: Iterable[str], write: Callable[[Iterable[Row]], None] | None = None) -> None:
        """Write the output with the rows in `order`, as JSON lines or by `write`, and remove the journal."""
        rows = (self.rows[name] for name in order)
        if write is not None:
            write(rows)
        else:
            write_whole(self.output, ((json.dumps(row) + "\n").encode() for row in rows))
        self._stream.close()
        if isinstance(self.rows, _RowsInFile):
            self.rows.close()
        self.path.unlink()

    def __enter__(self) -> "RowJournal":
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()
        if isinstance(self.rows, _RowsInFile):
            self.rows.close()
        if not self.rows:  # nothing is lost, and nothing stands in the way of another command
            self.path.unlink(missing_ok=True)


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
