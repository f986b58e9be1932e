"""The distractor pool: formulas that explain worlds too well by accident, against which worlds are chosen.

The pool is frozen in `pool.txt`, so that instances of one version can be made again: small generic formulas and near
misses of every family, no two of them equivalent. `python -m induction.generation.distractors` prints it anew.
"""

import hashlib
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np

from induction.enumeration.classes import SMALLEST, ClassTables
from induction.enumeration.layout import Fragment, Layout
from induction.errors import InductionError
from induction.families.mutations import near_misses
from induction.families.templates import Template, all_templates
from induction.formula.metrics import free_variables
from induction.formula.parsing import parse_formula
from induction.formula.syntax import DEFAULT_SIGNATURE, FREE_VARIABLE, Formula, to_sexpr
from induction.grounding.equivalence import Comparer
from induction.worlds.sampling import sample_world

VERSION = 1
"""Of the pool: another version may choose other worlds for the same seed."""

_FILE = "pool.txt"
_LARGEST_GENERIC = 8
_GENERIC = 400
_TEMPLATES = 500
_SIZE = 1_500
_NEAR_MISSES_OF_ONE = 12
_SEED = 20260212


@dataclass(frozen=True)
class Pool:
    """The frozen formulas, over P Q R S, smallest generic ones first; `sha256` is that of their lines."""

    formulas: tuple[Formula, ...]
    version: int
    sha256: str

    @property
    def name(self) -> str:
        """How records refer to it."""
        return f"pool v{self.version}, {len(self.formulas)} formulas, sha256 {self.sha256[:12]}"


@cache
def load_pool() -> Pool:
    """The pool that comes with this version.

    Raises:
        InductionError: its lines are not those that its hash is of.
    """
    text = resources.files("induction.generation").joinpath(_FILE).read_text(encoding="utf-8")
    head = dict(line[2:].split(": ", 1) for line in text.splitlines() if line.startswith("# ") and ": " in line)
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    found = _hash(lines)
    if found != head["sha256"]:
        raise InductionError(f"{_FILE} has been changed: its formulas hash to {found[:12]}, not {head['sha256'][:12]}")
    return Pool(tuple(parse_formula(line) for line in lines), int(head["version"]), found)


def pool_text() -> str:
    """The pool file, made anew."""
    lines = [to_sexpr(formula) for formula in make_pool()]
    return "".join(
        f"{line}\n"
        for line in (
            "# Formulas that worlds are chosen against; see induction/generation/distractors.py.",
            "# made by: python -m induction.generation.distractors",
            f"# version: {VERSION}",
            f"# sha256: {_hash(lines)}",
            *lines,
        )
    )


def make_pool() -> list[Formula]:
    """The formulas of the pool: generic ones by size, then templates and near misses, families taking turns."""
    comparer = Comparer(DEFAULT_SIGNATURE)
    rng = np.random.default_rng(_SEED)
    generic = _distinct(_small_formulas(), comparer, [])[:_GENERIC]
    from_templates = _interleaved_by_family(rng)[:_TEMPLATES]
    examples = [template.variants[int(rng.integers(len(template.variants)))].formula for template in from_templates]
    kept = [*generic, *_distinct(examples, comparer, generic)]
    for formula in examples:
        if len(kept) >= _SIZE:
            break
        misses = near_misses(formula, comparer)
        chosen = rng.permutation(len(misses))[:_NEAR_MISSES_OF_ONE]
        kept += _distinct([misses[i].formula for i in sorted(chosen.tolist())], comparer, kept)
    return kept[:_SIZE]


def _small_formulas() -> Iterator[Formula]:
    """One formula of x for each class up to `_LARGEST_GENERIC` AST nodes, by size."""
    rng = np.random.default_rng(_SEED)
    worlds = [sample_world(rng, 3 + i % 4, density=(0.2, 0.35, 0.6)[i % 3]) for i in range(30)]
    tables = ClassTables(Layout(worlds), Fragment(3, 2, equality=False))
    for size in range(SMALLEST, _LARGEST_GENERIC + 1):
        tables.build(1, size)
        for entry in tables.entries(1, size):
            formula = tables.formula(1, entry.index)
            if free_variables(formula) == {FREE_VARIABLE}:
                yield formula


def _interleaved_by_family(rng: np.random.Generator) -> list[Template]:
    """All templates in random order, one of each family and slice after the other."""
    by_group: dict[str, list[Template]] = {}
    templates = all_templates()
    for number in rng.permutation(len(templates)).tolist():
        template = templates[number]
        by_group.setdefault(template.challenge_slice or f"{template.family} {template.bands[0]}", []).append(template)
    groups = [by_group[name] for name in sorted(by_group)]
    return [group[i] for i in range(max(map(len, groups))) for group in groups if i < len(group)]


def _distinct(
    formulas: Iterator[Formula] | Sequence[Formula], comparer: Comparer, before: list[Formula]
) -> list[Formula]:
    """The formulas that are equivalent neither to one another nor to one of `before`, in order."""
    everything = [*before, *formulas]
    return [
        everything[number]
        for number, first in enumerate(comparer.first_alike(everything))
        if first == number >= len(before)
    ]


def _hash(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


if __name__ == "__main__":
    sys.stdout.write(pool_text())
