"""Separate the secrets of people from their quasi-identifiers: from the groups of a release to the tables of an anatomy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato._audit import audit_table
from sfumato.anonymization.published_table import GROUP, compact_column, free_name, unchanged_column
from sfumato.anonymization.release import Release
from sfumato.audits.audit_result import Audit
from sfumato.principles.scope import table_principles
from sfumato.releases.anatomy_tables import SecretCounts, public_order, secrets_schema
from sfumato.releases.private import Private

COUNT = "count"
"""The name of the column that counts people, if the data has no column of that name."""


class SeparatedTables(Private):
    """The tables of an anatomy, and whose row each row of the table of people is."""

    people: pa.Table
    secrets: tuple[pa.Table, ...]
    group: str
    count: str
    audits: tuple[Audit, ...]
    """For each table of secrets its principles, measured."""
    of_row: NDArray[np.int64]
    """For each published person the row among those that the release of the groups published, in their order."""


def separated(release: Release, plan: Sequence[Sequence[str]]) -> SeparatedTables:
    """Return the tables of the groups of a release; `plan`: the sensitive attributes of each table of secrets."""
    table, schema, groups = release.private.kept, release.schema, release.private.recoding.groups
    separators = {name: schema.separators.get(name, ";") for name in table.data.column_names}
    secret = set(schema.sensitive_columns())
    names = [name for name in schema.published_columns(table.data.column_names) if name not in secret]
    people = _columns(release, names)
    group = free_name(GROUP, table.data.column_names)
    count = free_name(COUNT, table.data.column_names)
    values = [_columns(release, [column for name in block for column in schema.components(name)]) for block in plan]
    unnumbered = [SecretCounts.of(each, groups.of_row, separators) for each in values]
    rows, number = public_order(people, groups, unnumbered, separators)
    of_row = number[groups.of_row]
    counted = [SecretCounts.of(each, of_row - 1, separators) for each in values]
    people = people.add_column(0, group, pa.array(of_row, pa.int64())).take(pa.array(rows))
    principles = table_principles(release.principles, schema, plan)
    audits = [
        audit_table(each.by_person(secrets_schema(schema, block, group), group, untyped=table.untyped), requested)
        for each, block, requested in zip(counted, plan, principles, strict=True)
    ]
    return SeparatedTables(
        people=_compact(people),
        secrets=tuple(_compact(each.as_table(group, count)) for each in counted),
        group=group,
        count=count,
        audits=tuple(audits),
        of_row=rows,
    )


def _columns(release: Release, names: Sequence[str]) -> pa.Table:
    """Return columns of the published people as they are, their missing cells null."""
    table = release.private.kept
    return pa.table({name: unchanged_column(table, release.schema, name) for name in names})


def _compact(table: pa.Table) -> pa.Table:
    """Return a table whose columns store no other values than those of its rows."""
    return pa.table({name: compact_column(table.column(name)) for name in table.column_names})
