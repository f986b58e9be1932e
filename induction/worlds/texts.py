"""Bytes of any origin to plain Python values, within bounds: gzip, UTF-8, JSON, JSON lines and YAML.

What comes back is made of dict, list, str, int, float, bool and None only. Nothing here trusts its input:
sizes are bounded before memory is spent, and every fault is one `InstanceFormatError` with its place.
"""

import collections
import contextlib
import json
import math
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import yaml

from induction.errors import InductionError, InstanceFormatError, MissingFileError, printable
from induction.worlds import ledger

MAX_FILE_BYTES = 128 * 2**20
"""Largest file that is read, before and after decompression."""

MAX_GZIP_MEMBERS = 4_000
"""Most compressed parts in one file; block-wise compressors make one of each 64 KiB."""

MAX_NODES = 4_000_000
"""Most values in one file, estimated before reading by its commas, brackets and lines."""

MAX_RECORDS = 100_000
"""Most records in one file."""

MAX_BROKEN_LINES = 1_000
"""After so many broken lines the rest of a file of JSON lines is not read."""

MAX_ALIASED_NODES = 1_000_000
"""Most values in one YAML file that are there by alias; each costs its writer nothing and us as much as any."""

MAX_NESTING = 64
"""Deepest nesting of lists and mappings in YAML, and in fields that are carried along."""

STANDARD_INPUT = "-"

