"""What a model is asked: the language, what counts as an answer, and the worlds, in as few words as will do."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from induction.errors import UsageError, printable
from induction.formula.syntax import Signature
from induction.worlds.instance import Instance, Regime
from induction.worlds.world import BoolArray, World

_CHARACTERS_PER_TOKEN = 2.3  # short names and punctuation: well below the four of English prose
_CUSTOM_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")

_TASKS = {
    Regime.FULL_OBS: (
        "Every world lists all that is true in it: an atom that is not listed is false. Find ONE formula phi(x) such "
        "that in EVERY world phi is true of exactly the objects listed under T."
    ),
    Regime.CI: (
        "Every world lists all that is true in it: an atom that is not listed is false. Find ONE formula phi(x) such "
        "that in every YES world phi is true of exactly the objects listed under T, and in every NO world phi differs "
        "from T on at least one object."
    ),
    Regime.EC: (
        "An atom listed under 'unknown' may be true or false; any other atom that is not listed is false. Find ONE "
        "formula phi(x) such that each world, taken by itself, has some way to settle its unknown atoms for which phi "
        "is true of exactly the objects listed under T."
    ),
}


def prompt_text(instance: Instance) -> str:
    """The whole prompt of one instance."""
    signature = instance.signature
    worlds = (*instance.train_worlds, *instance.no_worlds)
    notation = _Notation.for_worlds(worlds)
    parts = [
        "Below are small finite worlds. In each, some objects carry the label T. What T means is to be found.",
        _language(signature),
        _TASKS[instance.regime],
        (
            "Quantifiers range over the objects of the world at hand, and one formula has to do for all worlds. Prefer "
            "a short formula: one that states the concept, not one that lists cases."
        ),
        (
            "Answer with one line of JSON and nothing else:\n"
            '{"formula": "...", "description": "what the formula says, in plain English"}'
        ),
        *_reading(worlds, notation),
        "\n\n".join(_world(world, instance.sides()[world.name], notation) for world in worlds),
    ]
    return "\n\n".join(parts) + "\n"


def estimate_tokens(text: str) -> int:
    """A rough count of a text's tokens: models differ, and none is asked."""
    return -(-len(text) * 10 // int(_CHARACTERS_PER_TOKEN * 10))


def openai_request(instance: Instance, model: str, max_tokens: int) -> dict[str, Any]:
    """A line of a batch file for OpenAI's chat completions endpoint.

    Raises:
        UsageError: the instance's id cannot be the request's.
    """
    return {
        "custom_id": _custom_id(instance),
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {
            "model": model,
            "max_completion_tokens": max_tokens,
            "messages": [{"role": "user", "content": prompt_text(instance)}],
        },
    }


def anthropic_request(instance: Instance, model: str, max_tokens: int) -> dict[str, Any]:
    """An entry of `requests` for Anthropic's message batches.

    Raises:
        UsageError: the instance's id cannot be the request's.
    """
    return {
        "custom_id": _custom_id(instance),
        "params": {
            "model": model,
            "max_tokens": max_tokens,
            "messages": [{"role": "user", "content": prompt_text(instance)}],
        },
    }


def _custom_id(instance: Instance) -> str:
    if not _CUSTOM_ID.fullmatch(instance.instance_id):
        raise UsageError(
            f"{printable(instance.instance_id)}: batch requests take ids of up to 64 letters, digits, _ and - only"
        )
    return instance.instance_id


def _language(signature: Signature) -> str:
    atoms = [f"({name} u)" for name in signature.unary]
    atoms += [f"({name} u v)" for name in signature.binary]
    atoms.append("(= u v)")
    return (
        f"A formula is written in prefix form. Atoms: {', '.join(atoms)}, for variables u and v. Formulas f and g "
        "combine to (not f), (and f g), (or f g), (forall y f) and (exists y f); and/or may take more than two "
        "formulas. Do not use implies or iff, and never T itself. Variables are lower-case letters; x must be the only "
        "variable that is not bound by a quantifier, and it must occur."
    )


@dataclass(frozen=True)
class _Notation:
    """How objects are listed: `quoted` as JSON texts or as they are, and what stands between those of a pair.

    NOTE(names): what separates occurs in no name that is not quoted. Lists are separated by blanks, pairs of one first
    object by commas; a name as it is holds neither, and is not the word for an empty list. Quoted names are on one
    line, and end at the first quotation mark that no backslash precedes.
    """

    quoted: bool
    joint: str

    @classmethod
    def for_worlds(cls, worlds: Sequence[World]) -> "_Notation":
        names = {name for world in worlds for name in world.domain}
        held = set().union(*names)
        joint = next((one for one in _JOINTS if one not in held), None)
        if joint is None or _NONE in names or not all(name and _is_plain(name) for name in names):
            return cls(True, _JOINTS[0])
        return cls(False, joint)

    def name(self, name: str) -> str:
        return _quoted(name) if self.quoted else name

    def names(self, names: Iterable[str]) -> str:
        return " ".join(map(self.name, names)) or _NONE

    def pairs(self, world: World, table: BoolArray) -> str:
        """Pairs grouped by their first object: `a0-a1,a3 a2-a0`."""
        return " ".join(self.group(name, seconds) for name, seconds in _groups(world, table)) or _NONE

    def group(self, first: str, seconds: Sequence[str]) -> str:
        return f"{self.name(first)}{self.joint}{','.join(map(self.name, seconds))}"


_NONE = "none"
_JOINTS = "->→~|/=+*"
_OTHERS_IN_NAMES = "_.#@$%&!?<^"


def _is_plain(name: str) -> bool:
    return all(one.isalnum() or one in _OTHERS_IN_NAMES or one in _JOINTS for one in name)


def _quoted(name: str) -> str:
    """A JSON text on one line, in which all that cannot be seen is escaped."""
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in json.dumps(name, ensure_ascii=False))


