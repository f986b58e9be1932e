"""Text to formula, and for a text that is none: where, why, and what to write instead."""

import difflib
import functools
import re
from collections.abc import Collection, Iterator
from importlib import resources
from typing import TypeAlias, cast

import lark
from lark.lexer import Token

from induction.errors import FormulaSyntaxError, FormulaTooLargeError, printable
from induction.formula.syntax import (
    DEFAULT_SIGNATURE,
    FREE_VARIABLE,
    KEYWORDS,
    TARGET,
    VARIABLE_PATTERN,
    Atom,
    Equal,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Quantified,
    Signature,
    Variable,
    conjunction_of,
    disjunction_of,
)

MAX_FORMULA_CHARACTERS = 1_000_000
"""Longest text that is parsed; nesting and width need no limits of their own."""

_VARIABLES_AFTER = {"PREDICATE": 10**9, "EQUALS": 10**9, "FORALL": 1, "EXISTS": 1}
_TERMINALS = {keyword: keyword.upper() for keyword in KEYWORDS} | {"=": "EQUALS"}

_SYNONYMS = {
    "forall": "∀ all every each for_all foreach",
    "exists": "∃ some exist any thereis there_exists",
    "not": "¬ ~ ! - neg",
    "and": "∧ & && /\\ * conj",
    "or": "∨ | || \\/ + disj v",
    "implies": "→ -> => ==> ⇒ ⊃ --> implies if imp only_if",
    "iff": "↔ <-> <=> ⇔ ≡ <=> equiv xnor",
    "=": "== eq equals ===",
}
_KEYWORD_OF_SYNONYM = {word: keyword for keyword, words in _SYNONYMS.items() for word in words.split()}
_UNEQUAL = {"!=", "≠", "<>", "/=", "neq"}
_TRUTH_CONSTANTS = {"true", "false", "⊤", "⊥", "True", "False", "top", "bottom"}

# What a formula carries while it is being put together: its free variables, each with its first occurrence.
_Parsed: TypeAlias = tuple[Formula, dict[Variable, Token]]


def parse_formula(
    text: str,
    signature: Signature = DEFAULT_SIGNATURE,
    *,
    free: Collection[Variable] | None = (FREE_VARIABLE,),
) -> Formula:
    """The formula that `text` holds.

    n-ary `and` and `or` fold to the right. `free` names the variables that must be free in it, all of them and
    no others; None lets any be free.

    Raises:
        FormulaSyntaxError: not a formula over `signature`, or other free variables than `free`.
        FormulaTooLargeError: longer than `MAX_FORMULA_CHARACTERS`.
    """
    if len(text) > MAX_FORMULA_CHARACTERS:
        raise FormulaTooLargeError(
            f"the formula text has {len(text):,} characters; the limit is {MAX_FORMULA_CHARACTERS:,}"
        )
    parser = _parser_over(signature)
    try:
        # With an embedded transformer, what comes back is what `start` returned, not a tree.
        formula, occurrences = cast(_Parsed, parser.parse(text))
    except lark.UnexpectedToken as error:
        raise _explain(text, error, signature) from None
    if free is not None:
        _require_free_variables(text, occurrences, free, signature)
    return formula


@functools.lru_cache(maxsize=32)
def _parser_over(signature: Signature) -> lark.Lark:
    grammar = resources.files("induction.grammars").joinpath("formula.lark").read_text(encoding="utf-8")
    return lark.Lark(
        grammar,
        parser="lalr",
        lexer="basic",
        postlex=_SymbolSorter(signature),
        transformer=_Builder(signature),
        propagate_positions=False,
    )


class _SymbolSorter:
    """Tells keywords, predicates, variables and everything else apart before the parser sees them.

    NOTE(position): predicates and variables are told apart by where they stand, so that a predicate may be named like
    a variable. The word right after "(" is a head; what follows a predicate or `=`, and the first word after a
    quantifier, are variables if they can be. Elsewhere, where neither may stand, a predicate's name counts as one.
    """

    always_accept = ("SYMBOL",)

    def __init__(self, signature: Signature) -> None:
        self._terminals = dict.fromkeys(signature, "PREDICATE") | _TERMINALS

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        after_parenthesis = False
        variables_left = 0
        for token in stream:
            if token.type == "SYMBOL":
                word = str(token)
                known = self._terminals.get(word)
                if variables_left and known == "PREDICATE" and VARIABLE_PATTERN.fullmatch(word):
                    known = "VARIABLE"
                variables_left = max(0, variables_left - 1)
                token.type = known or ("VARIABLE" if VARIABLE_PATTERN.fullmatch(word) else "STRAY")
                if after_parenthesis:
                    variables_left = _VARIABLES_AFTER.get(token.type, 0)
            else:
                variables_left = 0
            after_parenthesis = token.type == "LPAR"
            yield token


