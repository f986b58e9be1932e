"""The formula in a model's answer: found, where need be repaired, and told how.

The asked-for answer is one line of JSON, `{"formula": "...", "description": "..."}`. What comes is that, or that in a
code fence or in prose, a bare formula, several, one with a parenthesis missing or left over, one behind a negation or
joined with another, nothing, or a refusal. Answers are only ever read as text.

NOTE(preference): one answer is read in one way.

1. What stands in a reasoning part (`<think>` and the like), ended or not, is dropped, and what stands before its end
   with it: the rest is the answer.
2. Formulas said to be wrong, or crossed out, are passed over.
3. What is put forward goes before what is only mentioned. Put forward is a JSON "formula" field, what a tag or a box
   marks as the answer, a formula on lines of its own (in a fence or not), and one that a label announces.
4. Of several the last counts. What is no definition, such as a placeholder, yields to what is one.
5. What stands before, between and after formulas is then looked at (`wording`): an operator there is understood, where
   there is but one way to, or makes the answer unparsable. So does another formula in the same sentence.
"""

import enum
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from induction.errors import FormulaSyntaxError, FormulaTooLargeError, printable
from induction.formula import discourse, wording
from induction.formula.metrics import free_variables
from induction.formula.parsing import parse_formula
from induction.formula.passages import (
    Group,
    Passage,
    descriptions,
    find_formulas,
    is_within,
    lay_out,
    match_parentheses,
    words_within,
)
from induction.formula.syntax import DEFAULT_SIGNATURE, FREE_VARIABLE, Formula, Signature

MAX_ANSWER_CHARACTERS = 1_000_000
"""Longest answer that is looked into."""

MAX_FORMULA_CHARACTERS_IN_ANSWER = 100_000
"""Longest formula that is read out of an answer."""

MAX_PARENTHESES = 100_000
"""Most opening parentheses of an answer that is looked into: more come from a model that repeats itself."""

_MOST_CANDIDATES = 100  # looked into, from the last one backwards
_MOST_OBJECTS_AROUND = 5  # objects tried around a field, from the innermost
_MOST_JOINED = 20  # formulas joined by operators, read as one
_REASONING = (
    "think|thinking|thoughts?|thought_process|reasoning|reason|reflection|scratchpad|analysis|rationale|"
    "chain_of_thought|cot|inner_monologue|deliberation|antthinking|planning|plan"
)
_REASONING_MARK = re.compile(
    rf"[<◁]\|?\s*(?P<end>/|end_of_)?\s*(?:begin_of_)?(?:{_REASONING})(?:\s[^<>\[\]\n]{{0,100}})?\s*\|?[>▷]"
    r"|\[(?P<closed>/)?think(?:ing)?\]|<\|channel\|>\s*(?P<channel>\w+)"
    r"|(?P<plain>\bassistantfinal|(?<=[.!?)}])assistantfinal)",
    re.IGNORECASE,
)
_JSON = json.JSONDecoder(strict=False)  # answers hold line breaks inside strings
_JSON_FIELD = re.compile(r"""["'“”]formula["'“”]\s*:\s*""", re.IGNORECASE)
_LIKE_FIELD = re.compile(
    r"""["'“”](?:(?:final_?)?(?:answer|formula)|final|solution|hypothesis|definition|phi|result)["'“”]\s*:\s*""",
    re.IGNORECASE,
)
_QUOTED = re.compile(
    r"""(?P<quote>["'])(?P<text>(?:(?!(?P=quote))[^\\]|\\.)*)(?P=quote)?|[“”](?P<curly>[^“”]*)[“”]?""", re.DOTALL
)
_FURTHER_FIELD = re.compile(r"""\s*,\s*["'“”]\w+["'“”]\s*:[^{}]*\}?""")
_PLACEHOLDER = re.compile(r"[\s.…<>_\[\]{}]*|\s*<[^()]*>\s*|\s*\.\.\..*|.*\.\.\.\s*", re.DOTALL)
_ANNOUNCED = re.compile(
    r"(?i)(?:\b(?:final|answer|hypothesis|conclusion|definition|solution|result|rule|output|concept)\b|"
    r"(?:\A\W*|\b(?:the|my|this|final|following)\s+(?:\w+\s+)?)formula\b|\bphi\b|φ|\bT\b)"
    r"[^.;?!\n]*?(?:[:=≡↔⇔≔≜→⇒]|<->|\b(?:is|be|iff|if|when)\b)[^.;?!\n]*\Z"
)
_NO_PARENTHESES = str.maketrans("()", "  ")
_MARKED_BEHIND = re.compile(r"\)*(['′ᶜ^])")  # a complement, unless it ends a quotation


