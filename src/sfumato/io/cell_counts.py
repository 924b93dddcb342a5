"""The distinct cells of a column with the number of rows of each, of rows that are read piece by piece."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.errors import ColumnError

_WAITING_CELLS = 1 << 16
"""The distinct cells of pieces that may wait until they are counted together; more if more are known already."""

LARGEST = 1 << 28
"""The most bytes of distinct cells of a column."""


class CellCounts:
    """Counts the cells of one column. `name`, `source`: for the error if the distinct cells do not fit into memory.

    >>> cells = CellCounts("age")
    >>> cells.add(pa.array([30, 31, 30]))
    >>> cells.add(pa.array([None, 30]))
    >>> [each.tolist() for each in cells.result()]
    [[30, 31, None], [3, 1, 1]]
    """

    def __init__(self, name: str, source: str | None = None) -> None:
        self.name, self.source = name, source
        self._known: pa.Array | None = None
        self._waiting: list[tuple[pa.Array, NDArray[np.int64]]] = []

    def add(self, cells: pa.Array, rows: NDArray[np.int64] | None = None) -> None:
        """Count further cells; `rows`: the number of rows of each, if they are not those of rows."""
        self._waiting.append(_counted(cells, rows))
        known = 0 if self._known is None else len(self._known)
        if sum(len(each) for each, _ in self._waiting[known > 0 :]) > max(_WAITING_CELLS, known):
            self._merge()

    def _merge(self) -> None:
        cells = pa.concat_arrays([each for each, _ in self._waiting])
        self._known, rows = _counted(cells, np.concatenate([counts for _, counts in self._waiting]))
        refuse_large_dictionary(self._known, self.name, self.source, LARGEST)
        self._waiting = [(self._known, rows)]

    def result(self) -> tuple[pa.Array, NDArray[np.int64]]:
        """Return the distinct cells in their own order, a missing one last, and the number of rows of each."""
        self._merge()
        cells, rows = self._waiting[0]
        order = pa.compute.sort_indices(cells)
        return cells.take(order), rows[np.asarray(order)]


def _counted(cells: pa.Array, rows: NDArray[np.int64] | None) -> tuple[pa.Array, NDArray[np.int64]]:
    """Return the distinct cells, and the number of rows of each."""
    encoded = cell_keys(cells).dictionary_encode(null_encoding="encode")
    numbers = np.asarray(encoded.indices)
    if rows is None:
        counts = np.bincount(numbers, minlength=len(encoded.dictionary))
    else:
        counts = np.zeros(len(encoded.dictionary), np.int64)
        np.add.at(counts, numbers, rows)
    distinct = encoded.dictionary
    return distinct if distinct.type == cells.type else distinct.view(cells.type), counts


def cell_keys(cells: pa.Array) -> pa.Array:
    """Return values that differ where cells do: floats as their bits, because 0.0 equals -0.0."""
    if not pa.types.is_floating(cells.type):
        return cells
    return cells.view({16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[cells.type.bit_width])


def refuse_large_dictionary(cells: pa.Array, name: str, source: str | None, largest: int) -> None:
    """Raise an error if the distinct cells of a column do not fit into memory."""
    if cells.nbytes > largest:
        raise ColumnError(
            f"the column has {len(cells):,} distinct values so far, more than fit into memory",
            remedy='Drop it (role "identifier"), round its values, or read it by a machine with more memory and the '
            'engine "local".',
            file=source,
            column=name,
        )


def as_bytes(columns: Iterable[pa.Array]) -> bytes:
    """Return arrays of one length as bytes, of the same types."""
    batch = pa.record_batch(list(columns), [str(i) for i, _ in enumerate(columns)])
    content = pa.BufferOutputStream()
    with pa.ipc.new_stream(content, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(content.getvalue())


def from_bytes(content: bytes) -> list[pa.Array]:
    """Return the arrays that `as_bytes` wrote.

    >>> [each.tolist() for each in from_bytes(as_bytes([pa.array(["a", None]), pa.array([1, 2])]))]
    [['a', None], [1, 2]]
    """
    return list(pa.ipc.open_stream(content).read_next_batch().columns)
