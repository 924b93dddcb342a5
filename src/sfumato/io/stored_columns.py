"""Read a table batch by batch into columns on disk: the distinct cells in memory, and for each row the index of its cell.

Only what a release may contain, or is counted by, is kept. Of other identifiers only a hash of each cell is kept, which is
enough to count them, and of columns without a role nothing but the name.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from enum import Enum
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from sfumato.data.schema import Kind, Role, Schema
from sfumato.errors import ColumnError
from sfumato.io.cell_counts import LARGEST, cell_keys, refuse_large_dictionary
from sfumato.storage import Storage

HASHED = {b"sfumato": b"hash"}
"""The metadata of a column that holds hashes of cells."""

_RELEASED = 16
"""After this many batches the pages of the file that were read are dropped from memory."""

_LARGEST = LARGEST
"""The most bytes of distinct cells of a column."""

_WAITING_CELLS = 1 << 16
_WAITING_ROWS = 1 << 21
_WAITING_BYTES = 1 << 26
"""The distinct cells, rows and bytes of batches that may wait until their cells are looked up together.

Looking up costs as much as the cells that are known already, so more cells may wait when more are known.
"""


class Use(Enum):
    """What is kept of a column."""

    CELLS = "cells"
    HASHES = "hashes"
    NAME = "name"


def column_use(schema: Schema, name: str) -> Use:
    """Return what a release needs of a column; of a table with a group column, which is published already, everything.

    >>> schema = Schema(["age"], identifiers=["name"], person_id="id")
    >>> [column_use(schema, name).value for name in ("age", "name", "id", "notes")]
    ['cells', 'hashes', 'cells', 'name']
    """
    counted = (schema.person_id, schema.household_id)
    if schema.group is not None or name in counted or name in schema.ages.values():
        return Use.CELLS
    role = schema.role(name)
    return Use.NAME if role is None else Use.HASHES if role is Role.IDENTIFIER else Use.CELLS


class _Column:
    """One column of which batches are read."""

    def __init__(
        self, field: pa.Field, use: Use, storage: Storage, file: BinaryIO, missing: frozenset[str], source: str | None
    ) -> None:
        self.field = field
        self.use = use
        self.storage = storage
        self.file = file
        self.missing = missing
        self.source = source
        kind = field.type
        if pa.types.is_nested(kind) and use is Use.CELLS:
            raise ColumnError(
                f"columns of the type {kind} cannot be read piece by piece",
                remedy='Use the engine "local", or write its items as one text.',
                file=source,
                column=field.name,
            )
        self.cells = pa.array([], kind.value_type if pa.types.is_dictionary(kind) else kind)
        """The distinct cells, in the order in which they were read."""
        self.waiting: list[tuple[pa.Array, np.ndarray]] = []
        """The distinct cells of each batch that were not looked up yet, and for each of its rows which of them it has."""
        self.present: list[np.ndarray] = []
        self.nulls = False

    def add(self, chunk: pa.Array) -> None:
        if self.use is Use.NAME:
            return
        encoded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
        known = np.asarray(encoded.indices.is_valid())
        rows = np.asarray(encoded.indices.fill_null(0))
        if self.use is Use.HASHES:
            place = self._hashes(encoded.dictionary)
            known = known & np.append(place != 0, True)[rows] if len(place) else known
            self._write(place, rows, known)
        else:
            # every missing cell has the number 0 in the end
            self.waiting.append((encoded.dictionary, np.where(known, rows, -1).astype(np.int32)))
            if self._waits_long():
                self._look_up()
        self.nulls |= not known.all()
        self.present.append(np.packbits(known, bitorder="little"))

    def _write(self, place: np.ndarray, rows: np.ndarray, known: np.ndarray) -> None:
        """Write the number of each row's cell."""
        numbers = place[rows] if len(place) else np.zeros(len(rows), place.dtype)
        numbers[~known] = 0
        self.storage.write(self.file, numbers)

    def _waits_long(self) -> bool:
        waiting = [cells for cells, _ in self.waiting]
        return (
            sum(map(len, waiting)) > max(_WAITING_CELLS, len(self.cells))
            or sum(len(rows) for _, rows in self.waiting) > _WAITING_ROWS
            or sum(cells.nbytes for cells in waiting) > _WAITING_BYTES
        )

    def _look_up(self) -> None:
        """Number the cells of the batches that wait, new ones in the order in which they were read, and write the rows."""
        cells = pa.concat_arrays([self.cells, *(cells for cells, _ in self.waiting)])
        numbers = np.asarray(cell_keys(cells).dictionary_encode(null_encoding="encode").indices)
        # a number is new where it is larger than all before
        new = np.diff(np.maximum.accumulate(numbers), prepend=-1) > 0
        place = np.split(numbers, np.cumsum([len(self.cells), *(len(part) for part, _ in self.waiting)])[:-1])[1:]
        self.cells = cells.filter(pa.array(new))
        refuse_large_dictionary(self.cells, self.field.name, self.source, _LARGEST)
        for of_cell, (_, rows) in zip(place, self.waiting, strict=True):
            self._write(of_cell, rows, rows >= 0)
        self.waiting = []

    def _hashes(self, cells: pa.Array) -> np.ndarray:
        """Return a hash of each of some cells; 0 for a missing one."""
        texts = [str(cell) for cell in cells.to_pylist()]
        return np.array([0 if text.strip() in self.missing else hash(text) or 1 for text in texts], np.int64)

    def result(self, rows: int, sizes: Iterable[int]) -> tuple[pa.Field, pa.Array]:
        """Return the column as an array on disk."""
        if self.use is Use.NAME:
            return pa.field(self.field.name, pa.null()), pa.nulls(rows)
        if self.waiting:
            self._look_up()
        bitmap = None
        if self.nulls:
            known = [
                np.unpackbits(bits, count=size, bitorder="little") for bits, size in zip(self.present, sizes, strict=True)
            ]
            bitmap = pa.py_buffer(np.packbits(np.concatenate(known), bitorder="little"))
        kind = pa.int64() if self.use is Use.HASHES else pa.int32()
        numbers = pa.Array.from_buffers(kind, rows, [bitmap, pa.py_buffer(self.storage.mapped(self.file))])
        if self.use is Use.HASHES:
            return pa.field(self.field.name, kind, metadata=HASHED), numbers
        column = pa.DictionaryArray.from_arrays(numbers, self.cells)
        return pa.field(self.field.name, column.type), column


def stored_columns(
    batches: Iterable[pa.RecordBatch],
    fields: pa.Schema,
    schema: Schema | None,
    storage: Storage,
    source: str | None,
) -> pa.Table:
    """Return a table that is read batch by batch, on disk; `schema`: what its columns are used for, None if all are kept.

    A table without rows is returned as it is.
    """
    with ExitStack() as files:
        columns = []
        for field in fields:
            use = Use.CELLS if schema is None else column_use(schema, field.name)
            missing = frozenset() if schema is None else frozenset(schema.missing.texts(Kind.CATEGORICAL))
            columns.append(_Column(field, use, storage, files.enter_context(storage.new_file()), missing, source))
        sizes = []
        for batch in batches:
            sizes.append(batch.num_rows)
            for column, chunk in zip(columns, batch.columns, strict=True):
                column.add(chunk)
            if len(sizes) % _RELEASED == 0:
                storage.release()
        rows = sum(sizes)
        if not rows:
            return fields.empty_table()
        done = [column.result(rows, sizes) for column in columns]
    return pa.Table.from_arrays([array for _, array in done], schema=pa.schema([field for field, _ in done]))
