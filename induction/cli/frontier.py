"""`induction frontier`: rounds of a program's proposals, repaired and simplified, and the best formula of all."""

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping
from typing import IO, Annotated, Any

import typer

from induction.errors import UsageError, printable


def command(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Instance file (YAML, JSON, JSONL, .gz), or -.")],
    instance_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="The instance; needed where the file has several.")
    ] = None,
    proposer: Annotated[
        str | None, typer.Option("--proposer", metavar="CMD", help="The command that proposes formulas.")
    ] = None,
    rounds: Annotated[int, typer.Option("--rounds", min=1, max=1000, help="How many times it is asked.")] = 6,
    time_limit: Annotated[
        str, typer.Option("--time-limit", metavar="TIME", help="Wall time for each answer: 60s, 5m.")
    ] = "60s",
    replay: Annotated[
        str | None,
        typer.Option("--replay", metavar="TRACE", help="Play the proposals recorded in a trace, without a program."),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the trace here, a JSON line a round.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> int:
    """Let a program propose formulas, round by round; repair and simplify them, and keep the best.

    The program is started once and gets one JSON line a round on its standard input: the instance, the best formula so
    far, its verdict and the objects it gets wrong, and what became of the formulas it proposed last. It answers with
    one line {"formulas": ["...", ...]}. When it is late, ends, writes something else or too much, that round has no
    proposals, and it is started again for the next. The best is valid first, then wrong on the fewest objects, then
    smallest. A trace played again (--replay) gives the same bytes. docs/rewriting.md has the messages.

    Exit code: 0 the best formula is valid, 1 it is not or there is none.

    \b
    Examples:
      induction frontier suite.yaml.gz --id simple_001 --proposer 'python proposer.py' -o trace.jsonl
      induction frontier suite.yaml.gz --id simple_001 --proposer ./ask --rounds 3 --time-limit 2m --json
      induction frontier suite.yaml.gz --id simple_001 --replay trace.jsonl -o again.jsonl
    """
    from induction import __version__
    from induction.baselines.frontier.proposers import ProgramProposer
    from induction.baselines.frontier.search import Frontier, FrontierRun, replayed, trace_header
    from induction.cli import inputs, output
    from induction.running.program import Program

    if (proposer is None) == (replay is None):
        raise UsageError("give either --proposer CMD or --replay TRACE")
    inputs.require_one_standard_input(file, replay)
    if out == "-" and as_json:
        raise UsageError("-o - and --json both write to standard output")
    seconds = inputs.seconds(time_limit, "--time-limit")
    instance = inputs.load_instance(file, instance_id)
    run = FrontierRun()
    with contextlib.ExitStack() as stack:
        if replay is not None:
            header, search = replayed(_rows(replay), instance, printable(replay, 200))
        else:
            program = stack.enter_context(Program(proposer or "", time_limit_s=seconds))
            program.start()
            header = trace_header(instance, rounds, proposer or "", __version__)
            search = Frontier(ProgramProposer(program), rounds)
        write = stack.enter_context(_trace(out))
        write(header)
        show = stack.enter_context(output.progress_share("frontier"))
        total = int(header.get("rounds", rounds)) if replay is None else len(_rows(replay)) - 1
        for row in search.play(instance, run, report=lambda phase: show(phase, len(run.rows), total)):
            write(row)
            if not as_json and out != "-":
                _print_round(row)
    if as_json:
        best = run.rows[-1]["best"] if run.rows else None
        output.print_json({"instanceId": instance.instance_id, "best": best, "rounds": run.rows, "written": out})
    elif out != "-":
        _print_best(run.rows[-1]["best"] if run.rows else None)
    return 0 if run.best is not None and run.best.valid else 1


def _rows(path: str) -> list[dict[str, Any]]:
    from induction.errors import InstanceFormatError
    from induction.worlds.texts import display_name, load_json, read_text

    name = display_name(path)
    rows = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            row = load_json(line, name, first_line=number)
            if not isinstance(row, dict):
                raise InstanceFormatError("the row is no object", file=name, place=f"line {number}")
            rows.append(row)
    return rows


@contextlib.contextmanager
def _trace(out: str | None) -> "Iterator[Any]":
    """Gives what writes a row of the trace; each is there as soon as its round is over."""
    from induction.worlds import ledger
    from induction.worlds.writing import naming

    stream: IO[str] | None = None
    if out == "-":
        stream = sys.stdout
    elif out is not None:
        ledger.writing(out)
        with naming(out):
            stream = open(out, "w", encoding="utf-8", newline="\n")  # noqa: SIM115  (closed below)

    def write(row: Mapping[str, Any]) -> None:
        if stream is not None:
            with naming(out or "-") if stream is not sys.stdout else contextlib.nullcontext():
                stream.write(json.dumps(row) + "\n")
                stream.flush()

    try:
        yield write
    finally:
        if stream is not None and stream is not sys.stdout:
            stream.close()


def _print_round(row: Mapping[str, Any]) -> None:
    from induction.cli import output

    if row["failure"]:
        said = f"{row['failure']}: {row['detail']}"
    else:
        formulas = sum("formula" in read for read in row["read"])
        said = output.plural(len(row["proposed"]), "text")
        if formulas != len(row["proposed"]):
            said += f", {output.plural(formulas, 'formula')} among them"
        if row["repairs"]:
            found = sum(bool(repaired["answers"]) for repaired in row["repairs"])
            said += f", {found} of {len(row['repairs'])} repaired"
    if row["improved"]:
        best = row["best"]
        state = "valid" if best["valid"] else output.plural(best["mismatches"], "mismatch", "mismatches")
        said += f"; new best ({row['improvedBy']['by']}): {state}, AST {best['astSize']}"
    output.print_indented(0, f"round {row['round']}: {said}")


def _print_best(best: Mapping[str, Any] | None) -> None:
    from induction.cli import output

    if best is None:
        print("no formula was proposed")
        return
    state = "VALID" if best["valid"] else f"NOT VALID, {output.plural(best['mismatches'], 'mismatch', 'mismatches')}"
    print(f"best: {state}, AST {best['astSize']}")
    output.print_indented(1, best["formula"])