class AnswerStatus(enum.StrEnum):
    """What an answer holds."""

    FORMULA = "formula"
    """A formula with x free; whether it had to be repaired is told beside."""
    NOT_A_DEFINITION = "not a definition"
    """A formula of the language whose free variables are not exactly x."""
    UNPARSABLE = "unparsable"
    """A text meant as a formula that is none, or a formula that something around it makes another."""
    NULL = "null"
    """No answer at all, or JSON with a null formula."""
    EMPTY = "empty"
    """A blank answer, or JSON with a blank formula."""
    NO_FORMULA = "no formula"
    """Words without a formula among them, such as a refusal."""


@dataclass(frozen=True)
class Answer:
    """What was found in a model's answer.

    `text` is the formula text as the model wrote it, `found` where it stood ("whole text", "JSON", "broken JSON" that
    is none or has another field, "code fence", "prose" or ""). `repairs` names each change made to it before it
    parsed, in order: `markup` (marks around it), `dropped_prefix` (words before it, such as `phi(x) =`),
    `doubled_parenthesis:n`, `balanced_prefix` (what follows a balanced formula is dropped),
    `remove_trailing_close_paren:n`, `append_missing_close_paren:n`, `unary_connective:n`, `notation` (operators
    outside of it, put in front). `candidates` counts the different texts that could have been meant. `whole` says that
    the answer is nothing but the formula or one JSON object. `formula` is there for the statuses FORMULA and
    NOT_A_DEFINITION; for all but FORMULA `problem` says what is wrong.
    """

    status: AnswerStatus
    formula: Formula | None = None
    text: str | None = None
    found: str = ""
    repairs: tuple[str, ...] = ()
    candidates: int = 0
    problem: str = ""
    whole: bool = False

    @property
    def is_strict(self) -> bool:
        """Whether the answer is the bare formula or one JSON object, and needed no repair."""
        return self.status is AnswerStatus.FORMULA and self.whole and not self.repairs


def read_answer(answer: str | None, signature: Signature = DEFAULT_SIGNATURE) -> Answer:
    """The formula in a model's answer. Never raises for any text."""
    if answer is None:
        return Answer(AnswerStatus.NULL, problem="there is no answer")
    if not answer.strip():
        return Answer(AnswerStatus.EMPTY, problem="the answer is empty")
    if len(answer) > MAX_ANSWER_CHARACTERS:
        problem = f"the answer has {len(answer):,} characters; the limit is {MAX_ANSWER_CHARACTERS:,}"
        return Answer(AnswerStatus.UNPARSABLE, problem=problem)
    if answer.count("(") > MAX_PARENTHESES:
        problem = f"the answer opens {answer.count('('):,} parentheses; the limit is {MAX_PARENTHESES:,}"
        return Answer(AnswerStatus.UNPARSABLE, problem=problem)
    if answer.lstrip().startswith('"'):
        quoted = _whole_json(answer)
        if isinstance(quoted, str) and _is_json_object(quoted):  # else "\\neg F" would lose its operator
            return replace(read_answer(quoted, signature), whole=False)
    bare = _parsed(answer.strip(), signature) if answer.lstrip().startswith("(") else None
    if bare is not None:
        return replace(_as_definition(bare, answer), found="whole text", candidates=1, whole=True)
    rest = _after_reasoning(answer) if not _is_json_object(answer) else answer
    if rest is None or not rest.strip():
        return Answer(AnswerStatus.NO_FORMULA, problem="nothing follows the reasoning of the answer")
    return _Reader(rest, signature, whole=rest is answer).read() or Answer(
        AnswerStatus.NO_FORMULA, problem="no formula was found in the answer"
    )


