"""An anatomized release as an analyst uses it: the people, the secrets of their groups, and expected counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.analysis.conditions import Condition
from sfumato.analysis.released_column import ReleasedColumn
from sfumato.data.schema import Missing, Schema
from sfumato.data.table import Table, unknown_column
from sfumato.errors import ParameterError
from sfumato.plurals import count_of
from sfumato.releases.models import PublishedColumn
from sfumato.releases.reader import Manifest
from sfumato.verification.separated_files import SeparatedFiles, separated_files


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedAnatomy:
    """The tables of an anatomized release. Made by `sf.read_release`.

    >>> import tempfile
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "gout", "flu", "cold"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     anatomy = sf.anatomize(people, sf.Schema(["age"], ["ill"]), sf.DistinctLDiversity(2), seed=0)
    ...     read = sf.read_release(anatomy.save(f"{folder}/release"))
    >>> read
    <ReleasedAnatomy: 4 people in 2 groups; age exact; ill by group>
    >>> read.expected_count({"age": (30, 31)}), read.expected_count({"ill": "flu"})
    (2.0, 2.0)
    """

    people: pa.Table
    """The people: the number of a group, and the columns that are published as they are."""
    secrets: tuple[pa.Table, ...]
    """For each table of secrets the number of a group, the values, and how many people of the group have them."""
    group: str
    """The name of the group column."""
    count: str
    """The name of the column that counts people."""
    columns: tuple[Mapping[str, ReleasedColumn], ...]
    """The columns of the people, then those of each table of secrets."""
    group_of_row: tuple[NDArray[np.int64], ...]
    """For each row of each table, the people first, its group, from 0."""
    counts: tuple[NDArray[np.int64], ...]
    """For each row of each table how many people it stands for."""

    @classmethod
    def read(cls, manifest: Manifest) -> ReleasedAnatomy:
        """Read the files of a release; files that are not as stated are an error."""
        document = manifest.anatomized
        declared, _ = manifest.schema()
        files = separated_files(manifest, declared)
        tables = [_typed_people(files, declared)]
        for found, schema in zip(files.secrets, files.schemas, strict=True):
            plain = replace(schema, group=None, kinds={n: k for n, k in schema.kinds.items() if n != document.group})
            tables.append(Table(found.values, plain, untyped=files.people.untyped))
        columns = tuple(
            {name: ReleasedColumn.read(_as_it_is(name, table), table, declared) for name in table.data.column_names}
            for table in tables
        )
        groups = (files.groups.of_row, *(found.group for found in files.secrets))
        counts = (np.ones(document.rows, np.int64), *(found.counts for found in files.secrets))
        frames = [_frame(each, group, document.group) for each, group in zip(columns, groups, strict=True)]
        secrets = [
            frame.append_column(document.count, pa.array(count)) for frame, count in zip(frames[1:], counts[1:], strict=True)
        ]
        return cls(frames[0], tuple(secrets), document.group, document.count, columns, groups, counts)

    def __repr__(self) -> str:
        people = count_of(self.people.num_rows, "person", "people")
        exact = ", ".join(f"{name} exact" for name in self.columns[0])
        apart = "; ".join(", ".join(f"{name} by group" for name in columns) for columns in self.columns[1:])
        groups = count_of(int(self.group_of_row[0].max()) + 1, "group")
        return f"<ReleasedAnatomy: {people} in {groups}; {exact}; {apart}>"

    def expected_count(self, where: Mapping[str, Any]) -> float:
        """Return how many people are expected to satisfy all conditions.

        In each group the people with matching exact columns are counted, and multiplied by the share of matching secrets in
        each table, as in Xiao & Tao (2006a): within a group, secrets are assumed to be independent of exact columns and of
        the secrets of other tables. So a count over exact columns alone, or over one table of secrets, is exact.

        `where`: for each column a value, several as a list, or (low, high) for numbers, where None means no limit.
        """
        unknown = [name for name in where if not any(name in columns for columns in self.columns)]
        if unknown:
            raise unknown_column(unknown[0], [name for columns in self.columns for name in columns], None)
        if not where:
            raise ParameterError("no condition is given", remedy='Write one, such as {"age": (30, 39)}.', key="where")
        groups = int(self.group_of_row[0].max()) + 1
        sizes = np.bincount(self.group_of_row[0], minlength=groups)
        expected = np.ones(groups)
        for position, columns in enumerate(self.columns):
            rows = np.ones(len(self.group_of_row[position]), bool)
            for name, wanted in where.items():
                if name in columns:
                    rows &= _accepted(columns[name], wanted)
            matching = np.zeros(groups, np.int64)
            np.add.at(matching, self.group_of_row[position][rows], self.counts[position][rows])
            expected *= matching if position == 0 else matching / sizes
        return float(expected.sum())


def _typed_people(files: SeparatedFiles, declared: Schema) -> Table:
    """Return the table of people with the declared kinds of its quasi-identifiers, without the group."""
    mappings = ("kinds", "orders", "separators", "decimals", "formats", "timezones")
    names = [name for name in files.names if name in declared.quasi_identifiers and name not in declared.ages]
    stated: dict[str, Any] = {
        key: {name: value for name, value in getattr(declared, key).items() if name in names} for key in mappings
    }
    schema = Schema(other=files.names, missing=Missing(()), **stated)
    return Table(files.people.data.select(list(files.names)), schema, untyped=files.people.untyped)


def _as_it_is(name: str, table: Table) -> PublishedColumn:
    return PublishedColumn(name=name, role="other", kind=str(table.column(name).kind))


def _frame(columns: Mapping[str, ReleasedColumn], group_of_row: NDArray[np.int64], group: str) -> pa.Table:
    values = {name: values for column in columns.values() for name, values in column.values().items()}
    return pa.table({group: pa.array(group_of_row + 1), **values})


def _accepted(column: ReleasedColumn, wanted: Any) -> NDArray[np.bool_]:
    """Return which rows satisfy a condition on a column."""
    condition = Condition.of(column.name, wanted, column)
    if condition.ranged:
        low, high = condition.low, condition.high
        accepted = [
            cell.low is not None and (low is None or cell.low >= low) and (high is None or cell.low <= high)
            for cell in column.cells
        ]
    else:
        accepted = [(None if cell.missing else cell.text) in condition.values for cell in column.cells]
    return np.array(accepted, bool)[column.of_row]
