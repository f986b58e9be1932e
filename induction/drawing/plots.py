"""Plots of a report. Points and bars with intervals; models are told apart by mark and colour together.

Long names are shortened in the middle, and still told apart; tables have them whole.
"""

import contextlib
import io
import logging
import unicodedata
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#8c564b")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
_LONGEST = 40  # columns of a name
_LARGEST = 100.0  # inches of a figure
_SHOWN = "\u200b"  # a space without width
INK = "#010203"
"""The colour of text and lines: a page may put its own in this one's place."""


@dataclass(frozen=True)
class Point:
    """A share in per cent with the ends of its interval."""

    value: float
    low: float
    high: float


def shares(series: Mapping[str, Mapping[str, Point]], categories: Sequence[str], ylabel: str, title: str) -> Any:
    """A figure of shares: for each of the series (by name) a point at each category that it has one for."""
    figure, axes = _figure(max(5.0, 1.1 * len(categories) + 1.6), 3.4, title)
    width = 0.7 / max(1, len(series))
    names, places = short_names(series), short_names(categories)
    for number, (name, points) in enumerate(series.items()):
        offset = (number - (len(series) - 1) / 2) * width
        shown = [(i + offset, points[category]) for i, category in enumerate(categories) if category in points]
        if not shown:
            continue
        errors = [[point.value - point.low for _, point in shown], [point.high - point.value for _, point in shown]]
        axes.errorbar(
            [place for place, _ in shown],
            [point.value for _, point in shown],
            [[max(0.0, error) for error in side] for side in errors],
            fmt=MARKS[number % len(MARKS)],
            color=COLOURS[number % len(COLOURS)],
            capsize=2.5,
            markersize=5,
            linewidth=1,
            label=_literal(names[name]),
        )
    axes.set_xticks(range(len(categories)), [_literal(places[one].replace(" ", "\n")) for one in categories])
    axes.set_xlim(-0.6, len(categories) - 0.4)
    axes.set_ylim(-2, 102)
    axes.set_ylabel(ylabel)
    axes.grid(axis="y", linewidth=0.4, alpha=0.5)
    _legend(figure, axes)
    return figure


def distributions(series: Mapping[str, Sequence[float]], xlabel: str, title: str) -> Any:
    """A figure of cumulative distributions: for each series the share of its values at most x."""
    figure, axes = _figure(6.2, 3.4, title)
    names = short_names(series)
    for number, (name, values) in enumerate(series.items()):
        if not values:
            continue
        ordered = sorted(values)
        heights = [100 * (i + 1) / len(ordered) for i in range(len(ordered))]
        axes.step(
            [ordered[0], *ordered],
            [0, *heights],
            where="post",
            color=COLOURS[number % len(COLOURS)],
            linestyle=("-", "--", ":", "-.")[number % 4],
            label=_literal(f"{names[name]} ({len(ordered)})"),
        )
    axes.axvline(0, color=INK, linewidth=0.6)
    axes.set_ylim(0, 101)
    axes.set_xlabel(xlabel)
    axes.set_ylabel("valid answers, %")
    axes.grid(linewidth=0.4, alpha=0.5)
    _legend(figure, axes)
    return figure


def cactus(times_s: Mapping[str, Sequence[float]], most: int, title: str) -> Any:
    """A figure of how many of `most` instances each of the series had solved by then; times in seconds, logarithmic."""
    figure, axes = _figure(6.2, 3.6, title)
    every = [max(0.01, value) for values in times_s.values() for value in values]
    names = short_names(times_s)
    left, right = min(every, default=0.01) / 1.5, max(every, default=1.0) * 1.5
    for number, (name, values) in enumerate(times_s.items()):
        ordered = [max(0.01, value) for value in sorted(values)]
        axes.step(
            [left, *ordered, right],
            [0, *range(1, len(ordered) + 1), len(ordered)],
            where="post",
            color=COLOURS[number % len(COLOURS)],
            linestyle=("-", "--", ":", "-.")[number % 4],
            label=_literal(f"{names[name]} ({len(ordered)})"),
        )
    axes.axhline(most, color=INK, linewidth=0.6)
    axes.set_xscale("log")
    axes.set_xlim(left, right)
    axes.set_ylim(0, most * 1.04)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("wall seconds for one instance, in its own process")
    axes.set_ylabel(f"instances of {most}")
    axes.grid(linewidth=0.4, alpha=0.5)
    _legend(figure, axes)
    return figure


