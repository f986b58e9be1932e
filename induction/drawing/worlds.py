"""Worlds as graphs, side by side on one sheet.

Objects stand on a circle in domain order, the same place in every world, so that worlds can be compared by eye. What
matters is told by shape and line style and never by colour alone: labels T by a thick filled node, what a formula
gets wrong by the node's shape, relations by solid, dashed and dotted lines, unknown atoms by thin grey ones.
"""

import io
import math
import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from induction.errors import InductionError, printable
from induction.formula.syntax import PredicateName
from induction.worlds.world import BoolArray, World

FORMATS = ("svg", "png", "pdf")
MAX_OBJECTS = 60
"""Most objects of a world that is drawn; beyond, nothing can be told apart."""

MAX_WORLDS = 40
"""Most worlds on one sheet."""

MAX_ATOMS = 12_000
"""Most binary atoms on one sheet: each takes the plotting library some milliseconds."""

_PANEL_INCHES = 4.6
_NODE_POINTS = 1150
_EDGE = 1.42  # the axes reach from minus this to this; the objects stand on a circle of radius 1
_LEGEND_ENTRY_INCHES = 1.5
_LINE_STYLES = ("solid", (0, (5, 2.5)), (0, (1, 1.8)), (0, (7, 2, 1, 2)))
_LINE_COLOURS = ("#1f4e79", "#b5541c", "#2f6b3a", "#6a3d7c", "#8a6d00")
_TRUE_FILL, _FALSE_FILL = "#ffd27f", "#ffffff"


@dataclass(frozen=True)
class Panel:
    """One world to draw: its title, and with a formula the objects it holds of (`bool[n]`)."""

    world: World
    title: str
    extension: BoolArray | None = None


def draw(panels: Sequence[Panel], heading: str, form: str) -> bytes:
    """A picture of the panels on one sheet, which is rather wide than high.

    `form` is one of `FORMATS`. The same worlds give the same bytes with the same library versions.

    Raises:
        InductionError: another form, no panel, or more worlds, objects in one, or atoms than the limits.
    """
    if form not in FORMATS:
        raise InductionError(f"pictures are {', '.join(FORMATS)}, not '{printable(form)}'")
    if not panels:
        raise InductionError("there is no world to draw")
    for panel in panels:
        if panel.world.size > MAX_OBJECTS:
            raise InductionError(
                f"world {panel.world.name} has {panel.world.size} objects; at most {MAX_OBJECTS} are drawn"
            )
    if len(panels) > MAX_WORLDS:
        raise InductionError(f"{len(panels)} worlds are too many for one sheet; choose at most {MAX_WORLDS}")
    atoms = sum(_count_atoms(panel.world) for panel in panels)
    if atoms > MAX_ATOMS:
        raise InductionError(f"{atoms:,} binary atoms are too many for one sheet (at most {MAX_ATOMS:,})")
    import matplotlib

    # A canvas of its own, so that no window system, and no state of a caller's plots, is touched.
    settings: dict[Any, Any] = {"svg.hashsalt": "induction", "svg.fonttype": "none", "font.family": "DejaVu Sans"}
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # the user's own settings are for the user's own plots
        matplotlib.rcParams.update(settings)
        figure = _sheet(panels, heading)
        buffer = io.BytesIO()
        metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[form]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a letter that the font lacks is drawn as a box
            figure.savefig(buffer, format=form, metadata=metadata, dpi=110)
    return buffer.getvalue()


def _count_atoms(world: World) -> int:
    tables = [table for holder in (world.true, world.unknown) for table in holder.values() if table.ndim == 2]
    return sum(int(table.sum()) for table in tables)


def picture_form(path: str) -> str:
    """The form that a file name asks for. Raises InductionError for a name that asks for none of `FORMATS`."""
    form = Path(path).suffix.lower().removeprefix(".")
    if form not in FORMATS:
        raise InductionError(f"{printable(path, 200)}: a picture's name ends in .{', .'.join(FORMATS)}")
    return form


