"""Equivalence classes of generalized values, merged from those of a finer transformation.

A transformation maps every original value to a node of its hierarchy. A class is a set of combinations of original values
whose nodes agree in every attribute; one combination represents it. All nodes of all attributes and levels are in one flat
array: the node of code c in attribute j is `nodes[at[j] + c]`, where `at[j]` selects the attribute's level.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import inlined, kernel


@inlined
def _same_nodes(codes: Any, nodes: Any, live: Any, at: Any, one: int, other: int) -> Any:
    """Return whether two combinations have the same node in every attribute that is live. Cost: these attributes."""
    same = True
    for c in range(len(live)):
        j = live[c]
        if nodes[at[c] + codes[one, j]] != nodes[at[c] + codes[other, j]]:
            same = False
            break
    return same


@kernel
def roll_classes(
    codes: Any, nodes: Any, changed: Any, before: Any, after: Any, strides: Any, live: Any, at: Any, exact: Any,
    capacity: Any, first: Any, keys: Any, sizes: Any, of: Any, firsts: Any, new_keys: Any, sums: Any,
) -> int:  # fmt: skip
    """Merge classes whose nodes agree in every attribute; return the number of new classes.

    In: class i has `sizes[i]` rows and is represented by combination `first[i]`, whose code in attribute j is
    `codes[first[i], j]`. Its key, `keys[i]`, is the sum over attributes of node times `strides[j]`, modulo 2^64, under the
    finer transformation. The attributes in `changed` move from the level at `before` to the level at `after`. Keys are
    unique if `exact`; otherwise they are hashes, and classes with equal keys are compared in the attributes that have more
    than one node, `live`, whose levels are at `at`. `capacity` of the hash table is a power of 2 larger than the number of
    new classes.

    Out: `of[i]` is the new class of class i; `firsts`, `new_keys` and `sums` are the representative, key and size of each
    new class, numbered in the order in which they first occur. Cost: classes times changed attributes.
    """
    bits = 0
    while (1 << bits) < capacity:
        bits += 1
    shift, mask = np.uint64(64 - bits), capacity - 1
    table = np.full(capacity, -1, np.int32)  # open addressing: each slot holds a new class, or -1
    made = 0
    for i in range(len(first)):
        # the new key differs from the old one only in the attributes that changed
        one = first[i]
        key = keys[i]
        for c in range(len(changed)):
            j = changed[c]
            code = codes[one, j]
            key += (nodes[after[c] + code] - nodes[before[c] + code]) * strides[j]
        # multiplicative hashing: the upper bits of key times 2^64/φ; a shift by 64 would be undefined
        slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> shift) if bits else np.int64(0)
        target = table[slot]
        while target >= 0:
            if new_keys[target] == key and (exact or _same_nodes(codes, nodes, live, at, one, firsts[target])):
                break
            slot = (slot + 1) & mask
            target = table[slot]
        if target < 0:
            target = np.int32(made)
            table[slot] = target
            firsts[made] = one
            new_keys[made] = key
            sums[made] = 0
            made += 1
        of[i] = target
        sums[target] += sizes[i]
    return made


@kernel
def roll_entries(starts: Any, group: Any, counts: Any, of: Any, classes: Any, to: Any, groups: Any, sums: Any) -> None:
    """Merge the entries of a histogram after its classes were merged.

    In: the entries of value v are `starts[v]:starts[v + 1]`; entry e says that class `group[e]` has its value `counts[e]`
    times. Class i becomes `of[i]`, one of `classes`. Out: `to`, `groups` and `sums` are the new histogram in the same
    form. Cost: the number of entries.
    """
    # place[g] is the last entry written for class g; it belongs to the current value if it is not before `begin`
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
    """Add to `moved[g]`, for each class g, the sum over the nodes b of one level of |n_gb · N − N_b · n_g|.

    n_gb is the number of rows of class g under node b, n_g = `sizes[g]`, N_b the rows of the table under node b and
    N = `whole`. Divided by 2 · n_g · N this is the total variation distance between class and table on that level. The
    histogram is that of `roll_entries`, `totals[v]` is the number of rows of the table with value v, and node b holds the
    values `values[ends[b]:ends[b + 1]]`. Cost: entries, classes and nodes.
    """
    classes = len(sizes)
    under = np.zeros(classes, np.int64)  # n_gb of the current node, zero between nodes
    touched = np.empty(classes, np.int64)  # the classes with rows under the current node
    for g in range(classes):
        moved[g] += sizes[g] * whole  # the sum of N_b · n_g over all nodes: right for a class without any of the nodes
    for b in range(len(ends) - 1):
        total, count = np.int64(0), 0
        for at in range(ends[b], ends[b + 1]):
            v = values[at]
            total += totals[v]
            for e in range(starts[v], starts[v + 1]):
                g = group[e]
                if under[g] == 0:
                    touched[count] = g
                    count += 1
                under[g] += counts[e]
        # replace the default term N_b · n_g of the classes that have rows under the node
        for i in range(count):
            g = touched[i]
            expected = total * sizes[g]
            moved[g] += abs(under[g] * whole - expected) - expected
            under[g] = 0


@kernel
def sum_costs(codes: Any, costs: Any, at: Any, first: Any, weights: Any, chosen: Any, sums: Any) -> None:
    """Fill `sums[j]` with the sum over the chosen classes of their weight times the cost of their node in attribute j.

    The node of class i in attribute j costs `costs[at[j] + codes[first[i], j]]`. Cost: classes times attributes.
    """
    sums[:] = 0
    for i in range(len(first)):
        if chosen[i]:
            for j in range(codes.shape[1]):
                sums[j] += weights[i] * costs[at[j] + codes[first[i], j]]
