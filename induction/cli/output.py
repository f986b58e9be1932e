"""What the commands share in writing: tables for people, one JSON object for programs."""

import contextlib
import json
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from induction.errors import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from induction.running.rows import RowJournal

_PLAIN_WIDTH = 80
_LONGEST_UNBROKEN = 24
_DEEPEST_MARGIN = 10


def console() -> "Console":
    """A console on standard output that takes texts literally; 80 columns wide where it is no terminal."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else _PLAIN_WIDTH
    return Console(width=width, markup=False, highlight=False, emoji=False)


def _print_unpadded(table: "Table") -> None:
    """Print a table without the blanks that fill its lines."""
    screen = console()
    with screen.capture() as captured:
        screen.print(table)
    print("\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n")))


def print_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    numeric: Sequence[str] = (),
    unbroken: Sequence[str] = (),
) -> None:
    """A table without rules; `numeric` columns are flush right, and short ones there and in `unbroken` never wrap."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="bold")
    texts = [[printable(str(cell), 10_000) for cell in row] for row in rows]
    for i, heading in enumerate(headings):
        right = heading in numeric
        # Long names must wrap after all: a table too wide for the screen would lose its last columns.
        short = max((len(row[i]) for row in texts), default=0) <= _LONGEST_UNBROKEN
        whole = short and (right or heading in unbroken)
        table.add_column(heading, justify="right" if right else "left", no_wrap=whole, overflow="fold")
    for row in texts:
        table.add_row(*row)
    _print_unpadded(table)


def print_fields(fields: Sequence[tuple[str, object]]) -> None:
    """Names and values, one a line, long values wrapped beside their name."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in fields:
        table.add_row(name, "\n".join(printable(line, len(line)) for line in str(value).split("\n")))
    _print_unpadded(table)


def print_indented(level: int, text: str) -> None:
    """A line two columns in for each level, wrapped and then indented further where it is too long."""
    margin = "  " * min(level, _DEEPEST_MARGIN)
    wrapped = textwrap.wrap(
        printable(text, 10_000), _PLAIN_WIDTH, initial_indent=margin, subsequent_indent=margin + "    "
    )
    print("\n".join(wrapped))


def print_json(value: Any) -> None:
    """One JSON object on standard output."""
    print(json.dumps(value, indent=2))


def note(message: str) -> None:
    """A line on standard error."""
    print(f"induction: {message}", file=sys.stderr)


def write_rows(path: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows as JSON lines, the whole file at once."""
    from induction.worlds.formats import write_whole

    write_whole(path, "".join(json.dumps(row) + "\n" for row in rows).encode())


def note_rows_kept(journal: "RowJournal", total: int, noun: str = "rows") -> None:
    """Say how many rows of an interrupted run are there already, if any."""
    if journal.rows:
        note(f"{len(journal.rows)} of {total} {noun} are there already ({printable(str(journal.path), 200)})")


def note_rows_remain(journal: "RowJournal", total: int, noun: str = "rows") -> None:
    """Say on an interrupt how many rows are kept, if any."""
    if journal.rows:
        path = printable(str(journal.path), 200)
        note(f"{len(journal.rows)} of {total} {noun} are kept in {path}; the same command goes on")


@contextlib.contextmanager
def progress_bar(what: str, total: int, done: int = 0) -> "Iterator[Callable[[int], None]]":
    """A bar on standard error while it is a terminal, with the time left; call what it gives with steps done."""
    from rich.console import Console
    from rich.progress import Progress

    screen = Console(stderr=True)
    with Progress(console=screen, transient=True, disable=not screen.is_terminal) as progress:
        bar = progress.add_task(what, total=total, completed=done)
        yield lambda steps: progress.advance(bar, steps)


@contextlib.contextmanager
def progress_share(what: str) -> "Iterator[Callable[[str, int, int], None]]":
    """A bar on standard error while it is a terminal; call what it gives with a phase, steps done and all steps."""
    from rich.console import Console
    from rich.progress import Progress

    screen = Console(stderr=True)
    with Progress(console=screen, transient=True, disable=not screen.is_terminal) as progress:
        bar = progress.add_task(what, total=None)
        yield lambda phase, done, steps: progress.update(
            bar, description=f"{what}: {phase}", completed=done, total=steps
        )


def plural(number: int, noun: str, several: str = "") -> str:
    """`number` and `noun`; unless the number is one, the noun with an s, or `several`."""
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"


def percent(share: float) -> str:
    """A share between 0 and 1 as a whole percentage."""
    return f"{100 * share:.0f} %"


def span(values: Sequence[int]) -> str:
    """The range of `values` as `7-9`, or `7` if they are alike."""
    return str(min(values)) if min(values) == max(values) else f"{min(values)}-{max(values)}"
