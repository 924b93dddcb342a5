"""The data file of a release as executors read it: with the code that reads it in one process, and only the same file."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute, parquet

from sfumato.data.schema import Schema
from sfumato.errors import ClusterError
from sfumato.io.plain_types import plain_type
from sfumato.io.read_table import parquet_errors, refuse_duplicates
from sfumato.releases.digests import digest
from sfumato.releases.models import Document, FileDigest
from sfumato.releases.reader import TableManifest
from sfumato.releases.table_files import published_table, refuse_unused_values
from sfumato.spark.cluster_frames import ClusterFrames
from sfumato.spark.cluster_parts import opened
from sfumato.spark.row_sources import Run
from sfumato.storage import Storage
from sfumato.verification.checks import Check
from sfumato.verification.compared_tables import table_form_check

_BATCH = 1 << 18
"""The rows of a CSV file that are passed on at a time."""


class UnreadFileError(ClusterError):
    """Executors do not see the data file of the driver, or cannot count its cells."""


@dataclass(frozen=True)
class DataFile:
    """A data file, the schema of the published table, and the digest of the file that the driver sees."""

    manifest: TableManifest
    schema: Schema
    digest: FileDigest

    @property
    def is_csv(self) -> bool:
        """Whether the file has no types."""
        return self.manifest.data.suffix == ".csv"

    def check_same(self) -> None:
        """Raise an error if this host does not see the file of the driver."""
        path = self.manifest.data
        try:
            found = digest(path)
        except OSError as error:
            raise self._unseen(f"cannot read it ({error.strerror})") from None
        if found != self.digest:
            raise self._unseen("sees another file of this name")

    def _unseen(self, problem: str) -> UnreadFileError:
        return UnreadFileError(
            f"an executor {problem}: {self.manifest.data}",
            remedy="Copy the release to a folder that the driver and all executors share.",
        )


@dataclass(frozen=True, eq=False)
class FileWork:
    """Work on the rows of a data file: the columns that are needed, and what to do with them."""

    file: DataFile
    names: tuple[str, ...]
    with_positions: bool
    """Whether the last column is the position of each row in the file."""
    run: Run
    shared: Any


class PublishedFile:
    """The rows of a data file, which executors read: those of Parquet in pieces, those of CSV one after the other."""

    def __init__(self, file: DataFile, names: Sequence[str], pieces: int, *, with_positions: bool = False) -> None:
        self.file, self.names, self.pieces, self.with_positions = file, names, pieces, with_positions
        self.source: str | None = str(file.manifest.data)

    @classmethod
    def opened(cls, frames: ClusterFrames, file: DataFile) -> PublishedFile:
        """Have an executor open the file; raise the errors of one that it cannot read, or that stores unused values."""
        contents = frames.mapped(frames.numbers(1), open_file, file)
        return cls(file, *opened(frames.collected(contents, "read the data file")[0][1]))

    def with_row_positions(self) -> PublishedFile:
        """Return the same rows, with the position of each as one more column."""
        return PublishedFile(self.file, self.names, self.pieces, with_positions=True)

    def mapped(self, frames: ClusterFrames, names: Sequence[str], run: Run, shared: Any) -> Any:
        """Return the numbered contents that `run` makes of the cells of some columns of each partition."""
        work = FileWork(self.file, tuple(names), self.with_positions, run, shared)
        return frames.mapped(frames.numbers(self.pieces), read_and_run, work)

    def form_check(self, frames: ClusterFrames, document: Document) -> Check:
        """Return the check that the file is what this version writes for its content, made by an executor."""
        contents = frames.mapped(frames.numbers(1), check_form, (self.file, document))
        found: Check = opened(frames.collected(contents, "write the data file again")[0][1])
        return found


def open_file(shared: DataFile, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield the names of the columns of the file, and in how many pieces it can be read.

    It is an error if the file is not that of the driver, or stores values that no row has.
    """
    path = shared.manifest.data
    for _ in _numbers(batches):
        shared.check_same()
        if shared.is_csv:
            with Storage().active():
                names, pieces = _table(shared).column_names, 1
        else:
            with parquet_errors(path), parquet.ParquetFile(path) as file:
                refuse_uncounted(file.schema_arrow, path)
                names, pieces = file.schema_arrow.names, max(1, file.num_row_groups)
            refuse_duplicates(names, str(path))
            with parquet_errors(path):
                refuse_unused_values(path)
        yield 0, pickle.dumps(("result", (list(names), pieces)))


def refuse_uncounted(schema: pa.Schema, path: Path) -> None:
    """Raise an error for a file with a column whose cells executors do not count."""
    for field in schema:
        kind = plain_type(field.type)
        if not _is_counted(kind):
            raise UnreadFileError(
                f"executors do not count cells of the type {kind} (column {field.name!r}): {path}",
                remedy="Let the driver check the rows.",
            )


def _is_counted(kind: pa.DataType) -> bool:
    if pa.types.is_nested(kind) or pa.types.is_null(kind):
        return False
    try:
        compute.sort_indices(pa.array([], kind))  # distinct cells are sorted
    except pa.ArrowException:
        return False
    return True


def check_form(shared: tuple[DataFile, Document], batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield the check of the form of the file; of a CSV, it is written again piece by piece."""
    file, document = shared
    for _ in _numbers(batches):
        file.check_same()
        with Storage().active():
            found = table_form_check(file.manifest, document, published_table(file.manifest, file.schema))
        yield 0, pickle.dumps(("result", found))


def read_and_run(shared: FileWork, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield what work makes of the rows of some pieces of the file."""
    shared.file.check_same()
    yield from shared.run(shared.shared, _pieces(shared, list(_numbers(batches))))


def _numbers(batches: Iterator[pa.RecordBatch]) -> Iterator[int]:
    for batch in batches:
        yield from batch.column(0).to_pylist()


def _pieces(work: FileWork, numbers: Sequence[int]) -> Iterator[pa.RecordBatch]:
    path = work.file.manifest.data
    if work.file.is_csv:
        if numbers:
            with Storage().active():
                table = _table(work.file).select(list(work.names))
                yield from _batches(table, 0, work.with_positions)
        return
    with parquet_errors(path), parquet.ParquetFile(path) as file:
        sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        for number in numbers:
            if number < len(sizes):
                table = file.read_row_group(number, columns=list(work.names), use_threads=False).select(list(work.names))
                yield from _batches(table, sum(sizes[:number]), work.with_positions)


def _table(file: DataFile) -> pa.Table:
    return published_table(file.manifest, file.schema).data


def _batches(table: pa.Table, start: int, with_positions: bool) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table in plain types, and their positions from `start` on."""
    names = [str(i) for i in range(table.num_columns)]
    plain = pa.schema([(name, plain_type(kind)) for name, kind in zip(names, table.schema.types, strict=True)])
    renamed = table.rename_columns(names)
    for at in range(0, table.num_rows, _BATCH):
        piece = renamed.slice(at, _BATCH).cast(plain).combine_chunks()
        columns = [column.chunk(0) for column in piece.columns]
        if with_positions:
            columns.append(pa.array(np.arange(start + at, start + at + piece.num_rows)))
        yield pa.record_batch(columns, [str(i) for i, _ in enumerate(columns)])
