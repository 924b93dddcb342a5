"""What an attacker sees of one projected table: the group of each person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.unit_groups import refuse_units
from sfumato.data.attribute import Attribute
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.plurals import count_of


@dataclass(frozen=True, eq=False)
class AttackerView:
    """One projected table as an attacker sees it: its sensitive attributes, and the group of each row of the original.

    An attacker who knows a person's quasi-identifiers knows the person's group in every projected table; each group
    publishes the values of its rows. Each row is one person.

    >>> view = AttackerView(("job", "diagnosis"), np.array([0, 0, 1, -1]))
    >>> view.rows.tolist(), view.sizes.tolist()
    ([0, 1, 2], [2, 1])
    """

    attributes: tuple[str, ...]
    of_row: NDArray[np.int64]
    """For each row of the original its group; -1 if the row is not published."""

    def __post_init__(self) -> None:
        names = (self.attributes,) if isinstance(self.attributes, str) else tuple(self.attributes)
        of_row = np.asarray(self.of_row)
        if of_row.ndim != 1 or of_row.dtype.kind not in "iu" or (of_row < -1).any():
            raise ParameterError(
                "the groups of the rows must be a one-dimensional array of integers from -1",
                remedy="Pass the number of each row's group, and -1 for a row that is not published.",
                key="of_row",
            )
        object.__setattr__(self, "attributes", names)
        object.__setattr__(self, "of_row", of_row.astype(np.int64, copy=False))

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The published rows."""
        return np.flatnonzero(self.of_row >= 0)

    @cached_property
    def groups(self) -> NDArray[np.int32]:
        """The group of each published row, numbered from 0 without gaps."""
        return np.unique(self.of_row[self.rows], return_inverse=True)[1].astype(np.int32)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The number of rows of each group."""
        return np.bincount(self.groups)

    def values(self, attribute: Attribute) -> NDArray[np.int32]:
        """Return the value of each published row, as a code."""
        return attribute.codes[self.rows].astype(np.int32)


def view_attributes(table: Table, views: Sequence[AttackerView]) -> dict[str, Attribute]:
    """Return the attributes of projected tables by name, over the values that occur; a vector is one attribute.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"x": [1, 1], "y": [2, 3]}), Schema(sensitive=["at"], vectors={"at": ["x", "y"]}))
    >>> view_attributes(table, [AttackerView(("at",), np.array([0, 0]))])["at"].label(1)
    '1 + 3'
    """
    names = [name for view in views for name in view.attributes]
    return {name: table.attribute(table.schema.components(name), name) for name in names}


def check_views(table: Table, views: Sequence[AttackerView]) -> tuple[AttackerView, ...]:
    """Return the views as a tuple; raise an error unless they can be projections of the table."""
    refuse_units(table, "the attack")
    views = (views,) if isinstance(views, AttackerView) else tuple(views)
    if not all(isinstance(view, AttackerView) for view in views):
        raise ParameterError(
            "the views must be a list of AttackerView",
            remedy="Pass sf.attacks.AttackerView(attributes, groups) for each table.",
            key="views",
        )
    if not views:
        raise ParameterError("there is no table to attack", remedy="Pass at least one view.", key="views", value=())
    owner: dict[str, int] = {}
    for number, view in enumerate(views, start=1):
        if not view.attributes:
            raise ParameterError(
                f"table {number} has no attribute", remedy="Name the sensitive attributes that it publishes.", key="views"
            )
        for name in view.attributes:
            if name in owner:
                raise ParameterError(
                    f"{name!r} is in table {owner[name]} and in table {number}",
                    remedy="Projected tables have no sensitive attribute in common: name each once.",
                    key="views",
                    value=name,
                )
            owner[name] = number
        if len(view.of_row) != table.rows:
            raise ParameterError(
                f"table {number} has groups for {count_of(len(view.of_row), 'row')}; the original has {table.rows:,}",
                remedy="Pass one group for each row of the original, -1 for a row that is not published.",
                key="views",
                value=len(view.of_row),
            )
        if not len(view.rows):
            raise ParameterError(
                f"table {number} publishes no row", remedy="Leave it out: nothing can be read from it.", key="views"
            )
    return views
