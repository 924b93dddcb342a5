"""An anatomy: people with exact quasi-identifiers and the number of a group, and the secrets of each group apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.anatomy.anatomy_document import describe_anatomy
from sfumato.anatomy.anatomy_page import internal_page
from sfumato.anatomy.anatomy_queries import CountErrorComparison, anatomy_errors
from sfumato.anonymization.coverage import Coverage, coverage_of
from sfumato.anonymization.methods import Method
from sfumato.anonymization.release import Release
from sfumato.anonymization.utility.count_queries import query_errors
from sfumato.anonymization.utility.workload import Workload, queried_columns
from sfumato.audits.audit_result import Audit
from sfumato.data.schema import Schema
from sfumato.exact import Number
from sfumato.plurals import count_of
from sfumato.principles import Principle
from sfumato.progress import Progress, silent
from sfumato.registry import ATTACK_RUNNER, load
from sfumato.releases.anatomy_tables import text_ranks
from sfumato.releases.expectations import Expectations
from sfumato.releases.exposure_models import UncoveredWarning, share_text
from sfumato.releases.models import AnatomizedDocument
from sfumato.releases.private import Private, Publication
from sfumato.releases.row_key import key_text
from sfumato.releases.writer import InternalReport, TableData, write_release

_QUERIES, _QUASI, _SECRET = 1000, 3, 2
"""The queries of the comparison of errors, and how many quasi-identifiers and sensitive columns each has at most."""


class PrivateAnatomy(Private):
    """What an anatomy must not reveal; never written, printed or pickled."""

    release: Release
    """The same groups with generalized cells, as `sf.anonymize` makes them. It must not be published beside the anatomy: its
    rows show which secrets belong together."""
    rows: NDArray[np.int64]
    """For each published person the row in the original, from 0."""
    notes: Sequence[str]
    """How the original was read and the groups were found; may name rows and cells."""


@dataclass(frozen=True, eq=False, repr=False)
class Anatomy(Publication):
    """What is published: `people`, with exact quasi-identifiers and the number of a group, and `secrets`, group by group.

    Everybody who is in the table can be recognized. What is protected is which secret of a group is whose.

    `people` has a row for each person. Each table of `secrets` has a row for each secret of each group, and how many people
    of the group have it. Group numbers and orders depend on nothing but what is published. What must not be published is
    in `private`.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "gout", "flu", "cold"]})
    >>> anatomy = sf.anatomize(people, sf.Schema(["age"], ["ill"]), sf.DistinctLDiversity(2), seed=0)
    >>> sorted(anatomy.people["age"].to_pylist()), anatomy.secrets[0].column_names
    ([30, 31, 50, 51], ['group', 'ill', 'count'])
    """

    people: pa.Table
    """The people: the group column, the quasi-identifiers, and the other columns."""
    secrets: tuple[pa.Table, ...]
    """For each table of the plan the secrets of the groups: the group column, the values, and how many people have them."""
    plan: tuple[tuple[str, ...], ...]
    """The sensitive attributes of each table of secrets."""
    group: str
    """The name of the group column."""
    count: str
    """The name of the column that counts people."""
    audits: tuple[Audit, ...]
    """For each table of secrets its principles, measured."""
    schema: Schema
    """The schema of the original, with the kind of each quasi-identifier and sensitive column stated."""
    principles: tuple[Principle, ...]
    method: Method
    suppress: Fraction
    """The largest share of rows that was allowed to be suppressed."""
    suppressed: int
    """The number of rows that were suppressed."""
    notes: Sequence[str]
    """What a reader of the release should know; written with it."""
    private: PrivateAnatomy
    """What must not be published."""

    def __getstate__(self) -> dict[str, Any]:
        """Return what may be published; the document is made now, because it needs the original."""
        state = {key: value for key, value in self.__dict__.items() if key != "private"}
        return {**state, "document": self.document}

    @property
    def holds(self) -> bool:
        """Whether every principle holds."""
        return all(audit.holds for audit in self.audits)

    @cached_property
    def coverage(self) -> tuple[Coverage, ...]:
        """For each table of secrets how the requirements cover its attributes."""
        return tuple(
            coverage_of(audit.table, audit.groups, [principle for principle, _ in audit.principles]) for audit in self.audits
        )

    @property
    def warnings(self) -> tuple[UncoveredWarning, ...]:
        """What a reader must be warned of: sensitive attributes that no requirement covers and nobody accepted as such."""
        return tuple(warning for coverage in self.coverage for warning in coverage.warnings)

    @cached_property
    def alone(self) -> int:
        """How many people have quasi-identifiers and other columns, taken together, that nobody else has."""
        return int((np.bincount(text_ranks(self.people.drop_columns([self.group]), self._separators)) == 1).sum())

    def count_errors(self, workload: Workload | None = None, bound: Number | None = None) -> CountErrorComparison:
        """Return the errors of counts from the anatomy, and of the same counts from cells of the same groups; private.

        `workload`: by default 1,000 random queries over three quasi-identifiers and two sensitive columns, or as many as
        there are. `bound`: as for `sf.anonymization.query_errors`.

        >>> import sfumato as sf
        >>> people = sf.synthetic_census(rows=2000, seed=1)
        >>> schema = sf.Schema(["age", "sex", "race"], ["income"])
        >>> anatomy = sf.anatomize(people, schema, sf.FrequencyLDiversity(4), seed=0)
        >>> errors = anatomy.count_errors()
        >>> errors.anatomy.median < errors.generalized.median
        True
        """
        table, recoding = self.private.release.private.kept, self.private.release.private.recoding
        if workload is None:
            quasi, secret = (sum(domain.size > 0 for domain in domains) for domains in queried_columns(table))
            workload = Workload.random(table, _QUERIES, min(_QUASI, quasi), min(_SECRET, secret))
        columns = [[column for name in block for column in self.schema.components(name)] for block in self.plan]
        return CountErrorComparison(
            anatomy_errors(recoding.groups, columns, workload, bound), query_errors(recoding, workload, bound)
        )

    @cached_property
    def document(self) -> AnatomizedDocument:
        """What release.json states, without the files."""
        return AnatomizedDocument.of(describe_anatomy(self))

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
        progress: Progress = silent,
    ) -> Path:
        """Write `people.csv`, `table_1.csv` and so on (or `.parquet`), `release.json` and `report.html`; return the folder.

        The files are written aside, verified as written, and only then renamed into place: if anything fails before that,
        nothing is left behind. `force` replaces a release that is there already, and nothing else.
        `internal`: a file elsewhere, for the report that must not be published: what attackers achieve, and the errors of
        counts. `key`: a file elsewhere, for the private key: the seed, with which `sf.anatomize` makes the same tables
        again, and whose row each published person is, with which `sf.verify` can check each person's group.
        """
        return write_release(
            AnatomizedDocument,
            lambda: self.document,
            self._table_data,
            folder,
            original=self.private.release.private.original,
            expected=Expectations(self.schema, self.principles, rows=self.private.rows, suppress=self.suppress),
            format=format,
            force=force,
            internal=None if internal is None else InternalReport(internal, self._internal_page),
            key=None if key is None else InternalReport(key, self._key_text, "writing the key"),
            progress=progress,
        )

    @property
    def _separators(self) -> Mapping[str, str]:
        names = (*self.schema.quasi_identifiers, *self.schema.sensitive_columns())
        return {name: self.schema.separators.get(name, ";") for name in names}

    @property
    def _table_data(self) -> list[TableData]:
        """The tables as they are written to files."""

        def written(table: pa.Table) -> TableData:
            return TableData(table, self._separators, [n for n in table.column_names if n not in (self.group, self.count)])

        return [written(self.people), *map(written, self.secrets)]

    def _key_text(self, document: AnatomizedDocument) -> str:
        return key_text(document, self.private.release.private.seed, self.private.rows)

    def _internal_page(self, document: AnatomizedDocument) -> str:
        attacks = load(ATTACK_RUNNER)(self).to_dict()
        return internal_page(
            document, {"errors": self.count_errors().to_dict(), "attacks": attacks, "notes": self.private.notes}
        )

    def __repr__(self) -> str:
        groups = count_of(self.audits[0].groups.count, "group")
        suppressed = f", {count_of(self.suppressed, 'row')} suppressed" if self.suppressed else ""
        people = count_of(self.people.num_rows, "person", "people")
        lines = [f"Anatomy of {people} in {groups} by {self.method.name}{suppressed}"]
        lines += [f"  WARNING  {warning.text}" for warning in self.warnings]
        lines += [f"  note   {note}" for note in self.notes]
        lines.append(f"  alone  {share_text(self.alone, self.people.num_rows, 'person', 'people')} with all that is exact")
        for block, audit in zip(self.plan, self.audits, strict=True):
            lines.append(f"  {', '.join(block)}: {audit.summary()}")
            lines += [line for line in repr(audit).splitlines()[1:] if not line.startswith("  note ")]
        return "\n".join(lines)
