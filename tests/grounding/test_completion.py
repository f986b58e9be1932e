"""Existential completion against brute force over every completion, diagnostics included."""

import itertools

import numpy as np
import pytest

from induction.errors import BudgetExhaustedError
from induction.evaluation import bitset, reference
from induction.formula import parse_formula
from induction.formula.sampling import sample_formula
from induction.formula.syntax import DEFAULT_SIGNATURE, Signature
from induction.grounding import check
from induction.grounding.completion import complete
from induction.worlds import Instance, Regime, World
from induction.worlds.sampling import sample_world

MOST_UNKNOWN = 10
SIGNATURES = [DEFAULT_SIGNATURE, Signature({"P": 1, "R": 2}), Signature({"P": 1, "Q": 1, "U": 1, "R": 2, "likes": 2})]


def with_few_unknown(rng: np.random.Generator, world: World) -> World:
    """`world` with at most `MOST_UNKNOWN` unknown atoms, of unary predicates too."""
    places = [(p, tuple(place)) for p, table in world.true.items() for place in np.ndindex(table.shape)]
    chosen = rng.choice(len(places), size=min(len(places), int(rng.integers(0, MOST_UNKNOWN + 1))), replace=False)
    true = {p: table.copy() for p, table in world.true.items()}
    unknown = {p: np.zeros_like(table) for p, table in world.true.items()}
    for i in chosen:
        predicate, place = places[i]
        unknown[predicate][place] = True
        true[predicate][place] = False
    return World(world.name, world.domain, world.signature, true, world.target, unknown)


def completions(world: World) -> list[World]:
    """Every completion of `world`: first unknown atoms all false, last all true."""
    places = [(p, tuple(place)) for p, mask in world.unknown.items() for place in np.argwhere(mask)]
    result = []
    for values in itertools.product((False, True), repeat=len(places)):
        tables = {p: table.copy() for p, table in world.true.items()}
        for (predicate, place), value in zip(places, values, strict=True):
            tables[predicate][place] = value
        result.append(world.completed(tables))
    return result


def random_case(rng: np.random.Generator):
    signature = SIGNATURES[int(rng.integers(len(SIGNATURES)))]
    formula = sample_formula(
        rng, int(rng.integers(5, 22)), signature=signature, max_depth=3, bound_variables=("x", "y", "z")
    )
    density = float(rng.choice([0.1, 0.3, 0.6]))
    world = with_few_unknown(rng, sample_world(rng, int(rng.integers(1, 6)), signature=signature, density=density))
    if rng.random() < 0.7:  # labels that some completion gives, changed in at most one place
        full = completions(world)
        ((target,),) = bitset.extensions([formula], [full[int(rng.integers(len(full)))]])
        target = target.copy()
        if rng.random() < 0.5:
            target[int(rng.integers(world.size))] ^= True
        world = World(world.name, world.domain, signature, world.true, target, world.unknown)
    return formula, world


def assert_as_brute_force(formula, world) -> str:
    full = completions(world)
    (extensions,) = bitset.extensions([formula], full)
    table = np.stack(extensions)  # bool[completion, object]
    matches = (table == world.target).all(axis=1)
    found = complete(formula, world)

    if matches.any():
        assert found.completed is not None
        assert found.completed in full
        assert (reference.extension(formula, found.completed) == world.target).all()
        assert found.failure == ""
        assert (found.conflict, found.positives_unachievable, found.negatives_unachievable) == ((), (), ())
    else:
        assert found.completed is None
        reachable = (table == world.target).any(axis=0)
        assert found.positives_unachievable == world.elements(~reachable & world.target)
        assert found.negatives_unachievable == world.elements(~reachable & ~world.target)
        if reachable.all():
            assert found.failure == "global_inconsistent"
            core = [world.domain.index(name) for name in found.conflict]
            agrees = table[:, core] == world.target[core]
            assert len(core) >= 2
            assert not agrees.all(axis=1).any()
            for k in range(len(core)):
                assert np.delete(agrees, k, axis=1).all(axis=1).any()
        else:
            assert found.failure == "local_impossible"
            assert found.conflict == ()
    low, high = table[0], table[-1]
    assert found.flips_to_true == world.elements(~low & high)
    assert found.flips_to_false == world.elements(low & ~high)
    assert found.sensitive == (low != high).any()
    assert found.nonmonotone == (low & ~high).any()
    return f"{found.failure} {found.decided_by}"


def _compare(seed: int, number: int) -> set[str]:
    rng = np.random.default_rng(seed)
    return {assert_as_brute_force(*random_case(rng)) for _ in range(number)}


@pytest.mark.parametrize("seed", range(4))
def test_brute_force(seed):
    _compare(seed, 50)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100, 120))
def test_brute_force_full(seed):
    _compare(seed, 100)


