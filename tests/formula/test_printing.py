"""Printed forms: they read back, fit, and say the same."""

import pytest
from corpus import FORMULAS
from hypothesis import given, settings
from strategies import SIGNATURES, open_formulas

from induction.formula import parse_formula
from induction.formula.printing import to_pretty, to_unicode


@given(open_formulas(SIGNATURES[3]))
def test_pretty_reads_back(formula):
    assert parse_formula(to_pretty(formula), SIGNATURES[3], free=None) == formula
    assert parse_formula(to_pretty(formula, width=20), SIGNATURES[3], free=None) == formula


@pytest.mark.parametrize("known", FORMULAS, ids=lambda known: known.text)
def test_pretty_fits(known):
    assert all(len(line) <= 40 for line in to_pretty(parse_formula(known.text), width=40).split("\n"))


def test_pretty_breaks_where_it_must():
    text = "(and (P x) (exists y (or (R x y) (S y x) (exists z (and (R y z) (P z))))) (Q x))"
    assert to_pretty(parse_formula(text), width=40) == (
        "(and\n"
        "  (P x)\n"
        "  (exists y\n"
        "    (or\n"
        "      (R x y)\n"
        "      (S y x)\n"
        "      (exists z (and (R y z) (P z)))))\n"
        "  (Q x))"
    )
    assert to_pretty(parse_formula(text), width=80) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("(exists y (and (R x y) (P y)))", "∃y (R(x, y) ∧ P(y))"),
        ("(and (or (P x) (Q x)) (not (P x)))", "(P(x) ∨ Q(x)) ∧ ¬P(x)"),
        ("(or (and (P x) (Q x)) (P x))", "P(x) ∧ Q(x) ∨ P(x)"),
        ("(implies (implies (P x) (Q x)) (P x))", "(P(x) → Q(x)) → P(x)"),
        ("(implies (P x) (implies (Q x) (P x)))", "P(x) → Q(x) → P(x)"),
        ("(iff (iff (P x) (Q x)) (P x))", "(P(x) ↔ Q(x)) ↔ P(x)"),
        ("(iff (P x) (iff (Q x) (P x)))", "P(x) ↔ (Q(x) ↔ P(x))"),
        ("(not (and (P x) (Q x)))", "¬(P(x) ∧ Q(x))"),
        ("(not (exists y (= x y)))", "¬∃y (x = y)"),
        ("(forall y (not (= x y)))", "∀y (x ≠ y)"),
        ("(and (= x x) (not (= x x)))", "x = x ∧ x ≠ x"),
        ("(not (not (= x x)))", "¬(x ≠ x)"),
        ("(or (exists y (R x y)) (P x))", "∃y R(x, y) ∨ P(x)"),
        ("(exists y (or (R x y) (P x)))", "∃y (R(x, y) ∨ P(x))"),
        ("(exists y (forall z (R y z)))", "∃y ∀z R(y, z)"),
    ],
)
def test_unicode(text, shown):
    assert to_unicode(parse_formula(text, free=None)) == shown


_OPERATORS = {"↔": ("iff", 1), "→": ("implies", 2), "∨": ("or", 3), "∧": ("and", 4)}


def _read_unicode(text):
    """A precedence-climbing reader of the mathematical notation, to S-expressions with ∧ and ∨ folded right."""
    tokens = text.replace("(", " ( ").replace(")", " ) ").replace("¬", " ¬ ").replace(",", " ").split()
    position = 0

    def take():
        nonlocal position
        position += 1
        return tokens[position - 1]

    def unary():
        token = take()
        if token == "¬":
            return f"(not {unary()})"
        if token[0] in "∃∀":
            return f"({'exists' if token[0] == '∃' else 'forall'} {token[1:]} {unary()})"
        if token == "(":
            inner = climb(0)
            assert take() == ")"
            return inner
        if position < len(tokens) and tokens[position] in ("=", "≠"):
            relation, right = take(), take()
            equal = f"(= {token} {right})"
            return equal if relation == "=" else f"(not {equal})"
        assert take() == "("
        arguments = []
        while tokens[position] != ")":
            arguments.append(take())
        take()
        return f"({token} {' '.join(arguments)})"

    def climb(loosest):
        left = unary()
        while position < len(tokens) and tokens[position] in _OPERATORS and _OPERATORS[tokens[position]][1] >= loosest:
            word, level = _OPERATORS[take()]
            left = f"({word} {left} {climb(level + 1 if word == 'iff' else level)})"
        return left

    result = climb(0)
    assert position == len(tokens)
    return result


def _right_folded(text):
    """The formula with chains of one of ∧, ∨ folded right: what unparenthesised chains cannot tell apart."""
    from induction.formula.syntax import And, Or, conjunction_of, disjunction_of, fold

    def combine(node, *children):
        if not isinstance(node, And | Or):
            return node.with_children(*children) if children else node
        kind = type(node)
        operands, pending = [], list(children)
        while pending:
            head = pending.pop(0)
            if isinstance(head, kind):
                pending[:0] = head.children
            else:
                operands.append(head)
        return (conjunction_of if kind is And else disjunction_of)(operands)

    return fold(text, combine)


@settings(max_examples=300)
@given(open_formulas(SIGNATURES[0]))
def test_unicode_reads_back_up_to_associativity(formula):
    read = parse_formula(_read_unicode(to_unicode(formula)), free=None)
    assert _right_folded(read) == _right_folded(formula)
