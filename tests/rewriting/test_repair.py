"""Repair: the neighbourhood is gone through whole, answers are valid and told by the edits that make them."""

import itertools

import numpy as np
import pytest

from induction.budget import Budget
from induction.errors import FormulaTooLargeError
from induction.evaluation import bitset, reference
from induction.families.mutations import near_misses
from induction.formula import DEFAULT_SIGNATURE, And, Atom, Equal, Exists, ForAll, Not, Or, Signature, parse_formula
from induction.formula.metrics import free_variables
from induction.formula.sampling import sample_formula
from induction.formula.syntax import conjunction_of
from induction.grounding.check import check
from induction.grounding.equivalence import Comparer
from induction.rewriting.edits import KINDS, changes, exchanges_everywhere, places, rewrite
from induction.rewriting.repair import RepairOutcome, repair
from induction.worlds import Instance, Regime, World, read_instances

SMALL = Signature({"P": 1, "R": 2})


def random_instance(seed, signature=SMALL, *, formula_nodes=(4, 8), regime=None):
    """A tiny instance of any regime labelled by a formula near the one that is returned, or by chance."""
    rng = np.random.default_rng(seed)
    regime = regime or list(Regime)[seed % 3]
    given = sample_formula(rng, int(rng.integers(*formula_nodes)), signature=signature, max_depth=2)
    gold = given
    for _ in range(int(rng.integers(1, 4))):
        edited = changes(gold, signature)
        gold = rewrite(gold, [edited[int(rng.integers(len(edited)))]])
    worlds = []
    for i in range(2 + (regime is Regime.CI)):
        n = int(rng.integers(2, 4))
        true = {name: rng.random((n,) * arity) < 0.45 for name, arity in signature.items()}
        world = World(f"w{i}", tuple(f"a{e}" for e in range(n)), signature, true, np.zeros(n, dtype=bool))
        target = reference.extension(gold, world)
        if rng.random() < 0.3 or (regime is Regime.CI and i == 0):
            target = rng.random(n) < 0.5
        unknown = {}
        if regime is Regime.EC:
            unknown = {name: rng.random(table.shape) < 0.25 for name, table in true.items()}
            true = {name: table & ~unknown[name] for name, table in true.items()}
        worlds.append(World(f"w{i}", world.domain, signature, true, target, unknown))
    names = tuple(world.name for world in worlds)
    if regime is Regime.CI:
        return given, Instance(f"i{seed}", regime, signature, tuple(worlds), names[1:], names[:1])
    return given, Instance(f"i{seed}", regime, signature, tuple(worlds), names)


def completions(world):
    unknown = [(name, tuple(place)) for name, mask in world.unknown.items() for place in np.argwhere(mask).tolist()]
    for values in itertools.product((False, True), repeat=len(unknown)):
        tables = {name: table.copy() for name, table in world.true.items()}
        for (name, place), value in zip(unknown, values, strict=True):
            tables[name][place] = value
        yield world.completed(tables)


class Judge:
    """Which formulas explain an instance, all completions gone through."""

    def __init__(self, instance):
        self.groups = [list(completions(world)) for world in instance.train_worlds]
        self.missed = list(instance.no_worlds)
        self.worlds = [world for group in self.groups for world in group] + self.missed

    def valid(self, formulas):
        for start in range(0, len(formulas), 4000):
            part = formulas[start : start + 4000]
            for formula, extensions in zip(part, bitset.extensions(part, self.worlds), strict=True):
                matched = iter([(e == w.target).all() for e, w in zip(extensions, self.worlds, strict=True)])
                answers = [[next(matched) for _ in group] for group in self.groups]
                fits = map(any, answers)
                if all(fits) and not any(matched) and free_variables(formula) == {"x"}:
                    yield formula


def all_formulas(signature, names, most):
    """Every formula of the fragment up to an AST size, with any of the names free."""
    by_size = {size: [] for size in range(most + 1)}
    for name, arity in signature.items():
        if 1 + arity <= most:
            by_size[1 + arity] += [Atom(name, args) for args in itertools.product(names, repeat=arity)]
    if most >= 3:
        by_size[3] += [Equal(*pair) for pair in itertools.combinations(names, 2)]
    for size in range(2, most + 1):
        by_size[size] += [Not(f) for f in by_size[size - 1]]
        by_size[size] += [q(v, f) for f in by_size[size - 2] for v in names for q in (Exists, ForAll)]
        for left in range(2, size - 2):
            for a, b in itertools.product(by_size[left], by_size[size - 1 - left]):
                by_size[size] += [And(a, b), Or(a, b)]
    return [f for size in by_size for f in by_size[size]]


def is_constant(formula, worlds):
    variables = sorted(free_variables(formula))
    values = {
        reference.holds_under(formula, world, dict(zip(variables, elements, strict=True)))
        for world in worlds
        for elements in itertools.product(range(world.size), repeat=len(variables))
    }
    return len(values) < 2


def with_subformula(formula, path, by):
    if not path:
        return by
    children = list(formula.children)
    children[path[0]] = with_subformula(children[path[0]], path[1:], by)
    return formula.with_children(*children)


