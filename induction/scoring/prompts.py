"""What a model is asked: the language, what counts as an answer, and the worlds, in as few words as will do."""

import re
from typing import Any

from induction.errors import UsageError, printable
from induction.formula.syntax import Signature
from induction.worlds.instance import Instance, Regime
from induction.worlds.world import World

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
        "In the lists below, R: a0-a1,a3 a2-a0 means that R holds of (a0, a1), (a0, a3) and (a2, a0), in this order.",
        "\n\n".join(_world(world, _heading(instance, world)) for world in _shown(instance)),
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


def _shown(instance: Instance) -> tuple[World, ...]:
    return (*instance.train_worlds, *instance.no_worlds)


def _heading(instance: Instance, world: World) -> str:
    side = instance.sides()[world.name]
    return f"World {world.name}" + (f" ({side})" if side in ("YES", "NO") else "")


def _world(world: World, heading: str) -> str:
    lines = [f"{heading}: objects {' '.join(world.domain)}"]
    lines += [f"{name}: {' '.join(world.elements(world.true[name])) or 'none'}" for name in world.signature.unary]
    lines += [f"{name}: {_edges(world, world.true[name])}" for name in world.signature.binary]
    for name, mask in world.unknown.items():
        if mask.any():
            unknown = " ".join(world.elements(mask)) if mask.ndim == 1 else _edges(world, mask)
            lines.append(f"{name} unknown: {unknown}")
    lines.append(f"T: {' '.join(world.elements(world.target)) or 'none'}")
    return "\n".join(lines)


def _edges(world: World, table: Any) -> str:
    """Pairs grouped by their first object: `a0-a1,a3 a2-a0`."""
    groups = [
        f"{name}-{','.join(world.elements(table[element]))}"
        for element, name in enumerate(world.domain)
        if table[element].any()
    ]
    return " ".join(groups) or "none"
