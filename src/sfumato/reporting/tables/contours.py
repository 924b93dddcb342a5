"""The vulnerability contour around each wish for dissimilarity: the share of groups in breach over ε and δ."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sfumato.auditing import Audit
from sfumato.exact import written
from sfumato.feasible import vulnerability
from sfumato.principles import Dissimilarity, attributes_of
from sfumato.principles.base import exactly

_TIMES = [Fraction(n, 4) for n in (1, 2, 3, 4, 5, 6, 8)]
"""The grid's ε, as multiples of the wish's."""
_DELTAS = [Fraction(n, 10) for n in range(1, 11)]


def contours(audit: Audit) -> list[dict[str, Any]]:
    """For each finding of dissimilarity the contour around what was asked for.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [1, 1, 1], "x": [10, 11, 30]})
    >>> found = sf.audit(people, sf.Schema(["age"], ["x"]), sf.Dissimilarity(epsilon=2, delta="0.5", k=2))
    >>> contour = contours(found)[0]
    >>> contour["asked"], contour["epsilons"][:3], contour["shares"][0][:2]
    (['2', '0.5'], ['0.5', '1', '1.5'], [0.0, 0.0])
    """
    found = []
    for number, finding in enumerate(audit):
        wish = finding.principle
        if not isinstance(wish, Dissimilarity):
            continue
        epsilon, delta = exactly(wish.epsilon), exactly(wish.delta)
        scopes = attributes_of(wish, audit.table.schema)
        names = next(names for names in scopes if " + ".join(names) == finding.attribute)
        contour = vulnerability(
            audit.table,
            None,
            sorted({epsilon * times for times in _TIMES}),
            sorted({*_DELTAS, delta}),
            audit.groups,
            on=names,
        ).to_dict()
        del contour["breached"]
        found.append({"finding": number, **contour, "asked": [written(epsilon), written(delta)]})
    return found
