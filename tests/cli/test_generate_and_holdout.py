"""`generate` and `holdout` as typed."""

import gzip
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import jsonschema
import pytest
from conftest import PROJECT, heed_interrupts
from v1_schema import SCHEMA

from induction.evaluation import reference
from induction.generation.isomorphism import may_be_isomorphic
from induction.worlds import read_instances
from induction.worlds.record_writing import record_from_instance


def test_the_same_bytes_for_any_number_of_jobs(induction, tmp_path):
    files = [tmp_path / f"{jobs}.jsonl" for jobs in (1, 2, 3)]
    for jobs, file in zip((1, 2, 3), files, strict=True):
        ran = induction("generate", "-n", "9", "--seed", "5", "--jobs", str(jobs), "-o", str(file))
        assert ran.code == 0, ran.err
        assert "FullObs easy" in ran.out
    assert len({file.read_bytes() for file in files}) == 1
    for line in files[0].read_text().splitlines():
        jsonschema.validate(json.loads(line), SCHEMA)
    assert not list(tmp_path.glob("*.partial"))


def test_certified_instances_are_the_same_in_another_process(induction, command, tmp_path):
    arguments = ["generate", "--regime", "fullobs", "--band", "medium", "-n", "2", "--seed", "3", "--certify"]
    here, there = tmp_path / "here.yaml", tmp_path / "there.yaml"
    assert induction(*arguments, "-o", str(here)).code == 0
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    subprocess.run([command, *arguments, "--jobs", "2", "-o", there], check=True, capture_output=True, env=environment)
    assert here.read_bytes() == there.read_bytes()


def test_one_instance_alone_from_its_seed(induction, tmp_path):
    suite, alone = tmp_path / "suite.yaml", tmp_path / "alone.yaml"
    common = ["generate", "--regime", "ci", "--band", "core", "--seed", "8"]
    assert induction(*common, "-n", "3", "-o", str(suite)).code == 0
    wanted = read_instances(suite)[2]
    seed = wanted.description_extra["instance_seed"]
    ran = induction(*common, "--instance-seed", str(seed), "--id", wanted.instance_id, "-o", str(alone))
    assert ran.code == 0, ran.err
    (again,) = read_instances(alone)
    assert record_from_instance(again) == record_from_instance(wanted)


def test_a_generated_suite_checks_with_its_golds(induction, tmp_path):
    file = tmp_path / "suite.yaml.gz"
    assert induction("generate", "-n", "8", "--seed", "2", "-o", str(file)).code == 0
    rows = tmp_path / "golds.jsonl"
    instances = read_instances(file)
    lines = [json.dumps({"instanceId": one.instance_id, "formula": str(one.gold)}) for one in instances]
    rows.write_text("\n".join(lines))
    assert induction("check", "--formulas", str(rows), str(file)).code == 0
    told = induction("info", str(file))
    assert "families" in told.out
    assert "kills per world" in told.out
    assert json.loads(induction("info", str(file), "--json").out)["provenance"]["templates"] >= 1
    one = induction("info", str(file), "--id", instances[0].instance_id)
    assert "template" in one.out
    assert "kills" in one.out
    for text in (told.out, one.out):
        assert max(map(len, text.splitlines()[1:])) <= 80  # the first line holds the file's own name


def test_a_template_is_made_in_the_bands_that_have_it(induction, tmp_path):
    file = tmp_path / "lift.yaml"
    assert induction("generate", "-n", "3", "--template", "lift:Ryz,Szx", "-o", str(file)).code == 0
    for instance in read_instances(file):
        assert instance.description_extra["gold_template_id"] == "lift:Ryz,Szx"
        assert instance.description_extra["generationOptions"] == {"templates": ["lift:Ryz,Szx"]}


def test_what_cannot_be_made_is_left_out_and_told(induction, tmp_path):
    """With four objects some seeds give an instance of this band and some do not."""
    file = tmp_path / "some.jsonl"
    arguments = ["--regime", "fullobs", "--band", "extreme", "--objects", "3-3", "-n", "6", "--worlds", "9"]
    ran = induction("generate", *arguments, "-o", str(file))
    made = len(file.read_text().splitlines()) if file.exists() else 0
    left_out = ran.err.count("left out: no instance of FullObs extreme")
    assert (ran.code, made + left_out) in ((0, 6), (1, 6)) or (ran.code, made) == (2, 0)


def test_holdout_never_replaces_its_input(induction, tmp_path):
    file = tmp_path / "suite.jsonl"
    assert induction("generate", "-n", "1", "--regime", "fullobs", "--band", "easy", "-o", str(file)).code == 0
    content = file.read_bytes()
    ran = induction("holdout", str(file), "-o", str(file))
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert file.read_bytes() == content


def test_holdout_rows_are_no_instances(induction, tmp_path):
    out = tmp_path / "h.jsonl"
    assert induction("holdout", str(PROJECT / "data" / "suite.yaml.gz"), "--id", "easy_001", "-o", str(out)).code == 0
    ran = induction("info", str(out))
    assert ran.code == 2
    assert "is a hold-out row, not an instance" in ran.err


def is_running(pid: str) -> bool:
    """Whether there is such a process, other than one that has ended and waits to be told of."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", pid], capture_output=True, text=True).stdout.strip()
    return bool(state) and not state.startswith("Z")


def test_a_killed_run_goes_on_where_it_stopped(command, tmp_path):
    file, whole = tmp_path / "suite.jsonl", tmp_path / "whole.jsonl"
    arguments = [command, "generate", "--regime", "fullobs", "--band", "easy", "-n", "40", "--seed", "1", "-o"]
    process = subprocess.Popen([*arguments, file], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    journal = tmp_path / "suite.jsonl.partial"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (journal.exists() and journal.read_bytes().count(b"\n") > 10):
        time.sleep(0.02)
    workers = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()
    process.kill()
    process.wait()
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and any(map(is_running, workers)):
        time.sleep(0.1)
    assert not any(map(is_running, workers))
    assert not file.exists()
    kept = journal.read_bytes().count(b"\n") - 1
    assert kept >= 10
    ran = subprocess.run([*arguments, file], capture_output=True, text=True, check=True)
    assert "instances are there already" in ran.stderr
    subprocess.run([*arguments, whole], capture_output=True, check=True)
    assert file.read_bytes() == whole.read_bytes()
    assert not journal.exists()


def test_ctrl_c_keeps_what_is_made(command, tmp_path):
    file = tmp_path / "suite.jsonl"
    process = subprocess.Popen(
        [command, "generate", "--regime", "fullobs", "--band", "hard", "-n", "2000", "--jobs", "2", "-o", file],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    )
    journal = tmp_path / "suite.jsonl.partial"
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (journal.exists() and journal.read_bytes().count(b"\n") > 5):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    assert err.strip().endswith("induction: interrupted")
    assert not file.exists()
    assert journal.read_bytes().count(b"\n") > 5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--regime", "some"], "there is no regime 'some'"),
        (["--regime", "ci", "--band", "extreme"], "ci has no band 'extreme'; it has core, lift_mix"),
        (["--objects", "9-7"], "--objects: 9-7 is not a range"),
        (["--objects", "many"], "--objects: 'many' is no range such as 7-9"),
        (["--density", "0.2-1.5"], "--density: 0.2-1.5 is not a range within 0 to 1"),
        (["--objects", "3", "--out-degree", "5"], "cannot have 5"),
        (["--regime", "ci", "--masked", "R"], "only EC instances have masked atoms"),
        (["--regime", "ec", "--masked", "R,X"], "there is no predicate 'X' to mask"),
        (["--margin", "2"], "--margin goes with --certify"),
        (["--ci-style", "mine"], "--ci-style: 'mine' is none of paper, identified"),
        (["--template", "nothing"], "there is no 'nothing'"),
        (["--regime", "fullobs", "--band", "easy", "--template", "lift:Ryz,Szx"], "is of the bands FullObs extreme"),
        (["--density", "0.1-0.2", "--out-degree", "2"], "not both"),
        (["--regime", "fullobs", "--ci-style", "identified"], "--ci-style goes with"),
        (["--regime", "ec", "--band", "core", "--instance-seed", "4", "-n", "2"], "and no --count"),
        (["--instance-seed", "4"], "give its --regime and --band"),
        (["--id", "a"], "--id goes with --instance-seed"),
        (["--regime", "ec", "--band", "core", "--instance-seed", "4", "--id", "a\nb"], "is no id"),
        (["-n", "0"], "--count"),
        (
            ["--regime", "fullobs", "--band", "hard", "--density", "0-0"],
            "no instance of FullObs hard can be made: with",
        ),
        (["--regime", "fullobs", "--band", "simple", "--density", "0-0"], "FullObs simple in 40 attempts: of"),
        (["--regime", "ec", "--objects", "1"], "no instance of EC core can be made: worlds have 1 object at most"),
        (["--regime", "ec", "--mask-rate", "1", "-n", "300"], "can be made: all atoms of R would be hidden"),
        (["--regime", "ec", "--band", "core", "-n", "1", "--mask-rate", "0.9"], "EC core in 40 attempts: explained"),
    ],
)
def test_what_cannot_be_is_one_line_and_leaves_nothing(induction, tmp_path, arguments, words):
    ran = induction("generate", *arguments, "-o", str(tmp_path / "suite.yaml"))
    assert ran.code == 2
    assert words in ran.err
    assert ran.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_masks_on_chosen_predicates(induction, tmp_path):
    file = tmp_path / "ec.yaml"
    arguments = ["--regime", "ec", "--band", "core", "-n", "2", "--masked", "P,S", "--mask-rate", "0.4-0.5"]
    assert induction("generate", *arguments, "-o", str(file)).code == 0
    for instance in read_instances(file):
        for world in instance.worlds:
            assert {name for name, mask in world.unknown.items() if mask.any()} == {"P", "S"}
            assert 0.35 <= world.unknown["S"].mean() <= 0.55


@pytest.mark.parametrize("name", ["suite.txt", "suite", "suite.svg"])
def test_odd_file_names(induction, tmp_path, name):
    ran = induction("generate", "-n", "1", "-o", str(tmp_path / name))
    assert (ran.code, ran.err.count("\n")) == (2, 1)


def test_holdout_worlds_are_fresh_and_labelled_by_the_gold(induction, tmp_path):
    suite = PROJECT / "data" / "suite.yaml.gz"
    out = tmp_path / "holdout.jsonl"
    names = ["simple_001", "hard_002", "C_core_001", "E_hard_002"]
    ran = induction(
        "holdout", str(suite), *(part for name in names for part in ("--id", name)), "-n", "6", "-o", str(out)
    )
    assert ran.code == 0, ran.err
    assert "6 worlds for 4 of 4 instances" in ran.out
    instances = {one.instance_id: one for one in read_instances(suite, names)}
    for line in out.read_text().splitlines():
        row = json.loads(line)
        instance = instances[row["instanceId"]]
        assert row["recipe"] == "recorded"
        assert len(row["worlds"]) == 6
        carrier = {
            "instanceId": "h",
            "task": "FullObs",
            "problem": {
                "signature": {"predicates": [{"name": n, "arity": a} for n, a in instance.signature.items()]},
                "worlds": row["worlds"],
            },
        }
        file = tmp_path / "carrier.json"
        file.write_text(json.dumps([carrier]))
        (fresh,) = read_instances(file)
        for i, world in enumerate(fresh.worlds):
            assert (reference.extension(instance.gold, world) == world.target).all()
            assert not world.count_unknown()
            others = [*instance.worlds, *fresh.worlds[:i]]
            assert not any(may_be_isomorphic(world, other) for other in others)


def test_holdout_of_released_files_infers_the_recipe(induction, tmp_path, real_data):
    out = tmp_path / "holdout.jsonl"
    ran = induction("holdout", str(real_data / "examples_v1.yaml"), "-n", "5", "-o", str(out))
    assert ran.code == 0, ran.err
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["recipe"] for row in rows] == ["inferred"] * 3
    assert "the recipe of 3 was inferred" in ran.out
    challenge = tmp_path / "challenge.jsonl"
    ran = induction("holdout", str(real_data / "fullobs_v2_dev.yaml.gz"), "-n", "3", "-o", str(challenge))
    assert ran.code == 1  # five tasks have no gold
    assert ran.err.count("left out: no gold is recorded") == 5
    for line in challenge.read_text().splitlines():
        row = json.loads(line)
        assert row["recipeUsed"]["outDegree"] == {"R": 2, "S": 2}
        assert all(9 <= world["domainSize"] <= 11 for world in row["worlds"])


def test_holdout_is_the_same_for_an_instance_in_any_file(induction, tmp_path):
    suite = PROJECT / "data" / "suite.yaml.gz"
    one, some = tmp_path / "one.jsonl", tmp_path / "some.jsonl"
    assert induction("holdout", str(suite), "--id", "hard_001", "-o", str(one)).code == 0
    assert induction("holdout", str(suite), "--id", "easy_001", "--id", "hard_001", "-o", str(some)).code == 0
    assert one.read_text() in some.read_text()


def test_holdout_with_a_recipe_that_cannot_be_read(induction, tmp_path):
    record = record_from_instance(read_instances(PROJECT / "data" / "suite.yaml.gz", ["easy_001"])[0])
    record["problemDescription"]["recipe"] = {"objects": "many"}
    file = tmp_path / "odd.json"
    file.write_text(json.dumps([record]))
    ran = induction("holdout", str(file), "-o", str(tmp_path / "h.jsonl"))
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "easy_001: the recipe cannot be read" in ran.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["odd.json"]


def test_records_with_odd_provenance_are_still_described(induction, tmp_path):
    record = record_from_instance(read_instances(PROJECT / "data" / "suite.yaml.gz", ["easy_001"])[0])
    record["problemDescription"] |= {
        "certificate": "yes",
        "survivors": [1],
        "gold_family_id": 7,
        "gold_template_id": None,
        "size_reference": "small",
        "smallFormulasLetThrough": {"letThrough": "x"},
    }
    record["problem"]["worlds"][0]["kills"] = "many"
    file = tmp_path / "odd.json"
    file.write_text(json.dumps([record]))
    for arguments in (["info", str(file)], ["info", str(file), "--json"], ["info", str(file), "--id", "easy_001"]):
        ran = induction(*arguments)
        assert (ran.code, ran.err) == (0, "")


def test_the_size_reference_is_what_answers_are_measured_by(induction, tmp_path):
    record = record_from_instance(read_instances(PROJECT / "data" / "suite.yaml.gz", ["easy_001"])[0])
    gold = record["problemDescription"]["hiddenTarget"]["formula"]
    size = record["problemDescription"]["hiddenTarget"]["astSize"]
    record["problemDescription"]["size_reference"] = size - 1
    file = tmp_path / "smaller.json"
    file.write_text(json.dumps([record]))
    ran = induction("check", gold, str(file))
    assert f"gold {size}, smallest equal {size - 1} (+1); within gold +0 no, +10 yes" in " ".join(ran.out.split())
    answer = json.loads(induction("check", gold, str(file), "--json").out)
    (verdict,) = answer["verdicts"] if "verdicts" in answer else answer["results"]
    assert (verdict["goldAst"], verdict["sizeReference"], verdict["astDelta"]) == (size, size - 1, 1)


def test_shipped_data_is_what_the_manifest_says():
    manifest = json.loads((PROJECT / "data" / "MANIFEST.json").read_text())
    listed = {entry["file"] for entry in manifest}
    assert listed == {path.name for path in (PROJECT / "data").glob("*.gz")}
    for entry in manifest:
        content = gzip.decompress((PROJECT / "data" / entry["file"]).read_bytes())
        assert hashlib.sha256(content).hexdigest() == entry["sha256"]
    suite = read_instances(PROJECT / "data" / "suite.yaml.gz")
    assert len(suite) == 60
    assert len({(one.regime, one.band) for one in suite}) == 9


@pytest.mark.full
def test_shipped_data_is_made_by_its_commands(tmp_path):
    copy = tmp_path / "project"
    shutil.copytree(PROJECT / "data", copy / "data")
    subprocess.run([sys.executable, copy / "data" / "build.py", "--check"], check=True)
