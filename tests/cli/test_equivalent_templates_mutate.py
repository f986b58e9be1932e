"""`equivalent`, `templates` and `mutate` as typed."""

import json
import signal
import subprocess
import time

import pytest
from conftest import heed_interrupts

from induction.families.templates import all_templates
from induction.formula import parse_formula
from induction.worlds import read_instances

LIFT = "(exists y (and (P y) (forall z (or (not (R y z)) (R x z)))))"
TURNED = "(exists y (and (P y) (forall z (or (not (R z y)) (R x z)))))"
ENDLESS = (
    "(and (and (forall y (not (R y y))) (forall y (forall z (forall w (or (not (and (R y z) (R z w))) (R y w))))))"
    " (and (= x x) (forall y (exists z (R y z)))))"
)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["(not (exists y (R x y)))", "(forall y (not (R x y)))"], 0, "EQUIVALENT: proven"),
        ([LIFT, TURNED], 1, "told apart by a world of 2 objects, the fewest there are"),
        ([ENDLESS, "(not (= x x))", "--up-to", "3"], 3, "NOT PROVEN: equal on all worlds of up to 3 objects"),
        (["(P x)", "(or (P x) (Q x))", "--relation"], 1, "NARROWER: F implies G"),
        (["(P x)", "(and (P x) (Q x))", "--relation"], 1, "WIDER: G implies F"),
        (["(P x)", "(Q x)", "--relation"], 1, "OVERLAPPING"),
        (["(P x)", "(not (P x))", "--relation"], 1, "DISJOINT: no object has both (proven)"),
        (["(P x)", "(not (not (P x)))", "--relation"], 0, "IDENTICAL"),
        (
            [ENDLESS, "(not (= x x))", "--relation", "--up-to", "5"],
            3,
            "NOT PROVEN beyond 5 objects; up to there IDENTICAL",
        ),
        (["(forall y (P y))", "(not (exists z (not (P z))))"], 0, "EQUIVALENT"),
        (["(knows x x)", "(exists y (knows x y))", "--signature", "knows/2"], 1, "DIFFERENT"),
        (["(= x x)", "(exists y (not (= x y)))"], 1, "world of 1 object"),
    ],
)
def test_verdicts_and_exit_codes(induction, arguments, code, words):
    ran = induction("equivalent", *arguments)
    assert (ran.code, ran.err) == (code, "")
    assert words in " ".join(ran.out.split())
    assert max(map(len, ran.out.splitlines())) <= 80


def test_json_holds_the_world(induction):
    ran = induction("equivalent", LIFT, TURNED, "--json")
    answer = json.loads(ran.out)
    assert answer["verdict"] == "different"
    world = answer["world"]
    assert world["fewestObjects"]
    assert world["fewestAtoms"]
    assert len(world["domain"]) == 2
    assert set(world["firstHolds"]) != set(world["secondHolds"])
    relation = json.loads(induction("equivalent", LIFT, TURNED, "--relation", "--json").out)
    assert relation["relation"] == "overlapping"
    assert relation["proven"]
    assert relation["firstOnly"]["world"]
    assert relation["secondOnly"]["world"]
    assert relation["both"]["world"]


def test_the_world_as_an_instance_file(induction, tmp_path):
    file = tmp_path / "apart.yaml"
    assert induction("equivalent", LIFT, TURNED, "-o", str(file)).code == 1
    (instance,) = read_instances(file)
    assert instance.gold == parse_formula(LIFT)
    assert induction("check", LIFT, str(file)).code == 0
    assert induction("check", TURNED, str(file)).code == 1


@pytest.mark.parametrize("form", ["svg", "png", "pdf"])
def test_the_world_as_a_picture(induction, tmp_path, form):
    file = tmp_path / f"apart.{form}"
    assert induction("equivalent", LIFT, TURNED, "-o", str(file)).code == 1
    assert file.stat().st_size > 1000


