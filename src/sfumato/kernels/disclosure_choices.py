"""The loss of every choice of a record's cells, all choices at once.

A record's candidates are the steps that may be disclosed of it. Where values are withheld or not, an attribute of which the
record has a value is one step. Where values are generalized, it has several: the node of the hierarchy on its coarsest
level, then the next finer one, up to the value itself; a step is disclosed only with the coarser ones. A choice is how many
steps of each attribute are disclosed, as a number with one digit per attribute: `radices[a]` is one more than the steps of
attribute a, and the first attribute has the lowest digit. With one step per attribute this number is a bit mask of the
candidates. `places[b]` is what one step of candidate b's attribute adds to the number, `first[b]` the number of the choice
that discloses candidate b and the coarser steps of its attribute, and nothing else.

An individual agrees with the record on the steps of which it has a consistent value, or none. Who agrees on a step agrees
on the coarser ones, so an agreement is a choice too, and the individual is consistent with all choices that disclose no
more of any attribute. The number of individuals who are consistent with a choice is therefore the number whose agreement
has no lower digit: one histogram over choices, and one sum over higher digits.

`index` is the inverted index of `kernels/dictionary_matching.py`, with a column for each step. The caller allocates all
arrays. Tables have one entry per choice: the product of the radices, which is 2^candidates with one step per attribute.
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
    index: Any, row: Any, candidates: Any, places: Any, common: int, patterns: Any, packed: Any, extra: Any, touched: Any
) -> int:
    """Find the candidates on which individuals agree with a record; return the number of individuals in `touched`.

    The agreement of individual v is `packed[pattern of v] + extra[v]`, the sum of the places of the candidates. A pattern
    covers what many records share: the columns of which the individual has no value, and the `common` ones (a mask) in
    which it agrees. `patterns` holds the distinct ones as masks over all columns; `packed` is filled with the same over the
    candidates. `extra[v]`, zero before the call, is filled with the other candidates in which v agrees, and `touched` with
    the individuals for whom it is not zero. Cost: the individuals with a consistent value, column by column, and the
    patterns.
    """
    _, near_starts, near, who_starts, who, _, _ = index
    # Phase 1: patterns as choices of the candidates.
    for p in range(len(patterns)):
        packed[p] = 0
        for b in range(len(candidates)):
            packed[p] += ((patterns[p] >> candidates[b]) & 1) * places[b]
    # Phase 2: the attributes that are not common, value by value.
    count = 0
    for b in range(len(candidates)):
        if (common >> candidates[b]) & 1:
            continue
        value, step = row[candidates[b]], places[b]
        for at in range(near_starts[value], near_starts[value + 1]):
            for place in range(who_starts[near[at]], who_starts[near[at] + 1]):
                v = who[place]
                if extra[v] == 0:
                    touched[count] = v
                    count += 1
                extra[v] += step
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
    radices: Any,
    layers: Any,
    table: Any,
) -> None:
    """Fill `table` with the weight of ρ for every choice, after `agreements`, and set `extra` back to zero.

    `layers` is scratch space: one more table for each misfit that is allowed. Misfits require one step per attribute.

    Without `weights` every individual weighs 1, and counts are exact, since floats hold integers up to 2⁵³. Weights are
    only added, so that nothing cancels. Cost: the attributes times the choices, and the touched individuals; with weights,
    all individuals.
    """
    # Phase 1: the histogram of agreements. Without weights, all individuals of a pattern are counted at once, and the
    # touched ones moved from their pattern to their agreement.
    table[:] = 0.0
    if len(weights):
        for v in range(len(extra)):
            table[packed[pattern_of[v]] + extra[v]] += weights[v]
    else:
        for p in range(len(packed)):
            table[packed[p]] += pattern_size[p]
        for at in range(count):
            pattern = packed[pattern_of[touched[at]]]
            table[pattern] -= 1.0
            table[pattern + extra[touched[at]]] += 1.0
    for at in range(count):
        extra[touched[at]] = 0
    # Phase 2: sums over higher digits, attribute by attribute. With one step, those with the bit are added to those without.
    if len(layers):
        _sum_with_misfits(layers, table)
        return
    step, size, done = 1, len(table), 0
    if len(radices) >= 3 and radices[0] == 2 and radices[1] == 2 and radices[2] == 2:
        # three attributes of one step at once, since short inner loops are slow
        for at in range(0, size, 8):
            t = table[at : at + 8]
            t[0], t[2], t[4], t[6] = t[0] + t[1], t[2] + t[3], t[4] + t[5], t[6] + t[7]
            t[0], t[1], t[4], t[5] = t[0] + t[2], t[1] + t[3], t[4] + t[6], t[5] + t[7]
            t[0], t[1], t[2], t[3] = t[0] + t[4], t[1] + t[5], t[2] + t[6], t[3] + t[7]
        step, done = 8, 3
    for a in range(done, len(radices)):
        block = radices[a] * step
        for start in range(0, size, block):
            # from the highest digit but one downwards, so that each digit gets the sum of all higher ones
            for digit in range(radices[a] - 2, -1, -1):
                for choice in range(start + digit * step, start + (digit + 1) * step):
                    table[choice] += table[choice + step]
        step = block


@kernel
def add_harm(
    table: Any, masks: Any, own: int, own_weight: float, misfits: int, false_harm: float, share: float, harm: Any
) -> None:
    """Add the expected harm in one dictionary, as a share of Φ, times the dictionary's share, to that of each choice.

    `table` holds the weight of ρ, and `masks` the candidates that each choice discloses. If the weight is 0, the attacker
    names nobody. The harm is 1 if the attacker names the right individual, and `false_harm` if another one; if that is 0,
    the expected harm is the chance of identification. `own` is the mask of the candidates on which the record's own
    individual agrees, with weight `own_weight`: for a choice outside of it the attacker is wrong for sure. It is -1, with
    weight 1, if the attacker picks any individual of ρ alike. Cost: the choices.
    """
    for choice in range(len(table)):
        # count the cells in which the own individual misfits, up to one more than is allowed
        rest, missed = masks[choice] & ~own, 0
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
def _sum_weights(cells: Any, pairs: Any, triples: Any, scale: float, first: Any, radices: Any, out: Any) -> None:
    """Fill `out` with the weight of every choice: that of all cells, pairs and triples that it contains.

    Each weight is put at the first choice that contains its candidates, and then summed over higher digits. Cost: the
    attributes times the choices, and the triples.
    """
    masks, extra = triples
    out[:] = 0.0
    for b in range(len(cells)):
        out[first[b]] += cells[b]
        for h in range(b + 1, len(cells)):
            if scale > 0 and pairs[b, h] > 0:  # 0·∞ is 0
                out[first[b] + first[h]] += pairs[b, h] * scale
    for at in range(len(masks)):
        choice = 0
        for b in range(len(cells)):
            choice += ((masks[at] >> b) & 1) * first[b]
        out[choice] += extra[at]
    step, size = 1, len(out)
    for radix in radices:
        block = radix * step
        for start in range(0, size, block):
            for choice in range(start, start + block - step):
                out[choice + step] += out[choice]
        step = block


@kernel
def sensitivities(
    form: int, cells: Any, pairs: Any, triples: Any, scale: float, paired: bool, first: Any, radices: Any, out: Any
) -> None:
    """Fill `out` with Φ of every choice.

    `cells[b]` is the weight of candidate b, `pairs[b, h]` the extra weight of two, b < h, times `scale`; those of the same
    attribute are 0. `triples` are masks of three candidates and their extra weights in this record. Cost: the choices; with
    pairs, triples or several steps per attribute, times the candidates.
    """
    if form == CONSTANT:
        out[:] = scale
        return
    if len(triples[0]) or len(radices) < len(cells):
        _sum_weights(cells, pairs, triples, scale, first, radices, out)
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
def least_by_size(table: Any, sizes: Any, least: Any, choices: Any) -> None:
    """Fill, for every number of cells, the least loss and the first choice that has it. Cost: the choices.

    `sizes[choice]` is the number of cells that a choice counts for; -1 if for none.
    """
    least[:] = np.inf
    choices[:] = -1
    for choice in range(len(table)):
        size = sizes[choice]
        if size >= 0 and (table[choice] < least[size] or choices[size] < 0):
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
