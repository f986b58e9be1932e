"""What the commands share in reading: formulas from the command line, standard input and files."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from induction.errors import InductionError, InstanceFormatError, UsageError, printable

if TYPE_CHECKING:
    from induction.formula.syntax import Signature
    from induction.worlds.instance import Instance
    from induction.worlds.world import World

_UNITS_S = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_UNITS_BYTES = {"": 2**20, "mb": 2**20, "mib": 2**20, "gb": 2**30, "gib": 2**30}
_ID_FIELDS = ("instanceId", "instance_id")
_MOST_FAULTS_SHOWN = 20


@dataclass(frozen=True)
class Candidate:
    """A formula text to check. `instance_id` confines it to one instance; None means every one.

    `is_answer` says that the text is a model's answer, in which the formula must first be found.
    """

    text: str | None
    place: str
    instance_id: str | None = None
    is_answer: bool = False


def require_one_standard_input(*names: str | None) -> None:
    """Raises UsageError: more than one of `names` is `-`."""
    if sum(name == "-" for name in names) > 1:
        raise UsageError("only one input can be standard input (-)")


def formula_text(argument: str) -> str:
    """The formula given as an argument, or for `-` the text on standard input."""
    if argument != "-":
        return argument
    from induction.worlds.texts import read_text

    return read_text("-")


def read_candidates(path: str) -> Iterator[Candidate | InstanceFormatError]:
    """The formulas of a file: one a line, or JSON lines in which a row names its instance.

    A row takes its answer from the first of `extractedFormula`, `formula`, `response`, `rawResponse` and `text` that
    is not null, and its instance from `instanceId` or `instance_id`. Empty lines and lines that begin with `#` or `;`
    are passed over. Malformed rows come as errors, unraised.
    """
    from induction.worlds.texts import display_name, load_json, read_text

    name = display_name(path)
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        stripped = line.strip()
        if not stripped or stripped[0] in "#;":
            continue
        place = f"line {number}"
        if stripped[0] != "{":
            yield Candidate(stripped, place)
            continue
        try:
            yield _candidate_from_row(load_json(stripped, name, first_line=number), name, place)
        except InstanceFormatError as error:
            yield error


def _candidate_from_row(row: dict[str, Any], name: str, place: str) -> Candidate:
    from induction.scoring.predictions import ANSWER_FIELDS

    formula_field = next((field for field in ANSWER_FIELDS if row.get(field) is not None), None)
    if formula_field is None and not any(field in row for field in ANSWER_FIELDS):
        raise InstanceFormatError(f"the row has none of {', '.join(ANSWER_FIELDS)}", file=name, place=place)
    text = row[formula_field] if formula_field else None
    instance_id = next((row[field] for field in _ID_FIELDS if row.get(field) is not None), None)
    for field, value in ((formula_field, text), ("instanceId", instance_id)):
        if value is not None and not isinstance(value, str):
            raise InstanceFormatError(f"{field} is not text", file=name, place=place)
    return Candidate(text, place, instance_id, is_answer=True)


def parse_signature(text: str) -> "Signature":
    """The signature written as `P/1 Q/1 R/2`, separated by blanks or commas.

    Raises:
        UsageError: anything else.
    """
    from induction.formula.syntax import Signature

    pairs = []
    for part in text.replace(",", " ").split():
        name, slash, arity = part.partition("/")
        if not slash or not arity.isascii() or not arity.isdigit() or len(arity) > 3:
            raise UsageError(f"--signature: '{printable(part)}' is not of the form NAME/ARITY, such as R/2")
        pairs.append((name, int(arity)))
    try:
        return Signature(pairs)
    except ValueError as error:
        raise UsageError(f"--signature: {error}") from None


def load_instances(
    file: str, ids: Sequence[str] | None
) -> "tuple[list[Instance], list[InstanceFormatError], list[str]]":
    """The instances of `file` (or those with the given ids), the faults of records that are none, and all ids.

    Raises:
        InductionError: the file as a whole cannot be read, an id is unknown, or there is one record and it is at fault.
    """
    from induction.worlds.formats import open_instances

    instances: list[Instance] = []
    faults: list[InstanceFormatError] = []
    records = open_instances(file)
    for entry in records.entries(ids or None):
        if isinstance(entry, InstanceFormatError):
            faults.append(entry)
        else:
            instances.append(entry)
    if not instances and len(faults) == 1:
        raise faults[0]
    return instances, faults, records.ids()


class InstanceStream:
    """The instances of `file` (or those with the given ids), one after another, as often as asked for.

    `faults` are those of records that are none, each told once. Iterating raises InductionError if the file as a
    whole cannot be read, an id is unknown, or there is one record and it is at fault.
    """

    def __init__(self, file: str, ids: Sequence[str] | None = None) -> None:
        from induction.worlds.formats import open_instances

        self.records = open_instances(file)
        self.faults: list[InstanceFormatError] = []
        self._ids = ids or None
        self._passed = False

    def __iter__(self) -> "Iterator[Instance]":
        several = False
        for entry in self.records.stream(self._ids):
            if not isinstance(entry, InstanceFormatError):
                several = True
                yield entry
            elif not self._passed:
                self.faults.append(entry)
        if not several and len(self.faults) == 1:
            raise self.faults[0]
        self._passed = True


def load_instance(file: str, instance_id: str | None) -> "Instance":
    """The one instance of `file`, or the one with this id.

    Raises:
        InductionError: as `load_instances`, or its record is at fault.
        UsageError: there are several and no id says which.
    """
    instances, faults, ids = load_instances(file, None if instance_id is None else [instance_id])
    if faults:
        raise faults[0]
    if len(instances) != 1:
        shown = ", ".join([*(printable(name) for name in ids[:3]), *(["…"] if len(ids) > 3 else [])])
        raise UsageError(f"{printable(file, 200)}: has {len(ids):,} instances ({shown}); choose one with --id")
    return instances[0]


def seconds(text: str, option: str) -> float:
    """The time written as `90`, `90s`, `5m` or `1h`. Raises UsageError for anything else."""
    return _amount(text, _UNITS_S, option)


def byte_count(text: str, option: str) -> int:
    """The memory written as `500MB` or `4GB`, MB without a unit. Raises UsageError for anything else."""
    return int(_amount(text, _UNITS_BYTES, option))


def _amount(text: str, units: Mapping[str, float], option: str) -> float:
    match = re.fullmatch(r"\s*([0-9]{1,9}(?:\.[0-9]{1,6})?)\s*([a-z]*)\s*", text.lower())
    if not match or match[2] not in units or float(match[1]) <= 0:
        known = ", ".join(f"10{unit}" for unit in units if unit)
        raise UsageError(f"{option}: '{printable(text)}' is no amount such as {known}")
    return float(match[1]) * units[match[2]]


def journal_key(command: str, instances: "Iterable[Instance]", **options: Any) -> dict[str, Any]:
    """What must be the same for the rows of an earlier run to count for this one."""
    digest = Digest()
    for instance in instances:
        digest.add_instance(instance)
    return journal_key_of(command, digest, **options)


def journal_key_of(command: str, instances: "Digest", **options: Any) -> dict[str, Any]:
    """As `journal_key`, for instances that have been taken in one after another."""
    from induction import __version__

    return {"command": command, "version": __version__, **options, "instances": str(instances)}


class Digest:
    """What tells sequences of values apart by what they say, taken in one after another, for a journal's key."""

    def __init__(self) -> None:
        import hashlib

        self._hash = hashlib.sha256()

    def add(self, value: object) -> None:
        """Take in a value: what it prints as."""
        self._hash.update(repr(value).encode("utf-8", "backslashreplace") + b"\n")

    def add_instance(self, instance: "Instance") -> None:
        """Take in an instance: its record."""
        import json

        from induction.worlds.record_writing import record_from_instance

        self._hash.update(json.dumps(record_from_instance(instance), sort_keys=True).encode() + b"\n")

    def add_worlds(self, name: str, worlds: "Sequence[World]") -> None:
        """Take in the hold-out worlds of an instance."""
        self.add((name, [(w.domain, w.target.tolist(), {p: t.tolist() for p, t in w.true.items()}) for w in worlds]))

    def __str__(self) -> str:
        return self._hash.hexdigest()


