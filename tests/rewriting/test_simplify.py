"""Simplification: what each law does, that nothing is larger or means something else, on worlds as everywhere."""

import itertools

import numpy as np
import pytest
from conftest import EXAMPLES
from enlarging import enlarged
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import definitions, instances, open_formulas

from induction.budget import Outcome
from induction.errors import EvaluationLimitError, FormulaTooLargeError
from induction.evaluation import bitset, reference
from induction.families.templates import all_templates
from induction.formula import Signature, parse_formula
from induction.formula.metrics import free_variables
from induction.formula.normal_forms import to_renamed_apart
from induction.formula.syntax import (
    DEFAULT_SIGNATURE,
    And,
    Atom,
    Exists,
    ForAll,
    Iff,
    Implies,
    Not,
    subformulas,
    to_sexpr,
)
from induction.grounding.equivalence import Comparer
from induction.rewriting.promises import Everywhere
from induction.rewriting.replacing import Replacements
from induction.rewriting.rules import IFF_LAW, LAWS, omissions, replaced, tops
from induction.rewriting.simplify import simplify
from induction.rewriting.writing import to_shortest, to_working
from induction.worlds.formats import read_instances
from induction.worlds.instance import Regime

PQR = Signature({"P": 1, "Q": 1, "R": 2})
SMALL_WORLDS = [bitset.Batch.every_world(PQR, size) for size in (1, 2)]
COMPARER = Comparer(PQR, up_to=4, resource_limit=200_000)
REPLACEMENTS = Replacements(Everywhere(PQR, COMPARER))


def agree(first, second) -> bool:
    """Whether two formulas of x at most have the same extensions in all worlds of up to two objects."""
    return all(
        (one == other).all() for one, other in (bitset.extension_tables([first, second], b) for b in SMALL_WORLDS)
    )


