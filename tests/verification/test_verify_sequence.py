"""Sequences of releases are verified from their files, and whatever is wrong is found."""

from __future__ import annotations

import json
import re
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.releases.history import History, Place
from sfumato.verification.candidate_checks import PublishedGroups, continuation_problem, history_problem
from versions import FIRST, LATER, people, release_versions

TABLES = [people(FIRST), people(LATER)]


@pytest.fixture
def sequence(tmp_path):
    """Two releases, the second with a counterfeit."""
    return release_versions(tmp_path, FIRST, LATER, counterfeits="0.2")


def verified(sequence, tables=TABLES):
    folders, keys = zip(*sequence, strict=True)
    return sf.verify_sequence(folders, tables, keys=keys)


def failing(result):
    return [check.name for check in result.checks if check.holds is False]


def test_a_sequence_holds_and_everything_is_checked(sequence):
    result = verified(sequence)
    assert result.holds
    assert not result.not_checked


def test_without_originals_the_public_part_is_checked(sequence):
    result = sf.verify_sequence([folder for folder, _ in sequence])
    assert result.holds
    assert [check.name for check in result.not_checked] == ["candidates"]


def test_independent_releases_are_no_sequence(tmp_path):
    made = [release_versions(tmp_path / str(n), version)[0] for n, version in enumerate([FIRST, FIRST])]
    assert failing(verified(made, [people(FIRST)] * 2)) == ["chain"]


def test_another_order_is_no_sequence(sequence):
    assert failing(verified(sequence[::-1], TABLES[::-1])) == ["chain"]


def test_a_sequence_may_begin_later(tmp_path):
    made = release_versions(tmp_path, FIRST, FIRST, FIRST)
    result = sf.verify_sequence([folder for folder, _ in made[1:]])
    assert result.holds
    assert "chain" in [check.name for check in result.not_checked]


def test_other_requirements_are_found(tmp_path, sequence):
    made = release_versions(tmp_path / "other", FIRST, rule=sf.DistinctLDiversity(2))
    result = sf.verify_sequence([made[0][0], sequence[1][0]])
    assert {"chain", "requirements"} <= set(failing(result))


def test_the_number_of_originals_and_keys_is_checked(sequence):
    folders, keys = zip(*sequence, strict=True)
    with pytest.raises(ParameterError, match="2 releases and 1 originals"):
        sf.verify_sequence(folders, TABLES[:1], keys=keys)
    with pytest.raises(ParameterError, match="no release to verify"):
        sf.verify_sequence([])


def changed(path, change):
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def swap_people(content):
    """Exchange the places of the first two people with different ones."""
    places = content["history"]["people"]
    one, other = (next(who for who, place in places.items() if place[:2] == [0, slot]) for slot in (0, 1))
    places[one], places[other] = places[other], places[one]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (swap_people, "the place of another candidate"),
        (lambda content: content["history"]["people"].popitem(), "lacks somebody"),
        (lambda content: content["history"]["lineages"].append(content["history"]["lineages"][0]), None),
        (lambda content: content["history"]["lineages"][0].append(0), "does not publish the candidates"),
        (lambda content: content["original_rows"].reverse(), "differs from the original row|does not cover"),
        (lambda content: content["history"]["people"].update(x=[0, 0, 1]), "somebody who is in no release"),
    ],
)
def test_a_wrong_key_is_found(tmp_path, change, words):
    sequence = release_versions(tmp_path, FIRST)
    changed(sequence[0][1], change)
    result = verified(sequence, TABLES[:1])
    assert result.holds == (words is None)
    if words is not None:
        assert re.search(words, result.failures)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("release", "0" * 64, "names another release"),
        ("version", 3, "states version 3"),
        ("counterfeits", 0, "rows"),
        ("counterfeits", 2, "rows"),
        ("version", 1, "states that it follows a release, and is version 1"),
        # of the 5 people, not of the 6 rows: one counterfeit is a share of 0.2, as the release states
        ("allowed", "0.19", "states 1 counterfeits, and that a share of 0.19 may be"),
        ("allowed", "1", "states 1 counterfeits, and that a share of 1 may be"),
        ("allowed", "0.20", "states 1 counterfeits, and that a share of 0.20 may be"),
        ("allowed", "all", "states that a share of 'all'"),
    ],
)
def test_a_changed_statement_is_found(sequence, key, value, words):
    first, (folder, own) = sequence
    changed(folder / "release.json", lambda content: content["after"].update({key: value}))
    result = sf.verify(folder, people(LATER), key=own, after=first)
    assert words in result.failures


def test_a_release_that_follows_none_does_not_follow_one(sequence):
    (folder, key), _ = sequence
    assert "does not state that it follows" in sf.verify(folder, people(FIRST), key=key, after=sequence[0]).failures


