"""Where all labels of each world are alike a sentence can fit; what counts is the smallest formula of x."""

import itertools

import numpy as np
import pytest
from brute import definitions
from induction.baselines.bottom_up.search import question_of

from induction.budget import Budget, Outcome
from induction.enumeration.classes import ClassTables
from induction.enumeration.fitting import Fitter, fitting_by_size
from induction.enumeration.layout import Fragment, Layout
from induction.formula import Signature, measure, to_sexpr
from induction.search import SearchOptions, fits, load_search
from induction.worlds import Instance, Regime, World
from induction.worlds.sampling import sample_world

SIGNATURES = (
    Signature({"P": 1, "R": 2}),
    Signature({"R": 2}),
    Signature({"P": 1, "Q": 1}),
    Signature({"P": 1}),
)
FRAGMENTS = ((3, 3), (3, 2), (2, 2), (3, 1), (2, 1), (1, 1), (1, 0))
LARGEST = 8


def random_instance(rng, regime):
    """A tiny instance with one label in each world to match, and the noise to allow for."""
    signature = SIGNATURES[rng.integers(len(SIGNATURES))]
    density = float(rng.choice([0.3, 0.5, 0.8, 1.0]))
    worlds = []
    number = int(rng.integers(1, 4))
    for i in range(number + (regime is Regime.CI)):
        whole = sample_world(rng, int(rng.integers(1, 3 if number > 1 else 4)), signature=signature, density=density)
        target = np.full(whole.size, rng.random() < 0.5)
        unknown = {}
        if regime is Regime.EC:
            places = [(p, place) for p, table in whole.true.items() for place in np.ndindex(table.shape)]
            unknown = {p: np.zeros(table.shape, dtype=bool) for p, table in whole.true.items()}
            for k in rng.choice(len(places), size=min(len(places), int(rng.integers(0, 3))), replace=False):
                unknown[places[k][0]][places[k][1]] = True
        true = {p: table & ~unknown.get(p, np.zeros_like(table)) for p, table in whole.true.items()}
        worlds.append(World(f"w{i}", whole.domain, signature, true, target, unknown))
    names = tuple(world.name for world in worlds)
    if regime is Regime.CI:
        return Instance("i", regime, signature, tuple(worlds), names[1:], names[:1]), int(rng.random() < 0.3)
    return Instance("i", regime, signature, tuple(worlds), names), int(regime is Regime.FULL_OBS and rng.random() < 0.3)


def completions_of(world):
    places = [(p, tuple(place)) for p, mask in world.unknown.items() for place in np.argwhere(mask).tolist()]
    for values in itertools.product((False, True), repeat=len(places)):
        tables = {p: table.copy() for p, table in world.true.items()}
        for (p, place), value in zip(places, values, strict=True):
            tables[p][place] = value
        yield world.completed(tables)


def smallest_by_brute_force(instance, noise, variables, depth, equality):
    """The least size up to `LARGEST` of a formula with just x free that fits; None without."""
    groups = [list(completions_of(world)) for world in (*instance.train_worlds, *instance.no_worlds)]
    worlds = [world for group in groups for world in group]
    by_size = definitions(worlds, variables, depth, equality, LARGEST)
    starts = np.concatenate([[0], np.cumsum([world.size for world in worlds])])
    for size in range(2, LARGEST + 1):
        for extension in by_size[size]:
            labels = np.frombuffer(extension, dtype=bool)
            at, wrong, ok = 0, 0, True
            for g, group in enumerate(groups):
                of = [
                    int((labels[starts[at + k] : starts[at + k + 1]] != world.target).sum())
                    for k, world in enumerate(group)
                ]
                at += len(group)
                if g < len(instance.train_worlds):
                    wrong += min(of)
                else:
                    ok &= min(of) > 0
            if ok and wrong <= noise:
                return size
    return None


