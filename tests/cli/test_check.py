"""`induction check` as a user types it."""

import json
import signal
import subprocess
import time

import pytest
from conftest import EXAMPLES, PROJECT, heed_interrupts, run_process

RIGHT = "(exists y (and (R x y) (P y)))"
WRONG = "(exists y (R x y))"


def test_right_and_wrong(induction, examples):
    right = induction("check", RIGHT, str(examples), "--id", "example_fullobs")
    assert right.code == 0
    assert "verdict   VALID" in right.out
    assert "within gold +0 yes, +10 yes, +25 yes" in right.out
    wrong = induction("check", WRONG, str(examples), "--id", "example_fullobs")
    assert wrong.code == 1
    assert "NOT VALID: 5 objects wrong in 4 of 4 worlds" in wrong.out
    assert right.err == wrong.err == ""


def test_standard_input(induction, examples):
    assert induction("check", "-", str(examples), "--id", "example_fullobs", stdin=RIGHT + "\n").code == 0
    assert induction("check", RIGHT, "-", "--id", "example_fullobs", stdin=examples.read_bytes()).code == 0
    both = induction("check", "-", "-")
    assert both.code == 2
    assert both.err == "induction: only one input can be standard input (-)\n"


def test_every_instance(induction, examples):
    ran = induction("check", RIGHT, str(examples))
    assert ran.code == 1
    assert "1 of 3 valid" in ran.out
    tautology = induction("check", "(= x x)", str(examples), "--id", "example_ci", "--id", "example_fullobs", "--json")
    assert tautology.code == 1
    assert json.loads(tautology.out)["checked"] == 2


def test_json_is_complete(induction, examples):
    ran = induction("check", WRONG, str(examples), "--id", "example_fullobs", "--json")
    report = json.loads(ran.out)
    (result,) = report["results"]
    assert ran.code == 1
    assert report["valid"] == 0
    assert result["instanceId"] == "example_fullobs"
    assert result["formula"] == WRONG
    assert (result["astSize"], result["quantifierDepth"], result["goldAst"], result["astDelta"]) == (5, 1, 8, -3)
    assert result["goldPlus25"] is False
    assert result["confirmedByReference"] is True
    assert result["failedSides"] == ["train"]
    assert result["worlds"][0] == {
        "worldId": "train_0",
        "side": "train",
        "satisfied": False,
        "objects": 6,
        "labelled": 4,
        "predicted": 6,
        "falsePositives": ["a2", "a3"],
        "falseNegatives": [],
    }


def test_reference_gives_the_same(induction, examples):
    for formula in (RIGHT, WRONG):
        plain = json.loads(induction("check", formula, str(examples), "--json").out)
        slow = json.loads(induction("check", formula, str(examples), "--json", "--reference").out)
        for fast_result, slow_result in zip(plain["results"], slow["results"], strict=True):
            fast_result.pop("confirmedByReference", None)
            slow_result.pop("confirmedByReference", None)
            assert fast_result == slow_result


def test_many_formulas(induction, examples, tmp_path):
    path = tmp_path / "f.txt"
    path.write_text(f"# comment\n{RIGHT}\n\n{WRONG}\n(Exists y (R x y))\n")
    ran = induction("check", "--formulas", str(path), str(examples), "--id", "example_fullobs", "--json")
    report = json.loads(ran.out)
    assert ran.code == 1
    assert [(r["place"], r["parsed"], r["valid"]) for r in report["results"]] == [
        ("line 2", True, True),
        ("line 4", True, False),
        ("line 5", False, False),
    ]
    assert "did you mean exists" in report["results"][2]["problem"]
    piped = induction("check", "--formulas", "-", str(examples), "--id", "example_fullobs", stdin=RIGHT)
    assert piped.code == 0


def test_rows_name_their_instance(induction, examples, tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = [
        {"instanceId": "example_fullobs", "extractedFormula": RIGHT},
        {"instanceId": "example_fullobs", "extractedFormula": None},
        {"instanceId": "example_fullobs", "formula": WRONG},
        {"instance_id": "example_fullobs", "text": RIGHT},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = induction("check", "--formulas", str(path), str(examples), "--json")
    results = json.loads(ran.out)["results"]
    assert [(r["instanceId"], r["valid"]) for r in results] == [
        ("example_fullobs", True),
        ("example_fullobs", False),
        ("example_fullobs", False),
        ("example_fullobs", True),
    ]
    assert results[1]["problem"] == "there is no answer"
    assert ran.code == 1


def test_malformed_rows_are_reported_and_the_rest_is_done(induction, examples, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text(
        f'{{"formula": "{RIGHT}", "instanceId": "example_fullobs"}}\n'
        '{"formula": 3}\n{"nothing": 1}\n{broken\n{"formula": "(P x)", "instanceId": "nowhere"}\n'
    )
    ran = induction("check", "--formulas", str(path), str(examples))
    assert ran.code == 2
    assert "valid" in ran.out
    lines = ran.err.splitlines()
    assert "1 row passed over" in lines[0]
    assert [line.split(":")[2].strip() for line in lines[1:]] == ["line 2", "line 3", "line 4, column 2"]


def test_malformed_records_are_reported_and_the_rest_is_done(induction, examples, tmp_path):
    path = tmp_path / "f.yaml"
    path.write_text(examples.read_text() + "- instanceId: broken\n")
    ran = induction("check", RIGHT, str(path))
    assert ran.code == 2
    assert "example_fullobs" in ran.out
    assert "record 4 (broken), problem: is missing" in ran.err
    assert induction("check", RIGHT, str(path), "--id", "example_fullobs").code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "(and (P x)", "FILE"], "formula, line 1, column 11"),
        (["check", "(T x)", "FILE"], "target being defined"),
        (["check", "(P x)", "nowhere.yaml"], "nowhere.yaml: No such file"),
        (["check", "(P x)", "."], "directory"),
        (["check", "(P x)", "FILE", "--id", "example_fulobs"], "did you mean example_fullobs?"),
        (["check", "(P x)"], "check takes FORMULA and FILE, 1 given"),
        (["check", "exists", "y", "(P", "FILE"], "4 given (quote the formula)"),
        (["check", "--formulas", "x.txt", "(P x)", "FILE"], "check takes FILE with --formulas, 2 given"),
        (["check", "--formulas", "x.txt", "FILE"], "x.txt: No such file"),
        (["check", "(P x)", "FILE", "--colour"], "No such option"),
        (["check"], "Missing argument"),
        (["chek"], "No such command 'chek'"),
    ],
)
def test_input_at_fault(induction, examples, arguments, words):
    ran = induction(*[str(examples) if argument == "FILE" else argument for argument in arguments])
    assert ran.code == 2
    assert words in ran.err
    assert ran.err.count("\n") == 1
    assert ran.err.startswith("induction: ")
    assert ran.out == ""


