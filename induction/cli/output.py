"""What the commands share in writing: tables for people, one JSON object for programs."""

import contextlib
import json
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from induction.cli import leave_at_once
from induction.errors import printable
from induction.interrupts import interrupts_to

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


@contextlib.contextmanager
def journalled(journal: "RowJournal", total: int, noun: str = "rows") -> "Iterator[RowJournal]":
    """The journal, closed at the end. How much of an earlier run is there is told.

    On Ctrl-C how much is kept, where there is a terminal; other readers of standard error get one short line. From
    here on Ctrl-C is an exception, since there is something to clear up.
    """
    heard = False

    def interrupt(_signal: int, _frame: object) -> None:
        nonlocal heard
        heard = True
        raise KeyboardInterrupt

    path = printable(str(journal.path), 200)
    with interrupts_to(interrupt), journal:
        if journal.rows:
            note(f"{len(journal.rows)} of {total} {noun} are there already ({path})")
        try:
            yield journal
        except BaseException as error:
            # A library that is being loaded can make another error of it.
            if not heard and not isinstance(error, KeyboardInterrupt):
                raise
            kept = [f"{len(journal.rows)} of {total} {noun} are kept in {path}, and the same command goes on"]
            raise KeyboardInterrupt(*(kept if journal.rows and sys.stderr.isatty() else [])) from error


@contextlib.contextmanager
def progress_bar(what: str, total: int, done: int = 0) -> "Iterator[Callable[[float], None]]":
    """A bar on standard error while it is a terminal, with the time left; call what it gives with steps done."""
    from rich.console import Console
    from rich.progress import Progress

    screen = Console(stderr=True)
    # Left at once, a terminal would stay without its cursor.
    at_once = signal.getsignal(signal.SIGINT) is leave_at_once
    clearing_up = interrupts_to(signal.default_int_handler) if at_once else contextlib.nullcontext()
    with clearing_up, Progress(console=screen, transient=True, disable=not screen.is_terminal) as progress:
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
