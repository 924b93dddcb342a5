"""The distribution of each principle's level over the groups."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.audits.audit_result import Audit
from sfumato.exact import nearest_float, written
from sfumato.exact.bins import round_width
from sfumato.principles import Part

_BINS = 25
"""The most bars of a distribution."""


def levels(audit: Audit) -> list[dict[str, Any]]:
    """Return, for each part of each finding except the group size, the distribution of its level over the groups.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [1, 1, 2, 2], "x": [1, 2, 3, 9]})
    >>> found = sf.audit(people, sf.Schema(["age"], ["x"]), sf.Dissimilarity(epsilon=2, delta="0.5", k=2))
    >>> [(entry["part"], entry["values"], entry["groups"]) for entry in levels(found)]
    [('risk', [0.0, 1.0], [1, 1])]
    """
    return [
        {"finding": number, **_distribution(part)}
        for number, finding in enumerate(audit)
        for part in finding.measurement.parts
        if not is_size(part)
    ]


def is_size(part: Part) -> bool:
    """Whether a part is the group size, which the figure of class sizes shows."""
    return part.name == "k"


def _distribution(part: Part) -> dict[str, Any]:
    level, broken = part.floats(), ~part.holds
    finite = np.isfinite(level)
    width = None
    values, place = np.unique(level[finite], return_inverse=True)
    if len(values) > _BINS:
        width = float(round_width(Fraction(float(values[-1]) - float(values[0])) / (_BINS - 2)))
        threshold = nearest_float(part.threshold)
        at = np.floor((level[finite] - threshold) / width).astype(np.int64)
        # The threshold is an edge of the bins. A level equal to it belongs to the side of its verdict.
        below = broken[finite] if part.higher_is_better else ~broken[finite]
        at = np.where(below, np.minimum(at, -1), np.maximum(at, 0))
        at, place = np.unique(at, return_inverse=True)
        values = (threshold + (at + 0.5) * width).astype(np.float64)
    groups, breaching = (np.bincount(place[chosen], minlength=len(values)) for chosen in (slice(None), broken[finite]))
    return {
        "part": part.name,
        "relation": part.relation,
        "threshold": written(part.threshold),
        "width": width,
        "values": [round(float(value), 9) for value in values],
        "groups": groups.tolist(),
        "breaching": breaching.tolist(),
        "infinite": int((~finite).sum()),
    }
