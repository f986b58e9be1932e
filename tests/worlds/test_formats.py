"""Instance files: round trips, tolerance of what may be missing, and faults told with their place."""

import copy
import gzip
import json
import os

import pytest
import yaml
from conftest import EXAMPLES
from hypothesis import HealthCheck, given, settings
from strategies import instances

from induction.errors import InductionError, InstanceFormatError, MissingFileError, UnknownNameError
from induction.worlds import Regime, read_instances, write_instances
from induction.worlds.formats import open_instances
from induction.worlds.record_writing import record_from_instance
from induction.worlds.records import MAX_INSTANCE_CELLS, instance_from_record
from induction.worlds.texts import load_yaml

NAMES = ["f.yaml", "f.yml", "f.json", "f.jsonl", "f.yaml.gz", "f.jsonl.gz", "F.YAML.GZ"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(instance=instances())
def test_round_trip(tmp_path, instance):
    for name in NAMES[:5]:
        path = tmp_path / name
        write_instances(path, [instance])
        (again,) = read_instances(path)
        assert again == instance
        content = path.read_bytes()
        write_instances(path, [again])
        assert path.read_bytes() == content


@pytest.mark.parametrize("name", NAMES)
def test_forms_by_name(tmp_path, name):
    path = tmp_path / name
    write_instances(path, read_instances(EXAMPLES))
    assert read_instances(path) == read_instances(EXAMPLES)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == name.lower().endswith(".gz")
    assert not [other for other in os.listdir(tmp_path) if other != name]


@pytest.mark.parametrize("name", NAMES[:6])
def test_forms_by_content(tmp_path, name):
    path = tmp_path / name
    write_instances(path, read_instances(EXAMPLES))
    nameless = tmp_path / "anything"
    nameless.write_bytes(path.read_bytes())
    assert read_instances(nameless) == read_instances(EXAMPLES)


def test_gzip_is_reproducible(tmp_path):
    for name in ("one.yaml.gz", "two.yaml.gz"):
        write_instances(tmp_path / name, read_instances(EXAMPLES))
    assert (tmp_path / "one.yaml.gz").read_bytes() == (tmp_path / "two.yaml.gz").read_bytes()


def test_a_failed_write_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "f.yaml"
    path.write_text("kept")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        write_instances(path, read_instances(EXAMPLES))
    assert path.read_text() == "kept"
    assert os.listdir(tmp_path) == ["f.yaml"]


def test_unknown_form_is_refused(tmp_path):
    with pytest.raises(InductionError, match="ending in"):
        write_instances(tmp_path / "f.txt", [])


def base_record():
    """A small FullObs record with everything written out."""
    return {
        "instanceId": "i1",
        "task": "FullObs",
        "scenario": "AD",
        "problem": {
            "signature": {
                "predicates": [{"name": "P", "arity": 1}, {"name": "R", "arity": 2}, {"name": "T", "arity": 1}]
            },
            "worlds": [
                {
                    "worldId": f"w{i}",
                    "domain": ["a", "b"],
                    "domainSize": 2,
                    "predicates": {
                        "P": {"true": ["a"], "false": ["b"]},
                        "R": {"true": ["(a, b)"], "false": ["(a, a)", "(b, a)", "(b, b)"]},
                    },
                    "targetExtension": {"T_true": ["b"], "T_false": ["a"]},
                }
                for i in range(3)
            ],
            "task": {"trainWorldIds": ["w0", "w1"], "testWorldIds": ["w2"]},
        },
        "problemDescription": {"hiddenTarget": {"formula": "(not (P x))"}},
    }


def changed(path, value, base=base_record):
    """The base record with the field at `path` replaced, or removed for `...`."""
    record = base()
    holder = record
    for key in path[:-1]:
        holder = holder[key]
    if value is ...:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return record


def test_base_record():
    instance = instance_from_record(base_record())
    assert instance.regime is Regime.FULL_OBS
    assert instance.train_ids == ("w0", "w1")
    assert instance.test_ids == ("w2",)
    assert instance.gold_ast == 3
    assert instance.worlds[0].true["R"].tolist() == [[False, True], [False, False]]
    assert instance.worlds[0].target.tolist() == [False, True]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("problem", "worlds", 0, "predicates", "R", "false"), ...),
        (("problem", "worlds", 0, "predicates", "P", "false"), ...),
        (("problem", "worlds", 0, "targetExtension", "T_false"), ...),
        (("problem", "worlds", 0, "domainSize"), ...),
        (("problem", "worlds", 0, "predicates", "R", "true"), ["(a,b)"]),
        (("problem", "worlds", 0, "predicates", "R", "true"), [["a", "b"]]),
        (("problem", "worlds", 0, "predicates", "P", "true"), ["(a)"]),
        (("problem", "worlds", 0, "predicates", "R", "true"), ["(a, b)", "(a, b)"]),
        (("scenario",), ...),
        (("task",), ...),
    ],
)
def test_form_is_tolerated(path, value):
    assert instance_from_record(changed(path, value)) == instance_from_record(base_record())


