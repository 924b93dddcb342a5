"""Records matched jointly: whom an attacker can rule out because somebody else's record must be theirs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.matching import Matching, Rule

EDGES = 20_000_000
"""Pairs of a record and a consistent individual beyond which a joint matching is not tried."""


@dataclass(frozen=True, eq=False)
class Joint:
    """For every record how many individuals a joint matching leaves; None, with the reason, if there is no such figure."""

    sizes: NDArray[np.int64] | None
    why: str = ""

    @property
    def least(self) -> int | None:
        """The fewest individuals that are left to a record."""
        return None if self.sizes is None else int(self.sizes.min())


def joint_sizes(matching: Matching, rule: Rule, limit: int = EDGES) -> Joint:
    """For every record, how many individuals it gets in *some* assignment of all records to different individuals.

    An attacker who knows that the records are of different people, and that all of these are in the dictionary, can rule out
    more than |ρ| tells: if one record fits only Ann, no other is hers. What is left to record r are the v in ρ(r) with
    an assignment that gives v to r, and 1 means that r is identified for certain (paper 002 takes each record by itself).

    How: let M be one assignment of all records, by maximum matching. Draw an arc v → u between individuals if v's record
    under M, or the *spare* of v if v has none, could be u's. Add spares, records with which everybody is consistent,
    until there are as many records as individuals: assignments of the records are then perfect matchings without their
    spares, and each assignment of the records is part of one, since spares fit anybody. In a graph with a perfect matching
    M an edge is in some perfect matching just if it is in M or on a cycle that alternates between edges in M and
    others, and these cycles are the cycles of the arcs. So v' in ρ(r) is left to r just if v' lies in the same strongly
    connected component as M(r).

    The spares would have arcs to everybody, one for each pair. One node for all of them does the same: an arc to it from
    every individual without a record, and from it to every individual. A path v → spare → u is then the arc v → u that v's
    spare has, and there are no other new paths, so the same individuals reach one another.

    Cost: that of the lists of consistent individuals, and of a matching (Hopcroft and Karp) in them.

    >>> people = np.array([[1, 5], [1, 6], [2, 6]])  # three people; of the third record only the second value is disclosed
    >>> itself = Matching.of_codes(people, people)
    >>> rule = np.array([[True, False], [True, False], [False, True]])
    >>> itself.sizes(rule).tolist(), joint_sizes(itself, rule).sizes.tolist()
    ([2, 2, 2], [2, 2, 1])
    """
    sizes = matching.sizes(rule)
    edges = int(sizes.sum())
    if edges > limit:
        return Joint(None, f"{edges:,} pairs of a record and a consistent individual are too many to match jointly")
    owners = matching.own[matching.own >= 0]
    if len(np.unique(owners)) < len(owners):
        return Joint(None, "several records are of one individual, and a joint matching takes them to be of different ones")
    starts, individuals = matching.lists(rule, sizes)
    given = _assignment(starts, individuals, matching.individuals)
    if (given < 0).any():
        return Joint(None, "no assignment gives all records different individuals who are consistent with them")
    of_record = np.repeat(np.arange(matching.records), sizes)
    component = _components(given[of_record], individuals, given, matching.individuals)
    left = component[individuals] == component[given[of_record]]
    return Joint(np.bincount(of_record[left], minlength=matching.records))


def _assignment(starts: NDArray[np.int64], individuals: NDArray[np.int32], many: int) -> NDArray[Any]:
    """A largest assignment of records to different individuals; -1 for a record that gets nobody."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    shape = (len(starts) - 1, many)
    graph = csr_array((np.ones(len(individuals), np.int8), individuals, starts), shape=shape)
    return np.asarray(maximum_bipartite_matching(graph, perm_type="column"))


def _components(tails: NDArray[Any], heads: NDArray[Any], given: NDArray[Any], many: int) -> NDArray[Any]:
    """The strongly connected component of every individual, by the arcs and those of the spares."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    free = np.setdiff1d(np.arange(many), given)
    if len(free):
        spare = many  # one node more
        tails = np.concatenate([tails, free, np.full(many, spare)])
        heads = np.concatenate([heads, np.full(len(free), spare), np.arange(many)])
    graph = coo_array((np.ones(len(tails), np.int8), (tails, heads)), shape=(many + 1, many + 1))
    return np.asarray(connected_components(graph, directed=True, connection="strong")[1])
