"""What every choice of a record's cells would disclose: the loss of all choices at once.

A record's candidates are the attributes of which it has a value; a choice is a mask over them, bit b standing for candidate
b. An individual agrees with the record on the mask of the candidates in which it has no value, or one consistent with the
record's; it is consistent with a choice if it agrees on all of it. So how many are consistent with a choice is how many
have an agreement that is a superset of it: one histogram, and one sum over supersets. `known` is as in
`kernels/consistent.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel

SUM, PRODUCT, CONSTANT = 0, 1, 2
"""The forms of a sensitivity."""


@kernel
def agree_on(known: Any, row: Any, attributes: Any, masks: Any) -> None:
    """Add to every individual's mask over all attributes those of the given ones in which it agrees with the record.

    Cost: the individuals who have a consistent value, attribute by attribute.
    """
    _, near_starts, near, who_starts, who, absent_starts, absent = known
    for j in attributes:
        bit = 1 << j
        for at in range(absent_starts[j], absent_starts[j + 1]):
            masks[absent[at]] |= bit
        if row[j] >= 0:
            for at in range(near_starts[row[j]], near_starts[row[j] + 1]):
                for place in range(who_starts[near[at]], who_starts[near[at] + 1]):
                    masks[who[place]] |= bit


@kernel
def agreements(known: Any, row: Any, candidates: Any, common: int, patterns: Any, packed: Any, seen: Any, met: Any) -> int:
    """Find on which candidates individuals agree with a record, beyond what is told of them by their pattern.

    `patterns` are the distinct masks, over all attributes, in which individuals have no value, or agree in one of the
    `common` attributes; `packed` is filled with them as masks over the candidates. `seen[v]`, zero before, is filled with
    the other candidates in which individual v has a consistent value, and `met` with the individuals who have any;
    returned is their number. Cost: those who have a consistent value, attribute by attribute, and the patterns.
    """
    _, near_starts, near, who_starts, who, _, _ = known
    for p in range(len(patterns)):
        bits = 0
        for b in range(len(candidates)):
            bits |= ((patterns[p] >> candidates[b]) & 1) << b
        packed[p] = bits
    count = 0
    for b in range(len(candidates)):
        if (common >> candidates[b]) & 1:
            continue
        value, bit = row[candidates[b]], 1 << b
        for at in range(near_starts[value], near_starts[value + 1]):
            for place in range(who_starts[near[at]], who_starts[near[at] + 1]):
                v = who[place]
                if seen[v] == 0:
                    met[count] = v
                    count += 1
                seen[v] |= bit
    return count


@kernel
def _tolerant(layers: Any, table: Any) -> None:
    """From the weight of each agreement to that of the individuals who misfit each choice in at most so many candidates.

    Candidate by candidate, an agreement without it goes to the choices with it one layer down: one more misfit. Cost:
    layers · candidates · 2^candidates.
    """
    layers[:] = 0.0
    step, size, deepest = 1, len(table), len(layers)
    while step < size:
        for start in range(0, size, 2 * step):
            for without in range(start, start + step):
                having = without + step
                for depth in range(deepest, -1, -1):
                    low = table[without] if depth == 0 else layers[depth - 1, without]
                    high = table[having] if depth == 0 else layers[depth - 1, having]
                    above = 0.0
                    if depth == 1:
                        above = table[without]
                    elif depth > 1:
                        above = layers[depth - 2, without]
                    if depth == 0:
                        table[without] = low + high
                    else:
                        layers[depth - 1, without], layers[depth - 1, having] = low + high, high + above
        step *= 2
    for depth in range(deepest):
        for choice in range(size):
            table[choice] += layers[depth, choice]


@kernel
def weigh_choices(
    pattern_of: Any, pattern_size: Any, weights: Any, packed: Any, seen: Any, met: Any, count: int, layers: Any, table: Any
) -> None:
    """Fill `table` with the weight of ρ of every choice, after `agreements`; `seen` is made zero again.

    `layers`: room for a further table for each misfit that is allowed.

    Without `weights` each individual weighs 1: counts are exact, since floats hold integers to 2⁵³. Weights are added
    only, so that nothing cancels. Cost: candidates · 2^candidates, and those who were met; with weights, all individuals.
    """
    table[:] = 0.0
    if len(weights):
        for v in range(len(seen)):
            table[packed[pattern_of[v]] | seen[v]] += weights[v]
    else:
        for p in range(len(packed)):
            table[packed[p]] += pattern_size[p]
        for at in range(count):
            missing = packed[pattern_of[met[at]]]
            table[missing] -= 1.0
            table[missing | seen[met[at]]] += 1.0
    for at in range(count):
        seen[met[at]] = 0
    if len(layers):
        _tolerant(layers, table)
        return
    step, size = 1, len(table)
    if size >= 8:  # three steps in one go, since short inner loops are slow
        for at in range(0, size, 8):
            t = table[at : at + 8]
            t[0], t[2], t[4], t[6] = t[0] + t[1], t[2] + t[3], t[4] + t[5], t[6] + t[7]
            t[0], t[1], t[4], t[5] = t[0] + t[2], t[1] + t[3], t[4] + t[6], t[5] + t[7]
            t[0], t[1], t[2], t[3] = t[0] + t[4], t[1] + t[5], t[2] + t[6], t[3] + t[7]
        step = 8
    while step < size:
        for start in range(0, size, 2 * step):
            for choice in range(start, start + step):
                table[choice] += table[choice + step]
        step *= 2


@kernel
def add_chances(table: Any, own: int, own_weight: float, misfits: int, share: float, chances: Any) -> None:
    """Add to each choice's chance of identification that in one dictionary, times its share.

    `own` is the agreement of the record's own individual, outside of which the attacker is wrong for sure; -1 if he picks
    any of ρ alike, and then `own_weight` is 1. Cost: 2^candidates.
    """
    for choice in range(len(table)):
        rest, missed = choice & ~own, 0
        while rest and missed <= misfits:
            rest &= rest - 1
            missed += 1
        if table[choice] > 0 and missed <= misfits:
            chances[choice] += share * (own_weight / table[choice])


@kernel
def sensitivities(form: int, cells: Any, pairs: Any, scale: float, paired: bool, out: Any) -> None:
    """Fill `out` with Φ of every choice, from that of the choice without its lowest candidate.

    Cost: 2^candidates, with pairs times the candidates.
    """
    if form == CONSTANT:
        out[:] = scale
        return
    out[0] = 0.0
    for choice in range(1, len(out)):
        low = 0
        while not (choice >> low) & 1:
            low += 1
        rest = choice & (choice - 1)
        total = out[rest] + cells[low]
        if paired and scale > 0:  # 0·∞ is 0
            for b in range(low + 1, len(cells)):
                if (rest >> b) & 1 and pairs[low, b] > 0:
                    total += pairs[low, b] * scale
        out[choice] = total
    if form == PRODUCT:
        for choice in range(len(out)):
            out[choice] = np.exp(out[choice])


@kernel
def multiply(phi: Any, chances: Any, out: Any) -> None:
    """Fill `out` with what each choice loses: Φ times the chance of identification, where 0·∞ is 0. Cost: 2^candidates."""
    for choice in range(len(phi)):
        out[choice] = phi[choice] * chances[choice] if phi[choice] > 0 and chances[choice] > 0 else 0.0


@kernel
def size_of(choice: int) -> int:
    """How many cells a choice discloses. Cost: their number."""
    size = 0
    while choice:
        choice &= choice - 1
        size += 1
    return size


@kernel
def least_by_size(table: Any, least: Any, choices: Any) -> None:
    """Find for every number of cells the choice that loses least; among equals, the first. Cost: 2^candidates."""
    least[:] = np.inf
    choices[:] = -1
    for choice in range(len(table)):
        size = size_of(choice)
        if table[choice] < least[size] or choices[size] < 0:
            least[size] = table[choice]
            choices[size] = choice


@kernel
def spread_choices(choices: Any, candidates: Any, out: Any) -> None:
    """Fill `out` with masks over all attributes from masks over the candidates; -1 stays. Cost: their bits."""
    for at in range(len(choices)):
        bits = 0
        for b in range(len(candidates)):
            bits |= ((choices[at] >> b) & 1) << candidates[b]
        out[at] = bits if choices[at] >= 0 else -1