def naive_neighbourhood(formula, instance, class_nodes):
    """All formulas one edit away, and all two away, one after the other."""
    signature = instance.signature
    once = [rewrite(formula, [change]) for change in changes(formula, signature)]
    everywhere = [exchanged for _, exchanged in exchanges_everywhere(formula, signature)]
    twice = [
        rewrite(formula, [one, other])
        for one, other in itertools.combinations(changes(formula, signature), 2)
        if one.goes_with(other)
    ]
    for exchanged in everywhere:
        twice += [rewrite(exchanged, [change]) for change in changes(exchanged, signature)]
        twice += [again for _, again in exchanges_everywhere(exchanged, signature)]
    if instance.regime is not Regime.EC and class_nodes:
        worlds = (*instance.train_worlds, *instance.no_worlds)
        for place in places(formula):
            if not place.takes_literals:
                continue
            names = sorted({*place.visible, "x", "y", "z"})
            for put_in in all_formulas(signature, names, class_nodes):
                if free_variables(put_in) <= set(place.visible) and not is_constant(put_in, worlds):
                    ways = [And(place.node, put_in), Or(place.node, put_in), *([put_in] if place.path else [])]
                    twice += [with_subformula(formula, place.path, way) for way in ways]
    return [*once, *everywhere], twice


def assert_exact(seed, class_nodes, **options):
    formula, instance = random_instance(seed, **options)
    judge = Judge(instance)
    found = repair(formula, instance, class_nodes=class_nodes, answers=3)
    if next(judge.valid([formula]), None) is not None:
        assert found.outcome is RepairOutcome.ALREADY_VALID
        return found.outcome
    for distance, neighbours in enumerate(naive_neighbourhood(formula, instance, class_nodes), start=1):
        valid = list(judge.valid(list(dict.fromkeys(neighbours))))
        if valid:
            assert found.outcome is RepairOutcome.REPAIRED, (seed, str(formula), str(valid[0]))
            assert found.answers[0].distance == distance
            assert found.none_within == distance - 1
            least = min(f.ast_nodes for f in valid)
            assert found.answers[0].formula.ast_nodes == least, (seed, str(formula), str(found.answers[0].formula))
            assert all(next(judge.valid([answer.formula]), None) for answer in found.answers)
            return distance
    assert found.outcome is RepairOutcome.NONE_WITHIN, (seed, str(formula), str(found.answers))
    assert found.none_within == 2
    assert found.answers == ()
    return found.outcome


def test_the_neighbourhood_is_gone_through_whole():
    ends = {assert_exact(seed, 3 if seed % 2 else 0) for seed in range(18)}
    assert ends >= {RepairOutcome.ALREADY_VALID, RepairOutcome.NONE_WITHIN, 1, 2}


@pytest.mark.full
@pytest.mark.parametrize("part", range(10))
def test_the_neighbourhood_is_gone_through_whole_many_times(part):
    for seed in range(1000 + 30 * part, 1030 + 30 * part):
        assert_exact(seed, seed % 2 * 4)


@pytest.mark.full
@pytest.mark.parametrize("part", range(4))
def test_the_neighbourhood_of_larger_formulas_is_gone_through_whole(part):
    for seed in range(2000 + 6 * part, 2006 + 6 * part):
        assert_exact(seed, 0, signature=DEFAULT_SIGNATURE, formula_nodes=(9, 12))


def test_each_kind_of_edit():
    """What each kind makes of one formula, written out."""
    formula = parse_formula("(exists y (and (R x y) (not (P y))))", SMALL)
    made = {}
    for change in changes(formula, SMALL):
        made.setdefault(change.kind, []).append(str(rewrite(formula, [change])))
    assert made["literal-negated"] == [
        "(exists y (and (not (R x y)) (not (P y))))",
        "(exists y (and (R x y) (P y)))",
    ]
    assert made["direction-swapped"] == ["(exists y (and (R y x) (not (P y))))"]
    assert made["variable-exchanged"] == [
        "(exists y (and (R y y) (not (P y))))",
        "(exists y (and (R x x) (not (P y))))",
        "(exists y (and (R x y) (not (P x))))",
    ]
    assert made["connective-changed"] == [
        f"(exists y ({connective} (R x y) (not (P y))))" for connective in ("or", "implies", "iff")
    ]
    assert made["quantifier-flipped"] == ["(forall y (and (R x y) (not (P y))))"]
    assert made["quantifier-strengthened"] == [
        "(forall y (or (not (R x y)) (not (P y))))",
        "(forall y (or (P y) (R x y)))",
    ]
    assert made["part-dropped"] == ["(exists y (R x y))", "(exists y (not (P y)))"]
    assert made["quantifier-dropped"] == ["(and (R x x) (not (P x)))"]
    assert "(exists y (and (R x y) (not (P y))))" not in itertools.chain(*made.values())
    assert "(and (exists y (and (R x y) (not (P y)))) (P x))" in made["guard-added"]
    assert "(exists y (and (R x y) (or (not (P y)) (= x y))))" in made["case-added"]
    assert "(exists y (P x))" in made["part-replaced"]
    assert set(made) | {
        "predicate-exchanged",
        "relation-exchanged",
        "exchanged-everywhere",
        "quantifier-collapsed",
    } == (set(KINDS))
    two = {kind for change in changes(parse_formula("(and (P x) (forall y (implies (R x y) (Q y))))"), DEFAULT_SIGNATURE)
           if (kind := change.kind)}  # fmt: skip
    assert {"predicate-exchanged", "relation-exchanged", "quantifier-collapsed"} <= two


