"""Calendar periods against the calendar of the standard library."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import HierarchyError, ParameterError
from tests.data.test_hierarchy_builders import check_tree

CHAINS = st.sampled_from([
    ("week",), ("day", "week"), ("month",), ("month", "quarter", "year", "decade"), ("day", "month", "year"),
    ("quarter", "decade"), ("year",), ("day", "decade"),
])  # fmt: skip


def same_period(period: str, one: date, other: date) -> bool:
    """Whether two days are in one period of the calendar, by strftime."""
    pattern = {"day": "%Y-%m-%d", "week": "%G %V", "month": "%Y-%m", "year": "%Y"}.get(period)
    if pattern is not None:
        return one.strftime(pattern) == other.strftime(pattern)
    if period == "quarter":
        return (one.year, (one.month - 1) // 3) == (other.year, (other.month - 1) // 3)
    return one.year // 10 == other.year // 10


@given(st.lists(st.dates(date(1950, 1, 1), date(1953, 1, 1)), min_size=1, max_size=20, unique=True), CHAINS)
def test_periods_of_dates(dates, periods):
    paths = check_tree(sf.Dates(periods), [each.isoformat() for each in dates])
    for level, period in enumerate(periods, start=1):
        for one in dates:
            for other in dates:
                together = paths[one.isoformat()][level] == paths[other.isoformat()][level]
                assert together == same_period(period, one, other)


@given(st.dates(date(1000, 1, 1), date(9000, 1, 1)), st.sampled_from(["day", "week", "month", "quarter", "year", "decade"]))
def test_the_span_of_a_period(day, period):
    start = date(1970, 1, 1)
    low, high = sf.Dates((period,)).span(Fraction((day - start).days), 1)
    first, last = start + timedelta(days=int(low)), start + timedelta(days=int(high) - 1)
    assert first <= day <= last
    assert same_period(period, first, day)
    assert same_period(period, last, day)
    assert not same_period(period, first - timedelta(days=1), day)
    assert not same_period(period, last + timedelta(days=1), day)


def test_times_belong_to_the_day_of_their_own_clock():
    data = pa.table({"when": ["2024-02-29T23:30:00Z", "2024-02-29T22:30:00Z"]})
    schema = sf.Schema(["when"], timezones={"when": "Europe/Rome"}, hierarchies={"when": sf.Dates(("month",))})
    tree = sf.Table(data, schema, untyped=True).column("when").hierarchy
    assert tree.labels[1] == ("2024-02", "2024-03")


@pytest.mark.parametrize(
    "periods", [(), ("fortnight",), ("week", "month"), ("week", "year"), ("year", "month"), ("month",) * 2]
)
def test_periods_that_do_not_nest(periods):
    with pytest.raises(ParameterError) as raised:
        sf.Dates(periods)
    assert raised.value.key == "dates"


def test_values_that_are_no_dates_name_the_row():
    schema = sf.Schema(["when"], kinds={"when": "categorical"}, hierarchies={"when": sf.Dates(("year",))})
    with pytest.raises(HierarchyError, match="need dates") as raised:
        sf.Table(pa.table({"when": ["2024-03-01", "soon"]}), schema).column("when")
    assert (raised.value.column, raised.value.row, raised.value.value) == ("when", 2, "soon")


@pytest.mark.parametrize("method", [None, sf.Lattice()])
def test_a_release_of_periods_is_verified(tmp_path, method):
    births = [datetime(1950, 1, 31) + timedelta(days=200 * i) for i in range(60)]
    data = pa.table({"birth": [f"{each.day}.{each.month}.{each.year}" for each in births], "pay": range(60)})
    config = '[data]\npath = "x.csv"\n[columns.birth]\nrole = "quasi-identifier"\nformat = "%d.%m.%Y"\n'
    config += 'hierarchy = { dates = ["month", "quarter", "year", "decade"] }\nrecoding = "ancestor"\n'
    config += '[columns.pay]\nrole = "sensitive"\n'
    schema = sf.Config.parse(config).schema
    release = sf.anonymize(data, schema, sf.KAnonymity(4), **({} if method is None else {"method": method}))
    release.save(tmp_path / "release")
    assert sf.verify(tmp_path / "release", original=data).holds
    cells = set(release.frame.column("birth").to_pylist())
    assert cells
    for cell in cells - {"*"}:
        assert any(sf.Dates(("month", "quarter", "year", "decade")).is_node(cell, level) for level in (1, 2, 3, 4))
