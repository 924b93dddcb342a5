"""Draw the values behind published cells: one sweep of a Gibbs sampler, and the likelihood of how groups are made up.

The rows of group g are `rows[row_at[g]:row_at[g + 1]]`; its cell in the column is `cell[g]`. Cell c may be any of the atoms
`member[member_at[c]:member_at[c + 1]]`; `width` is how much of each atom the cell covers. The members of a cell are divided
into `blocks[c]` blocks (`block`, −1: none), and the rows of a group have values in at least `needed[c]` of them, because a
cell is published as the smallest that covers its group.

`joint[row]` is the row's combination of atoms over all columns of the model, in which this column counts with `stride`;
`counts` is the number of rows of each combination, and `totals` that of each atom of the column. `prior` is the
pseudo-count of each combination of a Dirichlet prior.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel

_MOST_BLOCKS = 7
"""Subsets of up to this many blocks are enumerated."""


@kernel
def _density(total: float, size: float, width: float, gamma: float) -> float:
    """Return the weight of an atom by its number of rows: its rows per value to the power of gamma, times its values."""
    weight: float = ((total + 0.5) / size) ** gamma * width
    return weight


@kernel
def impute_sweep(
    chance: Any, groups: Any, row_at: Any, rows: Any, cell: Any, member_at: Any, member: Any, width: Any, block: Any,
    blocks: Any, needed: Any, size: Any, values: Any, joint: Any, stride: int, counts: Any, totals: Any, prior: float,
    gamma: float,
) -> None:  # fmt: skip
    """Draw the atom of every row of some groups again, given all others, and propose one swap for each.

    `chance` contains three random numbers in [0, 1) for each row. `values[row]` is the position of the row's atom among the
    members of its cell. A draw that would leave fewer than `needed` blocks with a value is impossible. Swaps let two rows
    exchange values of which the group has one each. Cost: linear in the rows times the members of their cells.
    """
    # Not split: the counts change with every row, and all phases of a row use them.
    prior_of_atom = prior * len(counts) / len(totals)
    drawn = 0  # how many of the random numbers are used up
    within = np.zeros(1, np.int64)  # for each block of the cell, the rows that have a value in it
    weights = np.zeros(1)
    for group in groups:
        start, stop, c = row_at[group], row_at[group + 1], cell[group]
        first, size_of_cell = member_at[c], member_at[c + 1] - member_at[c]
        if len(weights) < size_of_cell:
            weights = np.zeros(size_of_cell)
        if len(within) < blocks[c]:
            within = np.zeros(blocks[c], np.int64)
        within[: blocks[c]] = 0
        hit = 0  # blocks with at least one row
        for r in range(start, stop):
            at = block[first + values[rows[r]]]
            if at >= 0:
                hit += within[at] == 0
                within[at] += 1
        for r in range(start, stop):
            row = rows[r]
            old = values[row]
            atom, at = member[first + old], block[first + old]
            rest = joint[row] - atom * stride
            counts[joint[row]] -= 1
            totals[atom] -= 1
            if at >= 0:
                within[at] -= 1
                hit -= within[at] == 0
            sum_of_weights = 0.0
            for i in range(size_of_cell):
                to, b = member[first + i], block[first + i]
                reached = hit + (b >= 0 and within[b] == 0)
                weights[i] = 0.0
                if reached >= needed[c]:
                    k = rest + to * stride
                    given = (counts[k] + prior) / (totals[to] + prior_of_atom)  # P(other columns | atom)
                    weights[i] = given * _density(totals[to], size[to], width[first + i], gamma)
                sum_of_weights += weights[i]
            new = old
            if sum_of_weights > 0:
                left = chance[drawn] * sum_of_weights
                new = 0
                while new < size_of_cell - 1 and left >= weights[new]:
                    left -= weights[new]
                    new += 1
                if weights[new] == 0:  # rounding at the end of the sum
                    new = old
            atom, at = member[first + new], block[first + new]
            values[row] = new
            joint[row] = rest + atom * stride
            counts[joint[row]] += 1
            totals[atom] += 1
            if at >= 0:
                hit += within[at] == 0
                within[at] += 1
            # a swap leaves the make-up of the group as it is, so only the other columns decide on it
            other = rows[start + int(chance[drawn + 1] * (stop - start))]
            drawn += 3
            theirs = member[first + values[other]]
            their_rest = joint[other] - theirs * stride
            if theirs == atom or their_rest == rest:
                continue
            counts[joint[row]] -= 1
            counts[joint[other]] -= 1
            k, l = rest + theirs * stride, their_rest + atom * stride
            now = (counts[joint[row]] + prior) * (counts[joint[other]] + prior)
            then = (counts[k] + prior) * (counts[l] + prior)
            if chance[drawn - 1] * now < then:
                values[row], values[other] = values[other], values[row]
                joint[row], joint[other] = k, l
            counts[joint[row]] += 1
            counts[joint[other]] += 1


@kernel
def _chance(share: Any, members: int, rows: int, block: Any, blocks: int, needed: int) -> float:
    """Return the probability that rows with independent values have values in at least `needed` blocks.

    `share[row, member]` sums to 1 over the members. `needed` is 0, 2, or all blocks: by inclusion and exclusion.
    """
    if needed == blocks:
        total = 0.0
        for subset in range(1 << blocks):
            product, sign = 1.0, 1.0
            for b in range(blocks):
                sign = sign if subset >> b & 1 else -sign
            for row in range(rows):
                inside = 0.0
                for i in range(members):
                    if block[i] < 0 or subset >> block[i] & 1:
                        inside += share[row, i]
                product *= inside
            total += sign * product
        return total
    total = 1.0  # at least two blocks: not all rows in one of them
    for b in range(blocks):
        product = 1.0
        for row in range(rows):
            inside = 0.0
            for i in range(members):
                if block[i] == b:
                    inside += share[row, i]
            product *= inside
        total -= product
    return total


@kernel
def make_up_likelihood(
    groups: Any, row_at: Any, rows: Any, cell: Any, member_at: Any, member: Any, width: Any, block: Any, blocks: Any,
    needed: Any, size: Any, joint: Any, values: Any, stride: int, counts: Any, totals: Any, prior: float,
    gammas: Any, out: Any,
) -> None:  # fmt: skip
    """Fill `out` with the logarithm of P(other columns | gamma) over some groups, for each gamma.

    The values of the column are summed over. Groups with too many blocks are left out. Cost: for each group and gamma its
    rows times the members of its cell times the subsets of its blocks.
    """
    prior_of_atom = prior * len(counts) / len(totals)
    most_rows, most_members = 1, 1
    for group in groups:
        most_rows = max(most_rows, row_at[group + 1] - row_at[group])
        most_members = max(most_members, member_at[cell[group] + 1] - member_at[cell[group]])
    given, plain = np.zeros((most_rows, most_members)), np.zeros((most_rows, most_members))
    for g in range(len(gammas)):
        out[g] = 0.0
        for group in groups:
            start, stop, c = row_at[group], row_at[group + 1], cell[group]
            first, members = member_at[c], member_at[c + 1] - member_at[c]
            if needed[c] == blocks[c] and blocks[c] > _MOST_BLOCKS:
                continue
            gain = 0.0
            for r in range(start, stop):
                row = rows[r]
                rest = joint[row] - member[first + values[row]] * stride
                sums, sums_plain = 0.0, 0.0
                for i in range(members):
                    to = member[first + i]
                    k = rest + to * stride
                    density = _density(totals[to], size[to], width[first + i], gammas[g])
                    chance = (counts[k] + prior) / (totals[to] + prior_of_atom)
                    plain[r - start, i], given[r - start, i] = density, density * chance
                    sums_plain += density
                    sums += density * chance
                for i in range(members):
                    plain[r - start, i] /= sums_plain
                    given[r - start, i] /= sums
                gain += np.log(sums / sums_plain)
            if needed[c] > 0:
                of_cell = block[first : first + members]
                posterior = _chance(given, members, stop - start, of_cell, blocks[c], needed[c])
                before = _chance(plain, members, stop - start, of_cell, blocks[c], needed[c])
                if posterior > 1e-12 and before > 1e-12:
                    gain += np.log(posterior / before)
            out[g] += gain
