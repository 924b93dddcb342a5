"""Which sensitive attributes no requirement covers, and in how many groups they are constant or nearly so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.data.groups import Groups, Histogram
from sfumato.data.table import Table
from sfumato.exact import written
from sfumato.principles import Principle
from sfumato.principles.scope import covered_attributes
from sfumato.releases.exposure_models import (
    NEAR_CONSTANT,
    AcceptedAttribute,
    CoverageClaim,
    UncoveredWarning,
)


@dataclass(frozen=True)
class Coverage:
    """How the requirements cover the sensitive attributes of a published table."""

    warnings: tuple[UncoveredWarning, ...]
    """For each attribute that no requirement covers, unless that is accepted."""
    claim: CoverageClaim | None
    """None if the table has no sensitive attribute."""


def coverage_of(published: Table, groups: Groups, principles: Sequence[Principle]) -> Coverage:
    """Return how principles cover the sensitive attributes of a published table.

    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"ill": ["flu", "flu", "flu", "cold"]}), Schema(sensitive=["ill"]))
    >>> groups = Groups(np.array([0, 0, 1, 1]), 2, 4)
    >>> coverage_of(table, groups, ()).warnings[0].figures_text
    'in 1 group with 2 rows all rows have the same value, and in 1 group with 2 rows at least 80 % of them do'
    """
    schema = published.schema
    if not schema.sensitive:
        return Coverage((), None)
    covered = covered_attributes(principles, schema)
    open_ = [name for name in schema.sensitive if name not in covered]
    whole = published.attribute(schema.sensitive_columns())
    return Coverage(
        tuple(
            UncoveredWarning(kind="uncovered", attribute=name, **_constant(published, groups, name))
            for name in open_
            if name not in schema.accepted
        ),
        CoverageClaim(
            near_constant=written(NEAR_CONSTANT),
            unique_rows=int((whole.counts == 1).sum()),
            accepted=[
                AcceptedAttribute(attribute=name, reason=schema.accepted[name], **_constant(published, groups, name))
                for name in open_
                if name in schema.accepted
            ],
        ),
    )


def _constant(published: Table, groups: Groups, name: str) -> dict[str, Any]:
    """Count the groups, and their rows, in which an attribute has one value or nearly one."""
    histogram = Histogram.of(groups, published.attribute(published.schema.components(name), name))
    constant = histogram.distinct == 1
    near = histogram.largest * NEAR_CONSTANT.denominator >= histogram.sizes * NEAR_CONSTANT.numerator
    return {
        "constant_groups": int(constant.sum()),
        "constant_rows": int(histogram.sizes[constant].sum()),
        "near_constant_groups": int(near.sum()),
        "near_constant_rows": int(histogram.sizes[near].sum()),
    }
