"""Answers made of wrappers, operators and places: none may be read as another formula than meant.

What an operator outside of a formula makes of it is either understood, or the answer is unparsable.
"""

import itertools
import json

import pytest

from induction.formula import parse_formula
from induction.formula.answers import AnswerStatus, read_answer

F = "(exists y (and (R x y) (P y)))"
G = "(Q x)"

# Marks around a formula. They may stand around the operator too, or the operator outside of them.
MARKS = {
    "bare": "{}",
    "bold": "**{}**",
    "italic": "*{}*",
    "code": "`{}`",
    "fence": "```\n{}\n```",
    "fence with language": "```lisp\n{}\n```",
    "tilde fence": "~~~\n{}\n~~~",
    "tag": "<answer>{}</answer>",
    "tag over lines": "<final_answer>\n{}\n</final_answer>",
    "box": "\\boxed{{{}}}",
    "box in dollars": "$\\boxed{{{}}}$",
    "dollars": "${}$",
    "display": "$$\n{}\n$$",
    "LaTeX inline": "\\({}\\)",
    "LaTeX display": "\\[{}\\]",
    "text command": "\\texttt{{{}}}",
    "double quotes": '"{}"',
    "single quotes": "'{}'",
    "curly quotes": "“{}”",
    "brackets": "[{}]",
    "html": "<b>{}</b>",
}
# Words before a formula, or before marks around it.
LABELS = {
    "no label": "{}",
    "label": "Answer: {}",
    "bold label": "**Final answer:** {}",
    "label above": "Final answer:\n\n{}\n",
    "heading": "## Answer\n{}",
    "sentence": "The answer is {}",
    "definition": "T(x) iff {}",
    "arrow": "T(x) ↔ {}",
    "equation": "phi(x) = {}",
    "LaTeX equation": "$\\varphi(x) := {}$",
    "prose": "I went through all worlds, and came to this conclusion.\nI therefore propose {}",
    "after reasoning": "<think>Perhaps (P x), or (not (Q x)).</think>\n{}",
    "bullet": "- {}",
    "number": "1. {}",
    "quotation": "> {}",
    "after a discarded one": 'First I had {{"formula": "(P x)"}}.\nThat misses a2.\n\nFinal answer: {}',
}
NEGATIONS = [
    "not",
    "NOT",
    "not:",
    "¬",
    "~",
    "!",
    "\\neg",
    "\\lnot",
    "$\\neg$",
    "**not**",
    "*not*",
    "`not`",
    "<b>not</b>",
    "<not>",
    "&not;",
    "\\text{not } ",
    "\\mathrm{not}",
    "it is not the case that",
    "It is false that",
    "the negation of",
    "the complement of",
    "Negation:",
    "never",
    "the opposite of",
    "x does not satisfy",
    "objects that do not satisfy",
    "isn't",
    "not\n",
]
QUANTIFIERS = [
    ("forall z", "forall z"),
    ("for all z", "forall z"),
    ("for every z,", "forall z"),
    ("for each object z:", "forall z"),
    ("∀z", "forall z"),
    ("∀ z.", "forall z"),
    ("\\forall z", "forall z"),
    ("$\\forall z$", "forall z"),
    ("\\forall z\\,", "forall z"),
    ("exists z", "exists z"),
    ("∃z", "exists z"),
    ("∃z:", "exists z"),
    ("\\exists z.", "exists z"),
    ("there is some z such that", "exists z"),
    ("there exists z with", "exists z"),
    ("for some z", "exists z"),
]
INFIX = {
    "and": [
        *["and", "AND", "And", "∧", "&", "&&", "/\\", "\\land", "\\wedge", "$\\land$", "**and**", "`and`", "&and;"],
        *["\\text{ and }", "<and>", ", and", "and also", "and\n", "\nand\n", "as well as", "\nas well as\n"],
        *["together with", "plus", "+"],
    ],
    "or": [
        "or",
        "OR",
        "∨",
        "|",
        "||",
        "\\/",
        "\\lor",
        "\\vee",
        "$\\lor$",
        "**or**",
        "*or*",
        ", or",
        "or else",
        "\nor\n",
    ],
    "implies": ["implies", "->", "→", "=>", "⇒", "\\to", "\\rightarrow", "\\implies", "⊃", "only if"],
    "iff": ["iff", "<->", "↔", "⇔", "<=>", "\\iff", "\\leftrightarrow", "if and only if", "≡"],
    "other": ["xor", "⊕", "nor", "but not", "and not", "unless", "except when", "if", "when", "\\oplus", "XOR", "nand"],
    "none": [",", "/", ";and", "-", "\\setminus", "minus", "with", "where also"],
}
AFTER = [
    "is false",
    "does not hold",
    "doesn't hold",
    "is not true",
    "fails",
    "is negated",
    "never holds",
    "for all z",
    "for some z",
    "∀z",
    ", for every z",
    "holds for some z",
    "and P(x)",
    "and x is P",
    "or Q(x)",
    "∧ Q(x)",
    "\\land Q(x)",
    "& Q(x)",
    "unless Q(x)",
    "except where Q(x)",
    "and not Q",
    "but not Q(x)",
    "if Q(x)",
    "→ Q(x)",
    "only if x has an S-successor",
    "^c",
    "= false",
    "**is false**",
    "$\\land Q(x)$",
    "and there exists y with S(x, y)",
]
TALK_BEFORE = [
    "So the answer is ",
    "Final answer: ",
    "I am confident that it is ",
    "Hence, phi(x) = ",
    "The shortest formula that I could find is ",
    "After some thought: ",
    "x is T iff ",
    "The concept is: ",
    "There is no simpler one that I know.\n",
    "Checking a0, a1 and a2 in all four worlds.\nIt works: ",
    "I tried (and failed) with others. Now ",
    "Let us see.\n\n",
]
TALK_AFTER = [
    "",
    ".",
    ", which holds in all worlds.",
    " which holds in all worlds",
    ", as required.",
    "\n\nThis says that x has an R-successor which is P.",
    "\nIt is not the only one, but the smallest.",
    " explains every label.",
    " (not the only one).",
    " works in every world.",
    "! Done.",
    " - and that is it.",
]


