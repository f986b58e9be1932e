"""Instance files: v1 records as YAML, JSON or JSON lines, compressed or not."""

import difflib
import gzip
import io
import json
import os
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import yaml

from induction.errors import (
    InductionError,
    InstanceFormatError,
    MissingFileError,
    UnknownNameError,
    UsageError,
    printable,
)
from induction.worlds.instance import Instance
from induction.worlds.records import instance_from_record, record_id, unused_name
from induction.worlds.texts import MAX_RECORDS, display_name, parse_records, read_text
from induction.worlds.record_writing import record_from_instance

MAX_FILE_CELLS = 2**28
"""Most table entries of all instances of one file together."""

MAX_FAULTY_RECORDS = 1_000
"""After so many faulty records the rest of a file is not looked at: it is no file of instances."""

_LONGEST_COMPARED = 80  # similarity costs the product of the lengths

_YAML_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


@dataclass(frozen=True)
class InstanceFile:
    """The records of one file, not yet looked into. `name` is what errors call the file."""

    name: str
    records: tuple[Any, ...]

    def ids(self) -> list[str]:
        """The id of each record, in file order; a record without one is called `record_<position>` or the like."""
        given = [record_id(record) for record in self.records]
        taken = set(given)
        return [
            unused_name(f"record_{position}", taken) if name is None else name
            for position, name in enumerate(given, start=1)
        ]

    def entries(self, ids: Collection[str] | None = None) -> Iterator[Instance | InstanceFormatError]:
        """Each record as an instance or, unraised, as the error that says what is wrong with it.

        With `ids`, only the records of these ids, in file order.

        Raises:
            UnknownNameError: an id that no record has.
        """
        names = self.ids()
        if ids is not None:
            for wanted in ids:
                if wanted not in names:
                    raise UnknownNameError(f"{self.name}: no instance '{printable(wanted)}'{_near(wanted, names)}")
        first_with: dict[str, int] = {}
        cells = faults = 0
        for position, (record, name) in enumerate(zip(self.records, names, strict=True), start=1):
            first_with.setdefault(name, position)
            if ids is not None and name not in ids:
                continue
            try:
                instance = self._instance(record, name, position, first_with[name])
            except InstanceFormatError as error:
                yield error
                faults += 1
                if faults == MAX_FAULTY_RECORDS:
                    yield InstanceFormatError(f"{faults:,} faulty records; the rest is not read", file=self.name)
                    return
                continue
            cells += sum(table.size for world in instance.worlds for table in world.true.values())
            if cells > MAX_FILE_CELLS:
                yield InstanceFormatError(
                    f"the tables of the file up to here take more than {MAX_FILE_CELLS:,} entries",
                    file=self.name,
                    place=_record_place(position, name),
                )
                return
            yield instance

    def _instance(self, record: Any, name: str, position: int, earlier: int) -> Instance:
        if isinstance(record, InstanceFormatError):
            raise record
        place = _record_place(position, name)
        if earlier != position:
            raise InstanceFormatError(f"record {earlier} has the same id", file=self.name, place=place)
        try:
            return instance_from_record(record, name)
        except InstanceFormatError as error:
            raise error.within(file=self.name, place=place) from None


def _record_place(position: int, name: str) -> str:
    return f"record {position} ({printable(name)})"


def _near(wanted: str, names: list[str]) -> str:
    names = list(dict.fromkeys(names))
    if len(wanted) <= _LONGEST_COMPARED:
        comparable = [name for name in names if len(name) <= _LONGEST_COMPARED]
        close = difflib.get_close_matches(wanted, comparable[:2_000], n=1)
        if close:
            return f"; did you mean {printable(close[0])}?"
    return f"; it has {printable(', '.join(names[:5]), 200)}{', …' if len(names) > 5 else ''}"


