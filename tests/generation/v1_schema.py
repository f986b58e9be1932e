"""The v1 instance record as a JSON Schema, written from the benchmark's description and not from our code."""

_NAMES = {"type": "array", "items": {"type": "string", "minLength": 1}}
_ATOMS = {
    "type": "object",
    "required": ["true", "false"],
    "properties": {"true": _NAMES, "false": _NAMES},
}
_WORLD = {
    "type": "object",
    "required": ["worldId", "domain", "domainSize", "observationMode", "predicates", "targetExtension"],
    "properties": {
        "worldId": {"type": "string", "pattern": "^(train|yes|no|holdout)_[0-9]+$"},
        "domain": {**_NAMES, "minItems": 1, "uniqueItems": True},
        "domainSize": {"type": "integer", "minimum": 1},
        "observationMode": {"enum": ["full", "partial"]},
        "predicates": {
            "type": "object",
            "required": ["P", "Q", "R", "S"],
            "additionalProperties": _ATOMS,
        },
        "targetExtension": {
            "type": "object",
            "required": ["T_true", "T_false"],
            "properties": {"T_true": _NAMES, "T_false": _NAMES},
        },
        "unknownAtoms": {"type": "object", "additionalProperties": _NAMES},
        "splitLabel": {"type": "boolean"},
    },
}


def _of_regime(task: str, scenario: str, band_field: str, world: dict, task_fields: list[str]) -> dict:
    return {
        "if": {"properties": {"task": {"const": task}}},
        "then": {
            "properties": {
                "scenario": {"const": scenario},
                "problem": {
                    "properties": {
                        "scenario": {"const": scenario},
                        "worlds": {"items": world},
                        "task": {"required": task_fields},
                    }
                },
                "problemDescription": {"required": [band_field], "properties": {"scenario": {"const": scenario}}},
            }
        },
    }


SCHEMA = {
    "type": "object",
    "required": [
        "schemaVersion",
        "instanceId",
        "task",
        "scenario",
        "problemType",
        "problem",
        "problemDescription",
    ],
    "properties": {
        "schemaVersion": {"const": "induction_benchmark_record_v1"},
        "instanceId": {"type": "string", "minLength": 1},
        "task": {"enum": ["FullObs", "CI", "EC"]},
        "scenario": {"enum": ["AD", "C", "E"]},
        "problemType": {"const": "foInduction"},
        "problem": {
            "type": "object",
            "required": ["instanceId", "schemaVersion", "scenario", "signature", "backgroundAxioms", "worlds", "task"],
            "properties": {
                "schemaVersion": {"const": "fol-concept-synth-v1"},
                "signature": {
                    "type": "object",
                    "required": ["predicates"],
                    "properties": {
                        "predicates": {
                            "type": "array",
                            "items": {
                                "type": "object",
                                "required": ["name", "arity"],
                                "properties": {"name": {"type": "string"}, "arity": {"enum": [1, 2]}},
                            },
                            "contains": {"properties": {"name": {"const": "T"}, "arity": {"const": 1}}},
                        }
                    },
                },
                "backgroundAxioms": {"type": "array", "maxItems": 0},
                "worlds": {"type": "array", "minItems": 1, "items": _WORLD},
                "task": {
                    "type": "object",
                    "properties": {
                        "trainWorldIds": _NAMES,
                        "testWorldIds": _NAMES,
                        "yesWorldIds": _NAMES,
                        "noWorldIds": _NAMES,
                    },
                },
            },
        },
        "problemDescription": {
            "type": "object",
            "required": [
                "scenario",
                "hiddenTarget",
                "gold_family_id",
                "gold_subfamily_key",
                "gold_is_lift_hard",
                "gold_ast",
                "gold_qd",
                "benchmark_name",
                "benchmark_version",
                "seed",
                "instance_seed",
                "domainSizes",
                "numTrainWorlds",
                "filtersApplied",
            ],
            "properties": {
                "hiddenTarget": {
                    "type": "object",
                    "required": ["formula", "description", "astSize", "quantifierDepth"],
                    "properties": {
                        "formula": {"type": "string", "pattern": r"^\(.*\)$"},
                        "description": {"type": "string", "minLength": 1},
                        "astSize": {"type": "integer", "minimum": 2},
                        "quantifierDepth": {"type": "integer", "minimum": 0},
                    },
                },
                "gold_subfamily_key": {
                    "type": "string",
                    "pattern": r"^([A-H]|OTHER)\|guard=[^|]+\|outer=[^|]+\|inner=[^|]+\|lift=[^|]+\|neg=[^|]+\|RS=[01]$",
                },
                "gold_is_lift_hard": {"type": "boolean"},
                "instance_seed": {"type": "integer", "minimum": 0},
                "domainSizes": {"type": "array", "items": {"type": "integer"}},
            },
        },
    },
    "allOf": [
        _of_regime("FullObs", "AD", "ad_band", {"not": {"required": ["unknownAtoms"]}}, ["trainWorldIds"]),
        _of_regime("CI", "C", "c_band", {"required": ["splitLabel"]}, ["yesWorldIds", "noWorldIds"]),
        _of_regime("EC", "E", "e_band", {"required": ["unknownAtoms"]}, ["trainWorldIds"]),
    ],
}
