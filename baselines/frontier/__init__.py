"""A loop with any proposer: a program proposes formulas, repair and simplification work on them, the best is kept."""

from induction.baselines.frontier.search import Frontier, FrontierRun, frontier

__all__ = ["Frontier", "FrontierRun", "frontier"]
