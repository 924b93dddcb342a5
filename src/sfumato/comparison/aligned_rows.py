"""The rows of an original beside the same rows as they were published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato._audit import table_of
from sfumato.anonymization.release import Release
from sfumato.attacks.attacked_sources import rows_of_key
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import ParameterError, ReleaseError
from sfumato.io.read_table import as_table
from sfumato.plurals import count_of
from sfumato.releases.digests import check_digests
from sfumato.releases.reader import Manifest


@dataclass(frozen=True, eq=False, repr=False)
class AlignedRows:
    """Each row of an original with its row in a release. Made by `aligned_rows`; it must not be published."""

    original: pa.Table
    published: pa.Table
    group: str
    """The name of the group column."""
    place: NDArray[np.int64]
    """For each row of the original its row in the release, from 0; -1 if it was suppressed."""
    changed: tuple[str, ...]
    """The columns that are published otherwise than they were: the quasi-identifiers."""

    @property
    def suppressed(self) -> NDArray[np.int64]:
        """The rows of the original that are not published, from 0."""
        return np.flatnonzero(self.place < 0)

    def frame(self, start: int = 0, count: int | None = None, rows: Sequence[int] | None = None) -> pa.Table:
        """Return some rows of the original with what was published of them, in the order of the original.

        `start` and `count`: a window of rows; `rows`: these rows instead, from 0. The columns are `row`, the number from 1;
        `group`, null if the row was suppressed; each quasi-identifier as it was, and below NAME → as it is published; and
        the columns that are published unchanged.
        """
        stop = len(self.place) if count is None else start + count
        chosen = np.arange(len(self.place))[start:stop] if rows is None else np.asarray(rows, np.int64)
        place = self.place[chosen]
        kept = pa.array(place, mask=place < 0)  # a null is taken as a null
        before, after = self.original.take(pa.array(chosen)), self.published.take(kept)
        columns = {"row": pa.array(chosen + 1), self.group: after.column(self.group).cast(pa.int64())}
        for name in self.published.column_names:
            if name in before.column_names:
                columns[name] = _plain(before.column(name))
                if name in self.changed:
                    columns[f"{name} →"] = _plain(after.column(name))
        return pa.table(columns)

    def __repr__(self) -> str:
        kept = len(self.place) - len(self.suppressed)
        return f"<AlignedRows: {kept:,} of {count_of(len(self.place), 'row')} are published>"


def aligned_rows(
    release: Release | str | Path, original: Any = None, *, schema: Schema | None = None, key: str | Path | None = None
) -> AlignedRows:
    """Align the rows of an original with those of a release: what each row was, and what was published of it.

    `release`: a `Release`, which knows its original, or the folder of one; then `original` is the table that it was made
    from (a path, a frame or a `Table`) and `key` the private key that was written with it, which alone says whose row is
    whose. `schema`: as for `sf.verify`, where a path needs more than its types.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "gout", "flu", "cold"]})
    >>> release = sf.anonymize(people, sf.Schema(["age"], ["ill"]), sf.KAnonymity(2), seed=0)
    >>> aligned_rows(release).frame(count=2).select(["row", "age", "age →", "ill"]).to_pylist()
    [{'row': 1, 'age': 30, 'age →': '[30, 31]', 'ill': 'flu'}, {'row': 2, 'age': 31, 'age →': '[30, 31]', 'ill': 'gout'}]
    """
    if isinstance(release, Release):
        private = release.private
        changed = tuple(release.schema.quasi_identifiers)
        return _aligned(private.original.data, release.table.data, release.group, private.rows, changed)
    if original is None or key is None:
        raise ParameterError(
            "rows of a folder cannot be aligned without its original and its key",
            remedy="Pass original= and key=; the key is written with sfumato anonymize --key.",
            key="original" if original is None else "key",
        )
    manifest = Manifest.load(Path(release))
    check_digests(manifest)
    document, rows = manifest.grouped, rows_of_key(manifest.table.data, key)
    assert rows is not None, "a grouped release has rows"
    changed = tuple(column.name for column in document.columns if column.role == "quasi-identifier")
    people: Table = original if isinstance(original, Table) else as_table(original, schema or Schema())
    published = as_table(manifest.table.data, Schema()).data
    if len(rows) != published.num_rows or rows.max(initial=-1) >= people.rows:
        raise ReleaseError(
            f"the key lists rows that the original, with {count_of(people.rows, 'row')}, does not have",
            remedy="Name the original that the release was made from.",
            file=people.source,
        )
    return _aligned(table_of(people, None).data, published, document.group, rows, changed)


def _aligned(
    original: pa.Table, published: pa.Table, group: str, rows: NDArray[np.int64], changed: tuple[str, ...]
) -> AlignedRows:
    """Return aligned rows; `rows`: for each published row its row in the original, -1 for a counterfeit."""
    place = np.full(original.num_rows, -1, np.int64)
    mine = np.flatnonzero(rows >= 0)
    place[rows[mine]] = mine
    return AlignedRows(original, published, group, place, changed)


def _plain(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return cells without a dictionary, which would hold values of other rows."""
    return cells.cast(cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells
