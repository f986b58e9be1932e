"""A child that speaks JSON lines: whatever it does wrong is a failure of one exchange, and nothing of it stays."""

import os
import resource
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from induction.errors import UsageError
from induction.running.program import STDERR_KEPT, Failure, Program, ProgramStartError, split_command

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the children are told from outside by their groups")

ECHO = """
import json, sys
for line in sys.stdin:
    print(json.dumps({"you": json.loads(line)}), flush=True)
"""


@pytest.fixture
def child(tmp_path):
    """Makes a program of Python text."""
    programs = []

    def make(text, **options):
        path = tmp_path / f"child{len(programs)}.py"
        path.write_text(textwrap.dedent(text))
        programs.append(Program([sys.executable, str(path)], **{"time_limit_s": 20, **options}))
        return programs[-1]

    yield make
    for program in programs:
        program.close()


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as stream:
        return stream.read().rpartition(")")[2].split()[0] != "Z"


def gone_soon(pid):
    for _ in range(100):
        if not is_alive(pid):
            return True
        time.sleep(0.05)
    return False


def test_questions_and_answers(child):
    program = child(ECHO)
    for message in ({"a": 1}, {"b": "é\n\u2028"}, {"long": "x" * 300_000}):
        got = program.exchange(message)
        assert got.answer == {"you": message}
        assert got.failure is None
    assert program.exchange({}).wall_s > 0


def test_a_late_answer_is_not_taken_for_the_next(child):
    program = child(
        """
        import json, sys, time
        for line in sys.stdin:
            number = json.loads(line)["number"]
            time.sleep(60 if number == 1 else 0)
            print(json.dumps({"number": number}), flush=True)
        """
    )
    assert program.exchange({"number": 0}).answer == {"number": 0}
    late = program.exchange({"number": 1}, time_limit_s=0.3)
    assert (late.answer, late.failure) == (None, Failure.TIMED_OUT)
    assert "0.3 s" in late.detail
    assert program.exchange({"number": 2}).answer == {"number": 2}


@pytest.mark.parametrize("line", ["print('hello')", "print('[1]')", "print('{\"a\": NaN}')", "print('')",
                                  "print('[' * 5000)", "sys.stdout.buffer.write(b'{\"a\": \"\\xff\"}\\n')"])  # fmt: skip
def test_nonsense(child, line):
    program = child(f"import sys\nfor _ in sys.stdin:\n    {line}\n    sys.stdout.flush()\n")
    for _ in range(2):
        got = program.exchange({})
        assert (got.answer, got.failure) == (None, Failure.NOT_JSON)
        assert got.detail
        assert "\n" not in got.detail


@pytest.mark.parametrize("end", ["", "\\n"])
@pytest.mark.parametrize("reads", [True, False])
def test_endless_output(child, end, reads):
    """With and without line ends: bounded in memory, and told at once where there is no line."""
    text = f"""
        import sys
        {"sys.stdin.readline()" if reads else ""}
        while True:
            sys.stdout.write("x" * 65536 + "{end}")
        """
    program = child(text, byte_limit=50_000, time_limit_s=10)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    got = program.exchange({})
    assert got.failure is Failure.TOO_LONG
    assert "50,000 bytes" in got.detail
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_a_child_that_does_not_read(child):
    program = child("import time\ntime.sleep(60)\n")
    got = program.exchange({"much": "x" * 2_000_000}, time_limit_s=0.5)
    assert got.failure is Failure.TIMED_OUT
    assert got.wall_s < 5


def test_a_child_that_ends(child):
    program = child("import sys\nsys.stdin.readline()\nprint('oh no', file=sys.stderr)\nsys.exit(3)\n")
    for _ in range(2):
        got = program.exchange({})
        assert got.failure is Failure.EXITED
        assert "exit code 3" in got.detail
        assert got.stderr == "oh no"


def test_a_child_that_is_killed(child):
    program = child("import os, sys\nsys.stdin.readline()\nos.kill(os.getpid(), 9)\n")
    got = program.exchange({})
    assert got.failure is Failure.EXITED
    assert "signal 9" in got.detail


def test_a_child_that_answers_and_ends(child):
    program = child("import sys\nsys.stdin.readline()\nprint('{\"last\": true}')\n")
    assert [program.exchange({}).answer for _ in range(2)] == [{"last": True}] * 2


def test_a_child_that_closes_its_output(child):
    program = child("import os, sys, time\nsys.stdin.readline()\nos.close(1)\ntime.sleep(60)\n")
    got = program.exchange({})
    assert got.failure is Failure.EXITED
    assert "closed" in got.detail


def test_much_on_standard_error(child):
    program = child(
        """
        import sys
        sys.stdin.readline()
        for _ in range(200):
            sys.stderr.write("e" * 65536)
        sys.stderr.write("\\x1b[31mthe end\\n")
        sys.stderr.flush()
        print("no json", flush=True)
        """
    )
    got = program.exchange({})
    assert got.failure is Failure.NOT_JSON
    assert got.stderr.endswith("the end")
    assert len(got.stderr) <= STDERR_KEPT


def test_what_was_said_unasked_is_no_answer(child):
    program = child(
        """
        import json, sys
        for line in sys.stdin:
            print(json.dumps({"n": json.loads(line)["n"]}))
            print('{"more": 1}', flush=True)
        """
    )
    assert program.exchange({"n": 1}).answer == {"n": 1}
    time.sleep(0.3)
    assert program.exchange({"n": 2}).answer == {"n": 2}


def test_the_whole_group_is_ended(child, tmp_path):
    """Also what the child has started, and what does not heed a request to end."""
    program = child(
        """
        import json, os, signal, subprocess, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        inner = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
        sys.stdin.readline()
        print(json.dumps({"pids": [os.getpid(), inner.pid]}), flush=True)
        time.sleep(100)
        """
    )
    pids = program.exchange({}).answer["pids"]
    assert all(map(is_alive, pids))
    program.close()
    assert all(map(gone_soon, pids))
    program.close()  # a second time is no fault


def test_interrupts_end_the_child(tmp_path):
    """Ctrl-C in the middle of an exchange: the error goes on, the child does not."""
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import signal, sys
            signal.signal(signal.SIGINT, signal.default_int_handler)
            from induction.running.program import Program
            program = Program([sys.executable, "-c", {"import os, time; print(os.getpid(), file=open('pid', 'w'), flush=True); time.sleep(99)"!r}])
            program.exchange({{}}, time_limit_s=90)
            """
        )
    )
    parent = subprocess.Popen([sys.executable, str(script)], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
        time.sleep(0.05)
    parent.send_signal(signal.SIGINT)
    _, errors = parent.communicate(timeout=30)
    assert "KeyboardInterrupt" in errors
    assert gone_soon(int((tmp_path / "pid").read_text()))


def test_commands():
    assert split_command("python 'a b.py' --x") == ["python", "a b.py", "--x"]
    for text in ("", "  ", "python 'a"):
        with pytest.raises(UsageError):
            Program(text)
    missing = Program("no-such-command-anywhere 1")
    with pytest.raises(ProgramStartError, match="no-such-command-anywhere: cannot be run"):
        missing.start()
    assert missing.exchange({}).failure is Failure.NOT_STARTED
