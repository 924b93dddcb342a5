"""Search groups of one problem: order, cut, exchange, repair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods.group_repair import repair
from sfumato.anonymization.methods.packing import pack_table
from sfumato.anonymization.methods.search_problem import SearchProblem
from sfumato.anonymization.methods.search_state import VISITS, SearchState
from sfumato.data.groups import renumber

Integers = NDArray[np.int64]

_SMALL = 400
"""Tables of up to this many rows are searched from several starts, and the best result is kept."""

_STARTS = 12

_PRICES = (0.1, 3.0, 0.0)
"""The price of excess at which each start cuts, in turn."""

_HIGH_PRICE = 2.5
"""The price of excess of a cut where only large groups can satisfy the principles, for each quasi-identifier."""

_LARGEST_CUT = 512
"""The largest group of such a cut; its cost grows with it."""

_SLACKS = (0.2, 0.05, 0.1)
"""The excess per row with which each start cuts the table where shares are bounded, in turn."""


_HOPELESS = 2.6
"""A cut that leaves more excess per row than this is not worth exchanges: packed groups are the start."""

_USUAL_SIZE = 32
"""The size of groups up to which these thresholds hold; for larger groups they are in proportion."""

_NEARLY_NONE = 0.05
"""The excess per row from which on exchanges remove the rest at a prohibitive price."""


def search_part(
    problem: SearchProblem, seed: int, effort: int = 1, known: Integers | None = None, visits: float = VISITS
) -> Integers:
    """Return the group of each row, numbered from 0 without gaps; a group may still have excess.

    `known` are groups that are known already, such as those of Mondrian: one of the starts. `visits` is the number of rows
    that annealing visits, for each row. The result depends on the arguments only.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"age": [30, 61, 31, 60]}), sf.Schema(["age"]))
    >>> search_part(SearchProblem.of(sf.anonymization.Task(table, (sf.KAnonymity(2),))), seed=0).tolist()
    [0, 1, 0, 1]
    """
    if problem.rows < 2 * problem.constraints.least:
        return np.zeros(problem.rows, np.int64)
    best: SearchState | None = None
    for start in range(_STARTS if problem.rows <= _SMALL else 1):
        state = _search(problem, seed, start, effort, known, visits)
        if best is None or state.rank < best.rank:
            best = state
    assert best is not None
    return renumber(best.labels)


def _search(
    problem: SearchProblem, seed: int, start: int, effort: int, known: Integers | None, visits: float
) -> SearchState:
    """Run the four phases once. The first starts use the best order, the others random ones."""
    state = SearchState(problem, seed * _STARTS + start)
    state.visits = visits
    state.span = (0.1, 0.5)
    if state.needs_large_groups and start == 0:
        cut_further(state, known, effort)
    if state.can_be_cut_again and problem.constraints.bounds_shares:
        state.cut_again(np.zeros(state.rows, np.int64), _SLACKS[start % 3])
        state.exchange_shares(effort)
    else:
        _exchange(state, start, effort)
    # the price is prohibitive from here on: loss falls, excess does not return
    state.span = (0.5, 1.0)
    state.lower_loss(effort)
    state.remember()
    if state.excess > 0:
        problem.progress("repairing groups")
        repair(state, effort)
        state.remember()
        state.lower_loss(effort)
    state.return_to_best()
    return state


def _exchange(state: SearchState, start: int, effort: int) -> None:
    """Cut an order into groups, and exchange rows until little excess is left."""
    if state.has_rare_values:
        # they do not suffice for as many groups as usual: larger ones, which must have them from the start
        wanted = 2 * state.rows // state.constraints.most_groups(state.rows) + 1
        state.most = max(state.most, min(_LARGEST_CUT, wanted))
        state.cut(_HIGH_PRICE * state.problem.columns, shuffled=start >= 3)
        return
    state.cut(price=_PRICES[start % 3], shuffled=start >= 3)
    # a row can have as much excess as its group has rows
    crowded = state.excess / state.rows / max(1.0, state.packed_size / _USUAL_SIZE)
    if not state.can_be_packed or crowded <= _HOPELESS:
        if state.constraints.neighbour_limits or state.constraints.conditions:
            state.exchange(effort)
        # exchanges remove excess at less loss than packed groups have, where they remove it
        if crowded <= 1.0 or state.excess <= _NEARLY_NONE * state.rows:
            return
    if state.can_be_packed:
        pack_table(state)
        state.exchange_crowded(effort)
        # packed groups are spread over the whole table, and need more rounds than others
        state.lower_loss(effort, rounds=3)


def cut_further(state: SearchState, known: Integers | None, effort: int) -> None:
    """Remember simple results: the best allowed cuts of the table, and those of groups that are known already.

    Both satisfy the principles wherever the table as one group does.
    """
    for labels in (np.zeros(state.rows, np.int64), *(() if known is None else (known,))):
        state.cut_again(labels)
        state.remember()
    state.return_to_best()
    for _ in range(2 * effort):
        state.lower_loss(effort, rounds=2)
        state.cut_again(state.labels.copy())
        state.remember()


def improve_part(problem: SearchProblem, labels: Integers, seed: int, effort: int = 1) -> Integers:
    """Lower the loss of groups that are known already; the result is never worse. `labels` are numbered without gaps."""
    state = SearchState(problem, seed)
    state.regroup(labels)
    state.remember()
    # the loss has fallen already, except across the borders of the first parts; large groups take longer
    state.lower_loss(effort, rounds=6 if state.needs_large_groups else 2)
    state.return_to_best()
    return renumber(state.labels)


def repair_part(problem: SearchProblem, labels: Integers, seed: int, effort: int = 1) -> Integers:
    """Repair groups with excess, then lower the loss; the result is never worse. `labels` are numbered without gaps."""
    state = SearchState(problem, seed)
    state.regroup(labels)
    state.remember()
    repair(state, effort)
    state.remember()
    state.lower_loss(effort)
    state.return_to_best()
    return renumber(state.labels)


def failing_groups(problem: SearchProblem, labels: Integers) -> NDArray[np.bool_]:
    """Return for each group whether it is too small or has excess, as the search reckons it."""
    state = SearchState(problem, 0)
    state.regroup(labels)
    return np.asarray((state.arrays.excess > 0) | (state.arrays.size < problem.constraints.least))
