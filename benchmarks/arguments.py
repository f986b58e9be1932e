"""What the benchmarks share: their options, and how results are given."""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def parser(description: str | None) -> argparse.ArgumentParser:
    """A parser with the options that every benchmark has: `--tier smoke|full` and `--output FILE`.

    `description` is the benchmark's docstring.
    """
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--tier", choices=("smoke", "full"), default="smoke")
    made.add_argument("--output", type=Path)
    return made


def seeded_parser(description: str | None) -> argparse.ArgumentParser:
    """As `parser`, with `--seed N`."""
    made = parser(description)
    made.add_argument("--seed", type=int, default=1)
    return made


def give(results: Mapping[str, Any], output: Path | None) -> None:
    """Print the results as JSON, and write them to `output` where one is named."""
    text = json.dumps(results, indent=2)
    print(text)
    if output is not None:
        output.write_text(text + "\n", encoding="utf-8", newline="\n")
