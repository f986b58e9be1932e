"""One instance from a seed: template, worlds, filters, certificate, record.

NOTE(seeds): all that an instance holds follows from its `instance_seed`, regime, band and options; nothing depends on
other instances or on how many processes are at work. The seeds of a suite come from its seed, regime and band.
"""

import enum
import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from induction import __version__
from induction.evaluation import bitset
from induction.families.mutations import edited_once
from induction.families.templates import Template, Variant
from induction.formula.metrics import quantifier_depth
from induction.formula.syntax import DEFAULT_SIGNATURE, Formula, to_sexpr
from induction.generation.bands import BANDS, Band, Overrides
from induction.generation.certify import Certificate, certify
from induction.generation.distractors import load_pool
from induction.generation.feasibility import why_impossible
from induction.generation.filters import trivially_explained
from induction.generation.masking import choose_masked_worlds
from induction.generation.refusals import Filter, NoInstanceError, NoTemplate, NoWorldsError, Refusal, TooEasy
from induction.generation.rivals import CompiledFormulas, Rivals
from induction.generation.worlds import (
    Chosen,
    WorldSource,
    choose_no_worlds,
    choose_worlds,
)
from induction.grounding.check import check, check_many
from induction.grounding.equivalence import Comparer
from induction.worlds.instance import Instance, Regime
from induction.worlds.world import World

BENCHMARK = "induction"

ATTEMPTS = 40
"""Golds that one instance may try."""

_SURVIVORS_TOLD = 5
_MOST_ADDED = 6
_EC_RIVALS = 400  # small formulas that EC worlds and masks are chosen against, near misses first
_PREFIX = {Regime.FULL_OBS: "", Regime.CI: "C_", Regime.EC: "E_"}
_WORLD_STEMS = {Regime.FULL_OBS: "train", Regime.CI: "yes", Regime.EC: "train"}


class CiStyle(enum.StrEnum):
    """How the YES worlds of a CI instance are chosen."""

    PAPER = "paper"
    """Against the pool of rivals, some of which go on fitting them and give the NO worlds their labels."""
    IDENTIFIED = "identified"
    """Beyond that, until hardly any formula as small as the gold fits them but the gold's equals."""


@dataclass(frozen=True)
class Options:
    """What is asked for beside regime and band."""

    certify: bool = False
    margin: int = 0
    ci_style: CiStyle = CiStyle.PAPER
    overrides: Overrides = field(default_factory=Overrides)
    template_ids: tuple[str, ...] = ()

    def certifies(self, regime: Regime) -> bool:
        """Whether worlds are added to instances of a regime until one answer is left."""
        return self.certify or (regime is Regime.CI and self.ci_style is CiStyle.IDENTIFIED)

    def to_record(self) -> dict[str, Any]:
        """What was asked for otherwise than by default."""
        asked = {**asdict(self.overrides), "margin": self.margin, "templates": list(self.template_ids)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asked.items() if value}


def instance_seeds(seed: int, band: Band, count: int) -> list[int]:
    """The seeds of a band's instances, alike in every suite of this seed up to their number."""
    digest = hashlib.sha256(f"{seed}|{band.label}".encode()).digest()
    return [int(s) for s in np.random.SeedSequence(list(digest)).generate_state(count, np.uint64) >> np.uint64(11)]


def instance_id(band: Band, number: int) -> str:
    """The id of a band's instance number `number`, counted from 1."""
    return f"{_PREFIX[band.regime]}{band.name}_{number:03d}"


def prepare(*, certified: bool) -> None:
    """Load what every instance takes, so that processes forked afterwards have it: pool, templates, search kernels."""
    _shared()
    if certified:
        band = next(band for band in BANDS if band.label == "FullObs easy")
        make_instance(band, "first", 0, Options(certify=True))


def make_instance(
    band: Band,
    name: str,
    seed: int,
    options: Options,
    suite_seed: int = 0,
    tick: Callable[[int], None] = lambda _attempts: None,
) -> Instance:
    """The instance of this band and seed; `suite_seed` goes into its record and nowhere else.

    `tick` is called with the number of attempts, of `ATTEMPTS`, that have come to nothing.

    Raises:
        NoInstanceError: no template of the band gives an instance; it tells what stood in the way.
        UsageError: the overrides cannot be.
    """
    band = options.overrides.apply(band)
    templates = [t for t in band.templates if not options.template_ids or t.template_id in options.template_ids]
    impossible = why_impossible(band, templates) if templates else NoTemplate(options.template_ids)
    if impossible is not None:
        raise NoInstanceError(band.label, {impossible: 1}, 0)
    rng = np.random.default_rng(seed)
    failures: Counter[Refusal] = Counter()
    for attempts in range(1, ATTEMPTS + 1):
        template, variant = _pick(templates, rng)
        try:
            attempt = _Attempt(band, name, variant.formula, rng, options)
            instance = attempt.make()
        except NoWorldsError as error:
            failures[error.refusal] += 1
        else:
            easy = trivially_explained(instance)
            if easy is None:
                attempt.look_at_rivals(instance)
                return _with_record(instance, band, template, variant, (suite_seed, seed), options, attempt, failures)
            failures[TooEasy(easy)] += 1
        tick(attempts)
    raise NoInstanceError(band.label, failures, ATTEMPTS)


