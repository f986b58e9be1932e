"""The sentences of `english` read back: a lexer of phrases, the grammar, and what each wording stands for."""

import functools
import itertools
import re
from collections.abc import Generator, Iterator
from importlib import resources
from typing import Any, TypeAlias

import lark
from lark.lexer import Lexer, Token

from induction.errors import FormulaSyntaxError, printable
from induction.formula.syntax import (
    And,
    Atom,
    Equal,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Variable,
    conjunction_of,
    disjunction_of,
    run_walk,
)
from induction.rewriting.english import PHRASES, RESERVED

# Told apart by what becomes of them; other terminals only mark places, which their leading underscore says to lark.
_KEPT = frozenset({"NAME", "ROLE", "EVERY", "EACH", "NO", "NOT_ONE", "NOT_EVERY", "NOT_EACH", "FOR_EVERY", "FOR_EACH"})
_KEPT |= {"FOR_ALL_OBJECTS", "THERE_ARE"} | {name for name in PHRASES.values() if name.endswith("WHOSE")}
_KEPT |= {"WHOSE_EVERY", "AND_WHOSE_EVERY"}

_OPENERS = {
    "_ALL_HOLD": r"(?:both \((\d+)\) and \((\d+)\) hold|all of \((\d+)\) to \((\d+)\) hold):",
    "_ONE_HOLDS": r"at least one of \((\d+)\) (?:and|to) \((\d+)\) holds:",
    "_IF_HOLDS": r"if \((\d+)\) holds then so does \((\d+)\):",
    "_AGREE": r"both or neither of \((\d+)\) and \((\d+)\) hold:",
    "_ONE_HOLDS_ALONE": r"exactly one of \((\d+)\) and \((\d+)\) holds:",
}
_IDENTIFIER = r"[A-Za-z_][A-Za-z0-9_]*"

_Node: TypeAlias = "lark.Tree[Token] | Token"
_Walk: TypeAlias = Generator[Any, Any, Any]


def read_english(text: str) -> Formula:
    """The formula that `english.to_english` says as `text`, a sentence or its layout; bound variables have new names.

    Raises:
        FormulaSyntaxError: no such sentence.
    """
    words = " ".join(text.split())
    try:
        tree = _parser().parse(words)
    except lark.UnexpectedToken as error:
        at = len(words) if error.token.type == "$END" else error.token.start_pos or 0
        raise _no_sentence(words, at) from None
    formula: Formula = run_walk(_Reader(words).formula(tree.children[0], ""))
    return formula


def _no_sentence(words: str, at: int) -> FormulaSyntaxError:
    offending = words[at:].split(" ")[0] or "end of text"
    return FormulaSyntaxError(
        f"unexpected '{printable(offending)}'", line=1, column=at + 1, offending=offending, expected="another word"
    )


@functools.cache
def _parser() -> lark.Lark:
    grammar = resources.files("induction.grammars").joinpath("english.lark").read_text(encoding="utf-8")
    return lark.Lark(grammar, parser="lalr", lexer=_PhraseLexer, propagate_positions=False, maybe_placeholders=False)


@functools.cache
def _lexicon() -> re.Pattern[str]:
    phrases = sorted(PHRASES, key=len, reverse=True)
    # "exactly when it is" followed by "not the case" is "exactly when" and a statement.
    words = "|".join(
        re.escape(phrase) + (r"(?! not the case that)" if phrase.endswith(" it is") else "") for phrase in phrases
    )
    openers = "|".join(f"(?P<{name}>{pattern})" for name, pattern in _OPENERS.items())
    role = rf"'?{_IDENTIFIER}'?-(?:successor|predecessor|neighbour)s?"
    return re.compile(
        rf"{openers}|\((?P<PART>\d+)\)|(?P<ROLE>{role})(?!\w)"
        rf"|(?P<PHRASE>{words})(?![\w'-])|(?P<NAME>'{_IDENTIFIER}'|{_IDENTIFIER})(?!\w)|(?P<SEMICOLON>;)|(?P<STRAY>\S+)"
    )