def _is_json_object(answer: str) -> bool:
    return answer.lstrip().startswith("{") and isinstance(_whole_json(answer), dict)


def _whole_json(answer: str) -> object:
    """The JSON value that a text is; None if it is none."""
    try:
        value: object = json.loads(answer, strict=False)
    except (ValueError, RecursionError):
        return None
    return value


def _after_reasoning(answer: str) -> str | None:
    """What follows the last reasoning part, the whole answer if there is none; None for a part that does not end."""
    rest, opened = 0, False
    for mark in _REASONING_MARK.finditer(answer):
        # <|channel|>analysis ... <|channel|>final
        ended = mark["end"] or mark["closed"] or mark["plain"]
        opened = mark["channel"].lower() != "final" if mark["channel"] else not ended
        rest = mark.end()
    if not rest:
        return answer
    return None if opened else answer[rest:].removeprefix("<|message|>")


@dataclass(frozen=True)
class _Candidate:
    """Something that may be meant as the answer: a stretch of the text, and a JSON field's value or a group there."""

    start: int
    end: int
    group: Group | None = None
    value: str | None = None
    found: str = "prose"
    fault: str = ""

    def text(self, of: str) -> str:
        return self.value if self.value is not None else of[self.start : self.end]


class _Reader:
    """Reads one text. With `meant`, all of it is meant as a formula, as the value of a JSON field is."""

    def __init__(self, text: str, signature: Signature, *, whole: bool = False, meant: bool = False) -> None:
        self._signature = signature
        self._whole = whole
        self._meant = meant
        self._text = text
        fields = [] if meant else list(self._json_fields())
        hidden = [(field.start, field.end) for field in fields]
        if not meant:
            hidden = _merged([*hidden, *descriptions(text)])
        self._passage: Passage = lay_out(text, hidden)
        groups = find_formulas(text, self._passage.view, signature)
        written = [_Candidate(group.start, group.end, group) for group in groups]
        real = [field for field in fields if field.fault or (field.value and not _is_placeholder(field.value))]
        self._candidates = sorted([*real, *written], key=lambda one: one.start)
        self._different = len({one.text(text) for one in self._candidates})
        self._left_out = [field for field in fields if field not in real]
        if self._left_out and not (self._left_out[-1].value or "").strip():
            # Nothing, put where the answer goes, takes back what was there before; "..." does not.
            self._candidates = [one for one in self._candidates if one.start > self._left_out[-1].start]

    def read(self) -> Answer | None:
        """The answer; None where nothing looks like one."""
        if not self._candidates:
            return self._without_candidates()
        if self._is_bare():
            return self._first_of_several()
        best: Answer | None = None
        for put_forward in (True, False):
            for position in range(len(self._candidates) - 1, -1, -1)[:_MOST_CANDIDATES]:
                if not self._meant and self._is_put_forward(position) is not put_forward:
                    continue
                if put_forward and self._is_part_of_earlier(position):
                    continue
                answer = None if self._is_rejected(position) else self._at(position)
                if answer is not None and answer.status is not AnswerStatus.NOT_A_DEFINITION:
                    return answer
                best = best or answer
        return best or self._unparsable(self._candidates[-1], "every formula in the answer is said to be wrong")

    def _without_candidates(self) -> Answer | None:
        """What a text is in which nothing looks like a formula."""
        if self._left_out:
            last = self._left_out[-1]
            if last.value is None:
                return Answer(AnswerStatus.NULL, found=last.found, problem="the formula is null")
            if not last.value.strip():
                return Answer(AnswerStatus.EMPTY, found=last.found, problem="the formula is empty")
            return self._unparsable(last, "the formula is left out")
        groups = match_parentheses(self._text)
        if groups and not self._text[: groups[0].start].strip() and not self._text[groups[-1].end :].strip(") \t\r\n"):
            try:
                parse_formula(self._text[:MAX_FORMULA_CHARACTERS_IN_ANSWER], self._signature, free=None)
            except FormulaSyntaxError as error:
                return Answer(AnswerStatus.UNPARSABLE, text=self._text, found="whole text", problem=str(error))
        return None

    # What stands around a candidate.

    def _gap_before(self, position: int) -> str:
        start = self._candidates[position - 1].end if position else 0
        return self._passage.view[start : self._candidates[position].start].translate(_NO_PARENTHESES)

    def _gap_after(self, position: int) -> str:
        end = self._candidates[position + 1].start if position + 1 < len(self._candidates) else len(self._text)
        return self._passage.view[self._candidates[position].end : end].translate(_NO_PARENTHESES)

    def _line_around(self, position: int) -> tuple[str, str]:
        one, view = self._candidates[position], self._passage.view
        before = view[max(view.rfind("\n", 0, one.start) + 1, one.start - wording.LONGEST_LOOK) : one.start]
        end = view.find("\n", one.end)
        after = view[one.end : min(end if end >= 0 else len(view), one.end + wording.LONGEST_LOOK)]
        return before, after

    def _is_put_forward(self, position: int) -> bool:
        one = self._candidates[position]
        marked = (*self._passage.framed, *self._passage.fenced)
        if one.value is not None or one.fault or is_within(one.start, marked):
            return True
        if discourse.is_aside(self._gap_before(position)):
            return False
        before, after = self._line_around(position)
        if wording.is_all_operators(before + after):
            return True
        return bool(_ANNOUNCED.search(self._prefix(before)[0][-200:]))

    def _is_rejected(self, position: int) -> bool:
        if is_within(self._candidates[position].start, self._passage.struck):
            return True
        gap = self._gap_before(position)
        if position and not gap.strip(" \t\r\n,") and self._candidates[position].value is not None:
            before = self._gap_before(position - 1)  # of several in a list, what is said of the first
            if wording.is_rejected(before, ""):
                return True
        return wording.is_rejected(gap, self._gap_after(position))

    def _is_part_of_earlier(self, position: int) -> bool:
        """Whether a formula that nothing announces is a part of the final answer given before, and so explains it."""
        one = self._candidates[position]
        if one.value is not None or is_within(one.start, self._passage.framed):
            return False
        text = one.text(self._text)
        for earlier in range(position - 1, max(-1, position - 1 - _MOST_CANDIDATES), -1):
            other = self._candidates[earlier]
            if other.value is not None or other.group is None:
                continue
            whole = other.text(self._text)
            if text != whole and text in whole:
                return self._is_put_forward(earlier) and self._is_put_forward(position)
        return False

    def _is_bare(self) -> bool:
        """Whether the text begins with a parenthesis, and outside of what looks like formulas holds nothing else."""
        if not self._text.lstrip().startswith("(") or any(one.group is None for one in self._candidates):
            return False
        ends = [0, *(one.end for one in self._candidates)]
        starts = [*(one.start for one in self._candidates), len(self._text)]
        return not any(self._text[end:start].strip(" \t\r\n()") for end, start in zip(ends, starts, strict=True))

    # Reading.

    def _first_of_several(self) -> Answer:
        """The first of formulas without a word between them, as the release's "balanced prefix" does."""
        answer = self._read_group(self._candidates[0], around=True)
        return replace(answer, found="whole text", candidates=self._different)

    def _at(self, position: int) -> Answer:
        """The answer that a candidate is, with what stands around it."""
        one = self._candidates[position]
        if one.fault:
            return self._unparsable(one, one.fault)
        first, last = self._joined(position)
        opening, closing = self._gap_before(first), self._gap_after(last)
        prefix, operators = self._prefix(opening)
        if first != last or operators:
            return self._notation(first, last, prefix, operators, closing)
        answer = self._read(one)
        if answer.status is AnswerStatus.FORMULA:
            problem = self._problem(position, opening, closing) or self._remark(position, opening)
            if problem:
                return self._unparsable(one, problem)
        return answer

    def _remark(self, position: int, opening: str) -> str:
        """Why what the answer says further away makes a formula another; empty if it does not."""
        if self._meant:
            return ""
        end, view = self._candidates[position].end, self._passage.view
        pieces, done = [], end
        for other in self._candidates[position + 1 :]:
            pieces.append(view[done : other.start])
            done = other.end
        remark = discourse.remark_against(" x ".join([*pieces, view[done:]]), self._signature)
        if remark:
            return f"the answer goes on: '{printable(remark)}'"
        if discourse.names_complement(opening):
            return "it is introduced as the opposite of the target"
        if discourse.is_one_of_several(opening):
            return "it is introduced as one part of several"
        return ""

    def _problem(self, position: int, opening: str, closing: str) -> str:
        """Why what stands around a formula makes it another; empty if it does not."""
        one = self._candidates[position]
        mark = _MARKED_BEHIND.match(self._text, one.end)
        if mark and not self._text[: one.start].rstrip("(").endswith(mark[1]):
            return f"'{mark[1]}' stands behind the formula"
        for word, where in (
            (wording.operator_before(opening, self._signature), "before"),
            (wording.operator_after(closing, self._signature), "behind"),
        ):
            if word:
                return f"'{printable(word)}' stands {where} the formula, and only the formula itself is read"
        for neighbour, gap in ((position - 1, opening), (position + 1, closing)):
            if not 0 <= neighbour < len(self._candidates):
                continue
            if self._is_rejected(neighbour) and not wording.joins(gap):
                continue
            other = self._candidates[neighbour]
            if other.text(self._text) == one.text(self._text):
                continue
            side_by_side = not gap.strip(" \t\r\n,-") and not (one.value and self._defines_nothing(neighbour))
            apart = "\n" in gap and (one.found == other.found == "JSON" or self._in_other_frame(one, other))
            if discourse.is_rewritten(gap) and neighbour < position:
                continue
            if wording.goes_on(gap) or (side_by_side and not apart):
                return "several formulas stand side by side, and how they belong together is not said"
        return ""

    def _in_other_frame(self, one: _Candidate, other: _Candidate) -> bool:
        """Whether both are marked as answers, by different marks."""
        frames = [frame for frame in self._passage.framed if frame[0] <= one.start < frame[1]]
        return bool(frames) and not any(start <= other.start < end for start, end in frames)

    def _defines_nothing(self, position: int) -> bool:
        return self._read(self._candidates[position]).status is AnswerStatus.NOT_A_DEFINITION

    def _joined(self, position: int) -> tuple[int, int]:
        """The candidates around `position` that nothing but operators joins: the first and the last of them."""
        first = last = position
        while first > 0 and last - first < _MOST_JOINED and self._joint(first) is not None:
            first -= 1
        while last + 1 < len(self._candidates) and last - first < _MOST_JOINED and self._joint(last + 1) is not None:
            last += 1
        return first, last

    def _joint(self, position: int) -> tuple[str, list[str]] | None:
        """The connective between a candidate and the one before it, with the operators on the later one."""
        gap = self._gap_before(position)
        if len(gap) > wording.LONGEST_LOOK:
            return None
        parts = wording.split_joint(gap)
        if parts is None:
            return None
        operators = wording.prefix_operators(parts[1])
        return None if operators is None else (parts[0], operators)

    @staticmethod
    def _prefix(gap: str) -> tuple[str, list[str]]:
        """The text before a formula without the operators at its end, and these."""
        tail = gap[-wording.LONGEST_LOOK :]
        places = [match.end() for match in re.finditer(r"[:=\n,]|\bis\b|\A", tail)]
        for place in places:
            operators = wording.prefix_operators(tail[place:])
            if operators:
                return tail[:place].rstrip(" ,"), operators
        return gap, []

    def _notation(self, first: int, last: int, prefix: str, operators: list[str], closing: str) -> Answer:
        """The formula that several joined by operators, or one behind operators, make where that can only be one."""
        one = self._candidates[first]
        whole = replace(one, end=self._candidates[last].end, value=None)
        shown = self._text[one.start : whole.end] if first != last else one.text(self._text)
        joints = [joint for i in range(first + 1, last + 1) if (joint := self._joint(i)) is not None]
        connectives = {name for name, _ in joints}
        inner = [ops for _, ops in joints]
        ambiguous = (
            len(connectives) > 1
            or (len(joints) > 1 and not connectives <= {"and", "or"})
            or (operators and joints)
            or not connectives <= {"and", "or"}  # as often a step as an implication
            or (joints and discourse.names_several(prefix))
            or any(inner[:-1])
            or any(operator != "not" for ops in inner for operator in ops)
            or last - first >= _MOST_JOINED
        )
        if not ambiguous:
            ambiguous = bool(
                wording.operator_before(prefix, self._signature)
                or wording.operator_after(closing, self._signature)
                or self._has_close_neighbour(first, last, prefix, closing)
            )
        parts = [self._read(self._candidates[i], joined=True) for i in range(first, last + 1)]
        if ambiguous or any(part.formula is None or set(part.repairs) - {"markup"} for part in parts):
            word = operators[0].split()[0] if operators else next(iter(sorted(connectives)), "")
            return self._unparsable(
                replace(whole, value=shown),
                f"'{word}' stands outside of the formula; connectives stand in front: (and A B)",
            )
        texts = [str(part.formula) for part in parts]
        for i, ops in enumerate([operators, *inner]):
            texts[i] = _applied(ops, texts[i])
        joined = texts[-1]
        for name, text in zip([name for name, _ in reversed(joints)], reversed(texts[:-1]), strict=True):
            joined = f"({name} {text} {joined})"
        formula = _parsed(joined, self._signature)
        if formula is None:
            return self._unparsable(replace(whole, value=shown), "the formula with the operators around it is too long")
        answer = _as_definition(formula, shown)
        return replace(answer, found=one.found, repairs=("notation",), candidates=self._different)

    def _has_close_neighbour(self, first: int, last: int, prefix: str, closing: str) -> bool:
        """Whether a further formula stands in the same sentence."""
        for neighbour, gap in ((first - 1, prefix), (last + 1, closing)):
            if 0 <= neighbour < len(self._candidates) and wording.goes_on(gap):
                return True
        return False

    def _read(self, one: _Candidate, *, joined: bool = False) -> Answer:
        """The formula of a candidate by itself; `joined` says that what stands around it is accounted for."""
        if one.value is not None:
            answer = _read_value(one.value, self._signature)
            whole = self._whole and self._text.strip() == self._text[one.start : one.end] and one.found == "JSON"
            return replace(answer, found=one.found, candidates=self._different, whole=whole)
        found = "code fence" if is_within(one.start, self._passage.fenced) else "prose"
        if self._meant and not joined:
            return replace(self._read_group(one, around=True), found="")
        return replace(self._read_group(one), found=found, candidates=self._different)

    def _read_group(self, one: _Candidate, *, around: bool = False) -> Answer:
        """The formula of a group, repaired where that is enough; with `around`, telling what stood around it."""
        group = one.group
        assert group is not None
        text = self._text[one.start : one.end]
        shown = self._text if around else text
        if len(text) > MAX_FORMULA_CHARACTERS_IN_ANSWER:
            problem = (
                f"the formula has {len(text):,} characters; in an answer the limit is "
                f"{MAX_FORMULA_CHARACTERS_IN_ANSWER:,}"
            )
            return Answer(AnswerStatus.UNPARSABLE, text=text[:200], problem=problem)
        try:
            formula = parse_formula(text, self._signature, free=None)
            repairs = [] if not around else self._around(one)
        except FormulaTooLargeError as error:
            return Answer(AnswerStatus.UNPARSABLE, text=shown, problem=str(error))
        except FormulaSyntaxError as strict_error:
            repairs = self._around(one) if around else []
            if group.missing:
                repairs.append(f"append_missing_close_paren:{group.missing}")
            try:
                if not around and not group.missing and self._joined_inside(group):
                    raise strict_error
                inside = self._from_infix(group)
                if inside is not None:
                    formula = inside
                    repairs.append("notation")
                else:
                    closed, dropped = _without_unary_connectives(self._text, group)
                    if dropped:
                        repairs.append(f"unary_connective:{dropped}")
                    formula = parse_formula(closed, self._signature, free=None)
            except (FormulaSyntaxError, FormulaTooLargeError):
                return Answer(AnswerStatus.UNPARSABLE, text=shown, problem=str(strict_error))
        return replace(_as_definition(formula, shown), repairs=tuple(repairs))

    def _joined_inside(self, group: Group) -> bool:
        """Whether a group is formulas side by side."""
        first, *_ = words_within(self._text, group)
        return not first.strip() and len(group.inner) > 1 and self._from_infix(group) is None

    def _from_infix(self, group: Group) -> Formula | None:
        """The formula of `((P x) and (Q x))`, where there is but one way to read it."""
        first, *rest = words_within(self._passage.view, group)
        if first.strip() or len(group.inner) < 2 or len(group.inner) > _MOST_JOINED:
            return None
        names = {wording.connective(piece.strip()) for piece in rest[:-1]}
        if len(names) != 1 or rest[-1].strip() or "" in names or (len(rest) > 2 and not names <= {"and", "or"}):
            return None
        parts = [self._text[inner.start : inner.end] for inner in group.inner]
        (name,) = names
        joined = parts[-1]
        for part in reversed(parts[:-1]):
            joined = f"({name} {part} {joined})"
        return _parsed(joined, self._signature)

    def _around(self, one: _Candidate) -> list[str]:
        """What stood around the formula in a text that is meant as one, by the names of the repairs."""
        group = one.group
        assert group is not None
        repairs = []
        before = self._passage.view[: one.start].rstrip()
        doubled = 0
        while before.endswith("("):
            before, doubled = before[:-1].rstrip(), doubled + 1
        if before:
            repairs.append("dropped_prefix")
        if doubled:
            repairs.append(f"doubled_parenthesis:{doubled}")
        rest = self._passage.view[one.end :].strip()
        for _ in range(doubled):
            rest = rest.removeprefix(")").strip()
        if rest and not rest.replace(")", "").strip():
            repairs.append(f"remove_trailing_close_paren:{rest.count(')')}")
        elif rest:
            repairs.append("balanced_prefix")
        outside = self._text[: one.start] + self._text[one.end :]
        if not repairs and outside.strip():
            repairs.append("markup")
        return repairs

    def _unparsable(self, one: _Candidate, problem: str) -> Answer:
        text = one.text(self._text)[:MAX_FORMULA_CHARACTERS_IN_ANSWER]
        found = "code fence" if one.value is None and is_within(one.start, self._passage.fenced) else one.found
        return Answer(AnswerStatus.UNPARSABLE, text=text, found=found, candidates=self._different, problem=problem)

    # JSON.

    def _json_fields(self) -> Iterator[_Candidate]:
        """The JSON objects with a "formula" field, and such fields of what is no JSON, in order."""
        done = 0
        fields = list(_JSON_FIELD.finditer(self._text)) or list(_LIKE_FIELD.finditer(self._text))
        for field in fields[-_MOST_CANDIDATES:]:
            if field.start() >= done:
                candidate = self._json_field(field)
                done = candidate.end
                yield candidate

    def _json_field(self, field: re.Match[str]) -> _Candidate:
        opening = self._text.rfind("{", 0, field.start())
        for _ in range(_MOST_OBJECTS_AROUND):
            if opening < 0:
                break
            try:
                pairs, end = _PAIRS.raw_decode(self._text, opening)
            except (ValueError, RecursionError):
                break
            key = re.sub(r"\W", "", field[0])
            if end > field.end() and isinstance(pairs, _Pairs) and key in dict(pairs):
                return _from_object(pairs, key, opening, end)
            opening = self._text.rfind("{", 0, opening)
        start, after = field.start(), field.end()
        quoted = _QUOTED.match(self._text, after)
        if quoted:
            try:
                value, end = _JSON.raw_decode(self._text, after)
                text = str(value)
            except ValueError:
                text, end = _unescaped(quoted["text"] or quoted["curly"] or ""), quoted.end()
            further = _FURTHER_FIELD.match(self._text, end)  # a description, say
            return _Candidate(start, further.end() if further else end, value=text, found="broken JSON")
        end = self._text.find("\n", after)
        end = end if end >= 0 else len(self._text)
        if re.compile(r"null|None").match(self._text, after):
            return _Candidate(start, end, found="broken JSON")
        return _Candidate(start, end, value=self._text[after:end], found="broken JSON")


