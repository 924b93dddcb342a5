"""Reading an anatomy: its tables with types, and expected counts."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest

import sfumato as sf
from fixed_groups import Fixed

PEOPLE = pa.table(
    {
        "age": [30, 31, 32, 40, 41, 42],
        "seen": ["2020-01-01", "2020-01-02", None, "2021-01-01", "2021-01-02", "2021-01-03"],
        "code": ["01", "02", "02", "01", "02", "03"],
        "ill": ["flu", "gout", "flu", "cold", None, "cold"],
        "pay": [1, 2, 3, 1, 2, 3],
    }
)
SCHEMA = sf.Schema(["age", "seen", "code"], ["ill", "pay"], kinds={"seen": "date", "code": "categorical"})


@pytest.fixture(scope="module", params=["csv", "parquet"])
def folder(request, tmp_path_factory):
    anatomy = sf.anatomize(PEOPLE, SCHEMA, sf.DistinctLDiversity(2), method=Fixed([0, 0, 0, 1, 1, 1]), seed=0)
    return anatomy.save(tmp_path_factory.mktemp("read") / "out", format=request.param)


def test_the_tables_have_their_types(folder):
    read = sf.read_release(folder)
    rows = sorted(read.people.to_pylist(), key=lambda row: row["age"])
    assert [row["age"] for row in rows] == PEOPLE["age"].to_pylist()
    assert rows[0]["seen"] == datetime.date(2020, 1, 1)
    assert [row["code"] for row in rows] == PEOPLE["code"].to_pylist()
    assert rows[2]["seen"] is None
    young = rows[0]["group"]
    assert {(row["ill"], row["count"]) for row in read.secrets[0].to_pylist() if row["group"] == young} == {
        ("flu", 2),
        ("gout", 1),
    }
    assert repr(read).startswith("<ReleasedAnatomy: 6 people in 2 groups; age exact")


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"age": 30}, 1),
        ({"age": (None, 31)}, 2),
        ({"seen": ("2020-01-02", None)}, 4),
        ({"code": ["01", "03"]}, 3),
        ({"ill": "flu"}, 2),
        ({"ill": None}, 1),
        ({"pay": (2, 3)}, 4),
        ({"age": (30, 31), "ill": "flu"}, 2 * 2 / 3),
        ({"age": (31, 40), "ill": "cold"}, 2 / 3),
        ({"ill": "flu", "pay": 1}, 3 * 2 / 3 * 1 / 3),
    ],
)
def test_expected_counts(folder, where, expected):
    assert sf.read_release(folder).expected_count(where) == pytest.approx(expected)


def test_invalid_conditions(folder):
    read = sf.read_release(folder)
    with pytest.raises(sf.errors.ColumnError, match="no such column"):
        read.expected_count({"agee": 30})
    with pytest.raises(sf.errors.ParameterError, match="no condition"):
        read.expected_count({})
    with pytest.raises(sf.errors.ParameterError, match="invalid condition"):
        read.expected_count({"age": "old"})


def test_files_that_are_not_as_stated_are_an_error(folder, tmp_path):
    text = (folder / "release.json").read_text(encoding="utf-8").replace('"groups": 2', '"groups": 3')
    (folder / "release.json").write_text(text, encoding="utf-8")
    try:
        with pytest.raises(sf.errors.ReleaseError, match=r"not what release\.json states"):
            sf.read_release(folder)
    finally:
        (folder / "release.json").write_text(text.replace('"groups": 3', '"groups": 2'), encoding="utf-8")
