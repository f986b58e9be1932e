"""What an answer says about its formulas elsewhere than right beside them: takes one back, adds to it, means another.

As in `wording`, the rules err on the side of seeing more than there is.
"""

import re

from induction.formula.syntax import Signature
from induction.formula.wording import has_formula_material

LONGEST_REMARK = 4_000
"""So many characters behind a formula are looked at for remarks on it."""

_TAKEN_BACK = re.compile(
    r"(?i)\b(?:this|that|it|which|the\s+(?:above|formula|answer))\s+(?:is|was|seems|turns\s+out(?:\s+to\s+be)?)\s+"
    r"(?:\w+\s+)?(?:wrong|incorrect|mistaken|invalid|not\s+(?:right|correct|valid)|refuted)\b"
    r"|\bcontradicts?\s+(?:this|that|it)\b|\bcorrection\b|\bscrap\s+(?:this|that|it)\b"
    r"|\b(?:disregard|ignore|forget)\s+(?:this|that|it|the\s+above)\b"
    r"|\b(?:this|that|it)\s+(?:fails|does\s*n[o'’]t\s+(?:work|fit|hold))\b"
)
_NEGATED_ELSEWHERE = re.compile(
    r"(?i)\b(?:negation|complement|opposite|negated\s+version|converse|inverse)\s+of\s+(?:it|this|that|these|the)\b"
    r"|(?:\bnot|¬|~|\\neg|\\lnot)\s*\(?\s*(?:phi|psi|φ|ψ|ϕ|\\varphi|\\psi|\\phi)"
    r"|\bnegate\s+(?:it|this|that|the)\b"
)
_ADDED = re.compile(
    r"(?i)(?:\A|[.;!?\n])[\s*_>#-]*(?:in\s+addition|additionally|also|moreover|furthermore|besides|exceptions?|except|"
    r"unless|provided|but\s+only|only\s+if|only\s+when|further\s+condition|second\s+condition|and|or)\b(?P<rest>[^.;!?\n]*)"
)
_CHOSEN_BY_NAME = re.compile(
    r"(?i)\b(?:answer|choose|pick|choice|winner|correct|right|so|final(?:ly)?|only)\b[^.\n]{0,40}?"
    r"\b(?:(?:option|candidate|formula|number|version|hypothesis|choice|variant|case)\s*[#(]?\s*(?:[A-H]\b|[0-9]+|one\b|two\b)"
    r"|the\s+(?:first|second|third|former|latter)\b)"
)
_ANNOUNCED_OTHERWISE = re.compile(
    r"(?i)\b(?:final\s+(?:answer|formula)|answer|so\s+the\s+formula(?:\s+is)?|T\(x\)\s*(?:iff|:|=|↔|⇔))[^\S\n]*[*_`]*[:=]?[*_`\s]*"
)
_LOGIC = re.compile(r"[∀∃∧∨¬→↔⇒⇔&]|\\(?:forall|exists|land|lor|neg|wedge|vee)\b|\b(?:and|or|not|exists|forall)\b")
_ASIDE = re.compile(
    r"(?i)\b(?:equivalent(?:ly)?|alternativ\w+|another|same\s+as|in\s+other\s+words|for\s+(?:example|instance|comparison)|"
    r"previous(?:ly)?|earlier|first\s+(?:idea|guess|attempt|thought|try)|initial(?:ly)?|naive(?:ly)?|compare|unlike|"
    r"simpler\s+(?:one|formula)|shorter\s+(?:one|formula)|sub-?formula|conjunct|disjunct|rejected|discarded)\b[^.;!?]*\Z"
)
_SEVERAL = re.compile(
    r"(?i)\b(?:formulas|candidates|options|hypotheses|alternatives|possibilities|ideas|guesses|attempts)\b[^.;!?]*\Z"
)
_ONE_OF_SEVERAL = re.compile(
    r"(?i)\b(?:first|second|third|other|last|conjuncts?|disjuncts?|operands?|parts?|conditions?)\s+(?:\w+\s+)?"
    r"(?:is|says|reads|being|:|,)[\s*_`:,]*\Z"
)
_COMPLEMENT_NAMED = re.compile(
    r"(?i)(?:\bnot|\bnon-?|\black(?:s|ing)?|\bwithout|\bun|\bis\s*n['’]?t|¬)\s*-?\s*(?:labell?ed\s+)?(?:T\b|labell?ed\b)"
    r"|\b(?:complement|negati\w+|n[ée]gation|negaci\w+|negazion\w+|nega[cç]\w+|verneinung|опровер\w*|отрицани\w*|неверно)\b"
    r"|否定|并非|不是|不成立|ではない"
)
_REWRITTEN = re.compile(r"(?i)\b(?:simplif\w+|reduces?|becomes|rewrit\w+|shorten\w*|equivalent(?:ly)?|same\s+as)\b")


