"""How fast instances are made.

    python benchmarks/generate.py [--tier smoke|full] [--seed 1] [--output results.json]

Claims, on two cores: at least 20 uncertified hard-band FullObs instances a second, at least one certified a second
(AST up to 18, margin 0), and the certified FullObs suite of 375 within 15 minutes. Each figure is of a whole command
from process start, wall and CPU seconds; the full tier makes 400 uncertified instances and the suite of 375.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from arguments import give, seeded_parser
from machine import machine

INDUCTION = str(Path(sys.executable).with_name("induction"))


def command(arguments: list[str], count: int, jobs: int, folder: Path) -> dict[str, Any]:
    """One run of `induction generate`: its rate, by the wall clock and by CPU time."""
    out = folder / f"{len(list(folder.iterdir()))}.yaml.gz"
    line = ["generate", *arguments, "-n", str(count), "--jobs", str(jobs)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    subprocess.run([INDUCTION, *line, "-o", str(out)], check=True, capture_output=True)
    wall_s = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "command": "induction " + " ".join(line),
        "instances": count,
        "wall_s": round(wall_s, 2),
        "cpu_s": round(cpu_s, 2),
        "instances_per_wall_s": round(count / wall_s, 2),
        "instances_per_cpu_s": round(count / cpu_s, 2),
        "file_bytes": out.stat().st_size,
    }


def main() -> None:
    """Measure and print."""
    options = seeded_parser(__doc__).parse_args()
    full = options.tier == "full"
    seed = ["--seed", str(options.seed)]
    hard = ["--regime", "fullobs", "--band", "hard", *seed]
    runs = {
        "uncertified hard": (hard, 400 if full else 60),
        "certified hard": ([*hard, "--certify"], 60 if full else 6),
        "CI paper": (["--regime", "ci", *seed], 60 if full else 10),
        "CI identified": (["--regime", "ci", "--ci-style", "identified", *seed], 30 if full else 4),
        "EC": (["--regime", "ec", *seed], 60 if full else 10),
    }
    if full:
        runs["certified FullObs suite"] = (["--regime", "fullobs", "--certify", *seed], 375)
    with tempfile.TemporaryDirectory() as folder:
        figures = {name: command(arguments, count, 2, Path(folder)) for name, (arguments, count) in runs.items()}
    results = {
        "command": f"python benchmarks/generate.py --tier {options.tier} --seed {options.seed}",
        "machine": machine(),
        "runs": figures,
    }
    give(results, options.output)


if __name__ == "__main__":
    main()
