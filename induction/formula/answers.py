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

from induction.errors import FormulaSyntaxError, FormulaTooLargeError, printable
from induction.formula.metrics import free_variables
from induction.formula.parsing import near_keyword, parse_formula
from induction.formula.syntax import DEFAULT_SIGNATURE, FREE_VARIABLE, KEYWORDS, Formula, Signature

MAX_ANSWER_CHARACTERS = 1_000_000
"""Longest answer that is looked into."""

_MOST_CANDIDATES = 100  # parsed, from the last one backwards, when looking for a formula in prose
_MOST_OBJECTS_AROUND = 5  # objects tried around a field, from the innermost
_JSON = json.JSONDecoder(strict=False)  # answers hold line breaks inside strings
_FENCE = re.compile(r"```[^\n`]*\n?(.*?)```", re.DOTALL)
_JSON_FIELD = re.compile(r"""["']formula["']\s*:\s*""")
_QUOTED = re.compile(r"""["'](?P<text>(?:[^"'\\]|\\.)*)""", re.DOTALL)
_ANNOUNCED = re.compile(r"(?i)\b(final|answer|formula|hypothesis|conclusion|definition|phi|T\(x\))|φ")


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
    `dropped_prefix` (words before it, such as `phi(x) =`), `doubled_parenthesis:n`, `balanced_prefix` (what follows a
    balanced formula is dropped), `remove_trailing_close_paren:n`, `append_missing_close_paren:n`,
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
    """The formula of the last JSON "formula" field that holds one; of none, what the last field is instead."""
    results: list[Answer] = []
    fields = list(_JSON_FIELD.finditer(answer))[-_MOST_CANDIDATES:]
    texts = set()
    for field in fields:
        text, found = _field_value(answer, field)
        texts.add(text)
        if text is None:
            results.append(Answer(AnswerStatus.NULL, found=found, problem="the formula is null"))
        elif not text.strip():
            results.append(Answer(AnswerStatus.EMPTY, found=found, problem="the formula is empty"))
        else:
            results.append(replace(_read_formula(text, signature), found=found))
    if not results:
        return None
    # Models correct themselves, so the last counts; but placeholders such as "..." are no correction.
    for preferred in (AnswerStatus.FORMULA, AnswerStatus.NOT_A_DEFINITION, AnswerStatus.UNPARSABLE):
        for result in reversed(results):
            if result.status is preferred:
                return replace(result, candidates=len(texts - {None}))
    return results[-1]


def _field_value(answer: str, field: re.Match[str]) -> tuple[str | None, str]:
    """The value of a "formula" field as text (None for null), and whether it stands in whole or in broken JSON."""
    opening = answer.rfind("{", 0, field.start())
    for _ in range(_MOST_OBJECTS_AROUND):
        if opening < 0:
            break
        try:
            value, end = _JSON.raw_decode(answer, opening)
        except (ValueError, RecursionError):
            break
        if end > field.end() and isinstance(value, dict) and "formula" in value:
            inner = value["formula"]
            return (inner if inner is None or isinstance(inner, str) else json.dumps(inner)), "JSON"
        opening = answer.rfind("{", 0, opening)
    rest = answer[field.end() :]
    if rest.startswith('"'):
        try:
            value, _ = _JSON.raw_decode(rest)
            return str(value), "broken JSON"
        except ValueError:
            pass
    quoted = _QUOTED.match(rest)
    if quoted:
        return _unescaped(quoted["text"]), "broken JSON"
    return (None if re.match(r"null|None", rest) else rest[:100]), "broken JSON"


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
            (_prominence(passage, expression), passage[expression.start : expression.end])
            for passage in passages
            for expression in _candidates(passage, signature)
        ]
        different = len({text for _, text in texts})
        # The most prominent one, and of several the last.
        for _, text in sorted(texts, key=lambda pair: pair[0])[: -_MOST_CANDIDATES - 1 : -1]:
            result = replace(_read_formula(text, signature), found=found, candidates=different)
            if result.status is AnswerStatus.FORMULA:
                return result
            second_best = second_best or result
    return second_best


