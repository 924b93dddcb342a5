"""XColor: colour the neighbour graph so that few neighbours share a colour (Wang & Liu, 2010)."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.feasibility.exchange_bounds import cycle_bound
from sfumato.anonymization.methods.method import Grouping, Method, Task
from sfumato.anonymization.methods.neighbour_arrays import NeighbourArrays
from sfumato.data.groups import combined, renumber
from sfumato.distances.neighbour_graph import GuardedNeighbours, OneSidedNeighbours
from sfumato.errors import ParameterError
from sfumato.kernels.cell_shares import Shares
from sfumato.kernels.xcolor_exchanges import AFTER, BEFORE, CYCLES, LONGEST, LOOKS, SWAPS, TESTS, exchanges
from sfumato.principles import Dissimilarity, NeighbourLimit, exactly, size_part

Integers = NDArray[np.int64]

_LOOKS = 100_000_000
"""The number of times that a row may look at a group for a partner if success is not guaranteed: some minutes at most."""

CYCLE_TESTS = 400_000_000
"""The largest number of pairs to test for cycles if success is not guaranteed: about ten seconds."""

_CYCLE_TESTS_PER_ROW = 8_000
"""The number of pairs to test per row: without it, a small table that has no solution would take as long as a large one."""

_LEAST_CYCLE_TESTS = 1_000_000
"""The number of pairs to test in any table: hundredths of a second."""

_UNLIMITED = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class XColor(Method):
    """Start from groups of equal size with balanced neighbour counts; exchange rows until no row has too many neighbours.

    A group is a colour of the neighbour graph. A row with more than t = ⌊(1−δ)(|G|−1)⌋ neighbours of its colour is a
    violation. Each exchange of a violation with a row of another group lowers the number of edges within groups; among the
    exchanges that do, the one with the least information loss is made. Supports one (ε,δ)^k-dissimilarity, optionally with
    k-anonymity. Source: Wang & Liu (2010), Algorithms 1 and 2.

    Departures from the paper: n rows form ⌊n/k⌋ groups whose sizes differ by at most 1 (Algorithm 1 finds no bucket for
    n = 29, k = 10); every violation is tried before giving up, and cycles of any length when swaps are stuck; t depends on
    each group's own size; progress is measured by the edges within groups, which fall with every exchange, not by the
    violations, which may rise.

    In a cycle each row takes the place of the next one, in another group; the paper leaves them to future work. They are
    searched for from every row with neighbours in its group, shortest first, until a budget of tests is spent.

    The exchanges succeed whenever Θ < (t+1)(q·m+1)/(q+s−1), for m groups of q to s rows and Θ the largest degree; with
    cycles, for t = 0, up to about 2m/3 (see `sfumato.anonymization.cycle_bound`). Beyond that they often do. The start uses
    degrees only, so the groups are nearly random in the quasi-identifiers: expect a high loss.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"age": [30, 31, 50, 51], "pay": [10, 11, 90, 91]}), sf.Schema(["age"], ["pay"]))
    >>> grouping = XColor().group(Task(table, (sf.Dissimilarity(epsilon=5, delta=1, k=2),)))
    >>> grouping.of_row.tolist()
    [0, 1, 0, 1]
    """

    name: ClassVar[str] = "xcolor"

    def group(self, task: Task, seed: int = 0) -> Grouping:
        """Colour the neighbour graph. Nothing is random. Cost: one look at every row per exchange."""
        del seed
        principle, names, k = _requirement(task)
        view = task.views[names]
        size_part(view, k)  # a k larger than the table is an error
        limit = task.search_conditions(principle, names)[0]
        assert isinstance(limit, NeighbourLimit)
        values, codes = np.unique(limit.values, return_inverse=True)
        within = np.array([0, len(values)])
        assert not isinstance(limit.neighbours, GuardedNeighbours | OneSidedNeighbours)
        near = limit.neighbours.counts(within, values, np.bincount(codes)) - 1  # among the rows of the task
        degrees, largest = near[codes], int(near.max())
        start = initialize(degrees, k)
        nearness, space = NeighbourArrays.of(limit.neighbours), task.search_space
        # the largest degree is a whole number, so both bounds can be stated as the first that is too large
        swaps = math.ceil(guarantee(np.bincount(start), principle.allowed_neighbours))
        bound = max(swaps, cycle_bound(len(start), int(start.max()) + 1, principle.delta) + 1)
        guaranteed = largest < bound
        result = exchange(
            start, limit.values, nearness, principle.allowed_neighbours, space.places, space.shares,
            looks=None if guaranteed else _LOOKS,
            cycle_tests=_UNLIMITED if guaranteed else _cycle_tests(len(start)),
        )  # fmt: skip
        comparison = f"Θ = {largest:,} {'<' if guaranteed else '≥'} {bound:,}"
        notes = [
            f"XColor: exchanges were {'certain' if guaranteed else 'not certain'} to remove all violations ({comparison})."
        ]
        if len(result.violations):
            notes.append(
                f"XColor {'found no further exchange' if result.exhausted else 'stopped before every exchange was tried'}: "
                f"{len(result.violations):,} of {task.table.rows:,} rows have more neighbours in their group than "
                f"{principle.label} allows."
            )
        return Grouping(renumber(result.of_row), tuple(notes))


def initialize(degrees: Integers, k: int) -> Integers:
    """Spread rows over ⌊n/k⌋ groups: by descending degree, each into the group with the least sum that is not full.

    All groups are filled to ⌊n/m⌋ rows before any gets one more. Ties go to the earlier row and the earlier group.

    >>> initialize(np.array([1, 5, 4, 2]), 2).tolist()
    [0, 0, 1, 1]
    """
    rows = len(degrees)
    count = max(rows // k, 1)
    even = rows // count * count
    order = np.argsort(-degrees, kind="stable").tolist()
    of_row = np.empty(rows, np.int64)
    sums, sizes = [0] * count, [0] * count
    # first all rows that fill the groups evenly, then the remainder, at most one for each group
    for part, full in ((order[:even], rows // count), (order[even:], rows // count + 1)):
        queue = [(total, group) for group, total in enumerate(sums)]
        heapq.heapify(queue)
        for row in part:
            _, group = heapq.heappop(queue)
            of_row[row] = group
            sums[group] += int(degrees[row])
            sizes[group] += 1
            if sizes[group] < full:
                heapq.heappush(queue, (sums[group], group))
    return of_row


def guarantee(sizes: Integers, allowed: Callable[[int], int]) -> Fraction:
    """Return the bound below which the largest degree guarantees that swaps succeed: (t+1)(q·m+1)/(q+s−1).

    q and s are the smallest and the largest of the m sizes, t the least that any of them allows. The bound is sufficient,
    not necessary.

    >>> guarantee(np.full(4, 3), lambda size: 0)
    Fraction(13, 5)
    """
    smallest, largest = int(sizes.min()), int(sizes.max())
    least = min(allowed(int(size)) for size in np.unique(sizes))
    return Fraction((least + 1) * (smallest * len(sizes) + 1), smallest + largest - 1)


@dataclass(frozen=True, eq=False)
class ExchangeResult:
    """The groups after exchanges."""

    of_row: Integers
    violations: Integers
    """The rows that still have more neighbours in their group than it allows."""
    swaps: int
    cycles: int
    """Exchanges of several rows in a cycle, after no swap of a violation was left that lowers the potential."""
    longest_cycle: int
    """The rows of the longest of them."""
    potential: tuple[int, int]
    """The number of neighbouring pairs within groups, before and after."""
    exhausted: bool
    """Whether, if violations are left, every cycle of rows in different groups was tried."""


def exchange(
    of_row: Integers,
    values: Integers,
    nearness: NeighbourArrays,
    allowed: Callable[[int], int],
    places: NDArray[np.int32],
    shares: Shares,
    limit: int | None = None,
    looks: int | None = None,
    cycle_tests: int = CYCLE_TESTS,
) -> ExchangeResult:
    """Exchange rows between groups, whose sizes stay, until no row has more neighbours in its group than allowed.

    `values[row]` is the number of the row's sensitive value. `allowed(size)` returns how many neighbours a group of a size
    allows. `places` and `shares` determine the loss of a group. At most `limit` exchanges are made, with at most about
    `looks` looks of a row at a group for a partner. The arguments are not changed.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"age": [30, 31, 50, 51], "pay": [10, 11, 90, 91]}), sf.Schema(["age"], ["pay"]))
    >>> task = Task(table, (sf.Dissimilarity(epsilon=5, delta=1, k=2),))
    >>> view = task.views[("pay",)]
    >>> start, nearness = np.array([0, 0, 1, 1]), NeighbourArrays.of(view.graph(Fraction(5)))
    >>> space = task.search_space
    >>> result = exchange(start, view.attribute.codes, nearness, lambda size: 0, space.places, space.shares)
    >>> result.of_row.tolist(), result.swaps, result.potential
    ([1, 0, 0, 1], 1, (2, 0))
    """
    sizes = np.bincount(of_row)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    members = np.argsort(of_row, kind="stable")
    moved, own = of_row.astype(np.int64, copy=True), np.empty(len(of_row), np.int64)
    # sizes never change during exchanges, so the limit of each group is fixed
    by_size = {int(size): allowed(int(size)) for size in np.unique(sizes)}
    of_group = np.array([by_size[int(size)] for size in sizes], np.int64)
    figures = np.zeros(7, np.int64)
    profile, profiles = _profiles(places, shares)
    exchanges(
        nearness.arrays, shares, (values, places, profile), (offsets, members, moved, own, of_group),
        int(values.max()) + 1, profiles, _UNLIMITED if limit is None else limit, _UNLIMITED if looks is None else looks,
        cycle_tests, figures,
    )  # fmt: skip
    return ExchangeResult(
        moved,
        np.flatnonzero(own > of_group[moved]),
        int(figures[SWAPS]),
        int(figures[CYCLES]),
        int(figures[LONGEST]),
        (int(figures[BEFORE]), int(figures[AFTER])),
        bool(figures[TESTS] <= cycle_tests and (looks is None or figures[LOOKS] <= looks)),
    )


def _cycle_tests(rows: int) -> int:
    """Return how many pairs to test for cycles in a table of so many rows."""
    return min(max(_CYCLE_TESTS_PER_ROW * rows, _LEAST_CYCLE_TESTS), CYCLE_TESTS)


def _profiles(places: NDArray[np.int32], shares: Shares) -> tuple[Integers, int]:
    """Number the combinations of places: return that of each row, and how many there are."""
    if not places.shape[1]:
        return np.zeros(len(places), np.int64), 1
    numbers, parts = combined(list(places.T), (shares.size + 1).tolist())
    return numbers, len(parts)


def _requirement(task: Task) -> tuple[Dissimilarity, tuple[str, ...], int]:
    """Return the one dissimilarity that is required, its attribute, and the smallest size of a group."""
    dissimilarities = [(found, names) for p, names in task.requirements if (found := p.as_dissimilarity()) is not None]
    others = [p for p, _ in task.requirements if p.as_dissimilarity() is None and not p.size_only]
    if len(dissimilarities) != 1 or others:
        shaped = isinstance(others[0], Dissimilarity) if others else False
        titles = dict.fromkeys(p.label if shaped else p.title for p, _ in task.requirements)
        raise ParameterError(
            f"the method xcolor supports one (ε,δ)^k-dissimilarity{' of the shape star' if shaped else ''} on one "
            f"attribute, optionally with k-anonymity; requested: {', '.join(titles)}",
            remedy='Use the method "auto".',
            key="method",
            value="xcolor",
        )
    if task.table.schema.person_id is not None:
        raise ParameterError(
            "the method xcolor counts rows, but k counts people here, and a person may have several rows",
            remedy='Use the method "auto", or leave person_id out.',
            key="method",
            value="xcolor",
        )
    principle, names = dissimilarities[0]
    # a group of one has risk 1 by definition
    least = 2 if exactly(principle.delta) > 0 and task.table.rows > 1 else 1
    return principle, names, max([least, *(p.implied_k or 1 for p in task.principles)])
