"""Formulas and texts with what is known of each; used by parser, printer, metrics and evaluation tests."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """A formula text and its measures, worked out by hand."""

    text: str
    folded: str  # the text with n-ary connectives folded to the right
    ast: int
    depth: int
    alternations: int = 0
    lift: int = 0
    equality: int = 0


FORMULAS = [
    Known("(P x)", "(P x)", 2, 0),
    Known("(R x x)", "(R x x)", 3, 0),
    Known("(= x x)", "(= x x)", 3, 0, equality=1),
    Known("(not (P x))", "(not (P x))", 3, 0),
    Known("( and (P x)\n\t(Q x) )", "(and (P x) (Q x))", 5, 0),
    Known("(and (P x) (Q x) (R x x))", "(and (P x) (and (Q x) (R x x)))", 9, 0),
    Known("(and (and (P x) (Q x)) (R x x))", "(and (and (P x) (Q x)) (R x x))", 9, 0),
    Known("(or (P x) (Q x) (P x) (Q x))", "(or (P x) (or (Q x) (or (P x) (Q x))))", 11, 0),
    Known("(implies (P x) (Q x))", "(implies (P x) (Q x))", 5, 0),
    Known("(iff (P x) (exists y (R x y)))", "(iff (P x) (exists y (R x y)))", 8, 1, lift=1),
    Known(
        "(and (and (not (P x)) (Q x)) (exists y (and (R x y) (and (P y) (Q y)))))",
        "(and (and (not (P x)) (Q x)) (exists y (and (R x y) (and (P y) (Q y)))))",
        18,
        1,
        lift=1,
    ),
    Known(
        "(exists y (and (not (P y)) (forall z (or (not (S y z)) (S x z)))))",
        "(exists y (and (not (P y)) (forall z (or (not (S y z)) (S x z)))))",
        16,
        2,
        alternations=1,
        lift=2,
    ),
    Known(
        "(forall y (or (not (R x y)) (exists z (and (R y z) (not (P z))))))",
        "(forall y (or (not (R x y)) (exists z (and (R y z) (not (P z))))))",
        16,
        2,
        alternations=1,
        lift=1,
    ),
    # The negation turns the outer "exists" into "for all": no alternation with the inner one.
    Known("(not (exists y (not (forall z (R x z)))))", "(not (exists y (not (forall z (R x z)))))", 9, 2, lift=2),
    Known("(forall y (not (exists z (R x z))))", "(forall y (not (exists z (R x z))))", 8, 2, lift=2),
    Known(
        "(iff (P x) (forall y (exists y (= y x))))",
        "(iff (P x) (forall y (exists y (= y x))))",
        10,
        2,
        alternations=1,
        lift=2,
        equality=1,
    ),
    # x is bound again: only its first occurrence is free.
    Known("(and (P x) (exists x (Q x)))", "(and (P x) (exists x (Q x)))", 7, 1),
    Known("(exists y1 (exists y1 (R x y1)))", "(exists y1 (exists y1 (R x y1)))", 7, 2, lift=2),
    Known("(exists neighbour (S neighbour x))", "(exists neighbour (S neighbour x))", 5, 1, lift=1),
]


@dataclass(frozen=True)
class Broken:
    """A text that is no definition of T: where it goes wrong, the offending text, and words of the message."""

    text: str
    line: int
    column: int
    offending: str
    words: tuple[str, ...]


BROKEN = [
    Broken("", 1, 1, "end of text", ("empty",)),
    Broken("  \n ", 1, 1, "end of text", ("empty",)),
    Broken("(And (P x) (Q x))", 1, 2, "And", ("unknown predicate", "did you mean and?")),
    Broken("(AND (P x) (Q x))", 1, 2, "AND", ("did you mean and?",)),
    Broken("(∧ (P x) (Q x))", 1, 2, "∧", ("did you mean and?",)),
    Broken("(& (P x) (Q x))", 1, 2, "&", ("did you mean and?",)),
    Broken("(∀ y (R x y))", 1, 2, "∀", ("did you mean forall?",)),
    Broken("(∃y (R x y))", 1, 2, "∃y", ("(exists y",)),
    Broken("(exist y (R x y))", 1, 2, "exist", ("did you mean exists?",)),
    Broken("(for_all y (R x y))", 1, 2, "for_all", ("did you mean forall?",)),
    Broken("(-> (P x) (Q x))", 1, 2, "->", ("did you mean implies?",)),
    Broken("(<-> (P x) (Q x))", 1, 2, "<->", ("did you mean iff?",)),
    Broken("(¬ (P x))", 1, 2, "¬", ("did you mean not?",)),
    Broken("(exsits y (R x y))", 1, 2, "exsits", ("did you mean exists?",)),
    Broken("(p x)", 1, 2, "p", ("did you mean P?",)),
    Broken("(!= x x)", 1, 2, "!=", ("(not (= x y))",)),
    Broken("(x = x)", 1, 2, "x", ("(= x x)",)),
    Broken("(x R x)", 1, 2, "x", ("(R x x)",)),
    Broken("P(x) & Q(x)", 1, 1, "P", ("write (P x)", "(and A B)")),
    Broken("(P(x) & Q(x))", 1, 3, "(", ("write (P x)",)),
    Broken("R(x, x)", 1, 1, "R", ("write (R x y)",)),
    Broken("(P x) and (Q x)", 1, 7, "and", ("after the end", "(and A B)")),
    Broken("(P x) & (Q x)", 1, 7, "&", ("(and A B)",)),
    Broken("(R x x and Q x)", 1, 8, "and", ("(and A B)",)),
    Broken("(and (P x) or (Q x))", 1, 12, "or", ("(or A B)",)),
    Broken("not (P x)", 1, 1, "not", ("(not ...)",)),
    Broken("P x", 1, 1, "P", ("(P x)",)),
    Broken("(R x, x)", 1, 4, "x,", ("commas",)),
    Broken("(exists y. (R x y))", 1, 9, "y.", ("dots",)),
    Broken("(exists (y) (R x y))", 1, 9, "(", ("(exists y ...)",)),
    Broken("(exists y z (R x z))", 1, 11, "z", ("one variable at a time",)),
    Broken("(exists Y (R x Y))", 1, 9, "Y", ("lower-case", "y")),
    Broken("(P x x)", 1, 2, "P", ("P takes 1 argument, 2 given",)),
    Broken("(R x)", 1, 2, "R", ("R takes 2 arguments, 1 given",)),
    Broken("(P)", 1, 2, "P", ("P takes 1 argument, 0 given",)),
    Broken("(T x)", 1, 2, "T", ("target", "own definition")),
    Broken("(T and F)", 1, 2, "T", ("target",)),
    Broken("(and (P x)\n     (Zed x))", 2, 7, "Zed", ("unknown predicate 'Zed'", "P, Q, R, S")),
    Broken("(P A)", 1, 4, "A", ("no constants",)),
    Broken("(P 3)", 1, 4, "3", ("no constants",)),
    Broken("(and (P x) true)", 1, 12, "true", ("truth constants",)),
    Broken("(R x a0)", 1, 6, "a0", ("variable a0 is free", "objects cannot be named")),
    Broken("(R x y)", 1, 6, "y", ("variable y is free", "(exists y ...)")),
    Broken("(or (R x z) (exists z (R z z)))", 1, 10, "z", ("variable z is free",)),
    Broken("(exists y (P y))", 1, 1, "(exists", ("x does not occur free",)),
    Broken("(exists x (P x))", 1, 1, "(exists", ("x does not occur free",)),
    Broken("(and (P x))", 1, 11, ")", ("and takes two or more operands",)),
    Broken("(or)", 1, 4, ")", ("or takes two or more operands",)),
    Broken("(not (P x) (Q x))", 1, 12, "(", ("not takes one operand",)),
    Broken("(implies (P x))", 1, 15, ")", ("implies lacks an operand",)),
    Broken("(iff (P x) (Q x) (P x))", 1, 18, "(", ("iff takes two operands",)),
    Broken("(exists y (R x y) (P y))", 1, 19, "(", ("one body",)),
    Broken("((P x))", 1, 2, "(", ("doubled parenthesis",)),
    Broken("()", 1, 2, ")", ("empty pair",)),
    Broken("(P x))", 1, 6, ")", ("one ) too many",)),
    Broken("(P x) (Q x)", 1, 7, "(", ("(and A B)",)),
    Broken("(and (P x) (Q x)", 1, 17, "end of text", ("1 '(' still open", "add ) at the end")),
    Broken("(not (not (P x)", 1, 16, "end of text", ("add )) at the end",)),
    Broken("\x1b[31m(P x)", 1, 1, "\x1b[31m", ("\\x1b[31m",)),
    Broken("x", 1, 1, "x", ("expected a formula in parentheses",)),
]
