"""Rules learnt top down by information gain, as FOIL does: the classic yardstick."""

from induction.baselines.greedy.search import Greedy

__all__ = ["Greedy"]
