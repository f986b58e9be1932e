"""Write the table of formulas with their sentences (tests/rewriting/sentences.tsv) to standard output.

The table is read by people line by line before it is accepted: `python tests/rewriting/make_sentences.py > ...`.
"""

import re
from collections.abc import Iterator

from induction.families.templates import all_templates
from induction.formula import parse_formula
from induction.formula.syntax import DEFAULT_SIGNATURE, Formula, Signature, to_sexpr, with_predicates
from induction.rewriting.english import to_english

COMMAND = "python tests/rewriting/make_sentences.py > tests/rewriting/sentences.tsv"

# Beside the templates: shapes of answers, and what the language allows but nobody would write. Predicates are told
# from the text: the signature of each formula is what it uses. A predicate `named_that` is called `that`.
OTHERS = """
(P x)
(not (P x))
(not (not (P x)))
(not (not (not (P x))))
(R x x)
(not (R x x))
(= x x)
(not (= x x))
(and (P x) (Q x))
(and (P x) (not (Q x)))
(and (not (P x)) (Q x))
(and (not (P x)) (not (Q x)))
(not (and (P x) (Q x)))
(not (or (P x) (Q x)))
(or (P x) (Q x))
(or (not (P x)) (not (Q x)))
(and (P x) (Q x) (R x x))
(and (and (P x) (Q x)) (R x x))
(or (P x) (Q x) (not (R x x)))
(or (or (P x) (Q x)) (R x x))
(and (P x) (or (Q x) (R x x)))
(or (and (P x) (Q x)) (and (not (P x)) (not (Q x))))
(and (or (P x) (Q x)) (or (not (P x)) (not (Q x))))
(implies (P x) (Q x))
(implies (P x) (implies (Q x) (R x x)))
(implies (implies (P x) (Q x)) (R x x))
(iff (P x) (Q x))
(iff (P x) (iff (Q x) (R x x)))
(not (iff (P x) (Q x)))
(not (implies (P x) (Q x)))
(and (implies (P x) (Q x)) (implies (Q x) (P x)))
(exists y (R x y))
(exists y (R y x))
(not (exists y (R x y)))
(not (exists y (and (R x y) (P y))))
(forall y (R x y))
(forall y (not (R x y)))
(not (forall y (R x y)))
(not (forall y (not (R x y))))
(forall y (or (not (R x y)) (P y)))
(forall y (implies (R x y) (P y)))
(forall y (or (P y) (not (R x y))))
(not (forall y (or (not (R x y)) (P y))))
(not (forall y (implies (R x y) (P y))))
(forall y (or (not (R x y)) (not (P y))))
(forall y (implies (R x y) (not (P y))))
(not (forall y (or (not (R x y)) (not (P y)))))
(forall y (or (not (R x y)) (not (exists z (R y z)))))
(forall y (implies (and (R x y) (P y)) (Q y)))
(forall y (or (not (and (R x y) (P y))) (Q y)))
(forall y (or (not (R x y)) (or (not (P y)) (Q y))))
(forall y (or (or (not (R x y)) (not (P y))) (Q y)))
(forall y (or (not (and (R x y) (R y x))) (P y)))
(forall y (implies (and (R x y) (R y x)) (P y)))
(forall y (implies (P y) (R x y)))
(forall y (or (not (P y)) (R x y)))
(forall y (or (P y) (R x y)))
(forall y (or (P y) (exists z (and (R y z) (S x z)))))
(forall y (or (= y x) (R x y)))
(forall y (or (= x y) (R x y)))
(forall y (implies (not (= y x)) (R x y)))
(forall y (implies (not (P y)) (exists z (R y z))))
(forall y (iff (R x y) (S x y)))
(forall y (implies (R x y) (iff (P y) (Q y))))
(forall y (or (not (R x y)) (iff (P y) (Q y))))
(forall y (or (not (R x y)) (implies (P y) (Q y))))
(forall y (or (not (R x y)) (and (P y) (forall z (or (not (S y z)) (Q z))))))
(forall y (or (not (R x y)) (forall z (or (not (S y z)) (P z)))))
(forall y (implies (R x y) (forall z (implies (S y z) (R z y)))))
(forall y (or (not (R x y)) (or (P y) (exists z (and (S y z) (Q z))))))
(forall y (or (not (R x y)) (P x)))
(forall y (forall z (or (not (and (R x y) (R x z))) (= y z))))
(forall y (forall z (implies (and (R x y) (R y z)) (R x z))))
(forall y (forall z (forall w (or (R x y) (or (R y z) (R z w))))))
(exists y (and (R x y) (and (P y) (and (Q y) (not (S y y))))))
(exists y (and (R x y) (or (P y) (or (Q y) (S y x)))))
(exists y (and (R x y) (and (P y) (exists z (and (S y z) (Q z))))))
(exists y (and (R x y) (and (exists z (S y z)) (P y))))
(exists y (and (R x y) (and (P y) (exists z (and (S y z) (and (Q z) (exists w (and (R z w) (P w)))))))))
(exists y (and (R x y) (or (P y) (exists z (and (S y z) (Q z))))))
(exists y (and (R x y) (and (or (P y) (Q y)) (exists z (R y z)))))
(exists y (and (R x y) (not (exists z (R y z)))))
(exists y (and (R x y) (forall z (not (R y z)))))
(exists y (and (R x y) (forall z (or (not (S y z)) (P z)))))
(exists y (and (R x y) (forall z (implies (S y z) (P z)))))
(exists y (and (R x y) (forall z (implies (S y z) (not (P z))))))
(exists y (and (R x y) (forall z (or (not (S y z)) (not (P z))))))
(exists y (and (R x y) (forall z (or (not (S y z)) (or (P z) (Q z))))))
(exists y (and (R x y) (forall z (or (not (S y z)) (exists w (R z w))))))
(exists y (and (R x y) (forall z (or (not (S y z)) (R z y)))))
(exists y (and (R x y) (not (forall z (or (not (S y z)) (P z))))))
(exists y (and (R x y) (R y y)))
(exists y (and (R x y) (and (not (= y x)) (P y))))
(exists y (and (not (= y x)) (P y)))
(exists y (not (= y x)))
(not (exists y (not (= y x))))
(exists y (and (and (R x y) (R y x)) (not (= y x))))
(exists y (and (R y x) (R x y)))
(exists y (and (R x y) (iff (P y) (Q y))))
(exists y (and (R x y) (implies (P y) (exists z (S y z)))))
(exists y (and (R x y) (P x)))
(exists y (P x))
(forall y (P x))
(exists y (P y))
(forall y (P y))
(not (exists y (P y)))
(not (forall y (P y)))
(forall y (not (P y)))
(exists y (exists z (and (R x y) (and (R y z) (P z)))))
(exists y (exists z (and (and (R x y) (R x z)) (not (= y z)))))
(exists y (exists z (and (and (R x y) (R y z)) (R y x))))
(exists y (exists z (and (R x y) (R y z))))
(exists y (exists z (and (and (R y x) (S z y)) (R z z))))
(exists y (exists z (exists w (and (and (R x y) (R y z)) (R z w)))))
(exists y (exists z (R y z)))
(exists y (forall z (R y z)))
(forall y (exists z (R y z)))
(forall y (exists z (and (R y z) (S x z))))
(not (exists y (forall z (implies (R y z) (S x z)))))
(and (P x) (exists x (Q x)))
(exists x (and (P x) (exists x (Q x))))
(forall y (exists y (R x y)))
(exists y (and (R x y) (exists y (and (S x y) (P y)))))
(and (P x) (exists y (R x y)) (forall z (or (not (S x z)) (P z))))
(and (P x) (Q x) (not (R x x)) (not (S x x)) (exists y (R x y)))
(or (P x) (and (Q x) (exists y (R x y))))
(or (exists y (and (R x y) (P y))) (exists y (and (S x y) (Q y))))
(or (exists y (and (R x y) (and (P y) (Q y)))) (not (exists y (R x y))))
(or (and (P x) (exists y (R x y))) (and (not (P x)) (exists y (S x y))))
(implies (P x) (exists y (and (R x y) (Q y))))
(implies (exists y (R x y)) (forall y (or (not (R x y)) (P y))))
(iff (P x) (exists y (R x y)))
(iff (exists y (R x y)) (exists y (S x y)))
(not (and (P x) (exists y (R x y))))
(not (or (P x) (exists y (R x y))))
(and (iff (P x) (Q x)) (exists y (R x y)))
(or (iff (P x) (Q x)) (exists y (R x y)))
(and (exists y (and (R x y) (P y))) (or (Q x) (exists y (and (S x y) (Q y)))))
(or (and (P x) (or (Q x) (R x x))) (and (Q x) (or (P x) (S x x))))
(exists y (and (R x y) (and (or (P y) (P x)) (or (Q y) (Q x)))))
(exists y (and (not (P y)) (and (R x y) (forall z (implies (R y z) (or (= z x) (P z)))))))
(R x z)
(exists y (and (R x y) (R z y)))
(and (P z) (Q y))
(exists y (and (likes x y) (Person y)))
(forall y (or (not (likes y x)) (exists z (and (knows_of y z) (_odd z)))))
(named_x x)
(exists y (and (named_x x y) (named_y y)))
(exists y (and (named_that x y) (named_is y)))
(and (named_a x) (not (named_itself x)))
(exists it (and (R x it) (R it it)))
(exists neighbour (and (S neighbour x) (named_object neighbour)))
"""


def signature_of(text: str) -> Signature:
    """The predicates that `text` uses, as it uses them."""
    heads = re.findall(r"\((?!not|and|or|implies|iff|forall|exists|=)(\w+)((?: \w+)+)\)", text)
    return Signature(dict(DEFAULT_SIGNATURE.items()) | {name: len(arguments.split()) for name, arguments in heads})


def formulas() -> Iterator[Formula]:
    """Of the templates, one for each wording of parts that is not like one before but for the letters; the others."""
    seen: set[str] = set()
    for template in all_templates():
        sentence = to_english(template.formula).sentence
        wording = re.sub(r"\b[PQ]\b", "P", re.sub(r"\b[RS]-(successor|predecessor)", "R-successor", sentence))
        if wording not in seen:
            seen.add(wording)
            yield template.formula
    for line in OTHERS.strip().split("\n"):
        formula = parse_formula(line, signature_of(line), free=None)
        yield with_predicates(formula, {name: name.removeprefix("named_") for name in signature_of(line)})


def main() -> None:
    """Print the table."""
    print(f"# {COMMAND}")
    for formula in formulas():
        print(f"{to_sexpr(formula)}\t{to_english(formula).sentence}")


if __name__ == "__main__":
    main()
