"""Hold-out rows read back: the fresh worlds of each instance."""

from collections.abc import Iterator, Mapping, Sequence

from induction.errors import InstanceFormatError
from induction.formula.syntax import Signature
from induction.worlds.instance import Instance
from induction.worlds.records import instance_from_record
from induction.worlds.texts import Line, TextLines, load_json
from induction.worlds.world import World


def read_holdouts(path: str, instances: Sequence[Instance]) -> dict[str, list[World]]:
    """The fresh worlds of those of `instances` that the file has a row for, by instance id.

    Raises:
        InductionError: the file cannot be read, or a row is no hold-out row for its instance's predicates.
    """
    return dict(HoldoutFile(path, {instance.instance_id: instance.signature for instance in instances}))


class HoldoutFile:
    """Fresh worlds in a file: those of the instances whose signatures are given, one after another or by id.

    Of several rows for one instance the last counts.

    Raises, when iterated:
        InductionError: the file cannot be read, or a row is no hold-out row for its instance's predicates.
    """

    def __init__(self, path: str, signatures: Mapping[str, Signature]) -> None:
        self._lines = TextLines(path)
        self._signatures = signatures
        self._places: dict[str, tuple[int, int]] = {}

    def __iter__(self) -> Iterator[tuple[str, list[World]]]:
        for line in self._lines:
            name, worlds = self._row(line)
            if worlds is not None:
                self._places[name] = line.number, line.offset
                yield name, worlds

    def worlds_of(self, name: str) -> list[World] | None:
        """The worlds of one instance, once the file has been gone through; None where it has none."""
        place = self._places.get(name)
        return None if place is None else self._row(self._lines.at(*place))[1]

    def close(self) -> None:
        """Let go of the file."""
        self._lines.close()

    def _row(self, line: Line) -> tuple[str, list[World] | None]:
        row = load_json(line.text, self._lines.name, first_line=line.number)
        if not isinstance(row, dict) or not isinstance(row.get("instanceId"), str) or "worlds" not in row:
            raise InstanceFormatError("the row has no instanceId and worlds", file=self._lines.name, place=line.place)
        name = row["instanceId"]
        signature = self._signatures.get(name)
        if signature is None:
            return name, None
        declared = [{"name": predicate, "arity": arity} for predicate, arity in signature.items()]
        problem = {"signature": {"predicates": declared}, "worlds": row["worlds"]}
        try:
            record = {"instanceId": name, "task": "FullObs", "problem": problem}
            return name, list(instance_from_record(record).worlds)
        except InstanceFormatError as error:
            raise error.within(file=self._lines.name, place=line.place) from None
