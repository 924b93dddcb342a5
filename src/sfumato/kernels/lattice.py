"""Classes of equal generalized values, rolled up from finer classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel


@kernel
def roll_classes(
    codes: Any, nodes: Any, at: Any, strides: Any, span: Any, first: Any, sizes: Any, of: Any, firsts: Any, sums: Any
) -> int:
    """Merge classes whose members have the same node in every attribute; return how many there are then.

    Class i is made of `sizes[i]` rows, and combination `first[i]` stands for it: its code of attribute j is
    `codes[first[i], j]`, and the node above that `nodes[at[j] + code]`. `of[i]` becomes its new class; `firsts` and
    `sums` the combination and the rows of each new one. A new class is known by Σ node · `strides[j]`, which is below
    `span`; if that is 0 the sums do not fit in 64 bits, and serve as a hash whose hits are looked at node by node.
    Cost: classes times attributes.
    """
    count, d = len(first), codes.shape[1]
    direct = 0 < span <= 4 * count + 1024
    capacity = span if direct else 1
    while capacity < 2 * count and not direct:
        capacity *= 2
    table = np.full(capacity, -1, np.int32)
    keys = np.empty(0 if direct else capacity, np.int64)
    made = 0
    for i in range(count):
        one = first[i]
        key = np.int64(0)
        for j in range(d):
            key += nodes[at[j] + codes[one, j]] * strides[j]
        slot = key
        if not direct:
            mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
            slot = np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(capacity - 1))
            while table[slot] >= 0:
                if keys[slot] == key:
                    same = True
                    if span == 0:
                        other = firsts[table[slot]]
                        for j in range(d):
                            if nodes[at[j] + codes[one, j]] != nodes[at[j] + codes[other, j]]:
                                same = False
                                break
                    if same:
                        break
                slot = (slot + 1) & (capacity - 1)
        found = table[slot]
        if found < 0:
            found = made
            table[slot] = made
            if not direct:
                keys[slot] = key
            firsts[made] = one
            sums[made] = 0
            made += 1
        of[i] = found
        sums[found] += sizes[i]
    return made


@kernel
def roll_entries(starts: Any, group: Any, counts: Any, of: Any, classes: Any, to: Any, groups: Any, sums: Any) -> None:
    """Merge the entries of a histogram when its classes are: those of value v stand at `starts[v]:starts[v + 1]`.

    Entry e says that class `group[e]` has its value `counts[e]` times; class i becomes `of[i]`, one of `classes`. `to`,
    `groups` and `sums` become the new histogram. Cost: the number of entries.
    """
    place = np.full(classes, -1, np.int64)
    made = 0
    for v in range(len(starts) - 1):
        begin = made
        for e in range(starts[v], starts[v + 1]):
            g = of[group[e]]
            if place[g] < begin:
                place[g] = made
                groups[made] = g
                sums[made] = counts[e]
                made += 1
            else:
                sums[place[g]] += counts[e]
        to[v + 1] = made


@kernel
def add_moved(
    starts: Any, group: Any, counts: Any, sizes: Any, totals: Any, whole: Any, values: Any, ends: Any, moved: Any
) -> None:
    """Add to `moved`, per class, Σ |count · whole − total · size| over the nodes of one level, whole and total of the table.

    Node b holds the values `values[ends[b]:ends[b + 1]]`. Cost: entries, classes and nodes.
    """
    classes = len(sizes)
    held = np.zeros(classes, np.int64)
    touched = np.empty(classes, np.int64)
    for g in range(classes):
        moved[g] += sizes[g] * whole  # what a class without any of the nodes would have; corrected where it has one
    for b in range(len(ends) - 1):
        total, count = np.int64(0), 0
        for at in range(ends[b], ends[b + 1]):
            v = values[at]
            total += totals[v]
            for e in range(starts[v], starts[v + 1]):
                g = group[e]
                if held[g] == 0:
                    touched[count] = g
                    count += 1
                held[g] += counts[e]
        for i in range(count):
            g = touched[i]
            expected = total * sizes[g]
            moved[g] += abs(held[g] * whole - expected) - expected
            held[g] = 0


@kernel
def sum_costs(codes: Any, costs: Any, at: Any, first: Any, weights: Any, chosen: Any, sums: Any) -> None:
    """For each attribute the sum over the chosen classes of their weight times the cost of their node.

    The node of class i in attribute j costs `costs[at[j] + codes[first[i], j]]`. Cost: classes times attributes.
    """
    sums[:] = 0
    for i in range(len(first)):
        if chosen[i]:
            for j in range(codes.shape[1]):
                sums[j] += weights[i] * costs[at[j] + codes[first[i], j]]
