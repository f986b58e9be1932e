"""Sentences: each reads back to the formula it says, has one reading, and reads well (the table was read by people)."""

import logging
from importlib import resources
from pathlib import Path

import lark
import numpy as np
import pytest
from corpus import FORMULAS
from hypothesis import given
from make_sentences import COMMAND, formulas
from strategies import SIGNATURES, open_formulas

from induction.errors import FormulaSyntaxError, FormulaTooLargeError
from induction.families.templates import all_templates
from induction.formula import parse_formula
from induction.formula.normal_forms import to_alpha_canonical
from induction.formula.sampling import sample_formula
from induction.formula.syntax import And, Atom, Exists, ForAll, Iff, Implies, Not, Or, Signature, to_sexpr
from induction.rewriting.english import PHRASES, RESERVED, predicate_of, to_english
from induction.rewriting.reading import _PhraseLexer, read_english

TABLE = Path(__file__).with_name("sentences.tsv")

# Names that could be taken for others: variables, words of the language, letters.
ODD = Signature({"x": 1, "that": 1, "both": 2, "y": 2, "R": 2})


def assert_reads_back(formula) -> None:
    """The sentence and its layout say `formula` itself, but for the names of bound variables."""
    english = to_english(formula)
    assert " ".join(" ".join(english.layout).split()) == english.sentence
    wanted = to_alpha_canonical(formula)
    assert to_alpha_canonical(read_english(english.sentence)) == wanted, english.sentence
    assert to_alpha_canonical(read_english("\n".join(english.layout))) == wanted, english.layout


def assert_samples_read_back(seed: int, number: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(number):
        signature = (SIGNATURES[0], SIGNATURES[0], SIGNATURES[3], ODD)[int(rng.integers(4))]
        size = int(rng.integers(3, 26))
        assert_reads_back(
            sample_formula(rng, size, signature=signature, max_depth=4, bound_variables=("x", "y", "z", "it"))
        )


def test_random_formulas_read_back():
    assert_samples_read_back(1, 300)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(100, 110))
def test_random_formulas_read_back_full(seed):
    assert_samples_read_back(seed, 1000)


@given(open_formulas(SIGNATURES[3]))
def test_formulas_with_any_variables_read_back(formula):
    assert_reads_back(formula)


@given(open_formulas(ODD, ("x", "y", "that", "is")))
def test_names_that_are_words_read_back(formula):
    assert_reads_back(formula)


@pytest.mark.parametrize("known", FORMULAS, ids=lambda known: known.text)
def test_corpus_reads_back(known):
    assert_reads_back(parse_formula(known.text))


def test_templates_read_back_and_differ():
    sentences = set()
    variants = [variant for template in all_templates() for variant in template.variants]
    for variant in variants:
        sentence = to_english(variant.formula).sentence
        assert to_alpha_canonical(read_english(sentence)) == to_alpha_canonical(variant.formula)
        sentences.add(sentence)
    assert len(sentences) == len({to_alpha_canonical(variant.formula) for variant in variants})


def test_golds_read_back_in_a_breath(real_data):
    """What people ask for most is said without numbered parts."""
    rows = (real_data / "golds.tsv").read_text().splitlines()
    column = rows[0].split("\t").index("gold")
    golds = {row.split("\t")[column] for row in rows[1:]}
    assert len(golds) > 30
    for gold in golds:
        formula = parse_formula(gold)
        assert_reads_back(formula)
        assert "(1)" not in to_english(formula).sentence


def test_every_wording_is_in_the_grammar_which_has_no_conflicts(caplog):
    """LALR(1) without conflicts: the grammar gives no sentence two readings. Lark reports what it resolves."""
    grammar = resources.files("induction.grammars").joinpath("english.lark").read_text(encoding="utf-8")
    terminals = {word.lstrip("_") for word in grammar.replace("%declare", " ").split()}
    assert set(PHRASES.values()) <= terminals
    level, propagates = lark.logger.level, lark.logger.propagate
    lark.logger.setLevel(logging.DEBUG)
    lark.logger.propagate = True
    try:
        with caplog.at_level(logging.DEBUG, logger=lark.logger.name):
            lark.Lark('start: a\na: a "+" a | "x"', parser="lalr", debug=True)
            assert "conflict" in caplog.text  # so it would be seen
            caplog.clear()
            lark.Lark(grammar, parser="lalr", lexer=_PhraseLexer, debug=True)
            assert "conflict" not in caplog.text
    finally:
        lark.logger.setLevel(level)
        lark.logger.propagate = propagates


