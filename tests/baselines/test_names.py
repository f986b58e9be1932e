"""Predicates named like variables, like each other or like words of other languages: no search or export minds."""

import re

import numpy as np
import pytest

from induction.budget import Budget
from induction.evaluation import reference
from induction.formula import Signature, normal_forms, parse_formula, to_sexpr
from induction.formula.canonical import canonical_key
from induction.formula.exports import to_smtlib, to_tptp
from induction.formula.normal_forms import to_alpha_canonical, to_miniscoped, to_prenex, to_renamed_apart
from induction.formula.printing import to_latex, to_pretty, to_unicode
from induction.formula.sampling import sample_formula
from induction.formula.syntax import Atom, subformulas
from induction.running.tasks import Report
from induction.scoring.solving import prediction_row, solving_task
from induction.search import SearchOptions, fits, load_search, search_names
from induction.worlds import Instance, Regime, World
from induction.worlds.sampling import sample_world

NASTY = (
    Signature({"x": 1, "y": 1, "z": 2}),
    Signature({"y": 2, "Y": 1, "v1": 1, "a0": 2}),
    Signature({"exists_": 1, "not_": 2, "p": 1, "P": 1}),
    Signature({"true": 1, "false": 2, "t": 1}),
    Signature({"in": 1, "rule": 2, "holds": 1, "not_": 1}),
    Signature({"assert": 1, "let": 2, "Bool": 1, "distinct": 2}),
    Signature({"phi": 1, "Object": 2, "abs": 1, "select": 2}),
    Signature({"_": 1, "__": 2, "x_": 1, "y_": 2}),
    Signature({"w": 1, "v": 2, "u": 1, "z": 1, "y": 1}),
    Signature({"_main": 1, "fof": 2, "definition_of_t": 1, "Int": 1}),
)
"""`p` and `P`, `t` and the target `T`: names that differ in case only; clingo's, SMT-LIB's and TPTP's own words."""
EVERY_FORM = (to_alpha_canonical, to_miniscoped, to_prenex, to_renamed_apart, normal_forms.to_nnf)


def instance_over(signature, seed, regime=Regime.FULL_OBS):
    rng = np.random.default_rng(seed)
    gold = sample_formula(rng, int(rng.integers(5, 9)), signature=signature, max_depth=1)
    worlds = []
    for i in range(3):
        true = {name: rng.random((3,) * arity) < 0.5 for name, arity in signature.items()}
        unknown = {}
        if regime is Regime.EC:
            unknown = {name: rng.random(table.shape) < 0.1 for name, table in true.items()}
            true = {name: table & ~unknown[name] for name, table in true.items()}
        whole = World(f"w{i}", ("a", "b", "c"), signature, true, np.zeros(3, dtype=bool))
        worlds.append(World(f"w{i}", whole.domain, signature, true, reference.extension(gold, whole), unknown))
    return Instance("i", regime, signature, tuple(worlds), ("w0", "w1", "w2"), gold=gold)


@pytest.mark.parametrize("name", search_names())
def test_every_search_takes_every_name(name):
    for seed, signature in enumerate(NASTY):
        instance = instance_over(signature, seed, (Regime.FULL_OBS, Regime.EC)[seed % 2])
        options = SearchOptions(max_ast=8, variables=3, depth=1)
        result = load_search(name).search(instance, Budget(0.5, 4 << 30), options, lambda _: None)
        for formula in result.formulas:
            assert parse_formula(to_sexpr(formula), signature) == formula
            assert fits(formula, instance)


def formulas_over(signature, number=8):
    rng = np.random.default_rng(len(signature))
    for _ in range(number):
        yield sample_formula(
            rng, int(rng.integers(5, 16)), signature=signature, max_depth=3, bound_variables=("x", "y", "z", "p", "w")
        )


@pytest.mark.parametrize("signature", NASTY, ids=str)
def test_every_form_and_print_keeps_them_apart(signature):
    rng = np.random.default_rng(1)
    worlds = [sample_world(rng, size, signature=signature, density=0.4) for size in (1, 2, 2)]
    for formula in formulas_over(signature):
        assert parse_formula(to_sexpr(formula), signature) == formula
        assert parse_formula(to_pretty(formula, 30), signature) == formula
        assert to_latex(formula)
        assert to_unicode(formula)
        for form in EVERY_FORM:
            changed = form(formula)
            again = parse_formula(to_sexpr(changed), signature, free=None)
            assert again == changed
            for world in worlds:
                assert (reference.extension(formula, world) == reference.extension(again, world)).all()
        assert canonical_key(formula) == canonical_key(to_renamed_apart(formula))


@pytest.mark.parametrize("signature", NASTY, ids=str)
def test_exports_are_read_back_by_a_prover(signature):
    import z3

    for formula in formulas_over(signature):
        read = z3.parse_smt2_string(
            to_smtlib(formula) + "\n(declare-const the_object Object)\n(assert (phi the_object))"
        )
        assert len(read) == 1
        predicates = {node.predicate for node in subformulas(formula) if isinstance(node, Atom)}
        tptp = to_tptp(formula)
        called = set(re.findall(r"('[^']*'|\w+)\(", tptp.removeprefix("fof(")))
        assert len(called) == len(predicates) + 1  # and the target
        assert all(one[0] == "'" or one[0].islower() for one in called)


@pytest.mark.parametrize("name", search_names())
def test_rows_are_written_for_every_search(name):
    """By way of records and texts, as the command writes them: `x` is a predicate and the free variable."""
    signature = NASTY[0]
    true = {"x": [0, 1, 0], "y": [1, 0, 1], "z": [[0, 1, 0], [0, 0, 0], [1, 0, 0]]}
    world = World("w", ("a", "b", "c"), signature, true, [1, 0, 0])  # has a z that is x
    instance = Instance("i", Regime.FULL_OBS, signature, (world,), ("w",))
    options = SearchOptions(max_ast=8, depth=1)
    task = solving_task("i", name, instance, options, 20.0, 4 << 30)
    result = task.work(task.argument, lambda _: None)
    row = prediction_row(instance, name, options, Report("i", result, "", None, 0.0, 0.0, 0.0))
    assert row["success"], row
    assert fits(parse_formula(row["extractedFormula"], signature), instance)
