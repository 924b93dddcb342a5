"""What the checks need to know about rows that are on a cluster, counted by its executors; see `row_facts`.

The driver holds the distinct cells of each column, and adds up what executors count. No row passes through it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.audits.audit_result import Audit
from sfumato.audits.cluster_audit import audit_rows
from sfumato.data.column import Column
from sfumato.data.column_encoder import encode_cells
from sfumato.data.schema import Schema
from sfumato.data.table import Table, unknown_column
from sfumato.data.units import Units
from sfumato.io.cell_counts import LARGEST
from sfumato.principles import Principle
from sfumato.releases.cell_coverage import CellReader
from sfumato.spark.cluster_parts import opened
from sfumato.spark.coded_rows import CodedRows
from sfumato.spark.group_entries import Entries, changed_table
from sfumato.spark.tallies import LEFT_OUT, Tally, count_single_rows, return_entries, spread_tallies
from sfumato.verification.coverage_checks import Coverage, pair_limit
from sfumato.verification.executor_counts import (
    ORIGINAL,
    PUBLISHED,
    ClassCounts,
    ClassPlan,
    GroupValues,
    compare_classes,
    count_classes,
    count_group_values,
    find_mixed_group,
)
from sfumato.verification.original_checks import Cells, Codes, common_codes, refuse_unknown
from sfumato.verification.row_facts import (
    Pairs,
    UncountedError,
    constant_counts,
    is_text,
    published_texts,
    shared_numbers,
)


class ClusterTable(Table):
    """A table whose rows are on executors; its columns are encoded from their distinct cells when they are needed."""

    encode: Callable[[str], Column]

    @classmethod
    def of(cls, coded: CodedRows, schema: Schema, *, untyped: bool = False) -> ClusterTable:
        """Return the table of rows under a schema; `codes` of its columns are those of the distinct cells."""
        source = coded.source.source
        table = cls.elsewhere(coded.source.names, coded.rows, {}, schema, source)

        def encode(name: str) -> Column:
            if name not in coded.cells:
                raise unknown_column(name, coded.source.names, source)
            return encode_cells(coded.cells[name], coded.counts[name], name, schema, untyped=untyped, source=source)

        object.__setattr__(table, "encode", encode)
        assert isinstance(table, cls)
        return table

    def column(self, name: str) -> Column:
        """Return a column, encoded."""
        if name not in self._columns:
            self._columns[name] = self.encode(name)
        return self._columns[name]


class ClusterFacts:
    """What executors count in the rows of a published table. `untyped`: whether all cells are texts, as in a CSV."""

    def __init__(self, coded: CodedRows, schema: Schema, *, untyped: bool) -> None:
        self.coded, self.frames, self.untyped = coded, coded.frames, untyped
        self.table: Table = ClusterTable.of(coded, schema, untyped=untyped)
        self.group = str(schema.group)

    def texts(self, name: str) -> list[str | None]:
        """Return the distinct cells of a column as texts, in their order, null first."""
        return cells_of(self.coded, name).numbered(name)[0]

    def is_text(self, name: str) -> bool:
        """Return whether the cells of a column are texts."""
        return is_text(self.coded.cells[name].type)

    def mixed_group(self) -> int | None:
        """Return the first group whose rows publish different quasi-identifiers; None if there is none."""
        columns = [self._values(name) for name in (self.group, *self.table.schema.quasi_identifiers)]
        return min(self._counted(columns, 1, find_mixed_group, "compare the rows of each group"), default=None)

    def sizes(self) -> NDArray[np.int64]:
        """Return the number of rows of each group."""
        return self.table.column(self.group).counts

    def measured(self, principles: Sequence[Principle], units: Units | None) -> Audit:
        """Measure principles on the groups; people are never counted here."""
        assert units is None
        return audit_rows(self.frames, self.coded.source, self.table.schema, principles, untyped=self.untyped)

    def constant(self, names: Sequence[str]) -> dict[str, int]:
        """Count the groups, and their rows, in which all rows, or nearly all, have the same values of some columns."""
        columns = [self._values(name) for name in (self.group, *names)]
        parts: list[GroupValues] = self._counted(columns, 1, count_group_values, "count the values of each group")
        every = [np.repeat(np.stack([part.distinct, part.sizes, part.largest]), part.groups, axis=1) for part in parts]
        return constant_counts(*np.concatenate(every, axis=1))

    def unique_values(self, names: Sequence[str]) -> int:
        """Return the number of rows whose values of some sensitive columns no other row has."""
        return self._unique([self._values(name) for name in names])

    def unique_texts(self, names: Sequence[str], version: int, *, in_groups: bool = False) -> int:
        """Return the number of rows whose cells in some columns, as texts, no other row has, or none of its group."""
        columns = [self._values(self.group)] if in_groups else []
        for name in names:
            texts = published_texts(pa.chunked_array([self.coded.cells[name]]), name, version)
            encoded = texts.dictionary_encode(null_encoding="encode")
            columns.append((name, np.asarray(encoded.indices), len(encoded.dictionary)))
        return self._unique(columns)

    def _values(self, name: str) -> tuple[str, NDArray[Any], int]:
        """Return a column, the code of each of its cells, and the number of codes."""
        column = self.table.column(name)
        return name, column.codes, column.domain

    def _unique(self, columns: Sequence[tuple[str, NDArray[Any], int]]) -> int:
        """Return the number of rows that no other row equals in some columns, under some codes."""
        if len(columns) == 1:  # the driver knows how many rows each cell has
            name, codes, domain = columns[0]
            rows = np.zeros(domain, np.int64)
            np.add.at(rows, codes, self.coded.counts[name])
            return int((rows == 1).sum())
        found = self._counted(columns, len(columns), count_single_rows, "count equal rows")
        if sum(rows for _, rows in found) != self.coded.rows:
            raise changed_table(self.coded.source.source)
        return sum(single for single, _ in found)

    def _counted(self, columns: Sequence[tuple[str, NDArray[Any], int]], key: int, run: Any, purpose: str) -> list[Any]:
        """Return what executors count in rows that agree in the first columns, for each partition."""
        tally = tally_of(self.coded, columns, key)
        spread = self.frames.spread(self.frames.mapped(self.coded.entries, spread_tallies, (tally,)), self.coded.partitions)
        contents = self.frames.mapped(spread, run, tally.domains)
        return [opened(content) for _, content in self.frames.collected(contents, purpose)]


class ClusterComparison:
    """What executors count in the rows of a published table and its original together.

    `original`: the original under the schema that release.json declares.
    """

    def __init__(
        self, facts: ClusterFacts, coded: CodedRows, original: Table, unchanged: Sequence[str], version: int
    ) -> None:
        self.published, self.coded, self.frames = facts.coded, coded, coded.frames
        self.original, self.schema, self.unchanged = original, original.schema, tuple(unchanged)
        self.public = [name for name in facts.coded.names if name in original.schema.quasi_identifiers]
        refuse_unknown(unchanged, original)
        self.version = version

    def is_text(self, name: str) -> bool:
        """Return whether the cells of a column of the original are texts."""
        return is_text(self.coded.cells[name].type)

    def is_in_order(self) -> bool:
        """Raise an error: releases of the formats that need this are checked by the driver."""
        raise NotImplementedError

    @cached_property
    def _by_class(self) -> tuple[Any, ClassPlan]:
        """The entries of both tables, those of a class in one partition, and how many codes their columns have."""
        one, other = [], []
        for name in self.unchanged:
            here, there = cells_of(self.published, name), cells_of(self.coded, name)
            codes, values, domain = common_codes(here, there, name, self.schema, self.version)
            one.append((name, codes, domain))
            other.append((name, values, domain))
        for name in self.public:
            texts, number = cells_of(self.published, name).numbered(name)
            column = self.original.column(name)
            domain = max(len(texts), column.domain)
            one.append((name, number, domain))
            other.append((name, column.codes, domain))
        key, partitions = len(self.unchanged), max(self.published.partitions, self.coded.partitions)
        published = tally_of(self.published, one, key, PUBLISHED, partitions)
        original = tally_of(self.coded, other, key, ORIGINAL, partitions)
        contents = self.frames.mapped(self.published.entries, spread_tallies, (published,)).union(
            self.frames.mapped(self.coded.entries, spread_tallies, (original,))
        )
        return self.frames.kept(self.frames.spread(contents, partitions)), ClassPlan(published.domains, key)

    @cached_property
    def _classes(self) -> list[ClassCounts]:
        entries, plan = self._by_class
        contents = self.frames.mapped(entries, count_classes, plan)
        found = [opened(content) for _, content in self.frames.collected(contents, "match the rows with the original")]
        for which, coded in enumerate((self.published, self.coded)):
            if sum(part.rows[which] for part in found) != coded.rows:
                raise changed_table(coded.source.source)
        return found

    def surplus(self) -> tuple[int, int]:
        """Return how many published rows have no original, and how many original rows are not published."""
        return sum(part.extra for part in self._classes), sum(part.absent for part in self._classes)

    def coverage(self, recodings: Mapping[str, str], *, everyone: bool) -> tuple[Coverage, Sequence[CellReader]]:
        """Compare published cells with original values; see `cover_rows`."""
        readers = {name: self.reader(name, recoding) for name, recoding in recodings.items()}
        entries, plan = self._by_class
        pairs, place = np.unique(np.concatenate([part.pairs for part in self._classes]), return_inverse=True)
        classes = np.zeros(len(pairs), np.int64)
        np.add.at(classes, place, np.concatenate([part.classes for part in self._classes]))
        # the columns are in the order of the published table
        ordered = tuple(readers[name] for name in self.public)
        shared = ClassPlan(plan.domains, plan.unchanged, ordered, pair_limit(pairs, classes), everyone)
        contents = self.frames.mapped(entries, compare_classes, shared)
        found = [opened(content) for _, content in self.frames.collected(contents, "compare cells with the original")]
        return Coverage.joined(found), ordered

    def reader(self, name: str, recoding: str) -> CellReader:
        """Return the distinct cells of a quasi-identifier; in `together_published` a cell is its number there."""
        return CellReader(cells_of(self.published, name).numbered(name)[0], self.original.column(name), recoding)

    def cell_rows(self, name: str) -> NDArray[np.int64]:
        """Return the number of published rows of each cell of a quasi-identifier."""
        texts, number = cells_of(self.published, name).numbered(name)
        rows = np.zeros(len(texts), np.int64)
        np.add.at(rows, number, self.published.counts[name])
        return rows

    def together_original(self, value: str, name: str, least: int) -> Pairs:
        """Return for each value of an unchanged column which codes of a quasi-identifier original rows have with it."""
        if value not in self._original_pairs:
            self._original_pairs.clear()  # of one column at a time
            numbers = self._numbers(value)[1]
            rows = np.zeros(int(numbers.max()) + 1, np.int64)
            np.add.at(rows, numbers, self.coded.counts[value])
            kept = np.where(rows[numbers] >= least, numbers, LEFT_OUT)
            columns = {public: (public, self.original.column(public).codes) for public in self.public}
            self._original_pairs[value] = self._together(self.coded, (value, kept), columns)
        return self._original_pairs[value][name]

    @cached_property
    def _original_pairs(self) -> dict[str, dict[str, Pairs]]:
        return {}

    def together_published(self, value: str, name: str, values: Sequence[int]) -> Pairs:
        """Return for some values of an unchanged column which cells of a quasi-identifier published rows have with them."""
        numbers = self._numbers(value)[0]
        kept = np.where(np.isin(numbers, values), numbers, LEFT_OUT)
        cells = cells_of(self.published, name).numbered(name)[1]
        return self._together(self.published, (value, kept), {name: (name, cells)})[name]

    def _numbers(self, value: str) -> tuple[Codes, Codes]:
        return shared_numbers(cells_of(self.published, value), cells_of(self.coded, value), value, self.schema)

    def _together(
        self, coded: CodedRows, value: tuple[str, NDArray[Any]], others: Mapping[str, tuple[str, NDArray[Any]]]
    ) -> dict[str, Pairs]:
        """Return for each of some columns its values that occur with each of one column, and the rows."""
        first = (*value, int(value[1].max(initial=0)) + 1)
        widest = max(int(codes.max(initial=0)) + 1 for _, codes in others.values())
        tallies = tuple(
            tally_of(coded, [first, (name, codes, widest)], 2, label) for label, (name, codes) in enumerate(others.values())
        )
        spread = self.frames.spread(self.frames.mapped(coded.entries, spread_tallies, tallies), coded.partitions)
        contents = self.frames.mapped(spread, return_entries, tallies[0].domains)
        found: list[list[Entries]] = [[] for _ in others]
        taken = 0
        for label, content in self.frames.collected(contents, "count which values occur together"):
            entries = opened(content)
            taken += 3 * entries.rows.nbytes
            if taken > LARGEST:
                raise UncountedError(f"{value[0]!r} occurs with more values of other columns than fit into memory")
            found[label].append(entries)
        return {name: _joined(parts) for name, parts in zip(others, found, strict=True)}


def _joined(parts: Sequence[Entries]) -> Pairs:
    """Return the pairs of all partitions; each pair is in one of them."""
    if not parts:
        return Pairs(*(np.zeros(0, np.int64) for _ in range(3)))
    columns = zip(*((*part.codes, part.rows) for part in parts), strict=True)
    return Pairs.of(*map(np.concatenate, columns))


def cells_of(coded: CodedRows, name: str) -> Cells:
    """Return the distinct cells of a column."""
    cells = coded.cells[name]
    return Cells(cells, np.arange(len(cells)))


def tally_of(
    coded: CodedRows,
    columns: Sequence[tuple[str, NDArray[Any], int]],
    key: int,
    label: int = 0,
    partitions: int | None = None,
) -> Tally:
    """Return how the entries of rows are counted: some columns, each with the code of each cell and how many there are."""
    names, codes, domains = zip(*columns, strict=True)
    places = coded.places(names)
    return Tally(places, codes, domains, key, coded.partitions if partitions is None else partitions, label)
