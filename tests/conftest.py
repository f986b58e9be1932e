"""Fixtures and settings shared by all tests."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest

PROJECT = Path(__file__).resolve().parent.parent
REAL_DATA = PROJECT.parent / "shared" / "data" / "real"
EXAMPLES = PROJECT / "data" / "examples" / "examples.yaml"

# Machines are shared: a slow moment is not a fault. Deterministic, so that a run can be repeated.
hypothesis.settings.register_profile("project", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("project")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of facts from the public release."""
    if not REAL_DATA.is_dir():
        pytest.skip("the release's data (../shared/data/real) is not beside this project")
    return REAL_DATA


@pytest.fixture
def examples() -> Path:
    """The shipped example instances."""
    return EXAMPLES


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str


@pytest.fixture
def induction(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Run a command line in this process, with `stdin` as its standard input."""
    from induction.cli.main import run

    def call(*arguments: str, stdin: str | bytes = "") -> Ran:
        import io

        content = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        capsys.readouterr()
        code = run(list(arguments))
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture(scope="session")
def command() -> Path:
    """The installed console script, for tests that need a process of their own."""
    return Path(sys.executable).with_name("induction")


def heed_interrupts() -> None:
    """For a child process before it starts: Ctrl-C counts, even if whoever started the tests has it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run_process(arguments: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """A finished process with its output as text; 60 seconds at most."""
    environment = {**os.environ, **options.pop("env", {})}
    return subprocess.run(
        arguments, capture_output=True, text=True, timeout=60, check=False, env=environment, **options
    )


def without_times(text: str) -> str:
    """Rows without the fields that no two runs have alike."""
    return re.sub(r'"(cpu_s|wall_s|peak_mb|first_s|best_s|evalMs|timestamp)": [^,}]*', "", text)
