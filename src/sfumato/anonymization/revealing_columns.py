"""Columns that are published as they are and undo the recoding of a quasi-identifier, because they determine it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.anonymization.recoding.group_recoding import ColumnRecoding, Recoding
from sfumato.data.column import Column
from sfumato.data.groups import combination_counts
from sfumato.data.schema import Kind, Role
from sfumato.data.table import Table
from sfumato.io.shuffle import ranks_of
from sfumato.releases.cell_coverage import CellReader
from sfumato.releases.exposure_models import RevealingWarning
from sfumato.releases.revelation_rule import (
    EXCEPTIONS,
    IMPOSSIBLE,
    RECURRING,
    UNEXPECTED,
    determines,
    revealing_warning,
)

Codes = NDArray[np.int64]


def revealing_warnings(
    original: Table, kept: Codes, recoding: Recoding, completed: Table | None = None
) -> tuple[RevealingWarning, ...]:
    """Return a warning for each published column that determines a quasi-identifier, wholly or nearly.

    `kept`: the rows of the original that are published; `recoding`: their cells. A value of the column narrows a cell to
    those of its values that occur with it in the original. Cost: for each pair of columns that of counting their
    combinations, and the distinct cells that occur with each frequent value. `completed`: the original with counterfeits
    below its rows, if some of those are kept.

    >>> import pyarrow as pa
    >>> from sfumato.anonymization.recoding.group_recoding import recode
    >>> from sfumato.data.groups import Groups
    >>> from sfumato.data.schema import Schema
    >>> people = pa.table({"sex": ["f", "m"] * 30, "pregnant": ["yes", "no"] * 30})
    >>> table = Table(people, Schema(["sex"], ["pregnant"]))
    >>> groups = Groups(np.arange(60) // 10, 6, 60)
    >>> [(warning.column, warning.one_value) for warning in revealing_warnings(table, np.arange(60), recode(table, groups))]
    [('pregnant', '1')]
    """
    names = [name for name in original.data.column_names if original.schema.role(name) in (Role.SENSITIVE, Role.OTHER)]
    found = []
    for name in names:
        ranked = ranks_of((completed or original).data.column(name), name)
        values = ranked.as_text[ranked.of_row].astype(np.int32)
        for column in recoding.columns:
            one, half, recoded = _narrowed(original, values, kept, column, recoding.groups.of_row)
            warning = revealing_warning(name, column.domain.name, one, half, recoded)
            found += [] if warning is None else [warning]
    return tuple(found)


def _narrowed(
    original: Table, values: NDArray[np.int32], kept: Codes, recoded: ColumnRecoding, of_row: Codes
) -> tuple[int, int, int]:
    """Count the rows whose cell is narrowed to one value, to at most half its values, and all whose cell has several."""
    column = original.column(recoded.domain.name)
    # groups with different values may have the same text: they publish the same cell
    texts = pa.array(recoded.cells, pa.string()).dictionary_encode(null_encoding="encode")
    reader = CellReader(texts.dictionary.to_pylist(), column, recoded.domain.recoding)
    sizes = reader.counted(np.arange(len(reader.low)), np.arange(column.domain))
    cell = np.asarray(texts.indices)[recoded.cell][of_row]
    several = sizes[cell] > 1
    total = int(several.sum())
    if not total:
        return 0, 0, 0
    distinct = int(values.max()) + 1
    pairs, together = combination_counts([values[: original.rows], column.codes], [distinct, column.domain])
    places, rows = combination_counts(
        [values[kept][several], cell[several].astype(np.int32)], [distinct, len(texts.dictionary)]
    )
    first = np.searchsorted(pairs[:, 0], np.arange(distinct + 1))
    start = np.searchsorted(places[:, 0], np.arange(distinct + 1))
    frequency = np.bincount(column.codes, minlength=column.domain)
    size = sizes[places[:, 1]]
    left = np.zeros(len(places), np.int64)  # the values of each cell that are possible; 0 if the value says nothing
    for value in np.flatnonzero(_may_determine(pairs[:, 0], pairs[:, 1], together, column, frequency, distinct)).tolist():
        mine = slice(first[value], first[value + 1])
        possible = _possible(pairs[mine, 1], together[mine], column, frequency, original.rows)
        if possible is not None and start[value] < start[value + 1]:
            here = slice(start[value], start[value + 1])
            left[here] = reader.counted(places[here, 1], possible)
    return int(rows[left == 1].sum()), int(rows[(left >= 1) & (2 * left <= size)].sum()), total


def _may_determine(
    values: Codes, codes: Codes, counts: Codes, column: Column, frequency: Codes, distinct: int
) -> NDArray[np.bool_]:
    """Return for each value whether it may determine the quasi-identifier.

    The rule of `_possible` for all values at once, in floats where it multiplies. A value that passes is decided there.
    """
    rows = np.bincount(values, counts, distinct).astype(np.int64)
    total = int(frequency.sum())
    if column.kind in (Kind.NUMERIC, Kind.DATE, Kind.ORDINAL):
        present = codes < column.size
        own, code, count = values[present], codes[present], counts[present]
        before = np.cumsum(count)
        first = np.searchsorted(own, own)  # where the pairs of the same value begin
        before -= (before - count)[first]
        after = np.bincount(own, count, distinct).astype(np.int64)[own] - before + count
        within = (2 * EXCEPTIONS * before > rows[own]) & (2 * EXCEPTIONS * after > rows[own])
        lowest, highest = np.full(distinct, column.domain), np.full(distinct, -1)
        np.minimum.at(lowest, own[within], code[within])
        np.maximum.at(highest, own[within], code[within])
        upto = np.concatenate([[0], np.cumsum(frequency)])  # the rows of all codes before each
        inside = np.where(lowest <= highest, upto[highest + 1] - upto[np.minimum(lowest, column.size)], 0)
        inside += np.bincount(values[~present], frequency[codes[~present]], distinct).astype(np.int64)
        counted = (lowest[values] <= codes) & (codes <= highest[values]) | ~present
    else:
        rare = EXCEPTIONS * counts <= rows[values]
        exceptions = np.bincount(values, counts * rare, distinct).astype(np.int64)
        counted = ~rare | (EXCEPTIONS * exceptions > rows)[values]
        inside = np.bincount(values, frequency[codes] * counted, distinct).astype(np.int64)
    outside = total - inside
    exceptions = rows - np.bincount(values, counts * counted, distinct).astype(np.int64)
    expected = rows * outside.astype(float) * (1 + 1e-9)  # rounding must not drop a value
    unexpected = expected >= UNEXPECTED * np.maximum(1, exceptions) * float(total)
    return np.asarray((rows >= RECURRING) & (IMPOSSIBLE * outside >= total) & unexpected)


def _possible(codes: Codes, counts: Codes, column: Column, frequency: Codes, total: int) -> Codes | None:
    """Return the values of a quasi-identifier that are possible with a value of another column.

    `codes`, `counts`: those that occur with it, ascending, and how often. `total`: the sum of `frequency`. None if the value
    occurs too rarely to tell.
    """
    rows = int(counts.sum())
    present = codes < column.size
    if column.kind in (Kind.NUMERIC, Kind.DATE, Kind.ORDINAL) and present.any():
        before = np.cumsum(counts[present])
        after = before[-1] - before + counts[present]
        within = codes[present][(2 * EXCEPTIONS * before > rows) & (2 * EXCEPTIONS * after > rows)]
        possible, own = codes[~present], ~present
        if len(within):
            possible = np.concatenate([np.arange(within[0], within[-1] + 1), possible])
            own |= (within[0] <= codes) & (codes <= within[-1])
        ends = min(len(possible), 2)
    else:
        rare = EXCEPTIONS * counts <= rows
        own = ~rare if EXCEPTIONS * counts[rare].sum() <= rows else np.ones(len(codes), bool)
        possible = codes[own]
        ends = len(possible)
    left_out = rows - int(counts[own].sum())
    outside = total - int(frequency[possible].sum())
    return possible if rows >= RECURRING * ends and determines(rows, left_out, outside, total) else None