def test_too_wide_a_formula_is_a_wrong_answer_in_a_batch(induction, examples, tmp_path):
    wide = "(and " + " ".join(f"(R y{i} x)" for i in range(30)) + ")"
    for i in range(30):
        wide = f"(exists y{i} {wide})"
    path = tmp_path / "f.txt"
    path.write_text(f"{wide}\n{RIGHT}\n")
    ran = induction("check", "--formulas", str(path), str(examples), "--id", "example_fullobs", "--json")
    wrong, right = json.loads(ran.out)["results"]
    assert "free variables" in wrong["problem"]
    assert right["valid"]
    alone = induction("check", wide, str(examples), "--id", "example_fullobs")
    assert alone.code == 2
    assert "free variables" in alone.err


def test_eighty_columns(induction, examples, tmp_path):
    for arguments in (
        ["check", WRONG, str(examples), "--id", "example_ci"],
        ["check", WRONG, str(examples)],
        ["check", "--formulas", str(EXAMPLES.with_name("formulas.txt")), str(examples)],
        ["info", str(examples)],
        ["info", str(examples), "--id", "example_ci"],
        ["formula", "(and " + " ".join([WRONG] * 20) + ")"],
        ["--help"],
        ["check", "--help"],
        ["info", "--help"],
        ["formula", "--help"],
    ):
        ran = induction(*arguments)
        lines = [line for line in ran.out.splitlines() if str(examples) not in line]
        assert lines
        assert [line for line in lines if len(line) > 80 or line != line.rstrip()] == []


def test_plain_terminals(command, examples):
    """No colour codes in pipes, and symbols that the encoding lacks do not break anything."""
    done = run_process(
        [str(command), "check", WRONG, str(examples), "--id", "example_fullobs"],
        env={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    assert "\\u2203y" in done.stdout


def test_reader_may_leave_early(command, examples):
    producer = subprocess.Popen(
        [str(command), "check", WRONG, str(examples), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    producer.stdout.close()
    assert producer.stderr.read() == b""
    assert producer.wait(timeout=60) in (1, 141)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("check '(P x)' FILE >&-", 141),
        ("--help >&-", 141),
        ("formula - <&-", 2),
        ("info - <&-", 2),
        ("formula '(P x' 2>&-", 2),
        ("formula '(P x' 2>/dev/full", 2),
        ("check '(P x)' FILE --json | head -c 1 >/dev/null", 1),
        ("--help | true", 0),
    ],
)
def test_closed_and_broken_streams(command, examples, line, code):
    shell = f"set -o pipefail; {command} {line.replace('FILE', str(examples))}"
    done = run_process(["bash", "-c", shell])
    assert "Traceback" not in done.stderr
    # A reader that leaves early is no verdict: the code is then 141, or the command's own if it was done already.
    assert done.returncode in ((code, 141) if "|" in line else (code,))


def test_interrupt(command, examples, tmp_path):
    """Ctrl-C during long work: one line, exit code 130."""
    deep = "(exists y (exists z (exists w (exists v (exists u (and (R x x) (not (R x x))))))))"
    path = tmp_path / "f.txt"
    path.write_text((deep + "\n") * 200)
    process = subprocess.Popen(
        [str(command), "check", "--reference", "--formulas", str(path), str(examples)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_interrupts,
    )
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip() == "induction: interrupted"


def test_golden(induction, monkeypatch):
    """Each golden file's first line is its command; a new one is written by hand from what the command prints."""
    monkeypatch.chdir(PROJECT / "data" / "examples")
    goldens = sorted((PROJECT / "tests" / "golden").glob("*.txt"))
    assert goldens
    for golden in goldens:
        first, expected = golden.read_text().split("\n", 1)
        import shlex

        ran = induction(*shlex.split(first)[2:])
        assert ran.out + ran.err + f"exit {ran.code}\n" == expected, golden.name
