"""Whether the rows of one of several tables stand in an order that tells nothing: tables in the same order can be joined."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.data.groups import Groups
from sfumato.data.table import Table
from sfumato.io.shuffle import Contents, shuffled, table_seed
from sfumato.verification.checks import Check


def order_check(published: Table, seed: Any, whole: Any, place: int) -> Check:
    """Check that rows and groups of a table are where its seed puts them, and that its seed follows from that of the whole.

    `seed`, `whole`: what release.json says of the table and of all tables. `place`: that of the table's first attribute.
    """
    if not all(isinstance(told, int) and not isinstance(told, bool) and told >= 0 for told in (seed, whole)):
        return Check("order", False, f"release.json tells no seeds: {whole!r} and {seed!r}")
    if seed != table_seed(whole, place):
        return Check("order", False, f"its seed {seed} does not follow from that of the whole, {whole}")
    group = str(published.schema.group)
    numbers = published.column(group)
    if [numbers.label(code) for code in range(numbers.size)] != [str(number) for number in range(1, numbers.size + 1)]:
        return Check("order", False, "its groups are not numbered from 1")
    groups = Groups(numbers.codes.astype(np.int64), numbers.size, published.rows)
    cells = {name: published.data.column(name) for name in published.data.column_names if name != group}
    separators = {name: published.schema.separators.get(name, ";") for name in published.schema.sensitive_columns()}
    contents = Contents.of(cells, published.rows, separators)
    rows, of_group = shuffled(contents, groups, seed)
    if not np.array_equal(of_group[groups.of_row[rows]], groups.of_row + 1):
        return Check("order", False, "its groups are not numbered as its seed says, and might tell something of the rows")
    if not np.array_equal(contents.finest[rows], contents.finest):
        return Check("order", False, "its rows do not stand as its seed says, and might line up with those of another table")
    return Check("order", True, "rows and groups stand as the seed says, which follows from what is published alone")
