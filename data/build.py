"""Make the files of this folder anew, byte for byte: `make data`, or `python data/build.py [--check] [NAME ...]`.

MANIFEST.json tells of each file the command that makes it, its seed, the version it was made by, and the sha256 of its
content (uncompressed). With --check nothing is written; the exit code is 1 if what the commands make, or what is here,
is not what MANIFEST.json says.
"""

import argparse
import gzip
import hashlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from induction import __version__

HERE = Path(__file__).resolve().parent
SEED = 7
COMMANDS = {
    "suite.yaml.gz": f"generate --regime all -n 60 --seed {SEED} --certify --ci-style identified",
    "challenge.yaml.gz": f"generate --regime fullobs --band challenge -n 6 --seed {SEED} --certify",
    "suite_holdout.jsonl.gz": f"holdout suite.yaml.gz -n 5 --seed {SEED}",
    "challenge_holdout.jsonl.gz": f"holdout challenge.yaml.gz -n 5 --seed {SEED}",
}
JOBS = str(min(os.cpu_count() or 1, 2))


def content_hash(path: Path) -> str:
    """The sha256 of a file's uncompressed content."""
    content = path.read_bytes()
    return hashlib.sha256(gzip.decompress(content) if path.suffix == ".gz" else content).hexdigest()


def build(name: str, folder: Path) -> None:
    """Run the command of one file, with its output in `folder`, where earlier ones are too."""
    command = [str(Path(sys.executable).with_name("induction")), *shlex.split(COMMANDS[name]), "-o", name]
    if command[1] == "generate":
        command += ["--jobs", JOBS]
    subprocess.run(command, cwd=folder, check=True)


def main() -> int:
    """Build or check the files named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*COMMANDS, []])
    options = parser.parse_args()
    check = options.check
    # What is made from a file that is made anew is made anew too.
    names = [
        name
        for name, command in COMMANDS.items()
        if not options.names or name in options.names or any(part in options.names for part in shlex.split(command))
    ]
    with tempfile.TemporaryDirectory(dir=HERE.parent) as scratch:
        folder = Path(scratch)
        for name in COMMANDS:
            if name in names:
                build(name, folder)
            elif (HERE / name).exists():
                (folder / name).write_bytes((HERE / name).read_bytes())
        made = {name: content_hash(folder / name) for name in names}
        if check:
            recorded = {
                entry["file"]: entry["sha256"]
                for entry in json.loads((HERE / "MANIFEST.json").read_text(encoding="utf-8"))
            }
            wrong = [
                name for name, digest in made.items() if {recorded.get(name), content_hash(HERE / name)} != {digest}
            ]
            for name in wrong:
                print(f"{name}: another content than MANIFEST.json says", file=sys.stderr)
            return 1 if wrong else 0
        for name in names:
            os.replace(folder / name, HERE / name)
    manifest = [
        {
            "file": name,
            "command": f"induction {command} -o {name}",
            "seed": SEED,
            "version": __version__,
            "sha256": content_hash(HERE / name),
        }
        for name, command in COMMANDS.items()
        if (HERE / name).exists()
    ]
    (HERE / "MANIFEST.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
