"""What becomes of outputs: none replaces an input, each is named when it cannot be written, a closed pipe is no yes."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from conftest import EXAMPLES, run_process, without_times

from induction.cli.commands import OUTPUT_FILES, OUTPUT_FOLDERS, Command
from induction.cli.main import app
from induction.running.rows import RowJournal
from induction.worlds import ledger
from induction.worlds.writing import write_files, write_whole

COMMANDS = dict(typer.main.get_command(app).commands)
F, G = "(exists y (R x y))", "(exists y (R y x))"
SOLVE = ["--budget", "20s", "--max-ast", "8", "--id", "example_fullobs"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """An instance file, predictions, hold-out worlds, evaluation rows and a search's rows, by their kinds."""
    from induction.cli.main import run

    folder = tmp_path_factory.mktemp("inputs")
    made = {kind: folder / f"{kind}.jsonl" for kind in ("instances", "predictions", "holdout", "evaluation", "solved")}
    from induction.worlds import read_instances, write_instances

    write_instances(made["instances"], read_instances(EXAMPLES))
    made["predictions"].write_text(json.dumps({"instanceId": "example_fullobs", "model": "m", "formula": F}) + "\n")
    instances = str(made["instances"])
    assert run(["holdout", instances, "-n", "1", "-o", str(made["holdout"])]) == 0
    assert run(["score", instances, str(made["predictions"]), "-o", str(made["evaluation"])]) == 0
    made["solved"].write_text(json.dumps({"instanceId": "example_fullobs", "astSize": 8}) + "\n")
    return made


PROPOSER = EXAMPLES.with_name("proposer.py")
PROPOSED = ["--id", "example_fullobs", "--rounds", "1", "--proposer", f"{sys.executable} {PROPOSER}"]
# Of each command the arguments that read one file of each kind it can read; {} stands for it.
READING = {
    ("solve", "--output"): [["{instances}", *SOLVE]],
    ("bench-suite", "--output"): [["{instances}", *SOLVE], ["{instances}", "--holdout", "{holdout}", *SOLVE]],
    ("show", "--output"): [["{instances}", "--id", "example_ci"]],
    ("prompt", "--output"): [["{instances}"]],
    ("holdout", "--output"): [["{instances}", "-n", "1"]],
    ("score", "--output"): [
        ["{instances}", "{predictions}"],
        ["{instances}", "{predictions}", "--holdout", "{holdout}"],
    ],
    ("report", "--html"): [
        ["{evaluation}"],
        ["{evaluation}", "--smallest", "{solved}"],
        ["{evaluation}", "--instances", "{instances}"],
    ],
    ("report", "--markdown"): [["{evaluation}"], ["{evaluation}", "--smallest", "{solved}"]],
    ("report", "--csv"): [["{evaluation}"]],
    ("report", "--latex"): [["{evaluation}"]],
    ("report", "--plots"): [["{evaluation}"]],
    ("frontier", "--output"): [["{instances}", *PROPOSED]],
    # These read no file but standard input, tried below.
    ("equivalent", "--output"): [],
    ("generate", "--output"): [],
}
# What a name must end in for the command to take it.
SUFFIXES = {"show": ".svg"}


def test_every_option_that_writes_is_tried():
    there = {
        (name, option)
        for name, command in COMMANDS.items()
        for parameter in command.params
        for option in parameter.opts
        if option in (*OUTPUT_FILES, *OUTPUT_FOLDERS)
    }
    assert there == set(READING)
    assert all(isinstance(command, Command) for command in COMMANDS.values())
    # An option that writes under another name would be found here by its help, and when it writes by the ledger.
    for name, command in COMMANDS.items():
        for parameter in command.params:
            if re.match(r"(Write|Draw|Save|The .*file to write)", getattr(parameter, "help", None) or ""):
                assert {(name, option) for option in parameter.opts} & there, f"{name} {parameter.name}"


