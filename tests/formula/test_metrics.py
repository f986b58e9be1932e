"""What is counted, against hand counts and against naive recursion."""

import pytest
from corpus import FORMULAS
from hypothesis import given
from strategies import SIGNATURES, open_formulas

from induction.formula import measure, parse_formula
from induction.formula.normal_forms import to_nnf, to_prenex
from induction.formula.syntax import Atom, Equal, ForAll, Quantified


@pytest.mark.parametrize("known", FORMULAS, ids=lambda known: known.text)
def test_known_measures(known):
    metrics = measure(parse_formula(known.text))
    assert metrics.ast_nodes == known.ast
    assert metrics.quantifier_depth == known.depth
    assert metrics.quantifier_alternations == known.alternations
    assert metrics.lift_depth == known.lift
    assert metrics.is_lifted == (known.lift >= 2)
    assert metrics.equality_atoms == known.equality
    assert metrics.free_variables == ("x",)


def _naive(node, bound=()):
    """AST size, depth, free variables, lift depth and names by plain recursion."""
    if isinstance(node, Atom | Equal):
        names = node.arguments if isinstance(node, Atom) else (node.left, node.right)
        free = {v for v in names if v not in bound}
        return 1 + len(names), 0, free, len(bound) if "x" in free else 0, set(names)
    if isinstance(node, Quantified):
        size, depth, free, lift, names = _naive(node.body, (*bound, node.variable))
        return size + 2, depth + 1, free, lift, names | {node.variable}
    parts = [_naive(child, bound) for child in node.children]
    return (
        1 + sum(part[0] for part in parts),
        max(part[1] for part in parts),
        set().union(*(part[2] for part in parts)),
        max(part[3] for part in parts),
        set().union(*(part[4] for part in parts)),
    )


@given(open_formulas(SIGNATURES[0]))
def test_measures_agree_with_recursion(formula):
    metrics = measure(formula)
    size, depth, free, lift, names = _naive(formula)
    assert (metrics.ast_nodes, metrics.quantifier_depth, metrics.lift_depth) == (size, depth, lift)
    assert set(metrics.free_variables) == free
    assert set(metrics.variables) == names


def _blocks(node, last=None):
    if isinstance(node, Quantified):
        kind = isinstance(node, ForAll)
        return (last is not None and kind != last) + _blocks(node.body, kind)
    return max((_blocks(child, last) for child in node.children), default=0)


@given(open_formulas(SIGNATURES[0]))
def test_alternations_are_those_of_the_normal_forms(formula):
    alternations = measure(formula).quantifier_alternations
    assert alternations == _blocks(to_nnf(formula))
    assert _blocks(to_prenex(formula)) >= alternations
