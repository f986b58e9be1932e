"""The exact search: never a larger answer than planted, in every regime and for every odd shape of instance."""

from dataclasses import replace

import numpy as np
import pytest

from induction.budget import Budget, Outcome
from induction.enumeration.classes import ClassTables
from induction.enumeration.fitting import Fitter, Question, fitting_by_size
from induction.enumeration.layout import Fragment, Layout
from induction.enumeration.types import object_types
from induction.errors import UnknownNameError
from induction.evaluation import bitset
from induction.formula import And, Or, Signature, measure, parse_formula, to_sexpr
from induction.formula.sampling import sample_formula
from induction.formula.syntax import DEFAULT_SIGNATURE
from induction.grounding import check
from induction.search import SearchOptions, load_search, search_names
from induction.worlds import Instance, Regime, World, read_instances
from induction.worlds.sampling import sample_world

WIDE = Signature({"P": 1, "Q": 1, "U": 1, "V": 1, "R": 2, "S": 2, "E": 2, "F": 2})


def solve(instance, budget=None, **options):
    result = load_search("bottom-up").search(instance, budget or Budget(60), SearchOptions(**options), lambda _: None)
    for formula in result.formulas:
        assert check(formula, instance).valid
        assert check(formula, instance, use_reference=True).valid
        metrics = measure(formula)
        assert metrics.quantifier_depth <= options.get("depth", 3)
        assert metrics.free_variables == ("x",)
    return result


def labelled(world: World, formula, name: str) -> World:
    ((target,),) = bitset.extensions([formula], [world])
    return replace(world, name=name, target=target)


def planted(seed, formula, worlds=4, size=7, signature=DEFAULT_SIGNATURE, density=0.3) -> Instance:
    rng = np.random.default_rng(seed)
    drawn = [
        labelled(sample_world(rng, size, signature=signature, density=density), formula, f"w{i}") for i in range(worlds)
    ]
    return Instance(
        f"planted_{seed}", Regime.FULL_OBS, signature, tuple(drawn), tuple(w.name for w in drawn), gold=formula
    )


def random_formula(rng, most=14, signature=DEFAULT_SIGNATURE):
    return sample_formula(
        rng, int(rng.integers(2, most + 1)) if signature.unary else 3, signature=signature, max_depth=3,
        bound_variables=("x", "y", "z"), connectives=(And, Or),
    )  # fmt: skip


def _never_larger(seed, number) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(number):
        signature = WIDE if rng.random() < 0.2 else DEFAULT_SIGNATURE
        try:
            formula = random_formula(rng, signature=signature)
        except ValueError:
            continue
        instance = planted(
            int(rng.integers(10**6)),
            formula,
            int(rng.integers(1, 5)),
            int(rng.integers(1, 8)),
            signature,
            float(rng.choice([0.1, 0.3, 0.6])),
        )
        result = solve(instance, max_ast=14)
        assert result.outcome is Outcome.SOLVED, to_sexpr(formula)
        assert result.formulas[0].ast_nodes <= formula.ast_nodes, to_sexpr(formula)
        assert result.none_below <= result.formulas[0].ast_nodes


@pytest.mark.parametrize("seed", range(4))
def test_planted_formulas(seed):
    _never_larger(seed, 50)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100, 150))
def test_planted_formulas_full(seed):
    _never_larger(seed, 100)


@pytest.mark.parametrize(
    "text",
    [
        "(exists y (and (not (P y)) (forall z (or (not (S y z)) (S x z)))))",
        "(exists y (and (or (P y) (Q y)) (forall z (or (not (S z y)) (R x z)))))",
        "(and (and (not (P x)) (Q x)) (exists y (and (R x y) (and (P y) (Q y)))))",
        "(forall y (or (not (R x y)) (exists z (and (S y z) (not (Q z))))))",
    ],
)
def test_shapes_of_the_benchmark(text):
    gold = parse_formula(text)
    for seed in range(3):
        result = solve(planted(seed, gold, 5, 8), depth=2, max_ast=18)
        assert result.formulas[0].ast_nodes <= gold.ast_nodes
        assert result.is_proven_smallest


