"""LaTeX, TPTP and SMT-LIB: what a reader of each makes of them is the formula again."""

import re

import numpy as np
import pytest
import z3
from hypothesis import given
from strategies import SIGNATURES, open_formulas

from induction.errors import InductionError
from induction.evaluation import reference
from induction.formula import Signature, parse_formula
from induction.formula.exports import to_smtlib, to_tptp
from induction.formula.metrics import free_variables
from induction.formula.printing import to_latex, to_unicode
from induction.formula.sampling import sample_formula
from induction.formula.syntax import Atom, Formula, subformulas
from induction.worlds.sampling import sample_world

ODD = Signature({"P": 1, "p": 1, "t": 1, "_odd": 2, "ite": 2, "x1": 1})


def _from_tptp(text: str, source: Formula, signature: Signature) -> Formula:
    """The formula that a fully parenthesised FOF text says, by way of our own syntax."""
    tokens = re.findall(r"<=>|=>|'[^']*'|[\w]+|[()\[\]:,~&|!?=]", text)
    position = 0
    used = {node.predicate for node in subformulas(source) if isinstance(node, Atom)}
    lowered = {name[0].lower() + name[1:]: name for name in used}

    def take():
        nonlocal position
        position += 1
        return tokens[position - 1]

    def variable(word):
        return word[0].lower() + word[1:]

    def read():
        token = take()
        if token == "~":
            return f"(not {read()})"
        if token in "?!":
            assert take() == "["
            name = variable(take())
            assert (take(), take()) == ("]", ":")
            return f"({'exists' if token == '?' else 'forall'} {name} {read()})"
        if token == "(":
            if tokens[position + 1] == "=":
                left, _, right, _ = take(), take(), take(), take()
                return f"(= {variable(left)} {variable(right)})"
            left = read()
            connective = {"&": "and", "|": "or", "=>": "implies", "<=>": "iff"}[take()]
            right = read()
            assert take() == ")"
            return f"({connective} {left} {right})"
        predicate = token[1:-1] if token.startswith("'") else lowered[token]
        arguments = []
        while take() != ")":
            arguments.append(variable(take()))
        return f"({predicate} {' '.join(arguments)})"

    result = parse_formula(read(), signature, free=None)
    assert position == len(tokens)
    return result


@pytest.mark.parametrize("signature", [SIGNATURES[0], SIGNATURES[3], ODD], ids=str)
@given(seed=...)
def test_tptp_reads_back(signature, seed: int):
    formula = sample_formula(np.random.default_rng(abs(seed)), 3 + abs(seed) % 25, signature=signature)
    text = to_tptp(formula)
    body = re.fullmatch(r"fof\(definition_of_t, definition, ! \[X\] : \(('T'|t)\(X\) <=> (.*)\)\)\.", text)
    assert body
    assert _from_tptp(body[2], formula, signature) == formula


def test_tptp_of_closed_and_open_formulas():
    assert to_tptp(parse_formula("(exists y (P y))", free=None)) == "fof(formula, axiom, ? [Y] : p(Y))."
    with pytest.raises(InductionError, match="not x, y"):
        to_tptp(parse_formula("(R x y)", free=None))


@given(open_formulas(ODD))
def test_smtlib_is_read_by_z3(formula):
    solver = z3.Solver()
    solver.from_string(to_smtlib(formula))


@pytest.mark.parametrize("seed", range(30))
def test_smtlib_means_the_formula(seed):
    """Over a sort of just the objects of a world, z3 agrees with the reference about every object."""
    rng = np.random.default_rng(seed)
    formula = sample_formula(rng, int(rng.integers(4, 18)))
    world = sample_world(rng, 3)
    names = [f"e{i}" for i in range(world.size)]
    script = [to_smtlib(formula), *(f"(declare-const {name} Object)" for name in names)]
    script.append(f"(assert (distinct {' '.join(names)}))")
    script.append(f"(assert (forall ((o Object)) (or {' '.join(f'(= o {name})' for name in names)})))")
    used = {node.predicate for node in subformulas(formula) if isinstance(node, Atom)}
    for predicate in used:
        for place, true in np.ndenumerate(world.true[predicate]):
            atom = f"({predicate} {' '.join(names[i] for i in place)})"
            script.append(f"(assert {atom if true else f'(not {atom})'})")
    for element, holds in enumerate(reference.extension(formula, world)):
        solver = z3.Solver()
        claim = f"(phi {names[element]})"
        solver.from_string("\n".join([*script, f"(assert {f'(not {claim})' if holds else claim})"]))
        assert solver.check() == z3.unsat


@given(open_formulas(SIGNATURES[0]))
def test_latex_is_the_mathematical_text(formula):
    latex = to_latex(formula)
    for command, symbol in (
        (r"\lnot ", "¬"), (r"\neq", "≠"), (r"\land", "∧"), (r"\lor", "∨"), (r"\leftrightarrow", "↔"),
        (r"\rightarrow", "→"), (r"\exists ", "∃"), (r"\forall ", "∀"), (r"\, ", " "), (r"\mathit{other}", "other"), ("y_{1}", "y1"),
    ):  # fmt: skip
        latex = latex.replace(command, symbol)
    assert latex == to_unicode(formula)


def test_latex_names():
    signature = Signature({"knows_of": 2, "_x": 1, "P12": 1})
    formula = parse_formula("(and (knows_of x x) (and (_x x) (P12 x)))", signature)
    assert to_latex(formula) == r"\mathit{knows\_of}(x, x) \land \mathit{\_x}(x) \land P_{12}(x)"


def test_deep_formulas_are_exported():
    formula = parse_formula("(not " * 20_000 + "(P x)" + ")" * 20_000)
    assert to_tptp(formula).count("~") == 20_000
    assert to_smtlib(formula).count("(not") == 20_000
    assert to_latex(formula).count("lnot") == 20_000
    assert free_variables(formula) == {"x"}
