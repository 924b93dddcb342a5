"""What the published cells cover, read back from their texts: for figures that a reader of the release could compute."""

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


def covers_of(original: Table, published: Table, groups: Groups, recodings: Mapping[str, str]) -> tuple[Cover, ...]:
    """For each quasi-identifier what each group's cell covers, over the domain of the original.

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
    codes, cell = np.unique(cells.codes[groups.first_rows], return_inverse=True)
    texts = [None if code == cells.size else cells.label(code) for code in codes.tolist()]
    reader = CellReader(texts, domain.column, domain.recoding.value)
    under = _nodes(domain, reader) if domain.recoding is RecodingKind.ANCESTOR else {}
    members: dict[int, Stretches] = {}
    for number, code in zip(*np.divmod(reader.members, max(1, domain.column.domain)), strict=True):
        members.setdefault(int(number), []).append((int(code), int(code) + 1))
    stretches, levels = [], []
    for number, text in enumerate(texts):
        found = _stretches(domain, reader, number)
        levels.append(-1 if reader.withheld[number] else 0)
        if found is None and number in under:
            levels[-1], found = under[number]
        found = found or members.get(number)
        if found is None:
            raise ReleaseError(
                f"the published cell {text!r} cannot be read",
                remedy="Verify the release against its original.",
                column=domain.name,
            )
        stretches.append(found)
    flat = np.array([stretch for parts in stretches for stretch in parts], np.int64).reshape(-1, 2)
    offsets = np.cumsum([0, *map(len, stretches)], dtype=np.int64)
    return Cover(domain, cell.astype(np.int64), offsets, flat[:, 0].copy(), flat[:, 1].copy(), np.array(levels, np.int64))


def _stretches(domain: Domain, reader: CellReader, number: int) -> Stretches | None:
    """What a single value, an interval, `*` or a missing cell covers."""
    if reader.withheld[number]:
        return [(0, domain.size + domain.column.has_missing)]
    if reader.absent[number]:
        return [(domain.size, domain.size + 1)]
    low, high = int(reader.low[number]), int(reader.high[number])
    if low > high:
        return None
    return [(int(domain.place[low]), int(domain.place[high]) + 1)]


def _nodes(domain: Domain, reader: CellReader) -> dict[int, tuple[int, Stretches]]:
    """For each cell that is a node of the hierarchy its level, and the leaves under it, which stand together."""
    hierarchy = domain.column.hierarchy
    assert hierarchy is not None
    found: dict[int, tuple[int, Stretches]] = {}
    for level, cells in enumerate(reader.nodes):
        nodes = hierarchy.paths[domain.leaf_at, level]
        present, first, counts = _runs(nodes)
        for node, start, count in zip(present, first, counts, strict=True):
            number = int(cells[node])
            if number >= 0 and not reader.withheld[number]:
                found[number] = level, [(start, start + count)]  # of equal labels that of the upper level
    return found


def _runs(nodes: NDArray[np.int32]) -> tuple[list[int], list[int], list[int]]:
    present, first, counts = np.unique(nodes, return_index=True, return_counts=True)
    return present.tolist(), first.tolist(), counts.tolist()
