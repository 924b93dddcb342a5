"""Tables with a column of every kind, and schemas and principles to audit them with, wherever that is done."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.data.schema import Missing

LEVELS = ["low", "mid", "high", "never"]
TREE = sf.Hierarchy.from_rows([(name, name[0], "*") for name in ("flu", "gout", "cold", "cough")])


def mixed(rows, seed):
    """A table with a column of every kind, with missing cells and with values that are written in several ways."""
    draw = np.random.default_rng(seed)

    def some(values):
        return [values[i] for i in draw.integers(0, len(values), rows)]

    return pa.table(
        {
            "age": pa.array(some([30, 31, 32, None]), pa.int64()),
            "town": pa.array(some(["Ulm", "Bonn", " Ulm", "", "?", None]), pa.string()),
            "born": pa.array(some([datetime.date(1990, 1, 2), datetime.date(1991, 5, 6), None]), pa.date32()),
            "score": some(["1,5", "1,50", "2,25", "?"]),
            "level": some(LEVELS[:3]),
            "tags": some(["a;b", "b; a", "c", ""]),
            "ill": pa.array(some(["flu", "gout", "cold", "cough"]), pa.string()),
            "job": pa.array(some(["cook", "nurse", "", None]), pa.string()),
            "pay": pa.array(
                some([Decimal("10.50"), Decimal("12.00"), Decimal("99.99"), Decimal("-3.10")]), pa.decimal128(8, 2)
            ),
            "weight": pa.array(some([0.0, -0.0, 1.5, 80.1]), pa.float64()),
            "part": some(["x", "y", "z"]),
            "seen": pa.array(some([datetime.datetime(2020, 1, 1, hour, tzinfo=datetime.UTC) for hour in (1, 2)])),
        }
    )


MISSING = Missing(values=("", "?"))
SCHEMAS = {
    "kinds": sf.Schema(
        ["born", "score"], ["level", "tags"], orders={"level": LEVELS}, kinds={"tags": "set"}, decimals={"score": ","},
        missing=MISSING,
    ),
    "numbers": sf.Schema(["age", "town", "seen"], ["pay", "weight"], missing=MISSING),
    "group column": sf.Schema(["age", "town"], ["pay", "job"], group="part"),
    "one group": sf.Schema([], ["pay", "job"]),
    "vector": sf.Schema(["age"], ["at"], vectors={"at": ["pay", "weight"]}, distance=sf.distances.Lp()),
    "hierarchy": sf.Schema(["age", "level"], ["ill"], hierarchies={"ill": TREE}),
}  # fmt: skip
"""Schemas, by what they test."""

ANY = (
    sf.KAnonymity(2), sf.AlphaKAnonymity("0.5", k=2), sf.BetaLikeness(1), sf.BetaLikeness("0.5", variant="enhanced"),
    sf.DeltaDisclosure(1), sf.DistinctLDiversity(2), sf.EntropyLDiversity("1.5"), sf.FrequencyLDiversity(2),
    sf.PSensitivity(2, k=2), sf.RecursiveLDiversity(2, 2), sf.TCloseness("0.4"), sf.DistinctLDiversity(2, on="whole"),
)  # fmt: skip
"""Principles for every kind of attribute."""

NUMBERS = (
    sf.EpsilonMAnonymity(2, 2, on="pay"), sf.KEAnonymity(2, 5, on="pay"), sf.VarianceControl(3, on="pay"),
    sf.TCloseness("0.2", ground="ordered", on="pay"), sf.Dissimilarity("1.5", "0.5", 2, on="pay"),
    sf.DeltaLDiversity("1.5", 2, on="pay"),
)  # fmt: skip

REQUESTS = {
    "kinds": (
        *ANY, sf.TCloseness("0.4", ground="ordered", on="level"), sf.Dissimilarity("0.5", "0.5", on="tags"),
        sf.KMAnonymity(2, 2, on="tags"),
    ),
    "numbers": (*ANY, *NUMBERS),
    "group column": (*ANY, *NUMBERS),
    "one group": (*ANY, *NUMBERS),
    "vector": (*ANY, sf.Dissimilarity("0.2", "0.5", 2)),
    "hierarchy": (
        *ANY, sf.TCloseness("0.4", ground="hierarchical"), sf.Dissimilarity("0.5", "0.5", 2),
        sf.GuardedValues("flu", l=2, k=2, epsilon="0.5"),
    ),
}  # fmt: skip


def said(audit):
    """What an audit says, and exactly."""
    return repr(audit), audit.to_json(worst=3), [finding.levels for finding in audit], audit.holds


def requests_for(name, rows):
    """The principles for a schema, without those that no table of so many rows satisfies."""
    return [request for request in REQUESTS[name] if (getattr(request, "k", None) or 1) <= rows]
