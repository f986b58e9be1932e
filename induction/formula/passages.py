"""A text laid out for reading: markup out of the way, parentheses matched, what looks like a formula found.

Everything here takes time linear in the text, whatever it holds: texts come from models, which at times repeat
themselves until they are stopped.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from induction.formula.parsing import near_keyword
from induction.formula.syntax import KEYWORDS, Signature
from induction.formula.wording import is_operator

_FORMATTING = (
    "text(?:bf|it|rm|tt|sf|normal)?|math(?:rm|bf|it|tt|sf|bb|cal|ord|op|bin)?|operatorname|emph|boxed|fbox|underline|"
    "left|right|[bB]igg?[lrm]?|displaystyle|textstyle|qquad|quad|begin|end|label|tag|hspace|phantom|ensuremath"
)
_INFO_WORDS = (
    "json|jsonc|lisp|elisp|scheme|clojure|racket|text|txt|plain|plaintext|fol|logic|math|latex|tex|prolog|smt|smt2|"
    "smtlib|sexp|sexpr|s-expression|python|py|yaml|yml|xml|html|markdown|md|haskell|js|javascript|bash|sh|formula|"
    "answer|output"
)
_MARKUP = re.compile(
    rf"""
    (?P<fence>```+|~~~+)(?:[ \t]*(?:{_INFO_WORDS})[ \t]*(?=\n))?
    | (?P<strike>~~)
    | (?P<special><\|[^|<>\n]{{1,40}}\|>)
    | (?P<display>\$\$|\\[\[\]])
    | (?P<entity>&(?:[A-Za-z]{{2,30}}|\#[0-9]{{1,7}}|\#[xX][0-9A-Fa-f]{{1,6}});)
    | (?P<tag></?[ ]?(?P<name>[A-Za-z][\w.:-]{{0,60}})(?:\s[^<>\n]{{0,200}})?/?>)
    | (?P<command>\\(?:{_FORMATTING})(?![A-Za-z])\*?|\\[(),;:!\ ]|\\\\)
    | (?P<line>(?:(?<=\n)|\A)[ \t]*(?:\#{{1,6}}|>|[-*+•‣◦·]|[0-9]{{1,3}}[.)]|[a-z]\))[ \t]+)
    | (?P<mark>[`$"“”„«»{{}}\[\]]|\*\*+|__+|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|(?<!\w)['‘’]|['‘’](?!\w))
    """,
    re.VERBOSE,
)
_DESCRIPTIONS = re.compile(
    r"(?im)^[ \t]*[\"']?(?:description|explanation|rationale|comment|notes?)[\"']?[ \t]*:[^\n]*$"
    r"|<(description|explanation|rationale|comment|notes?)>.*?</\1>"
    r"|^[ \t]*;[^\n]*$",
    re.DOTALL,
)
_STRUCK_TAGS = ("s", "del", "strike")
_ANSWER_TAGS = ("answer", "final", "final_answer", "finalanswer", "final-answer", "output", "solution", "formula")
_BRACES = re.compile(r"(?P<box>\\(?:boxed|fbox)\s*\{)|[{}]")
_PARENTHESIS = re.compile(r"[()]")
_HEAD = re.compile(r"\s*([^\s()]+)")
_BLANK = re.compile(r"\s*")


@dataclass(eq=False, slots=True)
class Group:
    """A parenthesis and those directly inside it; `missing` counts the closing ones it lacks, those inside included."""

    start: int
    end: int
    missing: int = 0
    inner: "list[Group]" = field(default_factory=list)


@dataclass(frozen=True)
class Passage:
    """A text and its `view`: the same characters at the same places, but with markup and `hidden` parts blank.

    `struck` are the stretches crossed out, `framed` those that a tag or box marks as the answer, `fenced` the code.
    """

    text: str
    view: str
    struck: tuple[tuple[int, int], ...]
    framed: tuple[tuple[int, int], ...]
    fenced: tuple[tuple[int, int], ...]


def descriptions(text: str) -> Iterator[tuple[int, int]]:
    """Where a text describes its formula: fields and tags so called, and comments on lines of their own."""
    if "descri" in text or "expla" in text or "ration" in text or "omment" in text or "ote" in text or ";" in text:
        for match in _DESCRIPTIONS.finditer(text):
            yield match.span()


def lay_out(text: str, hidden: "list[tuple[int, int]] | None" = None) -> Passage:
    """The passage of `text`; a tag or entity that stands for an operator stays as that operator."""
    struck, framed, fenced, display = _Stretches(), _Stretches(), _Stretches(), _Stretches()
    pieces: list[str] = []
    done = 0
    for match in _MARKUP.finditer(_without(text, hidden or [])):
        shown = ""
        if match["fence"]:
            fenced.toggle(match.start(), match.end())
        elif match["strike"]:
            struck.toggle(match.start(), match.end())
        elif match["display"]:
            display.toggle(match.start(), match.end())
        elif match["entity"]:
            shown = html.unescape(match["entity"])
        elif match["tag"]:
            shown = _tag(match, struck, framed)
        pieces += [text[done : match.start()], shown[: len(match[0])].ljust(len(match[0]))]
        done = match.end()
    pieces.append(text[done:])
    view = _without("".join(pieces), hidden or [])
    return Passage(
        text, view, tuple(struck.whole), (*framed.whole, *display.whole, *_boxes(text)), tuple(fenced.closed(len(text)))
    )


def _tag(match: "re.Match[str]", struck: "_Stretches", framed: "_Stretches") -> str:
    """What a tag is shown as: nothing, or the operator that it is called by."""
    name = match["name"].lower()
    closing = match[0].startswith("</")
    for names, stretches in ((_STRUCK_TAGS, struck), (_ANSWER_TAGS, framed)):
        if name in names:
            if closing:
                stretches.close(match.end())
            else:
                stretches.open(match.start())
    return match["name"] if is_operator(name) else ""


class _Stretches:
    """Stretches of a text from the marks at their ends."""

    def __init__(self) -> None:
        self.whole: list[tuple[int, int]] = []
        self._opened: int | None = None

    def open(self, start: int) -> None:
        self._opened = start

    def close(self, end: int) -> None:
        if self._opened is not None:
            self.whole.append((self._opened, end))
            self._opened = None

    def toggle(self, start: int, end: int) -> None:
        if self._opened is None:
            self.open(start)
        else:
            self.close(end)

    def closed(self, end: int) -> list[tuple[int, int]]:
        self.close(end)
        return self.whole


def _boxes(text: str) -> Iterator[tuple[int, int]]:
    """Where LaTeX boxes stand."""
    opened: list[int | None] = []
    for brace in _BRACES.finditer(text):
        if brace["box"]:
            opened.append(brace.start())
        elif brace[0] == "{":
            opened.append(None)
        elif opened and (start := opened.pop()) is not None:
            yield start, brace.end()


def _without(text: str, hidden: "list[tuple[int, int]]") -> str:
    pieces, done = [], 0
    for start, end in hidden:
        pieces += [text[done:start], " " * (end - start)]
        done = end
    return "".join([*pieces, text[done:]])


def is_within(position: int, stretches: "tuple[tuple[int, int], ...]") -> bool:
    """Whether a place lies in one of the stretches."""
    return any(start <= position < end for start, end in stretches)


def match_parentheses(view: str) -> list[Group]:
    """The outermost parentheses, in order. Closing ones too many are passed over."""
    outermost: list[Group] = []
    opened: list[Group] = []
    for mark in _PARENTHESIS.finditer(view):
        if mark[0] == "(":
            opened.append(Group(mark.start(), -1))
        elif opened:
            group = opened.pop()
            group.end = mark.end()
            (opened[-1].inner if opened else outermost).append(group)
    end = len(view.rstrip())
    while opened:
        group = opened.pop()
        group.end = end
        group.missing = 1 + (group.inner[-1].missing if group.inner else 0)
        (opened[-1].inner if opened else outermost).append(group)
    return outermost


def words_within(text: str, group: Group) -> Iterator[str]:
    """The text directly inside a group, in pieces: before, between and after its inner parentheses."""
    done = group.start + 1
    for inner in group.inner:
        yield text[done : inner.start]
        done = inner.end
    yield text[done : group.end - (0 if group.missing else 1)]


def looks_like_formula(text: str, group: Group, signature: Signature) -> bool:
    """Whether a group begins as a formula does, or as one with a wrong operator: `(Not (P x))`, `(if A B)`."""
    match = _HEAD.match(text, group.start + 1, group.end)
    head = match[1] if match else ""
    if head in signature:
        return True
    if not group.inner:
        # "(not the only one)" is an aside.
        return head in (*KEYWORDS, "=") and all(
            len(word) <= 2 or word in signature or near_keyword(word)
            for piece in words_within(text, group)
            for word in piece.split()
        )
    if head in (*KEYWORDS, "="):
        return True
    if not head:
        return False
    if near_keyword(head):
        return True
    first, *rest = words_within(text, group)
    only_operands = first.strip() == head and not any(piece.strip() for piece in rest)
    heads = [_HEAD.match(text, inner.start + 1, inner.end) for inner in group.inner]
    return only_operands and any(one and (one[1] in signature or near_keyword(one[1])) for one in heads)


def find_formulas(text: str, view: str, signature: Signature) -> list[Group]:
    """The outermost groups that look like formulas, or hold nothing but such and operators between them, in order."""
    found: list[Group] = []
    pending = match_parentheses(view)[::-1]
    while pending:
        group = pending.pop()
        if looks_like_formula(text, group, signature) or _joins_formulas(text, view, group, signature):
            found.append(group)
        else:
            pending.extend(reversed(group.inner))
    return found


def _joins_formulas(text: str, view: str, group: Group, signature: Signature) -> bool:
    """Whether a group holds several formulas and no words but operators: `((P x) (Q x))`, `((P x) and (Q x))`."""
    if not group.inner or not all(looks_like_formula(text, inner, signature) for inner in group.inner):
        return False
    words = [word for piece in words_within(view, group) for word in piece.split()]
    return all(is_operator(word.lower()) for word in words) and (len(group.inner) > 1 or bool(words))