def test_rebinding_reaches_nested_depth_three():
    gold = parse_formula("(forall y (or (not (S x y)) (exists z (and (R y z) (forall y (or (not (R z y)) (S x y)))))))")
    assert gold.ast_nodes == 23
    rng = np.random.default_rng(5)
    worlds = []
    while len(worlds) < 3:
        world = labelled(sample_world(rng, 7, density=0.25), gold, f"w{len(worlds)}")
        if 1 <= world.target.sum() < 7:
            worlds.append(world)
    instance = Instance("nested", Regime.FULL_OBS, DEFAULT_SIGNATURE, tuple(worlds), ("w0", "w1", "w2"), gold=gold)
    result = solve(instance, Budget(40), max_ast=19)
    assert result.formulas
    assert result.formulas[0].ast_nodes <= 23
    names = [v for v in measure(result.formulas[0]).variables if v != "x"]
    assert set(names) <= {"y", "z", "w"}


def test_wide_worlds_and_signatures():
    gold = parse_formula("(exists y (and (F x y) (U y)))", WIDE)
    result = solve(planted(1, gold, 3, 30, WIDE), depth=2, max_ast=10)
    assert result.formulas[0].ast_nodes <= 8
    many = planted(2, parse_formula("(exists y (and (R x y) (P y)))"), 16, 9)
    assert solve(many, depth=2, max_ast=10).formulas[0].ast_nodes <= 8


@pytest.mark.parametrize("equality", [True, False])
@pytest.mark.parametrize("label", [True, False])
@pytest.mark.parametrize("size", [1, 5])
def test_full_and_empty_targets(equality, label, size):
    rng = np.random.default_rng(size)
    world = replace(sample_world(rng, size), name="w", target=np.full(size, label))
    instance = Instance("i", Regime.FULL_OBS, DEFAULT_SIGNATURE, (world,), ("w",))
    result = solve(instance, equality=equality, max_ast=10)
    assert result.outcome is Outcome.SOLVED
    if equality:
        assert result.formulas[0].ast_nodes <= (3 if label else 4)


def test_contradictions_without_equality():
    signature = Signature({"P": 1})
    world = World("w", ("a", "b"), signature, {"P": [1, 0]}, [0, 0])
    result = solve(Instance("i", Regime.FULL_OBS, signature, (world,), ("w",)), equality=False, depth=0)
    assert result.formulas[0].ast_nodes == 6
    assert result.none_below <= 6


@pytest.mark.parametrize("label", [True, False])
def test_partly_observed_worlds_with_labels_alike(label):
    signature = Signature({"P": 1, "R": 2})
    unknown = {"R": [[0, 1], [0, 0]]}
    world = World("w", ("a", "b"), signature, {"P": [1, 1], "R": [[1, 0], [0, 0]]}, [label, label], unknown)
    result = solve(Instance("i", Regime.EC, signature, (world,), ("w",)), max_ast=8)
    assert result.formulas[0].ast_nodes == result.none_below == (2 if label else 3)


def test_labels_alike_in_each_world():
    """A formula without x could say it, which is no definition: x must be in it, and the bound stays honest."""
    rng = np.random.default_rng(3)
    worlds = []
    for i, label in enumerate((True, False)):
        world = sample_world(rng, 4)
        unary = {"P": np.full(4, label), "Q": world.true["Q"]}
        worlds.append(replace(world, name=f"w{i}", true={**world.true, **unary}, target=np.full(4, label)))
    instance = Instance("i", Regime.FULL_OBS, DEFAULT_SIGNATURE, tuple(worlds), ("w0", "w1"))
    result = solve(instance)
    assert to_sexpr(result.formulas[0]) == "(P x)"


def _ci(seed, gold, rival):
    rng = np.random.default_rng(seed)
    yes, no = [], []
    while len(yes) < 4 or len(no) < 2:
        world = sample_world(rng, 7)
        ((of_gold,), (of_rival,)) = bitset.extensions([gold, rival], [world])
        if (of_gold != of_rival).any():
            yes.append(replace(world, name=f"yes_{len(yes)}", target=of_gold))
            no.append(replace(world, name=f"no_{len(no)}", target=of_rival))
    worlds = (*yes, *no)
    return Instance(
        "ci", Regime.CI, DEFAULT_SIGNATURE, worlds, tuple(w.name for w in yes), tuple(w.name for w in no), gold=gold
    )


@pytest.mark.parametrize("seed", range(4))
def test_contrastive_instances(seed):
    gold, rival = parse_formula("(exists y (and (R x y) (P y)))"), parse_formula("(exists y (R x y))")
    result = solve(_ci(seed, gold, rival), max_ast=10)
    assert result.outcome is Outcome.SOLVED
    assert result.formulas[0].ast_nodes <= 8
    assert result.is_proven_smallest


