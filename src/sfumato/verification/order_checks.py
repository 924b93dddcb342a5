"""Check that the rows and groups of a table are in the public order, which depends on published content alone."""

from __future__ import annotations

import numpy as np

from sfumato.data.column import Column
from sfumato.data.groups import Groups
from sfumato.data.table import Table
from sfumato.io.shuffle import Contents, shuffled
from sfumato.releases.models import FORMAT, MARKED_SINCE, SECRET_SINCE
from sfumato.seeds import PUBLIC_SEED
from sfumato.verification.checks import Check

ORDER_HOLDS = "rows and groups are in the public order, which depends on published content alone"

NOT_FROM_ONE = "its groups are not numbered from 1"
OTHER_NUMBERS = "its groups are not numbered in the public order, and may reveal something about the rows"
OTHER_ROWS = "its rows are not in the public order, and may match those of another table"

ORDERED_SINCE = 2
"""The first format in which rows and groups are in an order that depends on published content alone."""

OLDER_FORMAT = "not checked: a release of an older format may be in another order"

NO_ORDER = "not checked: another check of the table fails, and the order is that of its contents"


def order_seed(stated: int | None, format: int) -> int:  # noqa: A002
    """Return the seed of the order of a release: a public one, or before format 5 the one that release.json states."""
    return PUBLIC_SEED if format >= SECRET_SINCE or stated is None else stated


def order_check(published: Table, seed: int = PUBLIC_SEED, format: int = FORMAT) -> Check:  # noqa: A002
    """Check that a table is in the order of a seed. Any other order may reveal that of the original.

    `seed`: as `order_seed` returns it. `format`: the version of the format of the release.
    """
    if format < ORDERED_SINCE:
        return Check("order", None, OLDER_FORMAT)
    if seed < 0:
        return Check("order", False, f"invalid seed in release.json: {seed}")
    group = str(published.schema.group)
    numbers = published.column(group)
    if not numbered_from_one(numbers):
        return Check("order", False, NOT_FROM_ONE)
    groups = Groups(numbers.codes.astype(np.int64), numbers.size, published.rows)
    cells = {name: published.data.column(name) for name in published.data.column_names if name != group}
    separators = {name: published.schema.separators.get(name, ";") for name in published.schema.sensitive_columns()}
    contents = Contents.of(cells, published.rows, separators, null_is_empty=format < MARKED_SINCE)
    # Shuffling a table that is in its order must not change it: equal rows may be exchanged, so contents are compared.
    rows, of_group = shuffled(contents, groups, seed)
    if not np.array_equal(of_group[groups.of_row[rows]], groups.of_row + 1):
        return Check("order", False, OTHER_NUMBERS)
    if not np.array_equal(contents.finest[rows], contents.finest):
        return Check("order", False, OTHER_ROWS)
    return Check("order", True, ORDER_HOLDS)


def numbered_from_one(groups: Column) -> bool:
    """Return whether the labels of groups are the numbers from 1."""
    return all(groups.label(code) == str(code + 1) for code in range(groups.size))
