"""`sfumato init` on dates: their kind, and columns of dates that cannot be read."""

from __future__ import annotations

import pyarrow as pa

import sfumato as sf
from sfumato.data.schema import Kind, Role


def test_dates_that_cannot_be_read_are_dropped_with_a_reason_that_shows_no_cell():
    ambiguous = [f"{i % 9 + 1}/{i % 7 + 1}/{1950 + i}" for i in range(40)]
    impossible = ["2023-02-30", *(f"2023-03-{i % 28 + 1:02}" for i in range(39))]
    found = sf.profile(pa.table({"birth": ambiguous, "seen": impossible, "day": impossible[1:] + impossible[5:6]}))
    assert [found[name].role for name in ("birth", "seen")] == [Role.IDENTIFIER] * 2
    assert "%d/%m/%Y" in found["birth"].suggestion.reason
    assert "row 1" in found["seen"].suggestion.reason
    assert not any(cell in found["seen"].suggestion.reason for cell in impossible)
    assert found["day"].kind is Kind.DATE


def test_consecutive_days_do_not_number_the_rows():
    days = [f"2023-01-{i + 1:02}" for i in range(31)]
    assert not sf.profile(pa.table({"seen": days, "x": ["a"] * 31}))["seen"].facts.sequence


def test_a_dropped_column_of_impossible_dates_is_no_obstacle():
    data = pa.table({"seen": ["2023-02-30", "2023-02-28"] * 4, "age": [30, 41] * 4, "ill": list("abcdabcd")})
    release = sf.anonymize(data, sf.Schema(["age"], ["ill"], identifiers=["seen"]), sf.KAnonymity(4))
    assert "seen" not in release.frame.column_names
