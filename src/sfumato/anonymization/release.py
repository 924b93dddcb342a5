"""A grouped release: the published table, what holds in it, and, kept apart, what must not be published."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.coverage import Coverage, coverage_of
from sfumato.anonymization.database_rows import rows_in_database
from sfumato.anonymization.figures.figure_tables import internal_figures
from sfumato.anonymization.loss_bounds.published_bound import bound_text, published_bound
from sfumato.anonymization.methods import Method
from sfumato.anonymization.recoding import Recoding
from sfumato.anonymization.release_document import describe_release, published_loss
from sfumato.anonymization.republication.next_history import history_after
from sfumato.anonymization.revealing_columns import revealing_warnings
from sfumato.anonymization.unchanged_columns import unchanged_claim
from sfumato.anonymization.utility import Utility, certainty_penalty, mean_loss, percent, utility_of
from sfumato.audits.audit_result import Audit
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.io.read_spark import is_spark_frame
from sfumato.plurals import count_of
from sfumato.principles import Principle
from sfumato.progress import Progress, silent
from sfumato.registry import ATTACK_RUNNER, load
from sfumato.releases.expectations import Expectations
from sfumato.releases.exposure_models import ReleaseWarning, RevealingWarning, UnchangedClaim, exposure_notes
from sfumato.releases.models import AfterClaim, GroupedDocument
from sfumato.releases.predecessor import Predecessor
from sfumato.releases.private import Private, Publication
from sfumato.releases.row_key import key_text
from sfumato.releases.writer import InternalReport, TableData, write_release
from sfumato.reports.grouped_page import grouped_page
from sfumato.storage import Storage

_WARNINGS = 5
"""How many warnings the representation of a release shows."""


class PrivateRelease(Private):
    """What a release must not reveal; never written, printed or pickled."""

    seed: int
    """The seed of the method: with it, anybody could test guesses of secrets by running the method again."""
    original: Table
    """The table that was anonymized, with the rows that were suppressed."""
    kept: Table
    """The rows of the original that are published, in their order, then counterfeits."""
    kept_rows: NDArray[np.int64]
    """The numbers of those rows in the original, from 0; those of counterfeits follow the last row."""
    rows: NDArray[np.int64]
    """For each published row its number in the original, from 0; -1 for a counterfeit."""
    recoding: Recoding
    """How each group's quasi-identifiers are published, over the kept rows in their order."""
    notes: Sequence[str]
    """How the original was read and the groups were found; may name rows and cells."""
    make_frame: Callable[[], Any]
    """Makes `Release.frame`."""
    storage: Storage | None = None
    """Where large arrays are, if they are not in memory."""
    completed: Table | None = None
    """The original with counterfeits below its rows, if there are any."""
    follows: Predecessor | None = None
    """The release that this one follows, with the history of the people."""