def test_table():
    """The accepted sentences are the ones given today, and each reads back."""
    first, *rows = TABLE.read_text().splitlines()
    assert first == f"# {COMMAND}"
    assert len(rows) >= 150
    given_today = [(formula, to_english(formula).sentence) for formula in formulas()]
    assert rows == [f"{to_sexpr(formula)}\t{sentence}" for formula, sentence in given_today]
    for formula, sentence in given_today:
        assert to_alpha_canonical(read_english(sentence)) == to_alpha_canonical(formula)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("(exists y (and (R x y) (forall z (or (not (S y z)) (P z)))))", "x has an R-successor all of whose S-successors are P"),
        ("(forall y (or (not (R x y)) (not (P y))))", "no R-successor of x is P"),
        ("(forall y (implies (R x y) (P y)))", "each R-successor of x is P"),
        ("(not (iff (P x) (Q x)))", "x is either P or Q (but not both)"),
        ("(exists y (and (R x y) (forall z (or (not (S y z)) (R z y)))))", "x has an R-successor y all of whose S-successors are R-predecessors of y"),
    ],
)  # fmt: skip
def test_sentences(text, sentence):
    assert to_english(parse_formula(text)).sentence == sentence


def test_layout_of_numbered_parts():
    text = "(and (P x) (or (Q x) (exists y (and (R x y) (iff (P y) (exists z (S y z)))))) (R x x) (S x x) (not (Q x)))"
    english = to_english(parse_formula(text))
    assert english.layout == (
        "all of (1) to (5) hold:",
        "  (1) x is P;",
        "  (2) at least one of (6) and (7) holds:",
        "    (6) x is Q;",
        "    (7) x has an R-successor y such that both or neither of (8) and (9) hold:",
        "      (8) y is P;",
        "      (9) y has an S-successor;",
        "  (3) x is an R-successor of itself;",
        "  (4) x is an S-successor of itself;",
        "  (5) x is not Q",
    )
    assert all(len(line) <= 40 for line in to_english(parse_formula(text), width=40).layout)


def _nested(step, depth: int):
    formula = Atom("P", ("x",))
    for _ in range(depth):
        formula = step(formula)
    return formula


DEEPENED = pytest.mark.parametrize(
    "step",
    [
        Not,
        lambda f: And(f, Atom("Q", ("x",))),
        lambda f: Or(Atom("Q", ("x",)), f),
        lambda f: Implies(f, Atom("Q", ("x",))),
        lambda f: Iff(Atom("Q", ("x",)), f),
        lambda f: Exists("x", And(Atom("R", ("y", "x")), Exists("y", And(Atom("R", ("x", "y")), f)))),
        lambda f: ForAll("x", Or(Not(Atom("R", ("y", "x"))), Exists("y", f))),
    ],
)


@DEEPENED
def test_deep_formulas(step):
    assert_reads_back(_nested(step, 2_000))


@pytest.mark.full
@DEEPENED
def test_deep_formulas_full(step):
    assert_reads_back(_nested(step, 20_000))


def test_shared_parts_are_bounded():
    formula = Atom("P", ("x",))
    for _ in range(60):
        formula = And(formula, formula)
    with pytest.raises(FormulaTooLargeError, match="saying in words"):
        to_english(formula)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "x is",
        "x is P and Q",
        "x is P and y is Q",
        "x has R-successor",
        "there is an object",
        "there is an object that is also P and that is Q",
        "both (1) and (2) hold: (1) x is P",
        "both (1) and (2) hold: (2) x is P; (1) x is Q",
        "all of (1) to (2) hold: (1) x is P; (3) x is Q",
        "(1) x is P",
        "x is that",
        "x is P.",
        "x is P, or x is Q",
        "exactly one of (1) and (2) holds: (1) x is P; (2) x is Q; (3) x is P",
    ],
)
def test_what_is_no_sentence(text):
    with pytest.raises(FormulaSyntaxError):
        read_english(text)


def test_words_of_the_language_are_quoted_as_names():
    assert {"that", "both", "itself", "successor"} - RESERVED == {"successor"}
    formula = Exists("y", And(Atom("both", ("x", "y")), Atom("that", ("y",))))
    assert to_english(formula).sentence == "x has a 'both'-successor that is 'that'"


def test_predicate_of():
    formula = parse_formula("(exists z (and (R y z) (S x z)))", free=None)
    assert predicate_of(formula, "y", {"x": "a0"}) == "has an R-successor that is an S-successor of a0"
    assert predicate_of(parse_formula("(iff (P y) (Q x))", free=None), "y", {"x": "a0"}) is None