def digest(value: object) -> str:
    """What tells values apart by what they say, for a journal's key."""
    digest = Digest()
    digest.add(value)
    return str(digest)


def worlds_digest(fresh: "Mapping[str, Sequence[World]]") -> str:
    """What tells hold-out worlds apart by what they say."""
    digest = Digest()
    for name, worlds in fresh.items():
        digest.add_worlds(name, worlds)
    return str(digest)


class Faults:
    """Faults as they come: its length counts them, `shown` keeps the first few."""

    def __init__(self, faults: Iterable[InductionError] = ()) -> None:
        self.shown: list[InductionError] = []
        self._count = 0
        for fault in faults:
            self.add(fault)

    def __len__(self) -> int:
        return self._count

    def add(self, fault: InductionError) -> None:
        """Count one more."""
        self._count += 1
        if len(self.shown) < _MOST_FAULTS_SHOWN:
            self.shown.append(fault)


def report_faults(faults: Sequence[InductionError] | Faults) -> None:
    """Each fault as a line on standard error, the first few of very many."""
    for fault in (faults.shown if isinstance(faults, Faults) else faults)[:_MOST_FAULTS_SHOWN]:
        print(f"induction: {fault}", file=sys.stderr)
    if len(faults) > _MOST_FAULTS_SHOWN:
        print(f"induction: … and {len(faults) - _MOST_FAULTS_SHOWN:,} more faults", file=sys.stderr)