def _pick(templates: Sequence[Template], rng: np.random.Generator) -> tuple[Template, Variant]:
    """A template and variant, every family and challenge slice as likely as any other."""
    groups: dict[str, list[Template]] = {}
    for template in templates:
        groups.setdefault(template.challenge_slice or template.family, []).append(template)
    group = groups[sorted(groups)[int(rng.integers(len(groups)))]]
    template = group[int(rng.integers(len(group)))]
    return template, template.variants[int(rng.integers(len(template.variants)))]


@cache
def _shared() -> tuple[CompiledFormulas, Comparer]:
    """What every instance made in this process can share: neither depends on any of them."""
    return CompiledFormulas(load_pool().formulas), Comparer(DEFAULT_SIGNATURE)


class _Attempt:
    """One gold's instance in the making, with what its record will tell of it."""

    def __init__(self, band: Band, name: str, gold: Formula, rng: np.random.Generator, options: Options) -> None:
        self._band, self._name, self._gold, self._rng, self._options = band, name, gold, rng, options
        pool, self._comparer = _shared()
        self._near = edited_once(gold, band.signature)
        self._rivals = Rivals(gold, CompiledFormulas(self._near, more=pool))
        self.source = WorldSource(band.recipe, band.signature, gold, rng)
        self.kills: dict[str, int] = {}
        self.labelled_by: dict[str, Formula] = {}
        self.certificate: Certificate | None = None
        self.survivors: list[Formula] = []
        self.let_through: list[Formula] | None = None
        self._masked_left: list[Formula] = []
        self.rivals_of_ec = 0

    def make(self) -> Instance:
        """The instance.

        Raises:
            NoWorldsError: worlds enough could not be found.
        """
        number = int(self._rng.integers(self._band.worlds[0], self._band.worlds[1] + 1))
        match self._band.regime:
            case Regime.FULL_OBS:
                instance = self._instance(choose_worlds(self.source, self._rivals, number))
                return self._certified(instance, []) if self._options.certify else instance
            case Regime.CI:
                return self._contrastive(number)
            case Regime.EC:
                return self._masked(number)

    def look_at_rivals(self, instance: Instance) -> None:
        """See which rivals explain an instance that is to be kept: most of the work where many atoms are hidden."""
        if self._band.regime is Regime.EC:
            if not check(self._gold, instance).valid:
                raise AssertionError(f"the gold {self._gold} has no completion though the full world is one")
            self.let_through = self._unlike_gold(self._masked_left, instance)
        else:
            self.survivors = self._unlike_gold(self._rivals.fitting_formulas(), instance)

    def _instance(self, chosen: Sequence[Chosen], missed: Sequence[tuple[Chosen, Formula]] = ()) -> Instance:
        stem = _WORLD_STEMS[self._band.regime]
        train = [self._named(one, f"{stem}_{i}") for i, one in enumerate(chosen)]
        no_worlds = []
        for i, (one, rival) in enumerate(missed):
            no_worlds.append(self._named(one, f"no_{i}"))
            self.labelled_by[f"no_{i}"] = rival
        return Instance(
            instance_id=self._name,
            regime=self._band.regime,
            signature=self._band.signature,
            worlds=(*train, *no_worlds),
            train_ids=tuple(world.name for world in train),
            no_ids=tuple(world.name for world in no_worlds),
            gold=self._gold,
            band=self._band.name,
        )

    def _named(self, chosen: Chosen, name: str) -> World:
        self.kills[name] = chosen.kills
        return replace(chosen.world, name=name)

    def _contrastive(self, number: int) -> Instance:
        yes = choose_worlds(self.source, self._rivals, number, leave=self._band.no_worlds)
        no = choose_no_worlds(self.source, self._rivals, self._band.no_worlds)
        instance = self._instance(yes, no)
        if self._options.certifies(Regime.CI):
            instance = self._certified(instance, [rival for _, rival in no])
        return instance

    def _certified(self, instance: Instance, avoid: Sequence[Formula]) -> Instance:
        certified, self.certificate = certify(
            instance,
            self._band.recipe,
            self.source,
            self._comparer,
            margin=self._options.margin,
            most_worlds=self._band.worlds[1] + _MOST_ADDED,
            avoid=avoid,
        )
        return certified

    def _masked(self, number: int) -> Instance:
        rivals = [
            formula
            for formula in dict.fromkeys([*self._near, *load_pool().formulas])
            if formula.ast_nodes <= self._gold.ast_nodes
        ][:_EC_RIVALS]
        chosen, self._masked_left = choose_masked_worlds(
            self.source, self._gold, rivals, number, self._band.masked, self._band.mask_rate, self._rng
        )
        self.rivals_of_ec = len(rivals)
        return self._instance(chosen)

    def _unlike_gold(self, formulas: Sequence[Formula], instance: Instance) -> list[Formula]:
        """Those of the formulas that explain the instance, no two equivalent, nor one to the gold."""
        fitting = [f for f, verdict in zip(formulas, check_many(formulas, instance), strict=True) if verdict.valid]
        alike = self._comparer.first_alike([self._gold, *fitting])
        return [formula for number, formula in enumerate(fitting, start=1) if alike[number] == number]


