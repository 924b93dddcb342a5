"""Whether the secrets of each group can be those of its people, as the original has them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.data.groups import Groups
from sfumato.verification.original_checks import MatchedRows

Codes = NDArray[np.int64]

MOST_PAIRS = 20_000_000
"""Pairs of distinct people and distinct secrets of a group that are compared; bounds memory."""


def are_certain(people: MatchedRows, groups: Groups) -> bool:
    """Return whether people who are equal in all that is exact are in one group, so that the original says who is where.

    >>> one = MatchedRows(np.array([0, 0, 1]), np.array([1, 0, 0]), 2)
    >>> are_certain(one, Groups(np.array([0, 0, 1]), 2, 3)), are_certain(one, Groups(np.array([0, 1, 1]), 2, 3))
    (True, False)
    """
    pairs = np.unique(people.published * groups.count + groups.of_row)
    return len(np.unique(pairs // groups.count)) == len(pairs)


def are_linked(rows: Codes, groups: Groups, secrets: MatchedRows, group_of_secret: Codes) -> bool:
    """Return whether the secrets of each group are exactly those of its people.

    `rows`: for each published person the row in the original. `secrets`: the values of one table of secrets, one row for
    each person of each group; `group_of_secret`: their groups.
    """
    true = groups.of_row * secrets.classes + secrets.original[rows]
    return bool(np.array_equal(np.sort(true), np.sort(group_of_secret * secrets.classes + secrets.published)))


def unlinked_secrets(people: MatchedRows, groups: Groups, secrets: MatchedRows, group_of_secret: Codes) -> int | None:
    """Return how many published secrets can be nobody's of their group, at least; None if there are too many pairs.

    People who are equal in all that is exact form a class. A group can have a secret of one of its people at most as often
    as the original has that class with that secret. The most secrets that can be assigned so, group by group, are a maximum
    flow. If `are_certain`, and no row was suppressed, 0 means that the secrets of each group are exactly those of its
    people: then a class has as many people in its group as rows in the original, so all of its rows are used.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_flow

    own, own_counts = np.unique(groups.of_row * people.classes + people.published, return_counts=True)
    its, its_counts = np.unique(group_of_secret * secrets.classes + secrets.published, return_counts=True)
    together, times = np.unique(people.original * secrets.classes + secrets.original, return_counts=True)
    left, right = own // people.classes, its // secrets.classes
    at = np.searchsorted(right, left)
    width = np.searchsorted(right, left, "right") - at
    if int(width.sum()) > MOST_PAIRS:
        return None
    # all pairs of a class and a secret of the same group
    one = np.repeat(np.arange(len(own)), width)
    other = np.arange(len(one)) + np.repeat(at - (np.cumsum(width) - width), width)
    wanted = (own[one] % people.classes) * secrets.classes + its[other] % secrets.classes
    found = np.minimum(np.searchsorted(together, wanted), len(together) - 1)
    known = together[found] == wanted
    one, other, most = one[known], other[known], times[found[known]]
    # node 0 is the source, then the classes of the groups, then their secrets, and the last is the sink
    sink = 1 + len(own) + len(its)
    begins = np.concatenate([np.zeros(len(own), np.int64), 1 + one, 1 + len(own) + np.arange(len(its))])
    ends = np.concatenate([1 + np.arange(len(own)), 1 + len(own) + other, np.full(len(its), sink)])
    capacity = np.concatenate([own_counts, most, its_counts]).astype(np.int32)
    graph = csr_matrix((capacity, (begins, ends)), shape=(sink + 1, sink + 1))
    return int(its_counts.sum()) - int(maximum_flow(graph, 0, sink).flow_value)
