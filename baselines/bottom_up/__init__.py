"""Exhaustive search by AST size: the smallest formula, with proof that nothing smaller fits."""

from induction.baselines.bottom_up.search import BottomUp

__all__ = ["BottomUp"]
