"""The two tables that a verification compares, in this process: read when they are needed, and once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import cached_property, partial
from threading import Lock
from typing import Any, Protocol

from sfumato._audit import table_of
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import ColumnError, FileError
from sfumato.releases.models import Document
from sfumato.releases.reader import TableManifest
from sfumato.releases.table_files import (
    marked_schema,
    original_table,
    published_schema,
    published_table,
    stated_recodings,
)
from sfumato.verification.checks import Check
from sfumato.verification.form_checks import data_form_check
from sfumato.verification.order_checks import order_check, order_seed
from sfumato.verification.row_facts import Comparison, LocalComparison, LocalFacts, RowFacts
from sfumato.workers import meanwhile

NO_ROW_ORDER = "not checked: a table of Spark has no order of rows; its groups are numbered in the public order"
NO_ORDER_HERE = "not checked: a table of Spark has no order of rows"
NO_FILE = "not checked: the rows that were checked are those of a table of Spark, not those of the data file"

PUBLISHED_FRAME = "the published rows"
"""The name of a frame of Spark with the published rows, for errors."""


class ComparedTables(Protocol):
    """A published table and its original, wherever their rows are."""

    has_original: bool
    has_rows: bool
    """Whether the rows of both tables are in this process."""

    @property
    def facts(self) -> RowFacts:
        """What is counted in the published rows."""

    @property
    def original(self) -> Table:
        """The original, as release.json declares it."""

    def original_under(self, schema: Schema) -> Table:
        """Return the original under a schema of the caller."""

    def compared(self, unchanged: Sequence[str]) -> Comparison:
        """Match the rows of both tables by the columns that are published unchanged."""

    def checked_ahead(self, document: Document) -> AbstractContextManager[None]:
        """Make the checks of order and form beside the others meanwhile, where there is a thread for it."""

    def order_check(self) -> Check:
        """Check that rows and groups are in the public order."""

    def form_check(self, document: Document) -> Check:
        """Check that the data file is what this version writes for its content; `document`: of the whole release."""


class LocalTables:
    """A published table and its original, if there is one, whose rows are in this process.

    `declared`: the schema of the original. `published`: a frame of Spark with the published rows, which is collected and
    checked in place of the data file.
    """

    has_rows = True

    def __init__(self, manifest: TableManifest, declared: Schema, original: Any = None, published: Any = None) -> None:
        self.manifest, self.declared, self.source = manifest, declared, original
        self.has_original, self.published = original is not None, published
        self._reading = Lock()
        self._facts: LocalFacts | None = None
        self._ahead: dict[str, Callable[[], Check]] = {}

    @property
    def facts(self) -> LocalFacts:
        """What is counted in the published rows; an error if the file is not what release.json states."""
        with self._reading:  # a thread that checks ahead needs them too
            if self._facts is None:
                self._facts = self._read_facts()
            return self._facts

    def _read_facts(self) -> LocalFacts:
        if self.published is None:
            schema = published_schema(self.declared, self.manifest.document.group, stated_recodings(self.manifest))
            return LocalFacts(published_table(self.manifest, schema))
        table = table_of(self.published, marked_schema(self.declared, self.manifest))
        return LocalFacts(replace(table, source=PUBLISHED_FRAME))

    @cached_property
    def original(self) -> Table:
        """The original, as release.json declares it; an error if it is a published table."""
        try:
            table = original_table(self.manifest, self.source, self.declared)
        except ColumnError as error:
            raise not_the_original(error) from error
        refuse_published(table, self.manifest.document.group)
        return table

    def original_under(self, schema: Schema) -> Table:
        """Return the original under a schema of the caller."""
        return table_of(self.source, schema)

    def compared(self, unchanged: Sequence[str]) -> LocalComparison:
        """Match the rows of both tables by the columns that are published unchanged."""
        return LocalComparison(self.facts.table.data, self.original, unchanged, self.declared, self.manifest.format)

    @contextmanager
    def checked_ahead(self, document: Document) -> Iterator[None]:
        """Make the checks of order and form beside the others meanwhile, where there is a thread for it.

        They need the published rows only. They count, and their errors are raised, only if they are requested.
        """
        with meanwhile(self._order_check, partial(self._form_check, document)) as (order, form):
            self._ahead = {"order": order, "form": form}
            try:
                yield
            finally:
                self._ahead = {}

    def order_check(self) -> Check:
        """Check that rows and groups are in the public order."""
        return self._ahead.get("order", self._order_check)()

    def _order_check(self) -> Check:
        if self.published is not None:
            return Check("order", None, NO_ORDER_HERE)
        seed = order_seed(self.manifest.document.seed, self.manifest.format)
        return order_check(self.facts.table, seed, self.manifest.format)

    def form_check(self, document: Document) -> Check:
        """Check that the data file is what this version writes for its content; `document`: of the whole release."""
        return self._ahead.get("form", partial(self._form_check, document))()

    def _form_check(self, document: Document) -> Check:
        if self.published is not None:
            return Check("form", None, NO_FILE)
        return table_form_check(self.manifest, document, self.facts.table)


def table_form_check(manifest: TableManifest, document: Document, published: Table) -> Check:
    """Check that the file of a table is what this version writes for its content; `document`: of the whole release."""
    schema = published.schema
    separators = {name: schema.separators.get(name, ";") for name in schema.sensitive_columns()}
    recoded = {str(schema.group), *schema.quasi_identifiers}
    unchanged = [name for name in published.data.column_names if name not in recoded]
    return data_form_check(manifest.data, document, published.data, separators, unchanged)


def reader_of(original: Any) -> Callable[[Schema], Table] | None:
    """Return a function that returns an original under a schema; None if there is no original."""
    return None if original is None else partial(table_of, original)


_REMEDY = "Pass the table that the release was made from"


def not_the_original(error: ColumnError) -> ColumnError:
    """Return the error for an original that lacks a column: it may be a published table, which has no identifiers."""
    remedy = f"{_REMEDY}, not a published table. {error.remedy}"
    return ColumnError(error.problem, remedy=remedy, file=error.file, column=error.column)


def refuse_published(table: Table, group: str) -> None:
    """Raise an error if an original has the group column, whose name was chosen so that the original has no such column."""
    if group in table.data.column_names:
        problem = f"this is not the original but a published table: it has the column {group!r}"
        raise FileError(problem, remedy=f"{_REMEDY}.", file=table.source)
