"""Disjunctions of existential rules by answer set programming."""

from induction.baselines.ilp_asp.search import IlpAsp

__all__ = ["IlpAsp"]
