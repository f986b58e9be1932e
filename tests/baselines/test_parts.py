"""The parts of the searches: bounds of prenex forms against all of them, sketches, vocabularies, schedules."""

import itertools

import numpy as np
import pytest
from induction.baselines.portfolio.search import SCHEDULE
from induction.baselines.prenex_smt.forms import Form
from induction.baselines.prenex_smt.search import combinations, forms

from induction.budget import Budget, Outcome
from induction.evaluation import bitset, reference
from induction.families.shapes import SHAPES
from induction.families.sketches import all_sketches
from induction.formula import DEFAULT_SIGNATURE, Signature, parse_formula
from induction.formula.canonical import canonical_key
from induction.formula.metrics import free_variables, quantifier_depth
from induction.grounding.vocabulary import Vocabulary, definition_by_rules
from induction.search import SearchOptions, load_search
from induction.worlds import Instance, Regime
from induction.worlds.sampling import sample_world

SIGNATURE = Signature({"P": 1, "R": 2})


def all_prenex(signature, quantifiers, most_ast):
    """Every prenex formula of the forms with up to two terms of up to two literals, by size."""
    found = {}
    for form in forms(quantifiers, 2):
        literals = Vocabulary(signature, form.variables, True).literals
        terms = [term for k in (1, 2) for term in itertools.combinations(literals, k)]
        for number in range(1, form.terms + 1):
            for chosen in itertools.combinations(terms, number):
                formula = form.build(chosen)
                if formula.ast_nodes <= most_ast and free_variables(formula) == {"x"}:
                    found.setdefault(formula.ast_nodes, []).append(formula)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_prenex_bounds_hold(seed):
    """Against all prenex formulas of up to 11 nodes with one quantifier: none fits below the bound that is claimed."""
    rng = np.random.default_rng(seed)
    worlds = [sample_world(rng, 4, signature=SIGNATURE, density=0.4) for _ in range(2)]
    by_size = all_prenex(SIGNATURE, 1, 11)
    gold = by_size[11][int(rng.integers(len(by_size[11])))]
    labelled = []
    for i, world in enumerate(worlds):
        from dataclasses import replace

        labelled.append(replace(world, name=f"w{i}", target=reference.extension(gold, world)))
    instance = Instance("i", Regime.FULL_OBS, SIGNATURE, tuple(labelled), ("w0", "w1"))
    least = next(
        size
        for size in sorted(by_size)
        if any(
            all((table == world.target).all() for table, world in zip(tables, labelled, strict=True))
            for tables in bitset.extensions(by_size[size], labelled)
        )
    )
    for name in ("prenex-only", "prenex-smt"):
        result = load_search(name).search(instance, Budget(120), SearchOptions(depth=1), lambda progress: None)
        assert result.outcome is Outcome.SOLVED
        assert result.is_proven_smallest
        assert result.formulas[0].ast_nodes <= least
        assert result.statistics["answeredBy"] == "prenex"


def test_a_rescued_answer_is_not_called_smallest():
    """All forms are closed below 5 nodes; what the rescue finds is larger, and larger prenex formulas were not tried."""
    from dataclasses import replace

    gold = parse_formula("(or (and (P x) (R x x)) (exists y (and (R x y) (not (P y)))))", SIGNATURE)
    rng = np.random.default_rng(2)
    worlds = [sample_world(rng, 5, signature=SIGNATURE, density=0.3) for _ in range(3)]
    labelled = tuple(replace(w, name=f"w{i}", target=reference.extension(gold, w)) for i, w in enumerate(worlds))
    instance = Instance("i", Regime.FULL_OBS, SIGNATURE, labelled, ("w0", "w1", "w2"))
    options = SearchOptions(depth=1, max_ast=4)
    result = load_search("prenex-smt").search(instance, Budget(60), options, lambda progress: None)
    assert result.formulas[0].ast_nodes > 5
    assert result.statistics["answeredBy"] in ("patches", "two parts")
    assert result.none_below <= 5
    assert not result.is_proven_smallest
    bare = load_search("prenex-only").search(instance, Budget(60), options, lambda progress: None)
    assert (bare.outcome, bare.formulas, bare.none_below) == (Outcome.EXHAUSTED, (), 5)