def spellings(path, folder):
    """The same file by other names."""
    (folder / f"link{path.suffix}").symlink_to(path)
    (folder / "linked-folder").symlink_to(path.parent)
    os.link(path, folder / f"hard{path.suffix}")
    return [
        path,
        os.path.relpath(path),
        path.parent / "." / ".." / path.parent.name / path.name,
        folder / "linked-folder" / path.name,
        folder / f"hard{path.suffix}",
        folder / f"link{path.suffix}",
    ]


CASES = [
    (command, option, arguments, kind)
    for (command, option), variants in READING.items()
    if option in OUTPUT_FILES
    for arguments in variants
    for kind in re.findall(r"{(\w+)}", " ".join(arguments))
]


@pytest.mark.parametrize(("command", "option", "arguments", "kind"), CASES)
def test_no_output_replaces_an_input(induction, files, tmp_path, command, option, arguments, kind):
    own = tmp_path / (kind + SUFFIXES.get(command, ".jsonl"))
    shutil.copy(files[kind], own)
    content = own.read_bytes()
    given = [part.format(**{**files, kind: own}) for part in arguments]
    (tmp_path / "other").mkdir()
    for name in spellings(own, tmp_path / "other"):
        before = sorted(tmp_path.rglob("*"))
        ran = induction(command, *given, option, str(name))
        assert ran.code == 2, ran
        assert ran.err.count("\n") == 1
        assert f"{own}: is read, and would be replaced by {option} {name}" in ran.err
        assert own.read_bytes() == content
        assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("option", OUTPUT_FOLDERS)
def test_no_file_of_a_folder_replaces_an_input(induction, files, tmp_path, option):
    assert induction("report", str(files["evaluation"]), option, str(tmp_path / "first")).code == 0
    for number, name in enumerate(sorted(path.name for path in (tmp_path / "first").iterdir())[:3]):
        folder = tmp_path / str(number)
        folder.mkdir()
        shutil.copy(files["evaluation"], folder / name)
        ran = induction("report", str(folder / name), option, f"{folder}/")
        assert ran.code == 2
        assert f"{folder / name}: is read, and would be replaced by {option} {folder}" in ran.err
        assert [path.name for path in folder.iterdir()] == [name]
        assert (folder / name).read_bytes() == files["evaluation"].read_bytes()


def test_files_that_are_named_in_rows_count_as_read(induction, files, tmp_path):
    """A report draws the worlds of the file that its rows name."""
    instances = tmp_path / "instances.jsonl"
    shutil.copy(files["instances"], instances)
    evaluation = tmp_path / "evaluation.jsonl"
    assert induction("score", str(instances), str(files["predictions"]), "-o", str(evaluation)).code == 0
    ran = induction("report", str(evaluation), "--html", str(instances))
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "is read, and would be replaced by --html" in ran.err
    assert instances.read_bytes() == files["instances"].read_bytes()


def test_two_outputs_are_two_files(induction, files, tmp_path):
    same = str(tmp_path / "page")
    ran = induction("report", str(files["evaluation"]), "--html", same, "--markdown", str(tmp_path / "." / "page"))
    assert ran.code == 2
    assert "--markdown" in ran.err
    assert "--html" in ran.err
    assert not os.path.exists(same)
    with pytest.raises(ValueError, match="twice"):
        write_files([(tmp_path / "a", b"1"), (tmp_path / "." / "a", b"2")])
    assert not (tmp_path / "a").exists()


def test_a_journal_is_an_output_too(induction, files, tmp_path):
    journal = tmp_path / "e.jsonl.partial"
    shutil.copy(files["predictions"], journal)
    ran = induction("score", str(files["instances"]), str(journal), "-o", str(tmp_path / "e.jsonl"))
    assert ran.code == 2
    assert "the journal of" in ran.err
    assert journal.read_bytes() == files["predictions"].read_bytes()


