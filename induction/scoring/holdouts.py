"""Hold-out rows read back: the fresh worlds of each instance."""

from collections.abc import Sequence

from induction.errors import InstanceFormatError
from induction.worlds.instance import Instance
from induction.worlds.records import instance_from_record
from induction.worlds.texts import display_name, load_json, read_text
from induction.worlds.world import World


def read_holdouts(path: str, instances: Sequence[Instance]) -> dict[str, list[World]]:
    """The fresh worlds of those of `instances` that the file has a row for, by instance id.

    Raises:
        InductionError: the file cannot be read, or a row is no hold-out row for its instance's predicates.
    """
    name = display_name(path)
    by_id = {instance.instance_id: instance for instance in instances}
    result: dict[str, list[World]] = {}
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        place = f"line {number}"
        row = load_json(line, name, first_line=number)
        if not isinstance(row, dict) or not isinstance(row.get("instanceId"), str) or "worlds" not in row:
            raise InstanceFormatError("the row has no instanceId and worlds", file=name, place=place)
        instance = by_id.get(row["instanceId"])
        if instance is None:
            continue
        declared = [{"name": predicate, "arity": arity} for predicate, arity in instance.signature.items()]
        problem = {"signature": {"predicates": declared}, "worlds": row["worlds"]}
        record = {"instanceId": row["instanceId"], "task": "FullObs", "problem": problem}
        try:
            result[instance.instance_id] = list(instance_from_record(record).worlds)
        except InstanceFormatError as error:
            raise error.within(file=name, place=place) from None
    return result