def test_missing_parts():
    assert instance_from_record(changed(("problemDescription",), ...)).gold is None
    assert instance_from_record(changed(("problem", "task"), ...)).train_ids == ("w0", "w1", "w2")
    only_test = changed(("problem", "task"), {"testWorldIds": ["w2"]})
    assert instance_from_record(only_test).train_ids == ("w0", "w1")
    assert instance_from_record(changed(("instanceId",), ...), "record_7").instance_id == "record_7"
    nameless = changed(("problem", "task"), ...)
    del nameless["problem"]["worlds"][1]["worldId"]
    assert instance_from_record(nameless).train_ids == ("w0", "world_1", "w2")
    no_table = changed(("problem", "worlds", 0, "predicates", "R"), ...)
    assert not instance_from_record(no_table).worlds[0].true["R"].any()


def ci_record(**task):
    record = base_record()
    record |= {"task": "CI", "scenario": "C"}
    for world, label in zip(record["problem"]["worlds"], (True, True, False), strict=True):
        world["splitLabel"] = label
    record["problem"]["task"] = task
    return record


def test_ci_roles():
    for task in (
        {},
        {"yesWorldIds": ["w0", "w1"]},
        {"noWorldIds": ["w2"]},
        {"yesWorldIds": ["w0", "w1"], "noWorldIds": ["w2"]},
    ):
        instance = instance_from_record(ci_record(**task))
        assert (instance.train_ids, instance.no_ids) == (("w0", "w1"), ("w2",))


def ec_record():
    record = base_record()
    record |= {"task": "EC", "scenario": "E"}
    for world in record["problem"]["worlds"]:
        world["predicates"]["R"]["false"] = ["(a, a)"]
        world["unknownAtoms"] = {"R": ["(b, a)", "(b, b)"]}
    return record


def test_ec_atoms():
    world = instance_from_record(ec_record()).worlds[0]
    assert world.unknown["R"].tolist() == [[False, False], [True, True]]
    assert world.observation_mode == "partial"


