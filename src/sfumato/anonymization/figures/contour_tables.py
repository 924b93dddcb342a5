"""The vulnerability contour around each dissimilarity requirement: the share of groups in breach over ε and δ."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.anonymization.feasibility import vulnerability
from sfumato.anonymization.figures.worst_group_graph import view_of
from sfumato.audits.audit_result import Audit
from sfumato.data.table import Table
from sfumato.exact import written
from sfumato.principles import Dissimilarity, View, exactly

_TIMES = [Fraction(n, 4) for n in (1, 2, 3, 4, 5, 6, 8)]
"""The ε of the grid, as multiples of the requested ε."""
_DELTAS = [Fraction(n, 10) for n in range(1, 11)]
_PAIRS = 50_000
"""The most pairs of values that are compared for each ε with a slow distance; beyond, a sample of the groups is measured."""


def contours(audit: Audit) -> list[dict[str, Any]]:
    """Return, for each finding of dissimilarity, the contour around the requested ε and δ.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [1, 1, 1], "x": [10, 11, 30]})
    >>> found = sf.audit(people, sf.Schema(["age"], ["x"]), sf.Dissimilarity(epsilon=2, delta="0.5", k=2))
    >>> contour = contours(found)[0]
    >>> contour["asked"], contour["epsilons"][:3], contour["shares"][0][:2]
    (['2', '0.5'], ['0.5', '1', '1.5'], [0.0, 0.0])
    """
    return [
        {"finding": number, **_contour(requirement, view_of(audit, finding))}
        for number, finding in enumerate(audit)
        if (requirement := finding.principle.as_dissimilarity()) is not None
    ]


def _contour(requirement: Dissimilarity, view: View) -> dict[str, Any]:
    epsilon, delta = exactly(requirement.epsilon), exactly(requirement.delta)
    sample = _sample(view)
    contour = vulnerability(
        view.table if sample is None else sample,
        None,
        sorted({epsilon * times for times in _TIMES}),
        sorted({*_DELTAS, delta}),
        view.groups if sample is None else None,
        on=view.sensitive,
    ).to_dict()
    del contour["breached"]
    return {**contour, "sampled": sample is not None, "asked": [written(epsilon), written(delta)]}


def _sample(view: View) -> Table | None:
    """Return the rows of a fixed random sample of groups if measuring all would be slow; else None."""
    pairs = view.histogram.distinct**2
    if not view.distance.bind(view.attribute).costly or pairs.sum() <= _PAIRS:
        return None
    order = np.random.default_rng(0).permutation(view.groups.count)
    chosen = order[: max(1, int(np.searchsorted(np.cumsum(pairs[order]), _PAIRS)))]
    rows = np.flatnonzero(np.isin(view.groups.of_row, chosen))
    return view.table.take(rows)
