"""Whether multisets of candidates satisfy the requirements, as if each of them were a group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.data.groups import Groups
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.principles import Principle, View, attributes_of
from sfumato.principles.principle import measurement_of

Integers = NDArray[np.int64]


def verdicts(
    values: Table, principles: Sequence[Principle], rows: Integers, owner: Integers, value: Integers, sets: int
) -> NDArray[np.bool_]:
    """Return for each of some multisets of candidates whether every principle holds in it.

    `values`: a table whose row v has the candidate v. `rows`: how many rows of the published table have each; a principle
    that compares a group with the whole table compares a multiset with these. The multiset `owner[i]` contains `value[i]`;
    none is empty.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> ill = sf.Table(pa.table({"ill": ["flu", "gout"]}), sf.Schema(sensitive=["ill"]))
    >>> owner, value = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    >>> verdicts(ill, [sf.DistinctLDiversity(2)], np.array([3, 2]), owner, value, 2).tolist()
    [True, False]
    """
    groups = Groups(owner, sets, int(rows.sum()))
    holds = np.ones(sets, bool)
    for principle in principles:
        for names in attributes_of(principle, values.schema):
            if not principle.histogram_only:
                view = View(values.take(value), names, groups)
            else:
                view = View(values, names, groups)
                if names:
                    own = View(values, names).attribute
                    counts = np.bincount(own.codes, rows, len(own)).astype(np.int64)
                    view.attribute = Attribute(own.name, own.columns, own.codes[value], own.parts, counts)
            holds &= measurement_of(principle, view).group_holds
    return holds


def refuse_wider_groups(principles: Sequence[Principle]) -> None:
    """Raise an error for a principle that is not a condition on the values of a group and of the table."""
    for principle in principles:
        if principle.relative and not principle.histogram_only:
            raise ParameterError(
                f"{principle.title} compares groups with wider groups of rows, and groups of several releases have none in "
                "common",
                remedy="Use a principle that compares a group with the whole table, or with nothing. A principle of your "
                "own must declare relative = False or histogram_only = True.",
                key="principles",
                value=principle.name,
            )