@lark.v_args(inline=True)
class _Builder(lark.Transformer[Token, _Parsed]):
    """Called by the parser as it completes each subformula, so that no parse tree is ever built."""

    def __init__(self, signature: Signature) -> None:
        super().__init__()
        self._signature = signature

    def start(self, parsed: _Parsed) -> _Parsed:
        return parsed

    def atom(self, predicate: Token, *arguments: Token) -> _Parsed:
        arity = self._signature.arity(str(predicate))
        if len(arguments) != arity:
            infix = min(
                (str(one) for one in arguments if one in self._signature),
                key=lambda name: (name == FREE_VARIABLE, -self._signature.arity(name)),
                default=None,
            )
            raise _error_at(
                predicate,
                f"{printable(predicate)} takes {_count(arity, 'argument')}, {len(arguments)} given",
                expected=_atom_of(str(predicate), self._signature),
                suggestion="" if infix is None else _prefix_notation(infix, self._signature),
            )
        return Atom(str(predicate), tuple(map(str, arguments))), _occurrences(arguments)

    def equal(self, _equals: Token, left: Token, right: Token) -> _Parsed:
        return Equal(str(left), str(right)), _occurrences((left, right))

    def negation(self, _not: Token, operand: _Parsed) -> _Parsed:
        return Not(operand[0]), operand[1]

    def conjunction(self, _and: Token, *operands: _Parsed) -> _Parsed:
        return conjunction_of(operand[0] for operand in operands), _merged(operands)

    def disjunction(self, _or: Token, *operands: _Parsed) -> _Parsed:
        return disjunction_of(operand[0] for operand in operands), _merged(operands)

    def implication(self, _implies: Token, left: _Parsed, right: _Parsed) -> _Parsed:
        return Implies(left[0], right[0]), _merged((left, right))

    def equivalence(self, _iff: Token, left: _Parsed, right: _Parsed) -> _Parsed:
        return Iff(left[0], right[0]), _merged((left, right))

    def universal(self, _forall: Token, variable: Token, body: _Parsed) -> _Parsed:
        return self._quantified(ForAll, variable, body)

    def existential(self, _exists: Token, variable: Token, body: _Parsed) -> _Parsed:
        return self._quantified(Exists, variable, body)

    @staticmethod
    def _quantified(quantifier: type[Quantified], variable: Token, body: _Parsed) -> _Parsed:
        formula, occurrences = body
        occurrences.pop(variable, None)
        return quantifier(str(variable), formula), occurrences


def _occurrences(variables: tuple[Token, ...]) -> dict[Variable, Token]:
    return {str(variable): variable for variable in reversed(variables)}


def _merged(operands: tuple[_Parsed, ...]) -> dict[Variable, Token]:
    # Into the largest, which nobody else holds: a chain of n operands then costs n log n, not n squared.
    largest = max((occurrences for _, occurrences in operands), key=len)
    for _, occurrences in operands:
        if occurrences is not largest:
            for variable, token in occurrences.items():
                other = largest.get(variable)
                if other is None or (token.start_pos or 0) < (other.start_pos or 0):
                    largest[variable] = token
    return largest


def _require_free_variables(
    text: str, occurrences: dict[Variable, Token], free: Collection[Variable], signature: Signature
) -> None:
    named = " and ".join(sorted(free)) or "none"
    stray = [token for variable, token in occurrences.items() if variable not in free]
    if stray:
        first = min(stray, key=lambda token: token.start_pos or 0)
        name = printable(first)
        suggestion = f"bind it with (exists {name} ...) or (forall {name} ...)"
        if first in signature:
            suggestion += f"; as a predicate it stands in front, {_atom_of(first, signature)}"
        elif re.fullmatch(r"[a-z][0-9]+", first):
            suggestion += "; objects cannot be named, there are no constants in the language"
        raise _error_at(first, f"variable {name} is free", expected=f"free variables: {named}", suggestion=suggestion)
    missing = sorted(set(free) - set(occurrences))
    if missing:
        start = len(text) - len(text.lstrip())
        raise _error_in(
            text,
            start,
            text[start:].split(None, 1)[0],
            f"{missing[0]} does not occur free, so the formula says nothing about an object",
            expected=f"free variables: {named}",
        )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _error_at(token: Token, problem: str, *, expected: str = "", suggestion: str = "") -> FormulaSyntaxError:
    return FormulaSyntaxError(
        problem,
        line=token.line or 1,
        column=token.column or 1,
        offending=str(token),
        expected=expected,
        suggestion=suggestion,
    )


