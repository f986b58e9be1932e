"""Rows of a long job: each is kept as soon as it is finished, and the file appears whole, in input order.

Finished rows go to `OUT.partial`, a line each; its first line says which job they belong to. A job started again with
the same key takes them over and does the rest. When all are there, `OUT` is written in one step and the journal goes.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from induction.errors import InstanceFormatError, MissingFileError, UsageError, printable
from induction.worlds.formats import write_whole
from induction.worlds.texts import load_json

Row = dict[str, Any]

_KEY_FIELD = "journalOf"


class RowJournal:
    """The rows of the job that writes `output`, by their ids. Use as a context manager, which closes the file.

    Raises:
        UsageError: the journal that is there belongs to another job, or `output` is a directory.
        MissingFileError: there is no such folder.
        OSError: the journal cannot be read or written.
    """

    def __init__(self, output: str | os.PathLike[str], key: Mapping[str, Any]) -> None:
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
        self.rows: dict[str, Row] = {}
        self._key = {_KEY_FIELD: dict(key)}
        kept = self._read() if self.path.exists() else b""
        # What is kept ends with a whole line: a line cut short by a crash goes.
        write_whole(self.path, kept or (json.dumps(self._key) + "\n").encode())
        self._stream = self.path.open("ab")

    def _read(self) -> bytes:
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        lines = whole.split(b"\n")[:-1]
        name = printable(str(self.path), 200)
        try:
            rows = [load_json(line.decode(), name, first_line=i) for i, line in enumerate(lines, start=1)]
            if rows and rows[0] != self._key:
                raise UsageError(f"{name}: is left over from another command; finish that one, or delete the file")
            self.rows = {row["instanceId"]: row for row in rows[1:]}
        except (InstanceFormatError, UnicodeDecodeError, KeyError, TypeError):
            raise UsageError(f"{name}: is not a journal of this program; move it away") from None
        return whole

    def add(self, name: str, row: Row) -> None:
        """Keep a finished row."""
        self.add_all({name: row})

    def add_all(self, rows: Mapping[str, Row]) -> None:
        """Keep several finished rows; the disk is waited for once."""
        self.rows.update(rows)
        self._stream.write("".join(json.dumps(row) + "\n" for row in rows.values()).encode())
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def finish(self, order: Sequence[str], write: Callable[[list[Row]], None] | None = None) -> None:
        """Write the output with the rows in `order`, as JSON lines or by `write`, and remove the journal."""
        rows = [self.rows[name] for name in order]
        if write is not None:
            write(rows)
        else:
            write_whole(self.output, "".join(json.dumps(row) + "\n" for row in rows).encode())
        self._stream.close()
        self.path.unlink()

    def __enter__(self) -> "RowJournal":
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()
        if not self.rows:  # nothing is lost, and nothing stands in the way of another command
            self.path.unlink(missing_ok=True)
