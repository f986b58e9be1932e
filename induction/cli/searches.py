"""`induction searches`: what `solve --search` can take."""

from typing import Annotated

import typer


def command(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False) -> int:
    """List the searches that are installed.

    \b
    Examples:
      induction searches --json
    """
    from induction.cli import output
    from induction.search import load_search, search_names

    described = {}
    for name in search_names():
        text = type(load_search(name)).__doc__ or ""
        described[name] = text.strip().split("\n", 1)[0]
    if as_json:
        output.print_json({"searches": described})
    else:
        output.print_fields(list(described.items()))
    return 0
