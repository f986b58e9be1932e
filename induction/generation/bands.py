"""The bands of the benchmark: which templates, how many worlds and of what kind.

The release publishes no definition of its bands; this is our reading of the released golds and worlds.
"""

from dataclasses import dataclass, replace

from induction.errors import UsageError, printable
from induction.families.templates import Template, all_templates
from induction.formula.syntax import DEFAULT_SIGNATURE, Signature
from induction.generation.recipes import Range, Recipe
from induction.worlds.instance import Regime

UNARY_DENSITY: Range = (0.3, 0.7)


@dataclass(frozen=True)
class Band:
    """What instances of one regime and band are made of.

    `worlds` bounds the number of worlds to match, `no_worlds` is that of worlds to miss (CI). `mask_rate` is the
    range of the share of atoms hidden of each predicate of `masked` (EC). `v1_count` is the band's number of
    instances in the release.
    """

    regime: Regime
    name: str
    worlds: tuple[int, int]
    recipe: Recipe
    v1_count: int
    no_worlds: int = 0
    masked: tuple[str, ...] = ()
    mask_rate: Range = (0.0, 0.0)
    signature: Signature = DEFAULT_SIGNATURE

    @property
    def label(self) -> str:
        """Regime and name, as templates name their bands."""
        return f"{self.regime.value} {self.name}"

    @property
    def templates(self) -> tuple[Template, ...]:
        """The templates golds are made from."""
        return tuple(template for template in all_templates() if self.label in template.bands)


def _recipe(objects: tuple[int, int], edges: Range, unary: Range = UNARY_DENSITY) -> Recipe:
    return Recipe(objects, {"P": unary, "Q": unary, "R": edges, "S": edges}, {})


_CHALLENGE_RECIPE = Recipe((9, 11), {"P": (0.2, 0.5), "Q": (0.2, 0.5)}, {"R": 2, "S": 2})

BANDS: tuple[Band, ...] = (
    Band(Regime.FULL_OBS, "simple", (4, 4), _recipe((7, 8), (0.25, 0.4)), 25),
    Band(Regime.FULL_OBS, "easy", (4, 4), _recipe((7, 9), (0.25, 0.4)), 100),
    Band(Regime.FULL_OBS, "medium", (4, 5), _recipe((7, 9), (0.25, 0.4)), 100),
    Band(Regime.FULL_OBS, "hard", (4, 6), _recipe((8, 9), (0.25, 0.4)), 100),
    Band(Regime.FULL_OBS, "extreme", (5, 6), _recipe((8, 10), (0.25, 0.4)), 50),
    Band(Regime.FULL_OBS, "challenge", (5, 6), _CHALLENGE_RECIPE, 0),
    Band(Regime.CI, "core", (8, 8), _recipe((7, 10), (0.2, 0.35)), 100, no_worlds=2),
    Band(Regime.CI, "lift_mix", (8, 8), _recipe((7, 10), (0.2, 0.35)), 100, no_worlds=2),
    Band(Regime.EC, "core", (3, 3), _recipe((6, 7), (0.2, 0.35)), 120, masked=("R", "S"), mask_rate=(0.22, 0.33)),
    Band(Regime.EC, "hard", (3, 3), _recipe((6, 7), (0.2, 0.35)), 80, masked=("R", "S"), mask_rate=(0.22, 0.33)),
)


@dataclass(frozen=True)
class Overrides:
    """What is wanted otherwise than a band has it; None keeps the band's own."""

    worlds: tuple[int, int] | None = None
    objects: tuple[int, int] | None = None
    density: Range | None = None
    unary_density: Range | None = None
    out_degree: int | None = None
    masked: tuple[str, ...] | None = None
    mask_rate: Range | None = None

    def apply(self, band: Band) -> Band:
        """The band with these changes.

        Raises:
            UsageError: they cannot be.
        """
        if self.out_degree is not None and self.density is not None:
            raise UsageError("binary predicates have a density or an out-degree, not both")
        recipe = band.recipe
        objects = self.objects or recipe.objects
        density, out_degree = dict(recipe.density), dict(recipe.out_degree)
        for name in band.signature.unary:
            density[name] = self.unary_density or density[name]
        for name in band.signature.binary:
            if self.out_degree is not None:
                density.pop(name, None)
                out_degree[name] = self.out_degree
            elif self.density is not None:
                out_degree.pop(name, None)
                density[name] = self.density
        try:
            changed = Recipe(objects, density, out_degree, recipe.label_share)
        except ValueError as error:
            raise UsageError(str(error)) from None
        if (self.masked or self.mask_rate) and band.regime is not Regime.EC:
            raise UsageError(f"only EC instances have masked atoms, not {band.label}")
        for name in self.masked or ():
            if name not in band.signature:
                raise UsageError(f"there is no predicate '{printable(name)}' to mask; there are {band.signature}")
        return replace(
            band,
            recipe=changed,
            worlds=self.worlds or band.worlds,
            masked=self.masked or band.masked,
            mask_rate=self.mask_rate or band.mask_rate,
        )


def find_bands(regime: str, name: str | None) -> list[Band]:
    """The bands of a regime ("fullobs", "ci", "ec" or "all"), all of them that the release has or those of one name.

    Raises:
        UsageError: there is none.
    """
    regimes = {"fullobs": Regime.FULL_OBS, "ci": Regime.CI, "ec": Regime.EC}
    if regime.lower() not in (*regimes, "all"):
        raise UsageError(f"there is no regime '{printable(regime)}'; there are {', '.join(regimes)}, all")
    of_regime = [band for band in BANDS if regime.lower() == "all" or band.regime is regimes[regime.lower()]]
    if name is None:
        return [band for band in of_regime if band.v1_count]
    named = [band for band in of_regime if band.name == name]
    if not named:
        names = ", ".join(dict.fromkeys(band.name for band in of_regime))
        raise UsageError(f"{regime} has no band '{printable(name)}'; it has {names}")
    return named


def share_out(count: int, bands: list[Band]) -> list[Band]:
    """The band of each of `count` instances, in the proportions of the release, bands together in order."""
    weights = [band.v1_count or 1 for band in bands]
    exact = [count * weight / sum(weights) for weight in weights]
    counts = [int(share) for share in exact]
    by_remainder = sorted(range(len(bands)), key=lambda i: (counts[i] - exact[i], i))
    for i in by_remainder[: count - sum(counts)]:
        counts[i] += 1
    return [band for band, number in zip(bands, counts, strict=True) for _ in range(number)]