@pytest.mark.parametrize("seed", range(12))
def test_edits_change_sizes_as_they_say(seed):
    rng = np.random.default_rng(seed)
    formula = sample_formula(rng, int(rng.integers(6, 20)), max_depth=3)
    every = changes(formula, DEFAULT_SIGNATURE)
    for change in every:
        changed = rewrite(formula, [change])
        assert changed.ast_nodes == formula.ast_nodes + change.added_nodes
        assert changed != formula
        assert free_variables(changed) <= {"x"}
    for _ in range(300):
        one, other = (every[int(i)] for i in rng.integers(len(every), size=2))
        if one is not other and one.goes_with(other):
            both = rewrite(formula, [one, other])
            assert both == rewrite(formula, [other, one])
            assert both.ast_nodes == formula.ast_nodes + one.added_nodes + other.added_nodes


def test_near_misses_of_golds_come_back(examples):
    for instance in read_instances(examples):
        misses = near_misses(instance.gold, Comparer(instance.signature))
        # Not those that take a whole part away: what undoes them may be larger than what is gone through.
        for miss in [miss for miss in misses if not miss.edits[0].kind.endswith("-dropped")][::4]:
            found = repair(miss.formula, instance)
            if check(miss.formula, instance).valid:
                assert found.outcome is RepairOutcome.ALREADY_VALID
                continue
            best = found.answers[0]
            assert check(best.formula, instance, use_reference=True).valid
            assert best.formula.ast_nodes <= instance.gold_ast + 3
            assert len(best.edits) <= best.distance <= 2
            assert [a.formula.ast_nodes for a in found.answers] == sorted(a.formula.ast_nodes for a in found.answers)


def test_names_of_variables_do_not_matter(examples):
    """A variable bound again, or named otherwise, and one quantifier too many in scope."""
    (instance,) = read_instances(examples, ["example_fullobs"])
    renamed = {}
    for text in (
        "(exists y (and (S x y) (forall z (or (not (R z y)) (P z)))))",
        "(exists u (and (S x u) (forall w (or (not (R w u)) (P w)))))",
        "(exists y (and (S x y) (forall x (or (not (R x y)) (P x)))))",
    ):
        found = repair(parse_formula(text), instance, answers=1)
        renamed[text] = (found.outcome, [(a.distance, a.formula.ast_nodes) for a in found.answers])
    first, second, _ = renamed.values()
    assert first == second
    assert all(outcome is RepairOutcome.REPAIRED for outcome, _ in renamed.values())


def test_a_budget_that_runs_out_is_told(examples):
    (instance,) = read_instances(examples, ["example_fullobs"])
    nothing_near = parse_formula("(forall y (iff (P y) (exists z (iff (S x z) (forall w (iff (R z w) (Q y)))))))")
    cut = repair(nothing_near, instance, budget=Budget(1e-9))
    assert cut.outcome is RepairOutcome.CUT_SHORT
    assert cut.none_within == 0
    assert cut.coverage.share(1) < 1
    assert not cut.coverage.is_whole(1)


def test_same_repair_same_answers(examples):
    for instance in read_instances(examples):
        formula = parse_formula("(exists y (or (S x y) (Q y)))")
        first, second = (repair(formula, instance) for _ in range(2))
        assert first.answers == second.answers
        assert first.coverage == second.coverage


def test_large_formulas_are_refused(examples):
    (instance,) = read_instances(examples, ["example_fullobs"])
    with pytest.raises(FormulaTooLargeError):
        repair(conjunction_of([Atom("P", ("x",))] * 100), instance)
    with pytest.raises(ValueError, match="1 or 2 edits"):
        repair(Atom("P", ("x",)), instance, edits=3)


def test_answers_are_made_by_their_edits(examples):
    """An edit of one place, made in the text that was given, gives the answer."""
    (instance,) = read_instances(examples, ["example_fullobs"])
    seen = 0
    for miss in near_misses(instance.gold, Comparer(instance.signature)):
        for answer in repair(miss.formula, instance).answers:
            if len(answer.edits) == 1 and answer.edits[0].kind != "exchanged-everywhere":
                (edit,) = answer.edits
                place = next(p for p in places(miss.formula) if p.path == edit.path)
                assert str(place.node) == edit.before
                at = str(miss.formula)
                assert str(answer.formula) in {
                    at[:i] + edit.after + at[i + len(edit.before) :]
                    for i in range(len(at))
                    if at.startswith(edit.before, i)
                }
                seen += 1
    assert seen > 10
