"""Formulas for people: indented prefix form, and mathematical notation."""

from collections.abc import Iterator

from induction.formula.syntax import (
    And,
    Atom,
    BinaryConnective,
    Equal,
    Exists,
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

_SYMBOLS = {And: "∧", Or: "∨", Implies: "→", Iff: "↔"}
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
    require_tree_size(formula, "printing")
    pieces: list[str] = []
    pending: list[tuple[Formula | str, int]] = [(formula, 0)]  # with the loosest operator allowed unparenthesised
    while pending:
        item, loosest = pending.pop()
        match item:
            case str():
                pieces.append(item)
            case Atom(predicate, arguments):
                pieces.append(f"{predicate}({', '.join(arguments)})")
            case Equal(left, right):
                pieces.append(f"{left} = {right}" if loosest < _TIGHTEST else f"({left} = {right})")
            case Not(Equal(left, right)):
                pieces.append(f"{left} ≠ {right}" if loosest < _TIGHTEST else f"({left} ≠ {right})")
            case Not(operand):
                pieces.append("¬")
                pending.append((operand, _TIGHTEST))
            case Quantified(variable, body):
                pieces.append(("∃" if isinstance(item, Exists) else "∀") + variable + " ")
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
                        (f" {_SYMBOLS[type(item)]} ", 0),
                        (left, own if associative else own + 1),
                    )
                )
            case _:
                raise AssertionError(item)
    return "".join(pieces)
