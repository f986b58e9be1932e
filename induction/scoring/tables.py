"""Tables of a report, as plain values, and as CSV, LaTeX and Markdown."""

import csv
import io
import itertools
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from induction.errors import printable
from induction.scoring.metrics import (
    BLOAT_MARGIN,
    DELTA_BINS,
    Mean,
    Row,
    Share,
    Summary,
    compare_models,
    counted,
    grouped,
    instance_key,
    same_problem,
    summarise,
    within,
)

PUBLISHED: Mapping[str, tuple[tuple[str, float, float], ...]] = {
    "FullObs": (
        ("Grok4", 50.7, 46.7),
        ("GPT-5.4", 43.5, 32.0),
        ("GPT-5.2", 43.7, 19.5),
        ("Gemini 3.5 Flash", 34.4, 33.9),
    ),
    "CI": (
        ("Grok4", 78.0, 75.5),
        ("GPT-5.4", 79.0, 76.0),
        ("GPT-5.2", 82.5, 73.0),
        ("Gemini 3.5 Flash", 78.5, 78.0),
    ),
    "EC": (
        ("Grok4", 53.0, 53.0),
        ("GPT-5.4", 93.5, 64.0),
        ("GPT-5.2", 78.0, 59.5),
        ("Gemini 3.5 Flash", 51.5, 51.0),
    ),
}
"""Acc and Acc@gold+25 in per cent by regime and model. Source: Batzoglou, INDUCTION, ICML 2026; other instances."""

PUBLISHED_SEARCHES: Mapping[str, tuple[tuple[str, float], ...]] = {
    "FullObs": (("z3-prenex + rescue (30 min)", 48.8), ("z3-ad-mix (30 min)", 65.9), ("ilasp-frag", 15.7)),
    "CI": (("z3-prenex + rescue (30 min)", 82.0),),
    "EC": (("z3-prenex + rescue (30 min)", 100.0),),
}
"""Acc in per cent of the paper's searches. Source: as above."""


@dataclass(frozen=True)
class Table:
    """A table: `numeric` names the columns that are numbers, `note` says how to read it."""

    name: str
    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[str, ...] = ()
    note: str = ""


def share_text(share: Share) -> str:
    """A share in per cent with its interval: `86.7 [72-95]`; a dash without trials."""
    if share.value is None or share.interval is None:
        return "-"
    low, high = share.interval
    value = f"{100 * share.value:.0f}" if share.value in (0, 1) else f"{100 * share.value:.1f}"
    return f"{value} [{100 * low:.0f}-{100 * high:.0f}]"


def mean_text(mean: Mean) -> str:
    """A mean with its interval; a dash without values."""
    if mean.mean is None or mean.interval is None:
        return "-"
    low, high = mean.interval
    return f"{mean.mean:.1f} [{low:.1f}-{high:.1f}]"


def median_text(mean: Mean) -> str:
    """The median; a dash without values."""
    return "-" if mean.median is None else f"{mean.median:g}"


def all_tables(
    rows: Sequence[Row],
    *,
    margins: Sequence[int] = (0, 10, 25),
    smallest: Mapping[str, int] | None = None,
    published: bool = False,
) -> list[Table]:
    """Every table that the rows have something to say in."""
    counting = counted(rows)
    tables = []
    for regime, members in grouped(counting, lambda row: str(row["task"])).items():
        tables += [
            _accuracy(regime, members, margins, published),
            *_runs(regime, members),
            _answers(regime, members),
            _sizes(regime, members, smallest),
            *_by(regime, members, "band", _band),
            *_by(regime, members, "family", lambda row: str(row["metadata"].get("family") or "-")),
            *_by(regime, members, "lift", _lift),
            *_by(regime, members, "quantifiers", lambda row: str(row["metadata"].get("goldQuantifiers") or "-")),
            _holdout(regime, members),
            _kinds(regime, members),
            _pairs(regime, members),
            _agreement(regime, members),
        ]
    tables.append(_same_problem(counting))
    return [table for table in tables if table.rows]