class _PhraseLexer(Lexer):
    """Cuts a text into phrases, names and numbered parts, and closes each list where its last part has ended."""

    def __init__(self, lexer_conf: Any) -> None:
        pass

    def lex(self, data: str) -> Iterator[Token]:  # type: ignore[override]
        """The tokens of `data`, whose words are one blank apart."""
        lists: list[tuple[int, int]] = []  # next and last number of each list that is open
        for match in _lexicon().finditer(data):
            kind, word = match.lastgroup or "", match[0]

            def token(name: str, value: str = word, at: int = match.start()) -> Token:
                return Token(name, value, start_pos=at)

            if kind in _OPENERS:
                first, last = (int(number) for number in match.groups() if number and number.isdigit())
                lists.append((first, last))
                yield token(kind)
            elif kind == "PART":
                number = int(match["PART"])
                while lists and lists[-1][0] != number:
                    expected, last = lists.pop()
                    if expected <= last:
                        raise _no_sentence(data, match.start())
                    yield token("_END")
                if not lists or number > lists[-1][1]:
                    raise _no_sentence(data, match.start())
                lists[-1] = (number + 1, lists[-1][1])
                yield token("_PART")
            elif kind == "PHRASE":
                name = PHRASES[word]
                yield token(name if name in _KEPT else f"_{name}")
            elif kind == "STRAY" or (kind == "NAME" and word in RESERVED):
                raise _no_sentence(data, match.start())
            elif kind != "SEMICOLON":
                yield token(kind, word.strip("'") if kind == "NAME" else word)
        for expected, last in reversed(lists):
            if expected <= last:
                raise _no_sentence(data, len(data))
            yield Token("_END", "", start_pos=len(data))


class _Reader:
    """Formulas of parsed sentences; the walks are generators for `run_walk`, `subject` is who a phrase is about."""

    def __init__(self, text: str) -> None:
        named = set(re.findall(_IDENTIFIER, text))
        self._fresh = (name for name in (f"v{number}" for number in itertools.count(1)) if name not in named)

    def formula(self, node: Any, subject: Variable) -> _Walk:
        """What the sentence or phrase `node` says, of `subject` where it is about one."""
        parts = node.children
        match node.data:
            case "said":
                return (yield self.formula(parts[1], str(parts[0])))
            case "being" | "such_that":
                return (yield self.formula(parts[0], subject))
            case "predicate":
                return Atom(str(parts[0]), (subject,))
            case "relation":
                return _related(str(parts[0]), _term(parts[1], subject), subject)
            case "same":
                return Equal(subject, _term(parts[0], subject))
            case "identical":
                return Equal(_term(parts[0], subject), subject)
            case "different":
                return Not(Equal(subject, _term(parts[0], subject)))
            case "has" | "has_no":
                role, name, relative = _taken_apart(parts[0])
                variable = name or next(self._fresh)
                body = yield self._restricted(_related(role, subject, variable), relative, variable)
                return _denied_if(node.data == "has_no", Exists(variable, body))
            case "there_is" | "there_is_no":
                name = next((str(part.children[0]) for part in parts if part.data == "name"), None)
                variable = name or next(self._fresh)
                other = next((Not(Equal(variable, _term(p.children[0], ""))) for p in parts if p.data == "other"), None)
                relative = parts[-1] if parts and parts[-1].data not in ("name", "other") else None
                body = yield self._restricted(other, relative, variable)
                return _denied_if(node.data == "there_is_no", Exists(variable, body))
            case "every" | "for_every":
                return (yield self._universal(str(parts[0].type), parts[1], parts[2]))
            case "whose":
                return (yield self._universal(str(parts[0].type), parts[1], parts[2], subject))
            case "block":
                body = yield self.formula(parts[2], "")
                quantifier = ForAll if parts[0].type == "FOR_ALL_OBJECTS" else Exists
                for name in reversed(parts[1].children):
                    body = quantifier(str(name), body)
                return body
            case "path" | "short_path" | "named_path":
                return (yield self._path(node))
        said: list[Formula] = []
        for part in parts:
            formula = yield self.formula(part, subject)
            said.append(formula)
        match node.data:
            case "conjunction":
                return conjunction_of(said)
            case "disjunction":
                return disjunction_of(said)
            case "implication":
                return Implies(*said)
            case "conversely":
                return Implies(said[1], said[0])
            case "equivalence":
                return Iff(*said)
            case "exclusive":
                return Not(Iff(*said))
            case "denial":
                return Not(said[0])
            case "but_not":
                return And(said[0], Not(said[1]))
            case "neither":
                return And(Not(said[0]), Not(said[1]))
            case "not_both":
                return Not(And(*said))
        raise AssertionError(node.data)

    def _restricted(self, guard: Formula | None, relative: Any, variable: Variable) -> _Walk:
        if relative is None:
            if guard is None:
                raise _said_wrong("an object of which nothing is said")
            return guard
        if relative.data == "also_and":
            if guard is None:
                raise _said_wrong("'also' beside nothing")
            also = yield self.formula(relative.children[0], variable)
            return And(And(guard, also), (yield self.formula(relative.children[1], variable)))
        rest = yield self.formula(relative, variable)
        return rest if guard is None else And(guard, rest)

    def _universal(self, word: str, kind: Any, said: Any, anchor: Variable = "") -> _Walk:
        word = word.removeprefix("AND_")
        guard: Formula | None = None
        restriction = None
        name = None
        for part in kind.children:
            match part.data:
                case "role" | "role_of":
                    role, named, term = _taken_apart(part)
                    name = name or named
                    variable = name or next(self._fresh)
                    guard = _related(role, anchor or _term(term, ""), variable)
                case "name":
                    name = str(part.children[0])
        if guard is None:
            variable = name or next(self._fresh)
        elif name and variable != name:  # "whose every R-successor y": the name comes after the role
            guard = _renamed(guard, variable, name)
            variable = name
        conditions: list[Formula] = [] if guard is None else [guard]
        for part in kind.children:
            if part.data in ("restriction", "also"):
                conditions.append((yield self.formula(part.children[0], variable)))
                restriction = part.data
            elif part.data == "other":
                conditions.append(Not(Equal(variable, _term(part.children[0], ""))))
        body = yield self.formula(said, variable)
        if word in ("NO", "NOT_ONE", "NONE_OF_WHOSE", "NOT_ONE_OF_WHOSE"):
            body = Not(body)
        if conditions:
            if word in ("EACH", "NOT_ONE", "NOT_EACH", "FOR_EACH", "EACH_OF_WHOSE", "NOT_ONE_OF_WHOSE"):
                body = Implies(conjunction_of(conditions), body)
            elif restriction == "also":
                body = Or(disjunction_of(Not(condition) for condition in conditions), body)
            elif guard is not None and isinstance(guard, And) and len(conditions) == 1:
                body = Or(Or(Not(guard.left), Not(guard.right)), body)
            else:
                both = conjunction_of(conditions)
                body = Or(both.operand if isinstance(both, Not) else Not(both), body)
        return _denied_if(word in ("NOT_EVERY", "NOT_EACH"), ForAll(variable, body))

    def _path(self, node: Any) -> _Walk:
        said = node.children[-1]
        if node.data == "named_path":
            role_of, second = node.children[:2]
        else:
            second, role_of = node.children[:2]
        two, end, _ = _taken_apart(second)
        one, middle, term = _taken_apart(role_of)
        middle = middle or next(self._fresh)
        if node.data != "named_path":
            end = next(self._fresh)
        assert end is not None
        path = And(_related(one, _term(term, ""), middle), _related(two, middle, end))
        if node.data != "short_path":
            path = And(path, (yield self.formula(said, end)))
        return Exists(middle, Exists(end, path))


