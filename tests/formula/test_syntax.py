"""Nodes as values, signatures, and formulas nested beyond any recursion limit."""

import copy
import pickle
import sys

import pytest
from hypothesis import given
from strategies import SIGNATURES, open_formulas

from induction.errors import FormulaTooLargeError
from induction.evaluation import bitset, reference
from induction.formula import measure, normal_forms, parse_formula, printing, to_sexpr
from induction.formula.syntax import (
    MAX_COUNTED_NODES,
    And,
    Atom,
    Equal,
    Exists,
    Formula,
    Iff,
    Not,
    Signature,
    run_walk,
    subformulas,
)
from induction.worlds.world import World

DEEP = 20_000


@given(open_formulas(SIGNATURES[0]))
def test_nodes_are_values(formula):
    again = parse_formula(to_sexpr(formula), SIGNATURES[0], free=None)
    assert again == formula
    assert hash(again) == hash(formula)
    assert pickle.loads(pickle.dumps(formula)) == formula
    assert copy.deepcopy(formula) is formula
    assert {formula: 1}[again] == 1
    assert Not(formula) != formula
    assert str(formula) == to_sexpr(formula)


def test_equality_tells_every_part():
    different = [
        Atom("P", ("x",)),
        Atom("Q", ("x",)),
        Atom("P", ("y",)),
        Atom("R", ("x", "y")),
        Atom("R", ("y", "x")),
        Equal("x", "y"),
        Equal("y", "x"),
        Exists("y", Atom("P", ("x",))),
        Exists("z", Atom("P", ("x",))),
        And(Atom("P", ("x",)), Atom("Q", ("x",))),
        And(Atom("Q", ("x",)), Atom("P", ("x",))),
        Iff(Atom("P", ("x",)), Atom("Q", ("x",))),
    ]
    for i, one in enumerate(different):
        for j, other in enumerate(different):
            assert (one == other) == (i == j)
    assert Atom("P", ("x",)) != "(P x)"


def test_nodes_are_immutable_and_checked():
    atom = Atom("P", ("x",))
    with pytest.raises(AttributeError):
        atom.predicate = "Q"
    with pytest.raises(AttributeError):
        del atom.predicate
    with pytest.raises(TypeError):
        Not("(P x)")
    with pytest.raises(TypeError):
        Atom("P", "x")


def test_shared_subformulas_cost_once():
    """2^200 nodes as a tree, 200 as objects: comparing, hashing and measuring must not walk the tree."""
    one: Formula = Atom("P", ("x",))
    other: Formula = Atom("P", ("x",))
    for _ in range(200):
        one, other = And(one, one), And(other, other)
    assert one == other
    assert one.ast_nodes == MAX_COUNTED_NODES
    assert len(list(subformulas(one))) == 201
    assert pickle.loads(pickle.dumps(one)) == one
    assert len(repr(one)) < 300
    for walk in (to_sexpr, printing.to_pretty, printing.to_unicode, normal_forms.to_prenex, measure):
        with pytest.raises(FormulaTooLargeError, match="limit is 1,000,000"):
            walk(one)


def test_nested_iff_has_a_small_nnf_but_no_text():
    formula: Formula = Atom("P", ("x",))
    for _ in range(60):
        formula = Iff(formula, Atom("Q", ("x",)))
    nnf = normal_forms.to_nnf(formula)
    assert nnf.ast_nodes == MAX_COUNTED_NODES
    with pytest.raises(FormulaTooLargeError, match=r"10\^18 or more"):
        to_sexpr(nnf)


def test_deeply_nested_iff_is_quick_to_refuse():
    """The normal form's size doubles at each of 20,000 levels; nothing may count that far."""
    formula = parse_formula("(iff (P x) " * DEEP + "(Q x)" + ")" * DEEP)
    assert normal_forms.to_nnf(formula).ast_nodes == MAX_COUNTED_NODES
    with pytest.raises(FormulaTooLargeError):
        normal_forms.to_prenex(formula)


