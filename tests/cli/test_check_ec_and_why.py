"""`induction check` on partly observed worlds, traces, and rows with models' answers."""

import json

import pytest

from induction.evaluation import reference
from induction.formula import parse_formula
from induction.worlds import read_instances

GOLD = "(and (P x) (exists y (and (R x y) (Q y))))"
WRONG = "(exists y (and (R x y) (Q y)))"


def test_completions_are_shown(induction, examples):
    ran = induction("check", GOLD, str(examples), "--id", "example_ec")
    assert ran.code == 0
    assert "VALID" in ran.out
    assert "train_1  R(a3,a4)" in ran.out
    wrong = induction("check", WRONG, str(examples), "--id", "example_ec")
    assert wrong.code == 1
    assert "no completion in 3 of 3 worlds (3: labels out of reach)" in wrong.out


def test_completion_json_is_a_completion(induction, examples):
    (result,) = json.loads(induction("check", GOLD, str(examples), "--id", "example_ec", "--json").out)["results"]
    instance = read_instances(examples, ["example_ec"])[0]
    for world, report in zip(instance.worlds, result["worlds"], strict=True):
        tables = {name: table.copy() for name, table in world.true.items()}
        for name, atoms in report["completion"]["trueAtoms"].items():
            for atom in atoms:
                place = tuple(world.domain.index(part.strip()) for part in atom.strip("()").split(","))
                assert world.unknown[name][place]
                tables[name][place] = True
        completed = world.completed(tables)
        assert (reference.extension(instance.gold, completed) == world.target).all()
        assert report["completion"]["found"] is True
        assert report["completion"]["failure"] is None
    assert result["confirmedByReference"] is True
    (wrong,) = json.loads(induction("check", WRONG, str(examples), "--id", "example_ec", "--json").out)["results"]
    assert {world["completion"]["failure"] for world in wrong["worlds"]} == {"local_impossible"}
    assert wrong["worlds"][0]["completion"]["negativesUnachievable"] == ["a0"]


def test_every_instance_of_every_regime(induction, examples):
    ran = induction("check", GOLD, str(examples), "--json")
    results = json.loads(ran.out)["results"]
    assert [(r["instanceId"], r["valid"]) for r in results] == [
        ("example_fullobs", False),
        ("example_ci", False),
        ("example_ec", True),
    ]


def test_work_that_runs_out_is_exit_3(induction, tmp_path, monkeypatch, examples):
    from induction.grounding import completion
    from induction.grounding.z3_backend import DemandSolver

    class Tired(DemandSolver):
        def __init__(self, circuit, demands, resource_limit):
            super().__init__(circuit, demands, 1)

    monkeypatch.setattr(completion, "DemandSolver", Tired)
    formula = "(iff (not (R x x)) (S x x))"
    alone = induction("check", formula, str(examples), "--id", "example_ec")
    assert alone.code == 3
    assert "Z3 gave up" in alone.err
    path = tmp_path / "f.txt"
    path.write_text(formula + "\n" + GOLD + "\n")
    batch = induction("check", "--formulas", str(path), str(examples), "--id", "example_ec")
    assert batch.code == 3
    assert "undecided" in batch.out


def test_why(induction, examples):
    ran = induction("check", "(exists y (R x y))", str(examples), "--id", "example_fullobs", "--why")
    assert ran.code == 1
    assert "why, in train_0: a2 is not labelled T, but the formula holds of it" in ran.out
    assert "is a witness" in ran.out
    chosen = induction(
        "check",
        "(exists y (R x y))",
        str(examples),
        "--id",
        "example_fullobs",
        "--why",
        "--world",
        "train_1",
        "--object",
        "a0",
    )
    assert "why, in train_1: a0 is labelled T, and the formula holds of it" in chosen.out
    assert all(len(line) <= 80 for line in ran.out.splitlines())


