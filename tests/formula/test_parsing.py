"""The strict grammar: what it takes, and what it says to everything else."""

import time

import pytest
from corpus import BROKEN, FORMULAS
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import SIGNATURES, definitions, open_formulas, signatures

from induction.errors import FormulaSyntaxError, FormulaTooLargeError
from induction.formula import Formula, Signature, parse_formula, to_sexpr
from induction.formula.metrics import free_variables
from induction.formula.parsing import MAX_FORMULA_CHARACTERS


@pytest.mark.parametrize("known", FORMULAS, ids=lambda known: known.text)
def test_known_formulas(known):
    formula = parse_formula(known.text)
    assert to_sexpr(formula) == known.folded
    assert parse_formula(known.folded) == formula


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: repr(broken.text))
def test_broken_texts_are_located_and_explained(broken):
    with pytest.raises(FormulaSyntaxError) as caught:
        parse_formula(broken.text)
    error = caught.value
    assert (error.line, error.column, error.offending) == (broken.line, broken.column, broken.offending)
    for word in broken.words:
        assert word in str(error)
    assert "\n" not in str(error)
    assert str(error).isprintable()
    assert isinstance(error, ValueError)


@given(st.data())
def test_text_round_trip(data):
    signature = data.draw(signatures())
    formula = data.draw(open_formulas(signature))
    assert parse_formula(to_sexpr(formula), signature, free=None) == formula


@given(st.data())
def test_definitions_need_exactly_x(data):
    signature = data.draw(signatures())
    formula = data.draw(open_formulas(signature))
    text = to_sexpr(formula)
    if free_variables(formula) == {"x"}:
        assert parse_formula(text, signature) == formula
    else:
        with pytest.raises(FormulaSyntaxError, match="free"):
            parse_formula(text, signature)
    assert parse_formula(text, signature, free=free_variables(formula)) == formula


def test_other_signatures():
    signature = Signature({"Person": 1, "knows": 2, "s2": 2})
    text = "(exists other (and (knows x other) (and (Person other) (s2 other x))))"
    assert to_sexpr(parse_formula(text, signature)) == text
    with pytest.raises(FormulaSyntaxError, match="unknown predicate 'P'; expected a predicate"):
        parse_formula("(P x)", signature)
    with pytest.raises(FormulaSyntaxError, match="did you mean knows"):
        parse_formula("(Knows x x)", signature)
    text = "(exists knows (knows x knows))"
    assert to_sexpr(parse_formula(text, signature)) == text


def test_names_are_told_apart_by_position():
    signature = Signature({"x": 1, "y": 1, "z": 2, "likes": 2, "p": 1})
    for text in (
        "(x x)",
        "(exists y (z x y))",
        "(exists y (and (y y) (z y x)))",
        "(forall likes (or (not (likes x likes)) (= likes x)))",
        "(and (p x) (exists p (likes p x)))",
    ):
        assert to_sexpr(parse_formula(text, signature)) == text
        assert parse_formula(text, signature).ast_nodes == len(text.replace("(", " ").replace(")", " ").split())
    with pytest.raises(FormulaSyntaxError, match="variable y is free"):
        parse_formula("(z x y)", signature)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(v likes w)", "write (likes v w)"),
        ("(exists y (x likes y))", "write (likes x y)"),
        ("(p x and x x)", "write and in front"),
        ("(p x likes w)", "write (likes x y)"),
        ("(p likes)", "stands in front, (likes x y)"),
        ("p x", "a formula in parentheses"),
        ("(exists v likes x v)", "write (likes x y)"),
        ("(and likes x p)", "write (likes x y)"),
        ("(v = x)", "write (= v x)"),
        ("((p x) or (x x))", "remove the doubled parenthesis"),
        ("(exists not (p x))", "a variable"),
    ],
)
def test_suggestions_where_predicates_look_like_variables(text, words):
    signature = Signature({"x": 1, "y": 1, "z": 2, "likes": 2, "p": 1})
    with pytest.raises(FormulaSyntaxError) as caught:
        parse_formula(text, signature)
    assert words in str(caught.value)


def test_first_free_occurrence_is_named():
    with pytest.raises(FormulaSyntaxError) as caught:
        parse_formula("(and (exists y (R x y))\n  (or (R b y) (R y b)))")
    assert (caught.value.offending, caught.value.line, caught.value.column) == ("b", 2, 10)


def test_limits_are_stated_at_once():
    text = "(and " + "(P x) " * (MAX_FORMULA_CHARACTERS // 5) + "(Q x))"
    started = time.perf_counter()
    with pytest.raises(FormulaTooLargeError, match="limit is 1,000,000"):
        parse_formula(text)
    assert time.perf_counter() - started < 0.5


@pytest.mark.parametrize("text", ["(" * 300_000, ")" * 300_000, "(not " * 150_000, "(P " + "x " * 300_000])
def test_large_rubbish_ends_in_an_error(text):
    with pytest.raises(FormulaSyntaxError):
        parse_formula(text)


@pytest.mark.parametrize(
    "text",
    [
        "(x = \x1b[31mred)",
        "(y R \x1b]0;pwn\a)",
        "(" + "x" * 100_000 + " = y)",
        "(" + "Z" * 100_000 + " x)",
        "(R x " + "y" * 100_000 + ")",
    ],
)
def test_messages_are_safe_and_short(text):
    with pytest.raises(FormulaSyntaxError) as caught:
        parse_formula(text)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 500


def _never_crashes(text: str) -> None:
    try:
        formula = parse_formula(text, free=None)
    except FormulaSyntaxError as caught:
        error = caught
    else:
        assert isinstance(formula, Formula)
        assert parse_formula(to_sexpr(formula), free=None) == formula
        return
    lines = text.split("\n")
    assert 1 <= error.line <= len(lines)
    assert 1 <= error.column <= len(lines[error.line - 1]) + 1
    assert "\n" not in str(error)
    assert str(error).isprintable()
    if error.offending != "end of text":
        assert lines[error.line - 1][error.column - 1 :].startswith(error.offending)


@given(st.text())
def test_fuzz_any_text(text):
    _never_crashes(text)


@given(st.binary())
def test_fuzz_any_bytes(content):
    _never_crashes(content.decode("utf-8", errors="surrogateescape"))


_WORDS = st.sampled_from(
    [
        "(",
        ")",
        "P",
        "Q",
        "R",
        "S",
        "T",
        "=",
        "x",
        "y",
        "y1",
        "and",
        "or",
        "not",
        "implies",
        "iff",
        "forall",
        "exists",
        "And",
        "∀",
        "&",
        "P(x)",
        "a0",
        ",",
        ".",
        "true",
        "𝔓",
        "\x00",
        "()",
        "!=",
    ]
)


@settings(max_examples=500)
@given(st.lists(_WORDS, max_size=30))
def test_fuzz_near_formulas(words):
    _never_crashes(" ".join(words))


@settings(max_examples=500)
@given(st.data())
def test_fuzz_mutated_formulas(data):
    text = to_sexpr(data.draw(definitions(SIGNATURES[0])))
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.integers(0, 6)))
        text = text[:start] + data.draw(st.sampled_from(["", " ", "(", ")", "x", "P", "and", "∃", "\t"])) + text[end:]
    _never_crashes(text)
