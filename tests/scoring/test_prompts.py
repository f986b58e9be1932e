"""Prompts are read back into the worlds they were made of, by a reader that knows only their text."""

import json
import re

import numpy as np
import pytest
from conftest import PROJECT
from hypothesis import given, settings
from hypothesis import strategies as st

from induction.formula.syntax import DEFAULT_SIGNATURE, Signature
from induction.scoring.prompts import prompt_text
from induction.worlds import Instance, Regime, read_instances
from induction.worlds.world import World

# Names that are all but ordinary, next to any text at all.
NASTY = [
    "none", "unknown", "T", "R", "a", "b", "c", "a-b", "b-c", "a->b", "a,b", "a b", "a: b", "a→b", "(a, b)", "()", '"',
    '""', "\\", "\\\"", "'", "`", "a\nb", "a\r\nWorld x: objects a", "\n\nWorld y: objects b", "R: a", " ", "", "\t",
    "\u2028", "\u200b", "\u0301", "a\u0301", "é", "\ud800", "日本", "x>y", "x~y", "x|y", "x/y=z+w*v", "->→~|/=+*",
    "\x1b[31m", "a-b,c", "a;b", "train_0", "w (YES)", "w (YES): objects a", "w: objects", "nonе",
]  # fmt: skip
names = st.sampled_from(NASTY) | st.text(max_size=6)


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    """Instances of one to three small worlds under such names."""
    regime = draw(st.sampled_from(list(Regime)))
    signature = draw(st.sampled_from([DEFAULT_SIGNATURE, Signature({"World": 1, "objects": 2}), Signature({"P": 1})]))
    pool = draw(st.lists(names, min_size=1, max_size=8, unique=True))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    density = draw(st.sampled_from([0.0, 0.1, 0.5]))
    worlds = []
    for name in draw(st.lists(names, min_size=1, max_size=3, unique=True)):
        domain = tuple(draw(st.lists(st.sampled_from(pool), min_size=1, max_size=5, unique=True)))
        true, unknown = {}, {}
        for predicate, arity in signature.items():
            shape = (len(domain),) * arity
            unknown[predicate] = rng.random(shape) < (density if regime is Regime.EC else 0.0)
            true[predicate] = (rng.random(shape) < density) & ~unknown[predicate]
        target = rng.random(len(domain)) < density
        worlds.append(World(name, domain, signature, true, target, unknown))
    listed = [world.name for world in worlds]
    cut = draw(st.integers(1, len(listed))) if regime is Regime.CI else len(listed)
    return Instance("i", regime, signature, tuple(worlds), tuple(listed[:cut]), no_ids=tuple(listed[cut:]))


def take_name(text: str, stops: str) -> tuple[str, str]:
    """The name that `text` begins with, quoted or up to one of `stops`, and the rest."""
    if text.startswith('"'):
        value, end = json.JSONDecoder().raw_decode(text)
        return value, text[end:]
    end = next((i for i, one in enumerate(text) if one in stops), len(text))
    return text[:end], text[end:]


def read_names(text: str) -> list[str]:
    found: list[str] = []
    while text and text != "none":
        name, text = take_name(text, " ")
        found.append(name)
        text = text.removeprefix(" ")
    return found