def models_of(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """By model, and by run where a model has several."""
    runs: dict[str, set[str]] = {}
    for row in rows:
        runs.setdefault(row["model_id"], set()).add(row["run_id"])
    return grouped(
        rows,
        lambda row: row["model_id"] if len(runs[row["model_id"]]) == 1 else f"{row['model_id']} ({row['run_id']})",
    )


def _accuracy(regime: str, rows: Sequence[Row], margins: Sequence[int], published: bool) -> Table:
    lines: list[tuple[str, ...]] = []
    for model, members in models_of(rows).items():
        summary = summarise(members, margins)
        lines.append(
            (
                model,
                str(summary.instances),
                share_text(summary.accuracy),
                *(share_text(summary.within[margin]) for margin in margins),
            )
        )
    if published:
        for model, accuracy, at_25 in PUBLISHED.get(regime, ()):
            known = (f"{at_25:.1f}" if margin == 25 else "" for margin in margins)
            lines.append((f"{model} (published)", "", f"{accuracy:.1f}", *known))
        for search, accuracy in PUBLISHED_SEARCHES.get(regime, ()):
            lines.append((f"{search} (published)", "", f"{accuracy:.1f}", *[""] * len(margins)))
    headings = ("model", "n", "Acc", *(f"@+{margin}" for margin in margins))
    note = "per cent of all instances with 95 % Wilson intervals; @+D: valid and at most D above the gold's AST size"
    if published:
        note += "; published figures are of other instances"
    return Table(f"accuracy_{regime}", f"{regime}: accuracy", headings, tuple(lines), headings[1:], note)


def _answers(regime: str, rows: Sequence[Row]) -> Table:
    lines = []
    for model, members in models_of(rows).items():
        summary = summarise(members, ())
        lines.append((model, share_text(summary.coverage), share_text(summary.strict), share_text(summary.bloat)))
    headings = ("model", "coverage", "strict", "bloat")
    note = (
        "coverage: answers that hold a formula; strict: bare or in JSON, nothing repaired; bloat: valid answers "
        "more than 25 AST nodes above the gold"
    )
    return Table(f"answers_{regime}", f"{regime}: answers", headings, tuple(lines), headings[1:], note)


def _sizes(regime: str, rows: Sequence[Row], smallest: Mapping[str, int] | None) -> Table:
    lines = []
    for model, members in models_of(rows).items():
        summary: Summary = summarise(members, (), smallest)
        lines.append(
            (
                model,
                str(summary.size.count),
                mean_text(summary.size),
                median_text(summary.size),
                mean_text(summary.delta),
                mean_text(summary.excess),
            )
        )
    headings = ("model", "valid", "AST size", "median", "above gold", "above smallest")
    note = (
        "of valid answers, means with 95 % bootstrap intervals; above smallest: above the smallest formula known for "
        "the instance, by a search, a certificate or the gold"
    )
    return Table(f"sizes_{regime}", f"{regime}: sizes", headings, tuple(lines), headings[1:], note)


def _by(regime: str, rows: Sequence[Row], what: str, key: Callable[[Row], str]) -> list[Table]:
    """Accuracy by some property of instances; nothing where all are alike."""
    values = list(grouped(rows, key))
    if len(values) < 2:
        return []
    lines = []
    for model, members in models_of(rows).items():
        parts = grouped(members, key)
        lines.append((model, *(share_text(summarise(parts.get(value, []), ()).accuracy) for value in values)))
    name = f"accuracy_by_{what.replace(' ', '_')}_{regime}"
    title = f"{regime}: accuracy by {what}"
    return [Table(name, title, ("model", *values), tuple(lines), tuple(values), "per cent with 95 % Wilson intervals")]


def _lift(row: Row) -> str:
    lifted = row["metadata"].get("lifted")
    return "-" if lifted is None else "lifted" if lifted else "not lifted"


def _holdout(regime: str, rows: Sequence[Row]) -> Table:
    lines = []
    for model, members in models_of(rows).items():
        summary = summarise(members, ())
        if summary.holdout.trials:
            by_delta = (share_text(summary.holdout_by_delta[name]) for name, _, _ in DELTA_BINS)
            counts = (str(summary.holdout.trials), str(summary.untried))
            lines.append((model, *counts, share_text(summary.holdout), *by_delta))
    headings = ("model", "tried", "not tried", "match", *(name for name, _, _ in DELTA_BINS))
    note = "share of valid answers right on all fresh worlds, also by AST size against the gold"
    return Table(f"holdout_{regime}", f"{regime}: held-out match", headings, tuple(lines), headings[1:], note)


def _kinds(regime: str, rows: Sequence[Row]) -> Table:
    by_model = {
        model: Counter(row["metadata"]["errorKind"] for row in members if row["metadata"].get("errorKind"))
        for model, members in models_of(rows).items()
    }
    totals = Counter[str]()
    for counts in by_model.values():
        totals.update(counts)
    lines = [(kind, *(str(counts.get(kind, 0)) for counts in by_model.values())) for kind, _ in totals.most_common()]
    headings = ("kind of error", *by_model)
    note = "answers that are wrong, or valid but not the gold and known to be at fault, by what is wrong with them"
    return Table(f"errors_{regime}", f"{regime}: kinds of error", headings, tuple(lines), tuple(by_model), note)


def _pairs(regime: str, rows: Sequence[Row]) -> Table:
    lines = []
    for (first, mine), (second, theirs) in itertools.combinations(models_of(rows).items(), 2):
        paired = compare_models(mine, theirs)
        lines.append(
            (first, second, str(paired.both), str(paired.first_only), str(paired.second_only), f"{paired.p:.3g}")
        )
    headings = ("first", "second", "both", "first alone", "second alone", "p")
    note = "valid answers on the instances that both have; p: McNemar's exact test, two-sided, not corrected"
    return Table(f"pairs_{regime}", f"{regime}: models in pairs", headings, tuple(lines), headings[2:], note)


def runs_of(rows: Sequence[Row]) -> list[Row]:
    """The rows that are runs of searches."""
    return [row for row in rows if row["metadata"].get("run")]


def _runs(regime: str, rows: Sequence[Row]) -> list[Table]:
    """What searches solved, proved and cost; and the same by band."""
    searches = models_of(runs_of(rows))
    lines = []
    for search, members in searches.items():
        runs = [row["metadata"]["run"] for row in members]
        summary = summarise(members, ())
        firsts = [run["first_s"] for run in runs if run["first_s"] is not None]
        lines.append(
            (
                search,
                f"{summary.accuracy.successes} of {summary.instances}",
                str(sum(within(row, 0) for row in members)),
                str(sum(within(row, BLOAT_MARGIN) for row in members)),
                str(sum(run["proven"] for run in runs)),
                _held(summary.holdout),
                f"{statistics.median(run['cpu_s'] for run in runs):.2f}",
                f"{statistics.median(firsts):.2f}" if firsts else "-",
                f"{max(run['peak_mb'] for run in runs):.0f}",
                str(sum(run["outcome"] in ("timed-out", "out-of-memory") for run in runs)),
            )
        )
    headings = ("search", "solved", "@+0", "@+25", "proven", "held out", "CPU s", "first s", "MB", "out")
    note = (
        "instances; proven: smallest of the search's own fragment; held out: solved ones right on all fresh worlds, of "
        "those tried; CPU s: median of whole runs; first s: median wall time to the first answer; MB: largest peak; "
        "out: ran out of time or memory before the search ended by itself"
    )
    tables = [Table(f"runs_{regime}", f"{regime}: searches", headings, tuple(lines), headings[1:], note)]
    bands = list(grouped(runs_of(rows), _band))
    if len(bands) > 1:
        by_band = [
            (search, *(_solved_and_at_gold(grouped(members, _band).get(band, [])) for band in bands))
            for search, members in searches.items()
        ]
        title = f"{regime}: searches by band"
        note = "instances solved / solved at the gold's AST size or less / all"
        tables.append(Table(f"runs_by_band_{regime}", title, ("search", *bands), tuple(by_band), tuple(bands), note))
    return tables


def _band(row: Row) -> str:
    return str(row["metadata"].get("band") or "-")


def _held(share: Share) -> str:
    return f"{share.successes} of {share.trials}" if share.trials else "-"


def _solved_and_at_gold(rows: Sequence[Row]) -> str:
    if not rows:
        return "-"
    return f"{sum(bool(row['valid']) for row in rows)} / {sum(within(row, 0) for row in rows)} / {len(rows)}"


def _agreement(regime: str, rows: Sequence[Row]) -> Table:
    """How the answers of searches compare on the instances that both solved."""
    lines = []
    for (first, mine), (second, theirs) in itertools.combinations(models_of(runs_of(rows)).items(), 2):
        ours = {instance_key(row): row for row in mine if row["valid"]}
        others = {instance_key(row): row for row in theirs if row["valid"]}
        pairs = [(row, others[key]) for key, row in ours.items() if key in others]
        sizes = [(a["prediction"]["ast_size"], b["prediction"]["ast_size"]) for a, b in pairs]
        beneath = sum(
            max(a["metadata"]["run"]["none_below"] - of_b, b["metadata"]["run"]["none_below"] - of_a) > 0
            for (a, b), (of_a, of_b) in zip(pairs, sizes, strict=True)
        )
        lines.append(
            (
                first,
                second,
                str(len(pairs)),
                str(sum(a["prediction"]["formula"] == b["prediction"]["formula"] for a, b in pairs)),
                str(sum(a == b for a, b in sizes)),
                str(sum(a < b for a, b in sizes)),
                str(sum(a > b for a, b in sizes)),
                str(beneath),
            )
        )
    headings = ("first", "second", "both", "same", "size =", "1st <", "2nd <", "beneath")
    note = (
        "on the instances that both solved: the same formula, one of the same AST size, the first's smaller, the "
        "second's smaller; beneath: one's answer is smaller than what the other proved impossible, which only "
        "formulas outside of that one's fragment can be"
    )
    return Table(f"agreement_{regime}", f"{regime}: agreement of searches", headings, tuple(lines), headings[2:], note)


def _same_problem(rows: Sequence[Row]) -> Table:
    lines = []
    for regime, members in grouped(rows, lambda row: str(row["task"])).items():
        same = same_problem(members)
        if same.instances:
            lines.append((regime, str(same.instances), share_text(same.compact), share_text(same.bloated)))
    headings = ("regime", "instances", "compact", "bloated")
    note = "held-out match of valid answers up to gold+10 and above gold+25 on the instances that have both"
    return Table(
        "same_problem", "Compact and bloated answers to one problem", headings, tuple(lines), headings[1:], note
    )


def to_csv(table: Table) -> str:
    """The table as CSV with its headings."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(table.headings)
    writer.writerows(table.rows)
    return buffer.getvalue()


def to_markdown(table: Table) -> str:
    """The table in Markdown, with its title and note."""
    rule = ["--:" if heading in table.numeric else "---" for heading in table.headings]
    lines = [table.headings, tuple(rule), *table.rows]
    body = "\n".join(
        "| " + " | ".join(printable(cell, 1_000).replace("|", "\\|") for cell in line) + " |" for line in lines
    )
    return f"### {table.title}\n\n{body}\n\n{table.note}\n"


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
    }
)


def to_latex(table: Table) -> str:
    """The table as a LaTeX `table` with booktabs rules."""
    columns = "".join("r" if heading in table.numeric else "l" for heading in table.headings)
    lines = [
        " & ".join(printable(cell, 1_000).translate(_LATEX) for cell in line) + r" \\"
        for line in (table.headings, *table.rows)
    ]
    body = "\n".join([r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"])
    caption = f"{table.title}; {table.note}".translate(_LATEX)
    return (
        "\\begin{table}\n\\centering\n\\begin{tabular}{" + columns + "}\n" + body + "\n\\end{tabular}\n"
        "\\caption{" + caption + "}\n\\label{tab:" + table.name + "}\n\\end{table}\n"
    )
