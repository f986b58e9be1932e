"""The smallest formula: against brute force over all formulas, and honest where nothing is proven."""

import itertools

import numpy as np
import pytest
from brute import definitions as all_definitions
from test_equivalence import NO_FINITE_MODEL

from induction.budget import Budget, Outcome
from induction.enumeration.layout import Fragment
from induction.evaluation import reference
from induction.formula import Signature, measure, parse_formula
from induction.formula.metrics import free_variables
from induction.formula.sampling import sample_formula
from induction.formula.syntax import DEFAULT_SIGNATURE, to_sexpr
from induction.grounding.equivalence import Comparer, Sameness
from induction.rewriting.promises import Everywhere
from induction.rewriting.simplify import simplify
from induction.rewriting.smallest import SmallestSearch, is_within, width
from induction.worlds.instance import Instance, Regime
from induction.worlds.sampling import sample_world
from induction.worlds.world import World

PQ = Signature({"P": 1, "Q": 1})
PR = Signature({"P": 1, "R": 2})


def worlds_of_types() -> list[World]:
    """A world for each set of kinds of objects there can be over P and Q: without `=` no others are needed."""
    kinds = list(itertools.product((False, True), repeat=2))
    worlds = []
    for number in range(1, 16):
        chosen = [kind for i, kind in enumerate(kinds) if number >> i & 1]
        tables = {name: np.array([kind[i] for kind in chosen]) for i, name in enumerate("PQ")}
        names = tuple(f"a{i}" for i in range(len(chosen)))
        worlds.append(World(f"w{number}", names, PQ, tables, np.zeros(len(chosen), dtype=np.bool_)))
    return worlds


def least_sizes(worlds, fragment, most):
    """The least AST size up to `most` for each extension over the worlds."""
    least: dict[bytes, int] = {}
    by_size = all_definitions(worlds, fragment.variables, fragment.depth, fragment.equality, most)
    for size in range(2, most + 1):
        for extension in by_size[size]:
            least.setdefault(extension, size)
    return least


def extension_on(formula, worlds) -> bytes:
    return np.concatenate([reference.extension(formula, world) for world in worlds]).tobytes()


def samples(seed, number, signature, most, **options):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        size = int(rng.integers(4, most))
        try:
            yield sample_formula(rng, size, signature=signature, max_depth=2, **options)
        except ValueError:
            continue


def test_smallest_as_brute_force_over_all_meanings():
    """Over two unary predicates without `=`, 15 worlds tell all formulas apart: brute force is the truth."""
    worlds, fragment = worlds_of_types(), Fragment(2, 2, equality=False)
    most = 8
    least = least_sizes(worlds, fragment, most)
    comparer = Comparer(PQ)
    found = 0
    for formula in samples(1, 60, PQ, 20, equality=False):
        expected = least.get(extension_on(formula, worlds))
        result = simplify(formula, signature=PQ, smallest=True, fragment=fragment, comparer=comparer)
        assert result.outcome is Outcome.SOLVED
        assert result.smallest is not None
        if expected is None:
            # Constants apart, for which brute force wants an x that the answer need not have.
            assert result.smallest.ast_nodes > most or free_variables(result.smallest) == set()
        elif free_variables(result.smallest) == {"x"}:
            assert result.smallest.ast_nodes == expected, to_sexpr(formula)
            assert result.none_below == expected
            found += 1
    assert found > 20


@pytest.mark.parametrize("few", [False, True], ids=["probes", "one world to begin with"])
def test_no_smaller_one_by_brute_force(few):
    """Also where the search begins with one world and must find those that tell formulas apart itself."""
    rng = np.random.default_rng(3)
    worlds = [sample_world(rng, size, signature=PR, density=0.5) for size in (1, 1, 2, 2, 2, 2, 3)]
    fragment = Fragment(2, 2)
    least = least_sizes(worlds, fragment, 7)
    comparer = Comparer(PR)
    equal = answered = added = 0
    for formula in samples(4, 25, PR, 14):
        promise = Everywhere(PR, comparer)
        if few:
            promise.worlds = promise.worlds[:1]
        search = SmallestSearch(formula, promise, fragment, 9)
        search.run()
        added += search.worlds_added
        expected = least.get(extension_on(formula, worlds), 8)
        if search.best is None:
            assert search.none_below == 10
            continue
        answered += 1
        assert comparer.compare(formula, search.best).sameness is Sameness.EQUIVALENT
        assert search.best.ast_nodes == search.none_below
        assert measure(search.best).quantifier_depth <= 2
        if free_variables(search.best) == {"x"}:
            # What is the same everywhere is so on these worlds too.
            assert search.best.ast_nodes >= expected, to_sexpr(formula)
            equal += search.best.ast_nodes == expected
    assert answered > 8
    assert equal > 4
    assert bool(added) >= few


def test_few_worlds_and_many_worlds_lead_to_the_same_sizes():
    comparer = Comparer(DEFAULT_SIGNATURE)
    texts = [
        "(exists y (and (R x y) (forall z (or (not (S y z)) (P z)))))",
        "(or (exists y (and (R x y) (P y))) (exists y (and (R x y) (Q y))))",
        "(forall y (or (not (R x y)) (S y x)))",
    ]
    for text in texts:
        sizes = []
        for number in (1, 3, None):
            promise = Everywhere(DEFAULT_SIGNATURE, comparer)
            promise.worlds = promise.worlds[:number]
            search = SmallestSearch(parse_formula(text), promise, Fragment(), 16)
            search.run()
            assert search.best is not None
            sizes.append((search.best.ast_nodes, search.none_below))
        assert len(set(sizes)) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(or (P x) (not (P x)))", "(= x x)"),
        ("(and (R x x) (forall y (not (R y y))))", "(not (= x x))"),
        ("(forall y (= y y))", "(= x x)"),
        ("(exists y (not (= x y)))", "(exists y (not (= x y)))"),
        ("(exists y (and (P y) (= x y)))", "(P x)"),
    ],
)
def test_constants_and_equality(text, expected):
    result = simplify(parse_formula(text, free=None), signature=DEFAULT_SIGNATURE, smallest=True)
    assert result.is_proven_smallest
    assert result.formula.ast_nodes == parse_formula(expected, free=None).ast_nodes


