"""The formula in a model's answer: found, where need be repaired, and told how.

The asked-for answer is one line of JSON, `{"formula": "...", "description": "..."}`. What comes is that, or that in a
code fence or in prose, a bare formula, several, one with a parenthesis missing or left over, nothing, or a refusal.
Answers are only ever read as text.
"""

import enum
import functools
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any, TypeAlias

import lark
from lark.lexer import Token

from induction.errors import FormulaSyntaxError, FormulaTooLargeError
from induction.formula.metrics import free_variables
from induction.formula.parsing import parse_formula
from induction.formula.syntax import DEFAULT_SIGNATURE, FREE_VARIABLE, KEYWORDS, Formula, Signature

MAX_ANSWER_CHARACTERS = 1_000_000
"""Longest answer that is looked into."""

_MOST_CANDIDATES = 100  # parsed, from the last one backwards, when looking for a formula in prose
_MOST_JSON_ATTEMPTS = 200
_JSON = json.JSONDecoder(strict=False)  # answers hold line breaks inside strings
_FENCE = re.compile(r"```[^\n`]*\n?(.*?)```", re.DOTALL)
_BROKEN_JSON_FORMULA = re.compile(r"""["']formula["']\s*:\s*["'](?P<text>(?:[^"'\\]|\\.)*)""", re.DOTALL)
_NULL_JSON_FORMULA = re.compile(r"""["']formula["']\s*:\s*(null|None)""")


class AnswerStatus(enum.StrEnum):
    """What an answer holds."""

    FORMULA = "formula"
    """A formula with x free; whether it had to be repaired is told beside."""
    NOT_A_DEFINITION = "not a definition"
    """A formula of the language whose free variables are not exactly x."""
    UNPARSABLE = "unparsable"
    """A text meant as a formula that is none."""
    NULL = "null"
    """No answer at all, or JSON with a null formula."""
    EMPTY = "empty"
    """A blank answer, or JSON with a blank formula."""
    NO_FORMULA = "no formula"
    """Words without a formula among them, such as a refusal."""


@dataclass(frozen=True)
class Answer:
    """What was found in a model's answer.

    `text` is the formula text as the model wrote it, `found` where it stood ("whole text", "JSON", "broken JSON",
    "code fence", "prose" or ""). `repairs` names each change made to it before it parsed, in order:
    `dropped_prefix`, `balanced_prefix`, `remove_trailing_close_paren:n`, `append_missing_close_paren:n`,
    `unary_connective:n`. `candidates` counts the different texts that could have been meant. `formula` is there for
    the statuses FORMULA and NOT_A_DEFINITION; for all but FORMULA `problem` says what is wrong.
    """

    status: AnswerStatus
    formula: Formula | None = None
    text: str | None = None
    found: str = ""
    repairs: tuple[str, ...] = ()
    candidates: int = 0
    problem: str = ""

    @property
    def is_strict(self) -> bool:
        """Whether the formula came in an asked-for form and needed no repair."""
        return self.status is AnswerStatus.FORMULA and not self.repairs and self.found in ("whole text", "JSON")


def read_answer(answer: str | None, signature: Signature = DEFAULT_SIGNATURE) -> Answer:
    """The formula in a model's answer. Never raises for any text."""
    if answer is None:
        return Answer(AnswerStatus.NULL, problem="there is no answer")
    if not answer.strip():
        return Answer(AnswerStatus.EMPTY, problem="the answer is empty")
    if len(answer) > MAX_ANSWER_CHARACTERS:
        problem = f"the answer has {len(answer):,} characters; the limit is {MAX_ANSWER_CHARACTERS:,}"
        return Answer(AnswerStatus.UNPARSABLE, problem=problem)
    return (
        _from_json(answer, signature)
        or _from_bare_formula(answer, signature)
        or _from_prose(answer, signature)
        or Answer(AnswerStatus.NO_FORMULA, problem="no formula was found in the answer")
    )


def _from_json(answer: str, signature: Signature) -> Answer | None:
    values = [fields["formula"] for fields in _json_objects(answer) if "formula" in fields]
    found = "JSON"
    if not values:
        found = "broken JSON"
        values = [_unescaped(match["text"]) for match in _BROKEN_JSON_FORMULA.finditer(answer)]
        if not values and _NULL_JSON_FORMULA.search(answer):
            values = [None]
    if not values:
        return None
    texts = [value for value in values if isinstance(value, str) and value.strip()]
    if not texts:
        if any(isinstance(value, str) for value in values):
            return Answer(AnswerStatus.EMPTY, found=found, problem="the formula is empty")
        if values[-1] is None:
            return Answer(AnswerStatus.NULL, found=found, problem="the formula is null")
        return Answer(AnswerStatus.UNPARSABLE, found=found, problem="the formula is not text")
    # Models correct themselves: the last word counts.
    result = _read_formula(texts[-1], signature)
    return replace(result, found=found, candidates=len(set(texts)))


def _json_objects(text: str) -> Iterator[dict[str, Any]]:
    position = 0
    for _ in range(_MOST_JSON_ATTEMPTS):
        position = text.find("{", position)
        if position < 0:
            return
        try:
            value, position = _JSON.raw_decode(text, position)
        except (ValueError, RecursionError):
            position += 1
        else:
            yield value


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text, flags=re.DOTALL)


def _from_bare_formula(answer: str, signature: Signature) -> Answer | None:
    if not answer.lstrip().startswith("("):
        return None
    if any(isinstance(item, Token) and item.type == "WORD" for item in _expressions(answer)):
        return None  # prose that begins with a parenthesis
    # Of several formulas without a word between them the first is read, as the release's "balanced prefix" does.
    different = {answer[one.start : one.end] for one in _candidates(answer, signature)}
    return replace(_read_formula(answer, signature), found="whole text", candidates=max(1, len(different)))


