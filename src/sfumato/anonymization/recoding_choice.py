"""Choose how quasi-identifiers are published where the schema leaves it open.

For any groups, a set covers no more leaves of a hierarchy than the lowest common ancestor of its members, and an interval
no more than an ancestor that covers consecutive values. So groups are searched for under the finer recoding, and the loss
of the groups that are found decides which of the two is published. Near-unique values are never published as sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sfumato.anonymization.methods import Grouping, Method
from sfumato.anonymization.recoding import Recoding, RecodingKind
from sfumato.anonymization.recoding.domain import domain_of
from sfumato.anonymization.recoding.group_recoding import recode_column
from sfumato.anonymization.utility import column_losses
from sfumato.data.column import Column
from sfumato.data.groups import Groups
from sfumato.data.near_unique import automatic_prefix, is_near_unique
from sfumato.data.schema import Kind
from sfumato.data.table import Table
from sfumato.errors import ColumnError
from sfumato.plurals import count_of
from sfumato.principles import Principle
from sfumato.principles.known_original import with_known_original


def open_recodings(table: Table, method: Method, principles: Sequence[Principle] = ()) -> tuple[Table, Table]:
    """Return the table with a hierarchy where the schema must have one, and the table under which groups are searched for.

    Both are the table itself if the method publishes every column at one level of its hierarchy: there is no choice.
    Nor is there one if a principle compares the cells with people: other cells would cover others.
    """
    if not method.publishes_levels:
        table = without_near_unique_sets(table)
    table = with_known_original(table, principles)
    same = method.publishes_levels or any(principle.reads_cells for principle in principles)
    return table, table if same else for_search(table)


def without_near_unique_sets(table: Table) -> Table:
    """Return the table with a hierarchy of prefixes for each near-unique column of codes that would be published as sets.

    Any other near-unique column that would be published as sets is an error. A recoding that the schema declares is used
    whatever the values are.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"zip": [f"{i:05}" for i in range(40)]}), Schema(["zip"]))
    >>> without_near_unique_sets(table).schema.hierarchies
    {'zip': Prefix(lengths=(4, 3, 2, 1))}
    """
    prefixes = {}
    for name in table.schema.quasi_identifiers:
        column = table.column(name)
        declared = table.schema.recodings.get(name)
        if declared is not None or column.hierarchy is not None or _is_ordered(column):
            continue
        if not is_near_unique(column, table.units):
            continue
        prefix = automatic_prefix(column, table.units)
        if prefix is None:
            raise ColumnError(
                f"the column has {column.size:,} values in {_counted(table)}: published as sets of values, it would list "
                "who is in the table",
                remedy='Declare a hierarchy, such as { prefix = [3, 2] } for codes, kind = "date" for dates, or the role '
                'identifier to drop the column; recoding = "set" publishes the sets on purpose.',
                file=table.source,
                column=name,
            )
        prefixes[name] = prefix
    if not prefixes:
        return table
    return table.with_schema(replace(table.schema, hierarchies={**table.schema.hierarchies, **prefixes}))


def _counted(table: Table) -> str:
    units = table.units
    return count_of(table.rows, "row") + ("" if units is None else f" of {units.text(units.count)}")


def for_search(table: Table) -> Table:
    """Return the table with the finest recoding that is allowed declared for each column that the schema leaves open.

    Without a hierarchy there is nothing to choose. Numbers and ordinal values are published as intervals if every node of
    their hierarchy covers consecutive values, other values as sets unless they are near-unique.

    >>> import pyarrow as pa
    >>> from sfumato.data.hierarchy import Flat, Intervals
    >>> from sfumato.data.schema import Schema
    >>> schema = Schema(["age", "sex"], hierarchies={"age": Intervals((10,)), "sex": Flat()})
    >>> for_search(Table(pa.table({"age": [31, 34], "sex": ["f", "m"]}), schema)).schema.recodings
    {'age': 'interval', 'sex': 'set'}
    """
    chosen = {}
    for name in table.schema.quasi_identifiers:
        column = table.column(name)
        if name in table.schema.recodings or column.hierarchy is None:
            continue
        if _is_ordered(column):
            finer = RecodingKind.INTERVAL if _covers_consecutive_values(column) else RecodingKind.ANCESTOR
        else:
            finer = RecodingKind.ANCESTOR if is_near_unique(column, table.units) else RecodingKind.SET
        chosen[name] = str(finer)
    return _with_recodings(table, chosen)


def for_publication(table: Table, searched: Table, grouping: Grouping) -> Table:
    """Return the table with the recoding of each column that loses less in the groups; of equal ones the ancestor.

    `table` and `searched`: as `open_recodings` returned them; `table` may have fewer rows.
    """
    if grouping.levels is not None:
        return table
    of_row = np.asarray(grouping.of_row, np.int64)
    groups = Groups(of_row, grouping.count, table.rows)
    chosen = dict(searched.schema.recodings)
    for name in table.schema.quasi_identifiers:
        if name in table.schema.never_mix:
            continue  # the groups keep apart what sets must not mix; a node covers more
        if name not in table.schema.recodings and chosen.get(name) == RecodingKind.SET:
            losses = {
                how: column_losses(Recoding(groups, (recode_column(domain_of(table.column(name), how), groups),)))[name]
                for how in (RecodingKind.ANCESTOR, RecodingKind.SET)
            }
            chosen[name] = str(min(losses, key=lambda how: losses[how]))
    return _with_recodings(table, chosen)


def choice_notes(table: Table, recodings: Mapping[str, str]) -> list[str]:
    """Return what a reader should know about columns that are published as prefixes because their values are near-unique."""
    schema = table.schema
    names = [
        repr(name)
        for name, how in recodings.items()
        if how == RecodingKind.ANCESTOR
        and name not in schema.recodings
        and schema.hierarchies.get(name) == automatic_prefix(table.column(name)) is not None
    ]
    return [f"near-unique codes are published as prefixes: {', '.join(names)}"] if names else []


def _with_recodings(table: Table, chosen: Mapping[str, str]) -> Table:
    recodings = {**table.schema.recodings, **chosen}
    return table if recodings == table.schema.recodings else table.with_schema(replace(table.schema, recodings=recodings))


def _is_ordered(column: Column) -> bool:
    return column.numbers is not None or column.kind is Kind.ORDINAL


def _covers_consecutive_values(column: Column) -> bool:
    """Return whether the values under every node of a column's hierarchy are consecutive."""
    assert column.paths is not None
    levels = column.paths[: column.size].T
    return all(np.count_nonzero(np.diff(nodes)) < max(1, len(np.unique(nodes))) for nodes in levels)