def read_pairs(text: str, joint: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    while text and text != "none":
        first, text = take_name(text, joint)
        while text[:1] in (joint, ","):
            second, text = take_name(text[1:], ", ")
            found.append((first, second))
        assert text[:1] in ("", " ")
        text = text[1:]
    return found


def read_back(text: str, signature: Signature) -> list[dict]:
    """The worlds of a prompt, as plain values; the joint of pairs is taken from the example that the prompt gives."""
    lines = text[:-1].split("\n")
    example = [line for line in lines if "In the lists below, " in line]
    joint = "-"
    if example:
        listing, first = re.search(
            r"In the lists below, \w+(?: unknown)?: (.*) means that .* of \((\".*?\"|[^,]*), ", example[0]
        ).groups()
        joint = take_name(listing, "")[1][0] if first.startswith('"') else listing[len(first)]
    start = next(i for i, line in enumerate(lines) if line.startswith("World ") and ": objects " in line)
    worlds = []
    for block in "\n".join(lines[start:]).split("\n\n"):
        heading, *rest = block.split("\n")
        name, after = take_name(heading.removeprefix("World "), " :")
        side = {" (YES)": "YES", " (NO)": "NO"}.get(after[: after.index(":")], "")
        world = {
            "name": name,
            "side": side,
            "domain": read_names(after[after.index(":") :].removeprefix(": objects ")),
            "true": {},
            "unknown": {},
        }
        for line in rest:
            key, listing = line.split(": ", 1)
            predicate, _, unknown = key.partition(" ")
            binary = predicate in signature.binary
            found = read_pairs(listing, joint) if binary else [(one,) for one in read_names(listing)]
            if predicate == "T":
                world["target"] = [one for (one,) in found]
            else:
                world["unknown" if unknown else "true"][predicate] = found
        worlds.append(world)
    return worlds


def as_read(instance: Instance) -> list[dict]:
    """What the prompt has to say of an instance."""
    worlds = []
    for world in (*instance.train_worlds, *instance.no_worlds):

        def atoms(table, world=world):
            return [tuple(world.domain[i] for i in place) for place in np.argwhere(table)]

        side = instance.sides()[world.name]
        worlds.append(
            {
                "name": world.name,
                "side": side if side in ("YES", "NO") else "",
                "domain": list(world.domain),
                "true": {name: atoms(table) for name, table in world.true.items()},
                "unknown": {name: atoms(mask) for name, mask in world.unknown.items() if mask.any()},
                "target": [one for (one,) in atoms(world.target)],
            }
        )
    return worlds


@settings(max_examples=300)
@given(instances())
def test_every_prompt_is_read_back_exactly(instance):
    text = prompt_text(instance)
    assert read_back(text, instance.signature) == as_read(instance)
    text.encode()
    assert len(text.splitlines()) == text.count("\n")


@pytest.mark.parametrize("name", ["easy_001", "C_core_001", "E_core_001"])
def test_ordinary_prompts_are_short_and_their_example_is_theirs(name):
    instance = next(one for one in read_instances(PROJECT / "data" / "suite.yaml.gz") if one.instance_id == name)
    text = prompt_text(instance)
    assert read_back(text, instance.signature) == as_read(instance)
    assert '"a' not in text
    (predicate, first, second) = re.search(r"below, (\w): (a\d)-(a\d)", text).groups()
    atoms = [(first, second) in one["true"][predicate] for one in as_read(instance)]
    assert any(atoms)


def instance_with(domain: tuple[str, ...], signature: Signature, **tables) -> Instance:
    true = {name: np.array(table, bool) for name, table in tables.items()}
    world = World("w", domain, signature, true, np.zeros(len(domain), bool))
    return Instance("i", Regime.FULL_OBS, signature, (world,), ("w",))


@pytest.mark.parametrize(
    ("domain", "listing"),
    [
        (("a0", "a1"), "a0-a1"),
        (("a-b", "b"), "a-b>b"),
        (("a-b", "b>c"), "a-b→b>c"),
        (("a,b", "c"), '"a,b"-"c"'),
        (("none", "c"), '"none"-"c"'),
    ],
)
def test_separators_are_chosen_by_the_names(domain, listing):
    text = prompt_text(instance_with(domain, Signature({"R": 2}), R=[[0, 1], [0, 0]]))
    assert f"\nR: {listing}\n" in text
    assert f"In the lists below, R: {listing} means" in text


def test_without_pairs_there_is_no_example_of_one():
    assert "In the lists below" not in prompt_text(instance_with(("a",), Signature({"P": 1}), P=[1]))
    assert "In the lists below" not in prompt_text(instance_with(("a",), Signature({"R": 2}), R=[[0]]))
