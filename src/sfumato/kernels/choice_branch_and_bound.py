"""The best choices of a record with too many candidates for a table of all choices: branch and bound.

A candidate is an attribute of which the record has a value; a choice is a bit mask of disclosed candidates. `agreements` is
a tuple of five arrays: agreed, sizes, starts, own, own_weight.

- `agreed[starts[d]:starts[d + 1]]` are the distinct masks of candidates on which individuals of dictionary d agree with the
  record, and `sizes` the total weight of the individuals with each mask. An individual is consistent with a choice if its
  mask contains the choice.
- `own[d]` is the mask of the record's own individual, or -1 (all bits set) if the attacker picks any individual alike;
  `own_weight[d]` is that individual's weight, or 1.

`mix` has one row per objective: the loss in row o is Φ times the sum over d of `mix[o, d]` times the expected harm in
dictionary d as a share of Φ: the chance of identification, plus `false_harm` times the chance of naming another individual.
Φ of a choice is made of `cells` (weight of each candidate), `pairs` (extra weight of two candidates, upper triangle) times
`scale`, and `triples` (masks of three candidates, and their extra weights in this record), by its `form`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel
from sfumato.kernels.disclosure_choices import CONSTANT, PRODUCT


@kernel
def _times(phi: float, harm: float) -> float:
    """The product, with 0·∞ = 0."""
    return phi * harm if phi > 0 and harm > 0 else 0.0


@kernel
def _harm(right: float, false_harm: float) -> float:
    """The expected harm as a share of Φ, if the attacker names somebody, who is the right one with this chance."""
    return right + false_harm * (1.0 - right)


@kernel
def _phi(form: int, total: float, scale: float) -> float:
    """Φ from the total weight of what is disclosed."""
    if form == CONSTANT:
        return scale
    return float(np.exp(total)) if form == PRODUCT else total


@kernel
def _sort(values: Any, count: int) -> None:
    """Sort the first `count` values ascending. Insertion sort: there are at most as many as candidates."""
    for at in range(1, count):
        value, to = values[at], at
        while to > 0 and values[to - 1] > value:
            values[to] = values[to - 1]
            to -= 1
        values[to] = value


@kernel
def _sum_of_smallest(values: Any, count: int, wanted: int) -> float:
    """The sum of the `wanted` smallest of the first `count` values, which are sorted on the way."""
    _sort(values, count)
    total = 0.0
    for at in range(wanted):
        total += values[at]
    return float(total)


@kernel
def _added_weight(j: int, chosen: int, cells: Any, pairs: Any, triples: Any, scale: float) -> float:
    """The weight that candidate j adds to a choice: its own, and that of its pairs and triples with chosen candidates."""
    total = cells[j]
    if scale > 0:  # 0·∞ is 0
        for h in range(len(cells)):
            if (chosen >> h) & 1 and pairs[min(j, h), max(j, h)] > 0:
                total += pairs[min(j, h), max(j, h)] * scale
    masks, extra = triples
    complete = chosen | (1 << j)
    for at in range(len(masks)):
        if (masks[at] >> j) & 1 and masks[at] & complete == masks[at]:
            total += extra[at]
    return float(total)


@kernel
def losses_of(
    agreements: Any, mix: Any, false_harm: float, form: int, cells: Any, pairs: Any, triples: Any, scale: float,
    choices: Any, out: Any,
) -> None:  # fmt: skip
    """Fill `out[o, at]` with the loss of choice `choices[at]` in row o of `mix`. Cost: agreements · choices."""
    agreed, sizes, starts, own, own_weight = agreements
    for at in range(len(choices)):
        choice, total = choices[at], 0.0
        for j in range(len(cells)):
            if (choice >> j) & 1:
                total += _added_weight(j, choice & ((1 << j) - 1), cells, pairs, triples, scale)
        phi = _phi(form, total, scale)
        for o in range(len(mix)):
            out[o, at] = 0.0
        for d in range(len(starts) - 1):
            weight = 0.0
            for a in range(starts[d], starts[d + 1]):
                if agreed[a] & choice == choice:
                    weight += sizes[a]
            if weight > 0:
                # if the own individual is ruled out, the attacker is wrong for sure
                right = own_weight[d] / weight if choice & own[d] == choice else 0.0
                for o in range(len(mix)):
                    out[o, at] += mix[o, d] * _harm(right, false_harm)
        for o in range(len(mix)):
            out[o, at] = _times(phi, out[o, at])


@kernel
def _least_harm(
    agreements: Any, alive: Any, alive_starts: Any, order: Any, t: int, chosen: int, more: int, excluded: int, leaf: bool,
    false_harm: float, left_weight: Any, harm: Any,
) -> int:  # fmt: skip
    """Fill `harm[d]` with a lower bound on the expected harm in the subtree, as a share of Φ; return the agreements seen.

    `alive[alive_starts[d]:alive_starts[d + 1]]` are the agreements of dictionary d that contain the chosen candidates;
    their weight is that of ρ. `order[t:]` are the undecided candidates, of which `more` are still to be chosen (0 if the
    number is free), and at most `excluded` can be. At a leaf the harm itself is filled.

    ρ only shrinks below a node. After `more` further cells it is no larger than the `more`-th largest weight that one
    undecided candidate leaves, which bounds the chance of identification from below, unless ρ may become empty, where the
    harm is 0. It cannot become empty while an individual agrees on all undecided candidates, or while the candidates that
    exclude the most weight exclude less than all of it together. The harm grows with the chance if a false identification
    harms less than a correct one; if it harms more, the harm is at least 1 as long as somebody is named.
    """
    agreed, sizes, _, own, own_weight = agreements
    remaining, looks, undecided = len(order) - t, 0, 0
    for at in range(t, len(order)):
        undecided |= 1 << order[at]
    for d in range(len(harm)):
        harm[d] = 0.0
        possible = chosen & own[d] == chosen and own_weight[d] > 0
        if not possible and false_harm == 0:
            continue
        # the weight of ρ, and whether somebody in it agrees on everything that is undecided
        weight, never_empty = 0.0, False
        for at in range(alive_starts[d], alive_starts[d + 1]):
            a = alive[at]
            weight += sizes[a]
            never_empty |= sizes[a] > 0 and agreed[a] & undecided == undecided
        looks += alive_starts[d + 1] - alive_starts[d]
        if weight <= 0:
            continue
        if leaf:
            harm[d] = _harm(own_weight[d] / weight if possible else 0.0, false_harm)
            continue
        # left_weight[b]: the weight of ρ if undecided candidate order[t + b] is disclosed next
        for at in range(t, len(order)):
            left_weight[at - t] = 0.0
        for at in range(alive_starts[d], alive_starts[d + 1]):
            a = alive[at]
            for b in range(t, len(order)):
                if (agreed[a] >> order[b]) & 1:
                    left_weight[b - t] += sizes[a]
        looks += remaining * (alive_starts[d + 1] - alive_starts[d])
        if own[d] < 0 and not never_empty:
            never_empty = excluded * weight - _sum_of_smallest(left_weight, remaining, excluded) < weight
        else:
            _sort(left_weight, remaining)
        # the chance is 0 as soon as the own individual is ruled out
        possible &= own[d] & undecided == undecided
        if own[d] >= 0:
            never_empty |= possible
        if never_empty:
            right = own_weight[d] / (left_weight[remaining - more] if more else weight) if possible else 0.0
            harm[d] = _harm(right, false_harm) if false_harm <= 1 else 1.0
    return looks


@kernel
def _least_added_weight(
    order: Any, t: int, chosen: int, cells: Any, pairs: Any, triples: Any, scale: float, more: int, work: Any
) -> float:
    """A lower bound on the weight that `more` undecided candidates add: the smallest ones, pairs and triples left out."""
    for at in range(t, len(order)):
        work[at - t] = _added_weight(order[at], chosen, cells, pairs, triples, scale)
    return _sum_of_smallest(work, len(order) - t, more)


@kernel
def _most_paid(order: Any, t: int, prices: Any, size: int, more: int, paid: float, work: Any) -> float:
    """An upper bound on the prices taken off in the subtree: those paid, and the highest of the undecided candidates."""
    if size < 0:
        for at in range(t, len(order)):
            paid += max(0.0, prices[order[at]])
    elif more:
        for at in range(t, len(order)):
            work[at - t] = -prices[order[at]]
        paid -= _sum_of_smallest(work, len(order) - t, more)
    return float(paid)


@kernel
def _is_dominated(values: Any, count: int, here: Any) -> bool:
    """Return whether one of the first `count` columns of `values` is at most `here` in every row."""
    for at in range(count):
        no_better = True
        for o in range(len(here)):
            if here[o] < values[o, at]:
                no_better = False
        if no_better:
            return True
    return False


@kernel
def _add_to_front(found: Any, values: Any, count: int, choice: int, here: Any) -> int:
    """Append a choice and drop those that it dominates; return the new count, or -1 if there is no room."""
    kept = 0
    for at in range(count):
        better = False
        for o in range(len(here)):
            better |= values[o, at] < here[o]
        if better:
            found[kept] = found[at]
            for o in range(len(here)):
                values[o, kept] = values[o, at]
            kept += 1
    if kept == len(found):
        return -1
    found[kept] = choice
    for o in range(len(here)):
        values[o, kept] = here[o]
    return kept + 1


@kernel
def _keep_agreeing(agreed: Any, alive: Any, alive_starts: Any, level: int, bit: int) -> None:
    """Fill level + 1 of `alive` with the agreements of a level that contain a bit, dictionary by dictionary."""
    place = 0
    for d in range(alive_starts.shape[1] - 1):
        alive_starts[level + 1, d] = place
        for at in range(alive_starts[level, d], alive_starts[level, d + 1]):
            a = alive[level, at]
            if agreed[a] & bit:
                alive[level + 1, place] = a
                place += 1
    alive_starts[level + 1, alive_starts.shape[1] - 1] = place


@kernel
def branch(
    agreements: Any,
    mix: Any,
    false_harm: float,
    form: int,
    cells: Any,
    pairs: Any,
    triples: Any,
    scale: float,
    prices: Any,
    order: Any,
    forced: int,
    size: int,
    budget: int,
    found: Any,
    values: Any,
    bound: Any,
) -> int:
    """Find the choices that no other dominates in every row of `mix`; return their number, -1 if `found` is too short.

    Candidates are decided in the given order, forced ones (a mask) first. `size` is the number of cells of a choice, -1 if
    it is free. The value of a choice is its loss minus the prices of its candidates. `found` and `values[o, at]` are
    filled with the choices and their values; `bound[o]` with a number that no choice is below in row o. It is less than
    the values only if the budget, in agreements looked at, ran out.

    Depth-first search without recursion. Depth t has decided the candidates order[:t]. Below a node ρ only shrinks and Φ
    only grows, which bounds the loss: see `_least_harm` and `_least_added_weight`. A node is left if a choice that was
    found is at most its bound in every row. Cost: nodes · agreements · candidates, up to the budget.
    """
    # One function because all phases share the state of the search, one entry per depth.
    agreed, starts = agreements[0], agreements[2]
    c, dictionaries, rows = len(order), len(starts) - 1, len(mix)
    # alive[level]: the agreements that contain the chosen candidates, one level per chosen candidate
    alive = np.empty((c + 1, len(agreed)), np.int64)
    alive_starts = np.zeros((c + 1, dictionaries + 1), np.int64)
    for a in range(len(agreed)):
        alive[0, a] = a
    for d in range(dictionaries + 1):
        alive_starts[0, d] = starts[d]
    # per depth: the level of alive, the chosen mask, its number of cells, its weight, the prices paid, the branches
    # tried (0 none, 1 with the candidate, 2 also without), and the lower bound of the node
    level = np.zeros(c + 2, np.int64)
    chosen = np.zeros(c + 2, np.int64)
    count_of = np.zeros(c + 2, np.int64)
    total = np.zeros(c + 2)
    paid = np.zeros(c + 2)
    tried = np.zeros(c + 2, np.int64)
    under = np.zeros((c + 2, rows))
    work, harm, here = np.empty(c), np.empty(dictionaries), np.empty(rows)
    bound[:] = np.inf
    count, looks, t = 0, 0, 0
    entering = True
    while t >= 0:
        if entering:
            # Phase 1: a node is entered. Compute its bound; at a leaf that is its value.
            entering = False
            needed, remaining = size - count_of[t], c - t
            leaf = needed == 0 or remaining == 0 if size >= 0 else remaining == 0
            if size >= 0 and (needed < 0 or remaining < needed):
                t -= 1
                continue
            more = 0 if leaf or size < 0 else needed
            excluded = remaining if size < 0 else needed
            on = level[t]
            looks += _least_harm(
                agreements, alive[on], alive_starts[on], order, t, chosen[t], more, excluded, leaf, false_harm, work, harm
            )
            extra = 0.0
            if more and form != CONSTANT:
                extra = _least_added_weight(order, t, chosen[t], cells, pairs, triples, scale, more, work)
            most_paid = _most_paid(order, t, prices, size, more, paid[t], work)
            phi = _phi(form, total[t] + extra, scale)
            for o in range(rows):
                here[o] = 0.0
                for d in range(dictionaries):
                    here[o] += mix[o, d] * harm[d]
                here[o] = _times(phi, here[o]) - most_paid
                under[t, o] = here[o]
            # Phase 2: leave the node if nothing below it can be kept, and keep it if it is a leaf.
            if _is_dominated(values, count, here):
                t -= 1
                continue
            if leaf:
                count = _add_to_front(found, values, count, chosen[t], here)
                if count < 0:
                    return -1
                t -= 1
                continue
            tried[t] = 0
        if looks > budget and count > 0:
            # Phase 3: the budget has run out. What is open on the way back counts with its bound.
            if tried[t] < 2:
                for o in range(rows):
                    bound[o] = min(bound[o], under[t, o])
            t -= 1
            continue
        # Phase 4: go down, first with candidate j and then without it.
        j = order[t]
        if tried[t] == 0:
            tried[t] = 1
            bit = 1 << j
            _keep_agreeing(agreed, alive, alive_starts, level[t], bit)
            looks += alive_starts[level[t], dictionaries]
            level[t + 1], chosen[t + 1], count_of[t + 1] = level[t] + 1, chosen[t] | bit, count_of[t] + 1
            total[t + 1] = total[t] + _added_weight(j, chosen[t], cells, pairs, triples, scale)
            paid[t + 1] = paid[t] + prices[j]
            t += 1
            entering = True
        elif tried[t] == 1:
            tried[t] = 2
            if (forced >> j) & 1:
                t -= 1
                continue
            level[t + 1], chosen[t + 1], count_of[t + 1] = level[t], chosen[t], count_of[t]
            total[t + 1], paid[t + 1] = total[t], paid[t]
            t += 1
            entering = True
        else:
            t -= 1
    # Phase 5: no choice is below the best that was found, nor below the bounds of what was left open.
    for at in range(count):
        for o in range(rows):
            bound[o] = min(bound[o], values[o, at])
    return count