def test_nothing_is_written_where_there_is_no_world(induction, tmp_path):
    file = tmp_path / "apart.yaml"
    ran = induction("equivalent", "(P x)", "(P x)", "-o", str(file))
    assert ran.code == 0
    assert "not written" in ran.err
    assert not file.exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["equivalent", "(P x)", "(P x"], "G, line 1"),
        (["templates", "--like", "(P x)", "--band", "hard"], "leave --family and --band away"),
        (["equivalent", "(P y)", "(P x)"], "variable y is free; only x may be"),
        (["equivalent", "-", "-"], "only one input can be standard input"),
        (["equivalent", "(P x)", "(P x)", "--up-to", "0"], "--up-to"),
        (["equivalent", "(P x)", "(Q x)", "-o", "world.txt"], "the name ends in .svg"),
        (["equivalent", "(P x)", "(Q x)", "-o", "/no/such/folder/w.svg"], "no such folder"),
        (["equivalent", "(Red x)", "(P x)"], "unknown predicate"),
        (["templates", "--family", "Z"], "there is no family 'Z'"),
        (["templates", "--band", "hardest"], "there is no band 'hardest'"),
        (["templates", "--like", "(P y)"], "line 1"),
        (["mutate", "(P x)", "--kinds", "guard-droped"], "no kind of edit named 'guard-droped'"),
        (["mutate", "(P y)"], "line 1"),
        (["mutate"], "which formula"),
        (["mutate", "(P x)", "--kinds", ","], "--kinds: there are"),
        (["mutate", "(P x)", "--edits", "9"], "--edits"),
    ],
)
def test_faults_are_one_line(induction, arguments, words):
    ran = induction(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert words in ran.err
    assert ran.err.count("\n") == 1


def test_formulas_on_standard_input(induction):
    assert induction("equivalent", "-", "(P x)", stdin="(not (not (P x)))").code == 0
    assert induction("templates", "--like", "-", stdin=LIFT).code == 0
    assert "near misses" in induction("mutate", "-", stdin=LIFT).out


def test_a_formula_nested_very_deep_is_no_crash(induction):
    deep = "(not " * 20_000 + "(P x)" + ")" * 20_000
    assert induction("equivalent", "-", "(P x)", stdin=deep).code == 0
    assert induction("mutate", "-", stdin=deep).code == 0
    wide = "(and " * 5_000 + "(P x)" + " (Q x))" * 5_000
    assert induction("equivalent", "-", "(and (P x) (Q x))", stdin=wide).code == 0
    ran = induction("mutate", "-", stdin=wide)
    assert (ran.code, ran.err.count("\n")) == (2, 1)


def test_ctrl_c_ends_a_long_proof_at_once(command):
    process = subprocess.Popen(
        [command, "equivalent", ENDLESS, "(not (= x x))", "--up-to", "64"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    )
    try:
        time.sleep(4)  # long enough to be past the imports, far shorter than going to 64 objects takes
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == 130
    assert out == ""
    assert err == "induction: interrupted\n"


def test_templates_of_a_family_and_band(induction):
    ran = induction("templates", "--family", "B", "--band", "extreme")
    assert ran.code == 0
    ids = [line for line in ran.out.splitlines() if line and line[0] != " " and ":" in line]
    expected = [t.template_id for t in all_templates() if t.family == "B" and "FullObs extreme" in t.bands]
    assert ids == expected
    assert f"{len(expected)} templates" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.parametrize("band", ["FullObs hard", "fullobs HARD"])
def test_names_are_taken_in_any_case_and_by_commas(induction, band):
    ran = induction("templates", "--family", "a,B", "--band", band)
    assert ran.code == 0
    assert "\n  family A;" in ran.out
    assert "\n  family B;" in ran.out
    assert induction("templates", "--band", "extreme_logic").out == induction("templates", "--band", "extreme").out
    assert induction("templates", "--band", "EC").code == 0


def test_all_worlds_of_a_relation_are_written(induction, tmp_path):
    file = tmp_path / "three.yaml"
    assert induction("equivalent", LIFT, TURNED, "--relation", "-o", str(file)).code == 1
    (instance,) = read_instances(file)
    assert [world.name for world in instance.worlds] == ["F_not_G", "G_not_F", "F_and_G"]
    assert induction("check", "(exists y (and (S x y) (Q y)))", str(file)).code == 1
    picture = tmp_path / "three.svg"
    assert induction("equivalent", LIFT, TURNED, "--relation", "-o", str(picture)).code == 1
    assert "F_not_G, x = " in picture.read_text()


def test_templates_as_json(induction):
    answer = json.loads(induction("templates", "--json").out)
    assert [entry["id"] for entry in answer["templates"]] == [t.template_id for t in all_templates()]
    slice_only = json.loads(induction("templates", "--family", "nested_containment_qd3", "--json").out)
    assert {entry["challengeSlice"] for entry in slice_only["templates"]} == {"nested_containment_qd3"}


def test_the_template_of_a_formula(induction):
    ran = induction("templates", "--like", LIFT.replace("P", "Q"))
    assert ran.code == 0
    assert "guarded-lift:P,Ryz,Rxz" in ran.out
    assert "B|guard=Q|outer=Ryz|inner=none|lift=R_xz|neg=none|RS=0" in ran.out
    ran = induction("templates", "--like", "(P x)")
    assert (ran.code, ran.out) == (1, "equivalent to an instance of no template\n")
    absorbed = "(exists y (and (P y) (forall z (or (not (R y z)) (and (R y z) (R x z))))))"
    ran = induction("templates", "--like", absorbed)
    assert ran.code == 0
    assert ran.out.startswith("written otherwise, but equivalent to:\n\nguarded-lift:P,Ryz,Rxz")
    assert json.loads(induction("templates", "--like", "(P x)", "--json").out)["template"] is None


def test_mutate(induction):
    ran = induction("mutate", LIFT)
    assert ran.code == 0
    assert "quantifier-collapsed: (forall z (or (not (R y z)) (R x z)))" in ran.out
    assert max(map(len, ran.out.splitlines())) <= 80
    some = induction("mutate", LIFT, "--kinds", "guard-dropped,guard-negated")
    assert {line.split(":")[0] for line in some.out.splitlines() if line[0] == "g"} == {
        "guard-dropped",
        "guard-negated",
    }
    answer = json.loads(
        induction("mutate", LIFT, "--kinds", "guard-dropped,direction-swapped", "--edits", "2", "--json").out
    )
    assert {len(miss["edits"]) for miss in answer["nearMisses"]} == {1, 2}
    assert "connective-weakened" in induction("mutate", "--list-kinds").out
