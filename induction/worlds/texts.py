"""Bytes of any origin to plain Python values, within bounds: gzip, UTF-8, JSON, JSON lines and YAML.

What comes back is made of dict, list, str, int, float, bool and None only. Nothing here trusts its input:
sizes are bounded before memory is spent, and every fault is one `InstanceFormatError` with its place. JSON and YAML
are read whole, within `MAX_FILE_BYTES`; files of lines go line by line (`TextLines`) and may be of any length.
"""

import collections
import contextlib
import json
import math
import os
import re
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

import yaml

from induction.errors import InductionError, InstanceFormatError, MissingFileError, printable
from induction.worlds import ledger

MAX_FILE_BYTES = 128 * 2**20
"""Largest file that is read whole, before and after decompression, and largest line of one that is not."""

MAX_COPY_BYTES = 16 * 2**30
"""Most content that is put into a temporary file, from standard input or gzip."""

MAX_GZIP_MEMBERS = 4_000
"""Most compressed parts in one file beyond one of each KiB of content; block-wise compressors make one of each 64."""

MAX_NODES = 4_000_000
"""Most values in one file or line, estimated before reading by its commas, brackets and lines."""

MAX_BLANK_LINES = 1_000_000
"""Most blank lines one after another: compressed they cost their writer nothing."""

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
_GZIP = b"\x1f\x8b"
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
        raise _unreadable(error, path) from None


def _unreadable(error: OSError | ValueError, path: str | os.PathLike[str]) -> InductionError:
    if isinstance(error, InductionError):
        return error
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return MissingFileError(path, reason)


class Line(NamedTuple):
    """A line with its number, counted from 1, and where it begins in the decompressed file, in bytes."""

    number: int
    offset: int
    text: str

    @property
    def place(self) -> str:
        """What errors call it."""
        return f"line {self.number}"


class TextLines:
    """The lines that are not blank of a file of any size (`-`: standard input), one after another or by their place.

    One line is held at a time. Iterating begins anew each time; `at` reads a single line again. What cannot be read
    twice or by place is first put into a temporary file: standard input, pipes and, once `at` is called, gzip.

    Raises, when made or read:
        MissingFileError: no such file, or it cannot be read.
        InstanceFormatError: a line larger than `MAX_FILE_BYTES`, broken gzip, or not UTF-8 text.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        self.name = display_name(path)
        self._copy: BinaryIO | None = None  # plain content that can be read by place
        try:
            if os.fspath(path) == STANDARD_INPUT:
                if sys.stdin is None:
                    raise MissingFileError(self.name, "is closed")
                with contextlib.suppress(OSError, AttributeError):
                    ledger.reading(sys.stdin.fileno(), self.name)
                self._copy = self._copied(sys.stdin.buffer)
            else:
                with Path(path).open("rb") as stream:
                    ledger.reading(stream.fileno(), self.name)
                    if not stream.seekable():
                        self._copy = self._copied(stream)
        except (OSError, ValueError) as error:
            raise _unreadable(error, path) from None

    def __iter__(self) -> Iterator[Line]:
        try:
            if self._copy is not None:
                self._copy.seek(0)
                yield from self._lines(self._copy)
            else:
                with Path(self.path).open("rb") as stream:
                    yield from self._lines(stream)
        except (OSError, ValueError) as error:
            raise _unreadable(error, self.path) from None

    def at(self, number: int, offset: int) -> Line:
        """The line that begins at `offset`, as an iteration gave it."""
        try:
            if self._copy is None:
                stream = Path(self.path).open("rb")  # noqa: SIM115 -- kept for the next line
                compressed = stream.read(2) == _GZIP
                stream.seek(0)
                self._copy = self._copied(stream) if compressed else stream
            self._copy.seek(offset)
            return Line(number, offset, _decode(self._copy.readline().rstrip(b"\n"), self.name, number))
        except (OSError, ValueError) as error:
            raise _unreadable(error, self.path) from None

    def whole(self) -> str:
        """All of the text, as `read_text` would give it."""
        if self._copy is None:
            return read_text(self.path)
        self._copy.seek(0)
        return _decode(_read_bounded(self._copy, self.name), self.name)

    def close(self) -> None:
        """Let go of what `at` holds open."""
        if self._copy is not None:
            self._copy.close()

    def _copied(self, stream: BinaryIO) -> BinaryIO:
        copy = tempfile.TemporaryFile()  # noqa: SIM115 -- closed, and so removed, with this object
        for chunk in _content(stream, self.name, bounded=False):
            copy.write(chunk)
            if copy.tell() > MAX_COPY_BYTES:
                raise InstanceFormatError(f"is larger than {MAX_COPY_BYTES // 2**30} GiB", file=self.name)
        return copy

    def _lines(self, stream: BinaryIO) -> Iterator[Line]:
        number = blank = 0
        for offset, content in _split(_content(stream, self.name, bounded=False), self.name):
            number += 1
            if not content or content.isspace():
                blank += 1
                if blank > MAX_BLANK_LINES:
                    raise InstanceFormatError(f"more than {MAX_BLANK_LINES:,} blank lines in a row", file=self.name)
                continue
            blank = 0
            text = _decode(content, self.name, number)
            if text.strip():
                yield Line(number, offset, text)


def _split(chunks: Iterator[bytes], name: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their offsets, each of bounded size."""
    begun = bytearray()
    offset = 0
    for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            begun += part
            yield offset, bytes(begun)
            offset += len(begun) + 1
            begun.clear()
        begun += rest
        if len(begun) > MAX_FILE_BYTES:
            raise InstanceFormatError(f"a line is larger than {MAX_FILE_BYTES // 2**20} MiB", file=name)
    if begun:
        yield offset, bytes(begun)


