"""What builders share: the tree of their paths, checked, and lists of whole numbers, checked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from sfumato.data.hierarchy import ROOT, Hierarchy
from sfumato.errors import HierarchyError, ParameterError


def built_tree(values: Sequence[str], nodes: Sequence[Sequence[str]], column: str) -> Hierarchy:
    """Return the hierarchy of values and, for each, its nodes between itself and the root.

    A label has one meaning: if it occurs on several levels, it covers the same values on each. Otherwise a published cell
    would be ambiguous, which is an error.

    >>> built_tree(["17", "21"], [["teens"], ["twenties"]], "age").labels
    (('17', '21'), ('teens', 'twenties'), ('*',))
    """
    try:
        tree = Hierarchy.from_rows([value, *path, ROOT] for value, path in zip(values, nodes, strict=True))
    except HierarchyError as error:
        raise HierarchyError(error.problem, remedy=error.remedy, column=column, value=error.value) from error
    seen: dict[str, tuple[int, int]] = {}
    counts = [np.bincount(nodes) for nodes in tree.paths.T]
    for level, labels in enumerate(tree.labels):
        same: dict[int, list[tuple[int, int]]] = {}  # by other level the nodes here and there with the same label
        for node, label in enumerate(labels):
            other, there = seen.setdefault(label, (level, node))
            if other != level:
                same.setdefault(other, []).append((node, there))
        for other, pairs in same.items():
            here, there_ = np.array(pairs).T
            twin = np.full(len(labels), -1)
            twin[here] = there_
            both = tree.paths[twin[tree.paths[:, level]] == tree.paths[:, other], level]
            shared = np.bincount(both, minlength=len(labels))[here]  # the leaves under both nodes
            differ = (shared != counts[level][here]) | (shared != counts[other][there_])
            if differ.any():
                label = labels[int(here[int(np.argmax(differ))])]
                raise HierarchyError(
                    f"the label {label!r} would mean different values on the levels {other} and {level} of the hierarchy",
                    remedy="Choose other labels, or declare a hierarchy file.",
                    column=column,
                    value=label,
                )
    return tree


def whole_numbers(values: Any, key: str, *, rising: bool, multiples: bool = False) -> tuple[int, ...]:
    """Return positive whole numbers in strict order; a single one is a list of one.

    `multiples`: of two adjacent numbers the larger is a multiple of the smaller, so that levels nest.

    >>> whole_numbers([3, 2, 1], "prefix", rising=False)
    (3, 2, 1)
    """
    numbers = tuple(values) if isinstance(values, list | tuple) else (values,)
    valid = bool(numbers) and all(isinstance(each, int) and not isinstance(each, bool) and each > 0 for each in numbers)
    if valid:
        pairs = [(low, high) if rising else (high, low) for low, high in pairwise(numbers)]
        valid = all(small < large and (not multiples or large % small == 0) for small, large in pairs)
    if not valid:
        order = "rising" if rising else "falling"
        rule = ", of two adjacent ones the larger a multiple of the smaller" if multiples else ""
        example = {(True, False): [1, 2, 3], (True, True): [5, 10], (False, False): [3, 2, 1], (False, True): [10, 5]}
        raise ParameterError(
            f"invalid {key} = {values!r}: the levels need positive whole numbers, {order}{rule}",
            remedy=f"Write a list such as {example[rising, multiples]}.",
            key=key,
            value=values,
        )
    return numbers
