"""What can be known before anything is tried: that no instance of a band can be made, whatever the seed."""

from collections.abc import Sequence

from induction.families.templates import Template
from induction.formula.syntax import (
    FREE_VARIABLE,
    And,
    Atom,
    Equal,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    PredicateName,
    Quantified,
    Variable,
    fold,
)
from induction.generation.bands import Band
from induction.generation.recipes import Recipe
from induction.generation.refusals import AllHidden, LabelsAlike, Refusal


def why_impossible(band: Band, templates: Sequence[Template]) -> Refusal | None:
    """A reason why no gold of these templates gives an instance of this band; None where none is known.

    Sound: where a reason is given, every attempt would fail.
    """
    sizes = range(band.recipe.objects[0], band.recipe.objects[1] + 1)
    low, high = band.recipe.label_share
    if not any(low <= labelled / size <= high for size in sizes for labelled in range(size + 1)):
        return LabelsAlike(f"worlds have {sizes[-1]} object{'s' if sizes[-1] > 1 else ''} at most")
    fixed = _fixed_values(band.recipe)
    if low > 0 and high < 1:
        if set(fixed) == set(band.signature):  # worlds then look the same from every object
            return LabelsAlike("with these densities all objects are alike")
        golds = [variant.formula for template in templates for variant in template.variants]
        undecided = (_undecided(gold, fixed) for gold in golds)
        if all(isinstance(found, bool) or FREE_VARIABLE not in found for found in undecided):
            return LabelsAlike("with these densities the gold holds of all objects or of none, whatever the template")
    for name in band.masked:
        tables = [size ** band.signature.arity(name) for size in sizes]
        if all(round(band.mask_rate[0] * atoms) >= atoms for atoms in tables):
            return AllHidden(name)
    return None


def _fixed_values(recipe: Recipe) -> dict[PredicateName, bool]:
    """The predicates whose atoms are all true, or all false, in every world of a recipe."""
    values = {name: low == 1 for name, (low, high) in recipe.density.items() if low == 1 or high == 0}
    for name, degree in recipe.out_degree.items():
        if degree in (0, recipe.objects[1]):
            values[name] = degree > 0
    return values


def _undecided(formula: Formula, fixed: dict[PredicateName, bool]) -> bool | frozenset[Variable]:
    """The truth value that the fixed predicates alone give a formula; else the variables that it may depend on."""

    def combine(node: Formula, *parts: bool | frozenset[Variable]) -> bool | frozenset[Variable]:
        match node:
            case Atom(predicate, arguments):
                return fixed.get(predicate, frozenset(arguments))
            case Equal(left, right):
                return True if left == right else frozenset((left, right))
            case Not():
                return _negated(parts[0])
            case And():
                return _negated(_either(_negated(parts[0]), _negated(parts[1])))
            case Or():
                return _either(*parts)
            case Implies():
                return _either(_negated(parts[0]), parts[1])
            case Iff():
                both = _either(_negated(parts[0]), parts[1]), _either(parts[0], _negated(parts[1]))
                return _negated(_either(_negated(both[0]), _negated(both[1])))
            case Quantified(variable, _):  # worlds have objects, so a truth value stays what it is
                return parts[0] if isinstance(parts[0], bool) else parts[0] - {variable}
        raise TypeError(f"{type(node).__name__} is no formula")

    return fold(formula, combine)


def _negated(value: bool | frozenset[Variable]) -> bool | frozenset[Variable]:
    return not value if isinstance(value, bool) else value


def _either(left: bool | frozenset[Variable], right: bool | frozenset[Variable]) -> bool | frozenset[Variable]:
    if left is True or right is True:
        return True
    return right if left is False else left if right is False else left | right