def display_name(path: str | os.PathLike[str]) -> str:
    """What errors call a file."""
    return "standard input" if os.fspath(path) == STANDARD_INPUT else printable(os.fspath(path), 200)


def _read_bounded(stream: BinaryIO, name: str) -> bytes:
    return b"".join(_content(stream, name, bounded=True))


def _content(stream: BinaryIO, name: str, *, bounded: bool) -> Iterator[bytes]:
    """The text of a stream in pieces, decompressed if it is gzip by content; all of it in `MAX_FILE_BYTES` if so."""
    first = stream.read(_CHUNK_BYTES)
    compressed = first[:2] == _GZIP
    raw = _raw_chunks(first, stream, name, bounded=bounded)
    taken = 0
    for chunk in _decompressed(raw, name) if compressed else raw:
        if b"\0" in chunk:
            raise InstanceFormatError("is binary, not text (it holds a NUL byte)", file=name)
        taken += len(chunk)
        if bounded and taken > MAX_FILE_BYTES:
            raise _too_large(name, " when decompressed" if compressed else "")
        yield chunk


def _raw_chunks(first: bytes, stream: BinaryIO, name: str, *, bounded: bool) -> Iterator[bytes]:
    """The bytes of a stream as they are."""
    chunk, taken = first, 0
    while chunk:
        taken += len(chunk)
        if bounded and taken > MAX_FILE_BYTES:
            raise _too_large(name, "")
        yield chunk
        chunk = stream.read(_CHUNK_BYTES)


def _decompressed(raw: Iterator[bytes], name: str) -> Iterator[bytes]:
    """The content of gzip members one after another, in pieces of bounded size."""
    member, members = zlib.decompressobj(wbits=31), 1
    given = without = 0  # bytes of content so far, and bytes read since there was any
    try:
        for chunk in raw:
            rest = chunk
            without += len(chunk)
            if without > MAX_FILE_BYTES:  # a header can go on for ever
                raise _too_large(name, "")
            while rest:
                if member.eof:
                    rest = rest.lstrip(b"\0")  # members may be padded
                    if not rest:
                        break
                    member, members = zlib.decompressobj(wbits=31), members + 1
                    if members > MAX_GZIP_MEMBERS + given // 2**10:
                        raise InstanceFormatError(f"has more than {members - 1:,} gzip members", file=name)
                content = member.decompress(rest, _CHUNK_BYTES)
                if content:
                    given, without = given + len(content), 0
                    yield content
                rest = member.unused_data if member.eof else member.unconsumed_tail
    except zlib.error:
        raise InstanceFormatError("is a broken gzip file", file=name) from None
    if not member.eof:
        raise InstanceFormatError("is a broken gzip file (it ends too soon)", file=name)


def _too_large(name: str, when: str) -> InstanceFormatError:
    return InstanceFormatError(f"is larger than {MAX_FILE_BYTES // 2**20} MiB{when}", file=name)


def _decode(content: bytes, name: str, first_line: int = 1) -> str:
    try:
        return content.decode("utf-8-sig" if first_line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + first_line
        raise InstanceFormatError(
            f"is not UTF-8 text (byte {content[error.start]:#04x})", file=name, place=f"line {line}"
        ) from None


def parse_records(text: str, name: str, suffix: str = "") -> Iterator[Any]:
    """The records in a text that is not of JSON lines, in order.

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
    else:
        document = load_json(text, name)
        yield from document if isinstance(document, list) else [document]


def holds_json_lines(lines: TextLines, suffix: str) -> bool:
    """Whether a file is one of JSON lines: by its name or, unless it is called YAML, by its first line."""
    if suffix in (".yaml", ".yml"):
        return False
    first = next(iter(lines), None)
    if first is None:
        raise InstanceFormatError("is empty", file=lines.name)
    start = first.text.lstrip()[0]
    if suffix == ".jsonl" or start != "{":
        return suffix == ".jsonl" and start != "["
    try:
        load_json(first.text, lines.name)
    except InstanceFormatError:
        return False
    return True


def parse_lines(lines: Iterable[Line], name: str) -> Iterator[tuple[Line, Any]]:
    """Each line with its JSON value; for a broken one the value is an `InstanceFormatError`, unraised."""
    broken = 0
    for line in lines:
        try:
            if sum(map(line.text.count, ",[{")) > MAX_NODES:
                raise InstanceFormatError(f"holds more than {MAX_NODES:,} values", file=name, place=line.place)
            value = load_json(line.text, name, first_line=line.number)
        except InstanceFormatError as error:
            yield line, error
            broken += 1
            if broken == MAX_BROKEN_LINES:
                yield line, InstanceFormatError(f"{broken:,} broken lines; the rest is not read", file=name)
                return
        else:
            yield line, value


def load_json(text: str, name: str, first_line: int = 1) -> Any:
    """One JSON value. Raises InstanceFormatError: broken JSON, a repeated key, NaN, or nesting beyond bounds."""
    try:
        return json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise InstanceFormatError(
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
