"""`induction repair` as typed."""

import json

import pytest

from induction.formula import parse_formula
from induction.grounding.check import check
from induction.worlds import read_instances

NEAR = "(exists y (and (R x y) (Q y)))"
GOLD = "(exists y (and (R x y) (P y)))"
NOTHING_NEAR = "(forall y (iff (P y) (exists z (iff (S x z) (forall w (iff (R z w) (Q y)))))))"


def test_answers_are_told_by_their_edits(induction, examples):
    ran = induction("repair", NEAR, str(examples), "--id", "example_fullobs")
    assert (ran.code, ran.err) == (0, "")
    assert "distance 1, AST 8 (+0)" in ran.out
    assert GOLD in ran.out
    assert "predicate-exchanged (at 1.2): (Q y) -> (P y)" in ran.out


@pytest.mark.parametrize("name", ["example_fullobs", "example_ci", "example_ec"])
def test_json(induction, examples, name):
    (instance,) = read_instances(examples, [name])
    ran = induction("repair", "-", str(examples), "--id", name, "--json", "--answers", "3", stdin=NEAR)
    result = json.loads(ran.out)
    assert result["formula"] == NEAR
    assert ran.code == (0 if result["answers"] or result["outcome"] == "already-valid" else 1)
    assert len(result["answers"]) <= 3
    for answer in result["answers"]:
        formula = parse_formula(answer["formula"], instance.signature)
        assert check(formula, instance).valid
        assert answer["astSize"] == formula.ast_nodes
        assert answer["edits"]
        assert all(edit["before"] != edit["after"] for edit in answer["edits"])


def test_already_valid(induction, examples):
    ran = induction("repair", GOLD, str(examples), "--id", "example_fullobs")
    assert (ran.code, ran.out) == (0, "already valid (AST 8): nothing to repair\n")
    ran = induction("repair", GOLD, str(examples), "--id", "example_fullobs", "--json")
    assert json.loads(ran.out)["outcome"] == "already-valid"


def test_none_within(induction, examples):
    ran = induction("repair", NOTHING_NEAR, str(examples), "--id", "example_fullobs", "--edits", "1", "--fresh")
    assert ran.code == 1
    assert "no valid formula within 1 edit (" in ran.out
    assert "not a repair, for comparison: AST 8" in ran.out


def test_a_budget_that_runs_out(induction, examples):
    ran = induction("repair", NOTHING_NEAR, str(examples), "--id", "example_fullobs", "--budget", "0.000001s")
    assert ran.code == 3
    assert "the budget ran out" in ran.out
    assert "0 % of distance 1" in ran.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("(P x)", "{file}"), "has 3 instances (example_fullobs, example_ci, example_ec); choose one with --id"),
        (("(P x)", "{file}", "--id", "nobody"), "nobody"),
        (("(P x", "{file}", "--id", "example_ci"), "line 1, column 5"),
        (("(P y)", "{file}", "--id", "example_ci"), "free"),
        (("(P x)", "no_such_file.yaml", "--id", "example_ci"), "no_such_file.yaml"),
        (("(P x)", "{file}", "--id", "example_ci", "--edits", "3"), "--edits"),
        (("(P x)", "{file}", "--id", "example_ci", "--budget", "soon"), "--budget"),
        (("-", "-", "--id", "example_ci"), "standard input"),
        (
            (" ".join(["(and (P x)"] * 100) + " (P x)" + ")" * 100, "{file}", "--id", "example_ci"),
            "up to 200 AST nodes",
        ),
    ],
)
def test_bad_input_is_one_line(induction, examples, arguments, said):
    ran = induction("repair", *(argument.format(file=examples) for argument in arguments))
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.count("\n") == 1
    assert said in ran.err


def test_from_python(examples):
    import induction

    (instance,) = read_instances(examples, ["example_fullobs"])
    assert str(induction.repair(parse_formula(NEAR), instance).answers[0].formula) == GOLD
    with pytest.raises(AttributeError):
        _ = induction.no_such_function