def stacked(counts: Mapping[str, Mapping[str, int]], title: str, xlabel: str) -> Any:
    """A figure of bars, one a name, made of the counts of each kind."""
    kinds = list(dict.fromkeys(kind for parts in counts.values() for kind in parts))
    figure, axes = _figure(7.4, 0.42 * len(counts) + 1.6, title)
    names = list(counts)[::-1]
    shown, words = short_names(counts), short_names(kinds)
    left = [0.0] * len(names)
    hatches = ("", "//", "..", "xx")
    for number, kind in enumerate(kinds):
        widths = [counts[name].get(kind, 0) for name in names]
        axes.barh(
            range(len(names)),
            widths,
            left=left,
            height=0.7,
            color=COLOURS[number % len(COLOURS)],
            hatch=hatches[number // len(COLOURS) % len(hatches)],
            edgecolor="white",
            linewidth=0.4,
            label=_literal(words[kind]),
        )
        left = [before + width for before, width in zip(left, widths, strict=True)]
    axes.set_yticks(range(len(names)), [_literal(shown[name]) for name in names])
    axes.set_xlabel(xlabel)
    _legend(figure, axes)
    return figure


def rendered(figure: Any, form: str) -> bytes:
    """The figure as "svg", "png" or "pdf"; the same figure gives the same bytes with the same library versions."""
    import matplotlib

    buffer = io.BytesIO()
    metadata = {"png": {"Software": None}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}[form]
    settings: dict[Any, Any] = {"svg.hashsalt": "induction", "svg.fonttype": "none"}
    with matplotlib.rc_context(settings), _quiet():
        figure.savefig(buffer, format=form, metadata=metadata, dpi=150, transparent=form == "svg")
    return buffer.getvalue()


def _figure(width: float, height: float, title: str) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(min(width, _LARGEST), min(height, _LARGEST)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.set_title(title, fontsize=10, color=INK, loc="left")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for spine in axes.spines.values():
        spine.set_color(INK)
    axes.tick_params(colors=INK, labelsize=8)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set_color(INK)
        label.set_fontsize(9)
    return figure, axes


def _literal(text: str) -> str:
    """A label shown as it is: the plotting library reads $ as mathematics and hides labels that begin with _."""
    return _SHOWN + text.replace("$", r"\$")


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Each name as plots show it: long ones without their middle, numbered where two would be alike."""
    taken: set[str] = set()
    result = {}
    for name in sorted(dict.fromkeys(names), key=len):  # names that stay whole come first
        short, number = _without_middle(name, _LONGEST), 1
        while short in taken:
            number += 1
            mark = f" #{number}"
            short = _without_middle(name, _LONGEST - len(mark)) + mark
        taken.add(short)
        result[name] = short
    return result


def _without_middle(name: str, longest: int) -> str:
    if _width(name) <= longest:
        return name
    head = tail = 0
    while _width(name[: head + 1]) + _width(name[len(name) - tail :]) < longest:
        head += 1
        if _width(name[:head]) + _width(name[len(name) - tail - 1 :]) < longest:
            tail += 1
    return f"{name[:head]}…{name[len(name) - tail :]}"


def _width(text: str) -> int:
    """The columns a text takes: two for each wide letter."""
    return sum(2 if unicodedata.east_asian_width(one) in "FW" else 1 for one in text)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """The plotting library keeps to itself what it thinks of room, fonts and letters it has no picture of."""
    logger = logging.getLogger("matplotlib")
    disabled, logger.disabled = logger.disabled, True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.disabled = disabled


def _legend(figure: Any, axes: Any) -> None:
    """A legend beneath, so that it never covers a point, in as many columns as there is room for."""
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        room = figure.get_size_inches()[0]
        column = 0.075 * max(map(_width, labels)) + 0.6  # inches, at this size of letters
        figure.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=max(1, min(len(labels), 4, int(room / column))),
            fontsize=8,
            frameon=False,
            labelcolor=INK,
        )
