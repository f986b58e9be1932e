"""The formula in a model's answer: where it was found, and what was repaired."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import SIGNATURES, definitions

from induction.formula import parse_formula, to_sexpr
from induction.formula.answers import MAX_ANSWER_CHARACTERS, AnswerStatus, read_answer
from induction.formula.normal_forms import to_alpha_canonical

F = "(exists y (and (R x y) (P y)))"
LONG = "(and (P x) (forall y (or (not (R x y)) (Q y))))"
FORMULA, UNPARSABLE = AnswerStatus.FORMULA, AnswerStatus.UNPARSABLE
NULL, EMPTY, NONE = AnswerStatus.NULL, AnswerStatus.EMPTY, AnswerStatus.NO_FORMULA


@pytest.mark.parametrize(
    ("answer", "found", "repairs", "formula"),
    [
        (F, "whole text", (), F),
        (f"\n  {F}\n", "whole text", (), F),
        (json.dumps({"formula": F, "description": "d"}), "JSON", (), F),
        (json.dumps([{"formula": F}]), "JSON", (), F),
        (f'{{"formula": "{F}"}} trailing words', "JSON", (), F),
        ('{"formula": "(exists y\n  (R x y))"}', "JSON", (), "(exists y (R x y))"),
        (f'Sure!\n```json\n{{"formula": "{F}"}}\n```\nHope it helps (a lot).', "JSON", (), F),
        (f'{{"formula": "(P x)"}}\nWait, no:\n{{"formula": "{F}"}}', "JSON", (), F),
        (f'{{"formula": null}} hmm {{"formula": "{F}"}}', "JSON", (), F),
        (f"{{'formula': '{F}', 'description': 'd'}}", "broken JSON", (), F),
        (f'{{"formula": "{F}", "description": "cut o', "broken JSON", (), F),
        ('{"formula": "(exists y\\n (R x y))", ', "broken JSON", (), "(exists y (R x y))"),
        (f"```\n{F}\n```", "code fence", (), F),
        (f"First (P x), but better:\n```lisp\n{F}\n```\nsince (Q x) fails.", "code fence", (), F),
        (f"I think (see above) that T is {F}, as shown.", "prose", (), F),
        (f"Perhaps (P x). No: {F}.", "prose", (), F),
        (f"The answer is `{F}`", "prose", (), F),
        (f"T(x) <-> {F}", "prose", (), F),
        (f"{F})", "whole text", ("remove_trailing_close_paren:1",), F),
        (f"{F}  )) ", "whole text", ("remove_trailing_close_paren:2",), F),
        (F[:-1], "whole text", ("append_missing_close_paren:1",), F),
        (F[:-3], "whole text", ("append_missing_close_paren:3",), F),
        (json.dumps({"formula": F[:-1]}), "JSON", ("append_missing_close_paren:1",), F),
        (f"It is {F[:-2]}", "prose", ("append_missing_close_paren:2",), F),
        (f"{F} (Q x)", "whole text", ("balanced_prefix",), F),
        (json.dumps({"formula": f"phi(x) = {F}"}), "JSON", ("dropped_prefix",), F),
        (f"(and {F})", "whole text", ("unary_connective:1",), F),
        (f"(or (and {F}) (and (or (P x))))", "whole text", ("unary_connective:3",), f"(or {F} (P x))"),
        (f"(and {F}))", "whole text", ("remove_trailing_close_paren:1", "unary_connective:1"), F),
        (f"({F})", "whole text", ("doubled_parenthesis:1",), F),
        (f"(({F}", "whole text", ("doubled_parenthesis:2",), F),
        (f"{F}\n\nThis means (P x).", "prose", (), F),
        (f"Final: {F}\n\nNote that (Q x) does not work.", "prose", (), F),
        (f'{{"formula": "{F}"}} as asked in the format {{"formula": "..."}}', "JSON", (), F),
        (f'{{"formula": "{F}"}}. Of the form {{"formula": "(Q y)"}}.', "JSON", (), F),
        (
            f'{{"formula": "(P x)"}}\nWait, correct: {{"formula": "{F[:-2]}',
            "broken JSON",
            ("append_missing_close_paren:2",),
            F,
        ),
        (f'{{"result": {{"formula": "{F}"}}}}', "JSON", (), F),
        ('{"a": 1} ' * 300 + f'{{"formula": "{F}"}}', "JSON", (), F),
        ('{"formula": "\\u0028P x\\u0029", "x', "broken JSON", (), "(P x)"),
    ],
)
def test_found_and_repaired(answer, found, repairs, formula):
    result = read_answer(answer)
    assert result.status is FORMULA
    assert to_sexpr(result.formula) == formula
    assert (result.found, result.repairs) == (found, repairs)
    assert result.is_strict == (_is_bare(answer, found) and not repairs)
    assert result.problem == ""


def _is_bare(answer, found):
    """Whether an answer is nothing but a formula or one JSON object."""
    if found == "JSON":
        try:
            return isinstance(json.loads(answer, strict=False), dict) and '"result"' not in answer
        except ValueError:
            return False
    return found == "whole text"


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (None, NULL),
        ('{"formula": null, "description": "none"}', NULL),
        ("{'formula': None}", NULL),
        ("", EMPTY),
        (" \n", EMPTY),
        ('{"formula": "  "}', EMPTY),
        ("I am sorry, but I cannot determine this (yet).", NONE),
        ("No formula fits.", NONE),
        ("∃y R(x,y)", NONE),
        ("(T and F)", UNPARSABLE),
        ("(not (exists y (R y x and Q y)))", UNPARSABLE),
        ('{"formula": 5}', UNPARSABLE),
        ('{"formula": "(¬ (exists y (R x y)))"}', UNPARSABLE),
        ("(Not (P x))", UNPARSABLE),
        ("(~ (P x))", UNPARSABLE),
        ("(And (P x) (Q x))", UNPARSABLE),
        ("(xor (P x) (Q x))", UNPARSABLE),
        ("(if (P x) (Q x))", UNPARSABLE),
        ("(-> (P x) (Q x))", UNPARSABLE),
        ("(Forall x (P x))", UNPARSABLE),
        ("I think (And (P x) (Q x))", UNPARSABLE),
        ("(iff (T x) (P x))", UNPARSABLE),
        ("((P x) (Q x))", UNPARSABLE),
        ('{"formula": "every R-successor"}', UNPARSABLE),
        ("It is (R x).", UNPARSABLE),
        ("(" * (MAX_ANSWER_CHARACTERS + 1), UNPARSABLE),
    ],
)
def test_no_formula(answer, status):
    result = read_answer(answer)
    assert result.status is status
    assert result.formula is None
    assert result.problem
    assert len(result.problem) < 600
    assert not result.is_strict


@pytest.mark.parametrize("text", ["(P y)", "(exists y (P y))", "(exists y (P y", "(and (R x y))"])
def test_formulas_that_define_nothing(text):
    """They parse, and so can be measured, but are never strict, and a definition elsewhere goes first."""
    result = read_answer(text)
    assert result.status is AnswerStatus.NOT_A_DEFINITION
    assert result.formula is not None
    assert "free" in result.problem
    assert not result.is_strict
    assert to_sexpr(read_answer(f"{F} fits; beware of {text}.").formula) == F


def test_ambiguity_is_counted():
    assert read_answer(f"Either (P x) or (Q x) or again (P x) or {F}").candidates == 3
    assert read_answer(json.dumps({"formula": F})).candidates == 1


def test_other_signatures():
    assert to_sexpr(read_answer("so (likes x x).", SIGNATURES[3]).formula) == "(likes x x)"
    assert read_answer("so (likes x x).").status is NONE


@given(definitions(SIGNATURES[0]))
def test_any_formula_is_found_as_written(formula):
    text = to_sexpr(formula)
    for answer in (text, json.dumps({"formula": text}), f"```\n{text}\n```", f"Clearly {text}, I say."):
        result = read_answer(answer)
        assert result.formula == formula
        assert result.repairs == ()
    for cut in range(1, len(text) - len(text.rstrip(")")) + 1):
        result = read_answer(text[:-cut])
        assert result.formula == formula
        assert result.repairs == (f"append_missing_close_paren:{cut}",)


def _mutated(rng: random.Random, text: str) -> str:
    pieces = [
        "(",
        ")",
        '"',
        "{",
        "}",
        "```",
        "formula",
        "\\",
        "\n",
        "null",
        "and",
        "∃",
        "\x00",
        "\ud800",
        ":",
        "'",
        "P",
        "",
    ]
    for _ in range(rng.randint(1, 8)):
        start = rng.randint(0, len(text))
        end = min(len(text), start + rng.choice([0, 0, 1, 2, 5, 40]))
        text = text[:start] + rng.choice(pieces) * rng.choice([1, 1, 1, 3]) + text[end:]
    return text


def test_ten_thousand_mutated_answers():
    rng = random.Random(7)
    bases = [
        F,
        json.dumps({"formula": LONG, "description": "all (R) successors"}),
        f'Reasoning (1) and (2).\n```json\n{{"formula": "{LONG}", "description": "x"}}\n```',
        f"Maybe {F} or {LONG}; I cannot say.",
        '{"formula": null}',
    ]
    seen = set()
    for i in range(10_000):
        result = read_answer(_mutated(rng, bases[i % len(bases)]))
        seen.add(result.status)
        if result.formula is not None:
            assert parse_formula(to_sexpr(result.formula), free=None) == result.formula
        assert bool(result.problem) == (result.status is not FORMULA)
    assert seen == set(AnswerStatus)


@pytest.mark.parametrize(
    "text", ["(" * 100_000, "{" * 100_000, '{"a":' * 100_000, ")" * 100_000, "`" * 100_000, "(and " * 50_000]
)
def test_rubbish_ends(text):
    assert read_answer(text).formula is None


@given(st.text())
def test_any_text(text):
    result = read_answer(text)
    assert (result.formula is None) == (result.status not in (FORMULA, AnswerStatus.NOT_A_DEFINITION))


def test_recorded_answers_and_repairs(real_data):
    rows = [json.loads(line) for line in (real_data / "formulas_dev.jsonl").read_text().splitlines()]
    repaired = not_definitions = 0
    for row in rows:
        result = read_answer(row["text"])
        if row["text"] is None:
            assert result.status is NULL
        elif "and" in row.get("eval_error", ""):
            # Parsed by the release, which fails at evaluation; never a formula here.
            assert result.status is UNPARSABLE
        else:
            assert result.formula is not None
            if result.status is not FORMULA:
                assert not row["valid"]
                not_definitions += 1
            assert result.formula.ast_nodes == row["ast_size"]
            assert result.repairs == ((row["repair"],) if "repair" in row else ())
            repaired += "repair" in row
            if row["normalised"]:
                recorded = to_alpha_canonical(parse_formula(row["normalised"], free=None))
                assert to_alpha_canonical(result.formula) == recorded
    assert repaired == 2
    assert 1 <= not_definitions <= 5
