"""`induction report`: tables, plots and a page of evaluation rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from induction.errors import InductionError, InstanceFormatError, MissingFileError, printable

if TYPE_CHECKING:
    from induction.scoring.tables import Table
    from induction.worlds.instance import Instance


def command(
    evaluations: Annotated[list[str], typer.Argument(metavar="EVALUATION...", help="Files of rows, from score.")],
    html: Annotated[str | None, typer.Option("--html", metavar="FILE", help="Write one page with everything.")] = None,
    latex: Annotated[str | None, typer.Option("--latex", metavar="DIR", help="Write the tables as LaTeX.")] = None,
    csv: Annotated[str | None, typer.Option("--csv", metavar="DIR", help="Write the tables as CSV.")] = None,
    markdown: Annotated[
        str | None, typer.Option("--markdown", metavar="FILE", help="Write the tables as Markdown.")
    ] = None,
    plots: Annotated[str | None, typer.Option("--plots", metavar="DIR", help="Write the plots as SVG and PNG.")] = None,
    margin: Annotated[
        list[int] | None, typer.Option("--margin", min=0, help="Acc@gold+D for these D; may be repeated.")
    ] = None,
    smallest: Annotated[
        str | None,
        typer.Option("--smallest", metavar="FILE", help="Rows of induction solve, for the sizes they found."),
    ] = None,
    instances: Annotated[
        str | None, typer.Option("--instances", metavar="FILE", help="The instances, for their worlds on the page.")
    ] = None,
    draw: Annotated[int, typer.Option("--draw", min=0, help="How many instances to draw on the page.")] = 30,
    published: Annotated[
        bool, typer.Option("--published", help="Show the benchmark's published figures beside, marked.")
    ] = False,
) -> int:
    """Report evaluation rows: accuracies, sizes, held-out match, kinds of error, models in pairs.

    Tables go to the terminal unless files are asked for. Intervals are at 95 %: Wilson for shares, bootstrap for
    means. The page needs no network; its tables sort by a click on a heading.

    \b
    Examples:
      induction report evaluation.jsonl
      induction report evaluation.jsonl --html report.html --instances suite.yaml.gz
      induction report a.jsonl b.jsonl --latex tables/ --csv tables/ --plots plots/
      induction report evaluation.jsonl --smallest solved.jsonl --margin 0 --margin 5 --published
    """
    from induction.cli import inputs, output
    from induction.scoring import report, tables
    from induction.scoring.rows import read_rows
    from induction.worlds.writing import write_files

    inputs.require_one_standard_input(*evaluations, smallest, instances)
    rows = [row for path in evaluations for row in read_rows(path)]
    known = _smallest(smallest) if smallest is not None else None
    margins = tuple(dict.fromkeys(margin)) if margin else (0, 10, 25)
    made = tables.all_tables(rows, margins=margins, smallest=known, published=published)
    by_id = _instances(instances, rows) if html is not None else {}
    files: list[tuple[str, bytes]] = []
    for folder, suffix, form in ((latex, "tex", tables.to_latex), (csv, "csv", tables.to_csv)):
        if folder is not None:
            files += [(f"{Path(folder) / one.name}.{suffix}", form(one).encode()) for one in made]
    if markdown is not None:
        files.append((markdown, "\n".join(tables.to_markdown(table) for table in made).encode()))
    if plots is not None or html is not None:
        figures = report.all_plots(rows)
        if plots is not None:
            files += [
                (f"{Path(plots) / name}.{suffix}", report.rendered(figure, suffix))
                for name, figure in figures.items()
                for suffix in ("svg", "png")
            ]
        if html is not None:
            title = "Evaluation of " + ", ".join(dict.fromkeys(str(row.get("dataset_name") or "-") for row in rows))
            files.append((html, report.html_page(title, rows, made, figures, by_id, draw).encode()))
    if files:
        write_files(files)
        places = [given for given in (latex, csv, plots, markdown, html) if given is not None]
        print(f"wrote {output.plural(len(files), 'file')}: {printable(', '.join(places), 2_000)}")
        return 0
    for table in made:
        print(f"\n{table.title}")
        for columns in _fitting(table):
            headings = [table.headings[i] for i in columns]
            output.print_table(headings, [[row[i] for i in columns] for row in table.rows], numeric=table.numeric)
        output.print_indented(0, table.note)
    return 0


def _fitting(table: "Table") -> list[list[int]]:
    """The columns in groups that fit on 80 columns of a terminal, each beginning with the first."""
    widths = [max(map(len, column)) + 2 for column in zip(table.headings, *table.rows, strict=True)]
    widths[0] = min(widths[0], 32)
    groups: list[list[int]] = []
    room = 0
    for i, width in enumerate(widths[1:], start=1):
        if not groups or width > room:
            groups.append([0])
            room = 80 - widths[0]
        groups[-1].append(i)
        room -= width
    return groups


def _smallest(path: str) -> dict[str, int]:
    """The size of the smallest formula that a search found for each instance."""
    from induction.worlds.texts import display_name, load_json, read_text

    sizes: dict[str, int] = {}
    name = display_name(path)
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            row = load_json(line, name, first_line=number)
            if not isinstance(row, dict) or not isinstance(row.get("instanceId"), str):
                raise InductionError(f"{name}: line {number}: the row has no instanceId")
            size = row.get("astSize")
            if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 1):
                raise InductionError(f"{name}: line {number}: astSize is no size")
            if size is not None:
                sizes[row["instanceId"]] = min(size, sizes.get(row["instanceId"], size))
    return sizes


def _instances(path: str | None, rows: "list[dict[str, Any]]") -> "dict[str, Instance]":
    """The instances by id: of the file given, else of those the rows name, where these can still be read."""
    from induction.cli import output
    from induction.worlds.formats import read_instances

    paths = [path] if path is not None else list(dict.fromkeys(str(row.get("dataset_path") or "") for row in rows))
    found: dict[str, Instance] = {}
    for one in paths:
        if path is None and one in ("", "-"):
            continue
        try:
            found |= {instance.instance_id: instance for instance in read_instances(one)}
        except (InstanceFormatError, MissingFileError):
            if path is not None:
                raise
            output.note(f"{printable(one, 200)}: cannot be read, so its worlds are not drawn; --instances names a file")
    return found
