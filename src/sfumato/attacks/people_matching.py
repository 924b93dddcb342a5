"""Match published rows with rows of the original where no key says whose row is whose.

A published row may stand for an original row that agrees in everything unchanged and lies within its cells. Any complete
matching of that kind is a possible truth; one of them is found.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.attacked_release import AttackedRelease
from sfumato.data.table import Table
from sfumato.errors import ReleaseError
from sfumato.verification.original_checks import MatchedRows

Integers = NDArray[np.int64]

_AT_ONCE = 1 << 24
"""The number of pairs of a person and a group that are compared at a time; bounds memory."""

_MOST = 4_000_000_000
"""The number of pairs of a person and a group up to which people are matched."""

_MOST_POSSIBLE = 50_000_000
"""The number of pairs of a person and a row that may be theirs up to which people are matched; takes two gigabytes."""


def matched_rows(published: Table, people: Table, release: AttackedRelease, version: int) -> tuple[Integers, str]:
    """Return for each published row a row of the original that it may stand for, each at most once, and a note.

    `release`: the published side alone. `version`: of the format of the release. Cost: the number of groups times the
    number of distinct rows of the original, and a maximum matching of those that fit.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    names = [name for name in published.data.column_names if name not in {*release.cells, published.schema.group}]
    classes = MatchedRows.of(published.data, people, names, release.schema, version)
    if people.rows * release.groups.count > _MOST:
        raise _too_many(people, release)
    person, row = _possible_pairs(release, people, classes)
    edges = coo_array((np.ones(len(person), np.int8), (row, person)), shape=(published.rows, people.rows)).tocsr()
    found = np.asarray(maximum_bipartite_matching(edges, perm_type="column"), np.int64)
    if (found < 0).any():
        raise ReleaseError(
            f"{int((found < 0).sum()):,} of {published.rows:,} published rows match no row of the original",
            remedy="Pass the table that the release was made from.",
            file=people.source or published.source,
        )
    alone = int((np.bincount(row, minlength=published.rows) == 1).sum())
    note = (
        f"no key says whose row is whose: one possible assignment of people to groups was taken, in which {alone:,} of "
        f"{published.rows:,} rows are the only possible ones"
    )
    return found, note


def _too_many(people: Table, release: AttackedRelease) -> ReleaseError:
    return ReleaseError(
        f"there are too many rows ({people.rows:,}) and groups ({release.groups.count:,}) to find whose row is whose",
        remedy="Pass the key that was written with the release (sfumato anonymize --key).",
        file=release.published.source,
    )


def _possible_pairs(release: AttackedRelease, people: Table, classes: MatchedRows) -> tuple[Integers, Integers]:
    """Return the pairs of a person and a published row that may be the same."""
    seen = replace(release, original=people, rows=np.arange(people.rows), group_of_person=np.zeros(0, np.int64))
    # the published rows of each pair of a class and a group, which are interchangeable
    count = release.groups.count
    keys = classes.published * count + release.groups.of_row
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    columns = [people.column(name).codes.astype(np.int64) for name in release.cells]
    covers = [seen.covers(name) for name in release.cells]
    persons, rows, pairs = [], [], 0
    step = max(1, _AT_ONCE // count)
    for start in range(0, people.rows, step):
        fits = np.ones((min(step, people.rows - start), count), bool)
        for cover, codes in zip(covers, columns, strict=True):
            fits &= cover.T[codes[start : start + step]]
        who, group = np.nonzero(fits)
        wanted = classes.original[start + who] * count + group
        low, high = np.searchsorted(ordered, wanted), np.searchsorted(ordered, wanted, "right")
        length = high - low
        pairs += int(length.sum())
        if pairs > _MOST_POSSIBLE:
            raise _too_many(people, release)
        persons.append(np.repeat(start + who, length))
        within = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
        rows.append(order[np.repeat(low, length) + within])
    return np.concatenate(persons), np.concatenate(rows)
