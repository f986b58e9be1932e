"""The wheel holds what the tree holds, and works where nothing else is installed."""

import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from conftest import EXAMPLES, PROJECT, run_process


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    # From a copy without build/, so that nothing stale gets in and nothing is left behind.
    source = tmp_path_factory.mktemp("source") / "project"
    ignored = shutil.ignore_patterns(".venv", "build", ".git", "*.egg-info", ".*_cache", "__pycache__", ".hypothesis")
    shutil.copytree(PROJECT, source, ignore=ignored)
    output = tmp_path_factory.mktemp("wheel")
    done = run_process(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(output), str(source)]
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = output.glob("*.whl")
    return built


def _tree() -> set[str]:
    """Where each library file of the tree belongs in the wheel."""
    expected = set()
    for top, installed in (
        ("induction", "induction"),
        ("grammars", "induction/grammars"),
        ("baselines", "induction/baselines"),
    ):
        for path in (PROJECT / top).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                expected.add(f"{installed}/{path.relative_to(PROJECT / top).as_posix()}")
    return expected


def test_wheel_holds_what_the_tree_holds(wheel):
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == _tree()


def test_wheel_runs_in_a_bare_environment(wheel, tmp_path):
    venv.create(tmp_path / "bare", with_pip=True)
    binaries = tmp_path / "bare" / "bin"
    subprocess.run(
        [binaries / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel],
        check=True,
        timeout=300,
        cwd=tmp_path,
    )
    formula = "(exists y (and (R x y) (P y)))"
    done = run_process(
        [str(binaries / "induction"), "check", formula, str(EXAMPLES), "--id", "example_fullobs"], cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "VALID" in done.stdout


def test_help_loads_nothing_heavy():
    script = (
        "import sys\nfrom induction.cli.main import run\n"
        "for command in ([], ['check'], ['info'], ['show'], ['formula']):\n    run([*command, '--help'])\n"
        "print(*sorted({'numpy', 'lark', 'yaml', 'rich', 'z3', 'networkx', 'matplotlib'} & set(sys.modules)))"
    )
    done = run_process([sys.executable, "-c", script])
    assert done.stdout.splitlines()[-1] == ""
