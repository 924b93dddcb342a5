"""Distances bound to columns, and values that tests of several distances share."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
from hypothesis import strategies as st

import sfumato as sf

TREE = {"a": ("a", "X", "*"), "b": ("b", "X", "*"), "c": ("c", "Y", "*"), "d": ("d", "Y", "*"), "e": ("e", "Z", "*")}
decimals = st.sampled_from(["0", "0.1", "0.2", "0.3", "0.4", "0.7", "1", "-0.3", "2.5", "1e3", "0.333"])


def bound(columns, distance, **schema):
    """A distance over the distinct rows of columns, and those rows as numbers of values."""
    names = list(columns)
    table = sf.Table(pa.table(columns), sf.Schema(sensitive=names, **schema))
    attribute = table.attribute(names)
    return distance.bind(attribute), attribute.codes


def with_missing(distance, far):
    """None is at 0 from None, and far from everything else."""
    return lambda x, y: distance(x, y) if None not in (x, y) else (Fraction(0) if x is y else far)
