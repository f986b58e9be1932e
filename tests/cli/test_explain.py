"""`induction explain` as typed: sentences, reasons, what is assumed, and misuse."""

import json

import pytest

from induction.evaluation import reference
from induction.formula import parse_formula
from induction.formula.normal_forms import to_alpha_canonical
from induction.rewriting.reading import read_english
from induction.worlds import read_instances

FORMULA = "(exists y (and (R x y) (forall z (or (not (S y z)) (P z)))))"
SENTENCE = "x has an R-successor all of whose S-successors are P"


def test_sentence(induction):
    ran = induction("explain", FORMULA)
    assert (ran.code, ran.out, ran.err) == (0, SENTENCE + "\n", "")
    piped = induction("explain", "-", stdin=FORMULA)
    assert piped.out == ran.out


def test_sentence_json_reads_back(induction):
    report = json.loads(induction("explain", "(or (P x) (iff (Q x) (exists y (R x y))))", "--json").out)
    formula = parse_formula(report["formula"])
    for text in (report["sentence"], "\n".join(report["layout"])):
        assert to_alpha_canonical(read_english(text)) == to_alpha_canonical(formula)
    assert report["definesTarget"] is True
    assert "why" not in report


def test_other_signatures_and_no_definitions(induction):
    ran = induction("explain", "(exists y (and (likes z y) (Person y)))", "--signature", "likes/2 Person/1")
    assert ran.code == 0
    assert ran.out == "z has a likes-successor that is Person\n"
    assert ran.err == "induction: free variables: z; a definition of T leaves exactly x free\n"


def test_long_formulas_fit_the_screen(induction):
    text = "(P x)"
    for letter in "PQ" * 30:
        text = f"(or (and {text} (exists y (and (R x y) ({letter} y)))) (not ({letter} x)))"
    ran = induction("explain", text)
    assert ran.code == 0
    assert max(map(len, ran.out.splitlines())) <= 80
    deep = induction("explain", "(not " * 20_000 + "(P x)" + ")" * 20_000)
    assert deep.code == 0
    assert max(map(len, deep.out.splitlines())) <= 80


@pytest.mark.parametrize("identifier", ["example_fullobs", "example_ci", "example_ec"])
def test_reasons_in_every_regime(induction, examples, identifier):
    ran = induction("explain", FORMULA, str(examples), "--id", identifier)
    assert ran.code == 0
    assert SENTENCE in " ".join(ran.out.split())
    assert "\nwhy, in " in ran.out
    assert ("assumed" in ran.out) == (identifier == "example_ec")
    assert max(map(len, ran.out.splitlines())) <= 80
    why = induction("check", FORMULA, str(examples), "--id", identifier, "--why")
    assert why.out.endswith(ran.out[ran.out.index("\nwhy, in ") :])


@pytest.mark.parametrize("identifier", ["example_fullobs", "example_ec"])
def test_json_claims_hold(induction, examples, identifier):
    instance = read_instances(examples, [identifier])[0]
    world = next(world for world in instance.worlds if world.name == "train_1")
    for name in world.domain:
        arguments = ("--id", identifier, "--world", "train_1", "--object", name, "--json")
        why = json.loads(induction("explain", FORMULA, str(examples), *arguments).out)["why"]
        tables = {predicate: table.copy() for predicate, table in world.true.items()}
        for predicate, atoms in why["madeTrue"].items():
            for atom in atoms:
                place = tuple(world.domain.index(part.strip()) for part in atom.strip("()").split(","))
                assert world.unknown[predicate][place]
                tables[predicate][place] = True
        completed = world.completed(tables)
        assert why["headline"].startswith(f"{name} is ")
        assert why["holds"] == reference.holds(parse_formula(FORMULA), completed, world.domain.index(name))
        assert why["steps"]
        for step in why["steps"]:
            assert step["text"]
            assignment = {v: world.domain.index(e) for v, e in step["assignment"].items()}
            claim = parse_formula(step["formula"], free=None)
            assert reference.holds_under(claim, completed, assignment) == step["holds"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["(Q"], "line 1, column 3"),
        (["(P x)", "--world", "train_0"], "--world goes with an instance file"),
        (["(P x)", "--object", "a0"], "--object goes with an instance file"),
        (["(P x)", "--id", "a"], "--id goes with an instance file"),
        (["(P x)", "EXAMPLES"], "explain takes one instance of 3; choose it with --id"),
        (["(P x)", "EXAMPLES", "--id", "zz"], "zz"),
        (["(P x)", "nowhere.yaml"], "nowhere.yaml"),
        (["(P x)", "EXAMPLES", "--id", "example_ci", "--world", "w"], "no world 'w' to check; it has yes_0"),
        (["(P x)", "EXAMPLES", "--id", "example_ci", "--object", "zz"], "no object 'zz'; it has a0"),
        (["(P x)", "EXAMPLES", "--id", "example_ci", "--signature", "P/1"], "--signature goes without FILE"),
        (["(R x z)", "EXAMPLES", "--id", "example_ci"], "variable z is free"),
        (["-", "-"], "only one input can be standard input"),
    ],
)
def test_misuse(induction, examples, arguments, words):
    ran = induction("explain", *(str(examples) if argument == "EXAMPLES" else argument for argument in arguments))
    assert ran.code == 2
    assert words in ran.err
    assert ran.err.count("\n") == 1
    assert ran.out == ""