def test_standard_streams_are_files_too(command, files, tmp_path):
    own = tmp_path / "own.jsonl"
    shutil.copy(files["instances"], own)
    formula = tmp_path / "formula.json"
    formula.write_text(F)
    for arguments, source, target in (
        (["prompt", "-", "-o", str(own)], own, None),
        (["equivalent", "-", G, "-o", str(formula)], formula, None),
        (["prompt", str(own)], None, own),
    ):
        content = (target or source).read_bytes()
        with open(source or os.devnull) as stdin, open(target or os.devnull, "a") as stdout:
            done = subprocess.run(
                [str(command), *arguments], stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=60
            )
        assert done.returncode == 2
        assert "is read, and would be replaced by" in done.stderr
        assert (target or source).read_bytes() == content


def test_a_command_cannot_write_what_it_did_not_name(tmp_path):
    with ledger.keeping_ledger():
        with pytest.raises(AssertionError, match="did not name it"):
            write_whole(tmp_path / "a", b"")
        ledger.will_write(tmp_path / "a", "--output a")
        write_whole(tmp_path / "a", b"")
    write_whole(tmp_path / "b", b"")  # without a command there is nothing to keep apart


# -- a closed pipe ----------------------------------------------------------------------------------------------------

# Of each command a run that says something on standard output.
SAYING = {
    "check": ["(P x)", "{instances}"],
    "info": ["{instances}"],
    "show": ["{instances}", "--id", "example_ci"],
    "formula": [F],
    "equivalent": [F, G],
    "simplify": [F],
    "explain": [F],
    "repair": ["(P x)", "{instances}", "--id", "example_fullobs", "--edits", "1"],
    "frontier": ["{instances}", *PROPOSED],
    "mutate": [F],
    "templates": ["--family", "B"],
    "searches": [],
    "prompt": ["{instances}"],
    "report": ["{evaluation}"],
    "solve": ["{instances}", *SOLVE],
    "bench-suite": ["{instances}", *SOLVE],
    "generate": ["--regime", "fullobs", "--band", "simple", "-n", "2", "--jobs", "2"],
    "holdout": ["{instances}", "-n", "1"],
    "score": ["{instances}", "{predictions}"],
}
WRITING = {
    "show": ".svg",
    "equivalent": ".yaml",
    "frontier": ".jsonl",
    "prompt": ".txt",
    "solve": ".jsonl",
    "bench-suite": ".jsonl",
    "generate": ".jsonl",
    "holdout": ".jsonl",
    "score": ".jsonl",
}
ALWAYS = ("bench-suite", "generate", "holdout", "score")


def test_every_command_is_tried_with_a_closed_pipe():
    assert set(SAYING) == set(COMMANDS)
    assert set(WRITING) == {name for name, option in READING if option == "--output"}


def run_into_closed_pipe(arguments, *, errors_too=False):
    read, write = os.pipe()
    os.close(read)
    try:
        errors = write if errors_too else subprocess.PIPE
        return subprocess.run(arguments, stdout=write, stderr=errors, timeout=120)
    finally:
        os.close(write)


@pytest.mark.parametrize("name", [name for name in SAYING if name not in ALWAYS])
def test_closed_pipe_is_neither_yes_nor_no(command, files, name):
    arguments = [part.format(**files) for part in SAYING[name]]
    done = run_into_closed_pipe([str(command), name, *arguments])
    assert done.returncode == 141
    assert done.stderr.count(b"\n") <= 1
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("name", WRITING)
def test_closed_pipe_does_not_matter_to_a_file(induction, command, files, tmp_path, name):
    arguments = [part.format(**files) for part in SAYING[name]]
    outs = [tmp_path / f"{which}{WRITING[name]}" for which in ("whole", "piped")]
    code = induction(name, *arguments, "-o", str(outs[0])).code
    done = run_into_closed_pipe([str(command), name, *arguments, "-o", str(outs[1])], errors_too=True)
    assert done.returncode == code
    whole, piped = (without_times(out.read_text().replace(str(out), "OUT")) for out in outs)
    assert piped == whole
    assert {path.name for path in tmp_path.iterdir()} == {out.name for out in outs}


