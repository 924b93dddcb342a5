"""What the page of promises says of every release, and no other test holds."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv

import sfumato as sf
from fixed_groups import as_seen
from sfumato.registry import ATTACKS, PROJECTED_ATTACKS

SOURCE = Path(sf.__file__).parent
SIZE = 6
"""Rows in a group of the releases below."""

WATCHED = """
import os, sys
def watch(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
        os.write(2, f"{event} {arguments}".encode())
        os._exit(99)
sys.addaudithook(watch)
from sfumato.cli import main
main(sys.argv[1:], prog_name="sfumato")
"""


def run(folder, *arguments, watch=False, **env):
    start = ["-c", WATCHED] if watch else ["-m", "sfumato"]
    done = subprocess.run(
        [sys.executable, *start, *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
        env={**os.environ, **env},
    )
    assert done.returncode in (0, 1), done.stderr
    return done


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture
def project(tmp_path):
    """A small table and a config that asks for something easy."""
    people = sf.synthetic_census(rows=1000, seed=1).slice(0, 300).select(["age", "sex", "income"])
    arrow_csv.write_csv(people, tmp_path / "people.csv")
    schema = sf.Schema(["age", "sex"], ["income"])
    sf.Config.of(schema, "people.csv", [sf.KAnonymity(5), sf.Dissimilarity(epsilon=2, delta="0.5")]).save(
        tmp_path / "sfumato.toml"
    )
    return tmp_path


def test_nothing_leaves_the_machine(project):
    """Promise 4: every verb of the way from a table to a release, watched by the interpreter's own audit hook."""
    for arguments in (
        ["explain", "dissimilarity"],
        ["audit", "sfumato.toml"],
        ["frontier", "sfumato.toml"],
        ["anonymize", "sfumato.toml", "--output", "release"],
        ["verify", "release", "--original", "people.csv"],
    ):
        run(project, *arguments, watch=True)


def test_the_watch_sees_a_call():
    probe = WATCHED.partition("from sfumato")[0] + "import socket; socket.create_connection(('127.0.0.1', 9))"
    assert subprocess.run([sys.executable, "-c", probe], capture_output=True, check=False).returncode == 99


class AsTheyStand(sf.Method):
    """The first rows are a group, the next are, and so on: whatever is in them."""

    def group(self, task, seed=0):
        return sf.anonymization.Grouping(as_seen(np.arange(task.table.rows) // SIZE, task, seed))


rows = st.tuples(st.integers(20, 40), st.sampled_from(["f", "m"]), st.sampled_from("abcd"), st.integers(0, 9))
groups = st.lists(st.lists(rows, min_size=SIZE, max_size=SIZE), min_size=2, max_size=4)


@settings(max_examples=25, phases=[Phase.explicit, Phase.generate])
@given(groups, st.randoms(use_true_random=False), st.sampled_from(["csv", "parquet"]))
def test_who_in_a_group_has_which_secret_leaves_no_trace(tmp_path_factory, drawn, random, form):
    """Exchange the secrets within groups: every file of the release is the same, byte for byte."""

    def release(people, name):
        ages, sexes, ills, pays = zip(*people, strict=True)
        frame = pa.table({"age": ages, "sex": sexes, "ill": ills, "pay": pays})
        schema = sf.Schema(["age", "sex"], ["ill", "pay"])
        asked = [sf.KAnonymity(SIZE), sf.Dissimilarity(epsilon=2, delta=0, on="pay")]
        made = sf.anonymize(frame, schema, asked, method=AsTheyStand(), seed=3)
        return contents(made.save(tmp_path_factory.mktemp("release") / name, format=form))

    people = [row for group in drawn for row in group]
    exchanged = []
    for group in drawn:
        secrets = [row[2:] for row in group]
        random.shuffle(secrets)
        exchanged += [(*row[:2], *secret) for row, secret in zip(group, secrets, strict=True)]
    assert release(people, "one") == release(exchanged, "other")


def test_the_number_of_threads_changes_nothing(project):
    """Promise 6."""
    for threads in ("1", "2"):
        options = {"NUMBA_NUM_THREADS": threads, "OMP_NUM_THREADS": threads, "ARROW_NUM_THREADS": threads}
        run(project, "anonymize", "sfumato.toml", "--seed", "3", "--output", threads, **options)
    assert contents(project / "1") == contents(project / "2")


def test_every_attack_has_a_verdict():
    """The page says of each registered attack: prevented, bounded, measured, or neither."""
    page = (Path(__file__).parents[1] / "docs" / "promise.md").read_text(encoding="utf-8")
    section = page.partition("## What known attacks achieve")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("| ")]
    verdicts = {row[0].strip("`"): row[1] for row in rows[1:]}
    assert [name for name in verdicts if name in (*ATTACKS, *PROJECTED_ATTACKS)] == [*ATTACKS, *PROJECTED_ATTACKS]
    assert set(verdicts.values()) == {"prevented", "bounded", "measured", "neither"}
    assert {row[0] for row in rows[1:] if row[1] == "neither"} == {row[0] for row in rows[1:] if "`" not in row[0]}
    assert all(len(row) == 3 and row[2] for row in rows)


def test_nothing_is_ever_called_anonymous():
    """Promise 5: a group may be k-anonymous; a table or a release is never said to be anonymous."""
    for path in SOURCE.rglob("*"):
        if path.suffix in {".py", ".j2", ".html", ".js"}:
            assert not re.search(r"(?<![-\w])anonymous\b", path.read_text(encoding="utf-8")), path
