"""Recipes, isomorphism, filters and the pool, each against something plain."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from induction.errors import InductionError
from induction.formula import parse_formula
from induction.formula.syntax import DEFAULT_SIGNATURE, Signature
from induction.generation import distractors
from induction.generation.filters import explained_without_quantifiers, trivially_explained
from induction.generation.isomorphism import may_be_isomorphic
from induction.generation.recipes import Recipe, infer_recipe, recipe_from_record
from induction.grounding import check
from induction.grounding.equivalence import Comparer
from induction.worlds import Instance, Regime
from induction.worlds.sampling import sample_world
from induction.worlds.world import World

SMALL = Signature({"P": 1, "R": 2})


def renamed(world: World, order: list[int]) -> World:
    """The same world with its objects in another order."""
    index = np.array(order)
    true = {name: table[np.ix_(*[index] * table.ndim)] for name, table in world.true.items()}
    unknown = {name: table[np.ix_(*[index] * table.ndim)] for name, table in world.unknown.items()}
    return World("renamed", world.domain, world.signature, true, world.target[index], unknown)


def isomorphic_by_trying_all(first: World, second: World) -> bool:
    for order in itertools.permutations(range(first.size)):
        other = renamed(second, list(order))
        if all(
            not (~first.unknown[n] & ~other.unknown[n] & (first.true[n] != other.true[n])).any()
            for n in first.signature
        ):
            return True
    return False


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0.0, 0.3]), st.booleans())
def test_isomorphism_agrees_with_trying_all_orders(seed, size, unknown, same):
    rng = np.random.default_rng(seed)
    first = sample_world(rng, size, signature=SMALL, density=0.4, unknown_rate=unknown)
    second = first if same else sample_world(rng, size, signature=SMALL, density=0.4)
    second = renamed(second, rng.permutation(size).tolist())
    assert may_be_isomorphic(first, second) == isomorphic_by_trying_all(first, second)
    if same:
        assert may_be_isomorphic(first, second)


def test_large_regular_worlds_are_compared_quickly():
    """Every object looks alike by its degrees."""
    recipe = Recipe((11, 11), {"P": (0.0, 0.0)}, {"R": 2})
    rng = np.random.default_rng(0)
    worlds = [recipe.draw(rng, SMALL, "w") for _ in range(20)]
    for one, other in itertools.combinations(worlds, 2):
        assert not may_be_isomorphic(one, other)
        assert may_be_isomorphic(one, renamed(one, rng.permutation(11).tolist()))


@given(st.integers(0, 10**6), st.sampled_from([1, 2, 3]))
def test_drawn_worlds_are_of_their_recipe(seed, degree):
    recipe = Recipe((3, 6), {"P": (0.2, 0.6), "Q": (1.0, 1.0), "R": (0.0, 0.0)}, {"S": degree})
    world = recipe.draw(np.random.default_rng(seed), DEFAULT_SIGNATURE, "w")
    assert 3 <= world.size <= 6
    assert (world.true["S"].sum(axis=1) == degree).all()
    assert world.true["Q"].all()
    assert not world.true["R"].any()
    inferred = infer_recipe([world, recipe.draw(np.random.default_rng(seed + 1), DEFAULT_SIGNATURE, "w")])
    assert inferred.out_degree["S"] == degree
    assert inferred.inferred
    recorded = recipe_from_record(recipe.to_record(), DEFAULT_SIGNATURE)
    assert recorded == recipe


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"objects": [3]},
        {"objects": [5, 3], "density": {}},
        {"objects": [3, 100], "density": {"P": [0, 1], "Q": [0, 1], "R": [0, 1], "S": [0, 1]}},
        {"objects": [3, 4], "density": {"P": [0, 2], "Q": [0, 1], "R": [0, 1], "S": [0, 1]}},
        {"objects": [3, 4], "density": {"P": [0, 1], "Q": [0, 1], "R": [0, 1]}},
        {"objects": [3, 4], "density": {"P": ["a", 1], "Q": [0, 1], "R": [0, 1], "S": [0, 1]}},
        {"objects": [3, 4], "density": {"Q": [0, 1], "R": [0, 1], "S": [0, 1]}, "outDegree": {"P": 1}},
        {"objects": [3, 4], "density": {"P": [0, 1], "Q": [0, 1], "R": [0, 1]}, "outDegree": {"S": 9}},
        {"objects": [True, 4], "density": {"P": [0, 1], "Q": [0, 1], "R": [0, 1], "S": [0, 1]}},
    ],
)
def test_recipes_that_are_none(value):
    with pytest.raises(InductionError, match="recipe"):
        recipe_from_record(value, DEFAULT_SIGNATURE)


def instance_of(worlds: list[World], regime: Regime, no: int = 0, gold: str = "") -> Instance:
    named = [World(f"w{i}", w.domain, w.signature, w.true, w.target, w.unknown) for i, w in enumerate(worlds)]
    names = [world.name for world in named]
    return Instance(
        "i",
        regime,
        worlds[0].signature,
        tuple(named),
        tuple(names[: len(names) - no]),
        no_ids=tuple(names[len(names) - no :]),
        gold=parse_formula(gold, SMALL) if gold else None,
    )


def quantifier_free_formulas() -> list[str]:
    """All sets of types of P x and R x x, as disjunctions."""
    types = [f"(and {p} {r})" for p in ("(P x)", "(not (P x))") for r in ("(R x x)", "(not (R x x))")]
    formulas = []
    for chosen in itertools.product((False, True), repeat=4):
        parts = [text for text, wanted in zip(types, chosen, strict=True) if wanted]
        formulas.append(f"(or {' '.join(parts)})" if len(parts) > 1 else parts[0] if parts else "(not (= x x))")
    return formulas


QUANTIFIER_FREE = [parse_formula(text, SMALL) for text in quantifier_free_formulas()]


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(list(Regime)), st.booleans())
def test_explained_without_quantifiers_agrees_with_trying_every_such_formula(seed, regime, explained):
    rng = np.random.default_rng(seed)
    no = int(rng.integers(1, 3)) if regime is Regime.CI else 0
    worlds = []
    chosen = QUANTIFIER_FREE[int(rng.integers(16))]
    for i in range(2 + no):
        world = sample_world(rng, int(rng.integers(1, 4)), signature=SMALL, density=0.5, unknown_rate=0.0)
        if explained and i < 2:
            from induction.evaluation import reference

            object.__setattr__(world, "target", reference.extension(chosen, world))
        if regime is Regime.EC:
            unknown = {"R": rng.random((world.size, world.size)) < 0.4}
            true = {"P": world.true["P"], "R": world.true["R"] & ~unknown["R"]}
            world = World("w", world.domain, SMALL, true, world.target, unknown)
        worlds.append(world)
    instance = instance_of(worlds, regime, no)
    expected = any(check(formula, instance).valid for formula in QUANTIFIER_FREE)
    assert explained_without_quantifiers(instance) == expected


def test_what_is_refused_and_why():
    rng = np.random.default_rng(4)
    worlds = []
    for _ in range(3):
        world = sample_world(rng, 5, signature=SMALL, density=0.3)
        worlds.append(world)
    from induction.evaluation import reference

    def labelled(text: str) -> list[World]:
        formula = parse_formula(text, SMALL)
        return [World("w", w.domain, SMALL, w.true, reference.extension(formula, w)) for w in worlds]

    gold = "(or (exists y (and (R x y) (P y))) (and (P x) (not (P x))))"
    cases = {
        "(P x)": "atom",
        "(exists y (and (R x y) (P y)))": "part of the gold",
        "(not (R x x))": "quantifier-free formula",
        "(exists y (and (R y x) (P y)))": None,
    }
    for labels, reason in cases.items():
        instance = instance_of(labelled(labels), Regime.FULL_OBS, gold=gold)
        assert trivially_explained(instance) == reason


def test_the_pool_is_what_it_says():
    pool = distractors.load_pool()
    assert len(pool.formulas) == 1500
    assert pool.version == distractors.VERSION
    alike = Comparer(DEFAULT_SIGNATURE).first_alike(pool.formulas)
    assert alike == list(range(len(pool.formulas)))


@pytest.mark.full
def test_the_pool_is_made_by_its_command():
    run = subprocess.run(
        [sys.executable, "-m", "induction.generation.distractors"], capture_output=True, text=True, check=True
    )
    from importlib import resources

    assert run.stdout == resources.files("induction.generation").joinpath("pool.txt").read_text()


def test_a_changed_pool_is_noticed(monkeypatch):
    text = distractors.resources.files("induction.generation").joinpath("pool.txt").read_text()

    class Changed:
        def joinpath(self, _name):
            return self

        def read_text(self, encoding):
            return text.replace("(P x)\n", "(Q x)\n", 1)

    monkeypatch.setattr(distractors.resources, "files", lambda _package: Changed())
    distractors.load_pool.cache_clear()
    try:
        with pytest.raises(InductionError, match="has been changed"):
            distractors.load_pool()
    finally:
        distractors.load_pool.cache_clear()
