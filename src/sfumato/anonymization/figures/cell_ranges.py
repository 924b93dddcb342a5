"""The values that published cells cover, parsed from their texts: for figures that a reader of the release could compute."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.recoding import Domain, RecodingKind
from sfumato.anonymization.recoding.domain import domain_of
from sfumato.anonymization.utility.cell_cover import Cover
from sfumato.data.column import Column
from sfumato.data.groups import Groups
from sfumato.data.table import Table
from sfumato.errors import ReleaseError
from sfumato.releases.cell_coverage import CellReader

Stretches = list[tuple[int, int]]
"""Ranges of places of a domain, each from its first place up to but not including its last number."""


def covers_of(original: Table, published: Table, groups: Groups, recodings: Mapping[str, str]) -> tuple[Cover, ...]:
    """Return, for each quasi-identifier, the values that each group's cell covers, over the domain of the original.

    `recodings`: how each quasi-identifier is published. Cost: linear in the groups, and in the members of sets.

    >>> import pyarrow as pa
    >>> from sfumato import Schema
    >>> people = Table(pa.table({"age": [20, 30, 41]}), Schema(["age"]))
    >>> cells = {"group": [1, 1, 2], "age": ["[20, 30]", "[20, 30]", "41"]}
    >>> release = Table(pa.table(cells), Schema(["age"], group="group"))
    >>> (cover,) = covers_of(people, release, Groups.of(release), {"age": "interval"})
    >>> cover.cell.tolist(), cover.first.tolist(), cover.stop.tolist()
    ([1, 0], [2, 0], [3, 2])
    """
    return tuple(
        _cover(domain_of(original.column(name), how), published.column(name), groups) for name, how in recodings.items()
    )


def _cover(domain: Domain, cells: Column, groups: Groups) -> Cover:
    # Each distinct text is parsed once; `cell` maps groups to distinct texts.
    codes, cell = np.unique(cells.codes[groups.first_rows], return_inverse=True)
    texts = [None if code == cells.size else cells.label(code) for code in codes.tolist()]
    reader = CellReader(texts, domain.column, domain.recoding.value)
    under = _nodes(domain, reader) if domain.recoding is RecodingKind.ANCESTOR else {}
    # The reader encodes the member `code` of the set in cell `number` as number × domain + code.
    members: dict[int, Stretches] = {}
    for number, code in zip(*np.divmod(reader.members, max(1, domain.column.domain)), strict=True):
        members.setdefault(int(number), []).append((int(code), int(code) + 1))
    stretches, levels = [], []
    for number, text in enumerate(texts):
        ranges = _stretches(domain, reader, number)
        levels.append(-1 if reader.withheld[number] else 0)
        if ranges is None and number in under:
            levels[-1], ranges = under[number]
        ranges = ranges or members.get(number)
        if ranges is None:
            raise ReleaseError(
                f"the published cell {text!r} cannot be parsed",
                remedy="Verify the release against its original.",
                column=domain.name,
            )
        stretches.append(ranges)
    flat = np.array([stretch for parts in stretches for stretch in parts], np.int64).reshape(-1, 2)
    offsets = np.cumsum([0, *map(len, stretches)], dtype=np.int64)
    return Cover(domain, cell.astype(np.int64), offsets, flat[:, 0].copy(), flat[:, 1].copy(), np.array(levels, np.int64))


def _stretches(domain: Domain, reader: CellReader, number: int) -> Stretches | None:
    """Return the range of a single value, an interval, `*` or a missing cell; None for a node or a set."""
    if reader.withheld[number]:
        return [(0, domain.size + domain.column.has_missing)]
    if reader.absent[number]:
        return [(domain.size, domain.size + 1)]
    low, high = int(reader.low[number]), int(reader.high[number])
    if low > high:
        return None
    return [(int(domain.place[low]), int(domain.place[high]) + 1)]


def _nodes(domain: Domain, reader: CellReader) -> dict[int, tuple[int, Stretches]]:
    """Return, for each cell that is a node of the hierarchy, its level and the range of the leaves under it.

    Leaves are ordered by their paths, so those under one node are adjacent.
    """
    hierarchy = domain.column.hierarchy
    assert hierarchy is not None
    ranges: dict[int, tuple[int, Stretches]] = {}
    for level, cells in enumerate(reader.nodes):
        nodes = hierarchy.paths[domain.leaf_at, level]
        present, first, counts = _runs(nodes)
        for node, start, count in zip(present, first, counts, strict=True):
            number = int(cells[node])
            if number >= 0 and not reader.withheld[number]:
                # where labels of two levels are equal, the upper level wins: levels are visited from the leaves up
                ranges[number] = level, [(start, start + count)]
    return ranges


def _runs(nodes: NDArray[np.int32]) -> tuple[list[int], list[int], list[int]]:
    present, first, counts = np.unique(nodes, return_index=True, return_counts=True)
    return present.tolist(), first.tolist(), counts.tolist()