def test_forms():
    made = list(forms(2))
    assert len(made) == len(set(made)) == (1 + 2 + 4) * 3 * 2
    form = Form((True, False), 2, True)
    literals = Vocabulary(SIGNATURE, form.variables, False).literals
    formula = form.build([[literals[0]], [literals[1], literals[2]]])
    assert str(formula) == "(exists y (forall z (and (P x) (or (P y) (P z)))))"
    assert str(form) == "exists forall: conjunction of up to 2 disjunctions"
    assert all(sum(len(one.prefix) for one in shape.forms) <= 3 for shape in combinations(3))
    assert len(set(combinations(3))) == len(combinations(3))


@pytest.mark.parametrize("equality", [True, False])
def test_vocabulary_values(equality):
    """Literals on tuples of objects are what the world says of them."""
    rng = np.random.default_rng(5)
    world = sample_world(rng, 3, signature=SIGNATURE, density=0.5)
    vocabulary = Vocabulary(SIGNATURE, ("x", "y"), equality)
    truth, unknown = vocabulary.truth(world)
    assert truth.shape == (9, len(vocabulary.atoms))
    assert (unknown == -1).all()
    for a, atom in enumerate(vocabulary.atoms):
        for e, other in itertools.product(range(3), repeat=2):
            assert truth[3 * e + other, a] == reference.holds_under(atom, world, {"x": e, "y": other})
    for i, literal in enumerate(vocabulary.literals):
        complement = vocabulary.literals[vocabulary.complement(i)]
        assert complement != literal
        assert vocabulary.complement(vocabulary.complement(i)) == i
    assert str(definition_by_rules(vocabulary, [[0], [1]])) == "(or (P x) (exists y (P y)))"


def test_sketches_have_every_template_for_a_filling():
    """A sketch filled with the words of its shape's templates gives the templates."""
    by_name = {sketch.name: sketch for sketch in all_sketches()}
    for shape in SHAPES:
        sketch = by_name.get(shape.name)
        if sketch is None:
            continue  # the same sketch as another's
        for values in itertools.islice(shape.fillings(), 40):
            chosen = {}
            for hole in sketch.holes:
                own = Signature({hole.name: len(hole.variables)} | dict(DEFAULT_SIGNATURE.items()))
                word = parse_open(shape.slots[hole.name].text(values[hole.name]), own)
                chosen[hole.name] = next(one for one in hole.choices(DEFAULT_SIGNATURE) if alike(one, word))
            filled = sketch.fill(chosen)
            assert canonical_key(filled) == canonical_key(parse_formula(shape.text(values)))
        assert sketch.depth == quantifier_depth(sketch.formula)


def parse_open(text, signature):
    """A formula whatever its free variables: the parser's grammar without its demand for x alone."""
    closed = parse_formula(f"(and (= x x) (exists y (exists z (exists w {text}))))", signature)
    return closed.right.body.body.body


def alike(one, other):
    """Whether two formulas are the same but for the order of a connective's operands."""
    return one == other or (type(one) is type(other) and set(one.children) == set(other.children) != set())


def test_sketches_know_no_predicate():
    signature = Signature({"likes": 2, "Person": 1, "knows": 2})
    for sketch in all_sketches():
        for hole in sketch.holes:
            choices = hole.choices(signature)
            assert all(free_variables(choice) == set(hole.variables) for choice in choices)
            assert len({str(choice) for choice in choices}) == len(choices)


def test_the_schedule_is_what_the_search_does(examples):
    from induction.worlds import read_instances

    instance = read_instances(examples, ["example_ci"])[0]
    result = load_search("portfolio").search(instance, Budget(120), SearchOptions(), lambda progress: None)
    slices = [entry["slice"] for entry in result.statistics["slices"]]
    told = load_search("portfolio").about.schedule
    assert slices == [text for text in told if "no answer yet" not in text]
    assert result.statistics["answeredBy"] == "sketch chain-to-condition"
    assert result.statistics["slices"][0]["to"] is None, "nothing of up to 9 nodes fits here"
    assert len(SCHEDULE) == len(told)


def test_without_sketches_for_the_concept_other_slices_answer(examples):
    """A concept that no template has: the answer says which slice it is from."""
    from dataclasses import replace

    from induction.worlds import read_instances

    gold = parse_formula("(and (P x) (R x x))")
    instance = read_instances(examples, ["example_fullobs"])[0]
    worlds = tuple(replace(world, target=reference.extension(gold, world)) for world in instance.worlds)
    result = load_search("portfolio").search(
        replace(instance, worlds=worlds), Budget(60), SearchOptions(), lambda progress: None
    )
    assert result.statistics["answeredBy"] == "exhaustive up to 9"
    assert result.is_proven_smallest