def _taken_apart(node: Any) -> tuple[str, Variable | None, Any]:
    """The role, the name if there is one, and what else there is, of a noun, a role, or one "of" a term."""
    if node.data == "noun":
        role, *others = node.children
    else:
        role, others = node, node.children[1:]
    name = next((str(part.children[0]) for part in others if part.data == "name"), None)
    rest = next((part for part in others if part.data != "name"), None)
    return str(role.children[0]), name, rest


def _term(node: Any, subject: Variable) -> Variable:
    if node.data == "itself":
        return subject
    return str(node.children[0])


def _related(role: str, anchor: Variable, variable: Variable) -> Formula:
    """That `variable` has a role such as "R-successor" for `anchor`."""
    predicate, _, kind = role.partition("-")
    predicate = predicate.strip("'")
    forth, back = Atom(predicate, (anchor, variable)), Atom(predicate, (variable, anchor))
    match kind.removesuffix("s"):
        case "successor":
            return forth
        case "predecessor":
            return back
    return And(forth, back)


def _renamed(guard: Formula, old: Variable, new: Variable) -> Formula:
    if isinstance(guard, Atom):
        return Atom(guard.predicate, tuple(new if variable == old else variable for variable in guard.arguments))
    return guard.with_children(*(_renamed(child, old, new) for child in guard.children))


def _denied_if(denied: bool, formula: Formula) -> Formula:
    return Not(formula) if denied else formula


def _said_wrong(problem: str) -> FormulaSyntaxError:
    return FormulaSyntaxError(problem, line=1, column=1, offending="", expected="a sentence")