@pytest.mark.parametrize("arguments", [["--help"], ["solve", "--help"], ["--version"], []])
def test_help_into_a_closed_pipe(command, arguments):
    done = run_into_closed_pipe([str(command), *arguments])
    assert done.returncode == 141
    assert done.stderr == b""


@pytest.mark.skipif(os.name == "nt", reason="how a POSIX shell closes streams")
def test_streams_that_are_closed_from_the_start(command, files, tmp_path):
    check = [str(command), "check", "(P x)", str(files["instances"])]
    assert run_process(check, preexec_fn=lambda: os.close(1)).returncode == 141
    assert run_process(check, preexec_fn=lambda: os.close(2)).returncode == 1
    out = tmp_path / "o.jsonl"
    solve = [str(command), "solve", str(files["instances"]), *SOLVE, "-o", str(out)]
    done = run_process(solve, preexec_fn=lambda: (os.close(0), os.close(1), os.close(2)))
    assert done.returncode == 0
    assert [json.loads(line)["instanceId"] for line in out.read_text().splitlines()] == ["example_fullobs"]


def test_full_standard_output_is_named(command, files):
    if not os.path.exists("/dev/full"):
        pytest.skip("the system has no /dev/full")
    with open("/dev/full", "w") as full:
        done = subprocess.run([str(command), "info", str(files["instances"])], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert done.stderr == b"induction: standard output: No space left on device\n"


# -- outputs that cannot be written -----------------------------------------------------------------------------------

ANY = ["solve", "prompt", "show", "equivalent", "generate", "holdout", "score", "bench-suite"]


@pytest.mark.parametrize("name", ANY)
def test_places_are_tried_before_the_work(induction, tmp_path, name):
    """Before anything is read: the inputs are not even there."""
    nowhere = dict.fromkeys(("instances", "predictions", "holdout", "evaluation"), tmp_path / "nothing")
    arguments = [part.format(**nowhere) for part in SAYING[name]]
    suffix = WRITING[name]
    (tmp_path / f"itself{suffix}").symlink_to(tmp_path / f"itself{suffix}")
    (tmp_path / f"dangling{suffix}").symlink_to(tmp_path / "no" / f"such{suffix}")
    (tmp_path / "file").touch()
    (tmp_path / f"folder{suffix}").mkdir()
    before = sorted(tmp_path.rglob("*"))
    for place, reason in (
        (f"itself{suffix}", "Too many levels of symbolic links"),
        (f"dangling{suffix}", "no such folder"),
        (f"no/such{suffix}", "no such folder"),
        (f"file/o{suffix}", "no such folder"),
        (f"folder{suffix}", "is a directory"),
        ("o" * 300 + suffix, "name too long"),
    ):
        ran = induction(name, *arguments, "-o", str(tmp_path / place))
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert str(tmp_path / place)[:150] in ran.err
        assert reason in ran.err
        assert sorted(tmp_path.rglob("*")) == before


def test_a_link_to_a_file_that_is_still_to_come(induction, files, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real" / "o.jsonl")
    assert induction("solve", str(files["instances"]), *SOLVE, "-o", str(tmp_path / "link.jsonl")).code == 0
    assert (tmp_path / "link.jsonl").is_symlink()
    assert [path.name for path in (tmp_path / "real").iterdir()] == ["o.jsonl"]


def test_folders_that_cannot_be_written(induction, files, tmp_path):
    (tmp_path / "file").touch()
    for option in OUTPUT_FOLDERS:
        ran = induction("report", str(tmp_path / "nothing"), option, str(tmp_path / "file" / "below"))
        assert (ran.code, ran.err.count("\n")) == (2, 1)
        assert str(tmp_path / "file") in ran.err


def _limit_file_size():
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a limit that Linux has")
@pytest.mark.parametrize("name", ["prompt", "solve"])
def test_size_limits_name_the_output(command, files, tmp_path, name):
    arguments = [part.format(**files) for part in SAYING[name]]
    big = tmp_path / f"big{WRITING[name]}"
    big.write_text("as before")
    done = run_process([str(command), name, *arguments, "-o", big.name], preexec_fn=_limit_file_size, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"induction: {big.name}: File too large\n")
    assert big.read_text() == "as before"
    assert [path.name for path in tmp_path.iterdir()] == [big.name]


@pytest.fixture
def mounted(tmp_path):
    """Mounts a small file system of its own, with options."""
    places = []

    def mount(options):
        place = tmp_path / f"mounted{len(places)}"
        place.mkdir()
        try:
            done = subprocess.run(
                ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True, text=True
            )
        except FileNotFoundError:
            pytest.skip("there is no mount command")
        if done.returncode:
            pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
        places.append(place)
        return place

    yield mount
    for place in places:
        subprocess.run(["umount", str(place)], check=False)


def test_full_disk(induction, files, mounted):
    place = mounted("size=16k")
    (place / "filler").write_bytes(b"x" * 4096 * 3)
    for name in ("prompt", "solve"):
        out = place / f"big{WRITING[name]}"
        arguments = [part.format(**files) for part in SAYING[name]]
        if name == "prompt":
            arguments += ["--format", "openai-batch", "--model", "m" * 500]
        else:
            (place / "filler").write_bytes(b"x" * 4096 * 4)
        ran = induction(name, *arguments, "-o", str(out))
        assert (ran.code, ran.err) == (2, f"induction: {out}: No space left on device\n")
        assert [path.name for path in place.iterdir()] == ["filler"]


def test_read_only_folder(induction, tmp_path, mounted):
    place = mounted("size=64k,ro")
    for name in ANY:
        out = place / f"o{WRITING[name]}"
        nowhere = dict.fromkeys(("instances", "predictions", "holdout", "evaluation"), tmp_path / "nothing")
        ran = induction(name, *(part.format(**nowhere) for part in SAYING[name]), "-o", str(out))
        assert (ran.code, ran.err) == (2, f"induction: {out}: Read-only file system\n")


def test_two_commands_with_one_output(induction, files, tmp_path):
    out = tmp_path / "o.jsonl"
    (tmp_path / "also.jsonl").symlink_to(out)
    arguments = ["solve", str(files["instances"]), *SOLVE]
    with RowJournal(out, {"a": 1}) as journal:
        journal.add("one", {"instanceId": "one"})
        content = journal.path.read_bytes()
        for name in (out, tmp_path / "also.jsonl"):
            ran = induction(*arguments, "-o", str(name))
            assert (ran.code, ran.err.count("\n")) == (2, 1)
            assert f"{name}: is being written by another process" in ran.err
            assert journal.path.read_bytes() == content
        journal.add("two", {"instanceId": "two"})
        journal.finish(["two", "one"])
    assert [json.loads(line)["instanceId"] for line in out.read_text().splitlines()] == ["two", "one"]
    assert not Path(journal.path).exists()
    assert induction(*arguments, "-o", str(tmp_path / "also.jsonl")).code == 0


# -- help -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_fits(induction, monkeypatch, name):
    monkeypatch.setenv("COLUMNS", "80")
    ran = induction(*name.split(), "--help")
    for line in ran.out.splitlines():
        assert len(line) <= 80, line
        assert not line.endswith("...") or line.startswith("Usage: "), line
    assert ran.out.count(" \\\n") == len(re.findall(r"\\\n {8}\S", ran.out))  # goes on, further in


def test_commands_are_listed_by_purpose(induction):
    out = induction("--help").out
    assert "Other:" not in out
    for name, command in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(command.short_help)}$", out, flags=re.M), name