def _sheet(panels: Sequence[Panel], heading: str) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = min(range(1, len(panels) + 1), key=lambda number: _badness(number, len(panels)))
    rows = -(-len(panels) // columns)
    # Many objects need room around the circle.
    inches = _PANEL_INCHES * max(1.0, max(panel.world.size for panel in panels) / 11)
    width = columns * inches
    entries = _legend_entries(panels)
    legend_columns = max(1, min(len(entries), int(width / _LEGEND_ENTRY_INCHES)))
    legend_inches = 0.55 + 0.24 * -(-len(entries) // legend_columns)
    heading_lines = textwrap.wrap(printable(heading, 1_000), max(20, int(width * 10))) or [""]
    heading_inches = 0.35 + 0.22 * len(heading_lines)
    height = rows * inches + legend_inches + heading_inches
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(
        rows,
        columns,
        left=0.02,
        right=0.98,
        top=1 - heading_inches / height,
        bottom=legend_inches / height,
        wspace=0.06,
        hspace=0.1,
    )
    figure.suptitle("\n".join(map(_plain, heading_lines)), fontsize=12, y=1 - 0.1 / height, va="top")
    for i, panel in enumerate(panels):
        _draw_world(figure.add_subplot(grid[i // columns, i % columns]), panel, inches)
    figure.legend(
        handles=entries,
        loc="lower center",
        ncols=legend_columns,
        frameon=False,
        fontsize=9,
        handlelength=3,
        title="in a node: name, unary predicates; a ring at it: a self-loop",
        title_fontsize=8,
    )
    return figure


def _badness(columns: int, panels: int) -> float:
    """How far a grid is from a full one about one and a half times as wide as high."""
    rows = -(-panels // columns)
    return 2 * (rows * columns - panels) / panels + abs(math.log(columns / rows / 1.5))


def _plain(text: str) -> str:
    """Text that matplotlib sets as it is: a $ would begin its own mathematics."""
    return printable(text, 200).replace("$", r"\$")


def _positions(world: World) -> dict[int, tuple[float, float]]:
    import networkx

    circle = networkx.circular_layout(range(world.size)) if world.size > 1 else {0: (0.0, 0.0)}
    # From the top, clockwise.
    return {element: (float(y), float(x)) for element, (x, y) in circle.items()}


def _draw_world(axes: Any, panel: Panel, inches: float) -> None:
    world = panel.world
    places = _positions(world)
    axes.set_xlim(-_EDGE, _EDGE)
    axes.set_ylim(-_EDGE, _EDGE)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(_plain(panel.title), fontsize=10)
    scale = _node_scale(world.size)
    points_per_unit = 72 * inches * 0.9 / (2 * _EDGE)
    radius = math.sqrt(_NODE_POINTS) / 2 * scale / points_per_unit  # of a node, in the units of the axes
    for number, predicate in enumerate(world.signature.binary):
        for known, table in ((True, world.true[predicate]), (False, world.unknown[predicate])):
            for source, target in np.argwhere(table).tolist():
                _draw_atom(axes, places, source, target, number, known, radius)
    for element, place in places.items():
        held = None if panel.extension is None else bool(panel.extension[element])
        labelled = bool(world.target[element])
        axes.scatter(
            *place,
            s=_NODE_POINTS * scale**2,
            marker=_marker(labelled, held),
            facecolor=_TRUE_FILL if labelled else _FALSE_FILL,
            edgecolor="black",
            linewidth=2.6 if labelled else 0.9,
            zorder=3,
        )
        name = _shortened(world.domain[element])
        lines = [_plain(name)]
        if unary := _unary_text(world, element):
            lines.append(unary)
        longest = max(len(line) for line in lines)
        size = 8.5 * scale * min(1.0, 5.5 / longest)
        axes.text(*place, "\n".join(lines), ha="center", va="center", fontsize=size, zorder=4)


def _shortened(name: str) -> str:
    """A name of at most ten letters; of longer ones beginning and end, where names of a kind differ."""
    return name if len(name) <= 10 else f"{name[:5]}…{name[-4:]}"


def _node_scale(size: int) -> float:
    return 1.0 if size <= 14 else max(0.45, 14 / size)


def _marker(labelled: bool, held: bool | None) -> str:
    """Circle where formula and label agree, or without a formula; square for a miss, diamond for a false alarm."""
    if held is None or held == labelled:
        return "o"
    return "s" if labelled else "D"


def _unary_text(world: World, element: int) -> str:
    """The unary predicates that hold of an object, unknown ones with a question mark."""
    marks = []
    for predicate in world.signature.unary:
        if world.true[predicate][element]:
            marks.append(_shortened(predicate))
        elif world.unknown[predicate][element]:
            marks.append(f"{_shortened(predicate)}?")
    return _plain(" ".join(marks[:4]) + ("…" if len(marks) > 4 else ""))


def _line(number: int, known: bool) -> dict[str, Any]:
    """How the atoms of relation `number` are drawn."""
    return {
        "linestyle": _LINE_STYLES[number % len(_LINE_STYLES)],
        "color": _LINE_COLOURS[number % len(_LINE_COLOURS)] if known else "#9a9a9a",
        "linewidth": (1.3 if known else 0.7) + 1.2 * (number // len(_LINE_STYLES)),
    }


def _draw_atom(
    axes: Any,
    places: dict[int, tuple[float, float]],
    source: int,
    target: int,
    number: int,
    known: bool,
    radius: float,
) -> None:
    from matplotlib.patches import FancyArrowPatch

    style = _line(number, known)
    scale = _node_scale(len(places))
    if source == target:
        _draw_loop(axes, places[source], number, style, radius)
        return
    (x1, y1), (x2, y2) = places[source], places[target]
    # All bend towards the middle, so that none runs behind a node between its ends; each relation, and each
    # direction of a pair, by its own amount. The sign is that of the library's "arc3".
    bend = 0.2 + 0.16 * number + (0.08 if source > target else 0.0)
    inward = (x1 + x2) * (y2 - y1) - (y1 + y2) * (x2 - x1)
    arrow = FancyArrowPatch(
        (x1, y1),
        (x2, y2),
        connectionstyle=f"arc3,rad={bend if inward <= 1e-9 else -bend:.4f}",
        arrowstyle="-|>" if known else "->",
        mutation_scale=11 * scale,
        shrinkA=18 * scale,
        shrinkB=18 * scale,
        zorder=2 if known else 1,
        **style,
    )
    axes.add_patch(arrow)


def _draw_loop(axes: Any, place: tuple[float, float], number: int, style: dict[str, Any], radius: float) -> None:
    """A ring outside the node, to either side of its place on the circle for different relations."""
    from matplotlib.patches import Circle

    angle = math.atan2(place[1], place[0]) if place != (0.0, 0.0) else math.pi / 2
    angle += (0.42 + 0.7 * (number // 2)) * (1 if number % 2 else -1)
    ring = 0.6 * radius
    away = radius + 0.8 * ring
    centre = (place[0] + away * math.cos(angle), place[1] + away * math.sin(angle))
    axes.add_patch(Circle(centre, ring, fill=False, zorder=2, **style))


def _legend_entries(panels: Sequence[Panel]) -> list[Any]:
    from matplotlib.lines import Line2D

    relations: list[PredicateName] = list(panels[0].world.signature.binary)
    entries = [Line2D([], [], label=f"{_plain(name)}(from, to)", **_line(i, True)) for i, name in enumerate(relations)]
    if any(panel.world.count_unknown() for panel in panels):
        entries.append(Line2D([], [], label="unknown", **_line(0, False)))
    kinds = [(True, True, "T"), (False, False, "not T")]
    if any(panel.extension is not None for panel in panels):
        kinds = [(True, True, "hit"), (True, False, "miss"), (False, True, "false alarm"), (False, False, "neither")]
    for labelled, held, label in kinds:
        entries.append(
            Line2D(
                [],
                [],
                linestyle="none",
                marker=_marker(labelled, held),
                markersize=11,
                markerfacecolor=_TRUE_FILL if labelled else _FALSE_FILL,
                markeredgecolor="black",
                markeredgewidth=2.2 if labelled else 0.9,
                label=label,
            )
        )
    return entries