W0 = ("problem", "worlds", 0)
FAULTS = [
    (
        changed((*W0, "predicates", "P", "true"), ["c"]),
        ("world w0", "predicates.P.true[0]", "'c' is not in the domain"),
    ),
    (changed((*W0, "predicates", "R", "true"), ["(a, c)"]), ("world w0", "predicates.R.true[0]", "'c' is not in")),
    (
        changed((*W0, "predicates", "R", "false"), ["(a, b)"]),
        ("predicates.R.false", "(a, b) is listed in predicates.R.true"),
    ),
    (changed((*W0, "predicates", "P", "false"), ["a"]), ("predicates.P.false", "a is listed in predicates.P.true")),
    (changed((*W0, "predicates", "R", "true"), ["a"]), ("predicates.R.true[0]", "expected a pair")),
    (changed((*W0, "predicates", "R", "true"), ["(a, b, a)"]), ("predicates.R.true[0]", "expected a pair")),
    (changed((*W0, "predicates", "P", "true"), ["(a, b)"]), ("predicates.P.true[0]", "expected one object")),
    (changed((*W0, "predicates", "P", "true"), [["a", "b"]]), ("predicates.P.true[0]", "expected one object")),
    (changed((*W0, "predicates", "P", "true"), [3]), ("predicates.P.true[0]", "expected an atom", "a number")),
    (changed((*W0, "predicates", "P", "true"), "a"), ("predicates.P.true", "expected a list, found text")),
    (changed((*W0, "predicates", "Z"), {"true": []}), ("predicates.Z", "not in the signature")),
    (changed((*W0, "predicates", "T"), {"true": []}), ("predicates.T", "targetExtension")),
    (changed((*W0, "unknownAtoms"), {"R": ["(b, b)"]}), ("unknownAtoms.R",)),
    (changed((*W0, "targetExtension"), ...), ("world w0", "targetExtension", "is missing")),
    (changed((*W0, "targetExtension", "T_true"), ...), ("targetExtension.T_true", "is missing")),
    (
        changed((*W0, "targetExtension", "T_false"), ["b"]),
        ("targetExtension.T_false", "listed in targetExtension.T_true"),
    ),
    (changed((*W0, "targetExtension", "T_true"), ["zz"]), ("targetExtension.T_true[0]", "'zz' is not in the domain")),
    (changed((*W0, "domain"), []), ("world w0", "domain", "no objects")),
    (changed((*W0, "domain"), ["a", "b", "a"]), ("domain[2]", "a is listed twice")),
    (changed((*W0, "domain"), ["a", 7]), ("domain[1]", "expected text, found a number", "'7' in quotes")),
    (changed((*W0, "domain"), ["a", "b c"]), ("domain[1]", "blank, comma or parenthesis")),
    (changed((*W0, "domain"), ["a", "\x1b[2J"]), ("domain[1]", "\\x1b[2J")),
    (changed((*W0, "domainSize"), 3), ("domainSize", "is 3, but domain lists 2")),
    (changed((*W0, "worldId"), "w1"), ("world w1", "used by an earlier world")),
    (changed((*W0, "splitLabel"), "yes"), ("splitLabel", "expected true or false")),
    (changed(("problem", "worlds"), []), ("problem.worlds", "no worlds")),
    (changed(("problem", "worlds"), ...), ("problem.worlds", "is missing")),
    (changed(("problem", "worlds"), [3]), ("world world_0", "expected a mapping")),
    (changed(("problem",), ...), ("problem", "is missing")),
    (changed(("problem", "signature", "predicates", 0, "arity"), 3), ("signature.predicates", "arity 3")),
    (changed(("problem", "signature", "predicates", 0, "name"), "R"), ("signature.predicates", "declared twice")),
    (changed(("problem", "signature", "predicates", 2, "arity"), 2), ("signature.predicates[2].arity", "target")),
    (changed(("problem", "signature"), ...), ("problem.signature", "is missing")),
    (changed(("problem", "task", "trainWorldIds"), ["w9"]), ("problem.task.trainWorldIds[0]", "no world w9")),
    (changed(("problem", "task", "trainWorldIds"), []), ("trainWorldIds", "names no world")),
    (changed(("problem", "task", "trainWorldIds"), ["w0", "w0"]), ("trainWorldIds[1]", "listed twice")),
    (changed(("problem", "task", "testWorldIds"), ["w0"]), ("testWorldIds", "world w0 is a training world too")),
    (changed(("problem", "task", "yesWorldIds"), ["w0"]), ("yesWorldIds", "does not belong to a FullObs record")),
    (changed(("task",), "FullObserved"), ("task", "'FullObserved' is none of FullObs, CI, EC")),
    (changed(("scenario",), "C"), ("scenario", "disagree: FullObs and CI")),
    (
        changed(("problemDescription", "hiddenTarget", "formula"), "(Pp x)"),
        ("hiddenTarget.formula", "unknown predicate 'Pp'"),
    ),
    (changed(("problemDescription", "hiddenTarget", "formula"), 3), ("hiddenTarget.formula", "expected text")),
    (changed(("problemDescription",), []) | {"problemDescription": [1]}, ("problemDescription", "expected a mapping")),
    (ci_record(yesWorldIds=["w0", "w2"]), ("yesWorldIds", "lists world w2, whose splitLabel is false")),
    (ci_record(yesWorldIds=["w0"], noWorldIds=["w0"]), ("noWorldIds", "world w0 is a YES world too")),
    (ci_record(trainWorldIds=["w0"]), ("trainWorldIds", "does not belong to a CI record")),
    (changed((*W0, "splitLabel"), ..., lambda: ci_record()), ("world w0, splitLabel", "is missing")),
    (changed((*W0, "unknownAtoms"), {"R": ["(a, b)"]}, ec_record), ("unknownAtoms.R", "listed in predicates.R.true")),
    (changed((*W0, "unknownAtoms"), {"R": ["(a, a)"]}, ec_record), ("unknownAtoms.R", "listed in predicates.R.false")),
    (changed((*W0, "unknownAtoms"), {"Z": []}, ec_record), ("unknownAtoms.Z", "not in the signature")),
    (changed((*W0, "predicates"), []), ("predicates", "expected a mapping, found a list")),
    (changed((*W0, "predicates", "P"), []), ("predicates.P", "expected a mapping, found a list")),
    (changed((*W0, "predicates", "P"), {"True": ["a"]}), ("predicates.P.true", "is missing")),
    (changed((*W0, "unknownAtoms"), []), ("unknownAtoms", "expected a mapping")),
    (changed((*W0, "domainSize"), "2"), ("domainSize", "expected a whole number, found text")),
    (changed(("problem", "task"), []), ("problem.task", "expected a mapping")),
    (changed(("problemDescription", "hiddenTarget"), False), ("hiddenTarget", "expected a mapping, found a boolean")),
    ([], ("expected a mapping, found a list",)),
    ("text", ("expected a mapping, found text",)),
    (None, ("expected a mapping, found nothing",)),
]


