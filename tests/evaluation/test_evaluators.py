"""The fast evaluator against the naive one, and the naive one against plain recursion."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import SIGNATURES, definitions, signatures, worlds

from induction.errors import EvaluationLimitError
from induction.evaluation import bitset, reference
from induction.formula import parse_formula
from induction.formula.sampling import sample_formula
from induction.formula.syntax import And, Atom, Equal, Exists, ForAll, Iff, Implies, Not, Or, Signature
from induction.worlds.sampling import sample_world
from induction.worlds.world import World


def _truth(formula, world, value):
    """Truth by Python's own any and all, to judge the judge."""
    objects = range(world.size)
    match formula:
        case Atom(p, arguments):
            return bool(world.true[p][tuple(value[v] for v in arguments)])
        case Equal(u, v):
            return value[u] == value[v]
        case Not(f):
            return not _truth(f, world, value)
        case And(f, g):
            return _truth(f, world, value) and _truth(g, world, value)
        case Or(f, g):
            return _truth(f, world, value) or _truth(g, world, value)
        case Implies(f, g):
            return not _truth(f, world, value) or _truth(g, world, value)
        case Iff(f, g):
            return _truth(f, world, value) is _truth(g, world, value)
        case ForAll(v, f):
            return all(_truth(f, world, value | {v: e}) for e in objects)
        case Exists(v, f):
            return any(_truth(f, world, value | {v: e}) for e in objects)


@given(st.data())
def test_reference_is_what_it_says(data):
    signature = data.draw(signatures())
    formula, world = data.draw(definitions(signature)), data.draw(worlds(signature, 3))
    expected = [_truth(formula, world, {"x": e}) for e in range(world.size)]
    assert reference.extension(formula, world).tolist() == expected


@given(st.data())
def test_bitset_equals_reference(data):
    signature = data.draw(signatures())
    formulas = data.draw(st.lists(definitions(signature), min_size=1, max_size=4))
    some_worlds = data.draw(st.lists(worlds(signature), min_size=1, max_size=5))
    found = bitset.extensions(formulas, some_worlds)
    for formula, row in zip(formulas, found, strict=True):
        for world, extension in zip(some_worlds, row, strict=True):
            assert extension.shape == (world.size,)
            assert (extension == reference.extension(formula, world)).all()


DIFFERENTIAL_SIGNATURES = [
    SIGNATURES[0],
    Signature({"P": 1, "Q": 1, "U": 1, "R": 2, "S": 2, "likes": 2, "E": 2}),
    Signature({"R": 2}),
    Signature({"P": 1, "R": 2}),
]


def _differ(seed: int, number: int) -> None:
    """`number` formulas of up to 40 nodes and depth 4 on 40 worlds of 1 to 12 objects."""
    rng = np.random.default_rng(seed)
    signature = DIFFERENTIAL_SIGNATURES[seed % len(DIFFERENTIAL_SIGNATURES)]
    formulas = [
        sample_formula(
            rng,
            int(rng.integers(3, 41)),
            signature=signature,
            max_depth=int(rng.integers(0, 5)),
            bound_variables=("x", "y", "z", "w1", "v"),
        )
        for _ in range(number)
    ]
    some_worlds = [
        sample_world(rng, int(rng.integers(1, 13)), signature=signature, density=float(rng.random())) for _ in range(40)
    ]
    for formula, row in zip(formulas, bitset.extensions(formulas, some_worlds), strict=True):
        for world, extension in zip(some_worlds, row, strict=True):
            assert (extension == reference.extension(formula, world)).all(), str(formula)


@pytest.mark.parametrize("seed", range(20))
def test_differential(seed):
    _differ(seed, 25)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100, 200))
def test_differential_full(seed):
    _differ(seed, 50)


def test_worlds_are_taken_in_chunks_without_mixing_them_up():
    rng = np.random.default_rng(3)
    some_worlds = [sample_world(rng, int(rng.integers(1, 15))) for _ in range(700)]
    formula = parse_formula("(exists y (and (R x y) (forall z (or (not (S y z)) (exists w (and (R z w) (R w x)))))))")
    (row,) = bitset.extensions([formula], some_worlds)
    for world, extension in list(zip(some_worlds, row, strict=True))[::20]:
        assert (extension == reference.extension(formula, world)).all()


