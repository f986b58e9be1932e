"""A corpus of answers: the share read strictly, leniently and refused; none is read as another formula than meant."""

import json
from collections import Counter
from pathlib import Path

from make_answer_corpus import rows

from induction.formula import parse_formula
from induction.formula.answers import read_answer

CORPUS = Path(__file__).with_name("answer_corpus.jsonl")
# What has but one reading is to be read; the rest is refused. Of what has one, so much may be refused.
LEAST_READ = 0.95


def _reading(row):
    """How an answer is read: strictly, leniently, refused, or as something else than meant."""
    result = read_answer(row["answer"])
    if result.formula is None:
        return "refused"
    if row["meant"] is not None and result.formula == parse_formula(row["meant"]):
        return "strictly" if result.is_strict else "leniently"
    return "misread"


def test_shares(capsys):
    corpus = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    readings = [_reading(row) for row in corpus]
    table = {form: Counter() for form in dict.fromkeys(row["form"] for row in corpus)}
    for row, reading in zip(corpus, readings, strict=True):
        table[row["form"]][reading] += 1
    total = Counter(readings)
    with capsys.disabled():
        print(f"\n{len(corpus)} answers: " + ", ".join(f"{100 * n / len(corpus):.0f} % {k}" for k, n in total.items()))
        for form, counts in table.items():
            print(f"  {form:<22}" + ", ".join(f"{number} {reading}" for reading, number in counts.items()))
    assert total["misread"] == 0, [row for row, r in zip(corpus, readings, strict=True) if r == "misread"]
    meant = [reading for row, reading in zip(corpus, readings, strict=True) if row["meant"] is not None]
    assert 1 - meant.count("refused") / len(meant) >= LEAST_READ
    assert table["asked for"].keys() == {"strictly"}
    assert total["strictly"] == sum(table["asked for"].values())


def test_the_corpus_is_the_one_its_script_makes():
    assert [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()] == list(rows())
