"""Cells that mean a missing value: detected in the text of a table, before it is encoded."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import compute

from sfumato.data.missing_texts import CLEAR, DOUBTFUL
from sfumato.exact.numbers import parse_decimal

_OFTEN = 0.01
"""A doubtful marker is reported if at least this share of the cells of a column contains it."""


@dataclass(frozen=True)
class Markers:
    """Texts that mean missing, and texts that may.

    >>> Markers.of(pa.table({"a": ["?", "b"], "n": ["1", "NA"], "c": ["NA", "DE"]}))
    Markers(missing=('?', 'NA'), doubtful={})
    """

    missing: tuple[str, ...]
    """In addition to the empty cell."""
    doubtful: dict[str, tuple[str, ...]]
    """For each text that may mean missing, the columns in which it is frequent."""

    @classmethod
    def of(cls, data: pa.Table) -> Markers:
        """Detect markers in every text column."""
        clear: Counter[str] = Counter()
        numeric: set[str] = set()
        doubtful: dict[str, list[str]] = {}
        known = pa.array([*CLEAR, *DOUBTFUL])
        for name in data.column_names:
            column = data.column(name)
            kind = column.type
            if pa.types.is_large_string(kind) or pa.types.is_dictionary(kind):
                column = _as_text(column)
            if column is None or not pa.types.is_string(column.type):
                continue
            hits = column.filter(compute.is_in(column, value_set=known))
            if not len(hits):
                continue
            found = {item["values"]: item["counts"] for item in compute.value_counts(hits.combine_chunks()).to_pylist()}
            clear.update({text: count for text, count in found.items() if text in CLEAR})
            ambiguous = [text for text in found if text in DOUBTFUL]
            if not ambiguous:
                continue
            if _numbers_else(column, set(found)):
                numeric.update(ambiguous)
            for text in ambiguous:
                if found[text] >= _OFTEN * len(column):
                    doubtful.setdefault(text, []).append(name)
        missing = (*(text for text in CLEAR if clear[text]), *(text for text in DOUBTFUL if text in numeric))
        return cls(missing, {text: tuple(names) for text, names in doubtful.items() if text not in missing})

    def to_dict(self) -> dict[str, list[str] | dict[str, list[str]]]:
        """Return the markers as plain data."""
        return {"missing": list(self.missing), "doubtful": {text: list(names) for text, names in self.doubtful.items()}}


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    try:
        return column.cast(pa.string())
    except pa.ArrowException:
        return None


def _numbers_else(column: pa.ChunkedArray, markers: set[str]) -> bool:
    """Return whether a column contains numbers, and nothing else but markers and empty cells."""
    cells = [cell for cell in compute.unique(column).to_pylist() if cell and cell not in markers]
    return bool(cells) and all(parse_decimal(cell) is not None for cell in cells)
