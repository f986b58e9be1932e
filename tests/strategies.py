"""Hypothesis strategies: formulas, worlds and instances of every admissible kind."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from induction.formula.sampling import sample_formula
from induction.formula.syntax import (
    And,
    Atom,
    Equal,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Signature,
)
from induction.worlds.instance import Instance, Regime
from induction.worlds.world import World

SIGNATURES = [
    Signature({"P": 1, "Q": 1, "R": 2, "S": 2}),
    Signature({"R": 2}),
    Signature({"P": 1}),
    Signature({"likes": 2, "Person": 1, "P2": 1, "knows_of": 2, "_odd": 1}),
    Signature({"x": 1, "y": 2, "z": 2, "other": 1, "true": 1}),
]
VARIABLES = ("x", "y", "z", "y1", "other")


def signatures() -> st.SearchStrategy[Signature]:
    return st.sampled_from(SIGNATURES)


def open_formulas(signature: Signature, variables: tuple[str, ...] = VARIABLES) -> st.SearchStrategy[Formula]:
    """Formulas with any of `variables` free, each bound anywhere."""
    variable = st.sampled_from(variables)
    leaves: list[st.SearchStrategy[Formula]] = [st.builds(Equal, variable, variable)]
    for name, arity in signature.items():
        leaves.append(st.builds(Atom, st.just(name), st.tuples(*[variable] * arity)))

    def extend(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
        return st.one_of(
            st.builds(Not, inner),
            *(st.builds(connective, inner, inner) for connective in (And, Or, Implies, Iff)),
            *(st.builds(quantifier, variable, inner) for quantifier in (ForAll, Exists)),
        )

    return st.recursive(st.one_of(leaves), extend, max_leaves=12)


@st.composite
def definitions(draw: st.DrawFn, signature: Signature, max_ast: int = 30, max_depth: int = 3) -> Formula:
    """Formulas with exactly x free."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = draw(st.integers(3, max_ast))
    try:
        return sample_formula(
            rng, size, signature=signature, max_depth=max_depth, bound_variables=("x", "y", "z", "y1")
        )
    except ValueError:
        return sample_formula(rng, 3, signature=signature)


@st.composite
def worlds(
    draw: st.DrawFn, signature: Signature, max_size: int = 5, *, unknown: bool = False, name: str = "w"
) -> World:
    """Worlds of one to `max_size` objects; with `unknown`, some atoms are unobserved."""
    size = draw(st.integers(1, max_size))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    density = draw(st.sampled_from([0.0, 0.2, 0.5, 1.0]))
    true: dict[str, Any] = {}
    masks: dict[str, Any] = {}
    for predicate, arity in signature.items():
        shape = (size,) * arity
        masks[predicate] = rng.random(shape) < (0.3 if unknown else 0.0)
        true[predicate] = (rng.random(shape) < density) & ~masks[predicate]
    names = draw(st.sampled_from([["a", ""], ["o_", "'"], ["objekt-ö", ""], ["", ""], ["no", "."]]))
    return World(
        name=name,
        domain=tuple(f"{names[0]}{i}{names[1]}" for i in range(size)),
        signature=signature,
        true=true,
        unknown=masks,
        target=rng.random(size) < 0.5,
    )


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.sampled_from(["", "yes", "no", "null", "~", "1e5", "08", "1_000", "2026-01-01", "a: b", "# c", "é\n\tx"])
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=8)
    | st.sampled_from([0.5, -1.25, 1e20, 1e-7]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc_", min_size=1, max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    """Instances of every regime, with fields unknown to the library at every level."""
    regime = draw(st.sampled_from(list(Regime)))
    signature = draw(signatures())
    extra_key = st.sampled_from(["note", "seed", "zz_custom"])
    extras = st.dictionaries(extra_key, JSON_VALUES, max_size=2)
    all_worlds = []
    for i in range(draw(st.integers(1, 4))):
        world = draw(worlds(signature, 4, unknown=regime is Regime.EC, name=f"w {i}"))
        extra: dict[str, Any] = dict(draw(extras))
        if draw(st.booleans()):
            extra["targetExtension"] = {"by": "hand"}
            extra["predicates"] = {next(iter(signature)): {"source": [1, 2]}}
        object.__setattr__(world, "extra", extra)
        all_worlds.append(world)
    names = [world.name for world in all_worlds]
    cut = draw(st.integers(0, len(names) - 1))
    gold = draw(st.none() | definitions(signature, max_ast=12))
    record_extra: dict[str, Any] = dict(draw(extras))
    for key in ("problem", "problemDescription"):
        inner = draw(extras)
        if inner:
            record_extra[key] = dict(inner)
    return Instance(
        instance_id=draw(st.sampled_from(["i1", "simple_003", "ünï code", "007", "[red]x[/]"])),
        regime=regime,
        signature=signature,
        worlds=tuple(all_worlds),
        train_ids=tuple(names[cut:]),
        no_ids=tuple(names[:cut]) if regime is Regime.CI else (),
        test_ids=() if regime is Regime.CI else tuple(names[:cut]),
        gold=gold,
        gold_description="it is so" if gold is not None else "",
        band=draw(st.sampled_from(["", "core"])),
        extra=record_extra,
    )
