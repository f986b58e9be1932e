"""What figures were measured on, for the output of every benchmark."""

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from induction import __version__

PROJECT = Path(__file__).resolve().parent.parent


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    commit = subprocess.run(
        ["git", "-C", str(PROJECT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    return {
        "version": __version__,
        "commit": commit.stdout.strip() or "unknown",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "processor": platform.processor() or platform.machine(),
        "cpus": os.cpu_count(),
    }
