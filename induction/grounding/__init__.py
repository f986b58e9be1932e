"""Formulas over finite domains as Boolean circuits, and what needs a solver to decide."""

from induction.grounding.check import check, check_many
from induction.grounding.circuit import Circuit
from induction.grounding.ground import ground

__all__ = ["Circuit", "check", "check_many", "ground"]