def assert_as_brute_force(seeds, regimes=tuple(Regime)):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        regime = regimes[seed % len(regimes)]
        instance, noise = random_instance(rng, regime)
        variables, depth = FRAGMENTS[rng.integers(len(FRAGMENTS))]
        equality = bool(rng.random() < 0.6)
        expected = smallest_by_brute_force(instance, noise, variables, depth, equality)
        options = SearchOptions(LARGEST, variables, depth, equality, int(rng.choice([1, 5])), noise)
        result = load_search("bottom-up").search(instance, Budget(60), options, lambda _: None)
        told = (seed, options, [to_sexpr(formula) for formula in result.formulas], result.none_below, result.outcome)
        if expected is None:
            assert result.none_below == LARGEST + 1, told
            if result.formulas:  # by a shortcut, and smallest if of the very next size
                solved = result.formulas[0].ast_nodes == LARGEST + 1
                assert result.outcome is (Outcome.SOLVED if solved else Outcome.EXHAUSTED), told
            else:
                assert result.outcome in (Outcome.EXHAUSTED, Outcome.PROVEN_NONE), told
            continue
        assert result.outcome is Outcome.SOLVED, (told, expected)
        assert result.formulas[0].ast_nodes == result.none_below == expected, (told, expected)
        for formula in result.formulas:
            assert fits(formula, instance, noise), told
            assert measure(formula).quantifier_depth <= depth, told


def first_fit(instance, noise, fragment, most, *, streamed):
    """The least size of a formula of x that fits; `streamed` as soon and as much as can be, or all of it stored."""
    layout = Layout((*instance.train_worlds, *instance.no_worlds))
    question = question_of(layout, len(instance.train_worlds), len(layout.worlds), noise)
    tables = ClassTables(layout, fragment, keep_open=True, unstored_from=4 if streamed else 99)
    fitter = Fitter(tables, stored_up_to=5 if streamed else 9, keep_last_layer=not streamed)
    for size, fitting in fitting_by_size(fitter, question, layout.full, range(2, most + 1)):
        if fitting:
            for formula in fitting:
                assert formula.ast_nodes == size
                assert fits(formula, instance, noise), to_sexpr(formula)
            return size
    return None


def assert_streaming_misses_none(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        instance, noise = random_instance(rng, Regime.FULL_OBS if seed % 2 else Regime.CI)
        variables, depth = FRAGMENTS[rng.integers(len(FRAGMENTS))]
        fragment = Fragment(variables, depth, bool(rng.random() < 0.4))
        stored = first_fit(instance, noise, fragment, 10, streamed=False)
        assert first_fit(instance, noise, fragment, 10, streamed=True) == stored, (seed, fragment)


def test_what_is_streamed_is_not_missed():
    assert_streaming_misses_none(range(60))


@pytest.mark.full
def test_what_is_streamed_is_not_missed_full():
    assert_streaming_misses_none(range(100, 1100))


@pytest.mark.parametrize(("seed", "size"), [(0, 18), (3, 17)])
def test_the_last_layer_is_not_missed(seed, size):
    """Some worlds with a label each, of one relation: answers are large enough for the layer to be left out."""
    rng = np.random.default_rng(seed)
    signature = Signature({"R": 2})
    drawn = [sample_world(rng, 3, signature=signature, density=0.5) for _ in range(8)]
    worlds = tuple(
        World(f"w{i}", world.domain, signature, world.true, np.full(3, rng.random() < 0.5))
        for i, world in enumerate(drawn)
    )
    instance = Instance("i", Regime.FULL_OBS, signature, worlds, tuple(world.name for world in worlds))
    fragment = Fragment(3, 2, equality=False)
    assert [first_fit(instance, 0, fragment, 18, streamed=streamed) for streamed in (False, True)] == [size, size]


@pytest.mark.parametrize("part", range(3))
def test_smallest_formula_of_x_as_brute_force(part):
    assert_as_brute_force(range(50 * part, 50 * part + 50))


@pytest.mark.full
@pytest.mark.parametrize("part", range(50))
def test_smallest_formula_of_x_as_brute_force_full(part):
    assert_as_brute_force(range(1000 + 100 * part, 1100 + 100 * part))