def test_no_worlds_that_cannot_be_missed_are_named():
    """The NO world is a copy of the YES world, labels and all: what matches the one matches the other."""
    world = sample_world(np.random.default_rng(2), 5)
    gold = parse_formula("(exists y (R x y))")
    yes, no = labelled(world, gold, "yes"), labelled(world, gold, "no")
    instance = Instance("ci", Regime.CI, DEFAULT_SIGNATURE, (yes, no), ("yes",), ("no",))
    result = solve(instance)
    assert result.outcome is Outcome.PROVEN_NONE
    assert "also matches NO world no" in result.diagnosis


def test_contrastive_smallest_as_by_going_through_all():
    """The least size over all classes that match every YES world and miss every NO world."""
    gold, rival = parse_formula("(exists y (and (R x y) (P y)))"), parse_formula("(exists y (R x y))")
    instance = _ci(11, gold, rival)
    layout = Layout((*instance.train_worlds, *instance.no_worlds))
    tables = ClassTables(layout, Fragment(3, 3))
    tables.build(1, 8)
    fitting = [
        entry.ast_nodes
        for size in range(2, 9)
        for entry in tables.entries(1, size)
        if measure(tables.formula(1, entry.index)).free_variables == ("x",)
        and check(tables.formula(1, entry.index), instance).valid
    ]
    assert solve(instance, max_ast=8).formulas[0].ast_nodes == min(fitting)


def test_partly_observed_instances(examples, real_data):
    for path, name in ((examples, "example_ec"), (real_data / "examples_v1.yaml", "E_core_0001")):
        instance = read_instances(path, [name])[0]
        result = solve(instance, max_ast=12)
        assert result.outcome is Outcome.SOLVED
        assert result.formulas[0].ast_nodes <= instance.gold_ast
        assert result.none_below == 0
        assert "not ruled out" in result.diagnosis


def test_few_unknown_atoms_allow_a_proof():
    world = sample_world(np.random.default_rng(1), 4)
    unknown = {"R": np.zeros((4, 4), dtype=bool)}
    unknown["R"][0, 1] = unknown["R"][2, 2] = True
    true = {**world.true, "R": world.true["R"] & ~unknown["R"]}
    gold = parse_formula("(exists y (and (R x y) (Q y)))")
    ((target,),) = bitset.extensions([gold], [world])
    partial = World("w", world.domain, DEFAULT_SIGNATURE, true, target, unknown)
    result = solve(Instance("i", Regime.EC, DEFAULT_SIGNATURE, (partial,), ("w",)), max_ast=8)
    assert result.formulas[0].ast_nodes <= 8
    assert result.none_below == result.formulas[0].ast_nodes


def test_indistinguishable_objects_are_named():
    signature = Signature({"P": 1, "R": 2})
    cycle = np.zeros((4, 4), dtype=bool)
    for i in range(4):
        cycle[i, (i + 1) % 4] = True
    world = World("ring", ("a", "b", "c", "d"), signature, {"R": cycle}, [1, 0, 0, 0])
    result = solve(Instance("i", Regime.FULL_OBS, signature, (world,), ("ring",)))
    assert result.outcome is Outcome.PROVEN_NONE
    assert not result.formulas
    assert "a in ring is labelled T and b in ring is not" in result.diagnosis
    assert "nor would more" in result.diagnosis


def test_what_would_help_is_said():
    """A cycle of six and two of three: told apart by three variables, not by two."""
    signature = Signature({"R": 2})
    table = np.zeros((12, 12), dtype=bool)
    for ring in (range(6), range(6, 9), range(9, 12)):
        for i in ring:
            j = ring[(i - ring[0] + 1) % len(ring)]
            table[i, j] = table[j, i] = True
    target = np.arange(12) < 6
    world = World("w", tuple(f"a{i}" for i in range(12)), signature, {"R": table}, target)
    instance = Instance("i", Regime.FULL_OBS, signature, (world,), ("w",))
    two = solve(instance, variables=2, max_ast=8)
    assert two.outcome is Outcome.PROVEN_NONE
    assert "more variables" in two.diagnosis
    three = solve(instance, variables=3, max_ast=16)
    assert three.outcome is Outcome.SOLVED


