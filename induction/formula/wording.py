r"""What words and symbols around a formula do to it: negate it, quantify it, join it, define by it, or merely talk.

NOTE(operators): `not (P x)`, `$\neg$ (P x)` and `(P x) and (Q x)` are formulas in another notation. Taking the part in
parentheses alone would score a formula that nobody wrote, so whatever is known to be an operator, and every symbol that
is not known to be none, counts. The rules err on that side: a text that merely talks may be taken for more, never the
other way round.
"""

import re

from induction.formula.syntax import TARGET, Signature

LONGEST_LOOK = 300
"""So many characters before and after a formula are looked at."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NEGATIONS = _words(
    r"""
    not never neither without negate negated negates negating negation negations complement complemented
    opposite contrary converse inverse inverted non false untrue cannot falsity falsify falsifies violate
    violates violating lack lacks lacking avoid avoids nicht kein keine nie nao não nunca ne pas aucun не
    нет 不 非 没有 ¬ ~ ∼ ￢ ! \neg \lnot \not \sim \complement \overline \bar \nexists ∄
    """
)
_SYMBOLS_OF_CONNECTIVES = {
    "and": "∧ & && /\\ ⋀ \\land \\wedge \\bigwedge \\& ∩ \\cap",
    "or": "∨ | || \\/ ⋁ \\lor \\vee \\bigvee ∪ \\cup",
    "implies": "→ -> ⇒ => ==> --> ⟹ ⟶ ⊃ \\to \\rightarrow \\Rightarrow \\implies \\longrightarrow \\Longrightarrow",
    "iff": "↔ <-> ⇔ <=> <==> ⟺ ⟷ ≡ \\iff \\leftrightarrow \\Leftrightarrow \\Longleftrightarrow \\equiv",
}
_CONNECTIVES = {symbol: name for name, symbols in _SYMBOLS_OF_CONNECTIVES.items() for symbol in symbols.split()} | {
    "and": "and",
    "or": "or",
    "implies": "implies",
    "iff": "iff",
}
_JOINING = _words(
    r"""
    nor xor nand xnor but plus minus imply implying then else otherwise unless except excluding excepting
    besides additionally furthermore moreover also together alternatively conjunction disjunction conjoined
    disjoined combined intersected intersection union und oder et ou и или 且 和 或 并且 only respectively
    whenever provided versus vs + * ^ % @ ⊕ ⊻ \oplus \veebar − – / \setminus ∖ <- ⇐ ← \gets \Leftarrow
    \leftarrow != ≠ \neq =/= <>
    """
)
_DEFINING = _words(
    r"""
    iff if when = == := ::= :- ≡ ≔ ≜ ↔ <-> ⇔ <=> <==> ⟺ ⟷ <- ⇐ ← ↦ \mapsto \iff \equiv \leftrightarrow
    \Leftrightarrow \Longleftrightarrow \triangleq \coloneqq \gets \Leftarrow \leftarrow → ⇒ => ⟹ \to
    \Rightarrow \rightarrow whenever
    """
)
_EQUATING = _words(
    r"""
    = == := ::= ≔ ≜ \triangleq \coloneqq
    """
)
_CONDITIONS = _words(
    r"""
    if when whenever where provided while given unless
    """
)
_ADDING = _words("also additionally furthermore moreover besides unless except otherwise else")
_QUANTIFIERS = _words(
    r"""
    all every each any some exist exists existential universal universally existentially none no least most
    exactly forall foreach whichever whatever whoever several many few two three alle jede jeder es-gibt ∀ ∃
    Λ \forall \exists ⋀ ⋁
    """
)
_CARRIERS = _words(
    r"""
    the a an that which it this following formula formulas expression statement condition property case true
    truth of is be being are was holds hold held satisfy satisfies satisfying satisfied meets meet fulfil
    fulfils fulfilling fulfill fulfills to with where such for there has have having do does does did must
    should may can will it's that's precisely exactly both i.e. e.g. s.t. namely by applied logical simply
    just value object objects element elements node nodes individual individuals thing things one ones
    neighbour neighbours neighbor neighbors successor successors predecessor predecessors concept set apply
    under in so
    """
)
_ACROSS_A_COLON = _words(
    r"""
    the that following formula expression statement condition property case true of it is this to
    """
)
_TRANSPARENT = _words(
    r"""
    , – — ( ) : - ' " · … = | >
    """
) - {"=", "|"}
_SYMBOLS_OF_TALK = _words(
    r"""
    , . ; : ? ( ) ' " – — - · … • # @ $ % = := ::= ≔ ≜ ⊨ ⊢ \models \vdash ✓ ✔ ☑ \checkmark \varphi \phi \Phi
    \triangleq \coloneqq \\ ⟨ ⟩ / § ° \ldots \dots \cdot
    """
) | {"\\"}
_REJECTING_SYMBOLS = ("❌", "✗", "✘", "✖", "❎")
_NOT_THAT_KIND = _words(
    r"""
    only just the a an merely necessarily sure certain unique quite so too very entirely
    """
)

_GOING_ON = (
    _JOINING | _CONNECTIVES.keys() | _CONDITIONS | _words("is are was does do did fails fail holds hold for ∀ ∃ = ^")
)
"""A line that begins so goes on with the sentence before it."""

_VARIABLE = r"[a-z][0-9]?(?![A-Za-z0-9])"
_QUANTIFIER = (
    r"(?:∀|∃|∄|\\forall|\\exists|\\nexists|\b(?:(?:for|für)\s*)?(?:all|every|each|any|some|no|alle)\b|\bforall\b|"
    r"\bforeach\b|\bthere\s+(?:exists?|is|are|exist)\b(?:\s+(?:an?|some|at\s+least\s+one|no))?|\bexists?\b)"
)
_QUANTIFIED = re.compile(
    rf"(?P<quantifier>{_QUANTIFIER})[\s(]*(?:[A-Za-z-]+\s+)?(?P<variable>{_VARIABLE})(?:\s*,\s*{_VARIABLE})*[\s)]*"
    r"(?:(?:∈|\\in\b|in)\s*\S{1,20}\s*)?[.,:|]?\s*"
    r"(?:such\s+that|s\.\s?t\.|with|where|satisfying|so\s+that|that|we\s+have|it\s+holds\s+that)?\s*[,:(]*\s*\Z",
    re.IGNORECASE,
)
_QUANTIFIED_AFTER = re.compile(
    rf"[\s,):]*(?:holds?|is\s+true|true)?\s*(?:for|where|over|with)?\s*{_QUANTIFIER}[\s(]*(?:[\w-]+\s+){{0,2}}{_VARIABLE}",
    re.IGNORECASE,
)
_OF_WORLDS = re.compile(
    r"\b(?:in|for|of|across|on|over|with|within|to)\s+(?:all|every|each|both|any|some)\b(?:\s+of)?(?:\s+(?:the|these|those|\w+))?"
    r"(?:\s+\w+)?\s+(?:worlds?|instances?|structures?|examples?|cases?|objects?|elements?|labels?|data)\b"
    r"(?!\s*[a-z](?![A-Za-z]))",
    re.IGNORECASE,
)
_REJECTED = re.compile(
    r"[\s,):]*(?:(?:clearly|also|still|however|already|almost|alone|itself|first|here|would|could|which|that|it|but)\s+){0,2}"
    r"(?:(?:do|does|did|would|will|can|could)(?:\s+not|n[o'’]t)\s+(?:work|fit|match|explain|suffice|do\b|cover|help)"
    r"|(?:is|are|was|were|seems?|looks?|would\s+be)\s+(?:\w+\s+)?(?:wrong|incorrect|insufficient|invalid|refuted|too\s+\w+|inadequate|"
    r"ruled\s+out|not\s+(?:right|correct|enough|sufficient|valid|quite|good|it))"
    r"|(?:isn['’]?t|wasn['’]?t)\s+(?:right|correct|enough|sufficient|valid|quite|good|it)"
    r"|fail(?:s|ed)?\s+(?:for|on|in|at|because|since|here|to\s+(?:match|fit|explain|cover))"
    r"|(?:but|yet|which)\s+(?:(?:it|that|this)\s+)?(?:would\s+)?fail(?:s|ed)?"
    r"|miss(?:es|ed)|mislabel(?:s|led)|got\s+\w+\s+wrong|contradicts)\b",
    re.IGNORECASE,
)
_REJECTED_BEFORE = re.compile(
    r"(?:\b(?:instead\s+of|rather\s+than|beware\s+of|ruled?\s+out|ruling\s+out|reject(?:ed|ing)?|discard(?:ed|ing)?|"
    r"rejected\s+candidate|wrong\s+candidate)|❌|✗|✘|✖|❎)\s*[:,]?\s*(?:the\s+formula\s*)?\Z",
    re.IGNORECASE,
)
_WRITTEN = re.compile(
    r"\\[A-Za-z]+|\\.|i\.e\.|e\.g\.|s\.t\.|[^\W\d_][\w’']*|\d+|<==>|<=>|<->|<-|==>|-->|=>|->|::=|:=|:-|==|!=|=/=|<>|"
    r"/\\|\\/|&&|\|\||[^\s\w]|_"
)
_ENDS_SENTENCE = re.compile(r"[.;?!…](?=\s|\Z)|\n\s*\n")
_LABEL = re.compile(
    r"(?:(?:\b(?:final|best|correct|proposed|candidate|my|the|an?|so|thus|hence|therefore|object|element|that|is|has|gets|"
    r"of|labell?ed|label|target|concept|predicate|definition|answer|formula|hypothesis|solution|result|phi|x|in|rule|"
    r"conclusion|true|holds|for|as|by|iff|belongs|to|we|have|claim|exactly|precisely|just|node|individual|"
    r"positive|world|each|any|every|all|objects|worlds)\b|\bT\b|[φϕΦ]|\\(?:var)?phi\b|\\Phi\b|[\s():,.*=∀'\"]|\\forall\b)\s*)*\Z",
)
_NAMED = re.compile(r"(\b[A-Za-z_]\w+|\bT|[φϕΦψ]|\\(?:var)?phi)\s*(?:\(?\s*x\s*\)?)?\s*\Z")


def is_operator(word: str) -> bool:
    """Whether a lower-case word or a symbol by itself negates, quantifies or joins formulas."""
    return word in _NEGATIONS or word in _CONNECTIVES or word in _JOINING or word in ("forall", "exists", "∀", "∃")


def connective(word: str) -> str:
    """The connective that a word or symbol stands for: and, or, implies or iff; empty if none."""
    return _CONNECTIVES.get(word, "") or _CONNECTIVES.get(word.lower(), "")


def words_of(text: str) -> list[str]:
    """The words and symbols of a text."""
    return _WRITTEN.findall(text)


def is_negation(word: str) -> bool:
    """Whether a word or symbol negates."""
    lower = word.lower()
    return lower in _NEGATIONS or bool(re.search(r"n['’]t\Z", lower))


def joins(text: str) -> bool:
    """Whether a connective or condition stands in `text`."""
    return any(connective(word) or word.lower() in _CONDITIONS for word in words_of(text))


def is_all_operators(text: str) -> bool:
    """Whether the words and symbols of `text` are operators and variables."""
    return all(
        word.lower() in _QUANTIFIERS
        or is_negation(word)
        or is_operator(word.lower())
        or _is_variable(word)
        or word in _TRANSPARENT
        or word in ".;"
        for word in words_of(text)
    )


def goes_on(text: str) -> bool:
    """Whether what stands between two formulas leaves them in one sentence."""
    line = text.strip()
    if "\n" in line or re.search(r"[.;?!…](?:\s|\Z)", line):
        return False
    return "\n" not in text or (bool(line) and not line[0].isupper() and not line.endswith(":"))


def is_rejected(before: str, after: str) -> bool:
    """Whether the texts around a formula say that it is not the answer."""
    before, after = before[-LONGEST_LOOK:], after[:LONGEST_LOOK]
    return bool(
        after.lstrip(" \t:,").startswith(_REJECTING_SYMBOLS)
        or _REJECTED.match(after)
        or _REJECTED_BEFORE.search(before)
        or (re.search(r"(?i)\b(?:since|because|as|but)\s+\Z", before) and re.match(r"(?i)\s*fail", after))
    )


def operator_before(text: str, signature: Signature) -> str:
    """The operator in `text` that acts on the formula directly behind it; empty if there is none."""
    text = text[-LONGEST_LOOK:]
    quantified = _QUANTIFIED.search(text)
    if quantified:
        return " ".join(quantified[0].split())
    opening = next((word for word in words_of(_ENDS_SENTENCE.split(text)[-1]) if word.isalpha()), "")
    if opening.lower() in _ADDING:
        return opening
    written = list(_WRITTEN.finditer(text))
    colon = False
    for i in range(len(written) - 1, -1, -1):
        match = written[i]
        word, lower = match[0], match[0].lower()
        before = text[: match.start()]
        last = i == len(written) - 1
        if word == "-" and last and match.end() == len(text) and not before[-1:].strip():
            return word
        if word == "!" and before[-1:].strip() and not (last and match.end() == len(text)):
            return ""
        if word in (".", ";", "?", "…") and (match.end() < len(text) or not last):
            return ""
        if lower in ("i.e.", "namely", "formally", "symbols"):  # what comes says again what was said
            return ""
        if word in _TRANSPARENT:
            colon = colon or word in (":", "–", "—")
            continue
        if lower == "no" and colon:
            return ""
        if lower in _DEFINING and _defines(before, lower, signature):
            return ""
        if is_negation(word) or connective(word) or lower in _JOINING or lower in _DEFINING | _CONDITIONS - {"where"}:
            return word
        if lower in _QUANTIFIERS and not (lower == "exactly" and _is_word(written, i + 1)):
            return word
        if _is_unknown_symbol(word):
            return word
        if (colon and lower not in _ACROSS_A_COLON and not _is_variable(word)) or not (
            lower in _CARRIERS or _is_variable(word) or (word in signature and not colon)
        ):
            return ""
    return ""


def _is_word(written: "list[re.Match[str]]", i: int) -> bool:
    return i >= len(written) or not written[i][0].isdigit()


def _defines(before: str, word: str, signature: Signature) -> bool:
    """Whether what stands before a defining word is what is to be defined: `T(x)`, `the formula`, `x is labelled T`."""
    clause = re.split(r"[.;?!]\s|\n", before)[-1]
    words = words_of(clause)
    if any(is_negation(one) or connective(one) or one.lower() in _JOINING for one in words):
        return False
    named = _NAMED.search(clause)
    if word in _EQUATING and named is not None:
        return named[1] not in signature
    if word in ("→", "⇒", "=>", "⟹", "\\to", "\\rightarrow", "\\Rightarrow"):
        # An arrow after a label points at the answer; after T(x) it says something else than "exactly when".
        return bool(words) and TARGET not in words and bool(_LABEL.match(clause)) and any(w.isalpha() for w in words)
    return bool(words) and bool(_LABEL.match(clause))


def operator_after(text: str, signature: Signature) -> str:
    """The operator in `text` that acts on the formula directly before it; empty if there is none."""
    text = text[:LONGEST_LOOK]
    quantified = _QUANTIFIED_AFTER.match(text)
    if quantified:
        return " ".join(quantified[0].split())
    text = _OF_WORLDS.sub(lambda match: " " * len(match[0]), text)
    written = list(_WRITTEN.finditer(text))
    for i, match in enumerate(written):
        word, lower = match[0], match[0].lower()
        rest = text[match.end() :]
        if (word in (".", ";", "?", "…") and not rest[:1].strip()) or word == "!":
            return ""
        if "\n" in text[written[i - 1].end() if i else 0 : match.start()] and not (i == 0 and _goes_on_with(word)):
            return ""
        if word in _TRANSPARENT:
            continue
        following = written[i + 1][0].lower() if i + 1 < len(written) else ""
        if is_negation(word):
            if lower == "not" and following in _NOT_THAT_KIND:
                return ""
            return word
        if lower in ("fails", "fail", "failing", "failed"):
            return word
        clause = re.split(r"[.;?!](?:\s|\Z)|\n", rest)[0]
        if lower in _DEFINING and _LABEL.match(clause) and words_of(clause):
            return ""
        if lower in _EQUATING:
            return "" if following in ("true", "1") else word
        if not word.isalpha() and (connective(word) or lower in _JOINING or lower in _DEFINING):
            return word
        if lower in ("unless", "except", "excluding", "only", "minus", "implies", "iff", "xor", "nor"):
            return word
        if connective(word) or lower in _JOINING or lower in _CONDITIONS or lower in _DEFINING:
            return word if has_formula_material(rest, signature) else ""
        if _is_unknown_symbol(word):
            return word
        if lower not in _CARRIERS and not _is_variable(word):
            return ""
    return ""


def _goes_on_with(word: str) -> bool:
    """Whether a line that begins with `word` goes on with the sentence before it: "Not all" begins a new one."""
    if word.istitle() and word.lower() not in ("and", "or", "nor", "unless", "except"):
        return False
    return word.lower() in _GOING_ON or is_negation(word)


def has_formula_material(text: str, signature: Signature) -> bool:
    """Whether the sentence that `text` begins with speaks of predicates, variables or quantifiers, or negates."""
    clause = re.split(r"[.;?!](?:\s|\Z)|\n\s*\n", text.lstrip())[0]
    return any(
        word in signature
        or _is_variable(word)
        or is_negation(word)
        or word.lower() in ("exists", "forall", "successor", "predecessor", "neighbour", "neighbor")
        or _is_unknown_symbol(word)
        for word in words_of(clause)
    )


def _is_variable(word: str) -> bool:
    return bool(re.fullmatch(_VARIABLE, word)) and word != "a"


def _is_unknown_symbol(word: str) -> bool:
    """Whether a symbol could be an operator for all we know."""
    if word in _SYMBOLS_OF_TALK or word.isalnum() or word[0].isalpha() or word == "_":
        return False
    if word.startswith("\\"):
        return True
    return (
        word in "∀∃¬~!&|<>+*^"
        or word in _NEGATIONS
        or word in _CONNECTIVES
        or word in _JOINING
        or _is_mathematical(word)
    )


def _is_mathematical(word: str) -> bool:
    import unicodedata

    return any(unicodedata.category(character) == "Sm" for character in word)


def prefix_operators(text: str) -> list[str] | None:
    """The negations and quantifiers that `text` is made of, outermost first: `not`, `exists y`; None if of more."""
    found: list[str] = []
    rest = text.strip()
    while rest:
        match = re.match(rf"({_QUANTIFIER})\s*({_VARIABLE})\s*(?:[.,:]|such\s+that\b)?\s*", rest, re.IGNORECASE)
        if match:
            universal = bool(re.search(r"∀|\\forall|all|every|each|any", match[1], re.IGNORECASE))
            if re.search(r"∄|\\nexists|\bno\b", match[1], re.IGNORECASE):
                found.append("not")
            found.append(f"{'forall' if universal else 'exists'} {match[2]}")
            rest = rest[match.end() :]
            continue
        match = re.match(r"(not\b|¬|~|\\neg\b|\\lnot\b|!)\s*:?\s*", rest, re.IGNORECASE)
        if not match:
            return None
        found.append("not")
        rest = rest[match.end() :]
    return found


def split_joint(text: str) -> tuple[str, str] | None:
    """The connective that the text between two formulas begins with, and what follows it; None without one."""
    match = re.match(r"\s*(\\[A-Za-z]+|[A-Za-z]+|[^\w\s(),.;:]+)\s*", text)
    if not match or not connective(match[1]):
        return None
    return connective(match[1]), text[match.end() :]
