"""Verdicts: what makes a formula valid in each regime, and what is reported where it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import definitions, instances

from induction.errors import UnsupportedRegimeError
from induction.evaluation import check, check_many, reference
from induction.formula import parse_formula
from induction.worlds import Regime, read_instances


@given(st.data())
def test_verdicts_follow_the_definitions(data):
    instance = data.draw(instances().filter(lambda one: one.regime is not Regime.EC))
    formulas = data.draw(st.lists(definitions(instance.signature), min_size=1, max_size=3))
    for formula, verdict in zip(formulas, check_many(formulas, instance), strict=True):
        matches = {world.name: (reference.extension(formula, world) == world.target).all() for world in instance.worlds}
        expected = all(matches[name] for name in instance.train_ids)
        expected = expected and not any(matches[name] for name in instance.no_ids)
        assert verdict.valid == expected
        assert verdict == check(formula, instance, use_reference=True)
        assert [world.world for world in verdict.worlds] == [*instance.train_ids, *instance.no_ids]
        by_name = {world.name: world for world in instance.worlds}
        for report in verdict.worlds:
            world = by_name[report.world]
            holds = set(world.elements(reference.extension(formula, world)))
            labelled = set(world.elements(world.target))
            assert set(report.false_positives) == holds - labelled
            assert set(report.false_negatives) == labelled - holds
            assert (report.predicted, report.labelled, report.size) == (len(holds), len(labelled), world.size)
            assert report.satisfied == (matches[report.world] == (report.side != "NO"))
        sides = {world.side for world in verdict.failed_worlds}
        assert set(verdict.failed_sides) == sides
        assert (not sides) == verdict.valid


def test_gold_marks(examples):
    full_obs, _ = read_instances(examples)[:2]
    gold = check(full_obs.gold, full_obs)
    assert gold.valid
    assert gold.ast_delta == 0
    assert [gold.within_gold(margin) for margin in (0, 10, 25)] == [True, True, True]
    long = parse_formula("(and (exists y (and (R x y) (P y))) (or (P x) (not (P x))))")
    verdict = check(long, full_obs)
    assert verdict.valid
    assert verdict.ast_delta == 7
    assert [verdict.within_gold(margin) for margin in (0, 10, 25)] == [False, True, True]
    wrong = check(parse_formula("(P x)"), full_obs)
    assert not wrong.valid
    assert [wrong.within_gold(margin) for margin in (0, 10, 25)] == [False, False, False]


def test_ci_says_which_side_failed(examples):
    ci = read_instances(examples, ["example_ci"])[0]
    assert check(ci.gold, ci).valid
    rival = parse_formula("(exists y (and (R x y) (exists z (and (S y z) (P z)))))")
    assert check(rival, ci).failed_sides == ("YES", "NO")
    assert check(parse_formula("(P x)"), ci).failed_sides == ("YES",)
    only_no = type(ci)(**{**vars(ci), "train_ids": ci.no_ids, "no_ids": ci.train_ids, "gold": None})
    assert check(ci.gold, only_no).failed_sides == ("YES", "NO")


@given(instances().filter(lambda one: one.regime is Regime.EC))
def test_ec_is_not_decided_by_evaluation(instance):
    with pytest.raises(UnsupportedRegimeError, match="EC"):
        check(parse_formula("(= x x)", instance.signature), instance)
