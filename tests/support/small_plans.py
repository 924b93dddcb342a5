"""Small tables of several sensitive attributes: independent, equal, constant and missing ones all occur."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import strategies as st

import sfumato as sf

THRESHOLDS = ["0", "0.1", "0.2", "0.25", "0.3", "1/3", "0.4", "0.5", "0.6", "2/3", "0.75", "0.8", "0.9", "1"]


@st.composite
def columns(draw, least=2, most=4, most_rows=9):
    """Attributes with their values; each drawn, or made of one before it."""
    rows = draw(st.integers(1, most_rows))
    found = {}
    for name in "abcdef"[: draw(st.integers(least, most))]:
        made = draw(st.sampled_from(["drawn", "drawn", "drawn", "copy", "constant", "coarser"]))
        earlier = draw(st.sampled_from(sorted(found))) if found else None
        if earlier is None or made == "drawn":
            found[name] = draw(st.lists(st.sampled_from(["x", "y", "z", None]), min_size=rows, max_size=rows))
        elif made == "constant":
            found[name] = ["k"] * rows
        elif made == "copy":
            found[name] = [None if value is None else value.upper() for value in found[earlier]]
        else:
            found[name] = ["one" if value in ("x", "y", "X", "Y") else "two" for value in found[earlier]]
    return found


def table_of(found, **schema):
    data = pa.table({name: pa.array(values, pa.string()) for name, values in found.items()})
    return sf.Table(data, sf.Schema(sensitive=list(found), **schema))


def dependence_of(found, harmless=None):
    return sf.projections.Dependence.of(table_of(found), harmless=harmless)
