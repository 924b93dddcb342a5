"""What an attacker sees of one projected table: in which group of it each person is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.data.attribute import Attribute
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.plurals import count_of


@dataclass(frozen=True, eq=False)
class AttackerView:
    """One projected table as an attacker sees it: its sensitive attributes, and the group of each row of the original.

    Who knows a person's quasi-identifiers knows the person's group in every projected table; each group publishes its rows'
    values. Each row is one person.

    >>> seen = AttackerView(("job", "diagnosis"), np.array([0, 0, 1, -1]))
    >>> seen.rows.tolist(), seen.sizes.tolist()
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
                "the groups of the rows are no list of whole numbers from -1 on",
                remedy="Give the number of each row's group, and -1 for a row that is not published.",
                key="of_row",
            )
        object.__setattr__(self, "attributes", names)
        object.__setattr__(self, "of_row", of_row.astype(np.int64, copy=False))

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The rows that are published."""
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
        """The value of each published row."""
        return attribute.codes[self.rows].astype(np.int32)


def secrets(table: Table, seen: Sequence[AttackerView]) -> dict[str, Attribute]:
    """The attributes of projected tables, by name, over the values that occur; a vector is one attribute.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"x": [1, 1], "y": [2, 3]}), Schema(sensitive=["at"], vectors={"at": ["x", "y"]}))
    >>> secrets(table, [AttackerView(("at",), np.array([0, 0]))])["at"].label(1)
    '1 + 3'
    """
    names = [name for each in seen for name in each.attributes]
    return {name: table.attribute(table.schema.components(name), name) for name in names}


def checked(table: Table, seen: Sequence[AttackerView]) -> tuple[AttackerView, ...]:
    """The tables that an attack is tried on, if they can be projections of this one."""
    seen = (seen,) if isinstance(seen, AttackerView) else tuple(seen)
    if not all(isinstance(each, AttackerView) for each in seen):
        raise ParameterError(
            "what is attacked is no list of Seen",
            remedy="Give sf.attacks.AttackerView(attributes, groups) for each table.",
            key="seen",
        )
    if not seen:
        raise ParameterError("there is no table to attack", remedy="Give at least one Seen.", key="seen", value=())
    owner: dict[str, int] = {}
    for place, each in enumerate(seen, start=1):
        if not each.attributes:
            raise ParameterError(
                f"table {place} has no attribute", remedy="Name the sensitive attributes it publishes.", key="seen"
            )
        for name in each.attributes:
            if name in owner:
                raise ParameterError(
                    f"{name!r} is in table {owner[name]} and in table {place}",
                    remedy="Projected tables have no sensitive attribute in common: name each once.",
                    key="seen",
                    value=name,
                )
            owner[name] = place
        if len(each.of_row) != table.rows:
            raise ParameterError(
                f"table {place} tells the groups of {count_of(len(each.of_row), 'row')}, not of {table.rows:,}",
                remedy="Give one group for each row of the original, -1 for a row that is not published.",
                key="seen",
                value=len(each.of_row),
            )
        if not len(each.rows):
            raise ParameterError(
                f"table {place} publishes no row", remedy="Leave it out: nothing can be read from it.", key="seen"
            )
    return seen
