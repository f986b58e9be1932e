"""induction: first-order definitions of a concept over small finite relational worlds."""

import importlib
from typing import Any

__version__ = "0.1.0"

# Loaded when first asked for: importing the package alone stays quick.
_FUNCTIONS = {
    "repair": "induction.rewriting.repair",
    "frontier": "induction.baselines.frontier",
}


def __getattr__(name: str) -> Any:
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(_FUNCTIONS[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