def _with_record(
    instance: Instance,
    band: Band,
    template: Template,
    variant: Variant,
    seeds: tuple[int, int],
    options: Options,
    attempt: _Attempt,
    failures: Counter[Refusal],
) -> Instance:
    """`instance` with everything in its record that tells where it comes from."""
    pool = load_pool()
    description: dict[str, Any] = {
        "gold_family_id": template.challenge_slice if band.name == "challenge" else template.family,
        "gold_subfamily_key": variant.key,
        "gold_template_id": template.template_id,
        "gold_is_lift_hard": template.is_lifted,
        "gold_ast": variant.formula.ast_nodes,
        "gold_qd": quantifier_depth(variant.formula),
        "benchmark_name": BENCHMARK,
        "benchmark_version": __version__,
        "seed": seeds[0],
        "instance_seed": seeds[1],
        "domainSizes": [world.size for world in instance.worlds],
        "numTrainWorlds": len(instance.train_ids),
        "recipe": band.recipe.to_record(),
        "distractorPool": pool.name,
        "filtersApplied": [
            *({"filter": one.value, "rejected": failures[TooEasy(one)]} for one in Filter),
            {"filter": "worlds", "rejected": {why.value: n for why, n in sorted(attempt.source.rejected.items())}},
            {
                "filter": "other golds",
                "rejected": sum(n for why, n in failures.items() if not isinstance(why, TooEasy)),
            },
        ],
    }
    if options.to_record():
        description["generationOptions"] = options.to_record()
    if band.masked:
        description["recipe"]["masked"] = list(band.masked)
        description["recipe"]["maskRate"] = list(band.mask_rate)
    if attempt.let_through is not None:
        description["smallFormulasLetThrough"] = {
            "tried": attempt.rivals_of_ec,
            "letThrough": len(attempt.let_through),
            "examples": _described(attempt.let_through, _SURVIVORS_TOLD),
        }
        if options.certify:
            description["certificate"] = {
                "status": "open",
                "reason": "unknown atoms let many formulas through; smallFormulasLetThrough counts some",
            }
    else:
        description["rivalsLeft"] = {
            "formulas": len(attempt.survivors),
            "examples": _described(attempt.survivors, _SURVIVORS_TOLD),
        }
    if band.regime is Regime.CI:
        description["ciStyle"] = options.ci_style.value
    certificate = attempt.certificate
    if certificate is not None:
        description["certificate"] = certificate.to_record(variant.formula)
        if certificate.smallest is not None:
            description["size_reference"] = certificate.smallest.formula.ast_nodes
    worlds = tuple(
        replace(world, extra={"kills": attempt.kills.get(world.name, 0), **_rival_note(attempt, world, instance)})
        if world.name in attempt.kills
        else replace(world, extra={"addedFor": "the certificate"})
        for world in instance.worlds
    )
    return replace(
        instance,
        worlds=worlds,
        gold_description=variant.english,
        extra={"problemDescription": description},
    )


def _rival_note(attempt: _Attempt, world: World, instance: Instance) -> dict[str, Any]:
    """For a NO world: the rival that its labels are of, and whether it fits all YES worlds, those added included."""
    rival = attempt.labelled_by.get(world.name)
    if rival is None:
        return {}
    tables = bitset.extensions([rival], instance.train_worlds)[0]
    fits = all((table == yes.target).all() for table, yes in zip(tables, instance.train_worlds, strict=True))
    return {"labelsOf": to_sexpr(rival), "labelsOfFitsYesWorlds": fits}


def _described(formulas: Sequence[Formula], most: int) -> list[str]:
    """The first few formulas as text, for a record."""
    return [to_sexpr(formula) for formula in formulas[:most]]
