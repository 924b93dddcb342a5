"""Ages that replace dates of birth, against counting birthdays one by one."""

from __future__ import annotations

from datetime import date, timedelta

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import CellError, ColumnError

BIRTHS = st.dates(date(1900, 1, 1), date(2024, 12, 31))


def naive_age(birth: date, at: date) -> int:
    """Count the birthdays after the birth until a date; 1 March where there is no 29 February."""
    age = 0
    while True:
        year = birth.year + age + 1
        try:
            birthday = birth.replace(year=year)
        except ValueError:
            birthday = date(year, 3, 1)
        if birthday > at:
            return age
        age += 1


@given(st.lists(st.tuples(BIRTHS, st.integers(0, 40_000)), min_size=1, max_size=10), st.booleans())
def test_an_age_is_the_number_of_birthdays(people, missing):
    births = [birth for birth, _ in people]
    when = [birth + timedelta(days=more) for birth, more in people]
    cells = pa.table(
        {"birth": [*(each.strftime("%d.%m.%Y") for each in births), ""], "seen": [*map(str, when), "2024-01-01"]}
    )
    if missing:
        cells = cells.slice(0, len(births))
    table = sf.Table(cells, sf.Schema(["birth"], ages={"birth": "seen"}, formats={"birth": "%d.%m.%Y"}), untyped=True)
    expected = [naive_age(birth, at) for birth, at in zip(births, when, strict=True)]
    assert table.data.column("birth").to_pylist() == [*expected, *([] if missing else [None])]
    # the dates of birth are gone from the table, and rows of it keep their ages
    assert table.take(pa.array([0]).to_numpy()).data.column("birth").to_pylist() == expected[:1]


def test_a_birthday_on_29_february_is_on_1_march_in_other_years():
    for at, age in (("2023-02-28", 22), ("2023-03-01", 23), ("2024-02-28", 23), ("2024-02-29", 24)):
        table = sf.Table(pa.table({"birth": ["2000-02-29"]}), sf.Schema(["birth"], ages={"birth": at}))
        assert table.data.column("birth").to_pylist() == [age]


@pytest.mark.parametrize(
    ("births", "at", "row", "problem"),
    [
        (["2000-01-01", "2024-01-02"], "2024-01-01", 2, "is after 2024-01-01"),
        (["1700-01-01"], "2024-01-01", 1, "more than 255 years"),
        (["2000-01-01", "2000-02-30"], "2024-01-01", 2, "no date"),
    ],
)
def test_impossible_ages_are_errors_with_the_row(births, at, row, problem):
    with pytest.raises(CellError, match=problem) as raised:
        sf.Table(pa.table({"birth": births}), sf.Schema(["birth"], ages={"birth": at}), "people.csv", untyped=True)
    assert (raised.value.file, raised.value.column, raised.value.row) == ("people.csv", "birth", row)


def test_an_unknown_reference_is_an_error():
    with pytest.raises(ColumnError, match="neither an ISO date nor a column"):
        sf.Table(pa.table({"birth": ["2000-01-01"]}), sf.Schema(["birth"], ages={"birth": "seen"}))


@pytest.mark.parametrize("role", ["quasi_identifiers", "sensitive", "other"])
@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_no_date_of_birth_is_published(tmp_path, role, library):
    births = [date(1950, 1, 1) + timedelta(days=700 * i) for i in range(30)]
    frame = pd.DataFrame({"birth": births, "sex": ["m", "f"] * 15, "pay": range(30)})
    data = frame if library == "pandas" else pa.Table.from_pandas(frame)
    roles = {"quasi_identifiers": ["sex"], "sensitive": ["pay"], "other": []}
    roles[role] = [*roles[role], "birth"]
    schema = sf.Schema(**roles, ages={"birth": "2024-01-01"}, unchanged_limit=1)
    release = sf.anonymize(data, schema, sf.KAnonymity(3))
    folder = tmp_path / "release"
    release.save(folder)
    published = str(release.frame.to_dict() if library == "pandas" else release.frame.to_pydict())
    published += "".join(each.read_text() for each in folder.iterdir())
    assert not [birth for birth in births if str(birth) in published or birth.strftime("%d, %m, %Y") in published]
    assert sf.verify(folder, original=data).holds
