"""Small tables of several sensitive attributes: independent, equal and constant ones, and missing values, all occur."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import strategies as st

import sfumato as sf

THRESHOLDS = ["0", "0.1", "0.2", "0.25", "0.3", "1/3", "0.4", "0.5", "0.6", "2/3", "0.75", "0.8", "0.9", "1"]


@st.composite
def columns(draw, least=2, most=4, most_rows=9):
    """Draw attributes with their values; each is random, or derived from an earlier one."""
    rows = draw(st.integers(1, most_rows))
    people = {}
    for name in "abcdef"[: draw(st.integers(least, most))]:
        origin = draw(st.sampled_from(["drawn", "drawn", "drawn", "copy", "constant", "coarser"]))
        earlier = draw(st.sampled_from(sorted(people))) if people else None
        if earlier is None or origin == "drawn":
            people[name] = draw(st.lists(st.sampled_from(["x", "y", "z", None]), min_size=rows, max_size=rows))
        elif origin == "constant":
            people[name] = ["k"] * rows
        elif origin == "copy":
            people[name] = [None if value is None else value.upper() for value in people[earlier]]
        else:
            people[name] = ["one" if value in ("x", "y", "X", "Y") else "two" for value in people[earlier]]
    return people


def table_of(people, **schema):
    data = pa.table({name: pa.array(values, pa.string()) for name, values in people.items()})
    return sf.Table(data, sf.Schema(sensitive=list(people), **schema))


def dependence_of(people, harmless=None):
    return sf.projections.Dependence.of(table_of(people), harmless=harmless)
