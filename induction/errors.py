"""The errors users meet: one family, each kind also the built-in error it resembles."""

import os

__all__ = [
    "BudgetExhaustedError",
    "EvaluationLimitError",
    "FormulaSyntaxError",
    "FormulaTooLargeError",
    "InductionError",
    "InstanceFormatError",
    "MissingFileError",
    "MissingLibraryError",
    "OutputError",
    "UnknownNameError",
    "UnsupportedOptionError",
    "UnsupportedRegimeError",
    "UsageError",
    "printable",
]

_LONGEST_EXCERPT = 60


def printable(text: str, longest: int = _LONGEST_EXCERPT) -> str:
    """`text` made safe to show: control characters and lone surrogates escaped, at most `longest` characters.

    Texts come from files and from models; a terminal must not obey them and an encoder must not fail on them.
    """
    shown = text if len(text) <= longest else text[: longest - 1] + "…"
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in shown)


class InductionError(Exception):
    """Whatever goes wrong for a reason the user can act on. The text is one line, without a trailing stop."""


class FormulaSyntaxError(InductionError, ValueError):
    """A text that is no formula of the language.

    `line` and `column` count from 1 and point at `offending`, the text found there; `expected` says what
    could have stood there and `suggestion`, where a near miss was recognised, what to write instead.
    """

    def __init__(
        self,
        problem: str,
        *,
        line: int,
        column: int,
        offending: str,
        expected: str = "",
        suggestion: str = "",
    ) -> None:
        self.problem = problem
        self.line = line
        self.column = column
        self.offending = offending
        self.expected = expected
        self.suggestion = suggestion
        message = f"line {line}, column {column}: {problem}"
        if expected:
            message += f"; expected {expected}"
        if suggestion:
            message += f"; {suggestion}"
        super().__init__(message)


class FormulaTooLargeError(InductionError, ValueError):
    """A formula text, or the result of a transformation, beyond a stated limit."""


class EvaluationLimitError(InductionError, ValueError):
    """Evaluating this formula would need tables beyond the stated limit."""


class BudgetExhaustedError(InductionError, RuntimeError):
    """A budget of work or time ran out without an answer."""


class InstanceFormatError(InductionError, ValueError):
    """An instance file or record that breaks the format.

    `place` names the record, world and field, e.g. `record 2 (simple_001), world train_0, predicates.R.true`.
    """

    def __init__(self, problem: str, *, file: str = "", place: str = "") -> None:
        self.problem = problem
        self.file = file
        self.place = place
        super().__init__(": ".join(part for part in (file, place, problem) if part))

    def within(self, *, file: str = "", place: str = "") -> "InstanceFormatError":
        """The same error seen from further out: `place` is put before the place it already has."""
        places = ", ".join(part for part in (place, self.place) if part)
        return InstanceFormatError(self.problem, file=file or self.file, place=places)


class MissingFileError(InductionError, FileNotFoundError):
    """A file that is not there or cannot be read."""

    def __init__(self, path: str | os.PathLike[str], reason: str) -> None:
        self.path = path
        super().__init__(f"{printable(os.fspath(path), 200)}: {reason}")

    def __str__(self) -> str:
        return str(self.args[0])


class OutputError(InductionError, OSError):
    """A file that cannot be written, named as the user named it."""

    def __init__(self, path: str | os.PathLike[str], reason: str) -> None:
        self.path = path
        super().__init__(f"{printable(os.fspath(path), 200)}: {reason}")

    def __str__(self) -> str:
        return str(self.args[0])


class MissingLibraryError(InductionError, ImportError):
    """A library that what was asked for needs is not installed."""


class UnknownNameError(InductionError, KeyError):
    """An instance, world or object name that does not occur where it was looked for."""

    def __str__(self) -> str:
        return str(self.args[0])


class UnsupportedRegimeError(InductionError, NotImplementedError):
    """A regime that this operation does not decide."""


class UsageError(InductionError, ValueError):
    """Arguments that do not go together."""


class UnsupportedOptionError(UsageError):
    """An option that whoever was asked does not heed, though it decides what an answer is."""
