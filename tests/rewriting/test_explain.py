"""Traces: every claim holds when evaluated by itself, and together they are a reason."""

import re

import numpy as np
import pytest

from induction.evaluation import reference
from induction.formula import parse_formula
from induction.formula.sampling import sample_formula
from induction.formula.syntax import And, Atom, Equal, Exists, ForAll, Iff, Implies, Not, Or, Quantified, Signature
from induction.rewriting.explain import MAX_STEPS, Reason, explain, remarks
from induction.rewriting.reading import read_english
from induction.worlds import World
from induction.worlds.sampling import sample_world

SIGNATURES = [Signature({"P": 1, "Q": 1, "R": 2, "S": 2}), Signature({"P": 1, "likes": 2})]


def assert_right(formula, world, element) -> None:
    steps = explain(formula, world, element)
    assert steps
    for step in steps:
        for claim in step.claims():
            value = reference.holds_under(claim.formula, world, dict(claim.assignment))
            assert value == claim.holds, (str(formula), str(claim.formula), claim.assignment)
    if len(steps) < MAX_STEPS:
        _assert_sufficient(steps, world)
    top = steps[0].claim
    stripped, sign = formula, True
    while isinstance(stripped, Not):
        stripped, sign = stripped.operand, not sign
    assert top.formula == stripped
    assert (top.holds == sign) == reference.holds(formula, world, element)


def _assert_sufficient(steps, world) -> None:
    """Each step's own reasons settle it: groups cover the domain, witnesses are taken up, parts force the value."""
    for i, step in enumerate(steps):
        inner = []
        for later in steps[i + 1 :]:
            if later.level <= step.level:
                break
            if later.level == step.level + 1:
                inner.append(later.claim)
        formula, holds = step.claim.formula, step.claim.holds
        match formula:
            case Atom() | Equal():
                assert not inner
            case Quantified():
                if step.element is not None:
                    assert holds == isinstance(formula, Exists)
                    assert len(inner) == 1
                    assert inner[0].assignment[formula.variable] == step.element
                else:
                    assert holds == isinstance(formula, ForAll)
                    covered = sorted(element for group in step.groups for element in group.elements)
                    assert covered == list(range(world.size))
                    for group in step.groups:
                        assert _forces(formula.body, {id(group.part): group.holds}) is holds
            case And() | Or() | Implies() | Iff():
                known = {}
                for claim in inner:
                    known[claim.formula] = claim.holds
                assert _value(formula, known) is holds


def _value(formula, known):
    """The value that known parts, by equality, give a connective; None if they leave it open."""
    if formula in known:
        return known[formula]
    match formula:
        case Not(f):
            value = _value(f, known)
            return None if value is None else not value
        case And(f, g):
            values = (_value(f, known), _value(g, known))
            return False if False in values else (None if None in values else True)
        case Or(f, g):
            values = (_value(f, known), _value(g, known))
            return True if True in values else (None if None in values else False)
        case Implies(f, g):
            return _value(Or(Not(f), g), known)
        case Iff(f, g):
            values = (_value(f, known), _value(g, known))
            return None if None in values else values[0] == values[1]
    return None


def _forces(body, by_identity):
    def value(node):
        if id(node) in by_identity:
            return by_identity[id(node)]
        match node:
            case Not(f):
                inner = value(f)
                return None if inner is None else not inner
            case And(f, g):
                values = (value(f), value(g))
                return False if False in values else (None if None in values else True)
            case Or(f, g):
                values = (value(f), value(g))
                return True if True in values else (None if None in values else False)
            case Implies(f, g):
                left, right = value(f), value(g)
                if left is False or right is True:
                    return True
                return None if left is None or right is None else right
        return None

    return value(body)


def _compare(seed: int, number: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(number):
        signature = SIGNATURES[int(rng.integers(2))]
        formula = sample_formula(
            rng, int(rng.integers(3, 28)), signature=signature, max_depth=3, bound_variables=("x", "y", "z")
        )
        world = sample_world(rng, int(rng.integers(1, 7)), signature=signature, density=float(rng.random()))
        assert_right(formula, world, int(rng.integers(world.size)))


@pytest.mark.parametrize("seed", range(5))
def test_claims_hold(seed):
    _compare(seed, 100)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100, 120))
def test_claims_hold_full(seed):
    _compare(seed, 100)


