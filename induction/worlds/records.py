"""One v1 record (plain dicts and lists) to an `Instance`, with validation; `writing` is the way back.

The format is `induction_benchmark_record_v1`. Reading is strict about facts (every atom and label is accounted
for, or the record is refused with its place) and tolerant about form: `false` lists, ids, sizes, whole tables and the
hidden target may be missing, and fields this library does not interpret are carried along in `extra`. The world is
closed: an atom or label in no list is false.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

import numpy as np

from induction.errors import FormulaSyntaxError, FormulaTooLargeError, InstanceFormatError, printable
from induction.formula.metrics import quantifier_depth
from induction.formula.parsing import parse_formula
from induction.formula.syntax import TARGET, Formula, Signature
from induction.worlds.instance import Instance, Regime
from induction.worlds.record_writing import BAND_FIELDS, HOLDOUT_SCHEMA, PROBLEM_SCHEMA, RECORD_SCHEMA
from induction.worlds.texts import MAX_NESTING
from induction.worlds.world import BoolArray, Element, World

MAX_INSTANCE_CELLS = 2**26
"""Most table entries of one instance: n per unary and n * n per binary predicate, over all worlds.

Each table counts as at least `_LEAST_CELLS`, which is about what it costs to have one at all.
"""

_RECORD_FIELDS = {"instanceId", "task", "scenario", "problem", "problemDescription"}
_PROBLEM_FIELDS = {"instanceId", "scenario", "signature", "worlds", "task"}
_TASK_FIELDS = {"trainWorldIds", "testWorldIds", "yesWorldIds", "noWorldIds"}
_WORLD_FIELDS = {
    "worldId",
    "domain",
    "domainSize",
    "observationMode",
    "predicates",
    "targetExtension",
    "unknownAtoms",
    "splitLabel",
}
_LONGEST_NAME = 200
_LEAST_CELLS = 500

_Value = TypeVar("_Value")


def record_id(record: Any) -> str | None:
    """The id that a record gives itself; None where it has none."""
    if isinstance(record, dict):
        for holder in (record, record.get("problem")):
            if isinstance(holder, dict) and isinstance(holder.get("instanceId"), str):
                return str(holder["instanceId"])
    return None


def unused_name(name: str, taken: Collection[str | None]) -> str:
    """`name`, with underscores behind it until it is none of `taken`."""
    while name in taken:
        name += "_"
    return name


def instance_from_record(record: Any, fallback_id: str = "record_1") -> Instance:
    """The instance that a v1 record describes, called `fallback_id` if it does not say.

    Raises:
        InstanceFormatError: with the world and field at fault; the caller adds file and record.
    """
    fields = _mapping(record, "record")
    if fields.get("schemaVersion") == HOLDOUT_SCHEMA:
        _fail("", "is a hold-out row, not an instance: give it to induction score --holdout")
    problem = _mapping(_required(fields, "problem"), "problem")
    description = _optional_mapping(fields.get("problemDescription"), "problemDescription")
    instance_id = _instance_id(fields, problem, fallback_id)
    regime = _regime(fields, problem)
    signature = _signature(problem)
    world_records = _sequence(_required(problem, "worlds", "problem.worlds"), "problem.worlds")
    if not world_records:
        raise InstanceFormatError("there are no worlds", place="problem.worlds")
    _require_affordable(world_records, signature)
    given_names = {_given_world_name(world_record, i) for i, world_record in enumerate(world_records)}
    worlds, split_labels = [], {}
    for i, world_record in enumerate(world_records):
        name = _given_world_name(world_record, i) or unused_name(f"world_{i}", given_names)
        world, label = _within(f"world {printable(name)}", _world, world_record, name, signature, regime)
        if world.name in split_labels:
            raise InstanceFormatError("the id is used by an earlier world too", place=f"world {printable(name)}")
        worlds.append(world)
        split_labels[world.name] = label
    roles = _roles(problem.get("task"), regime, split_labels)
    in_use = {name for names in roles.values() for name in names} if regime is Regime.CI else set()
    worlds = [_with_unused_label(world, split_labels[world.name], in_use) for world in worlds]
    gold, gold_description, target_extra = _hidden_target(description.get("hiddenTarget"), signature)
    return Instance(
        instance_id=instance_id,
        regime=regime,
        signature=signature,
        worlds=tuple(worlds),
        **roles,
        gold=gold,
        gold_description=gold_description,
        band=_optional_text(description.get(BAND_FIELDS[regime]), f"problemDescription.{BAND_FIELDS[regime]}"),
        extra=_instance_extra(fields, problem, description, target_extra, regime),
    )


def _fail(place: str, problem: str) -> NoReturn:
    raise InstanceFormatError(problem, place=place)


def _within(place: str, function: Callable[..., _Value], *arguments: Any) -> _Value:
    try:
        return function(*arguments)
    except InstanceFormatError as error:
        raise error.within(place=place) from None


def _kind(value: Any) -> str:
    names = {dict: "a mapping", list: "a list", str: "text", bool: "a boolean", type(None): "nothing"}
    return names.get(type(value), "a number")


def _mapping(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        _fail(place, f"expected a mapping, found {_kind(value)}")
    return value


def _optional_mapping(value: Any, place: str) -> dict[str, Any]:
    return {} if value is None else _mapping(value, place)


def _sequence(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        _fail(place, f"expected a list, found {_kind(value)}")
    return value


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        hint = f" (write '{printable(str(value))}' in quotes)" if isinstance(value, int | float) else ""
        _fail(place, f"expected text, found {_kind(value)}{hint}")
    return value


def _optional_text(value: Any, place: str) -> str:
    return "" if value is None else _text(value, place)


def _required(fields: Mapping[str, Any], key: str, place: str = "") -> Any:
    if key not in fields or fields[key] is None:
        _fail(place or key, "is missing")
    return fields[key]


def _name(value: Any, place: str) -> str:
    text = _text(value, place)
    if not text or len(text) > _LONGEST_NAME or not text.isprintable() or text != text.strip():
        _fail(
            place,
            f"'{printable(text)}' cannot be a name (1 to {_LONGEST_NAME} printable characters, no blank at either end)",
        )
    return text


def _instance_id(fields: Mapping[str, Any], problem: Mapping[str, Any], fallback: str) -> str:
    given = [holder["instanceId"] for holder in (fields, problem) if holder.get("instanceId") is not None]
    names = [_name(value, "instanceId") for value in given]
    if len(set(names)) > 1:
        _fail("problem.instanceId", f"is {printable(names[1])}, but the record's is {printable(names[0])}")
    return names[0] if names else fallback


def _regime(fields: Mapping[str, Any], problem: Mapping[str, Any]) -> Regime:
    by_task = {regime.value: regime for regime in Regime}
    by_scenario = {regime.scenario: regime for regime in Regime}
    found: list[Regime] = []
    for holder, key, known in (
        (fields, "task", by_task),
        (fields, "scenario", by_scenario),
        (problem, "scenario", by_scenario),
    ):
        value = holder.get(key)
        if value is None:
            continue
        place = key if holder is fields else f"problem.{key}"
        if not isinstance(value, str) or value not in known:
            _fail(place, f"'{printable(str(value))}' is none of {', '.join(known)}")
        found.append(known[value])
    if not found:
        _fail("task", f"is missing; expected one of {', '.join(by_task)}")
    if len(set(found)) > 1:
        _fail("scenario", f"task and scenario disagree: {found[0].value} and {found[-1].value}")
    return found[0]


def _signature(problem: Mapping[str, Any]) -> Signature:
    place = "problem.signature.predicates"
    holder = _mapping(_required(problem, "signature", "problem.signature"), "problem.signature")
    declared = _sequence(_required(holder, "predicates", place), place)
    pairs = []
    for i, entry in enumerate(declared):
        fields = _mapping(entry, f"{place}[{i}]")
        name = _text(_required(fields, "name", f"{place}[{i}].name"), f"{place}[{i}].name")
        arity = _required(fields, "arity", f"{place}[{i}].arity")
        if name == TARGET:
            if arity != 1:
                _fail(f"{place}[{i}].arity", f"the target {TARGET} takes 1 argument, not {printable(str(arity))}")
            continue
        if not isinstance(arity, int):
            _fail(f"{place}[{i}].arity", f"expected 1 or 2, found {_kind(arity)}")
        pairs.append((name, arity))
    try:
        return Signature(pairs)
    except ValueError as error:
        _fail(place, str(error))


def _require_affordable(world_records: Sequence[Any], signature: Signature) -> None:
    cells = 0
    for record in world_records:
        domain = record.get("domain") if isinstance(record, dict) else None
        size = len(domain) if isinstance(domain, list) else 0
        cells += max(_LEAST_CELLS, size) * len(signature.unary)
        cells += max(_LEAST_CELLS, size * size) * len(signature.binary)
    if cells > MAX_INSTANCE_CELLS:
        _fail(
            "problem.worlds",
            f"the tables would take {cells:,} entries (objects squared per binary predicate, all worlds); "
            f"the limit is {MAX_INSTANCE_CELLS:,}",
        )


def _given_world_name(record: Any, index: int) -> str | None:
    if isinstance(record, dict) and record.get("worldId") is not None:
        return _name(record["worldId"], f"problem.worlds[{index}].worldId")
    return None


def _with_unused_label(world: World, label: bool | None, in_use: Collection[str]) -> World:
    """`world`, its split label kept as an extra field where it does not say which side the world is on."""
    if label is None or world.name in in_use:
        return world
    return replace(world, extra={**world.extra, "splitLabel": label})


def _world(record: Any, name: str, signature: Signature, regime: Regime) -> tuple[World, bool | None]:
    fields = _mapping(record, "world")
    domain = _domain(fields)
    index = {element: i for i, element in enumerate(domain)}
    tables = _optional_mapping(fields.get("predicates"), "predicates")
    masks = _optional_mapping(fields.get("unknownAtoms"), "unknownAtoms")
    for place, holder in (("predicates", tables), ("unknownAtoms", masks)):
        for predicate in holder:
            if predicate == TARGET:
                _fail(f"{place}.{TARGET}", f"{TARGET} is the target; its labels stand in targetExtension")
            if predicate not in signature:
                _fail(f"{place}.{printable(predicate)}", "the predicate is not in the signature")
    true, unknown, extra_tables = {}, {}, {}
    for predicate, arity in signature.items():
        entry = _optional_mapping(tables.get(predicate), f"predicates.{predicate}")
        if predicate in tables:
            _required(entry, "true", f"predicates.{predicate}.true")
        listed = _Listed(domain, index, arity)
        true[predicate] = listed.add(entry.get("true"), f"predicates.{predicate}.true")
        listed.add(entry.get("false"), f"predicates.{predicate}.false")
        unknown[predicate] = listed.add(masks.get(predicate), f"unknownAtoms.{predicate}")
        if uninterpreted := _uninterpreted(entry, {"true", "false"}):
            extra_tables[predicate] = uninterpreted
    if regime is not Regime.EC:
        for predicate, mask in unknown.items():
            if mask.any():
                _fail(
                    f"unknownAtoms.{predicate}", f"{regime.value} worlds are fully observed; only EC has unknown atoms"
                )
    target, extra_target = _labels(fields, domain, index)
    label = fields.get("splitLabel")
    if label is not None and not isinstance(label, bool):
        _fail("splitLabel", f"expected true or false, found {_kind(label)}")
    extra: dict[str, Any] = _uninterpreted(fields, _WORLD_FIELDS)
    extra |= {"predicates": extra_tables} if extra_tables else {}
    extra |= {"targetExtension": extra_target} if extra_target else {}
    _require_shallow(extra)
    mode = _optional_text(fields.get("observationMode"), "observationMode")
    return World(name, domain, signature, true, target, unknown, observation_mode=mode, extra=extra), label


def _domain(fields: Mapping[str, Any]) -> tuple[Element, ...]:
    listed = _sequence(_required(fields, "domain"), "domain")
    if not listed:
        _fail("domain", "has no objects; a world needs at least one")
    names: dict[str, int] = {}
    for i, value in enumerate(listed):
        name = _name(value, f"domain[{i}]")
        if re.search(r"[(),\s]", name):
            _fail(f"domain[{i}]", f"'{printable(name)}' has a blank, comma or parenthesis in it")
        if name in names:
            _fail(f"domain[{i}]", f"{printable(name)} is listed twice")
        names[name] = i
    size = fields.get("domainSize")
    if size is not None and (isinstance(size, bool) or not isinstance(size, int)):
        _fail("domainSize", f"expected a whole number, found {_kind(size)}")
    if size is not None and size != len(names):
        _fail("domainSize", f"is {printable(str(size))}, but domain lists {len(names)} objects")
    return tuple(names)


class _Listed:
    """The atoms of one predicate in one world, each to be listed in at most one place."""

    def __init__(self, domain: Sequence[Element], index: Mapping[Element, int], arity: int) -> None:
        self._domain = domain
        self._index = index
        self._shape = (len(domain),) * arity
        self._earlier: list[tuple[str, BoolArray]] = []

    def add(self, atoms: Any, place: str) -> BoolArray:
        """The table of the atoms listed at `place` (none if missing)."""
        table = np.zeros(self._shape, dtype=np.bool_)
        for i, atom in enumerate([] if atoms is None else _sequence(atoms, place)):
            table[self._position(atom, f"{place}[{i}]")] = True
        for other, earlier in self._earlier:
            clash = np.argwhere(table & earlier)
            if len(clash):
                names = ", ".join(self._domain[k] for k in clash[0])
                atom = printable(names if len(self._shape) == 1 else f"({names})")
                _fail(place, f"{atom} is listed in {other} too")
        self._earlier.append((place, table))
        return table

    def _position(self, atom: Any, place: str) -> tuple[int, ...]:
        parts = self._arguments(atom, place)
        try:
            return tuple([self._index[part] for part in parts])
        except KeyError as error:
            _fail(place, f"'{printable(str(error.args[0]))}' is not in the domain")

    def _arguments(self, atom: Any, place: str) -> list[str]:
        arity = len(self._shape)
        if isinstance(atom, str):
            inner = atom[1:-1] if atom[:1] == "(" and atom[-1:] == ")" else atom
            parts = [part.strip() for part in inner.split(",")] if inner is not atom or arity == 1 else []
        elif isinstance(atom, list):
            parts = [_text(part, place) for part in atom]
        else:
            _fail(place, f"expected an atom such as {'(a0, a1)' if arity == 2 else 'a0'}, found {_kind(atom)}")
        if len(parts) != arity:
            expected = "a pair such as (a0, a1)" if arity == 2 else "one object such as a0"
            _fail(place, f"expected {expected}, found '{printable(str(atom))}'")
        return parts


def _labels(
    fields: Mapping[str, Any], domain: Sequence[Element], index: Mapping[Element, int]
) -> tuple[BoolArray, dict[str, Any]]:
    place = "targetExtension"
    holder = _mapping(_required(fields, place), place)
    listed = _Listed(domain, index, 1)
    positive = listed.add(_required(holder, "T_true", f"{place}.T_true"), f"{place}.T_true")
    listed.add(holder.get("T_false"), f"{place}.T_false")
    return positive, _uninterpreted(holder, {"T_true", "T_false"})


def _roles(task: Any, regime: Regime, split_labels: Mapping[str, bool | None]) -> dict[str, tuple[str, ...]]:
    place = "problem.task"
    fields = _optional_mapping(task, place)
    listed: dict[str, tuple[str, ...] | None] = {}
    for key in sorted(_TASK_FIELDS):
        if fields.get(key) is None:
            listed[key] = None
            continue
        names: dict[str, None] = {}
        for i, value in enumerate(_sequence(fields[key], f"{place}.{key}")):
            name = _text(value, f"{place}.{key}[{i}]")
            if name not in split_labels:
                _fail(f"{place}.{key}[{i}]", f"there is no world {printable(name)}")
            if name in names:
                _fail(f"{place}.{key}[{i}]", f"world {printable(name)} is listed twice")
            names[name] = None
        listed[key] = tuple(names)
    foreign = ("yesWorldIds", "noWorldIds") if regime is not Regime.CI else ("trainWorldIds", "testWorldIds")
    for key in foreign:
        if listed[key]:
            _fail(f"{place}.{key}", f"does not belong to a {regime.value} record")
    if regime is Regime.CI:
        return _ci_roles(listed, split_labels, place)
    test = listed["testWorldIds"] or ()
    train = listed["trainWorldIds"]
    if train is None:
        train = tuple(name for name in split_labels if name not in set(test))
    both = set(train) & set(test)
    if both:
        _fail(f"{place}.testWorldIds", f"world {printable(min(both))} is a training world too")
    if not train:
        _fail(f"{place}.trainWorldIds", "names no world, so there is nothing to explain")
    return {"train_ids": train, "test_ids": test}


def _ci_roles(
    listed: Mapping[str, tuple[str, ...] | None], split_labels: Mapping[str, bool | None], place: str
) -> dict[str, tuple[str, ...]]:
    yes, no = listed["yesWorldIds"], listed["noWorldIds"]
    if yes is None and no is None:
        for name, label in split_labels.items():
            if label is None:
                _fail(f"world {printable(name)}, splitLabel", "is missing, and so are yesWorldIds and noWorldIds")
        yes = tuple(name for name, label in split_labels.items() if label)
        no = tuple(name for name, label in split_labels.items() if not label)
    elif yes is None or no is None:
        given = set(yes or ()) | set(no or ())
        rest = tuple(name for name in split_labels if name not in given)
        yes, no = (rest, no) if yes is None else (yes, rest)
    assert yes is not None
    assert no is not None
    both = set(yes) & set(no)
    if both:
        _fail(f"{place}.noWorldIds", f"world {printable(min(both))} is a YES world too")
    for names, wanted, key in ((yes, True, "yesWorldIds"), (no, False, "noWorldIds")):
        for name in names:
            if split_labels[name] not in (None, wanted):
                _fail(f"{place}.{key}", f"lists world {printable(name)}, whose splitLabel is {str(not wanted).lower()}")
    if not yes and not no:
        _fail(f"{place}.yesWorldIds", "names no world, so there is nothing to explain")
    return {"train_ids": yes, "no_ids": no}


def _hidden_target(value: Any, signature: Signature) -> tuple[Formula | None, str, dict[str, Any]]:
    place = "problemDescription.hiddenTarget"
    fields = _optional_mapping(value, place)
    text = fields.get("formula")
    description = _optional_text(fields.get("description"), f"{place}.description")
    if text is None:
        return None, description, _uninterpreted(fields, {"formula", "description"})
    extra = _uninterpreted(fields, {"formula", "description", "astSize", "quantifierDepth"})
    try:
        gold = parse_formula(_text(text, f"{place}.formula"), signature)
    except (FormulaSyntaxError, FormulaTooLargeError) as error:
        _fail(f"{place}.formula", str(error))
    # What can be computed is kept only where the record says otherwise, so that a round trip does not mend it.
    for key, computed in (("astSize", gold.ast_nodes), ("quantifierDepth", quantifier_depth(gold))):
        if fields.get(key, computed) != computed:
            extra[key] = fields[key]
    return gold, description, extra


def _uninterpreted(fields: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key not in known}


def _instance_extra(
    fields: Mapping[str, Any],
    problem: Mapping[str, Any],
    description: Mapping[str, Any],
    target_extra: Mapping[str, Any],
    regime: Regime,
) -> dict[str, Any]:
    """Everything the record says beyond what `record_from_instance` would write, nested as in the record."""
    extra = _uninterpreted(fields, _RECORD_FIELDS)
    problem_extra = _uninterpreted(problem, _PROBLEM_FIELDS)
    for holder, key, usual in (
        (extra, "schemaVersion", RECORD_SCHEMA),
        (extra, "problemType", "foInduction"),
        (problem_extra, "schemaVersion", PROBLEM_SCHEMA),
        (problem_extra, "backgroundAxioms", []),
    ):
        if holder.get(key) == usual:
            del holder[key]
    signature_extra = _uninterpreted(problem["signature"], {"predicates"})
    declared_extra = {
        entry["name"]: _uninterpreted(entry, {"name", "arity"}) for entry in problem["signature"]["predicates"]
    }
    declared_extra = {name: inner for name, inner in declared_extra.items() if inner}
    if declared_extra:
        signature_extra["predicates"] = declared_extra
    nested = (
        (problem_extra, "signature", signature_extra),
        (problem_extra, "task", _uninterpreted(problem.get("task") or {}, _TASK_FIELDS)),
        (extra, "problem", problem_extra),
    )
    for holder, key, inner in nested:
        if inner:
            holder[key] = inner
    description_extra = _uninterpreted(description, {"hiddenTarget", BAND_FIELDS[regime]})
    if description_extra.get("scenario") == regime.scenario:
        del description_extra["scenario"]
    if target_extra:
        description_extra["hiddenTarget"] = dict(target_extra)
    if description_extra:
        extra["problemDescription"] = description_extra
    _require_shallow(extra)
    return extra


def _require_shallow(extra: Any) -> None:
    """What is carried along uninterpreted must be writable again: refuse nesting beyond what files may have."""
    pending = [(extra, 0)]
    while pending:
        value, depth = pending.pop()
        if depth > MAX_NESTING - 8:
            _fail("record", f"fields are nested more than {MAX_NESTING - 8} deep")
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        pending.extend((item, depth + 1) for item in inner)
