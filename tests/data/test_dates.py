"""Dates and times against the datetime of the standard library: every format, every source, zones, and bad cells."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.schema import Kind, Missing
from sfumato.distances import Absolute
from sfumato.distances.neighbour_graph import graph_of
from sfumato.errors import CellError, ColumnError
from sfumato.io.read_table import as_table

DATES = st.lists(st.dates(), min_size=1, max_size=12)
TIMES = st.lists(st.datetimes(), min_size=1, max_size=12)
ZONES = st.sampled_from(["Europe/Rome", "America/New_York", "Asia/Kathmandu", "UTC", "Australia/Lord_Howe"])


def encoded(cells, schema=None, untyped=True):
    column = cells if isinstance(cells, pa.Array | pa.ChunkedArray) else pa.array(cells, pa.string())
    return sf.Table(pa.table({"when": column}), schema or sf.Schema(), "file.csv", untyped=untyped).column("when")


def days(moment: date | datetime) -> Fraction:
    """Days since 1970-01-01, by the standard library."""
    if not isinstance(moment, datetime):
        return Fraction((moment - date(1970, 1, 1)).days)
    start = datetime(1970, 1, 1, tzinfo=None if moment.tzinfo is None else UTC)
    return Fraction((moment - start) // timedelta(microseconds=1), 86_400_000_000)


def numbers_of(column) -> list[Fraction | None]:
    return [None if code == column.size else column.numbers[code] for code in column.codes.tolist()]


@given(DATES)
def test_iso_dates_of_a_file_are_the_days_of_the_calendar(dates):
    column = encoded([each.isoformat() for each in dates])
    assert column.kind is Kind.DATE
    assert numbers_of(column) == [days(each) for each in dates]
    assert [column.value(code) for code in column.codes] == dates
    assert [column.label(code) for code in column.codes] == [each.isoformat() for each in dates]


@given(TIMES, st.sampled_from("T "))
def test_iso_times_are_exact_to_the_microsecond(times, separator):
    column = encoded([each.isoformat(separator) for each in times])
    assert numbers_of(column) == [days(each) for each in times]
    read = [datetime.fromisoformat(column.label(code)) for code in column.codes]
    assert read == times


@given(TIMES.filter(lambda times: all(2 < each.year < 9998 for each in times)), st.data())
def test_times_with_offsets_are_points_in_time(times, data):
    minutes = st.integers(-14 * 60, 14 * 60)
    aware = [each.replace(tzinfo=timezone(timedelta(minutes=data.draw(minutes)))) for each in times]
    zone = data.draw(ZONES)
    column = encoded([each.isoformat() for each in aware], sf.Schema(timezones={"when": zone}))
    assert numbers_of(column) == [days(each) for each in aware]
    # a label is the clock of the zone, and denotes the same point in time
    for each, code in zip(aware, column.codes.tolist(), strict=True):
        assert datetime.fromisoformat(column.label(code)) == each
        assert datetime.fromisoformat(column.label(code)).replace(tzinfo=None) == each.astimezone(ZoneInfo(zone)).replace(
            tzinfo=None
        )


@given(st.lists(st.datetimes(datetime(1890, 1, 1), datetime(2060, 1, 1)), min_size=1, max_size=12), ZONES)
def test_times_without_an_offset_are_read_in_the_declared_zone(times, zone):
    local = [each.replace(tzinfo=ZoneInfo(zone)) for each in times]
    exists = [
        each.astimezone(UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None) == each.replace(tzinfo=None) for each in local
    ]
    cells, schema = [each.isoformat() for each in times], sf.Schema(timezones={"when": zone})
    if all(exists):
        assert numbers_of(encoded(cells, schema)) == [days(each.astimezone(UTC)) for each in local]
    else:
        with pytest.raises(CellError, match="no such time") as raised:
            encoded(cells, schema)
        assert raised.value.row == exists.index(False) + 1


def test_clocks_that_are_put_forward_and_back():
    rome = sf.Schema(timezones={"when": "Europe/Rome"})
    with pytest.raises(CellError, match="no such time"):
        encoded(["2024-03-31T02:30"], rome)
    twice = encoded(["2024-10-27T02:30", "2024-10-27T03:30"], rome)
    assert numbers_of(twice)[1] - numbers_of(twice)[0] == Fraction(2, 24)  # the first of the two, two hours earlier
    assert twice.label(0) == "2024-10-27T02:30:00+02:00"


@given(
    st.lists(st.datetimes(datetime(1970, 1, 1), datetime(2030, 1, 1)), min_size=1, max_size=8),
    st.sampled_from([
        "%d/%m/%Y", "%m/%d/%Y", "%Y%m%d", "%d.%m.%y", "%j %Y", "%G-W%V-%u", "%A, %d %B %Y", "%d%b%Y", "%Y-%m-%d %H:%M",
        "%m/%d/%Y %I:%M %p", "%d.%m.%Y %H:%M:%S.%f", "%H:%M on %d %m %Y", "day %d of %m, %Y (100%%)",
    ]),
)  # fmt: skip
def test_declared_formats_read_what_strptime_reads(times, pattern):
    if "%y" in pattern:
        times = [each.replace(year=max(each.year, 1970)) for each in times]
    cells = [each.strftime(pattern) for each in times]
    column = encoded(cells, sf.Schema(formats={"when": pattern}))
    assert numbers_of(column) == [days(datetime.strptime(cell, pattern)) for cell in cells]
    assert column.format == pattern


@given(
    DATES.filter(lambda dates: all(each.year >= 1000 for each in dates)),
    st.sampled_from(["%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d"]),
)
def test_a_format_is_detected_only_if_the_cells_decide_it(dates, pattern):
    cells = [each.strftime(pattern) for each in dates]
    other = {"%d/%m/%Y": "%m/%d/%Y", "%m/%d/%Y": "%d/%m/%Y", "%d-%m-%Y": "%m-%d-%Y"}.get(pattern)
    ambiguous = other is not None and all(each.day <= 12 for each in dates) and any(each.day != each.month for each in dates)
    if ambiguous:
        with pytest.raises(ColumnError, match="not clear") as raised:
            encoded(cells)
        assert pattern in raised.value.remedy
        assert other in raised.value.remedy
        return
    column = encoded(cells)
    assert numbers_of(column) == [days(each) for each in dates]


@pytest.mark.parametrize(
    ("cells", "pattern", "first"),
    [
        (["3/1/2024 10:30 PM", "3/31/2024 1:05 AM"], "%m/%d/%Y %I:%M %p", "2024-03-01T22:30:00"),
        (["01JAN2024", "29FEB2024"], "%d%b%Y", "2024-01-01"),
        (["1 May 2022", "12 Mar 2024"], "%d %b %Y", "2022-05-01"),
        (["May 1, 2022", "March 12, 2024"], "%B %d, %Y", "2022-05-01"),
        (["1.3.2024 07:05", "31.3.2024 23:59"], "%d.%m.%Y %H:%M", "2024-03-01T07:05:00"),
    ],
)
def test_common_formats_are_detected(cells, pattern, first):
    column = encoded(cells)
    assert column.format == pattern
    assert column.label(int(column.codes[0])) == first


@given(TIMES, st.sampled_from(["s", "ms", "us"]))
def test_arrow_types_are_read_exactly(times, unit):
    whole = {"s": 10**6, "ms": 1000, "us": 1}[unit]
    times = [each.replace(microsecond=each.microsecond // whole * whole) for each in times]
    column = encoded(pa.array(times, pa.timestamp(unit)), untyped=False)
    assert numbers_of(column) == [days(each) for each in times]
    calendar = encoded(pa.array([each.date() for each in times], pa.date32()), untyped=False)
    assert numbers_of(calendar) == [days(each.date()) for each in times]
    old = encoded(pa.array([each.date() for each in times], pa.date64()), untyped=False)
    assert numbers_of(old) == numbers_of(calendar)


@given(st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=1, max_size=12), ZONES)
def test_nanoseconds_of_a_zone_are_exact(nanoseconds, zone):
    column = encoded(pa.array(nanoseconds, pa.timestamp("ns", zone)), untyped=False)
    assert numbers_of(column) == [Fraction(each, 86400 * 10**9) for each in nanoseconds]
    assert column.timezone == zone
    assert [column.numbers.parse(column.label(code)) for code in column.codes] == numbers_of(column)


def test_frames_of_every_library():
    zoned = pd.to_datetime(["2024-03-01 10:30", None]).tz_localize("Europe/Rome")
    frame = pd.DataFrame({"when": zoned, "day": pd.to_datetime(["2024-03-01", None]), "text": ["1.3.2024", None]})
    table = as_table(frame, sf.Schema())
    assert [table.column(name).label(0) for name in frame] == ["2024-03-01T10:30:00+01:00", "2024-03-01", "2024-03-01"]
    assert all(table.column(name).has_missing for name in frame)
    times = pl.DataFrame({"when": [datetime(2024, 3, 1, 10, 30)], "day": [date(2024, 3, 1)]})
    table = as_table(times, sf.Schema())
    assert [table.column(name).label(0) for name in times.columns] == ["2024-03-01T10:30:00", "2024-03-01"]
    objects = pd.DataFrame({"day": [date(2024, 3, 1), None]})
    assert as_table(objects, sf.Schema()).column("day").kind is Kind.DATE


@pytest.mark.parametrize(
    ("cells", "schema", "row", "problem"),
    [
        (["2023-02-28", "2023-02-30"], None, 2, "no date '2023-02-30'"),
        (["28.2.2023", "30.2.2023"], None, 2, "no date '30.2.2023'"),
        (["2023-02-28", "", "2.3.2023"], None, 3, "several formats"),
        (["2023-02-28", "2023-02-28T10:00"], None, 2, "mixed"),
        (["2023-02-28T10:00", "2023-02-28T10:00Z"], None, 2, "with and without an offset"),
        (["2023-02-28T24:00"], None, 1, "no date"),
        (["2023-02-28T10:00:60"], None, 1, "no date"),
        (["0000-01-01"], None, 1, "no date"),
        (["31/1/2024", "1/31/2024"], None, 2, "no date"),
        (["2023-02-28", "soon"], sf.Schema(kinds={"when": "date"}), 2, "'soon' is not a date"),
        (["28/2/2023", "2023-03-01"], sf.Schema(formats={"when": "%d/%m/%Y"}), 2, "does not have the format"),
        (["28/2/2023 "], sf.Schema(formats={"when": "%d-%m-%Y"}), 1, "does not have the format"),
        (["9999-12-31T23:59:00-05:00"], None, 1, "the year is not"),
        (["0001-01-01T00:00:00+05:00"], None, 1, "the year is not"),
    ],
)
def test_bad_cells_are_errors_with_the_file_the_row_and_the_value(cells, schema, row, problem):
    with pytest.raises(CellError, match=problem) as raised:
        encoded(cells, schema)
    error = raised.value
    assert (error.file, error.column, error.row, error.value) == ("file.csv", "when", row, cells[row - 1].strip())
    assert error.remedy


def test_years_beyond_9999_are_errors():
    with pytest.raises(CellError):
        encoded(pa.array([4_000_000], pa.date32()), untyped=False)


def test_a_text_among_dates_makes_the_column_categorical_with_a_note():
    column = encoded(["2024-03-01", "2024-03-02", "2024-03-03", "soon"])
    assert column.kind is Kind.CATEGORICAL
    assert "row 4 is 'soon'" in column.note
    short = encoded(["1/3/24", "2/3/24"])
    assert short.kind is Kind.CATEGORICAL
    assert "two digits" in short.note


def test_missing_markers_of_dates():
    schema = sf.Schema(missing=Missing(("", "1900-01-01")))
    column = encoded(["1900-01-01", "", "2024-03-01"], schema)
    assert (column.kind, column.size, column.has_missing) == (Kind.DATE, 1, True)
    typed = encoded(pa.array([date(1900, 1, 1), date(2024, 3, 1)]), schema, untyped=False)
    assert (typed.size, typed.has_missing) == (1, True)
    with pytest.raises(CellError, match="missing values are refused"):
        encoded(["2024-03-01", ""], sf.Schema(missing=Missing(policy="refuse")))


@pytest.mark.parametrize(
    "declared",
    [
        {"formats": {"when": "%m/%Y"}},
        {"formats": {"when": "%Q"}},
        {"formats": {"when": 5}},
        {"timezones": {"when": "Rome"}},
        {"formats": {"when": "%d/%m/%Y"}, "kinds": {"when": "numeric"}},
        {"ages": {"when": "2024-01-01"}, "kinds": {"when": "text"}},
        {"ages": {"when": "then", "then": "2024-01-01"}},
    ],
)
def test_invalid_declarations_are_errors_that_name_the_column(declared):
    with pytest.raises(ColumnError) as raised:
        sf.Schema(**declared)
    assert raised.value.column == "when"


@given(DATES)
def test_some_rows_have_the_dates_of_the_whole(dates):
    cells = [each.strftime("%d/%m/%Y").zfill(10) for each in dates if each.year >= 1000] + ["31/01/2024", "01/01/2024"]
    table = sf.Table(pa.table({"when": cells}), sf.Schema(sensitive=["when"]), untyped=True)
    whole = table.column("when")
    rows = np.arange(0, len(cells), 2)
    part = table.take(rows).column("when")
    assert [part.label(code) for code in part.codes] == [whole.label(code) for code in whole.codes[rows]]
    assert part.format == whole.format == "%d/%m/%Y"


@given(
    st.lists(st.datetimes(datetime(1990, 1, 1), datetime(1990, 3, 1)), min_size=2, max_size=12),
    st.integers(0, 10),
    st.integers(1, 24),
)
def test_the_distance_is_the_exact_number_of_days(times, numerator, denominator):
    column = pa.table({"when": [each.isoformat() for each in times]})
    table = sf.Table(column, sf.Schema(sensitive=["when"]), untyped=True)
    attribute = table.attribute(["when"])
    epsilon = Fraction(numerator, denominator)
    graph = graph_of(attribute, Absolute(), epsilon)
    near = graph.near(np.arange(len(attribute)), np.arange(len(attribute)))
    values = [days(attribute.value(v)) for v in range(len(attribute))]
    assert near.tolist() == [[abs(x - y) <= epsilon for y in values] for x in values]