WORLD = World(
    "w",
    ("a", "b", "c"),
    SIGNATURES[0],
    {"P": [0, 1, 0], "Q": [0, 0, 0], "R": [[0, 1, 1], [0, 0, 0], [1, 0, 0]], "S": np.zeros((3, 3))},
    [0, 0, 0],
)


def _shape(steps):
    return [
        (s.level, str(s.claim.formula), s.claim.holds, s.element, [(g.elements, str(g.part)) for g in s.groups])
        for s in steps
    ]


def test_witness():
    steps = explain(parse_formula("(exists y (and (R x y) (P y)))"), WORLD, 0)
    assert _shape(steps) == [
        (0, "(exists y (and (R x y) (P y)))", True, 1, []),
        (1, "(and (R x y) (P y))", True, None, []),
        (2, "(R x y)", True, None, []),
        (2, "(P y)", True, None, []),
    ]


def test_no_witness():
    steps = explain(parse_formula("(exists y (and (R x y) (P y)))"), WORLD, 2)
    assert _shape(steps) == [
        (0, "(exists y (and (R x y) (P y)))", False, None, [((0,), "(P y)"), ((1, 2), "(R x y)")]),
    ]


def test_counterexample_and_nesting():
    steps = explain(parse_formula("(forall y (implies (R x y) (exists z (R y z))))"), WORLD, 0)
    assert _shape(steps)[0] == (0, "(forall y (implies (R x y) (exists z (R y z))))", False, 1, [])
    assert _shape(steps)[-1] == (2, "(exists z (R y z))", False, None, [((0, 1, 2), "(R y z)")])
    assert_right(parse_formula("(forall y (implies (R x y) (exists z (R y z))))"), WORLD, 0)


def test_long_formulas_have_short_traces():
    deep = parse_formula("(not " * 20_001 + "(exists y (R x y))" + ")" * 20_001)
    assert len(explain(deep, WORLD, 0)) == 2
    wide = parse_formula("(and " + "(or (P x) (exists y (R x y))) " * 20_000 + ")")
    assert len(explain(wide, WORLD, 0)) <= MAX_STEPS + 1


def _compare_remarks(seed: int, number: int) -> None:
    """Every claim that is made in words holds, and the words of each line are of one size with its claims."""
    rng = np.random.default_rng(seed)
    for _ in range(number):
        signature = SIGNATURES[int(rng.integers(2))]
        formula = sample_formula(
            rng, int(rng.integers(3, 28)), signature=signature, max_depth=3, bound_variables=("x", "y", "z")
        )
        world = sample_world(rng, int(rng.integers(1, 7)), signature=signature, density=float(rng.random()))
        element = int(rng.integers(world.size))
        steps = explain(formula, world, element)
        reason = Reason(world, element, reference.holds(formula, world, element), steps, "", {})
        told = list(remarks(reason))
        assert [remark.level for remark in told[:1]] == [0]
        for remark in told:
            assert remark.text
            assert remark.claims
            for claim in remark.claims:
                value = reference.holds_under(claim.formula, world, dict(claim.assignment))
                assert value == claim.holds, (str(formula), remark.text)
        _assert_words_are_true(told, world)


def _assert_words_are_true(told, world) -> None:
    """Read back as a formula over the world's objects, a line is true: what is said is what was claimed."""
    objects = {name: number for number, name in enumerate(world.domain)}
    for remark in told:
        sentence = re.sub(r": \w+ is a (witness|counterexample)$", "", remark.text).removesuffix("; for example:")
        if sentence.endswith("…") or re.search(r"\b(each|none) of \w+(, \w+)* and \w+ |^with ", sentence):
            continue
        assert reference.holds_under(read_english(sentence), world, dict(objects)), remark.text


def test_remarks_claim_what_holds():
    _compare_remarks(7, 500)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(200, 210))
def test_remarks_claim_what_holds_full(seed):
    _compare_remarks(seed, 500)


def test_remarks():
    formula = parse_formula("(exists y (and (R x y) (exists z (and (R y z) (P z)))))")
    reason = Reason(WORLD, 0, False, explain(formula, WORLD, 0), "", {})
    assert [(remark.level, remark.text) for remark in remarks(reason)] == [
        (0, "a has no R-successor that has an R-successor that is P"),
        (1, "a is not an R-successor of itself"),
        (1, "none of b and c has an R-successor that is P; for example:"),
        (2, "b has no R-successor that is P"),
        (3, "no object is an R-successor of b"),
    ]