def _error_in(
    text: str, position: int, offending: str, problem: str, *, expected: str = "", suggestion: str = ""
) -> FormulaSyntaxError:
    before = text[:position]
    return FormulaSyntaxError(
        problem,
        line=before.count("\n") + 1,
        column=position - (before.rfind("\n") + 1) + 1,
        offending=offending,
        expected=expected,
        suggestion=suggestion,
    )


class _Surroundings:
    """What stands around `position`: neighbouring words, and the parentheses open there."""

    def __init__(self, text: str, position: int) -> None:
        self.previous = ""
        self.following: list[str] = []
        open_heads: list[tuple[str, int]] = []  # head word and number of operands so far, outermost first
        for word in re.finditer(r"[()]|[^\s()]+", text):
            token = word[0]
            if word.start() > position:
                self.following.append(token)
                if len(self.following) == 3:
                    break
            elif word.start() < position:
                if token == ")":
                    if open_heads:
                        open_heads.pop()
                else:
                    if open_heads:
                        head, operands = open_heads.pop()
                        is_head = self.previous == "(" and token != "("
                        open_heads.append((token, 0) if is_head else (head, operands + 1))
                    if token == "(":
                        open_heads.append(("", 0))
                self.previous = token
        self.unclosed = len(open_heads)
        self.head, self.operands = open_heads[-1] if open_heads else ("", 0)


def _explain(text: str, error: lark.UnexpectedToken, signature: Signature) -> FormulaSyntaxError:
    token: Token = error.token
    at_end = token.type == "$END"
    position = len(text) if at_end else token.start_pos or 0
    around = _Surroundings(text, position)
    wanted = _acceptable(set(error.expected), around)
    if at_end:
        return _explain_end(text, wanted, around, signature)
    word = str(token)
    suggestion = _suggestion(word, token.type, wanted, around, signature)
    if wanted == {"$END"}:
        problem = f"unexpected {_shown(word)} after the end of the formula"
    elif word == TARGET and "PREDICATE" in wanted:
        problem = f"{TARGET} is the target being defined and cannot be used in its own definition"
    elif token.type == "STRAY" and "PREDICATE" in wanted:
        problem = f"unknown predicate {_shown(word)}"
    elif token.type == "STRAY" and "VARIABLE" in wanted and re.fullmatch(r"[A-Z0-9]\w*", word):
        problem = f"{_shown(word)} is no variable, and there are no constants in the language"
    else:
        problem = f"unexpected {_shown(word)}"
    return _error_at(token, problem, expected=_expectation(wanted, signature), suggestion=suggestion)


def _acceptable(expected: set[str], around: _Surroundings) -> set[str]:
    """The terminals that could stand here. The parser's states are merged over contexts and list more."""
    if around.unclosed:
        return expected - {"$END"}
    return {"$END"} if around.previous else expected - {"$END", "RPAR"}


def _explain_end(text: str, wanted: set[str], around: _Surroundings, signature: Signature) -> FormulaSyntaxError:
    suggestion = ""
    if not text.strip():
        problem = "the formula is empty"
    else:
        problem = f"the text ends inside the formula, with {around.unclosed} '(' still open"
        if "RPAR" in wanted:
            closing = ")" * around.unclosed if around.unclosed <= 20 else f"{around.unclosed} ')'"
            suggestion = f"add {closing} at the end"
    end = len(text.rstrip())
    return _error_in(text, end, "end of text", problem, expected=_expectation(wanted, signature), suggestion=suggestion)


def _shown(word: str) -> str:
    return f"'{printable(word)}'"


def _shown_words(*words: str) -> str:
    return " ".join(printable(word) for word in words if word not in "()")


def _expectation(wanted: set[str], signature: Signature) -> str:
    if "PREDICATE" in wanted:
        names = list(signature)
        listed = ", ".join(names if len(names) <= 8 else [*names[:7], f"… {len(names)} in all"])
        return f"a predicate ({listed}), = or one of {' '.join(KEYWORDS)}"
    parts = []
    if "VARIABLE" in wanted:
        parts.append("a variable")
    if "LPAR" in wanted:
        parts.append("a formula in parentheses")
    if "RPAR" in wanted:
        parts.append("')'")
    if "$END" in wanted:
        parts.append("the end of the text")
    return " or ".join(parts)