@dataclass(frozen=True, eq=False, repr=False)
class Release(Publication):
    """What is published: `frame`, in the library that the data came in, and `audit`, what holds in it.

    In the frame, quasi-identifiers are texts that cover all values of their group, identifiers are gone, and everything
    else is as it was. The first column, `group` (`group_id` if the data has a column `group`), gives the group of each row.
    Group numbers and the order of the rows mean nothing.

    What must not be published is in `private`. A release that was pickled and loaded again has everything but that: its
    table, frame, audit, document and loss, but neither the utility against the original nor a way to save.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"name": ["Ann", "Bob", "Cy", "Di"], "age": [30, 31, 50, 51]})
    >>> release = sf.anonymize(people, sf.Schema(["age"], identifiers=["name"]), sf.KAnonymity(4))
    >>> release.frame.to_pylist()[0], release.loss
    ({'group': 1, 'age': '[30, 51]'}, 1.0)
    >>> release.private
    PrivateRelease(not for publication)
    """

    table: Table
    """The published table, encoded, with the schema under which it can be audited."""
    audit: Audit
    schema: Schema
    """The schema of the original, with the kind of each quasi-identifier and sensitive column stated."""
    principles: tuple[Principle, ...]
    method: Method
    resist: tuple[str, ...]
    """The attacks that the groups provably withstand; see `sf.anonymize`."""
    suppress: Fraction
    """The largest share of rows that was allowed to be suppressed."""
    suppressed: int
    """The number of rows that were suppressed."""
    recodings: Mapping[str, str]
    """How each quasi-identifier is published: "interval", "ancestor" or "set"."""
    levels: Mapping[str, int]
    """The level of the hierarchy at which each quasi-identifier is published, if all its cells are at one."""
    notes: Sequence[str]
    """What a reader of the release should know; written with it."""
    private: PrivateRelease
    """What must not be published."""
    after: AfterClaim | None = None
    """The release that this one follows; None for the first release of a table."""

    def __getstate__(self) -> dict[str, Any]:
        """Return what may be published; the frame and the document are made now, because they need the original."""
        state = {key: value for key, value in self.__dict__.items() if key not in ("private", "utility")}
        frame = self.frame
        if is_spark_frame(frame):  # it lives in its session
            frame = frame.toArrow()
        return {**state, "frame": frame, "document": self.document, "revealing": self.revealing, **self._losses}

    @property
    def _losses(self) -> dict[str, float | None]:
        """The losses as they are published."""
        utility = self.document.utility
        return {"loss": utility.loss.mean, "weighted_loss": utility.loss.ncp, "bound": utility.bound}

    @cached_property
    def frame(self) -> Any:
        """The published table in the library that the data came in, made when it is first requested."""
        return self.private.make_frame()

    @property
    def group(self) -> str:
        """The name of the group column."""
        return str(self.table.schema.group)

    @cached_property
    def loss(self) -> float:
        """The information loss, from 0 (nothing is recoded) to 1 (nothing is published); see `sf.anonymization.Loss`.

        Of a release that was pickled: the published figure, which is rounded if a hierarchy is built from intervals.
        """
        return mean_loss(self.private.recoding, self.suppressed)

    @cached_property
    def bound(self) -> float | None:
        """A loss that no grouping of the table falls below, if it satisfies the requirements, whatever the method.

        It is proven from the quasi-identifiers and the parameters alone, and stated in hundredths of the published loss, or
        coarser steps for few rows, so it may be published. `sf.anonymization.loss_bound` returns the exact bound, and uses
        the sensitive values too. None if it was not computed; see docs/loss-bound.md.

        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> people = pa.table({"age": [*range(0, 4000, 5)]})
        >>> release = sf.anonymize(people, sf.Schema(["age"]), sf.KAnonymity(2))
        >>> round(release.loss, 5), round(release.bound, 5)
        (0.00125, 0.00124)
        """
        if self.after is not None and self.after.counterfeits:  # rows that the original does not have
            return None
        original = self.private.original
        loss = published_loss(self.loss, self.schema, original.rows)
        return published_bound(original, self.principles, self.suppress, self.recodings, loss)

    @cached_property
    def coverage(self) -> Coverage:
        """How the requirements cover the sensitive attributes, counted in the published table."""
        return coverage_of(self.table, self.audit.groups, self.principles)

    @cached_property
    def revealing(self) -> tuple[RevealingWarning, ...]:
        """The published columns that undo the recoding of a quasi-identifier, counted in the original."""
        private = self.private
        return revealing_warnings(private.original, private.kept_rows, private.recoding, private.completed)

    @property
    def warnings(self) -> tuple[ReleaseWarning, ...]:
        """What a reader must be warned of.

        Sensitive attributes that no requirement covers and nobody accepted as such, and published columns that undo the
        recoding of a quasi-identifier.

        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "flu", "cold", "flu"]})
        >>> sf.anonymize(people, sf.Schema(["age"], ["ill"]), sf.KAnonymity(2)).warnings[0].constant_groups
        1
        """
        return (*self.coverage.warnings, *self.revealing)

    @cached_property
    def unchanged(self) -> UnchangedClaim | None:
        """How many rows the columns that are published unchanged single out; None if there are no such columns."""
        return unchanged_claim(self.table.data.drop_columns([self.group]), self.schema, self.audit.groups.of_row)

    @property
    def exposure(self) -> list[str]:
        """In words, what the table exposes beyond its principles, other than the warnings."""
        units = self.audit.units
        counted = None if units is None else units.plural
        return exposure_notes(self.warnings, self.coverage.claim, self.unchanged, self.table.rows, counted)

    @cached_property
    def weighted_loss(self) -> float:
        """The loss in which each quasi-identifier counts by its weight; `loss` if the schema declares no weights."""
        return certainty_penalty(self.private.recoding, self.schema.weights, self.suppressed)

    @cached_property
    def utility(self) -> Utility:
        """The utility of the release, measured against the original; the queries are drawn by a public seed.

        This is for the publisher. release.json contains no query errors, and distances of marginals in two decimals: exact
        figures about the original would let a reader check guesses about who has which value.
        """
        sizes = [k for principle in self.principles if (k := principle.implied_k) is not None]
        private = self.private
        return utility_of(
            private.kept,
            private.recoding,
            max(sizes, default=None),
            self.suppressed,
            weights=self.schema.weights,
        )

    @cached_property
    def document(self) -> GroupedDocument:
        """What release.json states, without the files."""
        return GroupedDocument.of(describe_release(self))

    def to_dict(self) -> dict[str, Any]:
        """Return what release.json states, without the files, as plain data."""
        return {key: value for key, value in self.document.to_dict().items() if key != "files"}

    def save(
        self,
        folder: str | Path,
        *,
        force: bool = False,
        format: str = "csv",  # noqa: A002
        internal: str | Path | None = None,
        key: str | Path | None = None,
        database: str | None = None,
        table: str | None = None,
        expected: str | Path | None = None,
        progress: Progress = silent,
    ) -> Path:
        """Write `data.csv` (or `data.parquet`), `release.json` and `report.html` to a new folder, and return the folder.

        The files are written aside, verified as written, and only then renamed into place: if anything fails before that,
        nothing is left behind. `force` replaces a release that is there already, and nothing else. `internal`: a file
        elsewhere, for the report that contains more than may be published; see `sf.report`. `key`: a file elsewhere, for
        the private key: the seed, with which `sf.replay` repeats the release; whose row each published row is, with
        which `sf.verify` can count people again; and, if one identifier tells people apart, what the next version of the
        table needs to follow this release. `expected`: the folder of a release, or its
        release.json, whose files these must equal byte by byte; otherwise nothing is written.

        With `database`, the URI of PostgreSQL or SQLite, and `table`, the published rows also become a table there, in one
        transaction that is committed when the folder is in place. If that commit fails, the error is raised, the database
        is unchanged and the internal report is not written, but the new folder stays.
        """
        original = self.private.original  # first, because the error about a pickle names it
        with nullcontext() if self.private.storage is None else self.private.storage.active():
            return write_release(
                GroupedDocument,
                lambda: self.document,
                [self.table_data],
                folder,
                original=original,
                expected=Expectations(
                    self.schema,
                    self.principles,
                    rows=self.private.rows,
                    suppress=self.suppress,
                    after=self.private.follows,
                    figures=False,
                ),
                format=format,
                force=force,
                internal=None if internal is None else InternalReport(internal, self._internal_page),
                key=None if key is None else InternalReport(key, self._key_text, "writing the key"),
                database=rows_in_database(self.table, self.schema, database, table, force),
                replayed=expected,
                progress=progress,
            )

    @property
    def table_data(self) -> TableData:
        """The published table as it is written to a file."""
        separators = {name: self.schema.separators.get(name, ";") for name in self.schema.sensitive_columns()}
        recoded = {self.group, *self.schema.quasi_identifiers}
        unchanged = [name for name in self.table.data.column_names if name not in recoded]
        return TableData(self.table.data, separators, unchanged)

    def _key_text(self, document: GroupedDocument) -> str:
        private = self.private
        earlier = None if private.follows is None else private.follows.history
        history = history_after(private.original, self.table, private.rows, self.schema, private.seed, earlier)
        return key_text(document, private.seed, private.rows, history)

    def _internal_page(self, document: GroupedDocument) -> str:
        attacks = load(ATTACK_RUNNER)(self).to_dict()
        original, notes = self.private.original, self.private.notes
        figures = internal_figures(original, self.audit, self.recodings, notes=notes, attacks=attacks)
        return grouped_page(document, figures)

    def __repr__(self) -> str:
        suppressed = f", {count_of(self.suppressed, 'row')} suppressed" if self.suppressed else ""
        units = self.audit.units
        people = "" if units is None else f" of {units.total:,} {units.plural}"
        head = f"Release of {count_of(self.table.rows, 'row')}{people} in {count_of(self.audit.groups.count, 'group')}"
        lines = [f"{head} by {self.method.name}{suppressed}: {self.audit.summary()}"]
        rows = self.table.rows + self.suppressed
        weighted = (
            f" ({percent(published_loss(self.weighted_loss, self.schema, rows))} weighted)" if self.schema.weights else ""
        )
        bound = "" if not self.bound else f"; {bound_text(self.bound)}"
        lines.append(f"  loss   {percent(published_loss(self.loss, self.schema, rows))}{weighted}{bound}")
        lines += [f"  WARNING  {warning.text}" for warning in self.warnings[:_WARNINGS]]
        if len(self.warnings) > _WARNINGS:
            lines.append(f"  WARNING  and {count_of(len(self.warnings) - _WARNINGS, 'more warning')}: see `warnings`")
        lines += [f"  note   {note}" for note in (*self.notes, *self.exposure)]
        lines += [line for line in repr(self.audit).splitlines()[1:] if not line.startswith("  note ")]
        return "\n".join(lines)