DEEP_TEXTS = {
    "not": "(not " * DEEP + "(P x)" + ")" * DEEP,
    "right": "(and (P x) " * DEEP + "(P x)" + ")" * DEEP,
    "left": "(or " * DEEP + "(P x)" + " (Q x))" * DEEP,
    "wide": "(or " + "(P x) " * DEEP + "(Q x))",
    "quantifiers": "(exists y " * DEEP + "(and (R x y) (P y))" + ")" * DEEP,
    "distinct": "".join(f"(forall y{i} " for i in range(DEEP)) + "(R x y7)" + ")" * DEEP,
    "implies": "(implies (P x) " * DEEP + "(Q x)" + ")" * DEEP,
    "alternating": "(forall y (exists x " * (DEEP // 2) + "(R x y)" + "))" * (DEEP // 2),
}


@pytest.mark.parametrize("shape", DEEP_TEXTS)
def test_twenty_thousand_deep(shape):
    assert sys.getrecursionlimit() < DEEP
    text = DEEP_TEXTS[shape]
    formula = parse_formula(text, free=None)
    assert formula == parse_formula(text, free=None)
    assert hash(formula) == hash(parse_formula(text, free=None))
    assert parse_formula(to_sexpr(formula), free=None) == formula
    if len(printing.to_pretty(formula)) < 1_000_000:
        assert parse_formula(printing.to_pretty(formula), free=None) == formula
    assert printing.to_unicode(formula)
    assert len(repr(formula)) < 300
    assert measure(formula).ast_nodes == formula.ast_nodes > DEEP
    assert pickle.loads(pickle.dumps(formula)) == formula
    nnf = normal_forms.to_nnf(formula)
    assert normal_forms.to_alpha_canonical(formula) is not None
    assert normal_forms.to_prenex(formula) is not None
    world = World(
        "w", ("a", "b"), SIGNATURES[0], {"P": [True, False], "R": [[True, True], [False, True]]}, [True, True]
    )
    (((extension,), (of_nnf,))) = bitset.extensions([formula, nnf], [world])
    assert (extension == of_nnf).all()
    if shape not in ("quantifiers", "distinct", "alternating"):  # 2^20,000 steps for the naive evaluator
        assert (reference.extension(formula, world) == extension).all()


def test_reference_takes_deep_quantifiers_in_a_one_object_world():
    world = World("w", ("a",), SIGNATURES[0], {"R": [[True]], "P": [True]}, [True])
    for shape in ("quantifiers", "distinct"):
        assert reference.extension(parse_formula(DEEP_TEXTS[shape]), world).tolist() == [True]


def test_run_walk_returns_what_recursion_would():
    def triangle(n):
        return 0 if n == 0 else n + (yield triangle(n - 1))

    assert run_walk(triangle(50_000)) == 50_000 * 50_001 // 2


def test_signature_is_a_value():
    signature = Signature({"P": 1, "R": 2, "likes": 2})
    assert signature == Signature([("likes", 2), ("R", 2), ("P", 1)])
    assert hash(signature) == hash(Signature([("likes", 2), ("R", 2), ("P", 1)]))
    assert signature.unary == ("P",)
    assert signature.binary == ("R", "likes")
    assert str(signature) == "P/1 R/2 likes/2"
    assert "P" in signature
    assert "T" not in signature
    assert signature != Signature({"P": 2, "R": 2, "likes": 2})


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([("T", 1)], "target"),
        ([("and", 1)], "keyword"),
        ([("P", 3)], "arity 3"),
        ([("P", 0)], "arity 0"),
        ([("P", True)], "arity True"),
        ([("P", "2")], "arity 2"),
        ([("P", 1), ("P", 2)], "declared twice"),
        ([("a b", 1)], "not a predicate name"),
        ([("", 1)], "not a predicate name"),
        ([(None, 1)], "not a predicate name"),
        ([("1P", 1)], "not a predicate name"),
    ],
)
def test_signature_refuses(pairs, words):
    with pytest.raises(ValueError, match=words):
        Signature(pairs)