def _read(answer):
    result = read_answer(answer)
    if result.formula is not None:
        assert not result.is_strict or answer.strip() == result.text.strip() or json.loads(answer)
    return result


def _json(content):
    return json.dumps({"formula": content, "description": "d"})


def _meant(name, word):
    """What F and G joined by a word of a connective mean; nothing where a reader cannot be sure."""
    if word in ("and not", "but not"):
        return {f"(and {F} (not {G}))"}
    return {f"({name} {F} {G})"} if name not in ("other", "none") else set()


def _contents():
    """Texts with an operator on F, each with the formulas that it may be read as."""
    for word in NEGATIONS:
        yield f"{word} {F}", {f"(not {F})"}
        if not word[-1].isalpha():
            yield f"{word}{F}", {f"(not {F})"}
        yield f"({word} {F})", {f"(not {F})"}
    for words, quantifier in QUANTIFIERS:
        yield f"{words} {F}", {f"({quantifier} {F})"}
    for name, words in INFIX.items():
        for word in words:
            meant = _meant(name, word)
            yield f"{F} {word} {G}", meant
            yield f"({F} {word} {G})", meant
            yield f"({F}) {word} ({G})", meant
    for words in AFTER:
        yield f"{F} {words}", set()


CONTENTS = list(_contents())


def _misread(answer, meant):
    """Nothing for an answer that is read as one of `meant` or refused with a reason; else the answer and its reading."""
    result = _read(answer)
    if result.formula is None:
        return [] if result.problem else [(answer, "refused without a reason")]
    if result.formula not in {parse_formula(one, free=None) for one in meant}:
        return [(answer, str(result.formula))]
    if "notation" not in result.repairs and str(result.formula) not in " ".join(answer.replace("\\n", " ").split()):
        return [(answer, "notation is not told")]
    return []