def remark_against(text: str, signature: Signature) -> str:
    """What in `text`, all that stands behind a formula, takes it back, adds to it or names another; else empty."""
    text = text[:LONGEST_REMARK]
    for pattern in (_TAKEN_BACK, _NEGATED_ELSEWHERE, _CHOSEN_BY_NAME):
        match = pattern.search(text)
        if match:
            return " ".join(match[0].split())
    for added in _ADDED.finditer(text):
        if has_formula_material(added["rest"], signature):
            return " ".join(added[0].split())
    for announced in _ANNOUNCED_OTHERWISE.finditer(text):
        line = text[announced.end() :].split("\n", 1)[0]
        if _is_notation(line, signature):
            return " ".join((announced[0] + line).split())
    return next((line.strip() for line in text.split("\n") if _is_all_notation(line, signature)), "")


def _atoms(text: str, signature: Signature) -> list[re.Match[str]]:
    names = "|".join(map(re.escape, signature)) or "(?!)"
    return list(
        re.finditer(rf"\b(?:{names})\s*(?:\(\s*[a-z]\w*\s*(?:,\s*[a-z]\w*\s*)?\)|[a-z]\b(?:\s*[a-z]\b)?)", text)
    )


def _is_notation(line: str, signature: Signature) -> bool:
    """Whether a line states a formula in another notation, such as `P(x) ∧ ∃y R(x, y)`."""
    return bool(_atoms(line, signature)) and bool(_LOGIC.search(line))


def _is_all_notation(line: str, signature: Signature) -> bool:
    if not _is_notation(line, signature):
        return False
    rest = line
    for atom in reversed(_atoms(line, signature)):
        rest = rest[: atom.start()] + rest[atom.end() :]
    return not re.search(r"[^\W\d_]{3,}", re.sub(r"\\?\b(?:and|or|not|exists|forall|land|lor|neg)\b", "", rest))


def introduction(text: str) -> str:
    """The sentence or line that leads to what stands behind `text`."""
    lines = text.rstrip().rsplit("\n", 1)
    if "\n" in text[len(text.rstrip()) :] and not re.search(r"[\w:]\Z", lines[-1]):
        return ""  # a line that has come to its end
    return re.split(r"(?<=[.;!?])\s", lines[-1])[-1][-300:]


def is_aside(before: str) -> bool:
    """Whether a formula is introduced as another way to say it, an example, or one of before."""
    return bool(_ASIDE.search(introduction(before)))


def names_several(before: str) -> bool:
    """Whether several formulas are announced, of which not all need be meant."""
    return bool(_SEVERAL.search(introduction(before)))


def is_one_of_several(before: str) -> bool:
    """Whether a formula is introduced as a part: `the second condition is`."""
    return bool(_ONE_OF_SEVERAL.search(introduction(before)))


def names_complement(before: str) -> bool:
    """Whether what a formula is introduced as is the opposite of the target: `objects that are not T`."""
    return bool(_COMPLEMENT_NAMED.search(introduction(before)))


def is_rewritten(between: str) -> bool:
    """Whether the text between two formulas says that the second is the first in fewer words."""
    return bool(_REWRITTEN.search(between))