def test_why_json_claims_hold(induction, examples):
    """Each step of the machine-readable trace, read back as a formula, has the value it claims."""
    formula = "(forall y (or (not (R x y)) (exists z (and (S y z) (P z)))))"
    world_name = "yes_0"
    instance = read_instances(examples, ["example_ci"])[0]
    world = next(world for world in instance.worlds if world.name == world_name)
    for name in world.domain:
        ran = induction(
            "check",
            formula,
            str(examples),
            "--id",
            "example_ci",
            "--why",
            "--world",
            world_name,
            "--object",
            name,
            "--json",
        )
        why = json.loads(ran.out)["why"]
        assert why["object"] == name
        assert why["holds"] == reference.holds(parse_formula(formula), world, world.domain.index(name))
        assert why["steps"]
        for step in why["steps"]:
            assignment = {v: world.domain.index(e) for v, e in step["assignment"].items()}
            claim = parse_formula(step["formula"], free=None)
            assert reference.holds_under(claim, world, assignment) == step["holds"]
            for group in step["groups"]:
                for element in group["objects"]:
                    inner = {**assignment, claim.variable: world.domain.index(element)}
                    part = parse_formula(group["part"], free=None)
                    assert reference.holds_under(part, world, inner) == group["holds"]


def test_why_in_partly_observed_worlds(induction, examples):
    good = induction("check", GOLD, str(examples), "--id", "example_ec", "--why", "--object", "a1")
    assert "in the completion found" in good.out
    bad = induction("check", WRONG, str(examples), "--id", "example_ec", "--why")
    assert "with every unknown atom false" in " ".join(bad.out.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--why"], "choose it with --id"),
        (["--world", "train_0", "--id", "example_ci"], "--world and --object go with --why"),
        (["--why", "--id", "example_ci", "--world", "nowhere"], "no world 'nowhere' to check; it has yes_0"),
        (["--why", "--id", "example_ci", "--object", "zz"], "no object 'zz'; it has a0"),
    ],
)
def test_why_misuse(induction, examples, arguments, words):
    ran = induction("check", WRONG, str(examples), *arguments)
    assert ran.code == 2
    assert words in ran.err


def test_answers_in_rows(induction, examples, tmp_path):
    right = "(exists y (and (R x y) (P y)))"
    rows = [
        {"instanceId": "example_fullobs", "rawResponse": f'Thinking...\n{{"formula": "{right}", "description": "d"}}'},
        {"instanceId": "example_fullobs", "response": f"So it is {right[:-1]}", "rawResponse": "ignored"},
        {"instanceId": "example_fullobs", "extractedFormula": None, "response": None, "rawResponse": "I give up."},
        {"instanceId": "example_fullobs", "extractedFormula": right, "rawResponse": "(P x)"},
        {"instanceId": "example_fullobs", "formula": "(exists y (P y))"},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = induction("check", "--formulas", str(path), str(examples), "--json")
    results = json.loads(ran.out)["results"]
    assert [(r["valid"], r["answer"]["status"], r["answer"]["strict"]) for r in results] == [
        (True, "formula", False),  # words stand before the JSON
        (True, "formula", False),
        (False, "no formula", False),
        (True, "formula", True),
        (False, "not a definition", False),
    ]
    assert results[1]["answer"]["repairs"] == ["append_missing_close_paren:1"]
    summary = induction("check", "--formulas", str(path), str(examples))
    assert "3 of 5 valid (1 of them repaired)" in summary.out


def test_rows_for_other_instances_say_so(induction, examples, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"instanceId": "example_ci", "formula": "(P x)"}\n')
    ran = induction("check", "--formulas", str(path), str(examples), "--id", "example_fullobs")
    assert ran.code == 2
    assert "no row is for an instance asked for" in ran.err
    path.write_text('{"instanceId": "nowhere", "formula": "(P x)"}\n')
    ran = induction("check", "--formulas", str(path), str(examples), "--id", "example_fullobs")
    assert ran.code == 2
    assert "1 row passed over, for instances not in the file (first line 1: 'nowhere')" in ran.err