@pytest.mark.parametrize(("signature", "size"), [(PQ, 6), (Signature({"R": 2}), 8)])
def test_constants_without_equality(signature, size):
    atom = "(P x)" if "P" in signature else "(R x x)"
    for text in (f"(or {atom} (or {atom} (not {atom})))", f"(and {atom} (and {atom} (not {atom})))"):
        result = simplify(
            parse_formula(text, signature), signature=signature, smallest=True, fragment=Fragment(equality=False)
        )
        assert result.is_proven_smallest
        assert result.formula.ast_nodes == size
        assert is_within(result.formula, Fragment(equality=False))


def test_a_formula_outside_of_the_fragment_may_be_smaller_and_stays():
    result = simplify(parse_formula("(iff (P x) (Q x))"), signature=DEFAULT_SIGNATURE, smallest=True)
    assert result.formula is result.source
    assert result.smallest is not None
    assert result.smallest.ast_nodes == result.none_below == 12
    deep = parse_formula("(exists y (and (R x y) (exists z (and (R y z) (exists w (and (R z w) (P w)))))))")
    result = simplify(deep, signature=DEFAULT_SIGNATURE, smallest=True, fragment=Fragment(depth=2))
    assert result.formula is deep
    assert result.smallest is None
    assert result.is_proven_smallest


def test_no_claim_without_a_proof():
    formula = parse_formula(NO_FINITE_MODEL)
    result = simplify(formula, signature=DEFAULT_SIGNATURE, smallest=True, budget=Budget(60.0))
    assert result.outcome is Outcome.UNKNOWN
    assert not result.is_proven_smallest
    assert [to_sexpr(one) for one in result.undecided] == ["(not (= x x))"]
    assert result.agree_up_to >= 2


def test_a_budget_that_runs_out_leaves_a_bound():
    formula = parse_formula("(forall y (or (not (R x y)) (exists z (and (R y z) (not (P z))))))")
    result = simplify(formula, signature=DEFAULT_SIGNATURE, smallest=True, budget=Budget(None, 1))
    assert result.outcome is Outcome.OUT_OF_MEMORY
    assert result.formula is formula
    assert not result.is_proven_smallest


def test_width_is_the_names_that_are_needed():
    assert width(parse_formula("(exists y (exists z (and (R x y) (R y z))))")) == 3
    assert width(parse_formula("(exists y (and (R x y) (exists z (and (R y z) (exists w (R z w))))))")) == 2
    assert not is_within(parse_formula("(implies (P x) (Q x))"), Fragment())


# --- on the worlds of an instance ---


@pytest.mark.parametrize("regime", list(Regime))
@pytest.mark.parametrize("seed", range(4))
def test_on_an_instance_as_brute_force(regime, seed):
    rng = np.random.default_rng(seed)
    rate = 0.25 if regime is Regime.EC else 0.0
    worlds = [
        sample_world(rng, size, signature=PR, density=0.5, unknown_rate=rate, name=f"w{i}")
        for i, size in enumerate((1, 2, 3)[: int(rng.integers(1, 4))])
    ]
    no_ids = ("w1",) if regime is Regime.CI and len(worlds) > 1 else ()
    train = tuple(world.name for world in worlds if world.name not in no_ids)
    instance = Instance("i", regime, PR, tuple(worlds), train, no_ids)
    facts = [full for world in worlds for full in completions(world)]
    fragment = Fragment(2, 2)
    least = least_sizes(facts, fragment, 7)
    proven = 0
    for formula in samples(seed + 100, 12, PR, 12):
        result = simplify(formula, signature=PR, on=instance, smallest=True, fragment=fragment)
        assert free_variables(result.formula) == {"x"}
        extension = extension_on(formula, facts)
        assert extension_on(result.formula, facts) == extension
        expected = least.get(extension, 8)
        if expected < 8:
            assert result.none_below <= expected
        if result.smallest is not None:
            assert result.smallest.ast_nodes >= expected
        if result.is_proven_smallest and result.formula.ast_nodes <= 7 and is_within(result.formula, fragment):
            assert result.formula.ast_nodes == expected
            proven += 1
        # Only where formulas without x agree can the bound be lower than the answer.
        if result.outcome is not Outcome.SOLVED:
            assert is_alike(extension, facts)
    assert proven > 3


def completions(world):
    places = [(p, tuple(place)) for p, mask in world.unknown.items() for place in np.argwhere(mask).tolist()]
    for values in itertools.product((False, True), repeat=len(places)):
        tables = {name: table.copy() for name, table in world.true.items()}
        for (name, place), value in zip(places, values, strict=True):
            tables[name][place] = value
        yield world.completed(tables)


def is_alike(extension, worlds) -> bool:
    values = np.frombuffer(extension, dtype=np.bool_).tolist()
    for world in worlds:
        labels, values = values[: world.size], values[world.size :]
        if len(set(labels)) > 1:
            return False
    return True
