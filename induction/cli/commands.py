"""How commands are listed, and what each does before its work: name the files it will write."""

import textwrap
from collections.abc import Iterator
from typing import Any

from typer.core import TyperCommand, TyperGroup

OUTPUT_FILES = ("--output", "--html", "--markdown")
"""The options that name a file to write, whatever the command."""
OUTPUT_FOLDERS = ("--latex", "--csv", "--plots")
"""The options that name a folder to write into, whatever the command."""


_HELP_WIDTH = 78  # of 80, since help is shown two columns in


class Command(TyperCommand):
    """A command whose outputs are known, and found to be writable, before anything is read.

    Examples in its help that are too wide for 80 columns are broken as a shell would take them.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.help = "\n".join(map(_broken, (self.help or "").split("\n")))

    def invoke(self, ctx: Any) -> Any:
        """Run the command. Raises InductionError: an output cannot be written, or is also read."""
        from induction.worlds import ledger

        with ledger.keeping_ledger():
            if self._name_outputs(ctx.params):
                ctx.find_root().obj.go_on_without_output()
            return super().invoke(ctx)

    def _name_outputs(self, values: dict[str, Any]) -> bool:
        """Whether there are outputs other than standard output."""
        from induction.errors import printable
        from induction.worlds import ledger, writing

        ledger.stands_on(1, "standard output")
        given = False
        for option, path in self._given(values, OUTPUT_FILES):
            if path != writing.STANDARD_OUTPUT:
                writing.require_writable(path)
                ledger.will_write(path, f"{option} {printable(path, 200)}")
                given = True
        for option, path in self._given(values, OUTPUT_FOLDERS):
            writing.require_folder(path)
            ledger.will_write_into(path, f"{option} {printable(path, 200)}")
            given = True
        return given

    def _given(self, values: dict[str, Any], options: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        for parameter in self.params:
            for option in options:
                value = values.get(parameter.name or "")
                if option in parameter.opts and value is not None:
                    yield option, value


class Commands(TyperGroup):
    """Commands listed by what they are for, each with one whole line."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the lists."""
        width = max(map(len, self.commands), default=0)
        by_purpose: dict[str, list[str]] = {}
        for name, command in self.commands.items():
            if not command.hidden:
                purpose = getattr(command, "rich_help_panel", None)
                line = textwrap.shorten(command.short_help or command.help or "", 200, placeholder="")
                by_purpose.setdefault(purpose or "Other", []).append(f"{name:<{width}}  {line}")
        for purpose, lines in by_purpose.items():
            with formatter.section(purpose):
                for line in lines:
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


def _broken(line: str) -> str:
    """An example's line, on several with a backslash at their ends where it is too wide."""
    if not line.startswith("  induction "):
        return line
    parts = []
    while len(line) > _HELP_WIDTH:
        begun = len(line) - len(line.lstrip())
        outside = [i for i, sign in enumerate(line) if i > begun and sign == " " and not line.count("'", 0, i) % 2]
        room = [i for i in outside if i <= _HELP_WIDTH - len(" \\")]
        if not room:
            break
        at = room[-1]
        if len(room) > 1 and line[room[-2] + 1] == "-":  # an option stays with its value
            at = room[-2]
        parts.append(line[:at] + " \\")
        line = "      " + line[at:].lstrip()
    return "\n".join([*parts, line])
