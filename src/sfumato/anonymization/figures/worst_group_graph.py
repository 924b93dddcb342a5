"""The neighbour graph of the worst group: which values are within ε of each other, as in Fig. 1 of *Wang & Liu (2010)*."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.audits.audit_result import Audit, Finding, shortened
from sfumato.distances.neighbour_graph import Neighbours
from sfumato.exact import nearest_float, written
from sfumato.principles import View, attributes_of

NODES = 60
"""The most distinct values that are drawn."""
_LONGEST = 80
"""Characters of a value that are shown."""

Counts = NDArray[np.int64]


def neighbourhoods(audit: Audit) -> list[dict[str, Any]]:
    """Return the worst group of each finding with neighbours: its values, their counts, and which are near each other.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [1, 1, 1], "x": [10, 11, 30]})
    >>> found = sf.audit(people, sf.Schema(["age"], ["x"]), sf.Dissimilarity(epsilon=2, delta="0.5", k=2))
    >>> graph = neighbourhoods(found)[0]
    >>> graph["labels"], graph["edges"], graph["densest"], graph["neighbours"]
    (['10', '11', '30'], [[0, 1]], 0, [1, 1, 0])
    """
    return [
        {
            "finding": number,
            "quasi_identifiers": _cells(audit, group),
            **_graph(view, neighbours, group),
        }
        for number, finding in enumerate(audit)
        for view in [view_of(audit, finding)]
        for neighbours in [finding.principle.neighbours(view)]
        if neighbours is not None
        for group in [_worst(finding)]
    ]


def _worst(finding: Finding) -> int:
    """Return the group with the worst level; of several the largest."""
    part = finding.measurement.parts[0]
    levels = part.floats() if part.higher_is_better else -part.floats()
    return int(np.lexsort([-finding.sizes, levels])[0])


def _cells(audit: Audit, group: int) -> dict[str, str]:
    """Return the quasi-identifiers of a group as text."""
    return {name: cell for name, cell in audit.quasi_identifiers(group).items() if name != audit.table.schema.group}


def view_of(audit: Audit, finding: Finding) -> View:
    """Return the view that a finding was measured on."""
    scopes = attributes_of(finding.principle, audit.table.schema)
    names = next(names for names in scopes if finding.attribute in (None, " + ".join(names)))
    return View(audit.table, names, audit.groups)


def _graph(view: View, neighbours: Neighbours, group: int) -> dict[str, Any]:
    inside = view.histogram.of_groups(np.array([group]))
    # for each value of the group how many of its rows, or people, are near, its own included
    if view.groups.units is None:  # a distance may be costly: only this group is looked at
        near = neighbours.counts(np.array([0, len(inside.values)]), inside.values, inside.counts)
    else:
        near = view.near_counts(neighbours)[view.histogram.offsets[group] : view.histogram.offsets[group + 1]]
    densest = int(np.argmax(near))
    chosen = _chosen(neighbours, inside.values, inside.counts, densest)
    pairs = neighbours.near(inside.values[chosen], inside.values[chosen])
    attribute = view.attribute
    return {
        "group": group + 1,
        "rows": int(inside.sizes[0]),
        "distinct": len(inside.values),
        "epsilon": written(neighbours.epsilon),
        "labels": [shortened(attribute.label(int(value)), _LONGEST) for value in inside.values[chosen]],
        "at": _positions(view, inside.values[chosen]),
        "counts": inside.counts[chosen].tolist(),
        "neighbours": (near[chosen] - 1).tolist(),
        "densest": int(np.flatnonzero(chosen == densest)[0]),
        "edges": [[int(i), int(j)] for i, j in np.argwhere(np.triu(pairs | pairs.T, 1))],
    }


def _chosen(neighbours: Neighbours, values: Counts, counts: Counts, densest: int) -> Counts:
    """Return the values to draw: all, or the densest, those near it, and the most frequent of the others."""
    if len(values) <= NODES:
        return np.arange(len(values))
    near = neighbours.near(values[densest : densest + 1], values)[0]
    first = np.arange(len(values)) == densest
    order = np.lexsort([-counts, ~near, ~first])
    return np.sort(order[:NODES])


def _positions(view: View, values: Counts) -> list[float] | None:
    """Return the values as floats if they are numbers, else None."""
    columns = view.attribute.columns
    if len(columns) != 1 or columns[0].numbers is None or (values == columns[0].size).any():
        return None
    return [nearest_float(columns[0].numbers[int(value)]) for value in values]
