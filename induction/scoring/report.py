"""A report of evaluation rows: the plots, and one page that holds all of it and needs no network."""

import base64
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any

from induction.drawing import plots
from induction.drawing.worlds import Panel, draw
from induction.errors import InductionError
from induction.scoring.metrics import DELTA_BINS, Row, Share, counted, grouped, instance_key, summarise, within
from induction.scoring.tables import Table, models_of, runs_of
from induction.worlds.instance import Instance

_TEMPLATE = "report.html.jinja"
_MOST_MODELS = 8  # in one plot: beyond, marks and colours repeat


def all_plots(rows: Sequence[Row]) -> dict[str, Any]:
    """The figures by name: accuracy by band, held-out match against size, sizes, kinds of error."""
    counting = counted(rows)
    models = models_of(counting)
    shown = dict(list(models.items())[:_MOST_MODELS])
    figures: dict[str, Any] = {}
    bands = list(dict.fromkeys(_band(row) for row in counting))
    figures["accuracy_by_band"] = plots.shares(
        {
            model: {band: point for band in bands if (point := _point(_accuracy(members, band))) is not None}
            for model, members in shown.items()
        },
        bands,
        "valid, %",
        "Accuracy by regime and band",
    )
    bins = [name for name, _, _ in DELTA_BINS]
    held = {
        model: {
            name: point
            for name, share in summarise(members, ()).holdout_by_delta.items()
            if (point := _point(share)) is not None
        }
        for model, members in shown.items()
    }
    if any(held.values()):
        figures["holdout_by_delta"] = plots.shares(
            held, bins, "right on all fresh worlds, %", "Held-out match of valid answers by AST size against the gold"
        )
    deltas = {
        model: [row["ast_delta"] for row in members if row["valid"] and row["ast_delta"] is not None]
        for model, members in shown.items()
    }
    if any(deltas.values()):
        figures["sizes"] = plots.distributions(deltas, "AST size above the gold", "Sizes of valid answers")
    figures |= _cactus_plots(counting)
    kinds = {
        model: Counter(row["metadata"]["errorKind"] for row in members if row["metadata"].get("errorKind"))
        for model, members in models.items()
    }
    if any(kinds.values()):
        figures["kinds_of_error"] = plots.stacked(kinds, "Kinds of error", "answers")
    return figures


def _cactus_plots(rows: Sequence[Row]) -> dict[str, Any]:
    """Instances solved against time, for the searches among the rows: any answer, and one of the gold's size."""
    searches = dict(list(models_of(runs_of(rows)).items())[:_MOST_MODELS])
    if not searches:
        return {}
    made = {}
    for name, title, margin, time in (
        ("cactus", "Instances solved within so much time", None, "first_s"),
        ("cactus_at_gold", "Solved at the gold's AST size or less", 0, "best_s"),
    ):
        times = {
            search: [
                row["metadata"]["run"][time] or row["metadata"]["run"]["wall_s"]
                for row in members
                if (row["valid"] if margin is None else within(row, margin))
            ]
            for search, members in searches.items()
        }
        most = max(len({instance_key(row) for row in members}) for members in searches.values())
        made[name] = plots.cactus(times, most, title)
    return made


def rendered(figure: Any, form: str) -> bytes:
    """A figure as "svg", "png" or "pdf"."""
    return plots.rendered(figure, form)


def _band(row: Row) -> str:
    return f"{row['task']} {row['metadata'].get('band') or '-'}"


def _accuracy(rows: Sequence[Row], band: str) -> Share:
    return summarise([row for row in rows if _band(row) == band], ()).accuracy


def _point(share: Share) -> plots.Point | None:
    if share.value is None or share.interval is None:
        return None
    low, high = share.interval
    return plots.Point(100 * share.value, 100 * low, 100 * high)


def html_page(
    title: str,
    rows: Sequence[Row],
    tables: Sequence[Table],
    figures: Mapping[str, Any],
    instances: Mapping[str, Instance],
    most_drawn: int,
) -> str:
    """The page. Worlds are drawn for the `most_drawn` instances with the most wrong answers, if they are given."""
    import jinja2
    import markupsafe

    environment = jinja2.Environment(autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string(resources.files("induction.scoring").joinpath(_TEMPLATE).read_text())
    datasets = {instance_key(row)[0] for row in rows}
    by_instance = grouped(
        counted(rows),
        lambda row: str(row["instance_id"]) if len(datasets) == 1 else f"{row['instance_id']} ({instance_key(row)[0]})",
    )
    by_wrong = sorted(by_instance, key=lambda name: -sum(not row["valid"] for row in by_instance[name]))
    ids = {name: str(members[0]["instance_id"]) for name, members in by_instance.items()}
    drawn = {name for name in by_wrong[:most_drawn] if ids[name] in instances}
    note = ""
    if len(drawn) < len(by_instance):
        note = f"Worlds are drawn for {len(drawn)} of {len(by_instance)} instances, those with the most wrong answers."
    models = len({row["model_id"] for row in rows})
    return template.render(
        title=title,
        summary=f"{len(by_instance):,} instances, {models} models, {len(rows):,} rows.",
        tables=tables,
        plots=[markupsafe.Markup(_inline_svg(figure)) for figure in figures.values()],
        instances=[
            _instance_facts(name, members, instances.get(ids[name]) if name in drawn else None)
            for name, members in by_instance.items()
        ],
        instances_note=note,
    )


def _inline_svg(figure: Any) -> str:
    """The figure as an SVG element in the page's own colours."""
    text = plots.rendered(figure, "svg").decode()
    svg = text[text.index("<svg") :].replace(plots.INK, "currentColor")
    # Names of parts that nothing refers to: they would be there several times on one page.
    return re.sub(r' id="(?:figure|axes|patch|matplotlib|text|line2d|xtick|ytick|legend|LineCollection)[^"]*"', "", svg)


def _instance_facts(name: str, rows: Sequence[Row], instance: Instance | None) -> dict[str, Any]:
    first = rows[0]
    return {
        "name": name,
        "regime": first["task"],
        "band": first["metadata"].get("band") or "-",
        "gold": first["gold_formula"],
        "gold_ast": first["gold_ast"],
        "valid": sum(bool(row["valid"]) for row in rows),
        "answers": [_answer_facts(row) for row in rows],
        "picture": None if instance is None else _picture(instance),
    }


def _answer_facts(row: Row) -> dict[str, Any]:
    metadata = row["metadata"]
    kind = metadata.get("errorKind")
    reasons = [kind, metadata.get("errorEvidence"), row["evaluation"].get("failureExplanation")]
    match = metadata.get("holdoutMatch")
    return {
        "model": row["model_id"],
        "run": row["run_id"],
        "verdict": "valid" if row["valid"] else "not valid" if row["parse_ok"] else "no formula",
        "size": "" if row["prediction"]["ast_size"] is None else row["prediction"]["ast_size"],
        "holdout": "" if match is None else f"{metadata['holdoutRight']} of {metadata['holdoutWorlds']}",
        "formula": row["prediction"]["formula"] or "",
        "why": "; ".join(dict.fromkeys(str(reason) for reason in reasons if reason)),
    }


def _picture(instance: Instance) -> str | None:
    sides = instance.sides()
    try:
        panels = [Panel(world, f"{world.name} ({sides[world.name]})") for world in instance.worlds]
        return base64.b64encode(draw(panels, instance.instance_id, "svg")).decode()
    except InductionError:  # too large to draw
        return None