def open_instances(path: str | os.PathLike[str]) -> InstanceFile:
    """The records of a file (`-`: standard input), told apart by name (`.yaml`, `.json`, `.jsonl`) or content.

    Raises:
        MissingFileError: no such file, or it cannot be read.
        InstanceFormatError: the file as a whole cannot be read; faults of one record are left to `entries`.
    """
    name = display_name(path)
    text = read_text(path)
    records = tuple(parse_records(text, name, file_suffix(path)))
    if not records:
        raise InstanceFormatError("holds no records", file=name)
    if len(records) > MAX_RECORDS:
        raise InstanceFormatError(f"holds {len(records):,} records; the limit is {MAX_RECORDS:,}", file=name)
    return InstanceFile(name, records)


def read_instances(path: str | os.PathLike[str], ids: Collection[str] | None = None) -> list[Instance]:
    """The instances of a file, or those with the given ids, in file order.

    Raises:
        MissingFileError: no such file, or it cannot be read.
        InstanceFormatError: the first fault of the file or of one of its records.
        UnknownNameError: an id that no record has.
    """
    instances = []
    for entry in open_instances(path).entries(ids):
        if isinstance(entry, InstanceFormatError):
            raise entry
        instances.append(entry)
    return instances


def write_instances(path: str | os.PathLike[str], instances: Iterable[Instance]) -> None:
    """Write v1 records in the form the name asks for (`.yaml`, `.json`, `.jsonl`, each also `.gz`).

    The file appears whole or not at all; the same instances give the same bytes.

    Raises:
        InductionError: the name asks for no known form, or the instances hold what it cannot.
        OSError: the file cannot be written.
    """
    records = [record_from_instance(instance) for instance in instances]
    suffix = file_suffix(path)
    try:
        if suffix == ".jsonl":
            text = "".join(json.dumps(record, allow_nan=False) + "\n" for record in records)
        elif suffix == ".json":
            text = json.dumps(records, indent=1, allow_nan=False) + "\n"
        elif suffix in (".yaml", ".yml"):
            text = yaml.dump(records, Dumper=_unaliased(_YAML_DUMPER), sort_keys=False, allow_unicode=True, width=120)
        else:
            raise InductionError(f"{display_name(path)}: write to a name ending in .yaml, .json or .jsonl (or .gz)")
        content = text.encode()
    except (TypeError, ValueError, yaml.YAMLError) as error:
        raise InductionError(f"{display_name(path)}: cannot be written: {printable(str(error), 200)}") from None
    write_whole(path, content)


def require_instance_file_name(path: str | os.PathLike[str]) -> None:
    """Raise UsageError for a name that asks for no format of instance files."""
    if file_suffix(path) not in (".yaml", ".yml", ".json", ".jsonl"):
        raise UsageError(
            f"{printable(os.fspath(path), 200)}: an instance file's name ends in .yaml, .json or .jsonl (and .gz)"
        )


def file_suffix(path: str | os.PathLike[str]) -> str:
    """The lower-case suffix that names the format: the last one but `.gz`."""
    pure = PurePath(os.fspath(path).lower())
    return PurePath(pure.stem).suffix if pure.suffix == ".gz" else pure.suffix


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Put `content` at `path`, compressed for a `.gz` name, by way of a temporary file beside it.

    `-` is standard output; what is no ordinary file, such as a device or a pipe, is written to as it is.

    Raises:
        MissingFileError: there is no such folder.
        OSError: the file cannot be written; what stood at `path` is then still there.
    """
    if os.fspath(path).lower().endswith(".gz"):
        compressed = io.BytesIO()
        with gzip.GzipFile(filename="", mode="wb", fileobj=compressed, mtime=0) as stream:
            stream.write(content)
        content = compressed.getvalue()
    if os.fspath(path) == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        return
    target = Path(path).resolve()  # what a link stands for is replaced, not the link
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:  # a device or a pipe
            stream.write(content)
        return
    if not target.parent.is_dir():
        raise MissingFileError(path, "there is no such folder to write to")
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _unaliased(dumper: Any) -> Any:
    """`dumper` writing shared values out in full, as the release does and plain readers expect."""

    class Unaliased(dumper):  # type: ignore[misc]
        def ignore_aliases(self, data: Any) -> bool:
            return True

    return Unaliased
