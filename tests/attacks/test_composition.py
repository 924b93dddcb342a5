"""The composition attack against its definition, on crossing groups, on the same release twice, and on bad releases."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from attacked_tables import grouped, one
from naive_group_attacks import composed
from sfumato.attacks import Composition, NotMeasured
from sfumato.attacks.composition import _ROUNDS, _beliefs_of_all, _smallest_groups, _View
from sfumato.errors import ReleaseError

ALONE, BEST = "the group in this release alone", "the group in the most telling release"

ROWS = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(0, 2), st.sampled_from(["a", "b", "c", None]), st.sampled_from(["both", "one", "two"])
    ),
    min_size=1,
    max_size=12,
)


def partly(groups, secrets, kept):
    """Return a release of some of the people, with their rows in the original of all."""
    release = grouped([groups[i] for i in kept], {"s": [secrets[i] for i in kept]})
    return replace(release, rows=np.array(kept, np.int64))


@given(ROWS)
def test_beliefs_are_those_of_the_definition(rows):
    first, second, secrets, where = (list(column) for column in zip(*rows, strict=True))
    placed = [[i for i, at in enumerate(where) if at in ("both", name)] for name in ("one", "two")]
    if not all(placed):
        return
    releases = [partly(groups, secrets, kept) for groups, kept in zip((first, second), placed, strict=True)]
    known = []
    for groups, kept in zip((first, second), placed, strict=True):
        values = {group: Counter(secrets[i] for i in kept if groups[i] == group) for group in set(groups)}
        known.append(({i: groups[i] for i in kept}, values))
    expected = composed(known, _ROUNDS)
    last = releases[0].secret("s")
    views = [_View.of(release, release.secret("s"), last) for release in releases]
    beliefs = _beliefs_of_all(views)
    number = {last.attribute.value(value): value for value in range(len(last.attribute))}
    found = {(int(beliefs.rows[w]), int(v)): b for w, v, b in zip(beliefs.whose, beliefs.value, beliefs.weight, strict=True)}
    for person in placed[0]:
        for value, belief in expected[person].items():
            assert found.pop((person, number[value])) == pytest.approx(belief, abs=1e-9)
    assert not any(person in placed[0] for person, _ in found)
    attacked = replace(releases[0], earlier=(releases[1],))
    if not set(placed[0]) & set(placed[1]):
        with pytest.raises(NotMeasured, match="any of the same people"):
            Composition().run(attacked)
        return
    result = one(Composition().run(attacked))
    sure = [person for person in placed[0] if max(expected[person].values()) > 0.99]
    assert result.certain == len(sure)
    assert result.figures["one possible value"] == sum(len(expected[person]) == 1 for person in placed[0])
    assert result.figures["people in several releases"] == len(set(placed[0]) & set(placed[1]))


@given(ROWS, st.lists(st.integers(0, 3), min_size=12, max_size=12))
def test_one_row_of_each_person_is_guessed(rows, who):
    """Beliefs are about rows, whoever else's rows they are among; those about one row of each person are counted."""
    first, second, secrets, _ = (list(column) for column in zip(*rows, strict=True))
    who = who[: len(rows)]
    release, other = (grouped(groups, {"s": secrets}, who=who) for groups in (first, second))
    attacked = release.one_row_each.tolist()
    assert sorted(who[row] for row in attacked) == sorted(set(who))
    known = []
    for groups in (first, second):
        values = {group: Counter(s for s, own in zip(secrets, groups, strict=True) if own == group) for group in set(groups)}
        known.append((dict(enumerate(groups)), values))
    expected = composed(known, _ROUNDS)
    result = one(Composition().run(replace(release, earlier=(other,))))
    # of beliefs that are equal but for rounding, either may be the guess
    near = [[v for v, b in expected[row].items() if b > max(expected[row].values()) - 1e-6] for row in attacked]
    right = sum(values == [secrets[row]] for row, values in zip(attacked, near, strict=True))
    maybe = sum(secrets[row] in values for row, values in zip(attacked, near, strict=True))
    assert result.success.tried == len(set(who))
    assert right <= round(result.success.share * result.success.tried) <= maybe
    assert result.certain == sum(max(expected[row].values()) > 0.99 for row in attacked)


