"""The command line of `induction simplify`."""

import json

import pytest
from conftest import EXAMPLES
from test_equivalence import NO_FINITE_MODEL

ABSORBED = "(or (P x) (and (P x) (exists y (R x y))))"


def test_simplifies_and_names_the_steps(induction):
    ran = induction("simplify", ABSORBED)
    assert ran.code == 0
    assert "(P x)" in ran.out
    assert "AST 11 -> 2 (-9)" in ran.out
    assert "operand absorbed" in ran.out
    assert ran.err == ""


def test_json_tells_everything(induction):
    ran = induction("simplify", "-", "--json", "--smallest", stdin=ABSORBED)
    told = json.loads(ran.out)
    assert ran.code == 0
    assert (told["astBefore"], told["astAfter"], told["formula"]) == (11, 2, "(P x)")
    assert told["noneBelow"] == 2
    assert told["provenSmallest"] is True
    assert told["outcome"] == "solved"
    assert [step["astBefore"] for step in told["steps"]] == [11]
    assert told["steps"][0]["decidedBy"]


def test_already_smallest_says_so(induction):
    ran = induction("simplify", "(exists y (R x y))", "--smallest")
    assert ran.code == 0
    assert "already, proven: no formula of the fragment is smaller" in ran.out


def test_the_same_bytes_twice(induction):
    line = ("simplify", "(forall y (or (not (R x y)) (and (P x) (not (and (P x) (not (R y x)))))))", "--json")
    assert induction(*line).out == induction(*line).out


@pytest.mark.parametrize("instance_id", ["example_fullobs", "example_ci", "example_ec"])
def test_on_an_instance(induction, instance_id):
    formula = "(and (exists y (R x y)) (exists y (or (R x y) (P y))))"
    ran = induction("simplify", formula, "--on", str(EXAMPLES), "--id", instance_id, "--json", "--smallest")
    told = json.loads(ran.out)
    assert ran.code == 0
    assert told["formula"] == "(exists y (R x y))"
    assert instance_id in told["promise"]
    if instance_id == "example_ec":
        assert "every completion" in told["promise"]
    before, after = (
        json.loads(induction("check", text, str(EXAMPLES), "--id", instance_id, "--json").out)
        for text in (formula, told["formula"])
    )
    assert before["results"][0]["valid"] == after["results"][0]["valid"]


def test_a_budget_that_runs_out_gives_the_bound(induction):
    formula = "(forall y (or (not (R x y)) (exists z (and (R y z) (not (P z))))))"
    ran = induction("simplify", formula, "--smallest", "--memory", "1MB", "--json")
    told = json.loads(ran.out)
    assert ran.code == 3
    assert told["outcome"] == "out-of-memory"
    assert told["formula"] == formula
    assert told["noneBelow"] >= 2
    ran = induction("simplify", formula, "--smallest", "--memory", "1MB")
    assert ran.code == 3
    assert "the memory allowed is used up" in " ".join(ran.out.split())


def test_no_proof_is_said(induction):
    ran = induction("simplify", NO_FINITE_MODEL, "--smallest")
    assert ran.code == 3
    assert "agrees in all worlds of up to" in " ".join(ran.out.split())


def test_the_fragment_is_heeded(induction):
    line = ("simplify", "(or (P x) (or (Q x) (not (P x))))", "--no-equality", "--smallest")
    told = json.loads(induction(*line, "--json").out)
    assert told["formula"] == "(or (P x) (not (P x)))"
    assert told["noneBelow"] == 6
    deep = "(exists y (and (R x y) (exists z (R y z))))"
    told = json.loads(induction("simplify", deep, "--depth", "1", "--variables", "2", "--smallest", "--json").out)
    assert told["smallestOfFragment"] is None
    assert "2 variables" in told["fragment"]
    assert "depth 1" in told["fragment"]


def test_another_signature(induction):
    ran = induction("simplify", "(and (Tall x) (Tall x))", "--signature", "Tall/1")
    assert ran.code == 0
    assert "(Tall x)" in ran.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["(P x"], "formula, line 1, column"),
        (["(and (P x) (R x y))"], "variable y is free; only x may be"),
        (["(V x)"], "unknown predicate"),
        (["(P x)", "--id", "a"], "--id goes with --on FILE"),
        (["(P x)", "--on", str(EXAMPLES)], "choose one with --id"),
        (["(P x)", "--on", str(EXAMPLES), "--id", "nobody"], "nobody"),
        (["(P x)", "--on", "no/such.yaml"], "no/such.yaml"),
        (["(exists y (P y))", "--on", str(EXAMPLES), "--id", "example_ci"], "does not occur free"),
        (["(P x)", "--on", str(EXAMPLES), "--id", "example_ci", "--signature", "P/1"], "--signature does not go"),
        (["-", "--on", "-"], "only one input can be standard input"),
        (["(P x)", "--budget", "soon"], "--budget: 'soon' is no amount"),
        (["(P x)", "--variables", "4"], "--variables"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(induction, arguments, said):
    ran = induction("simplify", *arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.count("\n") == 1
    assert said in ran.err


def test_too_large_a_formula(induction):
    text = "(P x)"
    for _ in range(10):
        text = f"(and {text} (or {text} (Q x)))"
    ran = induction("simplify", text)
    assert ran.code == 2
    assert "are simplified" in ran.err