def groups_of(*groups):
    """Groups of people, each a dict from a name to a value; names that begin with - are counterfeits."""
    bags = {n: Counter((value,) for value in group.values()) for n, group in enumerate(groups)}
    own = {n: {who: (v,) for who, v in group.items() if not who.startswith("-")} for n, group in enumerate(groups)}
    return PublishedGroups(bags, own)


BEFORE = History(
    b"x", 1, "name", ("ill",), [("flu",), ("gout",), ("cold",)], [(0, 1), (0, 2)],
    {"a": Place(0, 0, 1), "b": Place(0, 1, 1), "c": Place(1, 0, 1), "d": Place(1, 1, 1)},
)  # fmt: skip


@pytest.mark.parametrize(
    ("groups", "problem"),
    [
        ([{"a": "flu", "b": "gout"}, {"c": "flu", "d": "cold"}], None),
        ([{"a": "flu", "n": "gout"}], None),
        ([{"a": "flu", "-": "gout"}, {"n": "cold", "m": "flu"}], None),
        ([{"a": "cold", "n": "flu"}, {"b": "gout", "m": "flu"}], None),
        ([{"a": "flu", "n": "cold"}], "other candidates"),
        ([{"a": "flu"}], "other candidates"),
        ([{"a": "flu", "b": "gout", "n": "cold"}], "other candidates"),
        ([{"a": "flu", "d": "cold"}], "2 earlier groups"),
        ([{"a": "flu", "n": "gout"}, {"b": "gout", "m": "flu"}], "in another one"),
    ],
)
def test_groups_continue_lineages(groups, problem):
    found = continuation_problem(groups_of(*groups), BEFORE)
    assert found is None if problem is None else problem in found


def test_nobody_shares_a_slot():
    """n took the slot of a, who returns when b, with the other value, has left."""
    two = History(b"x", 1, "name", ("ill",), [("flu",)], [(0, 0)], {"a": Place(0, 0, 1), "n": Place(0, 0, 2)})
    assert "the same place" in continuation_problem(groups_of({"a": "flu", "n": "flu"}), two)
    moved = History(b"x", 3, "name", ("ill",), [("flu",)], [(0, 0)], {"a": Place(0, 1, 3), "n": Place(0, 0, 2)})
    assert "another place than before" in history_problem(groups_of({"a": "flu", "-": "flu"}), two, moved)


@given(st.integers(2, 4), st.integers(2, 5), st.randoms(use_true_random=False))
def test_m_invariant_sequences_are_accepted(m, buckets, random):
    """Buckets of m different values, whose members are replaced by people with the same values, as Xiao & Tao require."""
    signatures = [random.sample(range(8), m) for _ in range(buckets)]
    members = [[f"{bucket}.{slot}.0" for slot in range(m)] for bucket in range(buckets)]
    history = History(
        b"x", 1, "name", ("v",), [(str(v),) for v in range(8)], [tuple(s) for s in signatures],
        {members[b][s]: Place(b, s, 1) for b in range(buckets) for s in range(m)},
    )  # fmt: skip
    for version in (2, 3):
        for bucket in members:
            for slot in range(m):
                if random.random() < 0.3:
                    prefix = "-" if random.random() < 0.3 else ""
                    bucket[slot] = f"{prefix}{bucket[slot].lstrip('-')}{version}"
        groups = groups_of(
            *({who: str(v) for who, v in zip(own, s, strict=True)} for own, s in zip(members, signatures, strict=True))
        )
        places = {
            who: Place(bucket, slot, version)
            for bucket, own in enumerate(members)
            for slot, who in enumerate(own)
            if not who.startswith("-")
        }
        after = History(
            b"x", version, "name", ("v",), history.values, history.lineages, {**history.people, **places}
        )  # fmt: skip
        if all(any(not who.startswith("-") for who in own) for own in members):
            assert continuation_problem(groups, history) is None
            assert history_problem(groups, history, after) is None
            values = [int(v) for s in signatures for v in s]
            table = pa.table({"v": values, "group": np.repeat(np.arange(buckets), m)})
            assert sf.audit(table, sf.Schema(sensitive=["v"], group="group"), sf.FrequencyLDiversity(m)).holds
        history = after


def test_the_command_line_checks_a_sequence(sequence, tmp_path):
    from click.testing import CliRunner
    from pyarrow import csv

    from sfumato.cli import main

    files = []
    for number, table in enumerate(TABLES):
        files.append(str(tmp_path / f"{number}.csv"))
        csv.write_csv(table, files[-1])
    folders, keys = zip(*sequence, strict=True)
    options = [part for file in files for part in ("--original", file)] + [
        part for key in keys for part in ("--key", str(key))
    ]
    done = CliRunner().invoke(main, ["verify", *map(str, folders), *options])
    assert done.exit_code == 0, done.output
    assert "candidates: each of 6 people" in " ".join(done.output.split())
    done = CliRunner().invoke(main, ["verify", *map(str, folders), "--original", files[0]])
    assert done.exit_code == 2
