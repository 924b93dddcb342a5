"""An analyst gets the ends of published dates as dates, also those of periods of the calendar."""

from __future__ import annotations

from datetime import date, timedelta

import pyarrow as pa
import pytest

import sfumato as sf

BIRTHS = [date(1950, 1, 31) + timedelta(days=211 * i) for i in range(40)]


@pytest.mark.parametrize("periods", [None, ("month", "quarter", "year", "decade"), ("week",), ("year",)])
def test_the_ends_of_a_published_cell_enclose_the_dates_of_its_group(tmp_path, periods):
    data = pa.table({"birth": BIRTHS, "pay": range(40)})
    trees = {} if periods is None else {"birth": sf.Dates(periods)}
    recodings = {} if periods is None else {"birth": "ancestor"}
    schema = sf.Schema(["birth"], ["pay"], hierarchies=trees, recodings=recodings)
    sf.anonymize(data, schema, sf.KAnonymity(2)).save(tmp_path / "release")
    read = sf.read_release(tmp_path / "release")
    frame = read.to_arrow().to_pydict()
    birth_of = dict(zip(data.column("pay").to_pylist(), BIRTHS, strict=True))
    for pay, low, high in zip(frame["pay"], frame["birth_lo"], frame["birth_hi"], strict=True):
        if low is None:
            assert high is None  # nothing is published
        else:
            assert low <= birth_of[pay] <= high
