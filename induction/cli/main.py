"""The `induction` command: its parts, and what becomes of errors.

Command modules import the library inside their functions, so that `--help` loads nothing heavy.
"""

import contextlib
import os
import sys
from typing import Annotated

import typer

from induction import __version__
from induction.cli import (
    INTERRUPTED,
    bench_suite,
    check,
    equivalent,
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
    solve,
    templates,
)
from induction.errors import BudgetExhaustedError, FormulaSyntaxError, InductionError, printable

app = typer.Typer(
    name="induction",
    help="First-order definitions of a concept over small finite relational worlds: check, inspect, find.",
    epilog="Exit codes: 0 yes/valid/done, 1 no/invalid, 2 input at fault, 3 undecided in the budget, 130 interrupted.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("check")(check.command)
app.command("info")(info.command)
app.command("show")(show.command)
app.command("formula")(formula.command)
app.command("equivalent")(equivalent.command)
app.command("generate")(generate.command)
app.command("holdout")(holdout.command)
app.command("prompt")(prompt.command)
app.command("score")(score.command)
app.command("report")(report.command)
app.command("templates")(templates.command)
app.command("mutate")(mutate.command)
app.command("repair")(repair.command)
app.command("frontier")(frontier.command)
app.command("solve")(solve.command)
app.command("searches")(searches.command)
app.command("bench-suite")(bench_suite.command)

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
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  (open as long as the process)
        stream = getattr(sys, name)
        # Output must not fail on a terminal that lacks a symbol, nor on odd text from a file.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _invoke(arguments)
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
    except KeyboardInterrupt:
        return _report("interrupted", code=INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has seen enough; keep the interpreter from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        named = f"{printable(str(error.filename), 200)}: " if error.filename else ""
        return _report(f"{named}{error.strerror or error}")
    except MemoryError:
        return _report("out of memory")


def _invoke(arguments: list[str]) -> int:
    """The command's own exit code. Not by calling `app`, which decides itself what Ctrl-C and closed pipes mean."""
    command = typer.main.get_command(app)
    try:
        with command.make_context("induction", arguments) as context:
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
