"""`induction info` and `induction formula` as a user types them."""

import json

import pytest

from induction.formula import parse_formula
from induction.worlds import read_instances

TEXT = "(forall y (implies (R x y) (exists z (and (S y z) (P z)))))"


def test_info_file(induction, examples):
    ran = induction("info", str(examples))
    assert ran.code == 0
    for words in ("FullObs", "CI", "simple", "core"):
        assert words in ran.out


def test_info_json(induction, examples):
    report = json.loads(induction("info", str(examples), "--json").out)
    instances = read_instances(examples)
    assert report["instances"] == len(instances) == sum(group["instances"] for group in report["groups"])
    assert report["ids"] == [instance.instance_id for instance in instances]
    group = next(group for group in report["groups"] if group["regime"] == "FullObs")
    assert group["goldAst"] == {"min": 8, "median": 8, "max": 8}
    assert group["worldsPerInstance"]["max"] == 4
    worlds = instances[0].worlds
    assert group["labelledShare"] == round(sum(w.target.sum() for w in worlds) / sum(w.size for w in worlds), 4)


def test_info_instance(induction, examples):
    ran = induction("info", str(examples), "--id", "example_ci")
    assert ran.code == 0
    assert ran.err == ""
    assert "AST 15, depth 2" in ran.out
    assert "YES" in ran.out
    assert "NO" in ran.out
    report = json.loads(induction("info", str(examples), "--id", "example_ci", "--json").out)
    assert report["goldAst"] == 15
    assert {world["side"] for world in report["worlds"]} == {"YES", "NO"}


def test_info_faults(induction, examples, tmp_path):
    path = tmp_path / "f.yaml"
    path.write_text(examples.read_text() + "- instanceId: broken\n- 3\n")
    ran = induction("info", str(path))
    assert ran.code == 2
    assert "example_ci" not in ran.err
    assert len(ran.err.splitlines()) == 2
    assert "FullObs" in ran.out


def test_formula_report(induction):
    ran = induction("formula", TEXT)
    assert ran.code == 0
    for words in ("AST size", "14", "2, 1 alternation", "∀y (R(x, y) → ∃z (S(y, z) ∧ P(z)))"):
        assert words in ran.out


def test_formula_json(induction):
    report = json.loads(induction("formula", TEXT, "--json").out)
    assert report["astSize"] == 14
    assert report["freeVariables"] == ["x"]
    assert report["definesTarget"] is True
    assert report["lifted"] is False
    for form in ("sexpr", "pretty", "nnf", "prenex", "miniscoped", "alpha"):
        assert parse_formula(report["forms"][form])


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("sexpr", TEXT),
        ("pretty", TEXT),
        ("unicode", "∀y (R(x, y) → ∃z (S(y, z) ∧ P(z)))"),
        ("nnf", "(forall y (or (not (R x y)) (exists z (and (S y z) (P z)))))"),
        ("prenex", "(forall y (exists z (or (not (R x y)) (and (S y z) (P z)))))"),
        ("alpha", TEXT),
    ],
)
def test_forms(induction, form, text):
    assert induction("formula", TEXT, "--to", form).out == text + "\n"
    assert induction("formula", "-", "--to", form, stdin=TEXT).out == text + "\n"
    assert json.loads(induction("formula", TEXT, "--to", form, "--json").out) == {"form": form, "text": text}


def test_open_and_closed_formulas_are_described(induction):
    ran = induction("formula", "(exists y (P y))")
    assert ran.code == 0
    assert "none (a definition of T leaves exactly x free)" in ran.out
    assert "x, z (a definition" in induction("formula", "(R x z)").out


def test_other_signatures(induction):
    assert induction("formula", "(knows x x)", "--signature", "knows/2").code == 0
    assert induction("formula", "(knows x x)").code == 2
    for signature, words in (
        ("knows", "not of the form NAME/ARITY"),
        ("knows/3", "arity 3"),
        ("T/1", "target"),
        ("P/1 P/2", "twice"),
    ):
        ran = induction("formula", "(knows x x)", "--signature", signature)
        assert ran.code == 2
        assert words in ran.err


def test_deep_formula(induction):
    ran = induction("formula", "-", stdin="(not " * 20_000 + "(P x)" + ")" * 20_000)
    assert ran.code == 0
    assert "20,002" in ran.out or "20002" in ran.out


def test_form_too_large_is_told(induction):
    nested = "(P x)"
    for _ in range(25):
        nested = f"(iff {nested} (Q x))"
    ran = induction("formula", nested)
    assert ran.code == 0
    assert "the limit is 1,000,000" in " ".join(ran.out.split())
    assert induction("formula", nested, "--to", "nnf").code == 2


def test_version_and_help(induction):
    from induction import __version__

    assert induction("--version").out == f"induction {__version__}\n"
    assert "Usage: induction" in induction("--help").out
    assert induction().code == 2


def test_long_names_wrap_and_lose_no_column(induction, examples, tmp_path):
    from dataclasses import replace

    from induction.worlds import write_instances

    path = tmp_path / "f.yaml"
    write_instances(path, [replace(one, band="b" * 120) for one in read_instances(examples)])
    ran = induction("info", str(path))
    for heading in ("regime", "band", "objects", "density", "unknown", "gold AST"):
        assert heading in ran.out
    assert ran.out.count("b") >= 3 * 120
