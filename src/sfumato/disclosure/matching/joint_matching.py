"""Joint matching: the individuals that an attacker can rule out because another record must be theirs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.matching.matching import Matching, Rule

EDGES = 20_000_000
"""Pairs of distinct records and distinct individuals that are consistent, beyond which no joint matching is tried."""


@dataclass(frozen=True, eq=False)
class JointMatching:
    """For every record the number of individuals that a joint matching leaves; None, with the reason, if there is none."""

    sizes: NDArray[np.int64] | None
    why: str = ""

    @property
    def least(self) -> int | None:
        """The smallest number of individuals that is left to a record."""
        return None if self.sizes is None else int(self.sizes.min())


def joint_sizes(matching: Matching, rule: Rule, limit: int = EDGES) -> JointMatching:
    """Count, for every record, the individuals it gets in *some* assignment of all records to different individuals.

    An attacker who knows that the records are of different people, all of whom are in the dictionary, can rule out more
    than |ρ| shows: if one record fits only Ann, no other record is hers. Left to a record are the individuals of its ρ
    that an assignment of all records gives it. If that is one, the record is identified for certain.

    Records that disclose the same values form a class R of size a(R), and individuals with the same known values a class
    V of size b(V). Either all pairs of R and V are consistent or none is. Up to exchanges within a class, an assignment
    is a flow: integers x(R, V) on the consistent pairs of classes, a(R) out of each R and at most b(V) into each V. Find
    one flow. The difference of two flows is a sum of cycles in the residual graph of the first, with the arcs

        R → V where they are consistent,           V → R where x(R, V) > 0,
        V → sink where less than b(V) flows in,    sink → V where anything flows in,

    and one unit around any such cycle makes another flow. So x(R, V) is positive in some flow exactly if it is positive
    now, or a path leads from V back to R: exactly if R and V are in one strongly connected component. Then every
    individual of V is left to every record of R.

    Cost: listing the consistent classes, and one maximum flow (Dinic) over the lists.

    >>> people = np.array([[1, 5], [1, 6], [2, 6]])
    >>> itself = Matching.of_codes(people, people)
    >>> rule = np.array([[True, False], [True, False], [False, True]])  # the first two must be of people 0 and 1
    >>> itself.sizes(rule).tolist(), joint_sizes(itself, rule).sizes.tolist()
    ([2, 2, 2], [2, 2, 1])
    """
    owners = matching.own[matching.own >= 0]
    if len(np.unique(owners)) < len(owners):
        return JointMatching(
            None, "several records are of one individual; a joint matching requires records of different individuals"
        )
    rows, of_record, a = _classes(np.where(rule, matching.values, np.int32(-1)))
    people, _, b = _classes(matching.dictionary_values)
    nobody = np.zeros(0, np.int64)
    classes = replace(matching, values=rows, dictionary_values=people, weights=np.zeros(0), own=nobody)
    sizes = classes.sizes(classes.everything)
    edges = int(sizes.sum())
    if edges > limit:
        return JointMatching(
            None, f"{edges:,} pairs of distinct records and distinct individuals are too many to match jointly"
        )
    _, heads = classes.lists(classes.everything, sizes)
    tails = np.repeat(np.arange(len(rows)), sizes)
    flow = _flow(tails, heads, a, b)
    if flow is None:
        return JointMatching(None, "no assignment gives all records different individuals who are consistent with them")
    component = _components(tails, heads, flow, len(a), b)
    left = component[tails] == component[len(rows) + heads]
    return JointMatching(np.bincount(tails[left], b[heads[left]], minlength=len(rows)).astype(np.int64)[of_record])


def _classes(rows: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows, which of them each row is, and how often each occurs."""
    distinct, which, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    return np.ascontiguousarray(distinct), which.reshape(-1), counts


def _flow(tails: NDArray[Any], heads: NDArray[Any], a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any] | None:
    """The flow from class to class if all records are assigned; None if they cannot be."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    # nodes: classes of records, classes of individuals, source, sink; capacities are sizes of classes
    source, sink = len(a) + len(b), len(a) + len(b) + 1
    start = np.concatenate([tails, np.full(len(a), source), len(a) + np.arange(len(b))])
    end = np.concatenate([len(a) + heads, np.arange(len(a)), np.full(len(b), sink)])
    most = np.concatenate([np.minimum(a[tails], b[heads]), a, b]).astype(np.int32)
    result = maximum_flow(csr_array((most, (start, end)), shape=(sink + 1, sink + 1)), source, sink)
    if result.flow_value < a.sum():
        return None
    return np.asarray(result.flow[tails, len(a) + heads]).reshape(-1)


def _components(tails: NDArray[Any], heads: NDArray[Any], flow: NDArray[Any], first: int, b: NDArray[Any]) -> NDArray[Any]:
    """The strongly connected component of each class, records first, in the residual graph."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    sink = first + len(b)
    # arcs of the residual graph as the docstring of `joint_sizes` lists them
    comes = np.bincount(heads, flow, minlength=len(b))
    spare, taken = first + np.flatnonzero(comes < b), first + np.flatnonzero(comes > 0)
    back = flow > 0
    start = np.concatenate([tails, first + heads[back], spare, np.full(len(taken), sink)])
    end = np.concatenate([first + heads, tails[back], np.full(len(spare), sink), taken])
    graph = csr_array((np.ones(len(start), np.int8), (start, end)), shape=(sink + 1, sink + 1))
    return np.asarray(connected_components(graph, directed=True, connection="strong")[1])
