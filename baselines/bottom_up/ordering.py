"""The order among answers of one size, and which of them mean the same."""

from collections.abc import Iterable, Sequence

import numpy as np

from induction.evaluation import bitset
from induction.formula.metrics import free_variables
from induction.formula.normal_forms import to_alpha_canonical
from induction.formula.syntax import (
    FREE_VARIABLE,
    And,
    Atom,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Signature,
    fold,
    subformulas,
    to_sexpr,
)
from induction.worlds.sampling import sample_world
from induction.worlds.world import World

_FRESH_SEED = 20260218
_FRESH_WORLDS = 60


def preference(formula: Formula) -> tuple[int, int, int, str]:
    """Sort key, best first: AST size, sum of the AST sizes of quantifier bodies, occurrences of x, text."""
    bodies = sum(node.body.ast_nodes for node in subformulas(formula) if isinstance(node, Quantified))
    return formula.ast_nodes, bodies, _count_x(formula), to_sexpr(formula)


def _count_x(formula: Formula) -> int:
    def combine(node: Formula, *counts: int) -> int:
        own = node.arguments if isinstance(node, Atom) else node.label if isinstance(node, Equal) else ()
        return sum(counts) + own.count(FREE_VARIABLE)

    return fold(formula, combine)


def fresh_worlds(signature: Signature) -> list[World]:
    """Worlds to tell formulas apart that agree on an instance: small and middling ones, of several densities."""
    rng = np.random.default_rng(_FRESH_SEED)
    return [
        sample_world(rng, 1 + i % 7, signature=signature, density=(0.15, 0.3, 0.5, 0.8)[i % 4])
        for i in range(_FRESH_WORLDS)
    ]


def best_of_each_meaning(formulas: Iterable[Formula], signature: Signature) -> list[Formula]:
    """The preferred formula of each group that agrees on all fresh worlds, best first."""
    ordered = sorted(set(formulas), key=preference)
    if len(ordered) < 2:
        return ordered
    seen: set[bytes] = set()
    result: list[Formula] = []
    for formula, extensions in zip(ordered, bitset.extensions(ordered, fresh_worlds(signature)), strict=True):
        meaning = np.concatenate(extensions).tobytes()
        if meaning not in seen:
            seen.add(meaning)
            result.append(formula)
    return result


def atoms_of_x(signature: Signature, *, equality: bool) -> list[Formula]:
    """The atoms in which x is the only variable."""
    atoms: list[Formula] = [Atom(name, (FREE_VARIABLE,)) for name in signature.unary]
    atoms += [Atom(name, (FREE_VARIABLE, FREE_VARIABLE)) for name in signature.binary]
    return atoms + ([Equal(FREE_VARIABLE, FREE_VARIABLE)] if equality else [])


def open_by_force(formula: Formula, signature: Signature, *, equality: bool) -> Formula | None:
    """A formula that means the same and in which x is free, if need be by saying of x what always holds.

    None where there is nothing to say of x.
    """
    if FREE_VARIABLE in free_variables(formula):
        return formula
    atoms = atoms_of_x(signature, equality=equality)
    if not atoms:
        return None
    return And(formula, atoms[-1] if equality else Or(atoms[0], Not(atoms[0])))


def named_by_level(formulas: Sequence[Formula], signature: Signature) -> list[Formula]:
    """The formulas with bound variables named by nesting level: few names, however many scopes, and no predicate's."""
    return [to_alpha_canonical(formula, signature) for formula in formulas]