def _prominence(text: str, expression: "_Expression") -> int:
    """2 for a formula on a line of its own, 1 on a line that announces it, 0 within other words."""
    before = text[text.rfind("\n", 0, expression.start) + 1 : expression.start]
    end = text.find("\n", expression.end)
    after = text[expression.end : end if end >= 0 else len(text)]
    if not (before + after).strip(" \t`*$.:;>-"):
        return 2
    return 1 if _ANNOUNCED.search(before) else 0


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
    stray = printable(", ".join(sorted(free - {FREE_VARIABLE})))
    problem = f"not only {FREE_VARIABLE} is free, but {stray}" if stray else f"{FREE_VARIABLE} does not occur free"
    return replace(answer, status=AnswerStatus.NOT_A_DEFINITION, problem=problem)


def _outermost(text: str, signature: Signature, repairs: list[str]) -> "_Expression | None":
    """The first expression of `text` that looks like a formula; what is dropped or added goes into `repairs`.

    None if there is none, or if what stands before it could change its meaning.
    """
    first = next(_formula_like(_expressions(text), signature), None)
    if first is None:
        return None
    before = text[: first.start].rstrip()
    doubled = 0
    while before.endswith("("):
        before, doubled = before[:-1].rstrip(), doubled + 1
    if before:
        repairs.append("dropped_prefix")
    if doubled:
        repairs.append(f"doubled_parenthesis:{doubled}")
    rest = text[first.end :].strip()
    for _ in range(doubled):
        rest = rest.removeprefix(")").strip()
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
    """Whether an expression begins as a formula does, or as one with a wrong operator: `(Not (P x))`, `(if A B)`."""
    head = expression.head
    if head in (*KEYWORDS, "=") or head in signature:
        return True
    operands = expression.items[1:]
    only_operands = bool(operands) and all(isinstance(item, _Expression) for item in operands)
    return (
        bool(head)
        and (bool(near_keyword(head)) or only_operands)
        and any(isinstance(item, _Expression) for item in operands)
    )


def _formula_like(items: Sequence[_Item], signature: Signature) -> Iterator[_Expression]:
    """The outermost expressions, in order, that begin as a formula does; none that a word before it would change.

    NOTE(operators): `not (P x)`, `¬(P x)` and `exists y (R x y)` are formulas in another notation. Taking the part
    in parentheses alone would score a formula that nobody wrote.
    """
    pending: list[tuple[_Item, tuple[str, str]]] = []

    def push(several: Sequence[_Item]) -> None:
        words = ["", ""]
        annotated = []
        for item in several:
            annotated.append((item, (words[-2], words[-1])))
            words.append("" if isinstance(item, _Expression) else str(item))
        pending.extend(reversed(annotated))

    push(items)
    while pending:
        item, (second_last, last) = pending.pop()
        if not isinstance(item, _Expression):
            continue
        if _changes_meaning(second_last, last):
            continue
        if _looks_like_formula(item, signature):
            yield item
        elif all(isinstance(inner, _Expression) for inner in item.items) and len(item.items) > 1:
            continue  # ((P x) (Q x)): joined somehow, and not by anything we know
        else:
            push(item.items)


def _changes_meaning(second_last: str, last: str) -> bool:
    """Whether these words, directly before an expression, are an operator on it: a negation or a quantifier."""
    if not last:
        return False
    if near_keyword(last) == "not" or last[-1] in "¬~!":
        return True
    quantifiers = ("forall", "exists")
    return near_keyword(second_last) in quantifiers or near_keyword(last) in quantifiers or last[0] in "∀∃"


def _candidates(text: str, signature: Signature) -> list[_Expression]:
    """The expressions of a prose text that may be formulas, in order."""
    return list(_formula_like(_expressions(text), signature))