def test_every_way_of_deciding_occurs():
    """The random cases reach each kind of answer, by each means."""
    ways = set().union(*(_compare(seed, 60) for seed in (7, 8, 9)))
    assert ways >= {
        " an extreme completion",
        " Z3",
        "local_impossible three-valued evaluation",
        "local_impossible Z3",
        "global_inconsistent Z3",
    }


def example_world(target) -> World:
    """a and b, P(a) unknown, R(a, b) unknown."""
    return World(
        "w",
        ("a", "b"),
        Signature({"P": 1, "R": 2}),
        {"R": [[0, 0], [1, 0]]},
        target,
        {"P": [1, 0], "R": [[0, 1], [0, 0]]},
    )


def test_examples():
    signature = Signature({"P": 1, "R": 2})
    found = complete(parse_formula("(exists y (R x y))", signature), example_world([1, 1]))
    assert found.completed.true["R"].tolist() == [[False, True], [True, False]]
    assert not found.completed.true["P"].any()  # atoms that do not matter stay false
    local = complete(parse_formula("(exists y (R x y))", signature), example_world([1, 0]))
    assert (local.failure, local.negatives_unachievable) == ("local_impossible", ("b",))
    joint = complete(parse_formula("(exists y (and (P y) (= x x)))", signature), example_world([1, 0]))
    assert (joint.failure, joint.conflict) == ("global_inconsistent", ("a", "b"))
    falling = complete(parse_formula("(not (P x))", signature), example_world([0, 1]))
    assert falling.nonmonotone
    assert falling.flips_to_false == ("a",)


def test_instances_fail_where_a_world_fails():
    formula = parse_formula("(exists y (R x y))", Signature({"P": 1, "R": 2}))
    worlds = []
    for i, target in enumerate(([1, 1], [1, 0], [0, 1])):
        world = example_world(target)
        worlds.append(World(f"w{i}", world.domain, world.signature, world.true, world.target, world.unknown))
    instance = Instance("i", Regime.EC, worlds[0].signature, tuple(worlds), ("w0", "w1", "w2"), gold=formula)
    verdict = check(formula, instance)
    assert not verdict.valid
    assert [world.satisfied for world in verdict.worlds] == [True, False, True]
    assert verdict.worlds[1].false_positives == ("b",)
    assert verdict.worlds[1].predicted is None
    assert not verdict.within_gold(25)


def test_work_is_bounded():
    """A question beyond the resource limit ends in an error that says so, not in a wrong answer."""
    rng = np.random.default_rng(3)
    world = sample_world(rng, 10, unknown_rate=1.0)
    formula = parse_formula(
        "(exists y (and (R x y) (forall z (iff (R y z) (exists w (and (S z w) (iff (R w x) (not (S w y)))))))))"
    )
    with pytest.raises(BudgetExhaustedError, match="Z3 gave up"):
        complete(formula, world, resource_limit=2_000)


def test_a_proven_no_survives_a_diagnosis_that_runs_out():
    """Three-valued evaluation has refuted the world; that Z3 cannot say more about other objects changes nothing."""
    signature = Signature({"P": 1, "R": 2})
    world = World("w", ("a", "b"), signature, {"P": [0, 1]}, [1, 1], {"R": [[1, 1], [1, 1]]})
    formula = parse_formula("(and (P x) (exists y (iff (R x y) (not (R y x)))))", signature)
    found = complete(formula, world, resource_limit=1)
    assert found.failure == "local_impossible"
    assert found.positives_unachievable == ("a",)
    assert "not looked into" in found.decided_by


def test_gold_of_the_released_instance(real_data):
    from induction.worlds import read_instances

    instance = read_instances(real_data / "examples_v1.yaml", ["E_core_0001"])[0]
    verdict = check(instance.gold, instance)
    assert verdict.valid
    for world, report in zip(instance.train_worlds, verdict.worlds, strict=True):
        completed = report.completion.completed
        assert completed.count_unknown() == 0
        for name in world.signature:
            assert (completed.true[name] == world.true[name])[~world.unknown[name]].all()
        assert (reference.extension(instance.gold, completed) == world.target).all()


def test_has_completion_says_what_complete_says():
    from induction.formula.sampling import sample_formula
    from induction.grounding.completion import has_completion

    rng = np.random.default_rng(4)
    said = set()
    for _ in range(60):
        n = int(rng.integers(2, 5))
        true = {name: rng.random((n,) * arity) < 0.4 for name, arity in DEFAULT_SIGNATURE.items()}
        unknown = {name: rng.random(table.shape) < 0.3 for name, table in true.items()}
        true = {name: table & ~unknown[name] for name, table in true.items()}
        world = World("w", tuple(f"a{e}" for e in range(n)), DEFAULT_SIGNATURE, true, rng.random(n) < 0.5, unknown)
        formula = sample_formula(rng, int(rng.integers(3, 12)), max_depth=2)
        said.add(has_completion(formula, world))
        assert has_completion(formula, world) == (complete(formula, world).completed is not None)
    assert said == {True, False}
