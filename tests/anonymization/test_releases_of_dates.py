"""Releases of dates: cells cover the dates between their ends, levels are in days, sensitive columns stay unchanged."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.disclosure import Dictionary
from sfumato.releases.cell_coverage import CellReader
from tests.oracles import naive

DAYS = st.lists(st.dates(date(1930, 1, 1), date(1931, 6, 1)), min_size=1, max_size=15)


@given(DAYS, st.data(), st.sampled_from(["date", "time", "zone"]))
def test_a_cell_covers_exactly_the_dates_between_its_ends(days, data, written):
    hours = [data.draw(st.integers(0, 23)) for _ in days]
    moments = [datetime(day.year, day.month, day.day, hour) for day, hour in zip(days, hours, strict=True)]
    cells = {
        "date": [str(day) for day in days],
        "time": [moment.isoformat(" ") for moment in moments],
        "zone": [moment.isoformat() + "+01:00" for moment in moments],
    }[written]
    column = sf.Table(pa.table({"when": cells}), sf.Schema(["when"]), untyped=True).column("when")
    values = sorted(set(days if written == "date" else moments))
    assert column.size == len(values)
    low, high = sorted(data.draw(st.tuples(*[st.integers(0, len(values) - 1)] * 2)))
    text = f"[{column.label(low)}, {column.label(high)}]"
    reader = CellReader([text, column.label(low)], column, "interval")
    covered = reader.covers(np.array([[0], [1]]), np.arange(column.size)[None, :])
    assert covered[0].tolist() == [values[low] <= value <= values[high] for value in values]
    assert covered[1].tolist() == [value == values[low] for value in values]


ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.datetimes(datetime(2024, 1, 1), datetime(2024, 1, 20))), min_size=2, max_size=14
)


@given(ROWS, st.sampled_from(["1", "1/24", "0.5", "7"]))
def test_dissimilarity_in_days_is_that_of_the_oracle(rows, epsilon):
    numbers = [Fraction((when - datetime(2024, 1, 1)) // timedelta(microseconds=1), 86_400_000_000) for _, when in rows]
    data = pa.table({"q": [q for q, _ in rows], "when": [when for _, when in rows]})
    found = sf.audit(data, sf.Schema(["q"], ["when"]), sf.Dissimilarity(epsilon=epsilon, delta="0.5", k=1))
    groups = [
        [number for (q, _), number in zip(rows, numbers, strict=True) if q == each] for each in sorted({q for q, _ in rows})
    ]
    risks = [naive.risk(group, lambda x, y: abs(x - y) <= Fraction(epsilon)) for group in groups]
    part = found[0].measurement.parts[0]
    assert [part.at(group) for group in range(len(groups))] == risks


def people(rows: int) -> pd.DataFrame:
    generator = np.random.default_rng(5)
    births = pd.Timestamp("1930-01-01") + pd.to_timedelta(generator.integers(0, 27_000, rows), "D")
    seen = pd.Timestamp("2023-01-01 08:00") + pd.to_timedelta(generator.integers(0, 500_000, rows), "min")
    return pd.DataFrame({"birth": births, "seen": seen, "sex": generator.choice(["m", "f"], rows)})


@pytest.mark.parametrize("file_format", ["csv", "parquet"])
@pytest.mark.parametrize("zone", [None, "America/New_York"])
def test_a_release_of_a_frame(tmp_path, file_format, zone):
    frame = people(120)
    if zone is not None:
        frame["seen"] = frame["seen"].dt.tz_localize(zone, nonexistent="shift_forward", ambiguous=True)
    schema = sf.Schema(["birth", "sex"], ["seen"])
    principles = [sf.KAnonymity(4), sf.Dissimilarity(epsilon=7, delta="0.5", k=4), sf.TCloseness("0.9", "ordered")]
    release = sf.anonymize(frame, schema, principles)
    release.save(tmp_path / "release", format=file_format)
    assert sf.verify(tmp_path / "release", original=frame).holds
    # the sensitive times are those of the original, of the same type
    assert release.frame["seen"].dtype == frame["seen"].dtype
    assert sorted(release.frame["seen"]) == sorted(frame["seen"])
    for cell in release.frame["birth"]:
        low, _, high = cell.strip("[]").partition(", ")
        assert date.fromisoformat(low) <= date.fromisoformat(high or low)
    stated = json.loads((tmp_path / "release" / "release.json").read_text())["config"]["columns"]
    assert stated["birth"]["kind"] == stated["seen"]["kind"] == "date"
    assert stated["seen"].get("timezone") == zone


@pytest.mark.parametrize("name", ["glaze", "mondrian", "xcolor", "lattice"])
def test_every_method_takes_dates(name):
    from sfumato.anonymization.methods import method_of

    principle = sf.Dissimilarity(epsilon=10, delta="0.5", k=3) if name == "xcolor" else sf.KAnonymity(3)
    release = sf.anonymize(people(60), sf.Schema(["birth", "sex"], ["seen"]), principle, method=method_of(name, {}))
    assert all(finding.holds for finding in release.audit)


def test_principles_about_numbers_take_dates():
    frame = pd.DataFrame({"q": ["a"] * 4, "when": pd.to_datetime(["2024-01-01", "2024-01-03", "2024-01-09", "2024-02-01"])})
    schema = sf.Schema(["q"], ["when"])
    assert sf.audit(frame, schema, sf.KEAnonymity(k=4, e=31)).holds  # the range of the group is 31 days
    assert not sf.audit(frame, schema, sf.KEAnonymity(k=4, e=32)).holds
    assert sf.audit(frame, schema, sf.EpsilonMAnonymity(epsilon=2, m=2)).holds  # two of four are within two days
    assert not sf.audit(frame, schema, sf.EpsilonMAnonymity(epsilon=8, m=2)).holds


def test_a_published_interval_contains_the_date_that_an_attacker_knows():
    records = pa.table({"birth": ["[1930-01-01, 1931-12-31]", "1940-05-01"], "ill": ["a", "b"]})
    book = Dictionary(
        pa.table({"name": ["Ann", "Bob", "Eve"], "birth": ["5.6.1930", "1.5.1940", "31.12.1931"]}), name="book"
    )
    from sfumato.disclosure.consistency.containment import ContainmentConsistency

    pairing = ContainmentConsistency().pair(sf.Table(records, sf.Schema(["birth"], ["ill"])), "birth", book)
    near = [
        {int(v) for v in pairing.consistent.near[pairing.consistent.starts[a] : pairing.consistent.starts[a + 1]]}
        for a in pairing.record_values.tolist()
    ]
    individuals = [[value in some for value in pairing.dictionary_values.tolist()] for some in near]
    assert individuals == [[True, False, True], [False, True, False]]


def test_dates_in_two_formats_are_equal():
    from sfumato.disclosure.consistency.consistency import EqualityConsistency

    records = sf.Table(pa.table({"birth": ["1940-05-01", "1930-06-05"]}), sf.Schema(["birth"]), untyped=True)
    book = Dictionary(pa.table({"birth": ["5.6.1930", "1.5.1940", "2.5.1940"]}), name="book")
    pairing = EqualityConsistency().pair(records, "birth", book)
    assert np.diff(pairing.consistent.starts).tolist() == [1, 1]
