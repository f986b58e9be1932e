"""A fixed schedule of small searches of different kinds."""

from induction.baselines.portfolio.search import Portfolio

__all__ = ["Portfolio"]