@pytest.mark.parametrize("seed", range(6))
def test_types_are_those_of_the_formulas(seed):
    """Objects of one type agree on every class; objects of different types differ on one of the small ones."""
    rng = np.random.default_rng(seed)
    signature = Signature({"P": 1, "R": 2})
    worlds = [sample_world(rng, int(rng.integers(1, 4)), signature=signature, density=0.5) for _ in range(2)]
    fragment = Fragment(int(rng.integers(1, 4)), int(rng.integers(0, 3)), bool(rng.integers(2)))
    layout = Layout(worlds)
    tables = ClassTables(layout, fragment)
    tables.build(1, 9)
    rows = tables.layer(1).tables[: tables.layer(1).count]
    bits = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")[:, : layout.bits]
    types = np.concatenate(object_types(worlds, fragment))
    for i in range(layout.bits):
        for j in range(i):
            if types[i] == types[j]:
                assert (bits[:, i] == bits[:, j]).all()
            else:
                assert fragment.depth >= 2 or (bits[:, i] != bits[:, j]).any()


def test_several_answers_differ_somewhere(examples):
    result = solve(read_instances(examples, ["example_ci"])[0], solutions=5)
    assert len(result.formulas) > 1
    sizes = {formula.ast_nodes for formula in result.formulas}
    assert len(sizes) == 1
    rng = np.random.default_rng(9)
    others = [sample_world(rng, 1 + i % 7, density=(0.15, 0.3, 0.5, 0.8)[i % 4]) for i in range(400)]
    meanings = {np.concatenate(row).tobytes() for row in bitset.extensions(list(result.formulas), others)}
    assert len(meanings) == len(result.formulas)


def test_budgets_are_outcomes():
    rng = np.random.default_rng(1)
    worlds = tuple(replace(sample_world(rng, 10), name=f"w{i}") for i in range(6))
    instance = Instance("random", Regime.FULL_OBS, DEFAULT_SIGNATURE, worlds, tuple(w.name for w in worlds))
    late = solve(instance, Budget(time_limit_s=0.5))
    assert late.outcome is Outcome.TIMED_OUT
    assert late.none_below > 8
    small = solve(instance, Budget(60, memory_limit_bytes=20 * 2**20))
    assert small.outcome is Outcome.OUT_OF_MEMORY
    nothing = solve(instance, max_ast=10)
    assert nothing.outcome in (Outcome.EXHAUSTED, Outcome.SOLVED)
    assert nothing.none_below == 11


def _first_size(instance, upto, **options):
    layout = Layout(instance.train_worlds)
    names = ("hash_mask", "unstored_from", "prune_reducible", "prune_independent")
    of_tables = {key: options.pop(key) for key in names if key in options}
    fitter = Fitter(ClassTables(layout, Fragment(3, 3), **of_tables), **options)
    question = Question(layout.target(), layout.full, np.zeros((0, layout.words), dtype=np.uint64))
    by_size = fitting_by_size(fitter, question, layout.full, range(2, upto + 1))
    return next((size for size, found in by_size if found), None)


@pytest.mark.parametrize("seed", range(5))
def test_every_shortcut_can_be_switched_off(seed):
    """Streaming against storing, pruning against none, and hashes that collide all the time: the same sizes fit."""
    rng = np.random.default_rng(seed)
    instance = None
    while instance is None or not all(1 <= world.target.sum() < 4 for world in instance.worlds):
        instance = planted(seed, random_formula(rng, 11), 2, 4)
    expected = _first_size(instance, 11)
    assert expected is not None
    assert _first_size(instance, 11, prune=False) == expected
    assert _first_size(instance, 11, stored_up_to=11) == expected
    assert _first_size(instance, 11, hash_mask=np.uint64(7)) == expected
    assert _first_size(instance, 11, unstored_from=4) == expected
    assert _first_size(instance, 11, prune_reducible=False, unstored_from=4) == expected
    assert _first_size(instance, 11, prune_independent=False, unstored_from=4) == expected


def test_no_worlds_and_unknown_searches():
    with pytest.raises(ValueError, match="no worlds"):
        Layout([])
    with pytest.raises(UnknownNameError, match="no search 'nonesuch'; there are"):
        load_search("nonesuch")
    assert "bottom-up" in search_names()
    with pytest.raises(ValueError, match="1 to 3 variables"):
        Fragment(variables=4)


def test_real_tasks(real_data):
    """The released tasks of depth two, none larger than the formula given, each proven smallest."""
    for instance in read_instances(real_data / "fullobs_v2_dev.yaml.gz"):
        if "qd3" in instance.instance_id and "compact_response" not in instance.instance_id:
            continue
        result = solve(instance, depth=3 if "qd3" in instance.instance_id else 2)
        assert result.is_proven_smallest, instance.instance_id
        assert instance.gold_ast is None or result.formulas[0].ast_nodes <= instance.gold_ast
