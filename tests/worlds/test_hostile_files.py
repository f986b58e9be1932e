"""Files made to hurt: each ends in one clear line, soon, and in bounded memory.

Each case runs `induction info` in a process of its own under a memory limit, as a user would meet it.
"""

import gzip
import io
import json
import random
import resource
import time

import pytest
from conftest import run_process

MEMORY_BYTES = 2 * 2**30
# Two seconds is the aim on a free core; a shared and busy machine gets a margin, a hang does not pass.
SECONDS = 10


def _gzip_bomb() -> bytes:
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as stream:
        for _ in range(1024):
            stream.write(b" " * 2**20)
    return packed.getvalue()


def _alias_bomb() -> str:
    lines = ['a0: &a0 ["x","x","x","x","x","x","x","x","x"]']
    lines += [f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)]
    return "\n".join(lines)


def _wide_alias_bomb() -> str:
    """One big list aliased many times: a small depth, a large product."""
    return "- &a [" + ",".join("1" * 2000) + "]\n" + "- *a\n" * 100_000


def _many_tables() -> str:
    """Two thousand predicates in two thousand worlds of one object: little text, four million tables."""
    predicates = [{"name": f"P{i}", "arity": 1} for i in range(2_000)]
    worlds = [{"domain": ["a"], "targetExtension": {"T_true": []}}] * 2_000
    return json.dumps({"task": "FullObs", "problem": {"signature": {"predicates": predicates}, "worlds": worlds}})


def _many_predicates() -> str:
    predicates = [{"name": f"P{i}", "arity": 1} for i in [*range(50_000), 49_999]]
    return json.dumps({"task": "FullObs", "problem": {"signature": {"predicates": predicates}, "worlds": [{}]}})


def _world_record(gold=None, **world) -> str:
    record = {
        "problemDescription": {"hiddenTarget": {"formula": gold}},
        "instanceId": "i",
        "task": "FullObs",
        "problem": {
            "signature": {"predicates": [{"name": "R", "arity": 2}]},
            "worlds": [{"domain": ["a"], "targetExtension": {"T_true": []}, **world}],
        },
    }
    return json.dumps(record)


