"""The command line: `main.py` and one file per command. Only this package prints or exits."""

import os
import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line of this process and exit with its code."""
    # Nothing here multiplies matrices; starting numpy's thread pool would double the start-up time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        # Imported here, so that Ctrl-C while it loads is met as well.
        from induction.cli.main import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(code)
