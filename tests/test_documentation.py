"""What is written is true: the commands of README and docs run, every command and option is named, every room mapped."""

import re
import shlex

import pytest
import typer
from conftest import PROJECT

from induction.cli.main import app

PAGES = {page.name: page.read_text() for page in [PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))]}
DOCUMENTATION = "\n".join(PAGES.values())
ARCHITECTURE = (PROJECT / "ARCHITECTURE.md").read_text()


def _commands():
    group = typer.main.get_command(app)
    return dict(group.commands)


def test_documentation_names_every_command_and_option():
    for name, command in _commands().items():
        assert f"induction {name}" in DOCUMENTATION, name
        for parameter in command.params:
            options = [option for option in parameter.opts if option.startswith("--")]
            for option in options:
                assert re.search(rf"{option}(?![\w-])", DOCUMENTATION) or option == "--help", f"{name} {option}"


def test_every_command_has_help_with_an_example():
    for name, command in _commands().items():
        assert "Examples:" in command.help, name
        assert f"induction {name} " in command.help
        for parameter in command.params:
            assert getattr(parameter, "help", None) or parameter.name == "help", f"{name} {parameter.name}"


def _transcripts():
    """Command and expected output of each `$ induction ...` in the console blocks of README and docs."""
    for block in re.findall(r"```console\n(.*?)```", DOCUMENTATION, flags=re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            if command.startswith("induction "):
                yield command, output


@pytest.mark.parametrize(("command", "output"), list(_transcripts()), ids=lambda text: text[:60])
def test_transcripts(induction, monkeypatch, command, output):
    monkeypatch.chdir(PROJECT)
    ran = induction(*shlex.split(command)[1:])
    assert (ran.out + ran.err).strip() == output.strip()


def test_there_are_transcripts():
    assert len(list(_transcripts())) >= 3


def test_python_blocks():
    blocks = re.findall(r"```python\n(.*?)```", DOCUMENTATION, flags=re.S)
    assert blocks
    import os

    here = os.getcwd()
    try:
        os.chdir(PROJECT)
        for block in blocks:
            exec(compile(block, "documentation", "exec"), {})
    finally:
        os.chdir(here)


def test_architecture_has_a_line_for_every_file():
    files = [
        path
        for top in ("induction", "grammars", "baselines", "benchmarks")
        for path in (PROJECT / top).rglob("*")
        if path.suffix in (".py", ".lark") and path.name != "__init__.py"
    ]
    for path in files:
        assert re.search(rf"`{re.escape(str(path.relative_to(PROJECT)))}`", ARCHITECTURE), path


def test_demo_script_runs(command):
    from conftest import run_process

    done = run_process(
        ["sh", str(PROJECT / "data" / "examples" / "demo.sh")],
        env={"PATH": f"{command.parent}:/usr/bin:/bin"},
    )
    assert done.returncode == 0
    assert done.stderr.count("induction: formula, line 1, column 2") == 1
    assert done.stderr.count("\n") == 1
    assert "VALID" in done.stdout
    assert "NOT VALID" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_examples_are_reproducible(tmp_path):
    import sys

    from conftest import EXAMPLES, run_process

    script = EXAMPLES.with_name("make_examples.py")
    done = run_process([sys.executable, str(script), str(tmp_path / "examples.yaml")])
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "examples.yaml").read_bytes() == EXAMPLES.read_bytes()