class _Pairs(list[tuple[str, object]]):
    """A JSON object as it was written, repeated keys and all."""


_PAIRS = json.JSONDecoder(strict=False, object_pairs_hook=_Pairs)


def _from_object(pairs: _Pairs, field: str, start: int, end: int) -> _Candidate:
    """The candidate that a JSON object with the formula in this field is."""
    values = [value for key, value in pairs if key == field]
    value = values[-1]
    fault = ""
    if len({json.dumps(one) for one in values}) > 1:
        fault = "the object has several formulas"
    elif value is not None and not isinstance(value, str):
        fault = "the formula is no text"
    for key, other in pairs:
        name = re.sub(r"[^a-z]", "", key.lower())
        if (wording.is_operator(name) or name in _OPERATOR_KEYS) and other not in (None, False, "", "none", "None", 0):
            fault = f"the object's '{printable(key)}' says more than the formula does"
    if fault:
        return _Candidate(start, end, found="JSON", fault=fault)
    found = "JSON" if field == "formula" else "broken JSON"
    return _Candidate(start, end, value=value if isinstance(value, str) else None, found=found)


_OPERATOR_KEYS = frozenset({"operator", "op", "connective", "quantifier", "negate", "isnegated", "inverted", "invert"})


def _merged(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The stretches in order, those that overlap as one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _is_placeholder(value: str) -> bool:
    return len(value) < 500 and bool(_PLACEHOLDER.fullmatch(value)) and "(" not in value


def _read_value(value: str, signature: Signature) -> Answer:
    """The formula that the value of a JSON field, all of it meant as one, holds."""
    if value.lstrip().startswith("("):
        formula = _parsed(value.strip(), signature)
        if formula is not None:
            return _as_definition(formula, value)
    answer = _Reader(value, signature, meant=True).read()
    if answer is None:
        try:
            parse_formula(value[:MAX_FORMULA_CHARACTERS_IN_ANSWER], signature)
        except (FormulaSyntaxError, FormulaTooLargeError) as error:
            return Answer(AnswerStatus.UNPARSABLE, text=value, problem=str(error))
        return Answer(AnswerStatus.UNPARSABLE, text=value, problem="the formula is too long")
    return replace(answer, text=value)


def _parsed(text: str, signature: Signature) -> Formula | None:
    """The formula that a text, neither too long nor in need of repair, is; else None."""
    if len(text) > MAX_FORMULA_CHARACTERS_IN_ANSWER:
        return None
    try:
        return parse_formula(text, signature, free=None)
    except (FormulaSyntaxError, FormulaTooLargeError):
        return None


def _as_definition(formula: Formula, text: str) -> Answer:
    """The answer that a formula is, whether or not it defines anything."""
    answer = Answer(AnswerStatus.FORMULA, formula, text)
    free = free_variables(formula)
    if free == {FREE_VARIABLE}:
        return answer
    stray = printable(", ".join(sorted(free - {FREE_VARIABLE})))
    problem = f"not only {FREE_VARIABLE} is free, but {stray}" if stray else f"{FREE_VARIABLE} does not occur free"
    return replace(answer, status=AnswerStatus.NOT_A_DEFINITION, problem=problem)


def _applied(operators: Sequence[str], text: str) -> str:
    for operator in reversed(operators):
        text = f"({operator} {text})"
    return text


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text, flags=re.DOTALL)


def _without_unary_connectives(text: str, group: Group) -> tuple[str, int]:
    """The text of `group`, closed, with `(and f)` and `(or f)` replaced by f; and how many of them there were."""
    pieces: list[str] = []
    dropped = 0
    pending: list[Group | str] = [group]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            pieces.append(item)
            continue
        words = list(words_within(text, item))
        if words[0].strip() in ("and", "or") and len(item.inner) == 1 and not words[1].strip():
            dropped += 1
            pending.append(item.inner[0])
            continue
        parts: list[Group | str] = ["("]
        for word, inner in zip(words, item.inner, strict=False):
            parts += [word, inner]
        pending.extend(reversed([*parts, words[-1], ")"]))
    return " ".join(pieces), dropped
