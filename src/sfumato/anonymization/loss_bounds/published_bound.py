"""The lower bound on the loss that a release states: without secrets, and in steps of its loss."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from sfumato.anonymization.loss_bounds._loss_bound import loss_bound
from sfumato.anonymization.release_document import counts_values, published_step
from sfumato.anonymization.utility import percent
from sfumato.data.table import Table
from sfumato.exact import Number
from sfumato.principles import Principle

MOST_ROWS = 1_000_000
"""No bound is computed for larger tables: it would need more memory than finding their groups."""


def published_bound(
    original: Table, principles: Sequence[Principle], suppress: Number, recodings: Mapping[str, str], loss: float
) -> float | None:
    """Return the bound that a release of a table states beside its loss; None if it states none.

    A table of many rows has none, and neither has one of which rows may be suppressed if a hierarchy is built from the
    values: it is built from those of the published rows.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = sf.Table(pa.table({"age": [*range(0, 4000, 5)]}), sf.Schema(["age"]))
    >>> round(published_bound(people, [sf.KAnonymity(2)], 0, {"age": "interval"}, 0.01), 4)
    0.0012
    """
    if original.rows > MOST_ROWS or (Fraction(suppress) and counts_values(original.schema)):
        return None
    bound = loss_bound(original, principles, suppress=suppress, secrets=False, recodings=recodings)
    return stated_bound(bound, loss, original.rows)


def stated_bound(bound: float, loss: float, rows: int) -> float:
    """Return a bound as it is published: the largest multiple of a step of the loss that is not above it.

    The step is a hundredth, or coarser for few `rows`: a figure that is computed from the original quasi-identifiers is
    rounded, so that it says little about them.

    >>> stated_bound(0.129, 0.5, 1000), stated_bound(0.0, 0.0, 1000)
    (0.125, 0.0)
    """
    if loss <= 0:
        return 0.0
    step = published_step(rows)
    share = min(Fraction(1), Fraction(bound) / Fraction(loss))
    return float(Fraction(loss) * step * math.floor(share / step))


def bound_text(bound: float) -> str:
    """Return in words what a bound says.

    >>> bound_text(0.00412)
    'no grouping has less than 0.412 %'
    """
    return f"no grouping has less than {percent(bound)}"
