"""Whether a formula explains an instance, and where it does not."""

from collections.abc import Sequence
from dataclasses import dataclass

from induction.errors import UnsupportedRegimeError
from induction.evaluation import bitset, reference
from induction.formula.syntax import Formula
from induction.worlds.instance import Instance, Regime
from induction.worlds.world import BoolArray, Element, World

GOLD_MARGINS = (0, 10, 25)
"""The benchmark's size marks: valid and AST size at most gold plus this."""


@dataclass(frozen=True)
class Completion:
    """What is known of completing one partly observed world so that a formula matches its labels.

    `completed` is such a completion, None where there is none; then either some labels are out of reach by
    themselves (`positives_unachievable`: labelled T, but no completion makes the formula hold;
    `negatives_unachievable`: not labelled, but none makes it fail), or each can be reached and `conflict` names
    objects whose labels cannot be reached together, none of them superfluous.

    `flips_to_true` and `flips_to_false` compare the two extreme completions, unknown atoms all false and all true.
    """

    completed: World | None
    decided_by: str
    positives_unachievable: tuple[Element, ...] = ()
    negatives_unachievable: tuple[Element, ...] = ()
    conflict: tuple[Element, ...] = ()
    flips_to_true: tuple[Element, ...] = ()
    flips_to_false: tuple[Element, ...] = ()

    @property
    def failure(self) -> str:
        """`local_impossible`, `global_inconsistent`, or "" where there is a completion."""
        if self.completed is not None:
            return ""
        unachievable = self.positives_unachievable or self.negatives_unachievable
        return "local_impossible" if unachievable else "global_inconsistent"

    @property
    def sensitive(self) -> bool:
        """Whether the two extreme completions give different extensions."""
        return bool(self.flips_to_true or self.flips_to_false)

    @property
    def nonmonotone(self) -> bool:
        """Whether more true atoms made the formula fail of an object it held of."""
        return bool(self.flips_to_false)


@dataclass(frozen=True)
class WorldVerdict:
    """How a formula fares in one world.

    `side` is "train" (FullObs, EC), "YES" or "NO" (CI). `false_positives` are the objects it holds of though they
    are not labelled T, `false_negatives` those labelled T that it misses, both in domain order; for EC, those of
    which that is so in every completion. `satisfied` says whether the world's demand is met: no mismatch, for a NO
    world at least one, for EC a completion without. `predicted` counts the objects the formula holds of, for EC in
    the completion found; None without one.
    """

    world: str
    side: str
    size: int
    labelled: int
    predicted: int | None
    false_positives: tuple[Element, ...]
    false_negatives: tuple[Element, ...]
    satisfied: bool
    completion: Completion | None = None

    @property
    def mismatches(self) -> int:
        """Number of mislabelled objects."""
        return len(self.false_positives) + len(self.false_negatives)


@dataclass(frozen=True)
class Verdict:
    """What checking one formula on one instance gave. `worlds` holds training (YES) worlds, then NO worlds.

    `size_reference` is the AST size that others are measured by: of the smallest formula known to say what the gold
    says, or of the gold itself.
    """

    instance_id: str
    regime: Regime
    formula: Formula
    worlds: tuple[WorldVerdict, ...]
    gold_ast: int | None
    size_reference: int | None

    @property
    def valid(self) -> bool:
        """Whether the formula explains the instance."""
        return all(world.satisfied for world in self.worlds)

    @property
    def failed_worlds(self) -> tuple[WorldVerdict, ...]:
        """The worlds whose demand is not met."""
        return tuple(world for world in self.worlds if not world.satisfied)

    @property
    def failed_sides(self) -> tuple[str, ...]:
        """The sides with a failed world, in order: of "train", or of "YES" and "NO"."""
        return tuple(dict.fromkeys(world.side for world in self.failed_worlds))

    @property
    def ast_delta(self) -> int | None:
        """AST size minus the reference; None without a gold."""
        return None if self.size_reference is None else self.formula.ast_nodes - self.size_reference

    def within_gold(self, margin: int) -> bool | None:
        """Whether the formula is valid and at most `margin` AST nodes above the reference; None without a gold."""
        return None if self.ast_delta is None else self.valid and self.ast_delta <= margin


def check(formula: Formula, instance: Instance, *, use_reference: bool = False) -> Verdict:
    """The verdict on one formula; see `check_many`."""
    return check_many([formula], instance, use_reference=use_reference)[0]


def check_many(formulas: Sequence[Formula], instance: Instance, *, use_reference: bool = False) -> list[Verdict]:
    """The verdict on each formula, by the fast evaluator or by the naive reference.

    Raises:
        UnsupportedRegimeError: an EC instance, which `grounding.check` decides by completion.
        EvaluationLimitError: a formula beyond what the fast evaluator takes.
    """
    if instance.regime is Regime.EC:
        raise UnsupportedRegimeError(
            f"{instance.instance_id} is an EC instance, decided by completion (induction.grounding.check)"
        )
    sided = [(world, "YES" if instance.regime is Regime.CI else "train") for world in instance.train_worlds]
    sided += [(world, "NO") for world in instance.no_worlds]
    worlds = [world for world, _ in sided]
    if use_reference:
        extensions = [[reference.extension(formula, world) for world in worlds] for formula in formulas]
    else:
        extensions = bitset.extensions(formulas, worlds)
    return [
        Verdict(
            instance_id=instance.instance_id,
            regime=instance.regime,
            formula=formula,
            worlds=tuple(
                _world_verdict(world, side, extension)
                for (world, side), extension in zip(sided, extensions_of_formula, strict=True)
            ),
            gold_ast=instance.gold_ast,
            size_reference=instance.size_reference,
        )
        for formula, extensions_of_formula in zip(formulas, extensions, strict=True)
    ]


def _world_verdict(world: World, side: str, extension: BoolArray) -> WorldVerdict:
    matches = bool((extension == world.target).all())
    return WorldVerdict(
        world=world.name,
        side=side,
        size=world.size,
        labelled=int(world.target.sum()),
        predicted=int(extension.sum()),
        false_positives=world.elements(extension & ~world.target),
        false_negatives=world.elements(world.target & ~extension),
        satisfied=matches != (side == "NO"),
    )
