"""Classes of equal generalized values, rolled up from finer classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.kernels.compile import kernel


@kernel
def roll_classes(
    codes: Any,
    nodes: Any,
    changed: Any,
    before: Any,
    after: Any,
    strides: Any,
    at: Any,
    exact: Any,
    capacity: Any,
    first: Any,
    keys: Any,
    sizes: Any,
    of: Any,
    firsts: Any,
    new_keys: Any,
    sums: Any,
) -> int:
    """Merge classes whose members have the same node in every attribute; return how many there are then.

    Class i is made of `sizes[i]` rows, and combination `first[i]` stands for it: its code of attribute j is
    `codes[first[i], j]`, and the node above that `nodes[at[j] + code]`. Its key is the sum over attributes of node times
    `strides[j]`, in 64 bits; `keys[i]` is the one it had, when the attributes in `changed` began at `before` instead of
    `after`. If keys are not `exact`, classes with equal keys are looked at node by node. `of[i]` becomes its new class;
    `firsts`, `new_keys` and `sums` those of each new one. `capacity`, of the hash table: a power of 2, larger than the
    number of new classes. Cost: classes times changed attributes.
    """
    d = codes.shape[1]
    bits = 0
    while (1 << bits) < capacity:
        bits += 1
    shift, mask = np.uint64(64 - bits), capacity - 1
    table = np.full(capacity, -1, np.int32)
    made = 0
    for i in range(len(first)):
        one = first[i]
        key = keys[i]
        for c in range(len(changed)):
            j = changed[c]
            code = codes[one, j]
            key += (nodes[after[c] + code] - nodes[before[c] + code]) * strides[j]
        slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> shift) if bits else np.int64(0)
        found = table[slot]
        while found >= 0:
            if new_keys[found] == key:
                same = True
                if not exact:
                    for j in range(d):
                        if nodes[at[j] + codes[one, j]] != nodes[at[j] + codes[firsts[found], j]]:
                            same = False
                            break
                if same:
                    break
            slot = (slot + 1) & mask
            found = table[slot]
        if found < 0:
            found = np.int32(made)
            table[slot] = found
            firsts[made] = one
            new_keys[made] = key
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