def test_no_worlds_and_no_formulas():
    assert bitset.extensions([], []) == []
    assert bitset.extensions([parse_formula("(P x)")], []) == [[]]
    assert bitset.extensions([], [sample_world(np.random.default_rng(1), 3)]) == []


def test_closed_parts_and_vacuous_quantifiers():
    world = sample_world(np.random.default_rng(5), 4)
    for text in ("(exists y (exists z (R y z)))", "(forall y (P x))", "(exists x (exists y (= x y)))"):
        formula = parse_formula(text, free=None)
        assert (bitset.extensions([formula], [world])[0][0] == reference.extension(formula, world)).all()


def test_limits_are_errors_not_hangs():
    world = sample_world(np.random.default_rng(1), 12)
    bound = [f"y{i}" for i in range(1, 30)]
    text = "(R x y1)"
    for variable in bound:
        text = f"(and (R x {variable}) {text})"
    for variable in bound:
        text = f"(exists {variable} {text})"
    with pytest.raises(EvaluationLimitError, match="free variables"):
        bitset.extensions([parse_formula(text)], [world])
    nine = "(and (R x y1) (R y2 y3) (R y4 y5) (R y6 y7) (R y8 y8))"
    for i in range(1, 9):
        nine = f"(exists y{i} {nine})"
    with pytest.raises(EvaluationLimitError, match=r"9 free variables needs .* the limit is"):
        bitset.extensions([parse_formula(nine)], [world])


def test_memory_is_bounded_in_sum_and_not_only_per_table():
    world = sample_world(np.random.default_rng(1), 100)
    parts = " ".join(f"(or (R {a} {b}) (or (S {b} {c}) (R {c} {a})))" for a, b, c in ["xyz", "yzx", "zxy", "xzy"] * 45)
    wide = parse_formula(f"(exists y (exists z (or {parts})))")
    (row,) = bitset.extensions([wide], [world])  # equal parts are computed once
    assert len(row) == 1
    big = sample_world(np.random.default_rng(1), 500)
    distinct = " ".join(f"(or (R x y) (or (S y z) {'(not ' * i}(R z x){')' * i}))" for i in range(4))
    with pytest.raises(EvaluationLimitError, match=r"tables of .* entries at a time"):
        bitset.extensions([parse_formula(f"(exists y (exists z (and {distinct})))")], [big])
    huge = World("w", tuple(f"a{i}" for i in range(20_000)), Signature({"P": 1}), {}, np.zeros(20_000, dtype=bool))
    with pytest.raises(EvaluationLimitError, match="entries at a time"):
        bitset.extensions([parse_formula("(and (P x) (= x x))", huge.signature)], [huge])


def test_misuse_is_told():
    world = sample_world(np.random.default_rng(1), 3)
    with pytest.raises(ValueError, match="variable y is free"):
        bitset.extensions([parse_formula("(R x y)", free=None)], [world])
    with pytest.raises(KeyError):
        bitset.extensions([Atom("Zed", ("x",))], [world])
    with pytest.raises(KeyError, match="y"):
        reference.extension(parse_formula("(R x y)", free=None), world)


def test_bound_steps_bounds(monkeypatch):
    visits = 0
    original = reference._holds

    def counted(*arguments):
        nonlocal visits
        visits += 1
        return original(*arguments)

    monkeypatch.setattr(reference, "_holds", counted)
    rng = np.random.default_rng(2)
    for _ in range(50):
        formula = sample_formula(rng, int(rng.integers(3, 20)))
        visits = 0
        reference.extension(formula, sample_world(rng, 4))
        assert 0 < visits <= reference.bound_steps(formula, 4)


@settings(max_examples=30)
@given(st.data())
def test_sampled_formulas_are_as_ordered(data):
    from induction.formula import measure

    signature = data.draw(signatures())
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    size, depth = data.draw(st.integers(6, 40)), data.draw(st.integers(1, 4))
    formula = sample_formula(rng, size, signature=signature, max_depth=depth)
    metrics = measure(formula)
    assert metrics.ast_nodes == size
    assert metrics.quantifier_depth <= depth
    assert metrics.free_variables == ("x",)
