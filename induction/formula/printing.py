"""Formulas for people: indented prefix form, and mathematical notation in Unicode and LaTeX."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from induction.formula.syntax import (
    And,
    Atom,
    BinaryConnective,
    Equal,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Quantified,
    require_tree_size,
    to_sexpr,
)

_INDENT = 2
_DEEPEST_INDENT = 40  # deeper nesting stays at this margin: otherwise its text grows with the square of the depth

_PRECEDENCE = {Iff: 1, Implies: 2, Or: 3, And: 4}
_TIGHTEST = 5


def to_pretty(formula: Formula, width: int = 80) -> str:
    """Prefix form over several lines of at most `width` characters where nesting allows; parses back to `formula`.

    `and` and `or` that are folded to the right are written n-ary.

    Raises:
        FormulaTooLargeError: more than `MAX_TREE_NODES` AST nodes.
    """
    require_tree_size(formula, "printing")
    lines: list[str] = []
    # (indent, text before, formula, closing parentheses after)
    pending: list[tuple[int, str, Formula, str]] = [(0, "", formula, "")]
    while pending:
        indent, before, node, after = pending.pop()
        margin = " " * min(indent, _DEEPEST_INDENT)
        room = width - len(margin) - len(before) - len(after)
        # An AST node takes at least one character, so this skips printing what cannot fit.
        if node.ast_nodes <= room or not node.children:
            flat = _flat(node)
            if len(flat) <= room or not node.children:
                lines.append(margin + before + flat + after)
                continue
        match node:
            case Quantified(variable, body):
                head, parts = f"({node.keyword} {variable}", [body]
            case Not(operand):
                head, parts = "(not", [operand]
            case And() | Or():
                head, parts = f"({node.keyword}", list(_right_spine(node))
            case BinaryConnective(left, right):
                head, parts = f"({node.keyword}", [left, right]
            case _:
                raise AssertionError(node)
        lines.append(margin + before + head)
        last = len(parts) - 1
        pending.extend(
            (indent + _INDENT, "", part, ")" + after if i == last else "")
            for i, part in reversed(list(enumerate(parts)))
        )
    return "\n".join(lines)


def _right_spine(node: BinaryConnective) -> Iterator[Formula]:
    spine: Formula = node
    while type(spine) is type(node) and isinstance(spine, BinaryConnective):
        yield spine.left
        spine = spine.right
    yield spine


def _flat(formula: Formula) -> str:
    pieces: list[str] = []
    pending: list[Formula | str] = [formula]
    while pending:
        item = pending.pop()
        if isinstance(item, And | Or):
            pieces.append(f"({item.keyword}")
            pending.append(")")
            for part in reversed(list(_right_spine(item))):
                pending.extend((part, " "))
        elif isinstance(item, str):
            pieces.append(item)
        elif not item.children:
            pieces.append(to_sexpr(item))
        else:
            word = f"{item.keyword} {item.variable}" if isinstance(item, Quantified) else "not"
            if isinstance(item, BinaryConnective):
                word = item.keyword
            pieces.append(f"({word}")
            pending.append(")")
            for child in reversed(item.children):
                pending.extend((child, " "))
    return "".join(pieces)


def to_unicode(formula: Formula) -> str:
    """Mathematical notation: `∃y (R(x, y) ∧ P(y))`, with as few parentheses as precedence allows.

    From tight to loose: ¬ and quantifiers, ∧, ∨, →, ↔. A chain of one of ∧ and ∨ is written without
    parentheses however it was nested.

    Raises:
        FormulaTooLargeError: more than `MAX_TREE_NODES` AST nodes.
    """
    return _infix(formula, _UNICODE)


def to_latex(formula: Formula) -> str:
    r"""LaTeX for math mode, as `to_unicode` sets it: `\exists y\, (R(x, y) \land P(y))`.

    Names of more than one letter are set as one italic word.

    Raises:
        FormulaTooLargeError: more than `MAX_TREE_NODES` AST nodes.
    """
    return _infix(formula, _LATEX)


@dataclass(frozen=True)
class _Notation:
    """How the parts of a formula are written between operands and parentheses."""

    negation: str
    unequal: str
    connectives: Mapping[type[Formula], str]
    quantifiers: Mapping[type[Formula], str]
    gap: str  # between a bound variable and the body
    name: Callable[[str], str]


def _latex_name(name: str) -> str:
    stem, digits = re.fullmatch(r"(.*?)([0-9]*)", name, re.DOTALL).groups()  # type: ignore[union-attr]
    letters = stem if len(stem) == 1 and stem != "_" else rf"\mathit{{{stem.replace('_', chr(92) + '_')}}}"
    return f"{letters}_{{{digits}}}" if digits else letters


_UNICODE = _Notation(
    negation="¬",
    unequal="≠",
    connectives={And: "∧", Or: "∨", Implies: "→", Iff: "↔"},
    quantifiers={Exists: "∃", ForAll: "∀"},
    gap=" ",
    name=str,
)
_LATEX = _Notation(
    negation=r"\lnot ",
    unequal=r"\neq",
    connectives={And: r"\land", Or: r"\lor", Implies: r"\rightarrow", Iff: r"\leftrightarrow"},
    quantifiers={Exists: r"\exists ", ForAll: r"\forall "},
    gap=r"\, ",
    name=_latex_name,
)


def _infix(formula: Formula, notation: _Notation) -> str:
    require_tree_size(formula, "printing")
    name = notation.name
    pieces: list[str] = []
    pending: list[tuple[Formula | str, int]] = [(formula, 0)]  # with the loosest operator allowed unparenthesised
    while pending:
        item, loosest = pending.pop()
        match item:
            case str():
                pieces.append(item)
            case Atom(predicate, arguments):
                pieces.append(f"{name(predicate)}({', '.join(map(name, arguments))})")
            case Equal(left, right):
                pieces.append(_enclosed(f"{name(left)} = {name(right)}", loosest))
            case Not(Equal(left, right)):
                pieces.append(_enclosed(f"{name(left)} {notation.unequal} {name(right)}", loosest))
            case Not(operand):
                pieces.append(notation.negation)
                pending.append((operand, _TIGHTEST))
            case Quantified(variable, body):
                pieces.append(notation.quantifiers[type(item)] + name(variable) + notation.gap)
                pending.append((body, _TIGHTEST))
            case BinaryConnective(left, right):
                own = _PRECEDENCE[type(item)]
                associative = isinstance(item, And | Or)
                opening, closing = ("(", ")") if own < loosest else ("", "")
                pieces.append(opening)
                pending.extend(
                    (
                        (closing, 0),
                        (right, own if associative or isinstance(item, Implies) else own + 1),
                        (f" {notation.connectives[type(item)]} ", 0),
                        (left, own if associative else own + 1),
                    )
                )
            case _:
                raise AssertionError(item)
    return "".join(pieces)


def _enclosed(relation: str, loosest: int) -> str:
    return relation if loosest < _TIGHTEST else f"({relation})"
