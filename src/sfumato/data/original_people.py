"""The people of the original table, for principles that compare published cells with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato.errors import ParameterError

if TYPE_CHECKING:
    from sfumato.data.table import Table


class OriginalPeople:
    """The original of a table: of some of its rows, or of its published form. Neither `repr` nor a pickle contains it.

    `table`: None if the original is not known, as for a release that is read without it. `recodings`: how each
    quasi-identifier is published, for a table whose quasi-identifiers are published cells; else None.
    """

    def __init__(self, table: Table | None, recodings: Mapping[str, str] | None = None) -> None:
        self._table = table
        self.recodings = recodings

    def __repr__(self) -> str:
        """Show whether the original is known, never cells."""
        return f"<OriginalPeople: {'unknown' if self._table is None else f'{self._table.rows:,} rows'}>"

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the people: a pickle holds only what may be published."""
        return {**vars(self), "_table": None}

    def __copy__(self) -> OriginalPeople:
        return self

    def __deepcopy__(self, memo: Any) -> OriginalPeople:
        return self

    @property
    def known(self) -> bool:
        """Whether the original is known."""
        return self._table is not None

    def published(self, recodings: Mapping[str, str]) -> OriginalPeople:
        """Return the same people, for the published form of their table."""
        return OriginalPeople(self._table, dict(recodings))

    def people(self, wanted_by: str) -> Table:
        """Return the original; an error if it is not known. `wanted_by`: the title of the principle that needs it."""
        if self._table is None:
            raise ParameterError(
                f"{wanted_by} compares published cells with the people of the original, which is not known here",
                remedy="Pass the original table too.",
                key="original",
            )
        return self._table
