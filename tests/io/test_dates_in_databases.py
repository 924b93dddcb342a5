"""Sensitive dates of a CSV become dates and timestamps of a database."""

from __future__ import annotations

from datetime import date, datetime

import pyarrow as pa

import sfumato as sf
from sfumato.anonymization.database_rows import typed_rows


def test_dates_read_from_text_become_typed():
    data = pa.table({"q": ["a"] * 3, "day": ["1.3.2024", "29.2.2024", ""], "time": ["2024-03-01 10:30"] * 3})
    schema = sf.Schema(["q"], ["day", "time"])
    rows = typed_rows(sf.Table(data, schema, untyped=True), schema)
    assert rows.column("day").to_pylist() == [date(2024, 3, 1), date(2024, 2, 29), None]
    assert rows.column("time").to_pylist() == [datetime(2024, 3, 1, 10, 30)] * 3