def _combinations():
    """Answers of a label, marks and an operator within, before, between or behind the marks, with what is meant."""
    for label, mark in itertools.product(LABELS.values(), MARKS.values()):
        for content, meant in CONTENTS:
            yield label.format(mark.format(content)), meant
        for word in NEGATIONS:
            yield label.format(f"{word} {mark.format(F)}"), {f"(not {F})"}
        for words, quantifier in QUANTIFIERS:
            yield label.format(f"{words} {mark.format(F)}"), {f"({quantifier} {F})"}
        for words in AFTER:
            if words != "^c":
                yield label.format(f"{mark.format(F)} {words}"), set()
        for name, word in ((name, word) for name, words in INFIX.items() for word in words):
            yield label.format(f"{mark.format(F)} {word} {mark.format(G)}"), _meant(name, word)


def _assert_none_misread(combinations):
    assert not [fault for answer, meant in combinations for fault in _misread(answer, meant)]


def test_operators_in_all_places():
    """Some thousands of the combinations, the same each time."""
    _assert_none_misread(itertools.islice(_combinations(), 0, None, 31))


@pytest.mark.full
def test_all_operators_in_all_places():
    _assert_none_misread(_combinations())


def test_operator_in_and_around_json():
    wrong = []
    for content, meant in CONTENTS:
        for wrapper in ("{}", "```json\n{}\n```", "Here it is:\n{}", "<answer>{}</answer>"):
            wrong += _misread(wrapper.format(_json(content)), meant)
    for word in NEGATIONS:
        wrong += _misread(f"{word} {_json(F)}", {f"(not {F})"})
        wrong += _misread(f"{word}\n```json\n{_json(F)}\n```", {f"(not {F})"})
    for words, quantifier in QUANTIFIERS:
        wrong += _misread(f"{words} {_json(F)}", {f"({quantifier} {F})"})
    for name, words in INFIX.items():
        for word in words:
            meant = _meant(name, word)
            wrong += _misread(f"{_json(F)} {word} {_json(G)}", meant)
    for words in AFTER:
        if words != "^c":
            wrong += _misread(f"{_json(F)} {words}", set())
    assert not wrong


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({"not": {"formula": F}}),
        json.dumps({"negation": {"formula": F}}),
        json.dumps({"formula": F, "negated": True}),
        json.dumps({"formula": F, "operator": "not"}),
        json.dumps({"operator": "not", "formula": F}),
        json.dumps({"formula": F, "and": G}),
        json.dumps({"formula": {"not": F}}),
        json.dumps({"formula": [F, G]}),
        json.dumps([{"formula": F}, {"formula": G}]),
        f'{{"formula": "{F}", "formula": "{G}"}}',
        f'{{"formula": not "{F}"}}',
        f'{{"formula": "{F}" and "{G}"}}',
        f'{{"formula": "{F}" + " and {G}"}}',
        f"Either {F} or {G}.",
        f"Take {F}. Also require {G}.",
        f"The rule is that {F} holds and {G} does not.",
        f"It must be that both {F} and {G}",
        f"All of these:\n- {F}\n- {G}\n",
        f"Exactly one of {F}, {G}",
        f"~~{F}~~",
        f"<del>{F}</del>",
        f"{F} is wrong.",
        f"❌ {F}",
        f"({F})'",
        f"if {F} then {G}",
        f"If {G}, then {F}",
        f"¬T(x) ↔ {F}",
        f"x is not T iff {F}",
        f"P(x) and {F}",
        f"Q(x) ∧ {F}",
        f"$Q(x) \\land {F}$",
    ],
)
def test_more_ways_to_say_more(answer):
    result = read_answer(answer)
    assert result.formula not in (parse_formula(F), parse_formula(G))
    assert result.problem or "notation" in result.repairs


def test_prose_that_merely_talks():
    answers = [
        f"{before}{mark.format(F)}{after}"
        for before, after, mark in itertools.product(TALK_BEFORE, TALK_AFTER, MARKS.values())
    ]
    answers += [label.format(mark.format(F)) for label, mark in itertools.product(LABELS.values(), MARKS.values())]
    answers += [label.format(_json(F)) for label in LABELS.values()]
    wrong = [(answer, result.problem) for answer in answers if (result := _read(answer)).formula != parse_formula(F)]
    assert not wrong
    assert not any("notation" in _read(answer).repairs for answer in answers)


REASONING = ["think", "thinking", "reasoning", "THINK", "thought", "analysis", "scratchpad"]


@pytest.mark.parametrize("name", REASONING)
def test_reasoning_is_no_answer(name):
    others = [_json("(P x)"), "Final answer: (P x)", "(P x)", "```\n(P x)\n```", "not (P x) but"]
    for other in others:
        for form in (F, _json(F), f"Final answer: {F}", f"```\n{F}\n```"):
            ended = read_answer(f"<{name}>\n{other}\n</{name}>\n{form}")
            assert ended.formula == parse_formula(F)
            assert not ended.is_strict
            assert read_answer(f"{other}\n</{name}>\n{form}").formula == parse_formula(F)
        for rest in ("", "\n", "I cannot answer."):
            result = read_answer(f"<{name}>\n{other}\n</{name}>\n{rest}")
            assert result.status is AnswerStatus.NO_FORMULA, (name, other, rest)
        unended = read_answer(f"<{name}>\n{other}")
        assert unended.status is AnswerStatus.NO_FORMULA
        assert unended.problem


@pytest.mark.parametrize(
    ("answer", "formula"),
    [
        # Of what is put forward the last counts, whatever its form.
        (f"{_json(G)}\nWait, that misses a1.\n\nFinal answer: {F}", F),
        (f"{_json(G)}\nBetter:\n```\n{F}\n```", F),
        (f"```\n{G}\n```\nNo, rather {_json(F)}", F),
        (f"Final answer: {G}\n\nOn reflection:\n\n\\boxed{{{F}}}", F),
        (f"<answer>{G}</answer> Hmm. <answer>{F}</answer>", F),
        # What is put forward goes before what is only mentioned, before or after it.
        (f"{_json(F)}\nNote that {G} would be shorter.", F),
        (f"Final answer: {F}\nI had also looked at {G}.", F),
        (f"{F}\n\nI had also looked at {G}.", F),
        # What is said to be wrong is passed over.
        (f"Final answer: {F}\nThe formula {G} fails for a2.", F),
        (f"{F}\n\n~~{G}~~", F),
        (f"Perhaps {F}. But {G} does not work.", F),
        # A definition goes before what is none.
        (f"{_json(F)}\n{_json('(P y)')}", F),
        (f"{_json(F)} as in {_json('...')}", F),
        # Of mentions the last.
        (f"Perhaps {G}. No: {F}.", F),
    ],
)
def test_preference(answer, formula):
    assert read_answer(answer).formula == parse_formula(formula)


def test_the_last_that_is_put_forward_counts_even_if_it_cannot_be_read():
    for last in (f"Final answer: not really {F} ∧ Q(x)", _json("(exists y (Foo x y))"), f"\\boxed{{¬{F} or Q(x)}}"):
        result = read_answer(f"{_json(G)}\nNo.\n{last}")
        assert result.status is AnswerStatus.UNPARSABLE


@pytest.mark.parametrize(
    ("answer", "strict"),
    [
        (F, True),
        (f" {F}\n", True),
        (_json(F), True),
        (json.dumps({"formula": F, "description": "not (P x)", "confidence": 1}, indent=1), True),
        (f"{_json(F)} trailing", False),
        (f"x {_json(F)}", False),
        (json.dumps([{"formula": F}]), False),
        (f"```json\n{_json(F)}\n```", False),
        (f"`{F}`", False),
        (_json(f"`{F}`"), False),
        (f"{F}.", False),
        (f"<think>x</think>{F}", False),
        (json.dumps({"result": {"formula": F}}), False),
    ],
)
def test_strict_is_the_whole_answer(answer, strict):
    result = read_answer(answer)
    assert result.formula == parse_formula(F)
    assert result.is_strict == strict
