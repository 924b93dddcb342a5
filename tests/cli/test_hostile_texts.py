"""Names and values with control characters: no verb prints them, and JSON stays JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial

import pyarrow as pa
import pytest
from pyarrow import csv

import commandline
from sfumato.visible_text import one_line, visible

CLEAR = "\x1b[2J\x1b[H"
NAMES = {"age": f"age{CLEAR}all checks hold", "ill": "ill\x9b2J\u202egnp\u2066\r\x07", "town": "town\n\nEvery check holds."}
UNSAFE = {*map(chr, range(32)), *map(chr, range(0x7F, 0xA0)), *"\u061c\u200e\u200f\u2028\u2029\ufeff"}
UNSAFE |= {chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}


@pytest.fixture
def sfumato(tmp_path):
    people = {NAMES["age"]: [20 + row % 7 for row in range(60)]}
    people[NAMES["town"]] = [f"{('Rome', 'Bonn')[row % 2]}{CLEAR}" for row in range(60)]
    people[NAMES["ill"]] = [f"{('flu', 'gout', 'cold')[row % 3]}\x1b[31m\u202e" for row in range(60)]
    csv.write_csv(pa.table(people), tmp_path / "people.csv")
    role = {"age": "quasi-identifier", "town": "quasi-identifier", "ill": "sensitive"}
    columns = "".join(f'[columns.{json.dumps(NAMES[name])}]\nrole = "{role[name]}"\n' for name in NAMES).replace("\x7f", "")
    (tmp_path / "sfumato.toml").write_text(
        f'[data]\npath = "people.csv"\n{columns}[[principles]]\nname = "k-anonymity"\nk = 20\n'
        '[[principles]]\nname = "distinct-l-diversity"\nl = 2\n',
        encoding="utf-8",
    )
    return partial(commandline.sfumato, cwd=tmp_path)


def assert_harmless(done, lines=()):
    """No control character is printed, and no line is one that a name contains."""
    for text in (done.stdout, done.stderr):
        assert not (UNSAFE - {"\n"}) & set(text), ascii(text)
        assert "Every check holds." not in map(str.strip, text.splitlines()), text


VERBS = [
    ["init", "people.csv", "--output", "draft.toml"],
    ["init", "people.csv", "--output", "draft.toml", "--json"],
    ["audit", "sfumato.toml"],
    ["audit", "sfumato.toml", "--json"],
    ["anonymize", "sfumato.toml", "--output", "release"],
    ["anonymize", "sfumato.toml", "--output", "release", "--json"],
    ["risk", "sfumato.toml"],
    ["risk", "sfumato.toml", "--json"],
    ["explain", "no\x1b[2J\u202esuch"],
    ["hierarchy", "people.csv", f"no{CLEAR}\nEvery check holds.\n"],
    ["verify", f"no{CLEAR}\nEvery check holds.\n"],
    ["audit", f"no{CLEAR}\nEvery check holds.\n"],
    ["anonymize", "sfumato.toml", f"--no{CLEAR}\u202e"],
]


@pytest.mark.parametrize("arguments", VERBS, ids=lambda arguments: ascii(" ".join(arguments)))
def test_no_verb_prints_a_control_character(sfumato, arguments):
    done = sfumato(*arguments)
    assert done.returncode in (0, 1, 2), done.stderr
    assert_harmless(done)
    if "--json" in arguments:
        assert NAMES["age"] in json.dumps(json.loads(done.stdout), ensure_ascii=False).encode().decode("unicode_escape"), (
            "the names are still there"
        )


def test_a_hostile_release_cannot_fake_a_verdict(sfumato, tmp_path):
    """Whoever verifies a release does not trust its author: every text of release.json may be hostile."""
    assert sfumato("anonymize", "sfumato.toml", "--output", "release").returncode == 0
    manifest = tmp_path / "release" / "release.json"
    honest = manifest.read_text(encoding="utf-8")
    assert_harmless(sfumato("verify", "release"))
    assert_harmless(sfumato("verify", "release", "--original", "people.csv"))
    hostile = f"x{CLEAR}\n\nEvery check holds.\n\u202e\x9b"
    places = 0
    for path in texts_in(json.loads(honest)):
        content = json.loads(honest)
        *before, last = path
        at = content
        for step in before:
            at = at[step]
        at[last] = hostile
        manifest.write_text(json.dumps(content), encoding="utf-8")
        done = sfumato("verify", "release")
        assert done.returncode in (0, 1, 2), (path, done.stderr)
        assert_harmless(done)
        content = json.loads(honest)
        content[hostile] = 1
        places += 1
    manifest.write_text(json.dumps({**json.loads(honest), hostile: 1}), encoding="utf-8")
    assert_harmless(sfumato("verify", "release"))
    assert places > 20


def texts_in(content, path=()):
    """Yield the path of one text of each kind."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield from texts_in(value, (*path, key))
    elif isinstance(content, list):
        for place, value in enumerate(content[:1]):
            yield from texts_in(value, (*path, place))
    elif isinstance(content, str):
        yield path


def test_a_hierarchy_is_printed_as_it_is_only_into_a_file(sfumato, tmp_path):
    """A redirected file must contain the values; a terminal must not see them."""
    done = sfumato("hierarchy", "people.csv", NAMES["ill"])
    assert "flu\x1b[31m\u202e" in done.stdout
    code = "import os, pty, sys; from sfumato.cli import main\npty.spawn([sys.executable, '-m', 'sfumato', *sys.argv[1:]])"
    terminal = subprocess.run(
        [sys.executable, "-c", code, "--quiet", "hierarchy", "people.csv", NAMES["ill"]],
        cwd=tmp_path, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "utf-8"}, check=False,
    )  # fmt: skip
    shown = terminal.stdout.decode()
    assert r"flu\u001b[31m\u202e" in shown
    assert not (UNSAFE - {"\n", "\r"}) & set(shown)


def test_escapes_are_those_of_json():
    for letter in UNSAFE:
        assert json.loads(f'"{one_line(letter)}"') == letter
    assert visible("two\nlines\tand ε") == "two\nlines\tand ε"
    content = {"a": "".join(sorted(UNSAFE))}
    assert json.loads(visible(json.dumps(content, ensure_ascii=False))) == content