@pytest.mark.parametrize("crossing", [True, False])
def test_crossing_groups_reveal_people_with_several_rows(crossing):
    """Nine people have two rows each, in one group of either release; the groups of the second release may be the same."""
    secrets, who = [*"abcdefghi", *"abcdefghi"], [*range(9), *range(9)]
    rows, columns = [i // 3 for i in who], [i % 3 for i in who]
    release, other = (grouped(groups, {"s": secrets}, who=who) for groups in (rows, columns if crossing else rows))
    result = one(Composition().run(replace(release, earlier=(other,))))
    assert result.success.tried == 9
    assert result.certain == result.right == (9 if crossing else 0)
    assert result.success.share == (1 if crossing else pytest.approx(1 / 3))
    assert "people have several rows, and one row of each, drawn at random, is attacked" in result.notes


def test_crossing_groups_reveal_everybody():
    secrets = list("abcdefghi")
    rows, columns = [i // 3 for i in range(9)], [i % 3 for i in range(9)]
    release = replace(grouped(rows, {"s": secrets}), earlier=(grouped(columns, {"s": secrets}),))
    result = one(Composition().run(release))
    assert (result.success.share, result.certain, result.right) == (1, 9, 9)
    assert result.baselines[ALONE].share == result.baselines[BEST].share == pytest.approx(1 / 3)
    assert result.figures["one possible value"] == 9


def test_the_same_release_twice_reveals_nothing_more():
    groups, secrets = [i // 5 for i in range(100)], ["a", "a", "b", "c", "d"] * 20
    release = grouped(groups, {"s": secrets})
    result = one(Composition().run(replace(release, earlier=(release,))))
    assert result.success == result.baselines[ALONE] == result.baselines[BEST]
    assert result.success.share == 0.4
    assert result.certain == 0


def test_people_whose_value_is_known_leave_less_for_others():
    """b is known from the other release, so only a is left for the other person of the group."""
    release, other = grouped([0, 0], {"s": ["a", "b"]}), grouped([0, 1], {"s": ["a", "b"]})
    other = replace(other, rows=np.array([5, 1]))
    result = one(Composition().run(replace(release, earlier=(_ordered(other),))))
    assert (result.success.share, result.certain) == (1, 2)


def _ordered(release):
    order = np.argsort(release.rows)
    return replace(
        release,
        rows=release.rows[order],
        group_of_person=release.group_of_person[order],
        original=release.original.take(order),
    )


def test_in_very_large_groups_values_are_only_ruled_out(monkeypatch):
    monkeypatch.setattr("sfumato.attacks.composition._BELIEFS", 1)
    secrets = ["a", "a", "b", "c", "d", "a"]
    release, other = grouped([0] * 6, {"s": secrets}), grouped([0, 0, 0, 1, 1, 1], {"s": secrets})
    result = one(Composition().run(replace(release, earlier=(other,))))
    assert any("groups are very large" in note for note in result.notes)
    assert result.certain == 0
    assert result.success.share == 0.5  # a for everybody; it is the first in the second group
    views = [_View.of(each, each.secret("s"), release.secret("s")) for each in (release, other)]
    beliefs = _smallest_groups(views, np.arange(6))
    assert beliefs.weight[beliefs.whose == 0] == pytest.approx([2 / 3, 1 / 3])  # a and b of the smaller group


def test_releases_that_contradict_each_other_are_noted():
    release, other = grouped([0, 0], {"s": ["a", "a"]}), grouped([0, 0], {"s": ["b", "b"]})
    result = one(Composition().run(replace(release, earlier=(other,))))
    assert (result.success.share, result.certain) == (0, 0)
    assert any("contradict each other about 2 people" in note for note in result.notes)


def test_what_cannot_be_combined_is_not_measured():
    release = grouped([0, 0], {"s": ["a", "b"]})
    with pytest.raises(NotMeasured, match="no earlier release"):
        Composition().run(release)
    with pytest.raises(NotMeasured, match="no sensitive attribute is in this release"):
        Composition().run(replace(release, earlier=(grouped([0, 0], {"t": ["a", "b"]}),)))


PEOPLE = pa.table(
    {
        "age": [30, 31, 50, 51, 70, 71],
        "size": [150, 180, 151, 181, 152, 182],
        "ill": ["flu", "gout", "ulcer", "HIV", "flu", "cold"],
    }
)


@pytest.fixture
def folders(tmp_path):
    for name in ("age", "size"):
        release = sf.anonymize(PEOPLE, sf.Schema([name], ["ill"]), sf.KAnonymity(2), seed=0)
        release.save(tmp_path / name, key=tmp_path / f"{name}.json")
    return tmp_path


def test_an_earlier_release_may_have_other_columns_and_a_key_of_its_own(folders):
    known = sf.attack(
        folders / "age",
        PEOPLE,
        key=folders / "age.json",
        earlier=[(folders / "size", folders / "size.json")],
        attacks=["composition"],
    )
    assert known[0].success.share == 1
    matched = sf.attack(folders / "age", PEOPLE, earlier=[folders / "size"], attacks=["composition"])
    assert matched[0].success.share == 1
    assert any("no key says whose row is whose" in note for note in matched[0].notes)


def test_a_release_in_memory_knows_the_original_of_an_earlier_folder(folders):
    release = sf.anonymize(PEOPLE, sf.Schema(["age"], ["ill"]), sf.KAnonymity(2), seed=0)
    assert sf.attack(release, earlier=[folders / "size"], attacks=["composition"])[0].success.share == 1


def test_an_earlier_release_with_columns_that_the_original_lacks_is_an_error(folders):
    with pytest.raises(ReleaseError, match="cannot be combined") as found:
        sf.attack(folders / "age", PEOPLE.drop_columns(["size"]), earlier=[folders / "size"])
    assert "size" in str(found.value)


def test_an_earlier_release_about_other_people_is_an_error(folders):
    others = PEOPLE.set_column(2, "ill", [["a", "b", "c", "d", "e", "f"]])
    sf.anonymize(others, sf.Schema(["size"], ["ill"]), sf.KAnonymity(2)).save(
        folders / "others", key=folders / "others.json"
    )
    with pytest.raises(ReleaseError, match="others cannot be combined"):
        sf.attack(folders / "age", PEOPLE, earlier=[folders / "others"])
    with pytest.raises(ReleaseError, match="published row 1 differs from the original row that the key names for it"):
        sf.attack(folders / "age", PEOPLE, earlier=[(folders / "others", folders / "others.json")])
    release = sf.anonymize(PEOPLE, sf.Schema(["age"], ["ill"]), sf.KAnonymity(2))
    earlier = sf.anonymize(others, sf.Schema(["size"], ["ill"]), sf.KAnonymity(2))
    with pytest.raises(ReleaseError, match="number 1 is about other people: its original has other values in 6 of 6 rows"):
        sf.attack(release, earlier=[earlier])


def test_the_key_of_another_release_is_an_error(folders):
    with pytest.raises(ReleaseError, match="belongs to another release"):
        sf.attack(folders / "age", PEOPLE, earlier=[(folders / "size", folders / "age.json")])


def test_keys_of_earlier_releases_on_the_command_line(folders):
    from click.testing import CliRunner
    from pyarrow import csv

    from sfumato.cli import main

    csv.write_csv(PEOPLE, folders / "people.csv")
    shared = ["attack", str(folders / "age"), "--original", str(folders / "people.csv"), "--attack", "composition"]
    key = ["--with-key", str(folders / "size.json")]
    done = CliRunner().invoke(main, [*shared, "--with", str(folders / "size"), *key])
    assert done.exit_code == 0, done.output
    assert "composition" in done.output
    assert CliRunner().invoke(main, [*shared, *key]).exit_code == 2
