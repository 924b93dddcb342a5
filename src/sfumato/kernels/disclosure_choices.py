"""The loss of every choice of a record's cells, all choices at once.

A record's candidates are the attributes of which it has a value. A choice is a bit mask over them: bit b is candidate b.
An individual agrees with the record on the candidates of which it has a consistent value, or none; it is consistent with a
choice if it agrees on all of it. The number of individuals who are consistent with a choice is therefore the number whose
agreement is a superset of the choice: one histogram over masks, and one sum over supersets.

`index` is the inverted index of `kernels/dictionary_matching.py`. The caller allocates all arrays. Tables have one entry
per choice: 2^candidates.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel

SUM, PRODUCT, CONSTANT = 0, 1, 2
"""The forms of Φ: the sum of weights, e to the power of it, or a constant."""


@kernel
def add_agreements(index: Any, row: Any, attributes: Any, masks: Any) -> None:
    """Set, in every individual's mask, the bits of the given attributes in which it agrees with a record.

    Masks are over all attributes. Cost: the individuals with a consistent or missing value, attribute by attribute.
    """
    _, near_starts, near, who_starts, who, absent_starts, absent = index
    for j in attributes:
        bit = 1 << j
        for at in range(absent_starts[j], absent_starts[j + 1]):
            masks[absent[at]] |= bit
        if row[j] >= 0:
            for at in range(near_starts[row[j]], near_starts[row[j] + 1]):
                for place in range(who_starts[near[at]], who_starts[near[at] + 1]):
                    masks[who[place]] |= bit


@kernel
def agreements(
    index: Any, row: Any, candidates: Any, common: int, patterns: Any, packed: Any, extra: Any, touched: Any
) -> int:
    """Find the candidates on which individuals agree with a record; return the number of individuals in `touched`.

    The agreement of individual v is `packed[pattern of v] | extra[v]`. A pattern covers what many records share: the
    attributes of which the individual has no value, and the `common` attributes (a mask) in which it agrees. `patterns`
    holds the distinct ones over all attributes; `packed` is filled with the same over the candidates. `extra[v]`, zero
    before the call, is filled with the other candidates in which v agrees, and `touched` with the individuals for whom it
    is not zero. Cost: the individuals with a consistent value, attribute by attribute, and the patterns.
    """
    _, near_starts, near, who_starts, who, _, _ = index
    # Phase 1: patterns as masks over the candidates.
    for p in range(len(patterns)):
        bits = 0
        for b in range(len(candidates)):
            bits |= ((patterns[p] >> candidates[b]) & 1) << b
        packed[p] = bits
    # Phase 2: the attributes that are not common, value by value.
    count = 0
    for b in range(len(candidates)):
        if (common >> candidates[b]) & 1:
            continue
        value, bit = row[candidates[b]], 1 << b
        for at in range(near_starts[value], near_starts[value + 1]):
            for place in range(who_starts[near[at]], who_starts[near[at] + 1]):
                v = who[place]
                if extra[v] == 0:
                    touched[count] = v
                    count += 1
                extra[v] |= bit
    return count


@kernel
def _sum_with_misfits(layers: Any, table: Any) -> None:
    """Turn the weight of each agreement into that of the individuals who misfit each choice in at most `len(layers)` cells.

    `table` is layer 0, exact agreement; `layers[k - 1]` counts individuals with exactly k misfits. Candidate by candidate,
    the weight at masks without the candidate reaches the choices with it one layer deeper: one more misfit. In the end the
    layers are added up. Cost: layers · candidates · 2^candidates.
    """
    layers[:] = 0.0
    step, size, deepest = 1, len(table), len(layers)
    while step < size:
        for start in range(0, size, 2 * step):
            for without in range(start, start + step):
                having = without + step
                # deepest layer first, so that the layer above still has the sums of the last step
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
    pattern_of: Any,
    pattern_size: Any,
    weights: Any,
    packed: Any,
    extra: Any,
    touched: Any,
    count: int,
    layers: Any,
    table: Any,
) -> None:
    """Fill `table` with the weight of ρ for every choice, after `agreements`, and set `extra` back to zero.

    `layers` is scratch space: one more table for each misfit that is allowed.

    Without `weights` every individual weighs 1, and counts are exact, since floats hold integers up to 2⁵³. Weights are
    only added, so that nothing cancels. Cost: candidates · 2^candidates, and the touched individuals; with weights, all
    individuals.
    """
    # Phase 1: the histogram of agreements. Without weights, all individuals of a pattern are counted at once, and the
    # touched ones moved from their pattern to their agreement.
    table[:] = 0.0
    if len(weights):
        for v in range(len(extra)):
            table[packed[pattern_of[v]] | extra[v]] += weights[v]
    else:
        for p in range(len(packed)):
            table[packed[p]] += pattern_size[p]
        for at in range(count):
            pattern = packed[pattern_of[touched[at]]]
            table[pattern] -= 1.0
            table[pattern | extra[touched[at]]] += 1.0
    for at in range(count):
        extra[touched[at]] = 0
    # Phase 2: sums over supersets. Step 2^b adds the masks with bit b to those without it.
    if len(layers):
        _sum_with_misfits(layers, table)
        return
    step, size = 1, len(table)
    if size >= 8:  # the first three steps at once, since short inner loops are slow
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
def add_harm(table: Any, own: int, own_weight: float, misfits: int, false_harm: float, share: float, harm: Any) -> None:
    """Add the expected harm in one dictionary, as a share of Φ, times the dictionary's share, to that of each choice.

    `table` holds the weight of ρ. If it is 0, the attacker names nobody. The harm is 1 if the attacker names the right
    individual, and `false_harm` if another one; if that is 0, the expected harm is the chance of identification. `own` is
    the agreement of the record's own individual, with weight `own_weight`: for a choice outside of it the attacker is
    wrong for sure. It is -1, with weight 1, if the attacker picks any individual of ρ alike. Cost: 2^candidates.
    """
    for choice in range(len(table)):
        # count the cells in which the own individual misfits, up to one more than is allowed
        rest, missed = choice & ~own, 0
        while rest and missed <= misfits:
            rest &= rest - 1
            missed += 1
        if table[choice] > 0:
            right = own_weight / table[choice] if missed <= misfits else 0.0
            harm[choice] += share * (right + false_harm * (1.0 - right))


@kernel
def _add_weights(cells: Any, pairs: Any, scale: float, paired: bool, out: Any) -> None:
    """Fill `out` with the weight of every choice, from that of the choice without its lowest candidate; without triples.

    Cost: 2^candidates; with pairs, times the candidates.
    """
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


@kernel
def _sum_weights(cells: Any, pairs: Any, triples: Any, scale: float, out: Any) -> None:
    """Fill `out` with the weight of every choice: that of all cells, pairs and triples that it contains.

    Each weight is put at its own mask, and then summed over subsets. Cost: candidates · 2^candidates, and the triples.
    """
    masks, extra = triples
    out[:] = 0.0
    for b in range(len(cells)):
        out[1 << b] += cells[b]
        for h in range(b + 1, len(cells)):
            if scale > 0 and pairs[b, h] > 0:  # 0·∞ is 0
                out[(1 << b) | (1 << h)] += pairs[b, h] * scale
    for at in range(len(masks)):
        out[masks[at]] += extra[at]
    step, size = 1, len(out)
    while step < size:
        for start in range(0, size, 2 * step):
            for choice in range(start, start + step):
                out[choice + step] += out[choice]
        step *= 2


@kernel
def sensitivities(form: int, cells: Any, pairs: Any, triples: Any, scale: float, paired: bool, out: Any) -> None:
    """Fill `out` with Φ of every choice.

    `cells[b]` is the weight of candidate b, `pairs[b, h]` the extra weight of two, b < h, times `scale`. `triples` are masks
    of three candidates and their extra weights in this record. Cost: 2^candidates; with pairs or triples, times the
    candidates.
    """
    if form == CONSTANT:
        out[:] = scale
        return
    if len(triples[0]):
        _sum_weights(cells, pairs, triples, scale, out)
    else:
        _add_weights(cells, pairs, scale, paired, out)
    if form == PRODUCT:
        for choice in range(len(out)):
            out[choice] = np.exp(out[choice])


@kernel
def multiply(phi: Any, harm: Any, out: Any) -> None:
    """Fill `out` with the loss of each choice: Φ times the harm as a share of it, where 0·∞ is 0. Cost: 2^candidates."""
    for choice in range(len(phi)):
        out[choice] = phi[choice] * harm[choice] if phi[choice] > 0 and harm[choice] > 0 else 0.0


@kernel
def size_of(choice: int) -> int:
    """The number of cells that a choice discloses. Cost: their number."""
    size = 0
    while choice:
        choice &= choice - 1
        size += 1
    return size


@kernel
def least_by_size(table: Any, least: Any, choices: Any) -> None:
    """Fill, for every number of cells, the least loss and the first choice that has it. Cost: 2^candidates."""
    least[:] = np.inf
    choices[:] = -1
    for choice in range(len(table)):
        size = size_of(choice)
        if table[choice] < least[size] or choices[size] < 0:
            least[size] = table[choice]
            choices[size] = choice


@kernel
def widen_choices(choices: Any, candidates: Any, out: Any) -> None:
    """Turn masks over a record's candidates into masks over all attributes; -1 stays. Cost: the bits."""
    for at in range(len(choices)):
        bits = 0
        for b in range(len(candidates)):
            bits |= ((choices[at] >> b) & 1) << candidates[b]
        out[at] = bits if choices[at] >= 0 else -1
