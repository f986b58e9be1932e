"""`induction searches`: what `solve --search` can take."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from induction.search import About


def command(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Only this search, with its schedule.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """List the searches: what each does, which formulas it can express, and what it proves of its answers.

    Every answer of every search is re-checked by the naive evaluator. A search that works through a fixed schedule
    shows it when it is named. Options of solve that a search does not heed bound nothing; --noise and --no-equality,
    which decide what an answer is, are refused. Searches of other packages join in through the entry point group
    induction.searches.

    \b
    Examples:
      induction searches
      induction searches portfolio
      induction searches --json
    """
    from induction.cli import output
    from induction.search import find_search, search_names

    found = {one: find_search(one).about for one in ([name] if name is not None else search_names())}
    if as_json:
        output.print_json({"searches": {one: _as_json(about) for one, about in found.items()}})
        return 0
    for one, about in found.items():
        missing = f" (not installed: needs {about.why_not_installed})" if about.missing else ""
        output.print_indented(0, f"{one}: {about.summary}{missing}")
        output.print_indented(1, f"expresses: {about.expresses}")
        output.print_indented(1, f"proves: {about.proves}")
        output.print_indented(1, f"heeds: {', '.join('--' + option.replace('_', '-') for option in about.heeds)}")
        if about.schedule and name is not None:
            output.print_indented(1, "schedule:")
            for number, step in enumerate(about.schedule, start=1):
                output.print_indented(2, f"{number}. {step}")
    return 0


def _as_json(about: "About") -> dict[str, Any]:
    from dataclasses import asdict

    return asdict(about) | {"installed": not about.missing}


def warn_of_faults(rows: "Sequence[Mapping[str, Any]]") -> bool:
    """Say on standard error which runs ended by a fault of the search, the reason of the first; whether any did."""
    from induction.cli import output
    from induction.errors import printable

    at_fault = [row for row in rows if row.get("fault")]
    if at_fault:
        first = at_fault[0]
        runs = output.plural(len(at_fault), "run")
        named = f"{printable(first['search'])} on {printable(first['instanceId'])}"
        output.note(f"warning: {runs} ended by a fault of the search; {named}: {printable(first['fault'], 300)}")
    return bool(at_fault)
