"""Which sensitive attributes no requirement covers, and in how many groups they are constant or nearly so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
    share_text,
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


def note_on_unique_people(original: Table) -> tuple[str, ...]:
    """Return a note for the publisher on people whose sensitive values nobody else has, if people have several rows.

    A reader cannot count them, because a release does not say which rows belong together: a person with the same weight in
    four rows has no unique row. `original`: the rows that are published.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> visits = pa.table({"who": [1, 1, 2, 3], "ill": ["gout", "gout", "flu", "flu"]})
    >>> print(note_on_unique_people(sf.Table(visits, sf.Schema(sensitive=["ill"], person_id="who")))[0])
    1 of 3 people (33.3 %) have sensitive values, taken together, that nobody else has: whoever knows them finds the rows
    """
    units, names = original.units, original.schema.sensitive_columns()
    if units is None or not names:
        return ()
    values = original.attribute(names)
    pairs = np.unique(values.codes.astype(np.int64) * units.count + units.of_row)
    alone = np.bincount(pairs // units.count, minlength=len(values.counts)) == 1
    people = len(np.unique(units.of_row[alone[values.codes]]))
    if not people:
        return ()
    share = share_text(people, units.count, units.noun, units.plural)
    return (f"{share} have sensitive values, taken together, that nobody else has: whoever knows them finds the rows",)


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
