"""What a search may spend, and how it can end."""

import enum
import os
import time
from dataclasses import dataclass, field

from induction.errors import BudgetExhaustedError


class Outcome(enum.StrEnum):
    """How a search ended; never a bool or None that hides which."""

    SOLVED = "solved"
    """A smallest formula was found, up to what is said to be proven."""
    PROVEN_NONE = "proven-none"
    """No formula of any size in the fragment fits."""
    EXHAUSTED = "exhausted"
    """No formula up to the size asked for fits."""
    TIMED_OUT = "timed-out"
    """Time ran out first; there may be an answer that is not proven smallest."""
    OUT_OF_MEMORY = "out-of-memory"
    """Memory ran out first; there may be an answer that is not proven smallest."""
    UNKNOWN = "unknown"
    """Ended for another reason, such as an interrupt or a crash."""


class OutOfTimeError(BudgetExhaustedError):
    """The time limit has passed."""


class OutOfMemoryError(BudgetExhaustedError):
    """The memory limit would be passed."""


def resident_bytes(pid: int | None = None) -> int:
    """The resident memory of a process, by default this one; 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid or 'self'}/statm") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0


@dataclass(frozen=True)
class Budget:
    """Limits of one search: wall seconds and bytes; None is without limit."""

    time_limit_s: float | None = None
    memory_limit_bytes: int | None = None

    def start(self) -> "Meter":
        """A meter that starts now."""
        return Meter(self)


@dataclass
class Meter:
    """A running budget. Constructed by `Budget.start`."""

    budget: Budget
    started: float = field(default_factory=time.monotonic)

    @property
    def elapsed_s(self) -> float:
        """Wall seconds since the start."""
        return time.monotonic() - self.started

    def check(self, bytes_held: int = 0) -> None:
        """Raise OutOfTimeError or OutOfMemoryError if a limit is passed."""
        limit_s, limit_bytes = self.budget.time_limit_s, self.budget.memory_limit_bytes
        if limit_s is not None and self.elapsed_s > limit_s:
            raise OutOfTimeError(f"the time limit of {limit_s:g} s has passed")
        if limit_bytes is not None and bytes_held > limit_bytes:
            raise OutOfMemoryError(f"the memory limit of {limit_bytes:,} bytes is passed")

    def reserve(self, number: int) -> None:
        """To be called before so many bytes are allocated, temporary ones included.

        Raises:
            OutOfMemoryError: with what this process holds they would pass the limit.
        """
        limit_bytes = self.budget.memory_limit_bytes
        if limit_bytes is not None and resident_bytes() + number > limit_bytes:
            raise OutOfMemoryError(f"the memory limit of {limit_bytes:,} bytes would be passed")
