"""The `induction` command: its parts, and what becomes of errors.

Command modules import the library inside their functions, so that `--help` loads nothing heavy.
"""

import contextlib
import sys
from typing import Annotated, Any

import typer

from induction import __version__
from induction.cli import (
    CLOSED,
    INTERRUPTED,
    bench_suite,
    check,
    equivalent,
    explain,
    formula,
    frontier,
    generate,
    holdout,
    info,
    mutate,
    prompt,
    repair,
    report,
    score,
    searches,
    show,
    simplify,
    solve,
    streams,
    templates,
)
from induction.cli.commands import Command, Commands
from induction.errors import BudgetExhaustedError, FormulaSyntaxError, InductionError, printable

app = typer.Typer(
    name="induction",
    help="First-order definitions of a concept over small finite relational worlds: check, inspect, find.",
    epilog="Exit codes: 0 yes/valid/done, 1 no/invalid, 2 input at fault, 3 undecided in the budget, 130 interrupted, "
    "141 standard output closed.",
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

# What each is for, in a line that fits beside the longest name; in this order they are listed.
_COMMANDS: dict[str, list[tuple[str, Any, str]]] = {
    "Look and check": [
        ("check", check, "whether a formula explains worlds, and where it does not"),
        ("info", info, "what an instance file holds"),
        ("show", show, "the worlds of an instance, as text or as a picture"),
        ("formula", formula, "what a formula is, and the same in other forms"),
    ],
    "Search": [
        ("solve", solve, "find the smallest formulas that explain each instance"),
        ("searches", searches, "what --search can take, and what each search proves"),
        ("bench-suite", bench_suite, "compare searches on a whole file, under hard limits"),
    ],
    "Compare and rewrite": [
        ("equivalent", equivalent, "whether two formulas mean the same, or a world that shows not"),
        ("simplify", simplify, "the same formula in fewer nodes, every step proven"),
        ("explain", explain, "a formula in plain English, and why it holds or fails"),
        ("repair", repair, "the nearest formulas that explain an instance"),
        ("frontier", frontier, "a program's proposals, repaired and simplified in rounds"),
        ("mutate", mutate, "the near misses of a formula"),
    ],
    "Make instances": [
        ("generate", generate, "instances with planted golds whose worlds refute shortcuts"),
        ("templates", templates, "what golds are made from"),
        ("holdout", holdout, "fresh worlds for the instances of a file"),
    ],
    "Ask and score models": [
        ("prompt", prompt, "what to ask a model about each instance"),
        ("score", score, "evaluate a model's predictions, row by row"),
        ("report", report, "tables, plots and a page of evaluation rows"),
    ],
}
for _purpose, _members in _COMMANDS.items():
    for _name, _module, _line in _members:
        app.command(_name, cls=Command, short_help=_line, rich_help_panel=_purpose)(_module.command)

# Typer raises its usage errors through classes that have moved between its versions; their base is the common one.
_CommandLineError: type[Exception] = next(
    base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"induction {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    """Take the options before the command; all of them act on their own."""


def run(arguments: list[str]) -> int:
    """Run one command line; errors become one line on standard error. Returns the exit code."""
    with streams.guarded() as guarded:
        try:
            code = _run(arguments, guarded)
        except BrokenPipeError:  # whoever read the output has seen enough
            return CLOSED
        # Whatever became of the exception: what was not written cannot have been read as a yes or no.
        return CLOSED if guarded.output_is_lost and code in (0, 1, 3) else code


def _run(arguments: list[str], guarded: streams.Streams) -> int:
    try:
        code = _invoke(arguments, guarded)
        sys.stdout.flush()
        return code
    except FormulaSyntaxError as error:
        return _report(f"formula, {error}")
    except BudgetExhaustedError as error:
        return _report(str(error), code=3)
    except InductionError as error:
        return _report(str(error))
    except _CommandLineError as error:
        return _report_usage(error)
    except KeyboardInterrupt as interrupt:
        return _report("; ".join(["interrupted", *map(str, interrupt.args)]), code=INTERRUPTED)
    except BrokenPipeError:
        raise
    except OSError as error:
        named = f"{printable(str(error.filename), 200)}: " if error.filename else ""
        return _report(f"{named}{error.strerror or error}")
    except MemoryError:
        return _report("out of memory")


def _invoke(arguments: list[str], guarded: streams.Streams) -> int:
    """The command's own exit code. Not by calling `app`, which decides itself what Ctrl-C and closed pipes mean."""
    command = typer.main.get_command(app)
    try:
        with command.make_context("induction", arguments, obj=guarded) as context:
            code = command.invoke(context)
    except typer.Exit as stop:
        code = stop.exit_code
    return code if isinstance(code, int) else 0


def _report_usage(error: Exception) -> int:
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError" and context is not None:
        typer.echo(context.get_help())
        return 2
    message: str = error.format_message() if hasattr(error, "format_message") else str(error)
    path = context.command_path if context is not None else "induction"
    return _report(f"{message.strip().rstrip('.')} (see {path} --help)")


def _report(message: str, code: int = 2) -> int:
    with contextlib.suppress(OSError):
        print(f"induction: {' '.join(message.split())}", file=sys.stderr, flush=True)
    return code