_CHUNK_BYTES = 2**20
_YAML_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# A subset of what YAML 1.1 takes for other than text, so that whatever a YAML 1.1 writer leaves unquoted as text
# is text here too; `yes`, `no`, dates and numbers with leading zeros stay text.
_YAML_CONSTANTS = dict.fromkeys(("", "~", "null", "Null", "NULL")) | {
    word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")
}
_YAML_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,4000})")  # Python refuses to read many more digits
_YAML_FLOAT = re.compile(r"[-+]?[0-9]{1,30}\.[0-9]{0,30}([eE][-+][0-9]{1,3})?")
_YAML_TAG_PREFIX = "tag:yaml.org,2002:"


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a file, decompressed if it is gzip by content; `-` is standard input.

    Raises:
        MissingFileError: no such file, or it cannot be read.
        InstanceFormatError: larger than `MAX_FILE_BYTES`, broken gzip, or not UTF-8 text.
        UsageError: an output of the command would replace it.
    """
    name = display_name(path)
    try:
        if os.fspath(path) == STANDARD_INPUT:
            if sys.stdin is None:
                raise MissingFileError(name, "is closed")
            with contextlib.suppress(OSError, AttributeError):  # a stand-in for it need not be a file
                ledger.reading(sys.stdin.fileno(), name)
            return _decode(_read_bounded(sys.stdin.buffer, name), name)
        with Path(path).open("rb") as stream:
            ledger.reading(stream.fileno(), name)
            return _decode(_read_bounded(stream, name), name)
    except (OSError, ValueError) as error:
        if isinstance(error, InductionError):
            raise
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise MissingFileError(path, reason) from None


def display_name(path: str | os.PathLike[str]) -> str:
    """What errors call a file."""
    return "standard input" if os.fspath(path) == STANDARD_INPUT else printable(os.fspath(path), 200)


def _read_bounded(stream: BinaryIO, name: str) -> bytes:
    first = stream.read(_CHUNK_BYTES)
    compressed = first[:2] == b"\x1f\x8b"
    raw = _raw_chunks(first, stream, name)
    content = bytearray()
    for chunk in _decompressed(raw, name) if compressed else raw:
        if b"\0" in chunk:
            raise InstanceFormatError("is binary, not text (it holds a NUL byte)", file=name)
        content += chunk
        if len(content) > MAX_FILE_BYTES:
            raise _too_large(name, " when decompressed" if compressed else "")
    return bytes(content)


def _raw_chunks(first: bytes, stream: BinaryIO, name: str) -> Iterator[bytes]:
    """The bytes of a stream, bounded: a compressed one could go on for ever without yielding anything."""
    chunk, taken = first, 0
    while chunk:
        taken += len(chunk)
        if taken > MAX_FILE_BYTES:
            raise _too_large(name, "")
        yield chunk
        chunk = stream.read(_CHUNK_BYTES)


def _decompressed(raw: Iterator[bytes], name: str) -> Iterator[bytes]:
    """The content of gzip members one after another, in pieces of bounded size."""
    member, members = zlib.decompressobj(wbits=31), 1
    try:
        for chunk in raw:
            rest = chunk
            while rest:
                if member.eof:
                    rest = rest.lstrip(b"\0")  # members may be padded
                    if not rest:
                        break
                    member, members = zlib.decompressobj(wbits=31), members + 1
                    if members > MAX_GZIP_MEMBERS:
                        raise InstanceFormatError(f"has more than {MAX_GZIP_MEMBERS:,} gzip members", file=name)
                yield member.decompress(rest, _CHUNK_BYTES)
                rest = member.unused_data if member.eof else member.unconsumed_tail
    except zlib.error:
        raise InstanceFormatError("is a broken gzip file", file=name) from None
    if not member.eof:
        raise InstanceFormatError("is a broken gzip file (it ends too soon)", file=name)


def _too_large(name: str, when: str) -> InstanceFormatError:
    return InstanceFormatError(f"is larger than {MAX_FILE_BYTES // 2**20} MiB{when}", file=name)


def _decode(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InstanceFormatError(
            f"is not UTF-8 text (byte {content[error.start]:#04x})", file=name, place=f"line {line}"
        ) from None


def parse_records(text: str, name: str, suffix: str = "") -> Iterator[Any]:
    """The records in `text`, in order; a broken line of JSON lines comes as an `InstanceFormatError`, unraised.

    `suffix` (`.yaml`, `.yml`, `.json`, `.jsonl`) says how to read it; without a known one the content does. A
    list at the top is a list of records, a mapping one record.

    Raises:
        InstanceFormatError: the text as a whole cannot be read.
    """
    start = text.lstrip()[:1]
    if not start:
        raise InstanceFormatError("is empty", file=name)
    if sum(map(text.count, ",[{\n")) > MAX_NODES:
        raise InstanceFormatError(f"holds more than {MAX_NODES:,} values or lines", file=name)
    if suffix in (".yaml", ".yml") or (suffix not in (".json", ".jsonl") and start not in "{["):
        for document in load_yaml(text, name):
            yield from document if isinstance(document, list) else [document]
    elif suffix == ".jsonl" and start != "[":
        yield from _parse_json_lines(text, name)
    else:
        try:
            document = load_json(text, name)
        except _FurtherJsonError:
            yield from _parse_json_lines(text, name)
        else:
            yield from document if isinstance(document, list) else [document]


def _parse_json_lines(text: str, name: str) -> Iterator[Any]:
    broken = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield load_json(line, name, first_line=number)
            except InstanceFormatError as error:
                yield error
                broken += 1
                if broken == MAX_BROKEN_LINES:
                    yield InstanceFormatError(f"{broken:,} broken lines; the rest is not read", file=name)
                    return


class _FurtherJsonError(InstanceFormatError):
    """A complete JSON value with more text behind it."""


def load_json(text: str, name: str, first_line: int = 1) -> Any:
    """One JSON value. Raises InstanceFormatError: broken JSON, a repeated key, NaN, or nesting beyond bounds."""
    try:
        return json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        kind = _FurtherJsonError if error.msg == "Extra data" and text.lstrip()[:1] == "{" else InstanceFormatError
        raise kind(
            f"broken JSON: {error.msg}",
            file=name,
            place=f"line {first_line + error.lineno - 1}, column {error.colno}",
        ) from None
    except RecursionError:
        raise InstanceFormatError("broken JSON: nested too deeply", file=name) from None
    except ValueError as error:
        if "integer string conversion" in str(error):
            error = ValueError("a number has too many digits")
        place = f"line {first_line}" if "\n" not in text.strip() else ""
        raise InstanceFormatError(f"broken JSON: {printable(str(error), 200)}", file=name, place=place) from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        repeated, _ = collections.Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"key '{printable(repeated)}' comes twice in one object")
    return mapping


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise ValueError(f"number {printable(digits)} is out of range")
    return value


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON value")


def load_yaml(text: str, name: str) -> list[Any]:
    """The documents of a YAML text.

    Built from the parser's events rather than by PyYAML's constructor: that neither bounds aliases nor nesting,
    and takes `no` for False. An aliased value is one shared object.

    Raises:
        InstanceFormatError: broken YAML, a tag beyond YAML's plain ones, a repeated or merge key, an alias of a
            value inside itself, nesting beyond `MAX_NESTING`, aliases of more than `MAX_ALIASED_NODES` values, or more
            than `MAX_RECORDS` documents.
    """
    builder = _YamlBuilder(name)
    try:
        for event in yaml.parse(text, Loader=_YAML_LOADER):
            builder.take(event)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).split("\n", 1)[0]
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise InstanceFormatError(f"broken YAML: {printable(problem, 200)}", file=name, place=place) from None
    return builder.documents


class _OpenCollection:
    """A list or mapping whose end has not been seen."""

    __slots__ = ("anchor", "key", "nodes", "value")

    def __init__(self, value: list[Any] | dict[str, Any], anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.key: str | None = None
        self.nodes = 1


class _YamlBuilder:
    """Values from YAML events. Every open collection knows how many values it holds, aliases expanded."""

    def __init__(self, name: str) -> None:
        self.documents: list[Any] = []
        self._name = name
        self._open: list[_OpenCollection] = []
        self._anchored: dict[str, tuple[Any, int]] = {}
        self._aliased_nodes = 0

    def take(self, event: yaml.Event) -> None:
        match event:
            case yaml.ScalarEvent():
                self._scalar(event)
            case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                self._refuse_tag(event, ("seq", "map"))
                if len(self._open) >= MAX_NESTING:
                    self._fail(event, f"nested more than {MAX_NESTING} deep")
                if self._open and isinstance(self._open[-1].value, dict) and self._open[-1].key is None:
                    self._fail(event, "a key must be text")
                value: Any = [] if isinstance(event, yaml.SequenceStartEvent) else {}
                self._open.append(_OpenCollection(value, event.anchor))
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                closed = self._open.pop()
                self._add(event, closed.value, closed.nodes, closed.anchor)
            case yaml.AliasEvent():
                if event.anchor not in self._anchored:
                    self._fail(event, f"alias *{event.anchor} names nothing complete before it")
                value, nodes = self._anchored[event.anchor]
                self._aliased_nodes += nodes
                if self._aliased_nodes > MAX_ALIASED_NODES:
                    self._fail(event, f"aliases expand to more than {MAX_ALIASED_NODES:,} values")
                self._add(event, value, nodes, None)
            case yaml.DocumentStartEvent():
                self._anchored.clear()
                if len(self.documents) >= MAX_RECORDS:
                    self._fail(event, f"more than {MAX_RECORDS:,} documents")

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        self._refuse_tag(event, ("str", "int", "float", "bool", "null"))
        text: str = event.value
        collection = self._open[-1] if self._open else None
        if collection is not None and isinstance(collection.value, dict) and collection.key is None:
            if text == "<<" and event.implicit[0]:
                self._fail(event, "merge keys (<<) are not supported")
            if text in collection.value:
                self._fail(event, f"key '{printable(text)}' comes twice in one mapping")
            collection.key = text
            return
        plain = event.implicit[0] if event.tag is None else event.tag != _YAML_TAG_PREFIX + "str"
        self._add(event, _plain_value(text) if plain else text, 1, event.anchor)

    def _add(self, event: yaml.Event, value: Any, nodes: int, anchor: str | None) -> None:
        if anchor is not None:
            self._anchored[anchor] = value, nodes
        if not self._open:
            self.documents.append(value)
            return
        collection = self._open[-1]
        collection.nodes += nodes
        if isinstance(collection.value, list):
            collection.value.append(value)
        elif collection.key is None:
            self._fail(event, "a key must be text")
        else:
            collection.value[collection.key] = value
            collection.key = None

    def _refuse_tag(self, event: Any, plain: Iterable[str]) -> None:
        if event.tag not in (None, "!") and event.tag not in {_YAML_TAG_PREFIX + word for word in plain}:
            self._fail(event, f"tag {printable(event.tag)} is not supported")

    def _fail(self, event: Any, problem: str) -> NoReturn:
        mark = event.start_mark
        raise InstanceFormatError(problem, file=self._name, place=f"line {mark.line + 1}, column {mark.column + 1}")


def _plain_value(text: str) -> Any:
    if text in _YAML_CONSTANTS:
        return _YAML_CONSTANTS[text]
    if _YAML_INTEGER.fullmatch(text):
        return int(text)
    if _YAML_FLOAT.fullmatch(text) and not math.isinf(float(text)):
        return float(text)
    return text