@pytest.mark.parametrize(("record", "words"), FAULTS, ids=[" ".join(words) for _, words in FAULTS])
def test_faults_are_told_with_their_place(tmp_path, record, words):
    path = tmp_path / "f.json"
    good = base_record() | {"instanceId": "good"}
    path.write_text(json.dumps([good, record]))
    first, second = open_instances(path).entries()
    assert first.instance_id == "good"
    assert isinstance(second, InstanceFormatError)
    message = str(second)
    assert message.startswith(f"{path}: record 2 (")
    for word in words:
        assert word in message
    assert message.isprintable()
    with pytest.raises(InstanceFormatError):
        read_instances(path)
    assert read_instances(path, ["good"])[0].instance_id == "good"


def test_duplicate_and_unknown_ids(tmp_path):
    path = tmp_path / "f.json"
    path.write_text(json.dumps([base_record(), base_record()]))
    with pytest.raises(InstanceFormatError, match=r"record 2 \(i1\): record 1 has the same id"):
        read_instances(path)
    with pytest.raises(UnknownNameError, match="no instance 'i1x'; did you mean i1"):
        read_instances(path, ["i1x"])


def test_size_limit_comes_before_memory(tmp_path):
    size = int(MAX_INSTANCE_CELLS**0.5) + 1
    record = changed((*W0, "domain"), [f"a{i}" for i in range(size)])
    with pytest.raises(InstanceFormatError, match=f"the limit is {MAX_INSTANCE_CELLS:,}"):
        instance_from_record(record)


def test_fields_that_are_not_interpreted_survive(tmp_path):
    record = base_record()
    record["note"] = {"deep": [1, "x", None, True]}
    record["problem"]["origin"] = "field work"
    record["problem"]["task"]["hint"] = 1
    record["problem"]["backgroundAxioms"] = ["(forall x (P x))"]
    record["problem"]["signature"]["sorts"] = ["thing"]
    record["problem"]["signature"]["predicates"][0]["meaning"] = "is prime"
    record["problem"]["signature"]["predicates"][2]["meaning"] = "the target"
    record["problem"]["worlds"][0]["splitLabel"] = True
    record["problem"]["worlds"][0]["weather"] = "fine"
    record["problem"]["worlds"][0]["predicates"]["R"]["colour"] = "red"
    record["problem"]["worlds"][0]["targetExtension"]["by"] = "hand"
    record["problemDescription"]["seed"] = 12345678901234567890
    record["problemDescription"]["hiddenTarget"]["astSize"] = 99
    record["problemDescription"]["hiddenTarget"]["confidence"] = 0.5
    written = record_from_instance(instance_from_record(copy.deepcopy(record)))

    def contains(whole, part):
        if isinstance(part, dict):
            return all(key in whole and contains(whole[key], value) for key, value in part.items())
        if isinstance(part, list) and part and isinstance(part[0], dict):
            return len(whole) == len(part) and all(map(contains, whole, part))
        return whole == part

    assert contains(written, record)


