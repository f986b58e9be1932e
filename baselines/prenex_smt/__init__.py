"""Prenex formulas whose matrix Z3 chooses, with a rescue for when none fits."""

from induction.baselines.prenex_smt.search import PrenexOnly, PrenexSmt

__all__ = ["PrenexOnly", "PrenexSmt"]