HOSTILE = {
    "alias bomb": (_alias_bomb(), "aliases expand"),
    "wide alias bomb": (_wide_alias_bomb(), "aliases expand"),
    "alias of itself": ("- &a [*a]", "names nothing complete"),
    "alias of nothing": ("- *a", "names nothing complete"),
    "brackets in yaml": ("[" * 1_000_000, "nest"),
    "braces in yaml": ("{a: " * 1_000_000, "nest"),
    "block nesting in yaml": ("- " * 100_000, "nested"),
    "brackets in json": ("[" * 1_000_000, "nested", ".json"),
    "objects in json": ('{"a":' * 1_000_000, "nested", ".json"),
    "brackets in json lines": ('{"a":' + "[" * 1_000_000, "nested", ".jsonl"),
    "gzip bomb": (_gzip_bomb(), "larger than 128 MiB when decompressed", ".yaml.gz"),
    "gzip cut short": (gzip.compress(b"- a: b\n" * 1000)[:-20], "broken gzip", ".yaml.gz"),
    "gzip of rubbish": (b"\x1f\x8b" + bytes(range(256)), "broken gzip", ".yaml.gz"),
    "binary rubbish": (random.Random(1).randbytes(100_000), "binary"),
    "latin text": ("é".encode("latin-1") * 100, "not UTF-8"),
    "utf-16": ("- a: b".encode("utf-16"), "binary"),
    "empty": ("", "is empty"),
    "blank": (" \n\t\n", "is empty"),
    "only a comment": ("# nothing\n", "holds no records"),
    "empty list": ("[]", "holds no records"),
    "tag": ("- !!python/object/apply:os.system ['true']", "tag"),
    "merge key": ("- {<<: {a: 1}}", "merge keys"),
    "key twice in yaml": ("- {a: 1, a: 2}", "comes twice"),
    "key twice in json": ('[{"a": 1, "a": 2}]', "comes twice", ".json"),
    "list as key": ("- ? [a]\n  : b", "a key must be text"),
    "control characters": ("- a: \x07", "broken YAML"),
    "tab indentation": ("- a:\n\t- b", "broken YAML"),
    "nan": ('[{"a": NaN}]', "not a JSON value", ".json"),
    "giant number": ('[{"a": ' + "9" * 100_000 + "}]", "broken JSON", ".json"),
    "huge domain": (_world_record(domain=[f"a{i}" for i in range(100_000)]), "the limit is"),
    "million records": ("[" + ",".join("1" * 1_000_000) + "]", "the limit is 100,000", ".json"),
    "many broken records": ("[" + ",".join("1" * 90_000) + "]", "more faults", ".json"),
    "many broken lines": ("x\n" * 1_000_000, "more faults", ".jsonl"),
    "millions of broken lines": (gzip.compress(b"x\n" * 60_000_000), "more faults", ".jsonl.gz"),
    "millions of lines": (gzip.compress(b"x\n" * 60_000_000), "more than 4,000,000 values or lines", ".yaml.gz"),
    "millions of blank lines": (gzip.compress(b"\n" * 60_000_000), "blank lines in a row", ".jsonl.gz"),
    "one endless line": (_gzip_bomb(), "a line is larger than 128 MiB", ".jsonl.gz"),
    "a line of many values": ('{"a": [' + "0," * 5_000_000 + "0]}", "more than 4,000,000 values", ".jsonl"),
    "latin text after a line": (b'{"a": 1}\n\xe9\n', "line 2: is not UTF-8", ".jsonl"),
    "millions of objects": (gzip.compress(b"[" + b"{}," * 30_000_000 + b"{}]"), "more than 4,000,000", ".json.gz"),
    "millions of items in yaml": (gzip.compress(b"-\n" * 9_000_000), "more than 4,000,000", ".yaml.gz"),
    "many documents": ("---\n" * 200_000, "more than 100,000 documents"),
    "many keys, one twice": (
        "{" + ",".join(f'"k{i}":0' for i in range(200_000)) + ',"k9":1}',
        "'k9' comes twice",
        ".json",
    ),
    "many tables": (_many_tables(), "the limit is", ".json"),
    "many predicates, one twice": (_many_predicates(), "declared twice", ".json"),
    "number out of range": ('[{"a": 1e400}]', "out of range", ".json"),
    "endless gzip header": (b"\x1f\x8b\x08\x08\0\0\0\0\0\0" + b"y" * 140 * 2**20, "larger than 128 MiB", ".gz"),
    "empty gzip members": (gzip.compress(b"") * 100_000, "gzip members", ".gz"),
    "nested extra field": (_world_record(note=json.loads("[" * 70 + "]" * 70)), "nested more than", ".json"),
    "escape in a gold": (_world_record(gold="(x = \x1b[31mred)"), "\\x1b[31mred", ".json"),
    "markup in names": (_world_record(worldId="[red]x[/]", domain=["a", "a"]), "world [red]x[/], domain[1]"),
    "escapes in names": (_world_record(worldId="\x1b[31mx"), "\\x1b[31m"),
    "surrogate in names": (_world_record(worldId="\ud800", domain=["a", "a"]), "\\ud800", ".json"),
    "long name": (_world_record(worldId="w" * 1_000_000), "cannot be a name"),
}


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_file(tmp_path, command, kind):
    content, words, *suffix = HOSTILE[kind]
    path = tmp_path / f"f{suffix[0] if suffix else '.yaml'}"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    started = time.perf_counter()
    done = run_process([str(command), "info", str(path)], preexec_fn=_limit_memory)
    assert time.perf_counter() - started < SECONDS
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    lines = done.stderr.rstrip("\n").split("\n")
    assert len(lines) == (21 if words == "more faults" else 1)
    for line in lines:
        assert line.startswith("induction: ")
        assert line.isprintable()
        assert len(line) < 600