def test_more_fields_that_survive():
    ci = ci_record(yesWorldIds=["w0"], noWorldIds=["w2"])
    written = record_from_instance(instance_from_record(copy.deepcopy(ci)))
    assert [world["splitLabel"] for world in written["problem"]["worlds"]] == [True, True, False]
    goldless = changed(("problemDescription", "hiddenTarget"), {"astSize": 5, "quantifierDepth": 1})
    written = record_from_instance(instance_from_record(goldless))
    assert written["problemDescription"]["hiddenTarget"] == {"astSize": 5, "quantifierDepth": 1}
    odd = changed(("problemDescription", "scenario"), "adversarial")
    assert record_from_instance(instance_from_record(odd))["problemDescription"]["scenario"] == "adversarial"


def test_large_numbers_survive_every_form(tmp_path):
    record = base_record() | {"big": 10**40, "small": -0.25, "text": "10" * 30}
    instance = instance_from_record(record)
    for name in NAMES[:4]:
        write_instances(tmp_path / name, [instance])
        assert read_instances(tmp_path / name) == [instance]


def test_made_up_names_avoid_given_ones(tmp_path):
    path = tmp_path / "f.json"
    nameless = base_record()
    del nameless["instanceId"]
    path.write_text(json.dumps([base_record() | {"instanceId": "record_2"}, nameless]))
    assert [instance.instance_id for instance in read_instances(path)] == ["record_2", "record_2_"]
    record = changed(("problem", "task"), ...)
    del record["problem"]["worlds"][0]["worldId"]
    record["problem"]["worlds"][1]["worldId"] = "world_0"
    assert instance_from_record(record).train_ids == ("world_0_", "world_0", "w2")


def test_yaml_text_stays_text():
    text = "- {a: yes, b: no, c: 08, d: 2026-01-01, e: 1e5, f: 1_000, g: on, h: 'true', i: 0x1F, j: 1:30}"
    ((values,),) = load_yaml(text, "f")
    assert all(isinstance(value, str) for value in values.values())
    ((values,),) = load_yaml("- [true, False, ~, null, 12, -3, 1.5, 1.0e+20, !!str 5, '']", "f")
    assert values == [True, False, None, None, 12, -3, 1.5, 1e20, "5", ""]


def test_yaml_agrees_with_pyyaml_on_the_examples():
    text = EXAMPLES.read_text()
    assert load_yaml(text, "f") == [yaml.load(text, Loader=yaml.CSafeLoader)]


def test_aliases_are_legal():
    ((first, second),) = load_yaml("- &one {a: [1, 2]}\n- *one\n", "f")
    assert first == second == {"a": [1, 2]}


@pytest.mark.parametrize("name", ["f.yaml", "f.json", "f.jsonl"])
def test_single_records_and_several_documents(tmp_path, name):
    path = tmp_path / name
    path.write_text(json.dumps(base_record()))
    assert read_instances(path)[0].instance_id == "i1"
    two = [json.dumps(base_record() | {"instanceId": f"i{i}"}) for i in (1, 2)]
    path.write_text(("\n---\n" if name == "f.yaml" else "\n").join(two))
    assert [instance.instance_id for instance in read_instances(path)] == ["i1", "i2"]


def test_broken_lines_leave_the_others(tmp_path):
    path = tmp_path / "f.jsonl"
    path.write_text(json.dumps(base_record()) + "\n{broken\n\n" + json.dumps(base_record() | {"instanceId": "i2"}))
    first, second, third = open_instances(path).entries()
    assert (first.instance_id, third.instance_id) == ("i1", "i2")
    assert str(second).startswith(f"{path}: line 2, column 2: broken JSON")


def test_missing_files(tmp_path):
    with pytest.raises(MissingFileError, match="No such file"):
        read_instances(tmp_path / "none.yaml")
    with pytest.raises(MissingFileError, match="directory"):
        read_instances(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_instances(tmp_path / "none.yaml")
    with pytest.raises(MissingFileError, match="null"):
        read_instances("a\0b")


def test_gzip_members_and_bom(tmp_path):
    path = tmp_path / "f.gz"
    text = json.dumps(base_record())
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + text[:100].encode()) + gzip.compress(text[100:].encode()))
    assert read_instances(path)[0].instance_id == "i1"
