"""The two tables that a verification compares, on a cluster: executors read them, and the driver holds no rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from sfumato.data.schema import Missing, Schema
from sfumato.data.table import Table
from sfumato.errors import ColumnError, SfumatoError
from sfumato.io.read_spark import is_spark_frame
from sfumato.io.shuffle import ranks_of
from sfumato.principles import Principle
from sfumato.releases.digests import digest
from sfumato.releases.models import SECRET_SINCE, Document
from sfumato.releases.reader import TableManifest
from sfumato.releases.table_files import marked_schema, published_schema
from sfumato.seeds import PUBLIC_SEED
from sfumato.spark.cluster_frames import ClusterFrames
from sfumato.spark.cluster_parts import opened
from sfumato.spark.coded_rows import CodedRows
from sfumato.spark.frame_measurement import uncounted_type, unmeasured_reason
from sfumato.spark.group_entries import changed_table
from sfumato.spark.row_sources import FrameRows, RowSource
from sfumato.spark.tallies import Tally, spread_tallies
from sfumato.verification.checks import Check
from sfumato.verification.cluster_facts import ClusterComparison, ClusterFacts, ClusterTable
from sfumato.verification.compared_tables import (
    NO_FILE,
    NO_ROW_ORDER,
    PUBLISHED_FRAME,
    not_the_original,
    refuse_published,
)
from sfumato.verification.executor_order import OrderPlan, check_groups, check_rows, spread_groups, spread_rows
from sfumato.verification.order_checks import NOT_FROM_ONE, ORDER_HOLDS, OTHER_NUMBERS, OTHER_ROWS, numbered_from_one
from sfumato.verification.published_file import DataFile, PublishedFile, UnreadFileError


class ClusterTables:
    """A published table and its original, if there is one, whose rows executors read.

    `declared`: the schema of the original. `published`: the published rows; without them, executors read the data file,
    which they must see under the same name.
    """

    has_rows = False

    def __init__(
        self,
        frames: ClusterFrames,
        manifest: TableManifest,
        declared: Schema,
        original: RowSource | None,
        published: RowSource | None = None,
    ) -> None:
        self.frames, self.manifest, self.declared = frames, manifest, declared
        self.source, self.has_original, self.published = original, original is not None, published
        self.schema = marked_schema(declared, manifest)

    @cached_property
    def rows(self) -> RowSource:
        """The published rows."""
        if self.published is not None:
            return self.published
        return PublishedFile.opened(self.frames, DataFile(self.manifest, self.schema, digest(self.manifest.data)))

    @cached_property
    def facts(self) -> ClusterFacts:
        """What is counted in the published rows; an error if they are not what release.json states."""
        untyped = isinstance(self.rows, PublishedFile) and self.rows.file.is_csv
        return ClusterFacts(CodedRows(self.frames, self.rows, self.rows.names), self.schema, untyped=untyped)

    @cached_property
    def _coded(self) -> CodedRows:
        """The columns of the original that are published."""
        assert self.source is not None
        here = set(self.facts.coded.names)
        return CodedRows(self.frames, self.source, [name for name in self.source.names if name in here])

    @cached_property
    def original(self) -> Table:
        """The original, as release.json declares it; an error if it is a published table."""
        # the policy for missing values was applied when the release was made
        relaxed = replace(self.declared, missing=Missing(self.declared.missing.values))
        try:
            table = ClusterTable.of(self._coded, relaxed)
        except ColumnError as error:
            raise not_the_original(error) from error
        refuse_published(table, self.manifest.document.group)
        return table

    def original_under(self, schema: Schema) -> Table:
        """Return the original under a schema of the caller."""
        return ClusterTable.of(self._coded, schema)

    def compared(self, unchanged: Sequence[str]) -> ClusterComparison:
        """Match the rows of both tables by the columns that are published unchanged."""
        return ClusterComparison(self.facts, self._coded, self.original, unchanged, self.manifest.format)

    def checked_ahead(self, document: Document) -> AbstractContextManager[None]:
        """Make no check ahead: the executors have enough to do."""
        del document
        return nullcontext()

    def order_check(self) -> Check:
        """Check that rows and groups are in the public order."""
        if not numbered_from_one(self.facts.table.column(str(self.schema.group))):
            return Check("order", False, NOT_FROM_ONE)
        plan = self._order_plan()
        if not self._groups_ascend(plan):
            return Check("order", False, OTHER_NUMBERS)
        if not isinstance(self.rows, PublishedFile):
            return Check("order", None, NO_ROW_ORDER)
        positioned = self.rows.with_row_positions()
        names = self.facts.coded.names
        spread = self.frames.spread(positioned.mapped(self.frames, names, spread_rows, plan), plan.partitions)
        contents = self.frames.mapped(spread, check_rows, plan)
        found = [opened(content) for _, content in self.frames.collected(contents, "check the order of the rows")]
        if sum(rows for rows, _, _ in found) != self.facts.coded.rows:
            raise changed_table(self.rows.source)
        if any(elsewhere for _, elsewhere, _ in found):
            return Check("order", False, OTHER_NUMBERS)
        if any(others for _, _, others in found):
            return Check("order", False, OTHER_ROWS)
        return Check("order", True, ORDER_HOLDS)

    def _order_plan(self) -> OrderPlan:
        coded, group = self.facts.coded, str(self.schema.group)
        separators = {name: self.schema.separators.get(name, ";") for name in self.schema.sensitive_columns()}
        column = self.facts.table.column(group)
        ranks, domains = [(coded.names.index(group), column.codes.astype(np.int64))], [column.size]
        further = []
        for place, name in enumerate(coded.names):
            if name == group:
                continue
            own = ranks_of(coded.cells[name], name, separators)
            ranks.append((place, own.as_text[own.of_row].astype(np.int64)))
            domains.append(int(own.as_text.max(initial=0)) + 1)
            if not own.texts_differ:
                further.append(((place, own.of_row.astype(np.int64)), own.domain))
        offsets = np.concatenate([[0], np.cumsum(column.counts)])
        return OrderPlan(
            coded.plan.columns,
            (*ranks, *(rank for rank, _ in further)),
            (*domains, *(domain for _, domain in further)),
            offsets,
            PUBLIC_SEED,
            coded.partitions,
            len(ranks) - 1,
        )

    def _groups_ascend(self, plan: OrderPlan) -> bool:
        """Return whether the contents of the groups ascend in the order that their numbers stand for."""
        places, codes = zip(*plan.ranks, strict=True)
        tally = Tally(places, codes, plan.domains, 1, plan.partitions)
        entries = self.frames.mapped(self.facts.coded.entries, spread_tallies, (tally,))
        keys = self.frames.mapped(self.frames.spread(entries, plan.partitions), spread_groups, plan)
        contents = self.frames.mapped(self.frames.spread(keys, plan.partitions), check_groups, None)
        found = sorted(opened(content) for _, content in self.frames.collected(contents, "check the numbers of groups"))
        ends = [(first, last) for _, _, first, last in found]
        between = all(one[1] <= other[0] for one, other in pairwise(ends))
        return between and all(ascending for _, ascending, _, _ in found)

    def form_check(self, document: Document) -> Check:
        """Check that the data file is what this version writes for its content; `document`: of the whole release."""
        if not isinstance(self.rows, PublishedFile):
            return Check("form", None, NO_FILE)
        return self.rows.form_check(self.frames, document)


def opened_cluster_tables(
    frames: ClusterFrames, manifest: TableManifest, declared: Schema, original: Any, published: Any
) -> ClusterTables | str:
    """Return both tables on a cluster; in place of them, why executors cannot read the published one."""
    rows = None if original is None else FrameRows(original, None)
    tables = ClusterTables(
        frames, manifest, declared, rows, None if published is None else FrameRows(published, PUBLISHED_FRAME)
    )
    try:
        _ = tables.rows
    except UnreadFileError as error:
        return error.problem
    except SfumatoError:
        pass  # the checks report what is wrong with the file
    return tables


def cluster_reason(
    manifest: TableManifest, declared: Schema, requested: Sequence[Principle], original: Any, published: Any, key: Any
) -> str | None:
    """Return why executors cannot verify a release, so that the driver must; None if they can."""
    return next(_reasons(manifest, declared, requested, original, published, key), None)


def _reasons(
    manifest: TableManifest, declared: Schema, requested: Sequence[Principle], original: Any, published: Any, key: Any
) -> Iterator[str]:
    if manifest.format < SECRET_SINCE:
        yield f"the release has format {manifest.format}"
    if key is not None:
        yield "a key maps the rows of one table to those of the other"
    if original is not None and not is_spark_frame(original):
        yield "the original is not a table of Spark"
    if declared.person_id is not None or declared.household_id is not None:
        yield "the rows of a person may be in several groups"
    if declared.ages:
        yield "dates are replaced by ages"
    schema = published_schema(declared, manifest.document.group)
    yield from filter(None, [unmeasured_reason(schema, requested)])
    if original is not None:
        yield from filter(None, [uncounted_type(original, {column.name for column in manifest.document.columns})])
    if published is not None:
        yield from filter(None, [uncounted_type(published, published.columns)])