CASES = {
    "double negation dropped": ("(not (not (P x)))", "(P x)"),
    "negations moved": ("(or (not (P x)) (not (Q x)))", "(not (and (P x) (Q x)))"),
    "constant folded": ("(and (P x) (exists y (= y y)))", "(P x)"),
    "duplicate operand dropped": ("(and (R x x) (and (P x) (R x x)))", "(and (P x) (R x x))"),
    "complementary operands": ("(or (P x) (or (Q x) (not (P x))))", "(= x x)"),
    "operand absorbed": ("(and (P x) (or (Q x) (P x)))", "(P x)"),
    "complement absorbed": ("(or (P x) (and (Q x) (not (P x))))", "(or (P x) (Q x))"),
    "vacuous quantifier dropped": ("(exists y (P x))", "(P x)"),
    "one-point rule": ("(forall y (or (not (= y x)) (R x y)))", "(R x x)"),
    "equal operands of iff cancelled": ("(iff (P x) (iff (Q x) (P x)))", "(Q x)"),
    "quantifiers merged": (
        "(or (exists y (and (R x y) (P y))) (exists z (and (R z x) (Q z))))",
        "(exists y (or (and (R x y) (P y)) (and (R y x) (Q y))))",
    ),
    "common operand factored out": (
        "(or (and (P x) (Q x)) (and (P x) (R x x)))",
        "(and (P x) (or (Q x) (R x x)))",
    ),
    "operand implied by its context dropped": (
        "(and (R x x) (and (P x) (exists y (R x y))))",
        "(and (R x x) (P x))",
    ),
    "iff decided by its context": ("(and (P x) (iff (P x) (Q x)))", "(and (P x) (Q x))"),
    "iff recognised": (
        "(and (iff (P x) (R x x)) (or (and (exists y (R y x)) (Q x)) (and (not (Q x)) (forall y (not (R y x))))))",
        "(and (iff (P x) (R x x)) (iff (exists y (R y x)) (Q x)))",
    ),
    "scope of a quantifier narrowed": (
        "(and (not (P x)) (exists y (and (not (Q x)) (R x y))))",
        "(and (not (or (P x) (Q x))) (exists y (R x y)))",
    ),
    "subformula replaced by a smaller equal": ("(or (not (R x x)) (exists y (R x y)))", "(= x x)"),
    "whole replaced by a smaller equal": (
        "(exists z (forall y (and (not (or (P z) (Q x))) (= y z))))",
        "(and (forall y (= x y)) (not (or (P x) (Q x))))",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_step_by_name(name):
    text, expected = CASES[name]
    result = simplify(parse_formula(text, PQR, free=None), signature=PQR)
    assert name in [step.name for step in result.steps]
    assert result.formula.ast_nodes == parse_formula(expected, PQR, free=None).ast_nodes
    assert agree(result.source, result.formula)


def test_every_law_has_a_case():
    assert {*LAWS, IFF_LAW[0]} <= set(CASES)


def test_the_scope_of_a_quantifier_is_narrowed_to_see_more():
    text = "(exists y (and (P x) (exists z (and (R x y) (and (P x) (R x z))))))"
    assert to_sexpr(simplify(parse_formula(text), signature=PQR).formula) == "(and (P x) (exists y (R x y)))"


@settings(max_examples=150)
@given(open_formulas(PQR, ("x", "y", "z")), st.booleans())
def test_laws_give_equals_and_are_not_left_to_the_proof(formula, universal):
    quantifier = ForAll if universal else Exists
    working = to_working(to_renamed_apart(quantifier("y", quantifier("z", formula)), PQR))
    if free_variables(working) - {"x"}:
        return
    for name, law in [*LAWS.items(), IFF_LAW]:
        for node in tops(working):
            made = law(node)
            if made is not None:
                assert agree(working, replaced(working, node, made)), (name, to_sexpr(node), to_sexpr(made))


@settings(max_examples=150)
@given(definitions(PQR, max_ast=25))
def test_the_shortest_writing_is_equal_and_no_larger(formula):
    for connectives in ((), (Implies,)):
        written = to_shortest(to_working(formula), connectives)
        assert agree(formula, written)
        if Implies in connectives or not any(isinstance(node, Implies) for node in subformulas(formula)):
            assert written.ast_nodes <= formula.ast_nodes


@settings(max_examples=50)
@given(definitions(PQR, max_ast=24))
def test_never_larger_never_another_meaning(formula):
    result = simplify(formula, signature=PQR, comparer=COMPARER)
    sizes = [formula.ast_nodes]
    for step in result.steps:
        assert step.before == sizes[-1] > step.after == step.formula.ast_nodes
        assert agree(formula, step.formula), step.name
        assert step.decided_by
        sizes.append(step.after)
    assert result.formula.ast_nodes == sizes[-1]
    assert agree(formula, result.formula)
    if not result.steps:
        assert result.formula is formula
    used = {type(node) for node in subformulas(formula)}
    assert not ({type(node) for node in subformulas(result.formula)} & {Implies, Iff}) - used
    assert simplify(result.formula, signature=PQR, comparer=COMPARER).formula.ast_nodes == sizes[-1]


@pytest.mark.parametrize("seed", range(12))
def test_enlarged_golds_come_back(seed):
    rng = np.random.default_rng(seed)
    golds = [template.formula for template in all_templates() if template.formula.ast_nodes <= 16]
    gold = golds[int(rng.integers(len(golds)))]
    large = enlarged(rng, gold, DEFAULT_SIGNATURE, 10, 60)
    assert simplify(large, signature=DEFAULT_SIGNATURE).formula.ast_nodes <= gold.ast_nodes


@settings(max_examples=30)
@given(definitions(PQR, max_ast=16))
def test_candidates_of_the_enumeration_are_smaller_and_agree_on_its_worlds(formula):
    working = to_working(to_renamed_apart(formula, PQR))
    worlds = Everywhere(PQR, COMPARER).worlds
    for made in REPLACEMENTS.candidates(working):
        first, second = bitset.extensions([working, made], worlds)
        assert all((one == other).all() for one, other in zip(first, second, strict=True))


def test_omissions_cover_every_operand():
    working = to_working(parse_formula("(and (P x) (or (Q x) (exists y (and (R x y) (P y)))))", PQR))
    assert len({made for _, made in omissions(working)}) == 2 + 2 + 2


def test_the_same_twice():
    rng = np.random.default_rng(5)
    formula = enlarged(rng, all_templates()[40].formula, DEFAULT_SIGNATURE, 20, 60)
    assert simplify(formula, signature=DEFAULT_SIGNATURE) == simplify(formula, signature=DEFAULT_SIGNATURE)


def test_what_cannot_be_proven_is_not_taken():
    text = "(and (P x) (or (Q x) (not (P x))))"
    formula = parse_formula(text, PQR)
    result = simplify(formula, signature=PQR, most_decisions=0)
    assert result.outcome is Outcome.UNKNOWN
    assert agree(formula, result.formula)


def test_too_large_and_wrong_variables():
    formula = parse_formula("(P x)", PQR)
    for _ in range(2000):
        formula = And(formula, formula) if formula.ast_nodes < 2000 else Not(formula)
    with pytest.raises(FormulaTooLargeError):
        simplify(formula, signature=PQR)
    with pytest.raises(ValueError, match="free variable"):
        simplify(parse_formula("(R x y)", PQR, free=None), signature=PQR)


def test_deep_formulas_are_ordinary():
    formula = parse_formula("(P x)", PQR)
    for number in range(200):
        formula = Not(formula) if number % 2 else Exists("y", formula)
    assert simplify(formula, signature=PQR).formula.ast_nodes <= 3


# --- on the worlds of an instance ---


def extensions_everywhere(formula, instance):
    """The extension in every completion of each world that the verdict is about, naively."""
    result = []
    for world in (*instance.train_worlds, *instance.no_worlds):
        places = [(p, tuple(place)) for p, mask in world.unknown.items() for place in np.argwhere(mask).tolist()]
        if instance.regime is not Regime.EC:
            places = []
        for values in itertools.product((False, True), repeat=len(places)):
            tables = {name: table.copy() for name, table in world.true.items()}
            for (name, place), value in zip(places, values, strict=True):
                tables[name][place] = value
            result.append(reference.extension(formula, world.completed(tables)).tolist())
    return result


@settings(max_examples=60)
@given(st.data())
def test_on_an_instance_the_extension_stays(data):
    instance = data.draw(instances())
    if instance.regime is Regime.EC and sum(world.count_unknown() for world in instance.train_worlds) > 8:
        return
    formula = data.draw(definitions(instance.signature, max_ast=20))
    result = simplify(formula, signature=instance.signature, on=instance)
    assert result.formula.ast_nodes <= formula.ast_nodes
    assert free_variables(result.formula) == {"x"}
    assert extensions_everywhere(formula, instance) == extensions_everywhere(result.formula, instance)


def test_on_an_instance_more_goes_than_everywhere():
    (instance,) = read_instances(str(EXAMPLES), ["example_fullobs"])
    assert instance.gold is not None
    formula = And(instance.gold, parse_formula("(not (forall y (forall z (R y z))))", free=None))
    everywhere = simplify(formula, signature=instance.signature)
    here = simplify(formula, signature=instance.signature, on=instance)
    assert here.formula.ast_nodes < everywhere.formula.ast_nodes
    assert extensions_everywhere(formula, instance) == extensions_everywhere(here.formula, instance)


def test_on_an_instance_x_is_needed():
    (instance,) = read_instances(str(EXAMPLES), ["example_fullobs"])
    with pytest.raises(ValueError, match="free variable"):
        simplify(parse_formula("(exists y (P y))", free=None), signature=instance.signature, on=instance)


def test_too_wide_for_the_worlds():
    (instance,) = read_instances(str(EXAMPLES), ["example_fullobs"])
    wide = parse_formula("(P x)")
    for number in range(12):
        wide = And(wide, Atom("R", (f"y{number}", f"y{number + 1}")))
    for number in range(13):
        wide = Exists(f"y{number}", wide) if number % 2 else ForAll(f"y{number}", wide)
    with pytest.raises(EvaluationLimitError):
        simplify(wide, signature=DEFAULT_SIGNATURE, on=instance)
