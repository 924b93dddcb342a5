"""The names of columns, from the header of a file that has no other place for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sfumato.errors import FileError


def column_names(header: Sequence[str], file: str) -> list[str]:
    """A name for every column: as it stands there, or by its position where nothing does.

    >>> column_names(["age", ""], "people.csv")
    ['age', 'column_2']
    """
    names = [cell if cell else f"column_{position}" for position, cell in enumerate(header, start=1)]
    twice = [cell for cell, count in Counter(names).items() if count > 1]
    if twice:
        raise FileError(
            f"the header names {', '.join(map(repr, twice))} more than once",
            remedy="Give every column a name of its own.",
            file=file,
            value=twice,
        )
    return names
