"""The proofs of "smallest" and "none smaller", against brute force over all formula texts on tiny cases."""

import itertools

import numpy as np
import pytest
from brute import definitions

from induction.enumeration.classes import ClassTables
from induction.enumeration.fitting import Fitter, Question, fitting_by_size
from induction.enumeration.layout import Fragment, Layout
from induction.evaluation import reference
from induction.formula import Signature, measure
from induction.formula.metrics import free_variables
from induction.worlds.sampling import sample_world

SIGNATURES = [Signature({"P": 1, "R": 2}), Signature({"R": 2}), Signature({"P": 1, "Q": 1})]


def question_for(layout: Layout, target) -> Question:
    nothing = np.zeros((0, layout.words), dtype=np.uint64)
    return Question(layout.row(np.asarray(target)), layout.full, nothing)


def first_fit(worlds, fragment, target, most, **options):
    """The least size at which a formula with x free fits, with those formulas; None if none up to `most`."""
    layout = Layout(worlds)
    tables = ClassTables(layout, fragment, **{k: v for k, v in options.items() if k in ("hash_mask", "unstored_from")})
    fitter = Fitter(tables, **{k: v for k, v in options.items() if k in ("prune", "stored_up_to")})
    for size, fitting in fitting_by_size(fitter, question_for(layout, target), layout.full, range(2, most + 1)):
        fitting = [formula for formula in fitting if free_variables(formula) == {"x"}]
        if fitting:
            return size, fitting
    return None, []


def is_settled_by_sentences(worlds, target) -> bool:
    """Whether the target is the same for all objects of each world: then a formula without x could do."""
    rest = list(target)
    for world in worlds:
        labels, rest = rest[: world.size], rest[world.size :]
        if len(set(labels)) > 1:
            return False
    return True


def assert_as_brute_force(seed, most, options, **fragment_options):
    rng = np.random.default_rng(seed)
    signature = SIGNATURES[seed % len(SIGNATURES)]
    worlds = [
        sample_world(rng, int(rng.integers(1, 4)), signature=signature, density=0.5)
        for _ in range(int(rng.integers(1, 3)))
    ]
    fragment = Fragment(**fragment_options)
    by_size = definitions(worlds, fragment.variables, fragment.depth, fragment.equality, most)
    smallest: dict[bytes, int] = {}
    for size in range(2, most + 1):
        for extension in by_size[size]:
            smallest.setdefault(extension, size)
    objects = sum(world.size for world in worlds)
    targets = list(itertools.product((False, True), repeat=objects))
    if len(targets) > 40:
        targets = [targets[i] for i in rng.choice(len(targets), size=40, replace=False)]
    for target in targets:
        if is_settled_by_sentences(worlds, target):
            continue
        expected = smallest.get(np.array(target).tobytes())
        found, formulas = first_fit(worlds, fragment, target, most, **options)
        assert found == expected, (seed, fragment, target)
        for formula in formulas:
            assert formula.ast_nodes == found
            metrics = measure(formula)
            assert metrics.quantifier_depth <= fragment.depth
            assert len(metrics.variables) <= fragment.variables
            extension = np.concatenate([reference.extension(formula, world) for world in worlds])
            assert extension.tolist() == list(target)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("variables", "depth", "equality"),
    [(3, 3, True), (3, 2, True), (2, 2, True), (3, 1, False), (2, 3, False), (1, 0, True)],
)
@pytest.mark.parametrize(
    "options", [{}, {"stored_up_to": 5}, {"stored_up_to": 5, "prune": False}, {"unstored_from": 4}], ids=str
)
def test_smallest_as_brute_force(seed, variables, depth, equality, options):
    assert_as_brute_force(seed, 8, options, variables=variables, depth=depth, equality=equality)


@pytest.mark.parametrize("seed", range(4))
def test_the_last_layer_is_not_missed(seed):
    """First sizes up to 17 with and without keeping the largest layers, over many targets at once."""
    rng = np.random.default_rng(seed)
    signature = SIGNATURES[(0, 2)[seed % 2]] if seed < 3 else Signature({"P": 1, "Q": 1, "R": 2})
    worlds = [sample_world(rng, 4, signature=signature, density=0.4)]
    fragment = Fragment(3, 2)
    layout = Layout(worlds)
    for target in list(itertools.product((False, True), repeat=4))[1:-1]:
        question = question_for(layout, target)
        found = []
        for keep in (True, False):
            tables = ClassTables(layout, fragment, unstored_from=99 if keep else 12)
            fitter = Fitter(tables, keep_last_layer=keep)
            sizes = fitting_by_size(fitter, question, layout.full, range(2, 18))
            found.append([(size, len(fitting) > 0) for size, fitting in sizes if fitting][:1])
        assert found[0] == found[1], target


@pytest.mark.full
@pytest.mark.parametrize("seed", range(10, 22))
@pytest.mark.parametrize(("variables", "depth", "equality"), [(3, 3, True), (3, 2, False), (2, 2, True)])
def test_smallest_as_brute_force_full(seed, variables, depth, equality):
    assert_as_brute_force(
        seed, 9, {"stored_up_to": 5, "unstored_from": 4}, variables=variables, depth=depth, equality=equality
    )