def _groups(world: World, table: BoolArray) -> list[tuple[str, tuple[str, ...]]]:
    """Each object that is first of some pair, with the second ones."""
    return [(name, world.elements(row)) for name, row in zip(world.domain, table, strict=True) if row.any()]


def _reading(worlds: Sequence[World], notation: _Notation) -> list[str]:
    """How the lists are to be read, by an example from these worlds."""
    sentences = ["Objects are named in quotation marks, as in JSON."] if notation.quoted else []
    binary = worlds[0].signature.binary if worlds else ()
    listed = [(name, _groups(world, world.true[name])) for name in binary for world in worlds]
    unknown = [(name, _groups(world, world.unknown[name])) for name in binary for world in worlds]
    for tables, word, what in ((listed, "", "{} holds of {}, in this order"), (unknown, " unknown", _UNKNOWN)):
        found = [(name, groups) for name, groups in tables if groups]
        if found:
            name, groups = max(found, key=lambda one: min(2, len(one[1])) + min(2, len(one[1][0][1])))  # shows most
            (first, seconds), *others = groups
            shown = [(first, seconds[:2]), *((other, some[: 3 - len(seconds[:2])]) for other, some in others[:1])]
            listing = " ".join(notation.group(*one) for one in shown)
            pairs = [f"({notation.name(first)}, {notation.name(one)})" for first, seconds in shown for one in seconds]
            told = " and ".join([", ".join(pairs[:-1]), pairs[-1]] if len(pairs) > 1 else pairs)
            sentences.append(f"In the lists below, {name}{word}: {listing} means that {what.format(name, told)}.")
            break
    return [" ".join(sentences)] if sentences else []


_UNKNOWN = "whether {} holds of {}, in this order, is unknown"


def _world(world: World, side: str, notation: _Notation) -> str:
    name = (
        world.name if world.name and all(one.isalnum() or one in "_-." for one in world.name) else _quoted(world.name)
    )
    lines = [f"World {name}{f' ({side})' if side in ('YES', 'NO') else ''}: objects {notation.names(world.domain)}"]
    lines += [f"{name}: {notation.names(world.elements(world.true[name]))}" for name in world.signature.unary]
    lines += [f"{name}: {notation.pairs(world, world.true[name])}" for name in world.signature.binary]
    for name, mask in world.unknown.items():
        if mask.any():
            unknown = notation.names(world.elements(mask)) if mask.ndim == 1 else notation.pairs(world, mask)
            lines.append(f"{name} unknown: {unknown}")
    lines.append(f"T: {notation.names(world.elements(world.target))}")
    return "\n".join(lines)
