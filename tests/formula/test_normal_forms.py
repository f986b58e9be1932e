"""Normal forms: of the promised shape, and equivalent on all small worlds and on larger random ones."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import SIGNATURES, open_formulas

from induction.evaluation import bitset
from induction.formula import parse_formula, to_sexpr
from induction.formula.metrics import free_variables
from induction.formula.normal_forms import (
    flatten,
    to_alpha_canonical,
    to_miniscoped,
    to_nnf,
    to_prenex,
    to_renamed_apart,
)
from induction.formula.syntax import (
    And,
    Atom,
    Equal,
    Exists,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Quantified,
    Signature,
    subformulas,
)
from induction.worlds.sampling import sample_world
from induction.worlds.world import World

SMALL = Signature({"P": 1, "R": 2})
FORMS = {
    "nnf": to_nnf,
    "prenex": to_prenex,
    "alpha": to_alpha_canonical,
    "apart": to_renamed_apart,
    "miniscoped": to_miniscoped,
}


def all_worlds(signature: Signature, size: int) -> list[World]:
    """Every world of `size` objects over `signature`."""
    shapes = [(name, (size,) * arity) for name, arity in signature.items()]
    cells = sum(int(np.prod(shape)) for _, shape in shapes)
    result = []
    for bits in itertools.product((False, True), repeat=cells):
        rest = list(bits)
        tables = {}
        for name, shape in shapes:
            count = int(np.prod(shape))
            tables[name] = np.array(rest[:count]).reshape(shape)
            del rest[:count]
        result.append(World("w", tuple("ab"[:size]), signature, tables, np.zeros(size, dtype=bool)))
    return result


SMALL_WORLDS = all_worlds(SMALL, 1) + all_worlds(SMALL, 2)
LARGER_WORLDS = [sample_world(np.random.default_rng(i), 3 + i % 4, signature=SMALL) for i in range(8)]


def _closed_except_x(formula: Formula) -> Formula:
    for variable in sorted(free_variables(formula) - {"x"}):
        formula = Exists(variable, formula)
    return formula


@settings(max_examples=200)
@given(open_formulas(SMALL, ("x", "y", "z")).map(_closed_except_x))
def test_normal_forms_are_equivalent_to_their_source(formula):
    assert len(SMALL_WORLDS) == 4 + 64
    forms = [formula, *(form(formula) for form in FORMS.values())]
    source, *others = bitset.extensions(forms, [*SMALL_WORLDS, *LARGER_WORLDS])
    for name, other in zip(FORMS, others, strict=True):
        for world, expected, found in zip([*SMALL_WORLDS, *LARGER_WORLDS], source, other, strict=True):
            assert (expected == found).all(), (name, world)


@given(open_formulas(SIGNATURES[0]))
def test_shapes(formula):
    nnf = to_nnf(formula)
    for node in subformulas(nnf):
        assert not isinstance(node, Implies | Iff)
        assert not isinstance(node, Not) or isinstance(node.operand, Atom | Equal)
    assert to_nnf(nnf) == nnf

    prenex = to_prenex(formula)
    prefix = []
    while isinstance(prenex, Quantified):
        prefix.append(prenex.variable)
        prenex = prenex.body
    assert not any(isinstance(node, Quantified) for node in subformulas(prenex))
    assert len(set(prefix)) == len(prefix)
    assert not set(prefix) & free_variables(formula)

    miniscoped = to_miniscoped(formula)
    assert miniscoped.ast_nodes <= nnf.ast_nodes
    for node in subformulas(miniscoped):
        if isinstance(node, Quantified):
            parts = flatten(type(node.body), node.body) if isinstance(node.body, And | Or) else [node.body]
            assert all(node.variable in free_variables(part) for part in parts)

    apart = to_renamed_apart(formula)
    bound = [node.variable for node in subformulas(apart) if isinstance(node, Quantified)]
    assert len(set(bound)) == len(bound)
    assert not set(bound) & free_variables(formula)
    for form in FORMS.values():
        assert free_variables(form(formula)) <= free_variables(formula)
    assert apart.ast_nodes == to_alpha_canonical(formula).ast_nodes == formula.ast_nodes


@given(open_formulas(SIGNATURES[0]), st.randoms(use_true_random=False))
def test_alpha_canonical_identifies_exactly_the_alphabetic_variants(formula, random):
    canonical = to_alpha_canonical(formula)
    assert to_alpha_canonical(to_renamed_apart(formula)) == canonical
    assert to_alpha_canonical(canonical) == canonical
    nodes = [node for node in subformulas(formula) if isinstance(node, Atom) and len(node.arguments) == 2]
    if nodes:
        node = random.choice(nodes)
        swapped = Atom(node.predicate, node.arguments[::-1])
        text, other = to_sexpr(formula), to_sexpr(formula).replace(to_sexpr(node), to_sexpr(swapped))
        if text.count(to_sexpr(node)) == 1 and node.arguments[0] != node.arguments[1]:
            assert to_alpha_canonical(parse_formula(other, free=None)) != canonical


@pytest.mark.parametrize(
    ("text", "miniscoped"),
    [
        (
            "(exists y (exists z (and (and (R x y) (R y z)) (Q z))))",
            "(exists y (and (R x y) (exists z (and (R y z) (Q z)))))",
        ),
        ("(forall y (exists z (implies (R x y) (S y z))))", "(forall y (or (not (R x y)) (exists z (S y z))))"),
        (
            "(exists y (and (P y) (and (Q x) (or (R x x) (R x y)))))",
            "(and (exists y (and (P y) (or (R x x) (R x y)))) (Q x))",
        ),
        ("(exists y (forall z (P x)))", "(P x)"),
    ],
)
def test_miniscoped_examples(text, miniscoped):
    assert to_sexpr(to_miniscoped(parse_formula(text))) == miniscoped


@pytest.mark.parametrize(
    ("text", "prenex"),
    [
        # The fewest alternations: both existentials come before the universal.
        (
            "(and (exists y (forall z (R y z))) (exists y (R x y)))",
            "(exists y (exists w (forall z (and (R y z) (R x w)))))",
        ),
        (
            "(or (forall y (exists z (R y z))) (forall y (R x y)))",
            "(forall y (forall w (exists z (or (R y z) (R x w)))))",
        ),
        ("(not (exists y (R x y)))", "(forall y (not (R x y)))"),
        ("(implies (exists y (R x y)) (P x))", "(forall y (or (not (R x y)) (P x)))"),
        ("(exists x (and (P x) (forall x (Q x))))", "(exists y (forall z (and (P y) (Q z))))"),
    ],
)
def test_prenex_examples(text, prenex):
    assert to_sexpr(to_prenex(parse_formula(text, free=None))) == prenex


def test_alpha_names_avoid_predicates_and_free_variables():
    formula = parse_formula("(exists a (and (y a) (R a z)))", Signature({"y": 1, "R": 2}), free=None)
    assert to_sexpr(to_alpha_canonical(formula)) == "(exists w (and (y w) (R w z)))"


def test_names_avoid_other_predicates_of_the_signature():
    signature = Signature({"P": 1, "y": 1, "w": 2})
    formula = parse_formula("(exists v (and (P v) (exists u (and (P u) (P x)))))", signature)
    for form in (to_alpha_canonical, to_renamed_apart, to_prenex):
        assert parse_formula(to_sexpr(form(formula, signature)), signature).ast_nodes == formula.ast_nodes
