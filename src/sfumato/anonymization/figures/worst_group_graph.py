"""The neighbour graph of the worst group: which of its values lie within ε of which (paper 001, Fig. 1)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._audit import Audit, Finding, shortened
from sfumato.distances.absolute import number_windows
from sfumato.exact import Numbers, nearest_float, written
from sfumato.principles import DeltaLDiversity, Dissimilarity, EpsilonMAnonymity, View, attributes_of
from sfumato.principles.base import exactly
from sfumato.principles.epsilon_m_anonymity import relative_windows

NODES = 60
"""The most distinct values that are drawn."""
_LONGEST = 80
"""Characters of a value that are shown."""

Counts = NDArray[np.int64]


def neighbourhoods(audit: Audit) -> list[dict[str, Any]]:
    """The worst group of each finding that asks which values are near: its values, how often they occur, who is near whom.

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
            **_graph(finding, view_of(audit, finding), group),
        }
        for number, finding in enumerate(audit)
        if isinstance(finding.principle, Dissimilarity | EpsilonMAnonymity | DeltaLDiversity)
        for group in [_worst(finding)]
    ]


def _worst(finding: Finding) -> int:
    """The group whose level is worst; of several the largest, which shows most."""
    part = finding.measurement.parts[0]
    levels = part.floats() if part.higher_is_better else -part.floats()
    return int(np.lexsort([-finding.sizes, levels])[0])


def _cells(audit: Audit, group: int) -> dict[str, str]:
    """The quasi-identifiers of a group, as they are shown."""
    return {name: cell for name, cell in audit.quasi_identifiers(group).items() if name != audit.table.schema.group}


def view_of(audit: Audit, finding: Finding) -> View:
    """What a finding was measured on."""
    scopes = attributes_of(finding.principle, audit.table.schema)
    names = next(names for names in scopes if finding.attribute in (None, " + ".join(names)))
    return View(audit.table, names, audit.groups)


def _graph(finding: Finding, view: View, group: int) -> dict[str, Any]:
    inside = view.histogram.of_groups(np.array([group]))
    near = _tuples_near(finding, view, inside.values, inside.counts)
    densest = int(np.argmax(near))
    chosen = _chosen(finding, view, inside.values, inside.counts, densest)
    pairs = _near(finding, view, inside.values[chosen])
    attribute = view.attribute
    return {
        "group": group + 1,
        "rows": int(inside.counts.sum()),
        "distinct": len(inside.values),
        "epsilon": written(_reach(finding)),
        "labels": [shortened(attribute.label(int(value)), _LONGEST) for value in inside.values[chosen]],
        "at": _positions(view, inside.values[chosen]),
        "counts": inside.counts[chosen].tolist(),
        "neighbours": (near[chosen] - 1).tolist(),
        "densest": int(np.flatnonzero(chosen == densest)[0]),
        "edges": [[int(i), int(j)] for i, j in np.argwhere(np.triu(pairs | pairs.T, 1))],
    }


def _reach(finding: Finding) -> Fraction:
    """How far apart neighbours may be."""
    principle = finding.principle
    if isinstance(principle, DeltaLDiversity):
        return 2 * exactly(principle.delta)
    assert isinstance(principle, Dissimilarity | EpsilonMAnonymity)
    return exactly(principle.epsilon)


def _windows(finding: Finding, view: View, values: Counts) -> tuple[Counts, Counts]:
    """For each of a group's numbers the positions of those near it."""
    column = view.attribute.columns[0]
    assert column.numbers is not None
    numbers = Numbers(column.numbers.integers[values], column.numbers.unit)
    if getattr(finding.principle, "nearness", "absolute") == "relative":
        return relative_windows(numbers, _reach(finding))
    return number_windows(numbers, _reach(finding), _reach(finding))


def _tuples_near(finding: Finding, view: View, values: Counts, counts: Counts) -> Counts:
    """For each value of a group how many of its tuples are near, all its own included."""
    if isinstance(finding.principle, Dissimilarity):
        return view.graph(_reach(finding)).counts(np.array([0, len(values)]), values, counts)
    low, high = _windows(finding, view, values)
    below = np.concatenate([[0], np.cumsum(counts)])
    return np.asarray(below[high] - below[low])


def _near(finding: Finding, view: View, values: Counts) -> NDArray[np.bool_]:
    """For each pair of some values of a group whether the second is near the first."""
    if isinstance(finding.principle, Dissimilarity):
        epsilon = _reach(finding)
        return view.graph(epsilon).bound.near(values, values, epsilon)
    low, high = _windows(finding, view, values)
    place = np.arange(len(values))
    return np.asarray((low[:, None] <= place) & (place < high[:, None]))


def _chosen(finding: Finding, view: View, values: Counts, counts: Counts, densest: int) -> Counts:
    """Which values are drawn: all, or the densest one, those near it, and the most frequent of the others."""
    if len(values) <= NODES:
        return np.arange(len(values))
    if isinstance(finding.principle, Dissimilarity):
        epsilon = _reach(finding)
        near = view.graph(epsilon).bound.near(values[densest : densest + 1], values, epsilon)[0]
    else:
        low, high = (ends[densest] for ends in _windows(finding, view, values))
        near = (np.arange(len(values)) >= low) & (np.arange(len(values)) < high)
    first = np.arange(len(values)) == densest
    order = np.lexsort([-counts, ~near, ~first])
    return np.sort(order[:NODES])


def _positions(view: View, values: Counts) -> list[float] | None:
    """Where the values stand on a line, if they are numbers."""
    columns = view.attribute.columns
    if len(columns) != 1 or columns[0].numbers is None or (values == columns[0].size).any():
        return None
    return [nearest_float(columns[0].numbers[int(value)]) for value in values]
