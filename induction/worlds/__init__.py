"""Worlds, instances and the files that hold them."""

from induction.worlds.formats import read_instances, write_instances
from induction.worlds.instance import Instance, Regime
from induction.worlds.world import World

__all__ = ["Instance", "Regime", "World", "read_instances", "write_instances"]
