"""Does a formula hold: naively, fast, and as a verdict on an instance."""

from induction.evaluation.verdict import Verdict, WorldVerdict, check, check_many

__all__ = ["Verdict", "WorldVerdict", "check", "check_many"]