def _suggestion(word: str, terminal: str, wanted: set[str], around: _Surroundings, signature: Signature) -> str:
    """What to write instead, for the mistakes that people and models make; empty where none is recognised."""
    meant = near_keyword(word)
    if word in _TRUTH_CONSTANTS:
        return "there are no truth constants; drop it, or write (= x x) for true"
    if wanted == {"$END"}:
        if word == ")":
            return "there is one ) too many"
        if meant:
            return f"write {meant} in front: ({meant} {'x y' if meant == '=' else 'A' if meant == 'not' else 'A B'})"
        return "join several formulas: (and A B)"
    if word == "(" and around.previous in signature:
        return _prefix_notation(around.previous, signature)
    if terminal == "PREDICATE" and "LPAR" in wanted:
        return _prefix_notation(word, signature)
    if "PREDICATE" in wanted:
        return _head_suggestion(word, terminal, meant, around, signature)
    if word == "(":
        if around.previous in ("forall", "exists"):
            return f"write ({around.previous} y ...), without parentheses around the variable"
        if "VARIABLE" in wanted:
            return "arguments are variables, without parentheses: (R x y)"
        if around.head == "not":
            return "not takes one operand: (not (and A B)) or (and (not A) B)"
        if around.head in ("implies", "iff"):
            return f"{around.head} takes two operands; nest it: ({around.head} A ({around.head} B C))"
        if around.head in ("forall", "exists"):
            return f"a quantifier has one body: ({around.head} y (and A B))"
        return ""
    if word == ")":
        if around.head in ("and", "or"):
            return f"{around.head} takes two or more operands"
        if around.head in ("implies", "iff", "not", "forall", "exists"):
            return f"{around.head} lacks an operand"
        return ""
    if meant and around.head in signature:
        return f"write {meant} in front: ({meant} A B)" if meant != "not" else "write (not A) around an atom"
    if around.head in ("forall", "exists") and "LPAR" in wanted and terminal == "VARIABLE":
        return f"bind one variable at a time: ({around.head} y ({around.head} z ...))"
    if "," in word or word.endswith((".", ":")) or word in {".", ":", ","}:
        return "separate words by blanks, without commas, dots or colons"
    if meant and "LPAR" in wanted:
        if around.operands:
            return f"write {meant} in front: ({meant} A B)"
        return f"put it in parentheses: ({meant} ...)"
    if terminal == "VARIABLE" and around.following[:1] == ["="]:
        return f"write (= {_shown_words(word, *around.following[1:2])})"
    if "VARIABLE" in wanted and VARIABLE_PATTERN.fullmatch(word.lower()):
        return f"variables start with a lower-case letter: {printable(word.lower())}"
    return ""


def _atom_of(predicate: str, signature: Signature) -> str:
    return f"({predicate} {' '.join('xy'[: signature.arity(predicate)])})"


def _prefix_notation(predicate: str, signature: Signature) -> str:
    return f"write {_atom_of(predicate, signature)}, and connectives in front too: (and A B)"


def _head_suggestion(word: str, terminal: str, meant: str, around: _Surroundings, signature: Signature) -> str:
    if word == "(":
        return "remove the doubled parenthesis; connectives stand in front: (and A B)"
    if word == ")":
        return "remove the empty pair of parentheses"
    if terminal == "VARIABLE" and around.following[:1]:
        operator = around.following[0]
        if operator in signature or near_keyword(operator) == "=":
            prefix = operator if operator in signature else "="
            return f"write ({prefix} {_shown_words(word, *around.following[1:2])})"
    if word == TARGET:
        return ""
    if word in _UNEQUAL:
        return "write (not (= x y))"
    if meant:
        return f"did you mean {meant}?"
    if word.startswith(("∀", "∃")):
        return f"write {'(forall' if word[0] == '∀' else '(exists'} {printable(word[1:2]) or 'y'} ...)"
    by_case = [name for name in signature if name.lower() == word.lower()]
    close = by_case or difflib.get_close_matches(word[:100], [*KEYWORDS, *signature], n=1, cutoff=0.7)
    return f"did you mean {close[0]}?" if close else ""


def near_keyword(word: str) -> str:
    """The keyword (or =) that `word` is or stands for; empty if none."""
    if word in _TERMINALS:
        return word
    if word in _KEYWORD_OF_SYNONYM:
        return _KEYWORD_OF_SYNONYM[word]
    lower = word.lower()
    if lower in _TERMINALS:
        return lower
    return _KEYWORD_OF_SYNONYM.get(lower, "")
