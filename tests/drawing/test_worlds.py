"""Pictures of worlds: what they must show, and golden SVGs of one instance a regime.

A golden picture has been looked at. After a wanted change, look at the new ones and run
`python tests/drawing/test_worlds.py` to accept them.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from induction.drawing.worlds import MAX_OBJECTS, Panel, draw, picture_form
from induction.errors import InductionError
from induction.evaluation import bitset
from induction.formula import Signature, parse_formula
from induction.worlds import World, read_instances
from induction.worlds.sampling import sample_world

PROJECT = Path(__file__).resolve().parents[2]
EXAMPLES = PROJECT / "data" / "examples" / "examples.yaml"
GOLDENS = PROJECT / "tests" / "golden" / "drawing"
SVG = "{http://www.w3.org/2000/svg}"
CASES = {
    "example_fullobs": "(exists y (R x y))",
    "example_ci": None,
    "example_ec": None,
}


def panels_of(instance_id: str):
    """The panels that `induction show` draws for an example."""
    instance = read_instances(EXAMPLES, [instance_id])[0]
    formula = CASES[instance_id]
    panels = []
    for world in instance.worlds:
        extension = None
        if formula is not None:
            extension = bitset.extensions([parse_formula(formula)], [world])[0][0]
        panels.append(Panel(world, f"{world.name} ({instance.sides()[world.name]})", extension))
    return panels


def normalised(svg: bytes) -> str:
    """What a picture shows, a line an element: paths and texts with rounded places and their styles.

    Ids, clip paths, metadata and the library's way of grouping are left out, so that only a change of the picture
    itself is a difference.
    """

    def rounded(text: str) -> str:
        return re.sub(r"-?\d+\.\d+", lambda match: f"{float(match[0]):.0f}", " ".join(text.split()))

    root = ElementTree.fromstring(svg)
    named = {element.get("id"): element.get("d", "") for element in root.iter(f"{SVG}path")}
    lines = []
    for element in root.iter():
        style = rounded(element.get("style", ""))
        if element.tag == f"{SVG}path" and element.get("id") is None:
            lines.append(f"path {rounded(element.get('d', ''))} | {style}")
        elif element.tag == f"{SVG}text":
            lines.append(f"text {''.join(element.itertext())}")
        elif element.tag == f"{SVG}use":
            outline = named[element.get("{http://www.w3.org/1999/xlink}href", "").removeprefix("#")]
            place = rounded(f"{element.get('x')} {element.get('y')}")
            lines.append(f"marker at {place}: {rounded(outline)} | {style}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("instance_id", CASES)
def test_golden(instance_id):
    found = normalised(draw(panels_of(instance_id), instance_id, "svg"))
    expected = (GOLDENS / f"{instance_id}.svg.txt").read_text()
    assert found == expected


def texts(svg: bytes) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_everything_is_named():
    svg = draw(panels_of("example_fullobs"), "the heading", "svg")
    shown = texts(svg)
    assert "the heading" in shown
    for world in read_instances(EXAMPLES, ["example_fullobs"])[0].worlds:
        assert f"{world.name} (train)" in shown
        assert all(shown.count(name) >= 4 for name in world.domain)
    for entry in ("R(from, to)", "S(from, to)", "hit", "miss", "false alarm", "neither"):
        assert entry in shown
    plain = texts(draw(panels_of("example_ci"), "h", "svg"))
    assert "T" in plain
    assert "miss" not in plain
    assert not any("unknown" in text for text in plain)
    assert "unknown" in texts(draw(panels_of("example_ec"), "h", "svg"))


def _world(size: int, **tables) -> World:
    signature = Signature({"P": 1, "R": 2, "S": 2})
    shape = {"P": (size,), "R": (size, size), "S": (size, size)}
    true = {name: np.zeros(shape[name], dtype=bool) for name in signature}
    for name, places in tables.items():
        for place in places:
            true[name][place] = True
    return World("w", tuple(f"a{i}" for i in range(size)), signature, true, np.zeros(size, dtype=bool))


def _paths(world: World) -> list[str]:
    lines = normalised(draw([Panel(world, "w")], "h", "svg")).splitlines()
    return [line for line in lines if line.startswith("path ")]


def test_every_atom_is_drawn():
    """Each atom adds paths, self-loops and the two directions of a pair among them, and none hides another."""
    nothing = len(_paths(_world(4)))
    one = len(_paths(_world(4, R=[(0, 1)]))) - nothing
    loop = len(_paths(_world(4, R=[(0, 0)]))) - nothing
    assert one > 0
    assert loop > 0
    both = _paths(_world(4, R=[(0, 1), (1, 0)], S=[(0, 1), (1, 0), (2, 2)]))
    assert len(both) - nothing == 4 * one + loop
    bare = set(_paths(_world(4)))
    added = [line for line in both if line not in bare]
    assert len(set(added)) == len(added)


def test_shapes_tell_hits_from_misses():
    """Without any colour: the four combinations of label and formula are four different node outlines."""
    world = World("w", tuple("abcd"), Signature({"P": 1}), {}, [True, True, False, False])
    svg = draw([Panel(world, "w", np.array([True, False, True, False]))], "h", "svg")
    colourless = re.sub(r"(fill|stroke): #[0-9a-f]+;?", "", normalised(svg))
    nodes = re.findall(r"marker at \S+ \S+: (.*)", colourless)
    assert len(set(nodes[:4])) == 4


@pytest.mark.parametrize("size", [1, 2, 12, 30, MAX_OBJECTS])
def test_sizes(size):
    world = sample_world(np.random.default_rng(1), size, unknown_rate=0.1)
    assert draw([Panel(world, "w")], "h", "png").startswith(b"\x89PNG")


def test_reproducible():
    for form in ("svg", "png", "pdf"):
        assert draw(panels_of("example_ci"), "h", form) == draw(panels_of("example_ci"), "h", form)


def test_hostile_names_are_drawn_as_text():
    world = World("w", ("$x_1$", "<b>", "\\frac"), Signature({"P": 1}), {"P": [1, 1, 1]}, [1, 0, 0])
    shown = texts(draw([Panel(world, "100 $ and & <i>")], "$\\frac{", "svg"))
    assert any("<b>" in text for text in shown)
    assert any("$" in text for text in shown)


def test_refusals():
    world = sample_world(np.random.default_rng(1), MAX_OBJECTS + 1)
    with pytest.raises(InductionError, match="at most"):
        draw([Panel(world, "w")], "h", "svg")
    small = sample_world(np.random.default_rng(1), 3)
    with pytest.raises(InductionError, match="too many for one sheet"):
        draw([Panel(small, "w")] * 41, "h", "svg")
    with pytest.raises(InductionError, match="no world"):
        draw([], "h", "svg")
    with pytest.raises(InductionError, match="pictures are"):
        draw(panels_of("example_ci"), "h", "bmp")
    assert picture_form("A.SVG") == "svg"
    with pytest.raises(InductionError, match="ends in"):
        picture_form("picture.txt")


def test_at_the_command(induction, tmp_path):
    for name in ("p.svg", "p.png", "p.pdf"):
        ran = induction("show", str(EXAMPLES), "--id", "example_ec", "-o", str(tmp_path / name))
        assert ran.code == 0
        assert (tmp_path / name).stat().st_size > 1000
    text = induction("show", str(EXAMPLES), "--id", "example_fullobs", "--formula", "(exists y (R x y))")
    assert text.code == 0
    assert "FALSE ALARM" in text.out
    one = induction("show", str(EXAMPLES), "--id", "example_fullobs", "--world", "train_1")
    assert "train_1" in one.out
    assert "train_0" not in one.out
    for arguments, words in (
        (["--id", "example_ci", "--world", "nowhere"], "no world 'nowhere'"),
        (["--id", "nothing"], "no instance 'nothing'"),
        (["--id", "example_ci", "-o", "p.txt"], "ends in .svg, .png, .pdf"),
        (["--id", "example_ci", "-o", str(tmp_path / "no" / "p.svg")], "no such folder"),
        (["--id", "example_ci", "--formula", "(P"], "formula, line 1"),
    ):
        ran = induction("show", str(EXAMPLES), *arguments)
        assert ran.code == 2
        assert words in ran.err
        assert ran.err.count("\n") == 1


if __name__ == "__main__":
    for case in CASES:
        (GOLDENS / f"{case}.svg.txt").write_text(normalised(draw(panels_of(case), case, "svg")))
        print(f"wrote {case}", file=sys.stderr)