def _from_prose(answer: str, signature: Signature) -> Answer | None:
    second_best: Answer | None = None
    for found, passages in (("code fence", [match[1] for match in _FENCE.finditer(answer)]), ("prose", [answer])):
        texts = [
            passage[expression.start : expression.end]
            for passage in passages
            for expression in _candidates(passage, signature)
        ]
        different = len(set(texts))
        for text in texts[: -_MOST_CANDIDATES - 1 : -1]:
            result = replace(_read_formula(text, signature), found=found, candidates=different)
            if result.status is AnswerStatus.FORMULA:
                return result
            second_best = second_best or result
    return second_best


def _read_formula(text: str, signature: Signature) -> Answer:
    """The formula that `text`, meant as one, holds; repaired where that is enough, else with the strict error."""
    repairs: list[str] = []
    try:
        formula = parse_formula(text, signature, free=None)
    except FormulaTooLargeError as error:
        return Answer(AnswerStatus.UNPARSABLE, text=text, problem=str(error))
    except FormulaSyntaxError as strict_error:
        expression = _outermost(text, signature, repairs)
        try:
            if expression is None:
                raise strict_error
            formula = parse_formula(_without_unary_connectives(expression, repairs), signature, free=None)
        except (FormulaSyntaxError, FormulaTooLargeError):
            return Answer(AnswerStatus.UNPARSABLE, text=text, problem=str(strict_error))
    answer = Answer(AnswerStatus.FORMULA, formula, text, repairs=tuple(repairs))
    free = free_variables(formula)
    if free == {FREE_VARIABLE}:
        return answer
    stray = ", ".join(sorted(free - {FREE_VARIABLE}))
    problem = f"not only {FREE_VARIABLE} is free, but {stray}" if stray else f"{FREE_VARIABLE} does not occur free"
    return replace(answer, status=AnswerStatus.NOT_A_DEFINITION, problem=problem)


def _outermost(text: str, signature: Signature, repairs: list[str]) -> "_Expression | None":
    """The first expression of `text` that looks like a formula; what is dropped or added goes into `repairs`."""
    tree = _expressions(text)
    first = next(_formula_like(tree, signature), None)
    if first is None:
        return None
    if text[: first.start].strip():
        repairs.append("dropped_prefix")
    rest = text[first.end :].strip()
    if first.missing:
        repairs.append(f"append_missing_close_paren:{first.missing}")
    elif rest and not rest.replace(")", "").strip():
        repairs.append(f"remove_trailing_close_paren:{rest.count(')')}")
    elif rest:
        repairs.append("balanced_prefix")
    return first


def _without_unary_connectives(expression: "_Expression", repairs: list[str]) -> str:
    """The text of `expression`, closed, with `(and f)` and `(or f)` replaced by f."""
    pieces: list[str] = []
    dropped = 0
    pending: list[_Item | str] = [expression]
    while pending:
        item = pending.pop()
        if not isinstance(item, _Expression):
            pieces.append(str(item))
            continue
        if len(item.items) == 2 and item.head in ("and", "or") and isinstance(item.items[1], _Expression):
            dropped += 1
            pending.append(item.items[1])
            continue
        pieces.append("(")
        pending.append(")")
        pending.extend(reversed(item.items))
    if dropped:
        repairs.append(f"unary_connective:{dropped}")
    return " ".join(pieces)


@dataclass(frozen=True, eq=False)
class _Expression:
    """A parenthesis with what it holds; `text[start:end]` is its source. `missing` counts closing ones it lacks."""

    items: "Sequence[_Item]"
    start: int
    end: int
    missing: int

    @property
    def head(self) -> str:
        """Its first word; "" if it begins with another parenthesis or is empty."""
        return str(self.items[0]) if self.items and isinstance(self.items[0], Token) else ""


_Item: TypeAlias = "Token | _Expression"


@lark.v_args(inline=True)
class _Builder(lark.Transformer[Token, Any]):
    def start(self, *items: _Item) -> list[_Item]:
        return list(items)

    def expression(self, opening: Token, *rest: Any) -> _Expression:
        *items, closing = rest
        return _Expression(items, opening.start_pos or 0, closing.end_pos, 0)

    def unclosed(self, opening: Token, *items: Any) -> _Expression:
        inner = items[-1] if items else None
        missing = 1 + (inner.missing if isinstance(inner, _Expression) else 0)
        end = inner.end if isinstance(inner, _Expression) else (inner or opening).end_pos or 0
        return _Expression(items, opening.start_pos or 0, end, missing)


@functools.lru_cache(maxsize=1)
def _answer_parser() -> lark.Lark:
    grammar = resources.files("induction.grammars").joinpath("answer.lark").read_text(encoding="utf-8")
    return lark.Lark(grammar, parser="lalr", lexer="basic", transformer=_Builder(), maybe_placeholders=False)


def _expressions(text: str) -> list[_Item]:
    tree: Any = _answer_parser().parse(text)
    items: list[_Item] = tree
    return items


def _looks_like_formula(expression: _Expression, signature: Signature) -> bool:
    return expression.head in (*KEYWORDS, "=") or expression.head in signature


def _formula_like(items: Sequence[_Item], signature: Signature) -> Iterator[_Expression]:
    """The outermost expressions, in order, that begin as a formula does."""
    pending = list(reversed(items))
    while pending:
        item = pending.pop()
        if isinstance(item, _Expression):
            if _looks_like_formula(item, signature):
                yield item
            else:
                pending.extend(reversed(item.items))


def _candidates(text: str, signature: Signature) -> list[_Expression]:
    """The expressions of a prose text that may be formulas, in order."""
    return list(_formula_like(_expressions(text), signature))
