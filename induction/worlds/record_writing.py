"""An `Instance` to its v1 record, what was not interpreted on reading laid over it again.

The names of the format stand here; `records` reads it.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from induction.formula.metrics import quantifier_depth
from induction.formula.syntax import TARGET, to_sexpr
from induction.worlds.instance import Instance, Regime
from induction.worlds.world import BoolArray, World

RECORD_SCHEMA = "induction_benchmark_record_v1"
PROBLEM_SCHEMA = "fol-concept-synth-v1"
HOLDOUT_SCHEMA = "induction_holdout_record_v1"

BAND_FIELDS = {Regime.FULL_OBS: "ad_band", Regime.CI: "c_band", Regime.EC: "e_band"}
"""Where `problemDescription` holds an instance's band."""


def record_from_instance(instance: Instance) -> dict[str, Any]:
    """The v1 record of `instance`, `false` lists written out."""
    problem: dict[str, Any] = {
        "instanceId": instance.instance_id,
        "schemaVersion": PROBLEM_SCHEMA,
        "scenario": instance.regime.scenario,
        "signature": {
            "predicates": [{"name": name, "arity": arity} for name, arity in (*instance.signature.items(), (TARGET, 1))]
        },
        "backgroundAxioms": [],
        "worlds": [_world_record(world, instance) for world in instance.worlds],
        "task": _task_record(instance),
    }
    description: dict[str, Any] = {"scenario": instance.regime.scenario}
    if instance.gold is not None or instance.gold_description:
        description["hiddenTarget"] = _target_record(instance)
    if instance.band:
        description[BAND_FIELDS[instance.regime]] = instance.band
    record = {
        "schemaVersion": RECORD_SCHEMA,
        "instanceId": instance.instance_id,
        "task": instance.regime.value,
        "scenario": instance.regime.scenario,
        "problemType": "foInduction",
        "problem": problem,
        "problemDescription": description,
    }
    return _merged(record, instance.extra)


def _world_record(world: World, instance: Instance) -> dict[str, Any]:
    record: dict[str, Any] = {
        "worldId": world.name,
        "domain": list(world.domain),
        "domainSize": world.size,
        "observationMode": world.observation_mode,
        "predicates": {
            predicate: {
                "true": atom_names(world, world.true[predicate]),
                "false": atom_names(world, ~(world.true[predicate] | world.unknown[predicate])),
            }
            for predicate in world.signature
        },
        "targetExtension": {
            "T_true": atom_names(world, world.target),
            "T_false": atom_names(world, ~world.target),
        },
    }
    if instance.regime is Regime.EC:
        record["unknownAtoms"] = {
            predicate: atom_names(world, mask) for predicate, mask in world.unknown.items() if mask.any()
        }
    if instance.regime is Regime.CI and world.name in (*instance.train_ids, *instance.no_ids):
        record["splitLabel"] = world.name in instance.train_ids
    return _merged(record, world.extra)


def atom_names(world: World, table: BoolArray) -> list[str]:
    """The atoms that are True in `table`, `bool[n]` or `bool[n, n]`, as a record lists them: `a0` or `(a0, a1)`."""
    if table.ndim == 1:
        return list(world.elements(table))
    return [f"({world.domain[i]}, {world.domain[j]})" for i, j in np.argwhere(table).tolist()]


def _task_record(instance: Instance) -> dict[str, Any]:
    if instance.regime is Regime.CI:
        return {"yesWorldIds": list(instance.train_ids), "noWorldIds": list(instance.no_ids)}
    return {"trainWorldIds": list(instance.train_ids), "testWorldIds": list(instance.test_ids)}


def _target_record(instance: Instance) -> dict[str, Any]:
    record: dict[str, Any] = {}
    if instance.gold is not None:
        record |= {
            "formula": to_sexpr(instance.gold),
            "astSize": instance.gold.ast_nodes,
            "quantifierDepth": quantifier_depth(instance.gold),
        }
    if instance.gold_description:
        record["description"] = instance.gold_description
    return record


def _merged(record: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """`record` with the fields of `extra` laid over it, mappings merged field by field, named entries by name."""
    for key, value in extra.items():
        mine = record.get(key)
        if isinstance(mine, dict) and isinstance(value, Mapping):
            _merged(mine, value)
        elif isinstance(mine, list) and isinstance(value, Mapping):
            for entry in mine:
                _merged(entry, value.get(entry["name"], {}))
        else:
            record[key] = value
    return record
