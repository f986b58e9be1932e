"""The `induction` command: its parts, and what becomes of errors.

Command modules import the library inside their functions, so that `--help` loads nothing heavy.
"""

import os
import sys
from typing import Annotated

import typer

from induction import __version__
from induction.cli import check, formula, info
from induction.errors import FormulaSyntaxError, InductionError, printable

app = typer.Typer(
    name="induction",
    help="First-order definitions of a concept over small finite relational worlds: check, inspect, explain.",
    epilog="Exit codes: 0 yes/valid/done, 1 no/invalid, 2 the input is at fault, 3 budget ran out, 130 interrupted.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.command("check")(check.command)
app.command("info")(info.command)
app.command("formula")(formula.command)

_INTERRUPTED = 130

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


def main() -> None:
    """Run the command line of this process and exit with its code."""
    # Nothing here multiplies matrices; starting numpy's thread pool would double the start-up time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line; errors become one line on standard error. Returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        # Output must not fail on a terminal that lacks a symbol, nor on odd text from a file.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(args=arguments, standalone_mode=False, prog_name="induction")
        sys.stdout.flush()
        if code == _INTERRUPTED:  # some versions of Typer turn Ctrl-C into this code, others raise
            return _report("interrupted", code=_INTERRUPTED)
        return code if isinstance(code, int) else 0
    except FormulaSyntaxError as error:
        return _report(f"formula, {error}")
    except InductionError as error:
        return _report(str(error))
    except _CommandLineError as error:
        return _report_usage(error)
    except (typer.Abort, KeyboardInterrupt):
        return _report("interrupted", code=_INTERRUPTED)
    except BrokenPipeError:
        # Whoever read the output has seen enough; keep the interpreter from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        named = f"{printable(str(error.filename), 200)}: " if error.filename else ""
        return _report(f"{named}{error.strerror or error}")
    except MemoryError:
        return _report("out of memory")


def _report_usage(error: Exception) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(getattr(error, "ctx").get_help())  # noqa: B009  (known to the class named, not to the type)
        return 2
    message: str = error.format_message() if hasattr(error, "format_message") else str(error)
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "induction"
    return _report(f"{message.strip().rstrip('.')} (see {path} --help)")


def _report(message: str, code: int = 2) -> int:
    one_line = " ".join(message.split())
    print(f"induction: {one_line}", file=sys.stderr)
    return code
