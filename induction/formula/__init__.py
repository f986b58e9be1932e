"""Formulas: nodes, text in and out, sizes and normal forms."""

from induction.formula.metrics import FormulaMetrics, measure
from induction.formula.parsing import parse_formula
from induction.formula.syntax import (
    DEFAULT_SIGNATURE,
    And,
    Atom,
    Equal,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Signature,
    to_sexpr,
)

__all__ = [
    "DEFAULT_SIGNATURE",
    "And",
    "Atom",
    "Equal",
    "Exists",
    "ForAll",
    "Formula",
    "FormulaMetrics",
    "Iff",
    "Implies",
    "Not",
    "Or",
    "Signature",
    "measure",
    "parse_formula",
    "to_sexpr",
]
