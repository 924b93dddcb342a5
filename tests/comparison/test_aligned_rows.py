"""Each row of an original beside its row of the release: the cells cover it, and nothing is mixed up."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.comparison import aligned_rows, compare_releases
from sfumato.errors import ParameterError, ReleaseError

people = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), min_size=2, max_size=14)
SCHEMA = sf.Schema(["age"], ["ill"])


def released(rows, k=2, suppress="0"):
    data = pa.table({"age": [age for age, _ in rows], "ill": [f"i{ill}" for _, ill in rows]})
    return data, sf.anonymize(data, SCHEMA, sf.KAnonymity(k), seed=1, suppress=suppress)


def covers(cell, age):
    low, _, high = cell.strip("[]").partition(", ")
    return int(low) <= age <= int(high or low)


@settings(max_examples=20)
@given(people)
def test_cells_cover_the_row_that_they_stand_for(rows):
    _, release = released(rows)
    found = aligned_rows(release).frame().to_pylist()
    assert [(row["row"], row["age"], row["ill"]) for row in found] == [
        (number, age, f"i{ill}") for number, (age, ill) in enumerate(rows, start=1)
    ]
    assert all(covers(row["age →"], row["age"]) for row in found)
    # the published rows, as a multiset, are those that are shown
    published = sorted((row["group"], row["age"], row["ill"]) for row in release.frame.to_pylist())
    assert sorted((row["group"], row["age →"], row["ill"]) for row in found) == published
    window = aligned_rows(release).frame(1, 1).to_pylist()
    assert window == found[1:2]


def test_a_folder_with_its_key_gives_the_same(tmp_path):
    data, release = released([(age, age % 3) for age in range(12)])
    folder = release.save(tmp_path / "release", key=tmp_path / "key.json")
    read = aligned_rows(folder, data, key=tmp_path / "key.json")
    columns = ["row", "group", "age", "age →"]
    assert read.frame().select(columns).to_pylist() == aligned_rows(release).frame().select(columns).to_pylist()
    assert read.frame(rows=[5, 0]).column("row").to_pylist() == [6, 1]
    with pytest.raises(ParameterError, match="without its original and its key"):
        aligned_rows(folder, data)
    with pytest.raises(ReleaseError, match="does not have"):
        aligned_rows(folder, data.slice(0, 3), key=tmp_path / "key.json")
    other = released([(age, age % 2) for age in range(12)])[1].save(tmp_path / "other", key=tmp_path / "other.json")
    with pytest.raises(ReleaseError, match="another release"):
        aligned_rows(other, data, key=tmp_path / "key.json")


def test_suppressed_rows_have_no_cells():
    data = pa.table({"age": [1, 1, 2, 2, 90], "ill": ["a", "b", "a", "b", "a"]})
    release = sf.anonymize(data, SCHEMA, sf.DistinctLDiversity(2), seed=0, suppress="0.4", method="mondrian")
    aligned = aligned_rows(release)
    assert len(aligned.suppressed) == release.suppressed
    hidden = aligned.frame(rows=aligned.suppressed.tolist()).to_pylist()
    assert all(row["age →"] is None and row["group"] is None for row in hidden)


def test_figures_of_a_comparison_are_those_of_the_releases(tmp_path):
    """A release in memory and its folder have the same figures, which are those that its own utility states."""
    data, release = released([(age % 10, age % 3) for age in range(30)], k=3)
    folder = release.save(tmp_path / "release", key=tmp_path / "key.json")
    found = compare_releases(
        {"memory": release, "folder": folder}, data, keys={"folder": tmp_path / "key.json"}, attacks=["homogeneity"]
    )
    memory, files = (one.to_dict() | {"name": ""} for one in found.releases)
    assert memory == files
    assert memory["loss"] == pytest.approx(release.loss)
    assert memory["columns"] == pytest.approx(release.utility.loss.columns)
    assert memory["groups"] == release.audit.groups.count
    best = {}
    for row in release.frame.to_pylist():
        best.setdefault(row["group"], []).append(row["ill"])
    guessed = sum(max(ills.count(ill) for ill in ills) for ills in best.values())
    assert memory["attacks"][0]["success"]["share"] == pytest.approx(guessed / 30)
    assert found.table()[0] == ("", "memory", "folder")
    with pytest.raises(ParameterError, match="without their original"):
        compare_releases({"folder": folder})
