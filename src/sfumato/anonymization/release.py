"""A release: the published table with what holds in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._audit import Audit
from sfumato.anonymization.methods import Method
from sfumato.anonymization.recoding import Recoding
from sfumato.anonymization.release_document import described
from sfumato.anonymization.save_release import save
from sfumato.anonymization.utility import Utility, mean_loss, percent, utility_of
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.plurals import count_of
from sfumato.principles import Principle
from sfumato.progress import Progress, silent


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """What is published: `frame`, in the library that the data came in, and `audit`, what holds in it.

    In the frame, quasi-identifiers are texts that cover all values of their group, identifiers are gone, and everything
    else is as it was. A first column, `group` (`group_id` if the data has a `group` of its own), tells the rows of a
    group; its numbers, and the order of the rows, mean nothing.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"name": ["Ann", "Bob", "Cy", "Di"], "age": [30, 31, 50, 51]})
    >>> release = sf.anonymize(people, sf.Schema(["age"], identifiers=["name"]), sf.KAnonymity(4))
    >>> release.frame.to_pylist()[0], release.loss
    ({'group': 1, 'age': '[30, 51]'}, 1.0)
    """

    table: Table
    """The published table, encoded, with the schema under which it can be audited."""
    audit: Audit
    recoded: Recoding
    """How each group's quasi-identifiers are published, over the rows of the original in their order."""
    kept: Table
    """The rows of the original that are published, in their order; never written."""
    kept_rows: NDArray[np.int64]
    """Which rows of the original those are; never written."""
    schema: Schema
    """The schema of the original, the kind of each column that matters stated."""
    principles: tuple[Principle, ...]
    method: Method
    seed: int
    suppress: Fraction
    """The largest share of rows that was allowed to be dropped."""
    suppressed: int
    """The number of rows that were dropped."""
    notes: Sequence[str] = ()
    """What a reader of the release should know; written with it."""
    reading: Sequence[str] = ()
    """What the publisher should know about how the original was understood and the groups found; never written."""
    source: Table | None = None
    """The original table, to verify against when the release is saved; never written."""
    make_frame: Callable[[], Any] = lambda: None
    """Makes `frame`."""

    @cached_property
    def frame(self) -> Any:
        """The published table in the library that the data came in, made when it is first asked for."""
        return self.make_frame()

    @property
    def group(self) -> str:
        """The name of the group column."""
        return str(self.table.schema.group)

    @property
    def original(self) -> Table:
        """The table that was anonymized, with its suppressed rows; never written."""
        return self.kept if self.source is None else self.source

    @property
    def recodings(self) -> dict[str, str]:
        """How each quasi-identifier is published: as intervals, ancestors or sets."""
        return {column.domain.name: str(column.domain.recoding) for column in self.recoded.columns}

    @property
    def levels(self) -> dict[str, int]:
        """The level that each quasi-identifier is published at, if all its cells are at one."""
        levels = self.recoded.levels or ()
        return {column.domain.name: level for column, level in zip(self.recoded.columns, levels, strict=False)}

    @property
    def loss(self) -> float:
        """The information loss, from 0 (all is as it was) to 1 (nothing is told); see `sf.anonymization.Loss`."""
        return mean_loss(self.recoded, self.suppressed)

    @cached_property
    def utility(self) -> Utility:
        """What the release is worth, measured against the original; the queries are drawn by the seed.

        This is for the publisher. release.json holds no query errors, and distances of marginals in two decimals: exact
        figures about the original would let a reader check guesses at who has which value.
        """
        sizes = [k for principle in self.principles if (k := principle.implied_k) is not None]
        return utility_of(self.kept, self.recoded, max(sizes, default=None), self.suppressed, seed=self.seed)

    def to_dict(self) -> dict[str, Any]:
        """What release.json says, but for the files."""
        return described(self)

    def save(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        format: str = "csv",  # noqa: A002
        internal: str | Path | None = None,
        database: str | None = None,
        table: str | None = None,
        expected: str | Path | None = None,
        progress: Progress = silent,
    ) -> Path:
        """Write `data.csv` (or `data.parquet`), `release.json` and `report.html` to a new folder, and return where.

        The files are written aside, verified as written, and only then renamed into place: if anything fails, nothing is
        left behind. `force` replaces a release that is there already, and nothing else. `internal`: a file elsewhere, for
        the report that tells more than may be published; see `sf.report`. With `database`, the URI of PostgreSQL or SQLite,
        and `table`, the published rows also become a table there, in one transaction that is committed when the folder is in
        place. `expected`: the folder of a release, or its release.json, whose files these must equal byte for byte; if not,
        nothing is written.
        """
        return save(
            self,
            folder,
            force=force,
            format=format,
            internal=internal,
            database=database,
            table=table,
            expected=expected,
            progress=progress,
        )

    def __repr__(self) -> str:
        dropped = f", {count_of(self.suppressed, 'row')} suppressed" if self.suppressed else ""
        head = f"Release of {count_of(self.table.rows, 'row')} in {count_of(self.audit.groups.count, 'group')}"
        lines = [f"{head} by {self.method.name}, seed {self.seed}{dropped}: {self.audit.summary()}"]
        lines.append(f"  loss   {percent(self.loss)}")
        lines += [f"  note   {note}" for note in (*self.reading, *self.notes)]
        lines += [line for line in repr(self.audit).splitlines()[1:] if not line.startswith("  note ")]
        return "\n".join(lines)
