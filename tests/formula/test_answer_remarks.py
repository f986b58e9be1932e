"""What an answer says about its formulas further away: one taken back, added to or negated there is never read alone."""

import json

import pytest

from induction.formula import parse_formula
from induction.formula.answers import AnswerStatus, read_answer

F = "(exists y (and (R x y) (P y)))"
G = "(and (P x) (exists y (R x y)))"
FIELD = json.dumps({"formula": F, "description": "d"})


@pytest.mark.parametrize(
    "answer",
    [
        f"{F}\n\nThe answer is the negation of this formula.",
        f"Let psi(x) = {F}. Then T(x) iff not psi(x).",
        f"{FIELD}\n\nActually this is wrong: a1 is P but not T. I cannot find a better one.",
        f"{F}. In addition, x itself must be P.",
        f"Final answer: {F}\n\nAdditionally, (Q x) must hold.",
        f"Final answer: {F}\n\nException: objects that are Q are never T.",
        f"Option A: {F}\nOption B: (Q x)\n\nThe answer is option A.",
        f"Two formulas fit so far: (P x) and {F}. World 3 separates them. So the first one it is.",
        f"T is the conjunction of two formulas. The first is `(P x)`. The second is `{F}`.",
        f"The concept requires two things.\n\n1. (P x)\n2. {F}\n\nBoth must hold.",
        f"First idea:\n\n{F}\n\nThat is too wide.\n\nFinal answer:\n\nP(x) ∧ ∃y R(x,y)",
        f"I first considered `{F}`.\n\n```\nP(x) & exists y. R(x,y)\n```",
        f"## Objects that are NOT T\n\n{F}",
        f"The objects that lack T are exactly those that satisfy\n\n{F}",
        f"**Non-T objects:** `{F}`\n**T objects:** all the others.",
        f"Die gesuchte Formel ist die Verneinung von `{F}`.",
        f"La réponse est la négation de {F}.",
        f"最终答案:并非 {F}",
        f"**Final answer:** `{F}`\n\n*Correction:* I now believe it is `(Q x)`.",
        f"Let A := (P x)\nLet B := {F}\n\nFinal answer: A ∧ B",
        f"{G}\n⇒ {F}",
        f'{FIELD}\n\nI have no better one.\n\n{{"formula": "", "description": "none found"}}',
    ],
)
def test_no_part_of_what_is_meant_is_read(answer):
    result = read_answer(answer)
    assert result.formula is None, answer
    assert result.problem
    assert result.status in (AnswerStatus.UNPARSABLE, AnswerStatus.EMPTY)


@pytest.mark.parametrize(
    ("answer", "formula"),
    [
        (f"Final formula:\n\n`{G}`\n\n**Explanation**\n\nThe first conjunct\n`(P x)`\nsays that x is P.", G),
        (f"```\n{G}\n```\n\nIt has two parts. The first,\n\n```\n(P x)\n```\n\nsays that x is P.", G),
        (f"{FIELD}\n\nAn equivalent formula would be:\n\n(not (forall y (implies (R x y) (not (P y)))))", F),
        (json.dumps({"final": {"formula": F}, "rejected": [{"formula": "(P x)"}, {"formula": "(Q x)"}]}), F),
        ("\n".join(json.dumps({"step": i, "formula": f}) for i, f in enumerate(["(P x)", G, F])), F),
        (json.dumps({"answer": F, "description": "unlike (P x)"}), F),
        (f"```yaml\nformula: {F}\ndescription: x has an R-successor in P and not (Q x)\n```", F),
        (f"<answer>\n  <formula>{F}</formula>\n  <description>a y with (P y)</description>\n</answer>", F),
        (f"<|channel|>analysis<|message|>Maybe (P x).<|end|><|channel|>final<|message|>{FIELD}<|return|>", F),
        (f"analysisMaybe (P x).assistantfinal{FIELD}", F),
        (f"{FIELD}\n\nNot every world needs the second conjunct.", F),
        (f"**Answer:** `{F}`\n\nIf x has no R-successor, it is not T.", F),
        (f"x is T if and only if it has an R-successor that is P, i.e. {F}.", F),
        (f"```lisp\n; not (P x)\n{F}\n```", F),
        (f'{{"formula": "{F}", "description": "x has an "R"-successor, (P y)"}}', F),
        (f"{{“formula”: “{F}”, “description”: “a successor with (P y)”}}", F),
        (json.dumps(FIELD), F),
        (f"We get (and (P x) (and (P x) (Q x))), which simplifies to {F}.", F),
        (f"{FIELD}\n\nDone: the [plan] was to look at successors.", F),
        (f"Check World 1: a1 -> not T ✓\n\n{FIELD}", F),
    ],
)
def test_remarks_do_not_hurt(answer, formula):
    result = read_answer(answer)
    assert result.formula == parse_formula(formula), result.problem
    assert not result.is_strict
