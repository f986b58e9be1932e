"""Templates: enough of them, no two alike, and every recorded gold is an instance of one."""

import csv

import numpy as np
import pytest

from induction.evaluation import bitset
from induction.families.shapes import SHAPES, ConditionSlot
from induction.families.templates import CHALLENGE_SLICES, FAMILIES, all_templates, find_variant
from induction.formula import parse_formula
from induction.formula.metrics import count_lift_depth, measure
from induction.formula.normal_forms import to_nnf
from induction.formula.syntax import DEFAULT_SIGNATURE, Not, to_sexpr
from induction.grounding.equivalence import Comparer, Sameness
from induction.worlds.sampling import sample_world

TEMPLATES = all_templates()
VARIANTS = [(template, variant) for template in TEMPLATES for variant in template.variants]


def test_there_are_enough_of_every_family_and_slice():
    assert len(TEMPLATES) >= 200
    assert {template.family for template in TEMPLATES} == set(FAMILIES)
    assert {template.challenge_slice for template in TEMPLATES} == {"", *CHALLENGE_SLICES}
    assert len({template.template_id for template in TEMPLATES}) == len(TEMPLATES)


def test_no_two_are_alike_up_to_equivalence():
    alike = Comparer(DEFAULT_SIGNATURE).first_alike([variant.formula for _, variant in VARIANTS])
    doubled = [(VARIANTS[i][1].formula, VARIANTS[j][1].formula) for i, j in enumerate(alike) if i != j]
    assert not doubled


def test_none_says_what_a_formula_without_quantifiers_says():
    """For each there are two objects with the same literals of which it is and is not true."""
    rng = np.random.default_rng(0)
    worlds = [
        sample_world(rng, int(rng.integers(4, 9)), density=float(rng.choice([0.2, 0.3, 0.5]))) for _ in range(200)
    ]
    kinds = np.concatenate(
        [
            world.true["P"] + 2 * world.true["Q"] + 4 * np.diag(world.true["R"]) + 8 * np.diag(world.true["S"])
            for world in worlds
        ]
    )
    for (_, variant), tables in zip(
        VARIANTS, bitset.extensions([variant.formula for _, variant in VARIANTS], worlds), strict=True
    ):
        holds = np.concatenate(tables)
        assert any(len(set(holds[kinds == kind])) == 2 for kind in range(16)), str(variant.formula)


def test_variants_are_the_example_with_letters_exchanged():
    exchanges = [dict(zip("PQRS", letters, strict=True)) for letters in ("PQRS", "QPRS", "PQSR", "QPSR")]
    for template in TEMPLATES:
        text = to_sexpr(template.formula)
        texts = {"".join(exchange.get(c, c) for c in text) for exchange in exchanges}
        found = [to_sexpr(variant.formula) for variant in template.variants]
        assert set(found) <= texts
        assert len(set(found)) == len(found) in (1, 2, 4)
        found_again = [find_variant(Not(to_nnf(Not(variant.formula)))) for variant in template.variants]
        assert found_again == [(template, variant) for variant in template.variants]


def test_facts_follow_from_the_formula():
    for template, variant in VARIANTS:
        formula = variant.formula
        metrics = measure(formula)
        assert metrics.free_variables == ("x",)
        assert metrics.quantifier_depth == template.quantifier_depth
        assert metrics.ast_nodes <= (18 if template.bands != ("FullObs challenge",) else 25)
        family, *fields = variant.key.split("|")
        assert family == template.family
        assert [field.split("=")[0] for field in fields] == ["guard", "outer", "inner", "lift", "neg", "RS"]
        text = to_sexpr(formula)
        assert fields[-1] == f"RS={int('(R' in text and '(S' in text)}"
        for field in fields[1:4]:
            edge = field.split("=")[1].replace("_", "")
            assert edge == "none" or f"({' '.join(edge)})" in text
        if template.is_lifted:
            assert count_lift_depth(formula) >= 2
        if "lift=none" not in fields and template.family != "H":
            assert template.is_lifted
        assert ("FullObs challenge" in template.bands) == bool(template.challenge_slice)
        if template.challenge_slice:
            assert template.quantifier_depth == int(template.challenge_slice[-1])


def test_conditions_in_words():
    slot = ConditionSlot("y", ())
    words = {word: slot.english(word) for word in ("P", "notQ", "PandQ", "PandnotQ", "notPandnotQ", "PorQ", "PornotQ")}
    assert words == {
        "P": "has P",
        "notQ": "lacks Q",
        "PandQ": "has P and Q",
        "PandnotQ": "has P and lacks Q",
        "notPandnotQ": "has neither P nor Q",
        "PorQ": "has P or Q",
        "PornotQ": "has P or lacks Q",
    }


def test_every_shape_gives_templates():
    for shape in SHAPES:
        assert any(template.template_id.startswith(f"{shape.name}:") for template in TEMPLATES), shape.name


@pytest.mark.parametrize(
    ("text", "template_id", "key"),
    [
        (
            "(exists u (forall v (or (S x v) (not (R v u)))))",
            "lift:Rzy,Sxz",
            "G|guard=none|outer=Rzy|inner=none|lift=S_xz|neg=none|RS=1",
        ),
        (
            "(forall y (implies (S x y) (exists z (and (not (Q z)) (R y z)))))",
            "chain-to-condition:Rxy,Syz,notP",
            "F|guard=none|outer=Sxy|inner=Ryz|lift=none|neg=Q|RS=1",
        ),
        (
            "(exists y (and (exists z (and (R y z) (Q z))) (R x y)))",
            "two-steps-to-condition:Rxy,Ryz,P",
            "H|guard=none|outer=none|inner=Rxy|lift=none|neg=none|RS=0",
        ),
    ],
)
def test_instances_are_found_however_they_are_written(text, template_id, key):
    template, variant = find_variant(parse_formula(text))
    assert (template.template_id, variant.key) == (template_id, key)
    assert Comparer(DEFAULT_SIGNATURE).compare(variant.formula, parse_formula(text)).sameness is Sameness.EQUIVALENT


def test_formulas_of_no_template():
    for text in ("(P x)", "(exists y (exists z (exists w (and (and (R x y) (R y z)) (R z w)))))"):
        assert find_variant(parse_formula(text)) is None


def test_recorded_golds_are_instances_with_their_recorded_keys(real_data):
    with (real_data / "golds.tsv").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) == 81
    for row in rows:
        found = find_variant(parse_formula(row["gold"]))
        assert found is not None, row
        template, variant = found
        assert row["gold_subfamily_key"] in ("", variant.key), row
        band = row["band"].split("_")[0] if row["task"] == "FullObs" else row["band"]
        assert f"{row['task']} {band}" in template.bands, row


def test_formulas_given_for_challenge_tasks_are_of_their_slices(real_data):
    """But for those that models found and that are not of the planted form."""
    from induction.worlds import read_instances

    others = {"fullobs_v2_dual_role_cross_lift_qd2_009"}
    checked = 0
    for instance in read_instances(real_data / "fullobs_v2_dev.yaml.gz"):
        if instance.gold is None or instance.instance_id in others:
            continue
        template, _ = find_variant(instance.gold)
        assert instance.instance_id.startswith(f"fullobs_v2_{template.challenge_slice}_")
        checked += 1
    assert checked == 12
