"""What an attacker believes about the people of a group: one value each, and every value as often as the group has it."""

from __future__ import annotations

from math import exp
from typing import Any, NamedTuple

from sfumato.kernels.array_records import by_reference
from sfumato.kernels.compile import kernel, subroutine


@by_reference
class Blocks(NamedTuple):
    """People in blocks, and the values that are to be dealt out among them; a block is a group, or a part of one."""

    offsets: Any
    """The people of block b are `offsets[b]:offsets[b + 1]` of `cells` and `model`."""
    cells: Any
    """`cells[i, f] + v` is the place of feature f of person i together with value v in a table."""
    model: Any
    """For each person the table that describes it."""
    group: Any
    """For each block its group."""
    starts: Any
    """The values of group g are `starts[g]:starts[g + 1]` of `values` and `counts`."""
    values: Any
    """The distinct values of each group."""
    counts: Any
    """How often each of them occurs in its group."""
    places: Any
    """Where the beliefs of block b begin: for each of its people one number for each value of its group."""


@kernel
def deal_values(blocks: Any, tables: Any, steps: Any, tolerance: Any, out: Any) -> None:
    """Fill `out` with the beliefs: for each person a probability of each value of its group.

    `tables[m, c]` is the logarithm of a factor; a belief is the product of the factors of all features, scaled by turns so
    that the value of a block has its share of the people in sum, and those of a person have 1, at most `steps` times, or
    until no sum of a value is off by more than `tolerance`. Cost: the beliefs times the number of features and steps.
    """
    for b in range(blocks.offsets.size - 1):
        first, end = blocks.offsets[b], blocks.offsets[b + 1]
        g = blocks.group[b]
        low, distinct = blocks.starts[g], blocks.starts[g + 1] - blocks.starts[g]
        at = blocks.places[b]
        _weigh(blocks, tables, first, end, low, distinct, at, out)
        size = 0.0
        for j in range(distinct):
            size += blocks.counts[low + j]
        share = (end - first) / size  # of the group's people that this block has
        for _ in range(steps):
            off = 0.0
            for j in range(distinct):
                total = 0.0
                for i in range(end - first):
                    total += out[at + i * distinct + j]
                wanted = share * blocks.counts[low + j]
                off = max(off, abs(total - wanted))
                factor = wanted / total
                for i in range(end - first):
                    out[at + i * distinct + j] *= factor
            _sum_to_one(at, end - first, distinct, out)
            if off <= tolerance:
                break


@subroutine
def _weigh(blocks: Any, tables: Any, first: Any, end: Any, low: Any, distinct: Any, at: Any, out: Any) -> None:
    """Fill the beliefs of one block with products of factors, each person's divided by the largest, and summing to 1."""
    for i in range(first, end):
        row = at + (i - first) * distinct
        model = blocks.model[i]
        largest = -1e300
        for j in range(distinct):
            value = blocks.values[low + j]
            total = 0.0
            for f in range(blocks.cells.shape[1]):
                total += tables[model, blocks.cells[i, f] + value]
            out[row + j] = total
            largest = max(largest, total)
        for j in range(distinct):
            # no belief vanishes, so that every value can be dealt out
            out[row + j] = exp(max(out[row + j] - largest, -60.0))
    _sum_to_one(at, end - first, distinct, out)


@subroutine
def _sum_to_one(at: Any, people: Any, distinct: Any, out: Any) -> None:
    """Scale each person's beliefs so that they sum to 1."""
    for i in range(people):
        row = at + i * distinct
        total = 0.0
        for j in range(distinct):
            total += out[row + j]
        for j in range(distinct):
            out[row + j] /= total


@kernel
def count_beliefs(blocks: Any, beliefs: Any, counts: Any) -> None:
    """Add each belief to the place in `counts` of each of the person's features together with the value.

    Cost: the beliefs times the number of features.
    """
    for b in range(blocks.offsets.size - 1):
        first, end = blocks.offsets[b], blocks.offsets[b + 1]
        g = blocks.group[b]
        low, distinct = blocks.starts[g], blocks.starts[g + 1] - blocks.starts[g]
        for i in range(first, end):
            row = blocks.places[b] + (i - first) * distinct
            for f in range(blocks.cells.shape[1]):
                cell = blocks.cells[i, f]
                for j in range(distinct):
                    counts[cell + blocks.values[low + j]] += beliefs[row + j]


@kernel
def most_probable(cells: Any, model: Any, tables: Any, prior: Any, out: Any) -> None:
    """Fill for each person the value with the largest sum of logarithms: `prior[m, v]` and those of all features.

    The first of several. Cost: people times values times features.
    """
    for i in range(cells.shape[0]):
        best, found = -1e300, 0
        for v in range(prior.shape[1]):
            total = prior[model[i], v]
            for f in range(cells.shape[1]):
                total += tables[model[i], cells[i, f] + v]
            if total > best:
                best, found = total, v
        out[i] = found
