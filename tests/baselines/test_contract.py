"""What every search must keep, whatever it does: its answers fit, its claims hold, its budget is kept."""

import itertools
import time

import numpy as np
import pytest

from induction.budget import Budget, Outcome, OutOfTimeError
from induction.errors import UnsupportedOptionError, UnsupportedRegimeError
from induction.evaluation import reference
from induction.formula import Signature, parse_formula
from induction.formula.metrics import free_variables, quantifier_depth
from induction.formula.sampling import sample_formula
from induction.search import About, SearchOptions, SearchResult, load_search, refuse_unheeded, search_names
from induction.worlds import Instance, Regime, World

SIGNATURES = (
    Signature({"P": 1, "R": 2}),
    Signature({"P": 1, "Q": 1, "R": 2, "S": 2}),
    Signature({"likes": 2}),
    Signature({"P": 1, "Q": 1}),
)
ALL = search_names()


def silent(progress):
    """Nobody listens."""


def random_instance(seed):
    """A small instance of any regime and signature, labelled by a random formula or at random."""
    rng = np.random.default_rng(seed)
    signature = SIGNATURES[seed % len(SIGNATURES)]
    regime = list(Regime)[(seed // 3) % 3]
    gold = sample_formula(rng, int(rng.integers(4, 14)), signature=signature, max_depth=2)
    labelled_by_gold = rng.random() < 0.7
    worlds = []
    for i in range(int(rng.integers(1, 4)) + (regime is Regime.CI)):
        n = int(rng.integers(2, 5))
        true = {name: rng.random((n,) * arity) < 0.4 for name, arity in signature.items()}
        whole = World(f"w{i}", tuple(f"a{e}" for e in range(n)), signature, true, np.zeros(n, dtype=bool))
        target = reference.extension(gold, whole) if labelled_by_gold else rng.random(n) < 0.5
        unknown = {}
        if regime is Regime.EC:
            unknown = {name: rng.random(table.shape) < 0.2 for name, table in true.items() if table.ndim == 2}
            true = {name: table & ~unknown.get(name, np.zeros_like(table)) for name, table in true.items()}
        if regime is Regime.CI and i == 0:
            target = rng.random(n) < 0.5
        worlds.append(World(f"w{i}", whole.domain, signature, true, target, unknown))
    names = tuple(world.name for world in worlds)
    if regime is Regime.CI:
        return Instance(f"i{seed}", regime, signature, tuple(worlds), names[1:], names[:1])
    return Instance(f"i{seed}", regime, signature, tuple(worlds), names)


def matches(formula, world):
    """Whether the formula holds of just the labelled objects; for unknown atoms in some completion, all gone through."""
    places = [(name, tuple(place)) for name, mask in world.unknown.items() for place in np.argwhere(mask).tolist()]
    if len(places) > 12:
        return None  # too many to go through
    for values in itertools.product((False, True), repeat=len(places)):
        tables = {name: table.copy() for name, table in world.true.items()}
        for (name, place), value in zip(places, values, strict=True):
            tables[name][place] = value
        if (reference.extension(formula, world.completed(tables)) == world.target).all():
            return True
    return False


def assert_kept(search, instance, options, result):
    assert result.search == search.name
    assert result.instance_id == instance.instance_id
    assert isinstance(result.outcome, Outcome)
    for formula in result.formulas:
        assert free_variables(formula) == {"x"}
        wrong = 0
        for world in instance.train_worlds:
            if options.noise:
                wrong += int((reference.extension(formula, world) != world.target).sum())
            else:
                assert matches(formula, world) in (True, None), (search.name, str(formula), world.name)
        assert wrong <= options.noise
        for world in instance.no_worlds:
            assert not matches(formula, world), (search.name, str(formula))
        if not options.equality:
            assert "(= " not in str(formula)
        assert quantifier_depth(formula) <= options.depth
    if result.formulas:
        assert result.outcome is not Outcome.PROVEN_NONE
        assert result.none_below <= result.formulas[0].ast_nodes
        sizes = [formula.ast_nodes for formula in result.formulas]
        assert sizes == sorted(sizes)
    else:
        assert result.outcome is not Outcome.SOLVED
        ran_out = result.outcome in (Outcome.TIMED_OUT, Outcome.OUT_OF_MEMORY, Outcome.UNKNOWN)
        assert result.diagnosis or ran_out or search.name == "bottom-up"
    assert result.fragment


def run_some(name, seeds, budget_s):
    search = load_search(name)
    for seed in seeds:
        instance = random_instance(seed)
        options = SearchOptions(max_ast=12, depth=1 + seed % 2, equality=seed % 5 != 0)
        result = search.search(instance, Budget(budget_s, 4 << 30), options, silent)
        assert_kept(search, instance, options, result)


@pytest.mark.parametrize("name", ALL)
def test_answers_fit(name):
    run_some(name, range(30), 1.0)


@pytest.mark.full
@pytest.mark.parametrize("part", range(10))
@pytest.mark.parametrize("name", ALL)
def test_many_answers_fit(name, part):
    run_some(name, range(1000 + 50 * part, 1050 + 50 * part), 1.0)


@pytest.mark.parametrize("name", [name for name in ALL if "noise" in load_search(name).about.heeds])
def test_answers_fit_but_for_noise(name):
    search = load_search(name)
    for seed in range(24):
        instance = random_instance(seed)
        if instance.regime is Regime.EC:
            continue
        options = SearchOptions(max_ast=10, depth=1, noise=1 + seed % 3)
        result = search.search(instance, Budget(5, 4 << 30), options, silent)
        assert_kept(search, instance, options, result)


def hard_instance(regime=Regime.FULL_OBS):
    """Random labels: nothing small fits."""
    rng = np.random.default_rng(1)
    signature = SIGNATURES[1]
    worlds = []
    for i in range(6):
        true = {name: rng.random((10,) * arity) < 0.3 for name, arity in signature.items()}
        worlds.append(World(f"w{i}", tuple(f"a{e}" for e in range(10)), signature, true, rng.random(10) < 0.5))
    return Instance("hard", regime, signature, tuple(worlds), tuple(world.name for world in worlds))


@pytest.mark.parametrize("name", ALL)
def test_budgets_hold(name):
    search = load_search(name)
    instance = hard_instance()
    search.search(
        instance, Budget(1), SearchOptions(max_ast=12), silent
    )  # loads what it needs, kernels of all sizes too
    started = time.monotonic()
    result = search.search(instance, Budget(2.0, 4 << 30), SearchOptions(), silent)
    assert time.monotonic() - started < 2 * 1.1 + 1
    assert_kept(search, instance, SearchOptions(), result)
    small = search.search(instance, Budget(60, 30 << 20), SearchOptions(), silent)
    assert small.outcome is Outcome.OUT_OF_MEMORY


@pytest.mark.parametrize("name", ALL)
def test_interrupts_are_outcomes(name):
    """Ctrl-C in the middle: what was found so far is given."""
    calls = itertools.count()

    def stop(progress):
        if next(calls) > 3:
            raise KeyboardInterrupt

    instance = hard_instance()
    result = load_search(name).search(instance, Budget(60), SearchOptions(), stop)
    assert result.outcome is Outcome.UNKNOWN
    assert_kept(load_search(name), instance, SearchOptions(), result)


@pytest.mark.parametrize("name", ALL)
def test_same_search_same_answer(name, examples):
    from induction.worlds import read_instances

    names = ["example_fullobs"] if name == "ilp-asp" else ["example_fullobs", "example_ec"]  # rules: hours for others
    for instance in read_instances(examples, names):
        results = [load_search(name).search(instance, Budget(60), SearchOptions(), silent) for _ in range(2)]
        first, second = ((r.formulas, r.outcome, r.none_below, r.statistics) for r in results)
        assert first == second
        assert first[0]


@pytest.mark.parametrize("name", ALL)
def test_says_what_it_is(name):
    about = load_search(name).about
    assert all((about.summary, about.expresses, about.proves))
    assert load_search(name).name == name


@pytest.mark.parametrize("name", ALL)
def test_worlds_of_one_label(name):
    """All objects labelled, or none: any search finds something that says so."""
    world = random_instance(1).worlds[0]
    for label in (True, False):
        labelled = World("w", world.domain, world.signature, world.true, np.full(world.size, label))
        instance = Instance("i", Regime.FULL_OBS, world.signature, (labelled,), ("w",))
        for options in (SearchOptions(max_ast=8, depth=1), SearchOptions(max_ast=2, depth=0, equality=False)):
            result = load_search(name).search(instance, Budget(10), options, silent)
            assert_kept(load_search(name), instance, options, result)
            assert result.formulas or not options.depth, name


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("equality", [True, False])
def test_signatures_without_predicates(name, equality):
    """Nothing but equality to speak of, or nothing at all: an outcome, not a crash."""
    for label in ([True, True], [False, False], [True, False]):
        world = World("w", ("a", "b"), Signature({}), {}, label)
        instance = Instance("i", Regime.FULL_OBS, world.signature, (world,), ("w",))
        options = SearchOptions(max_ast=8, depth=2, equality=equality)
        result = load_search(name).search(instance, Budget(5), options, silent)
        assert_kept(load_search(name), instance, options, result)
        assert bool(result.formulas) <= equality


@pytest.mark.full
@pytest.mark.parametrize("objects", [15, 30])
@pytest.mark.parametrize("name", ALL)
def test_budgets_hold_on_large_worlds(name, objects):
    rng = np.random.default_rng(1)
    worlds = []
    for i in range(5):
        true = {p: rng.random((objects,) * arity) < 2.4 / objects for p, arity in SIGNATURES[1].items()}
        names = tuple(f"a{e}" for e in range(objects))
        worlds.append(World(f"w{i}", names, SIGNATURES[1], true, rng.random(objects) < 0.5))
    instance = Instance("large", Regime.FULL_OBS, SIGNATURES[1], tuple(worlds), tuple(world.name for world in worlds))
    started = time.monotonic()
    result = load_search(name).search(instance, Budget(10.0, 6 << 30), SearchOptions(), silent)
    assert time.monotonic() - started < 10 * 1.1 + 1
    assert_kept(load_search(name), instance, SearchOptions(), result)


def test_universal_statements_are_outside_of_rules():
    signature = Signature({"P": 1, "R": 2})
    gold = parse_formula("(forall y (or (not (R x y)) (P y)))", signature)
    rng = np.random.default_rng(3)
    worlds = []
    for i in range(3):
        true = {"P": rng.random(6) < 0.5, "R": rng.random((6, 6)) < 0.3}
        whole = World(f"w{i}", tuple("abcdef"), signature, true, np.zeros(6, dtype=bool))
        worlds.append(World(f"w{i}", whole.domain, signature, true, reference.extension(gold, whole)))
    instance = Instance("i", Regime.FULL_OBS, signature, tuple(worlds), ("w0", "w1", "w2"))
    options = SearchOptions(variables=2)
    result = load_search("ilp-asp").search(instance, Budget(60), options, silent)
    assert result.outcome in (Outcome.PROVEN_NONE, Outcome.EXHAUSTED)
    assert "outside the fragment" in result.diagnosis
    assert load_search("prenex-smt").search(instance, Budget(60), options, silent).formulas
    assert load_search("bottom-up").search(instance, Budget(60), options, silent).is_proven_smallest


class Deaf:
    """A search that heeds nothing."""

    name = "deaf"
    about = About("", "", "")

    def search(self, instance, budget, options, report):
        refuse_unheeded(self, instance, options)


@pytest.mark.parametrize("search", [*(load_search(name) for name in ALL), Deaf()], ids=lambda search: search.name)
def test_what_is_not_heeded_is_refused(search):
    """By the search itself: what decides which formulas are answers is gone by, or refused."""
    instance = hard_instance()
    for name, value in (("noise", 1), ("equality", False)):
        options = SearchOptions(max_ast=4, depth=1, **{name: value})
        if name in search.about.heeds:
            search.search(instance, Budget(5), options, silent)
            continue
        with pytest.raises(UnsupportedOptionError, match=f"{search.name} "):
            search.search(instance, Budget(5), options, silent)
    partly = Instance("ec", Regime.EC, instance.signature, instance.worlds, instance.train_ids)
    with pytest.raises((UnsupportedOptionError, UnsupportedRegimeError)):
        search.search(partly, Budget(5), SearchOptions(noise=1), silent)


def test_solved_and_all_listed_are_two_facts():
    """A budget that runs out after the proof costs further answers only, and the result says so."""
    formula = parse_formula("(P x)")
    for ran_out, word in (
        (Outcome.TIMED_OUT, "timed-out"),
        (Outcome.OUT_OF_MEMORY, "out-of-memory"),
        (Outcome.UNKNOWN, "interrupted"),
    ):
        proven = SearchResult("i", "s", ran_out, (formula,), 2, "f")
        assert (proven.outcome, proven.further_answers) == (Outcome.SOLVED, f"not all: {word}")
        unproven = SearchResult("i", "s", ran_out, (parse_formula("(not (P x))"),), 2, "f")
        assert (unproven.outcome, unproven.further_answers) == (ran_out, "not looked for")


def test_further_answers_are_told():
    """Stopped as soon as the smallest is proven, while others are looked for."""
    instance = random_instance(13)
    search = load_search("bottom-up")
    options = SearchOptions(max_ast=10, solutions=50)
    whole = search.search(instance, Budget(60), options, silent)
    assert whole.outcome is Outcome.SOLVED
    assert whole.further_answers == "all"
    few = search.search(instance, Budget(60), SearchOptions(max_ast=10, solutions=len(whole.formulas) - 1), silent)
    assert few.further_answers == f"not all: {len(whole.formulas) - 1} asked for"

    def stop(progress):
        if progress.best is not None and progress.none_below >= progress.best.ast_nodes:
            raise OutOfTimeError("now")

    cut = search.search(instance, Budget(60), options, stop)
    assert (cut.outcome, cut.further_answers) == (Outcome.SOLVED, "not all: timed-out")
    assert cut.is_proven_smallest
