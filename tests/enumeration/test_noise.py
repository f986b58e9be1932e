"""Formulas that are wrong on a few labels: the smallest, against brute force and with every shortcut switched off."""

import numpy as np
import pytest
from brute import definitions
from test_proof import SIGNATURES, is_settled_by_sentences

from induction.budget import Budget, Outcome
from induction.enumeration.classes import ClassTables
from induction.enumeration.fitting import Fitter, Question, fitting_by_size
from induction.enumeration.layout import Fragment, Layout
from induction.errors import UnsupportedRegimeError
from induction.evaluation import reference
from induction.formula import Signature
from induction.formula.metrics import free_variables
from induction.search import SearchOptions, count_mislabelled, load_search
from induction.worlds import Instance, Regime, World
from induction.worlds.sampling import sample_world


def first_size(worlds, fragment, target, noise, most, misses=(), **options):
    layout = Layout(worlds)
    of_tables = {key: options.pop(key) for key in ("unstored_from",) if key in options}
    fitter = Fitter(ClassTables(layout, fragment, **of_tables), **options)
    masks = layout.world_masks
    care = layout.full.copy()
    for w in misses:
        care &= ~masks[w]
    missed = masks[list(misses)] if misses else np.zeros((0, layout.words), dtype=np.uint64)
    question = Question(layout.row(np.asarray(target)), care, missed, noise)
    for size, fitting in fitting_by_size(fitter, question, layout.full, range(2, most + 1)):
        if any(free_variables(formula) == {"x"} for formula in fitting):
            return size
    return None


def random_worlds(seed, sizes, signature):
    rng = np.random.default_rng(seed)
    return [sample_world(rng, size, signature=signature, density=0.5) for size in sizes], rng


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("noise", [1, 2])
@pytest.mark.parametrize("options", [{"stored_up_to": 5}, {"stored_up_to": 5, "prune": False}, {}], ids=str)
def test_smallest_as_brute_force(seed, noise, options):
    """Over all formulas of up to 8 nodes: the least size of one that is wrong on at most so many objects."""
    signature = SIGNATURES[seed % len(SIGNATURES)]
    worlds, rng = random_worlds(seed, (3, 3), signature)
    fragment = Fragment(3, 2)
    by_size = definitions(worlds, 3, 2, True, 8)
    for _ in range(12):
        target = rng.random(6) < 0.5
        odd_ones = sum(min(part.sum(), (~part).sum()) for part in (target[:3], target[3:]))
        if odd_ones <= noise:
            continue  # sentences can do: the search has other means for these
        expected = next(
            (
                size
                for size in range(2, 9)
                if any((np.frombuffer(one, dtype=bool) != target).sum() <= noise for one in by_size[size])
            ),
            None,
        )
        assert first_size(worlds, fragment, target, noise, 8, **options) == expected, (seed, target)


@pytest.mark.parametrize("seed", range(4))
def test_streamed_as_stored(seed):
    """Up to 12 nodes: pairs that are streamed and pruned against all formulas stored and looked up."""
    signature = Signature({"P": 1, "Q": 1, "R": 2})
    worlds, rng = random_worlds(seed, (4, 4, 4), signature)
    target = rng.random(12) < 0.5
    fragment = Fragment(3, 2)
    for noise in (1, 2, 3):
        stored = first_size(worlds, fragment, target, noise, 12, stored_up_to=12, unstored_from=99)
        assert first_size(worlds, fragment, target, noise, 12, stored_up_to=5) == stored
        assert first_size(worlds, fragment, target, noise, 12, stored_up_to=5, prune=False) == stored


@pytest.mark.parametrize("seed", range(8))
def test_search_as_brute_force(seed):
    """The whole search, in FullObs and CI, whatever the labels: no smaller formula than its answer, nor than its bound."""
    signature = SIGNATURES[seed % len(SIGNATURES)]
    worlds, rng = random_worlds(seed + 50, (2, 3, 2), signature)
    by_size = definitions(worlds, 3, 1, True, 7)
    for regime in (Regime.FULL_OBS, Regime.CI):
        noise = int(rng.integers(1, 3))
        named = []
        for i, world in enumerate(worlds):
            target = rng.random(world.size) < 0.5
            named.append(World(f"w{i}", world.domain, signature, world.true, target))
        names = tuple(world.name for world in named)
        ids = (names, ()) if regime is Regime.FULL_OBS else (names[:2], names[2:])
        instance = Instance("i", regime, signature, tuple(named), *ids)
        target = np.concatenate([world.target for world in named])
        to_match = len(target) if regime is Regime.FULL_OBS else 5

        def explains(extension, target=target, to_match=to_match, noise=noise):
            wrong = np.frombuffer(extension, dtype=bool) != target
            return wrong[:to_match].sum() <= noise and (to_match == len(target) or wrong[to_match:].any())

        least = next((size for size in range(2, 8) if any(map(explains, by_size[size]))), None)
        options = SearchOptions(max_ast=7, depth=1, noise=noise)
        result = load_search("bottom-up").search(instance, Budget(60), options, lambda progress: None)
        if least is None:
            assert not result.formulas or result.formulas[0].ast_nodes > 7
            assert result.none_below <= 8
        else:
            assert result.formulas[0].ast_nodes == least, (seed, regime)
            assert result.none_below <= least
            if not is_settled_by_sentences(worlds, list(target)) and result.none_below > 5:
                assert result.is_proven_smallest
        for formula in result.formulas:
            assert count_mislabelled(formula, instance) <= noise
            wrong = [reference.extension(formula, world) != world.target for world in instance.train_worlds]
            assert np.concatenate(wrong).sum() <= noise


def test_too_much_noise_is_named():
    """Two pairs of objects that look alike and are labelled differently: one wrong label is not enough."""
    signature = Signature({"P": 1, "R": 2})
    world = World("w", ("a", "b", "c", "d"), signature, {"P": [1, 1, 0, 0]}, [1, 0, 1, 0])
    instance = Instance("i", Regime.FULL_OBS, signature, (world,), ("w",))
    search = load_search("bottom-up")
    result = search.search(instance, Budget(60), SearchOptions(max_ast=8, noise=1), lambda progress: None)
    assert result.outcome is Outcome.PROVEN_NONE
    assert "at least 2 objects are mislabelled" in result.diagnosis
    result = search.search(instance, Budget(60), SearchOptions(max_ast=8, noise=2), lambda progress: None)
    assert result.formulas


@pytest.mark.parametrize("name", ["bottom-up", "greedy"])
def test_noise_is_not_for_ec(name):
    signature = Signature({"R": 2})
    unknown = {"R": np.ones((2, 2), dtype=bool)}
    world = World("w", ("a", "b"), signature, {}, [1, 0], unknown)
    instance = Instance("i", Regime.EC, signature, (world,), ("w",))
    with pytest.raises(UnsupportedRegimeError, match="noise is for FullObs and CI"):
        load_search(name).search(instance, Budget(5), SearchOptions(noise=1), lambda progress: None)
