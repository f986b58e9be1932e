"""Write answer_corpus.jsonl: answers in the forms models give them, each with what it means.

python tests/formula/make_answer_corpus.py > tests/formula/answer_corpus.jsonl
"""

import json

F = "(exists y (and (R x y) (P y)))"
G = "(and (Q x) (forall y (or (not (S x y)) (P y))))"
FIELD = '{{"formula": "{}", "description": "as asked for"}}'

# Form, answer, and what is meant; None where there is no one formula that it must be.
FORMS = [
    ("asked for", FIELD, "{}"),
    ("asked for", '\n{{\n  "formula": "{}",\n  "description": "over lines"\n}}\n', "{}"),
    ("asked for", "{}", "{}"),
    ("fenced", "```json\n" + FIELD + "\n```", "{}"),
    ("fenced", "Here is my answer:\n\n```\n{}\n```\n", "{}"),
    ("fenced", "```lisp\n{}\n```\nThis holds in all worlds.", "{}"),
    ("prose", "The smallest formula that I found is {}.", "{}"),
    ("prose", "Final answer: {}", "{}"),
    ("prose", "**Final answer:** `{}`\n\nIt explains every label.", "{}"),
    ("prose", "T(x) iff {}", "{}"),
    ("prose", "I looked at all worlds. So the answer is {}, which holds in all worlds.", "{}"),
    ("marked", "<answer>{}</answer>", "{}"),
    ("marked", "So $\\boxed{{{}}}$", "{}"),
    ("marked", "$$\\varphi(x) := {}$$", "{}"),
    ("quoted", '"{}"', "{}"),
    ("quoted", "{{'formula': '{}'}}", "{}"),
    ("cut off", '{{"formula": "{}", "description": "the answer was cu', "{}"),
    ("corrected", FIELD + "\nWait, that misses a2.\n" + FIELD.replace("{}", "(not {})"), "(not {})"),
    ("corrected", FIELD + "\nNo. Final answer: (not {})", "(not {})"),
    ("mentioned beside", FIELD + "\nNote that (Q x) alone does not work.", "{}"),
    ("reasoning", "<think>Perhaps (P x)? It misses a2.</think>\n" + FIELD, "{}"),
    ("reasoning", "It could be (P x).</think>{}", "{}"),
    ("reasoning", "<reasoning>\n" + FIELD + "\n</reasoning>\nI cannot answer.", None),
    ("reasoning", "<think>\n" + FIELD, None),
    ("negated", "$\\neg {}$", "(not {})"),
    ("negated", "**not** {}", "(not {})"),
    ("negated", '{{"formula": "¬{}"}}', "(not {})"),
    ("negated", "It is not the case that {}", None),
    ("negated", "{} is false", None),
    ("joined", "Final answer: {} and (P x)", "(and {} (P x))"),
    ("joined", '{{"formula": "(Q x) ∨ {}"}}', "(or (Q x) {})"),
    ("joined", "The rule is (Q x) or {}", "(or (Q x) {})"),
    ("joined", "({} \\land (Q x))", "(and {} (Q x))"),
    ("joined", "{} unless (Q x)", None),
    ("joined", "(P x) or {} and (Q x)", None),
    ("quantified", "exists z {}", "(exists z {})"),
    ("quantified", "$\\forall z\\, {}$", "(forall z {})"),
    ("several", "Either of these: {}, (Q x)", None),
    ("discarded", "~~{}~~", None),
    ("discarded", "{} is wrong.", None),
    ("none", "I am sorry, but I cannot tell (yet).", None),
    ("none", '{{"formula": null, "description": "nothing fits"}}', None),
    ("none", '{{"formula": "..."}}', None),
]


def rows():
    """The rows of the corpus."""
    for form, answer, meant in FORMS:
        for formula in (F, G):
            yield {"form": form, "answer": answer.format(*[formula] * 2), "meant": meant and meant.format(formula)}
    for formula in (F, G):
        yield {"form": "parenthesis missing", "answer": FIELD.format(formula[:-1]), "meant": formula}
        yield {"form": "parenthesis missing", "answer": f"It is {formula[:-2]}", "meant": formula}
        yield {"form": "parenthesis left over", "answer": f"{formula})", "meant": formula}


if __name__ == "__main__":
    for row in rows():
        print(json.dumps(row, ensure_ascii=False))
