"""Instance files: v1 records as YAML, JSON or JSON lines, compressed or not."""

import difflib
import functools
import json
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

import yaml

from induction.errors import (
    InductionError,
    InstanceFormatError,
    UnknownNameError,
    UsageError,
    printable,
)
from induction.worlds.instance import Instance
from induction.worlds.record_writing import record_from_instance
from induction.worlds.records import instance_from_record, record_id, unused_name
from induction.worlds.texts import (
    MAX_FILE_BYTES,
    MAX_RECORDS,
    TextLines,
    display_name,
    holds_json_lines,
    parse_lines,
    parse_records,
    read_text,
)
from induction.worlds.writing import write_whole

MAX_FILE_CELLS = 2**28
"""Most table entries of all instances of one file together."""

MAX_FAULTY_RECORDS = 1_000
"""After so many faulty records the rest of a file is not looked at: it is no file of instances."""

_YAML_SUFFIXES = (".yaml", ".yml")
_LONGEST_COMPARED = 80  # similarity costs the product of the lengths

_YAML_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class InstanceFile:
    """The records of one file, not yet looked into. `name` is what errors call the file.

    Records of JSON lines are read anew each time they are asked for and never held together.
    """

    def __init__(self, name: str, records: Sequence[Any] | TextLines) -> None:
        self.name = name
        self._records = records

    @functools.cached_property
    def _given(self) -> list[str | None]:
        return [record_id(record) for record, _ in self._read()]

    def ids(self) -> list[str]:
        """The id of each record, in file order; a record without one is called `record_<position>` or the like."""
        taken = set(self._given)
        return [
            unused_name(f"record_{position}", taken) if name is None else name
            for position, name in enumerate(self._given, start=1)
        ]

    def _read(self) -> Iterator[tuple[Any, int]]:
        """Each record, and the bytes of the file up to it where it is one of lines."""
        if isinstance(self._records, TextLines):
            for line, record in parse_lines(self._records, self.name):
                yield record, line.offset
        else:
            for record in self._records:
                yield record, 0

    def entries(self, ids: Collection[str] | None = None) -> Iterator[Instance | InstanceFormatError]:
        """Each record as an instance or, unraised, as the error that says what is wrong with it.

        With `ids`, only the records of these ids, in file order. Made to be held together: all within
        `MAX_FILE_BYTES`, `MAX_RECORDS` and `MAX_FILE_CELLS`.

        Raises:
            UnknownNameError: an id that no record has.
            InstanceFormatError: the file is larger.
        """
        return self._entries(ids, held=True)

    def stream(self, ids: Collection[str] | None = None) -> Iterator[Instance | InstanceFormatError]:
        """As `entries`, made to be let go one after another: JSON lines may be of any number."""
        if isinstance(self._records, TextLines):
            return self._entries(ids, held=False)
        return iter(self._all if ids is None else self._entries(ids, held=True))

    @functools.cached_property
    def _all(self) -> list[Instance | InstanceFormatError]:
        """Every entry of a file whose records are held anyway."""
        return list(self._entries(None, held=True))

    def _entries(self, ids: Collection[str] | None, *, held: bool) -> Iterator[Instance | InstanceFormatError]:
        names: list[str] | None = None
        if ids is not None:
            names = self.ids()
            known = set(names)
            for wanted in ids:
                if wanted not in known:
                    raise UnknownNameError(f"{self.name}: no instance '{printable(wanted)}'{_near(wanted, names)}")
        first_with: dict[str, int] = {}
        cells = faults = 0
        for position, (record, offset) in enumerate(self._read(), start=1):
            if held and (position > MAX_RECORDS or offset > MAX_FILE_BYTES):
                limit = f"{MAX_RECORDS:,} records" if position > MAX_RECORDS else f"{MAX_FILE_BYTES // 2**20} MiB"
                raise InstanceFormatError(f"is larger than the limit of {limit}", file=self.name)
            name = record_id(record)
            if name is None:
                names = names or self.ids()
                name = names[position - 1]
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
            if held and cells > MAX_FILE_CELLS:
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
    suffix = file_suffix(path)
    if suffix in _YAML_SUFFIXES:
        records = tuple(parse_records(read_text(path), display_name(path), suffix))
    else:
        lines = TextLines(path)
        if holds_json_lines(lines, suffix):
            return InstanceFile(lines.name, lines)
        records = tuple(parse_records(lines.whole(), lines.name, suffix))
    if not records:
        raise InstanceFormatError("holds no records", file=display_name(path))
    if len(records) > MAX_RECORDS:
        raise InstanceFormatError(
            f"holds {len(records):,} records; the limit is {MAX_RECORDS:,}", file=display_name(path)
        )
    return InstanceFile(display_name(path), records)


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
        InductionError: the name asks for no known form, the instances hold what it cannot, or the file cannot be
            written.
    """
    write_whole(path, instances_as_bytes(path, instances))


def instances_as_bytes(path: str | os.PathLike[str], instances: Iterable[Instance]) -> bytes:
    """What `write_instances` writes at `path`, not yet compressed. Raises InductionError as it does."""
    records = [record_from_instance(instance) for instance in instances]
    suffix = file_suffix(path)
    try:
        if suffix == ".jsonl":
            text = "".join(json.dumps(record, allow_nan=False) + "\n" for record in records)
        elif suffix == ".json":
            text = json.dumps(records, indent=1, allow_nan=False) + "\n"
        elif suffix in _YAML_SUFFIXES:
            text = yaml.dump(records, Dumper=_unaliased(_YAML_DUMPER), sort_keys=False, allow_unicode=True, width=120)
        else:
            raise InductionError(f"{display_name(path)}: write to a name ending in .yaml, .json or .jsonl (or .gz)")
        return text.encode()
    except (TypeError, ValueError, yaml.YAMLError) as error:
        raise InductionError(f"{display_name(path)}: cannot be written: {printable(str(error), 200)}") from None


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


def _unaliased(dumper: Any) -> Any:
    """`dumper` writing shared values out in full, as the release does and plain readers expect."""

    class Unaliased(dumper):  # type: ignore[misc]
        def ignore_aliases(self, data: Any) -> bool:
            return True

    return Unaliased
