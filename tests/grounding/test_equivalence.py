"""Equivalence: against brute force on all small worlds, with proofs of what is equivalent by construction."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import definitions

from induction.errors import EvaluationLimitError
from induction.evaluation import bitset, reference
from induction.formula import normal_forms, parse_formula
from induction.formula.canonical import canonical_key
from induction.formula.metrics import free_variables
from induction.formula.sampling import sample_formula
from induction.formula.syntax import (
    DEFAULT_SIGNATURE,
    And,
    Atom,
    BinaryConnective,
    Equal,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Signature,
    fold,
    to_sexpr,
)
from induction.grounding.equivalence import Comparer, Relation, Sameness, _SizeSearch
from induction.worlds.sampling import sample_world

PQR = Signature({"P": 1, "Q": 1, "R": 2})
COMPARERS = {signature: Comparer(signature) for signature in (PQR, DEFAULT_SIGNATURE)}
BATCHES = [bitset.Batch.every_world(PQR, size) for size in (1, 2, 3)]


def wide_formula() -> Formula:
    """Twenty variables free at a time."""
    names = [f"y{i}" for i in range(20)]
    body: Formula = Atom("P", ("x",))
    for one, other in itertools.pairwise(names):
        body = And(body, Or(Atom("R", (one, other)), Equal(one, other)))
    wide: Formula = Iff(body, Atom("R", (names[0], names[-1])))
    for name in names:
        wide = Exists(name, wide)
    return wide


WIDE = wide_formula()
NO_FINITE_MODEL = (
    "(and (and (forall y (not (R y y))) (forall y (forall z (forall w (or (not (and (R y z) (R z w))) (R y w))))))"
    " (and (= x x) (forall y (exists z (R y z)))))"
)


def sample_pair(rng: np.random.Generator, max_ast: int = 20) -> tuple[Formula, Formula]:
    """Two random formulas over P Q R; every other time a large part of them is shared, so that they are close."""
    first, second, part = (
        sample_formula(rng, int(rng.integers(4, size + 1)), signature=PQR, max_depth=3)
        for size in (max_ast, max_ast, max_ast // 2)
    )
    if rng.random() < 0.5:
        return first, second
    halves = [sample_formula(rng, int(rng.integers(4, max_ast // 2)), signature=PQR, max_depth=2) for _ in "ab"]
    connective = (And, Or)[int(rng.integers(2))]
    return connective(part, halves[0]), connective(part, halves[1])


def brute_force_sizes(first: Formula, second: Formula) -> list[int]:
    """The sizes up to 3 at which some world tells the two apart."""
    tables = [bitset.extension_tables([first, second], batch) for batch in BATCHES]
    return [size for size, (one, other) in enumerate(tables, start=1) if (one != other).any()]


def check_against_brute_force(seed: int, count: int) -> dict[str, int]:
    rng = np.random.default_rng(seed)
    counts = dict.fromkeys(Sameness, 0)
    for _ in range(count):
        first, second = sample_pair(rng)
        comparison = COMPARERS[PQR].compare(first, second, smallest=True)
        counts[comparison.sameness] += 1
        sizes = brute_force_sizes(first, second)
        witness = comparison.finding.witness
        if witness is None:
            assert not sizes
            assert comparison.finding.proven_none or comparison.finding.none_up_to >= 3
            continue
        assert reference.holds(first, witness.world, witness.element) != reference.holds(
            second, witness.world, witness.element
        )
        assert witness.is_smallest
        assert witness.world.size == min(sizes, default=witness.world.size)
        assert sizes or witness.world.size > 3
    return {str(sameness): number for sameness, number in counts.items()}


def test_agrees_with_brute_force_on_all_worlds_of_up_to_three_objects():
    counts = check_against_brute_force(seed=0, count=200)
    assert counts["different"] > 100
    assert counts["equivalent"] > 0


@pytest.mark.full
def test_agrees_with_brute_force_on_two_thousand_pairs():
    check_against_brute_force(seed=1, count=2000)


def commuted(formula: Formula) -> Formula:
    """Operands of and, or, iff and = exchanged everywhere."""

    def combine(node: Formula, *parts: Formula) -> Formula:
        match node:
            case And() | Or() | Iff():
                return node.with_children(*reversed(parts))
            case Equal(left, right):
                return Equal(right, left)
        return node.with_children(*parts)

    return fold(formula, combine)


def by_de_morgan(formula: Formula) -> Formula:
    """`and` and `exists` written with `or`, `forall` and `not`."""

    def combine(node: Formula, *parts: Formula) -> Formula:
        match node:
            case And():
                return Not(Or(Not(parts[0]), Not(parts[1])))
            case Exists(variable, _):
                return Not(ForAll(variable, Not(parts[0])))
        return node.with_children(*parts)

    return fold(formula, combine)


def reassociated(formula: Formula) -> Formula:
    """(a op b) op c turned to a op (b op c) everywhere."""

    def combine(node: Formula, *parts: Formula) -> Formula:
        if isinstance(node, And | Or):
            connective: type[BinaryConnective] = type(node)
            *front, result = normal_forms.flatten(connective, node.with_children(*parts))
            for part in reversed(front):
                result = connective(part, result)
            return result
        return node.with_children(*parts)

    return fold(formula, combine)


def absorbed(formula: Formula) -> Formula:
    """The formula or itself with something more, everywhere that is an atom: a or (a and b)."""

    def combine(node: Formula, *parts: Formula) -> Formula:
        if isinstance(node, Atom):
            return Or(node, And(node, Atom("P", (node.arguments[0],))))
        return node.with_children(*parts)

    return fold(formula, combine)


REWRITINGS = {
    "nnf": normal_forms.to_nnf,
    "prenex": normal_forms.to_prenex,
    "alpha": normal_forms.to_alpha_canonical,
    "apart": normal_forms.to_renamed_apart,
    "miniscoped": normal_forms.to_miniscoped,
    "commuted": commuted,
    "De Morgan": by_de_morgan,
    "reassociated": reassociated,
    "absorbed": absorbed,
}


@pytest.mark.parametrize("name", REWRITINGS)
def test_equivalent_by_construction_is_proven(name):
    rng = np.random.default_rng(len(name))
    comparer = Comparer(DEFAULT_SIGNATURE)
    for _ in range(25):
        formula = sample_formula(rng, int(rng.integers(6, 21)), max_depth=3)
        comparison = comparer.compare(formula, REWRITINGS[name](formula))
        assert comparison.sameness is Sameness.EQUIVALENT, str(formula)


@settings(max_examples=150)
@given(definitions(PQR, max_ast=16), st.sampled_from(sorted(set(REWRITINGS) - {"absorbed"})))
def test_rewritings_keep_the_key(formula, name):
    rewritten = REWRITINGS[name](formula)
    if name not in ("prenex",):  # pulling quantifiers in another order cannot always be undone
        assert canonical_key(rewritten) == canonical_key(formula)
    for batch in BATCHES[:2]:
        one, other = bitset.extension_tables([formula, rewritten], batch)
        assert (one == other).all()


@given(definitions(PQR, max_ast=12), st.integers(0, 10**6))
def test_equal_keys_mean_equivalent_formulas(formula, number):
    """Of a formula and the same with one word exchanged, which often differ in a variable only."""
    words = to_sexpr(formula).replace("(", "( ").replace(")", " )").split()
    opposite = {
        "P": "Q",
        "and": "or",
        "exists": "forall",
        "x": "y",
        "y": "x",
        "z": "y",
        "or": "and",
        "forall": "exists",
    }
    places = [i for i, word in enumerate(words) if word in opposite]
    if not places:
        return
    place = places[number % len(places)]
    words[place] = opposite[words[place]]
    other = parse_formula(" ".join(words), PQR, free=None)
    if free_variables(other) <= {"x"} and brute_force_sizes(formula, other):
        assert canonical_key(formula) != canonical_key(other)


def test_the_twins_of_the_search_notes_are_told_apart():
    first = parse_formula("(exists y (and (not (P y)) (forall z (or (not (S y z)) (S x z)))))")
    second = parse_formula("(exists y (forall z (or (S x z) (not (or (P y) (S y z))))))")
    comparison = COMPARERS[DEFAULT_SIGNATURE].compare(first, second, smallest=True)
    assert comparison.sameness is Sameness.DIFFERENT
    assert comparison.finding.witness.world.size <= 2


def test_equal_in_finite_worlds_only_is_not_claimed_to_be_proven():
    nothing = parse_formula("(not (= x x))")
    comparison = Comparer(PQR, up_to=6, resource_limit=500_000).compare(parse_formula(NO_FINITE_MODEL), nothing)
    assert comparison.sameness is Sameness.UNDECIDED
    assert comparison.finding.none_up_to == 6


@pytest.mark.parametrize(
    ("text", "size", "atoms"),
    [
        # At least n objects: the smallest world has n, whatever the filter holds.
        ("(exists y (exists z (and (and (not (= x y)) (not (= x z))) (not (= y z)))))", 3, 0),
        (
            "(exists y (exists z (exists w (and (and (and (R x y) (R y z)) (and (R z w) (R w x))) (and (and (P x) (P y))"
            " (and (not (P z)) (and (not (P w)) (and (not (= x y)) (not (= z w))))))))))",
            4,
            6,
        ),
    ],
)
def test_smallest_worlds_beyond_the_filter(text, size, atoms):
    nothing = parse_formula("(not (= x x))")
    comparison = COMPARERS[DEFAULT_SIGNATURE].compare(parse_formula(text), nothing, smallest=True)
    witness = comparison.finding.witness
    assert witness.world.size == size
    assert sum(int(table.sum()) for table in witness.world.true.values()) == atoms
    assert witness.is_smallest
    assert witness.has_fewest_atoms


@pytest.mark.parametrize("seed", range(12))
def test_worlds_have_the_fewest_true_atoms_there_are(seed):
    rng = np.random.default_rng(seed)
    first, second = sample_pair(rng, 14)
    comparison = COMPARERS[PQR].compare(first, second, smallest=True)
    witness = comparison.finding.witness
    if witness is None:
        pytest.skip("this pair is equivalent")
    batch = BATCHES[witness.world.size - 1]
    one, other = bitset.extension_tables([first, second], batch)
    counts = sum(np.count_nonzero(table.reshape(batch.count, -1), axis=1) for table in batch.tables.values())
    fewest = counts[(one != other).any(axis=1)].min()
    assert sum(int(table.sum()) for table in witness.world.true.values()) == fewest
    # The route without the filter finds a world as small.
    by_grounding = _SizeSearch(Not(Iff(first, second)), PQR, 0, True).look(3, 10**7)
    assert by_grounding.world.size == witness.world.size
    assert sum(int(table.sum()) for table in by_grounding.world.true.values()) == fewest


P, Q = Atom("P", ("x",)), Atom("Q", ("x",))


@pytest.mark.parametrize(
    ("first", "second", "relation"),
    [
        (P, Not(Not(P)), Relation.IDENTICAL),
        (And(P, Q), P, Relation.NARROWER),
        (P, And(P, Q), Relation.WIDER),
        (P, Q, Relation.OVERLAPPING),
        (And(P, Q), And(P, Not(Q)), Relation.DISJOINT),
        (And(P, Not(P)), Q, Relation.NARROWER),
        (And(P, Not(P)), And(Q, Not(Q)), Relation.IDENTICAL),
    ],
)
def test_relations(first, second, relation):
    report = COMPARERS[PQR].relate(first, second)
    assert report.relation is relation
    assert report.proven


@settings(max_examples=100, deadline=None)
@given(definitions(PQR, max_ast=10), definitions(PQR, max_ast=10))
def test_relations_agree_with_brute_force(first, second):
    report = COMPARERS[PQR].relate(first, second)
    tables = [bitset.extension_tables([first, second], batch) for batch in BATCHES]
    for finding, hits in (
        (report.first_only, [one & ~other for one, other in tables]),
        (report.second_only, [other & ~one for one, other in tables]),
        (report.both, [one & other for one, other in tables]),
    ):
        if any(hit.any() for hit in hits):
            assert finding.witness is not None
            assert not finding.proven_none
        else:
            assert finding.witness is None or finding.witness.world.size > 3
    parts = (report.first_only, report.second_only, report.both)
    first_only, second_only, both = (finding.witness is not None for finding in parts)
    expected = {
        (False, False): Relation.IDENTICAL,
        (False, True): Relation.NARROWER,
        (True, False): Relation.WIDER,
        (True, True): Relation.OVERLAPPING if both else Relation.DISJOINT,
    }
    assert report.relation is expected[first_only, second_only]


def test_the_relation_holds_up_to_a_size_where_it_is_not_proven():
    report = Comparer(PQR, up_to=5, resource_limit=500_000).relate(
        parse_formula(NO_FINITE_MODEL), parse_formula("(P x)")
    )
    assert report.relation is Relation.NARROWER
    assert not report.proven
    assert report.up_to == 5


def test_first_alike_groups_what_means_the_same():
    texts = ["(P x)", "(not (not (P x)))", "(Q x)", "(or (P x) (P x))", "(and (Q x) (= x x))", "(exists y (P y))"]
    assert COMPARERS[PQR].first_alike([parse_formula(text, free=None) for text in texts]) == [0, 0, 2, 0, 2, 5]


def test_formulas_too_wide_for_the_filter_are_still_compared():
    """Ten variables free at a time exceed the tables of the filter, not what can be proven."""
    with pytest.raises(EvaluationLimitError):
        bitset.extension_tables([WIDE], BATCHES[2])
    comparer = Comparer(PQR, up_to=1, resource_limit=100_000)
    assert comparer.compare(WIDE, Not(Not(WIDE))).sameness is Sameness.EQUIVALENT
    assert comparer.compare(Implies(WIDE, WIDE), Equal("x", "x")).sameness is Sameness.EQUIVALENT


@pytest.mark.parametrize("switched_off", ["compare_writing", "use_filter"])
def test_each_step_can_be_left_to_the_others(switched_off):
    rng = np.random.default_rng(11)
    plain = Comparer(PQR, **{switched_off: False})
    for _ in range(40):
        first, second = sample_pair(rng, 14)
        if rng.random() < 0.3:
            second = commuted(first)
        mine, theirs = (comparer.compare(first, second, smallest=True) for comparer in (COMPARERS[PQR], plain))
        assert mine.sameness is theirs.sameness
        if mine.finding.witness is not None:
            assert mine.finding.witness.world.size == theirs.finding.witness.world.size
        one, other = (comparer.relate(first, second) for comparer in (COMPARERS[PQR], plain))
        assert one.relation is other.relation


def test_wide_formulas_are_grouped_with_narrow_ones():
    true = Equal("x", "x")
    comparer = Comparer(PQR, up_to=1, resource_limit=100_000)
    assert comparer.first_alike([true, Implies(WIDE, WIDE)]) == [0, 0]
    assert comparer.first_alike([Implies(WIDE, WIDE), true]) == [0, 0]


def test_what_is_too_large_to_be_normalised_is_still_compared():
    formula: Formula = Atom("P", ("x",))
    for _ in range(40):
        formula = Iff(formula, Atom("Q", ("x",)))
    assert COMPARERS[PQR].compare(formula, Atom("P", ("x",))).sameness is Sameness.EQUIVALENT
    assert COMPARERS[PQR].compare(formula, Atom("Q", ("x",))).sameness is Sameness.DIFFERENT


def test_bounds_that_come_with_a_world_are_true():
    """At least five objects: the filter may find a world of five without having looked at all of four."""
    five: Formula = Equal("x", "x")
    names = ["x", "y", "z", "w", "v"]
    for one, other in itertools.combinations(names, 2):
        five = And(five, Not(Equal(one, other)))
    for name in names[1:]:
        five = Exists(name, five)
    finding = COMPARERS[PQR].compare(five, Not(Equal("x", "x"))).finding
    assert finding.none_up_to < finding.witness.world.size
    smallest = COMPARERS[PQR].compare(five, Not(Equal("x", "x")), smallest=True).finding
    assert (smallest.witness.world.size, smallest.none_up_to) == (5, 4)
    assert smallest.witness.is_smallest


def test_a_batch_of_every_world_is_all_of_them_once():
    for size, batch in enumerate(BATCHES, start=1):
        atoms = 2 * size + size * size
        rows = np.concatenate([table.reshape(batch.count, -1) for table in batch.tables.values()], axis=1)
        assert rows.shape == (2**atoms, atoms)
        assert len({row.tobytes() for row in rows}) == 2**atoms


@given(definitions(PQR, max_ast=14), st.integers(0, 2**32))
def test_batches_agree_with_the_reference(formula, seed):
    rng = np.random.default_rng(seed)
    worlds = [sample_world(rng, size, signature=PQR) for size in (2, 4, 3)]
    (table,) = bitset.extension_tables([formula], bitset.Batch.of(worlds))
    for row, world in zip(table, worlds, strict=True):
        assert (row[: world.size] == reference.extension(formula, world)).all()
