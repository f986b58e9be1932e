"""What a formula that does not fit yet is shown: the objects and worlds that it gets wrong."""

from collections.abc import Sequence
from dataclasses import dataclass

from induction.errors import BudgetExhaustedError, EvaluationLimitError
from induction.evaluation import bitset
from induction.formula.syntax import Formula
from induction.grounding.completion import complete
from induction.worlds.instance import Instance, Regime
from induction.worlds.world import World

_SHOWN_AT_ONCE = 3  # objects; more would ground what need not be
_COMPLETION_LIMIT = 1_000_000


@dataclass(frozen=True)
class Demand:
    """One thing a formula must do: match the label of an object, or with None mislabel some object of the world."""

    world: int
    element: int | None


class Demands:
    """What is asked of formulas, and which of it some formula has failed.

    `worlds` are those the demands are about; `seen` holds the demands that were ever failed, in order of their first
    time.
    """

    def __init__(self, worlds: Sequence[World]) -> None:
        self.worlds = tuple(worlds)
        self.seen: list[Demand] = []

    def first(self) -> list[Demand]:
        """Demands to begin with."""
        raise NotImplementedError

    def failures(self, formula: Formula) -> list[Demand]:
        """Some of the demands that `formula` fails; empty only if it meets all.

        Raises:
            BudgetExhaustedError: an EC world could not be decided.
            EvaluationLimitError: the formula is too wide for a world.
        """
        raise NotImplementedError

    def failed_by(self, formula: Formula) -> list[Demand]:
        """As `failures`, whose demands are remembered as seen."""
        failed = self.failures(formula)
        known = set(self.seen)
        self.seen += [demand for demand in failed if demand not in known]
        return failed

    def is_fitting(self, formula: Formula) -> bool:
        """Whether nothing speaks against the formula; False where that could not be decided."""
        try:
            return not self.failures(formula)
        except (BudgetExhaustedError, EvaluationLimitError):
            return False


class Counterexamples(Demands):
    """The demands of an instance: worlds to match, then those to miss."""

    def __init__(self, instance: Instance) -> None:
        super().__init__((*instance.train_worlds, *instance.no_worlds))
        self._to_match = len(instance.train_worlds)
        self._partly_observed = instance.regime is Regime.EC

    def first(self) -> list[Demand]:
        """Of the first world an object with the label and one without; for EC all of it."""
        if not self._to_match:
            return [Demand(w, None) for w in range(len(self.worlds))]
        if self._partly_observed:
            return self._whole(0)
        target = self.worlds[0].target
        firsts = dict.fromkeys([int(target.argmax()), int(target.argmin())])
        return [Demand(0, element) for element in firsts]

    def failures(self, formula: Formula) -> list[Demand]:
        """Some of the demands that `formula` fails; empty only if it explains the instance."""
        return self._incompletable(formula) if self._partly_observed else self._mislabelled(formula)

    def _mislabelled(self, formula: Formula) -> list[Demand]:
        (extensions,) = bitset.extensions([formula], self.worlds)
        failed: list[Demand] = []
        # An object that is missed and one taken by mistake, from as many worlds as can be.
        wanted = True
        for w in range(self._to_match):
            target, extension = self.worlds[w].target, extensions[w]
            for label in (wanted, not wanted):
                wrong = (target & ~extension) if label else (extension & ~target)
                if wrong.any():
                    failed.append(Demand(w, int(wrong.argmax())))
                    wanted = not label
                    break
            if len(failed) == _SHOWN_AT_ONCE:
                return failed
        matched = [bool((extensions[w] == world.target).all()) for w, world in enumerate(self.worlds)]
        return failed + [Demand(w, None) for w in range(self._to_match, len(self.worlds)) if matched[w]]

    def _incompletable(self, formula: Formula) -> list[Demand]:
        for w, world in enumerate(self.worlds):
            if complete(formula, world, resource_limit=_COMPLETION_LIMIT).completed is None:
                return self._whole(w)
        return []

    def _whole(self, w: int) -> list[Demand]:
        return [Demand(w, element) for element in range(self.worlds[w].size)]
