"""Near misses: each as its edit says, none equivalent to another or to the formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import definitions

from induction.errors import FormulaTooLargeError, UnknownNameError
from induction.evaluation import bitset
from induction.families.mutations import KINDS, near_misses
from induction.families.templates import all_templates
from induction.formula import parse_formula
from induction.formula.canonical import canonical_key
from induction.formula.metrics import free_variables
from induction.formula.sampling import sample_formula
from induction.formula.syntax import DEFAULT_SIGNATURE, And, Atom, Formula, Not, Signature, to_sexpr
from induction.grounding.equivalence import Comparer, Sameness
from induction.worlds.sampling import sample_world

LIFT = parse_formula("(exists y (and (P y) (forall z (or (not (R y z)) (S x z)))))")
RESPONSE = parse_formula("(forall y (or (not (R x y)) (exists z (and (S y z) (R z x)))))")
CHAIN = parse_formula("(forall y (or (not (R x y)) (exists z (and (R y z) (or (P z) (Q z))))))")
COMPARER = Comparer(DEFAULT_SIGNATURE)
RNG = np.random.default_rng(3)
WORLDS = [sample_world(RNG, 2 + i % 5, density=(0.2, 0.4, 0.7)[i % 3]) for i in range(300)]


@pytest.mark.parametrize(
    ("formula", "kind", "expected"),
    [
        (LIFT, "quantifier-collapsed", ["(exists y (and (P y) (exists z (and (R y z) (S x z)))))"]),
        (LIFT, "quantifier-strengthened", ["(forall y (or (not (P y)) (forall z (or (not (R y z)) (S x z)))))"]),
        (LIFT, "lift-replaced", ["(and (P x) (forall z (or (not (R x z)) (S x z))))"]),
        (
            LIFT,
            "guard-dropped",
            ["(exists y (forall z (or (not (R y z)) (S x z))))", "(exists y (and (P y) (forall z (S x z))))"],
        ),
        (
            LIFT,
            "guard-negated",
            [
                "(exists y (and (not (P y)) (forall z (or (not (R y z)) (S x z)))))",
                "(exists y (and (P y) (forall z (or (R y z) (S x z)))))",
            ],
        ),
        (
            LIFT,
            "relation-swapped",
            [
                "(exists y (and (P y) (forall z (or (not (S y z)) (S x z)))))",
                "(exists y (and (P y) (forall z (or (not (R y z)) (R x z)))))",
                "(exists y (and (P y) (forall z (or (not (S y z)) (R x z)))))",
            ],
        ),
        (
            LIFT,
            "direction-swapped",
            [
                "(exists y (and (P y) (forall z (or (not (R z y)) (S x z)))))",
                "(exists y (and (P y) (forall z (or (not (R y z)) (S z x)))))",
            ],
        ),
        (LIFT, "literal-negated", ["(exists y (and (P y) (forall z (or (not (R y z)) (not (S x z))))))"]),
        (LIFT, "predicate-exchanged", ["(exists y (and (Q y) (forall z (or (not (R y z)) (S x z)))))"]),
        (LIFT, "connective-weakened", ["(exists y (or (P y) (forall z (or (not (R y z)) (S x z)))))"]),
        (LIFT, "connective-strengthened", ["(exists y (and (P y) (forall z (and (not (R y z)) (S x z)))))"]),
        (RESPONSE, "lift-dropped", ["(forall y (or (not (R x y)) (exists z (S y z))))"]),
        (
            RESPONSE,
            "quantifier-collapsed",
            ["(exists y (and (R x y) (exists z (and (S y z) (R z x)))))"],
        ),
        (
            RESPONSE,
            "lift-replaced",
            [
                "(or (not (R x x)) (exists z (and (S x z) (R z x))))",
                "(forall y (or (not (R x y)) (exists z (and (S y z) (R z y)))))",
                "(forall y (or (not (R x y)) (exists z (and (S y z) (R z z)))))",
            ],
        ),
        (
            CHAIN,
            "condition-dropped",
            [
                "(forall y (not (R x y)))",
                "(forall y (or (not (R x y)) (exists z (and (R y z) (P z)))))",
                "(forall y (or (not (R x y)) (exists z (and (R y z) (Q z)))))",
                "(forall y (or (not (R x y)) (exists z (R y z))))",
            ],
        ),
    ],
)
def test_all_results_of_a_kind(formula, kind, expected):
    found = near_misses(formula, COMPARER, kinds=[kind])
    assert {miss.edits[0].kind for miss in found} == {kind}
    assert {canonical_key(miss.formula) for miss in found} == {canonical_key(parse_formula(text)) for text in expected}


def test_additions():
    added = {
        canonical_key(miss.formula) for miss in near_misses(LIFT, COMPARER, kinds=["guard-added", "condition-added"])
    }
    for text in (
        "(exists y (and (Q y) (and (P y) (forall z (or (not (R y z)) (S x z))))))",
        "(exists y (and (not (Q y)) (and (P y) (forall z (or (not (R y z)) (S x z))))))",
        "(exists y (and (R x y) (and (P y) (forall z (or (not (R y z)) (S x z))))))",
        "(exists y (and (S y x) (and (P y) (forall z (or (not (R y z)) (S x z))))))",
        "(and (Q x) (exists y (and (P y) (forall z (or (not (R y z)) (S x z))))))",
        "(exists y (and (P y) (forall z (or (not (R y z)) (and (S x z) (P z))))))",
        "(exists y (and (P y) (forall z (or (not (and (R y z) (Q z))) (S x z)))))",
    ):
        assert canonical_key(parse_formula(text)) in added, text


def test_every_kind_occurs_among_the_templates():
    found = {
        miss.edits[0].kind for template in all_templates()[::15] for miss in near_misses(template.formula, COMPARER)
    }
    assert found == set(KINDS)


def check_all_apart(formula: Formula, misses: list, comparer: Comparer = COMPARER) -> None:
    formulas = [formula, *(miss.formula for miss in misses)]
    seen: dict[bytes, list[Formula]] = {}
    for one, tables in zip(formulas, bitset.extensions(formulas, WORLDS), strict=True):
        group = seen.setdefault(np.concatenate(tables).tobytes(), [])
        for other in group:  # these worlds do not tell the two apart: another must
            assert comparer.compare(one, other).sameness is Sameness.DIFFERENT, (str(one), str(other))
        group.append(one)


@settings(max_examples=40, deadline=None)
@given(definitions(DEFAULT_SIGNATURE, max_ast=18, max_depth=3))
def test_near_misses_of_any_formula_are_all_apart(formula):
    misses = near_misses(formula, COMPARER)
    check_all_apart(formula, misses)
    for miss in misses:
        assert free_variables(miss.formula) == {"x"}
        assert len(miss.edits) == 1
        assert miss.edits[0].kind not in miss.also


def test_weakening_and_strengthening_go_one_way():
    rng = np.random.default_rng(1)
    checked = 0
    for _ in range(25):
        formula = sample_formula(rng, 14, max_depth=2)
        for miss in near_misses(formula, COMPARER, kinds=["connective-weakened", "connective-strengthened"]):
            weaker, stronger = (
                (miss.formula, formula) if miss.edits[0].kind == "connective-weakened" else (formula, miss.formula)
            )
            assert COMPARER.find_first_only(stronger, weaker).witness is None
            checked += 1
    assert checked > 25


def test_two_edits_are_compositions_and_come_after_one():
    one = near_misses(LIFT, COMPARER, kinds=["guard-dropped", "direction-swapped"])
    two = near_misses(LIFT, COMPARER, kinds=["guard-dropped", "direction-swapped"], edits=2)
    assert two[: len(one)] == one
    rest = two[len(one) :]
    assert rest
    assert all(len(miss.edits) == 2 for miss in rest)
    keys = {canonical_key(miss.formula) for miss in rest}
    assert canonical_key(parse_formula("(exists y (forall z (or (not (R z y)) (S x z))))")) in keys
    assert canonical_key(parse_formula("(exists y (and (P y) (forall z (or (not (R z y)) (S z x)))))")) in keys
    check_all_apart(LIFT, two)


def test_what_several_edits_lead_to_is_told_once():
    """Turning round one edge of a pair of opposite ones is dropping it."""
    formula = parse_formula("(exists y (and (R x y) (R y x)))")
    misses = near_misses(formula, COMPARER)
    told = [(miss, other) for miss in misses for other in miss.also]
    assert told
    for miss, other in told:  # the other kind alone leads to the same
        alone = near_misses(formula, COMPARER, kinds=[other])
        assert any(COMPARER.compare(one.formula, miss.formula).sameness is Sameness.EQUIVALENT for one in alone)
    check_all_apart(formula, misses)


def test_the_same_every_time():
    first = near_misses(CHAIN, Comparer(DEFAULT_SIGNATURE), edits=1)
    assert first == near_misses(CHAIN, Comparer(DEFAULT_SIGNATURE), edits=1)


def test_other_signatures():
    signature = Signature({"Person": 1, "knows": 2})
    formula = parse_formula("(exists y (and (knows x y) (Person y)))", signature)
    misses = near_misses(formula, Comparer(signature))
    texts = {to_sexpr(miss.formula) for miss in misses}
    assert "(forall y (or (not (knows x y)) (Person y)))" in texts
    assert "(exists y (and (knows y x) (Person y)))" in texts
    assert not any(miss.edits[0].kind == "relation-swapped" for miss in misses)


def test_bound_variables_named_like_x_are_told_from_it():
    formula = parse_formula("(and (P x) (exists x (and (Q x) (forall x (R x x)))))")
    misses = near_misses(formula, COMPARER)
    assert len(misses) > 10
    check_all_apart(formula, misses)


def test_limits():
    with pytest.raises(UnknownNameError, match="no kind of edit named 'nonsense'"):
        near_misses(LIFT, COMPARER, kinds=["nonsense"])
    large: Formula = Atom("P", ("x",))
    for _ in range(100):
        large = And(large, Not(Atom("Q", ("x",))))
    with pytest.raises(FormulaTooLargeError, match="up to 200 AST nodes"):
        near_misses(large, COMPARER)
