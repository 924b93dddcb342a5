"""On executors: the distinct cells of each column of a frame, with the number of rows of each."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from sfumato.io.cell_counts import CellCounts, as_bytes, from_bytes
from sfumato.spark.executor import contents_of


@dataclass(frozen=True)
class CountedColumns:
    """The columns of a frame whose cells are counted, and the name of the frame for errors."""

    names: tuple[str, ...]
    source: str | None


def count_cells(shared: CountedColumns, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield for each column of a partition its distinct cells, with the number of rows of each."""
    counts = [CellCounts(name, shared.source) for name in shared.names]
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        for count, cells in zip(counts, batch.columns, strict=True):
            count.add(as_collected(cells))
    if rows:
        for number, count in enumerate(counts):
            cells, numbers = count.result()
            yield number, as_bytes([cells, pa.array(numbers)])


def add_up_cells(shared: CountedColumns, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield for each column its distinct cells in all partitions, in order, with the number of rows of each."""
    counts: dict[int, CellCounts] = {}
    for number, content in contents_of(batches):
        cells, rows = from_bytes(content)
        counts.setdefault(number, CellCounts(shared.names[number], shared.source)).add(cells, rows.to_numpy())
    for number, count in counts.items():
        cells, numbers = count.result()
        yield number, pickle.dumps(("result", as_bytes([cells, pa.array(numbers)])))


def as_collected(cells: pa.Array) -> pa.Array:
    """Return cells in the type that they have if they are collected: points in time without the zone of the session."""
    if pa.types.is_timestamp(cells.type) and cells.type.tz is not None:
        return cells.cast(pa.timestamp(cells.type.unit, "UTC"))
    return cells
