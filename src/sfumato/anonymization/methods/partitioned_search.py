"""Search a large table in parts: in two rounds with different cuts, and with what fails in between pooled and solved."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.method import FINDING
from sfumato.anonymization.methods.part_search import failing_groups, improve_part, repair_part, search_part
from sfumato.anonymization.methods.partition_plan import plan_parts
from sfumato.anonymization.methods.search_problem import ProblemRows, SearchProblem
from sfumato.anonymization.methods.worker_threads import map_in_threads
from sfumato.data.groups import renumber
from sfumato.kernels.row_order import tree_order
from sfumato.part_maps import PartWork, active_part_map
from sfumato.progress import Progress, silent

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
PART_ROWS = 30_000
"""The least number of rows of a part, about: a part and what a search knows of it nearly fit into the cache of one core."""

_LARGEST_PART = 140_000
"""The number of rows of a part of the largest tables: fewer cuts keep similar rows apart, at little more time."""

_PARTS = 10
"""A table has this many parts, about, while they are larger than the least and smaller than the largest."""

_PART_VISITS = 3.0
"""The rows that annealing visits, for each row of a part: in a large table similar rows are many, and found sooner."""

_SAMPLE = 200_000
"""A plan is made from about this many rows."""

_POOL_GROWTH = 8
"""A pool has this many times the rows of the groups that fail, and at least the rows of a part."""

_SPANS = ((0.0, 0.7), (0.7, 1.0))
"""The shares of the work at which each round begins and ends; for the progress."""

_WARM_UP = 1000
"""The number of rows that a warm-up searches."""


def part_rows(rows: int, least: int = PART_ROWS) -> int:
    """Return the number of rows of a part of a table, about.

    It depends on the rows only, so that the groups do not depend on who searches the parts.

    >>> part_rows(100_000), part_rows(1_000_000), part_rows(10**9)
    (30000, 100000, 140000)
    """
    return max(least, min(_LARGEST_PART, rows // _PARTS))


class Shared(NamedTuple):
    """What all parts of a table share."""

    problem: SearchProblem
    """The problem of the table, without its rows."""
    effort: int


class Part(NamedTuple):
    """A part of a table."""

    rows: ProblemRows
    known: Integers | None
    """The groups that the rows have already, numbered from 0 without gaps; None in the first round."""
    seed: int


def solve_part(shared: Shared, part: Part, progress: Progress = silent) -> tuple[Integers, Flags]:
    """Search a part alone, or improve the groups that it has; return its groups, and which of them fail."""
    problem = shared.problem.with_rows(part.rows, progress)
    if part.known is None:
        groups = search_part(problem, part.seed, shared.effort, visits=_PART_VISITS)
    else:
        groups = improve_part(problem, part.known, part.seed, shared.effort)
    return groups, failing_groups(problem, groups)


def _variant(problem: SearchProblem) -> str:
    """Return what decides which kernels the search of a problem needs."""
    limits = sorted({limit.near.kind for limit in problem.constraints.neighbour_limits})
    conditions = sorted({condition.kind for condition in problem.constraints.conditions})
    return f"search {limits} {conditions} {sorted(set(problem.shares.kind.tolist()))}"


def warm_up(shared: Shared, part: Part) -> None:
    """Search and improve some rows of a part, so that the kernels are compiled; the result does not matter."""
    some = np.arange(0, len(part.rows.places), max(1, len(part.rows.places) // _WARM_UP))
    rows = shared.problem.with_rows(part.rows).rows_of(some)
    groups, _ = solve_part(shared, Part(rows, None, part.seed))
    solve_part(shared, Part(rows, groups, part.seed))


def search_in_parts(
    problem: SearchProblem, seed: int, effort: int = 1, size: int = PART_ROWS, workers: int | None = None
) -> Integers:
    """Return the group of each row, numbered from 0; a group may still have excess.

    The table is cut into parts of about `size` rows (see `plan_parts`), and each part is searched alone. Groups that fail
    are pooled with the groups around them and solved together. Then the table is cut elsewhere, between groups, and each
    part of that plan is improved further: what the first cuts kept apart can mix. Domains, distances and distributions are
    those of the whole table throughout. An engine may have parts searched elsewhere (see `sfumato.part_maps`), unless
    `workers` is given. The result depends on the problem, the seed, `effort` and `size`, but not on the
    number of threads: the seed of a part is made from the seed, the round and the number of the part.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"age": [30, 61, 31, 60, 45, 46]}), sf.Schema(["age"]))
    >>> problem = SearchProblem.of(sf.anonymization.Task(table, (sf.KAnonymity(2),)))
    >>> search_in_parts(problem, seed=0, size=4).tolist()
    [0, 1, 0, 1, 2, 2]
    """
    search = _PartitionedSearch(problem, seed, effort, size, workers)
    labels = settled(problem, *search.first_round(), seed, effort, size)
    return settled(problem, *search.second_round(labels), seed, effort, size)


class _PartitionedSearch:
    def __init__(self, problem: SearchProblem, seed: int, effort: int, size: int, workers: int | None) -> None:
        self.problem, self.seed, self.effort, self.size, self.workers = problem, seed, effort, size, workers
        sample = np.arange(0, problem.rows, max(1, problem.rows // _SAMPLE))
        make = partial(
            plan_parts, problem.places[sample], problem.shares, problem.constraints.restricted(sample), size, problem.rows
        )
        self.plan = make()
        self.shifted_plan = make(shifted=self.plan)

    def first_round(self) -> tuple[Integers, Flags]:
        """Search each part alone; return the groups, and which of them fail."""
        of_part = self.plan.parts_of(self.problem.places)
        return self._search(of_part, None, 0)

    def second_round(self, labels: Integers) -> tuple[Integers, Flags]:
        """Improve the groups in other parts; a group is in the part of its first row. Return the same."""
        _, first = np.unique(labels, return_index=True)
        of_part = self.shifted_plan.parts_of(self.problem.places[first])[labels]
        return self._search(of_part, labels, 1)

    def _search(self, of_part: NDArray[np.int32], labels: Integers | None, number: int) -> tuple[Integers, Flags]:
        """Work on all parts, and number their groups one after the other."""
        order = np.argsort(of_part, kind="stable")
        parts = [rows for rows in np.split(order, np.cumsum(np.bincount(of_part))[:-1]) if len(rows)]

        def part(k: int) -> Part:
            known = None if labels is None else renumber(labels[parts[k]])
            return Part(self.problem.rows_of(parts[k]), known, part_seed(self.seed, number, k))

        shared = Shared(self.problem.without_rows(), self.effort)
        work = PartWork(solve_part, warm_up, _variant(self.problem), shared, part, [len(rows) for rows in parts])
        low, high = _SPANS[number]
        found = self._mapped(work, lambda share: self.problem.progress(FINDING, low + (high - low) * share))
        result, made = np.empty(self.problem.rows, np.int64), 0
        for rows, (groups, failing) in zip(parts, found, strict=True):
            result[rows] = made + groups
            made += len(failing)
        return result, np.concatenate([failing for _, failing in found])

    def _mapped(self, work: PartWork, progress: Callable[[float], None]) -> list[tuple[Integers, Flags]]:
        """Work on all parts where the engine says, by default in threads."""
        elsewhere = active_part_map() if self.workers is None else None
        if elsewhere is not None:
            return elsewhere(work, progress)

        def run(k: int, report: Progress) -> tuple[Integers, Flags]:
            found: tuple[Integers, Flags] = work.run(work.shared, work.part(k), report)
            return found

        return map_in_threads(run, range(len(work.weights)), work.weights, progress, self.workers)


def part_seed(seed: int, number: int, part: int) -> int:
    """Return the seed of a part in a round: it does not depend on when the part is searched."""
    return int(np.random.SeedSequence([seed, number, part]).generate_state(1, np.uint64)[0])


def settled(
    problem: SearchProblem, labels: Integers, failing: Flags, seed: int, effort: int, size: int = PART_ROWS
) -> Integers:
    """Solve the groups that fail together with the groups around them, in larger and larger pools.

    A pool is solved by repairing its groups or, if that does not help, by a new search. A pool with fewer failing rows than
    before is kept. The last pool is the whole table.
    """
    pool_rows = max(size, _POOL_GROWTH * int(failing[labels].sum()))
    while failing.any():
        rows = rows_around(problem, labels, failing, pool_rows)
        part = problem.restricted(rows, problem.progress)
        known, bad = renumber(labels[rows]), int(failing[labels[rows]].sum())
        for solve in (repair_part, _search_again):
            found = solve(part, known, seed, effort)
            left = failing_groups(part, found)
            if left[found].sum() < bad:
                labels, failing = _replaced(labels, failing, rows, found, left)
                break
        if len(rows) == problem.rows:
            break
        pool_rows *= _POOL_GROWTH
    return renumber(labels)


def _replaced(labels: Integers, failing: Flags, rows: Integers, found: Integers, left: Flags) -> tuple[Integers, Flags]:
    """Give some rows, which are all rows of their groups, new groups; return all groups, and which of them fail."""
    labels = labels.copy()
    labels[rows] = len(failing) + found
    failing = np.concatenate([failing, left])
    present, labels = np.unique(labels, return_inverse=True)
    return labels, failing[present]


def _search_again(part: SearchProblem, known: Integers, seed: int, effort: int) -> Integers:
    return search_part(part, seed, effort, known)


def rows_around(problem: SearchProblem, labels: Integers, failing: Flags, count: int) -> Integers:
    """Return about `count` rows: those of the failing groups, and of the groups next to them along a good order."""
    _, first = np.unique(labels, return_index=True)
    order, coarse = np.arange(len(first)), np.zeros(len(first) + 1, np.int64)
    places = np.ascontiguousarray(problem.places[first])
    tree_order(problem.shares, places, order, coarse, 1, False, np.ones(1, np.uint64))
    position = np.empty(len(first), np.int64)
    position[order] = np.arange(len(first))
    at = np.sort(position[failing])
    # how far each group is from the nearest failing one along the order
    after = np.searchsorted(at, position)
    distance = np.minimum(
        np.abs(position - at[np.minimum(after, len(at) - 1)]), np.abs(position - at[np.maximum(after - 1, 0)])
    )
    nearest = np.lexsort((position, distance))
    sizes = np.bincount(labels)
    enough = int(np.searchsorted(np.cumsum(sizes[nearest]), count)) + 1
    chosen = np.zeros(len(first), bool)
    chosen[nearest[:enough]] = True
    return np.flatnonzero((chosen | failing)[labels])
