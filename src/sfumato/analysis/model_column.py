"""A column as the model sees it: a few atoms, and for each published cell the atoms that it may stand for.

The atoms of a column of texts are its values. The numbers of a numeric column are whole multiples of its unit, and its
atoms are ranges of them, because a model of every single number would have more parameters than the table has rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from sfumato.analysis.cell_values import PublishedCell
from sfumato.errors import ParameterError
from sfumato.exact.numbers import ROOM

Codes = NDArray[np.int64]

BINS = 20
"""The most atoms of a numeric column."""

Cuts = tuple[Sequence[Fraction], Sequence[Fraction]]
"""Numbers at which atoms begin, and numbers at which they end."""

MISSING = None
"""The label of the atom of missing values."""


@dataclass(frozen=True, eq=False)
class ModelColumn:
    """The atoms of a column and the cells of its rows.

    The members of cell c are the entries `member_at[c]:member_at[c + 1]`. Entry e is the atom `member[e]`, of which the cell
    covers `width[e]` values, and belongs to the block `block[e]`. A number of the entry is `start[e]` plus up to `width[e]`
    − 1, or one of `listed` from the position `list_at[e]` on if that is not negative.
    """

    name: str
    of_row: Codes
    """The number of the cell of each row."""
    labels: tuple[str | None, ...]
    """The values that are the atoms, None for missing; of a numeric column only the number of them counts."""
    size: NDArray[np.float64]
    """How many values each atom has."""
    member_at: Codes
    member: Codes
    width: NDArray[np.float64]
    block: Codes
    blocks: Codes
    needed: Codes
    unit: Fraction | None = None
    """What the numbers are multiples of; None if the values are texts."""
    edges: Codes = field(default_factory=lambda: np.zeros(0, np.int64))
    """Atom b contains the multiples from edges[b] up to, not including, edges[b + 1]."""
    start: Codes = field(default_factory=lambda: np.zeros(0, np.int64))
    list_at: Codes = field(default_factory=lambda: np.zeros(0, np.int64))
    listed: Codes = field(default_factory=lambda: np.zeros(0, np.int64))
    ends: Codes = field(default_factory=lambda: np.zeros((0, 2), np.int64))
    """For each cell that is a closed range its two ends, which both occur in the group; −1 before them otherwise."""
    has_ends: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, bool))
    mids: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """For each cell of a numeric column the middle of its range, not a number if it is missing or withheld."""

    @property
    def atoms(self) -> int:
        """The number of atoms."""
        return len(self.labels)

    @property
    def members(self) -> Codes:
        """The number of atoms that each cell may stand for."""
        return np.diff(self.member_at)

    @property
    def uniform(self) -> NDArray[np.float64]:
        """For each entry its weight if every value of a cell is equally probable."""
        sums = np.add.reduceat(self.width, self.member_at[:-1])
        return np.asarray(self.width / np.repeat(sums, self.members))

    @property
    def varies(self) -> NDArray[np.bool_]:
        """For each cell whether more than one value is possible."""
        total = np.add.reduceat(self.width, self.member_at[:-1])
        return np.asarray(total > 1)

    def mean_numbers(self) -> NDArray[np.float64]:
        """Return for each entry the mean of its numbers; not a number for missing values."""
        assert self.unit is not None
        means = self.start + (self.width - 1) / 2
        for entry in np.flatnonzero(self.list_at >= 0):
            at, count = int(self.list_at[entry]), int(self.width[entry])
            means[entry] = self.listed[at : at + count].mean()
        if self.labels and self.labels[-1] is MISSING:
            means[self.member == self.atoms - 1] = np.nan
        return np.asarray(means * float(self.unit))


class _Entries:
    """The members of the cells of a column, cell by cell, while they are collected."""

    def __init__(self) -> None:
        self.member: list[int] = []
        self.width: list[float] = []
        self.block: list[int] = []
        self.start: list[int] = []
        self.list_at: list[int] = []
        self.listed: list[int] = []
        self.member_at = [0]
        self.blocks: list[int] = []
        self.needed: list[int] = []

    def add(self, atom: int, width: float = 1, block: int = -1, start: int = 0, numbers: Sequence[int] = ()) -> None:
        """Add a member of the current cell."""
        self.member.append(atom)
        self.width.append(width)
        self.block.append(block)
        self.start.append(start)
        self.list_at.append(len(self.listed) if numbers else -1)
        self.listed += numbers

    def end(self, needed: int) -> None:
        """End the current cell. Blocks are numbered again, because several may be in one atom."""
        first = self.member_at[-1]
        used = sorted({block for block in self.block[first:] if block >= 0})
        self.block[first:] = [used.index(block) if block >= 0 else -1 for block in self.block[first:]]
        self.member_at.append(len(self.member))
        self.blocks.append(len(used))
        least = min(needed, len(used))
        self.needed.append(least if least in (2, len(used)) else 0)

    def column(
        self, name: str, of_row: Codes, labels: Sequence[str | None], size: NDArray[np.float64], **more: object
    ) -> ModelColumn:
        """Return the column."""
        arrays = {
            key: np.array(getattr(self, key), np.int64)
            for key in ("member_at", "member", "block", "blocks", "needed", "start", "list_at", "listed")
        }
        return ModelColumn(name, of_row, tuple(labels), size, width=np.array(self.width, float), **arrays, **more)  # type: ignore[arg-type]


def text_column(name: str, cells: Sequence[PublishedCell], of_row: Codes, order: Sequence[str] = ()) -> ModelColumn:
    """Return a column of texts: its atoms are all values that a cell may stand for, and missing if a cell is.

    >>> cells = [PublishedCell("a", ("a",)), PublishedCell("{a; b}", ("a", "b"), blocks=(0, 1), needed=2)]
    >>> column = text_column("x", cells, np.array([0, 1, 1]))
    >>> column.labels, column.member.tolist(), column.needed.tolist()
    (('a', 'b'), [0, 0, 1], [0, 2])
    """
    known = {value for cell in cells for value in cell.values}
    labels: list[str | None] = [value for value in order if value in known]
    labels += sorted(known - set(order))
    if any(cell.missing for cell in cells) or any(cell.withheld and cell.needed for cell in cells) or not labels:
        labels.append(MISSING)
    atom_of = {label: atom for atom, label in enumerate(labels)}
    entries = _Entries()
    for cell in cells:
        if cell.withheld:
            for label, atom in atom_of.items():
                entries.add(atom, block=(label is MISSING) if cell.needed else -1)
        elif cell.missing:
            entries.add(atom_of[MISSING])
        else:
            for value, block in zip(cell.values, cell.blocks or [-1] * len(cell.values), strict=True):
                entries.add(atom_of[value], block=block)
        entries.end(cell.needed)
    return entries.column(name, of_row, labels, np.ones(len(labels)))


def number_column(
    name: str, cells: Sequence[PublishedCell], of_row: Codes, cuts: Cuts = ((), ()), bins: int = BINS
) -> ModelColumn:
    """Return a column of numbers: its atoms are at most `bins` ranges with about as many rows.

    `cuts`: further numbers that begin an atom, and numbers that end one.

    >>> cells = [PublishedCell("20", ("20",), Fraction(20), Fraction(20)),
    ...          PublishedCell("[20, 30]", (), Fraction(20), Fraction(30), needed=2)]
    >>> column = number_column("age", cells, np.array([0, 1, 1]), cuts=([Fraction(25)], []), bins=1)
    >>> column.unit, column.edges.tolist(), column.width.tolist()
    (Fraction(1, 1), [20, 25, 31], [1.0, 5.0, 6.0])
    """
    return _NumberColumn(name, cells, cuts).column(of_row, bins)


class _NumberColumn:
    """Turns the cells of a numeric column into ranges of multiples of a unit."""

    def __init__(self, name: str, cells: Sequence[PublishedCell], cuts: Cuts) -> None:
        self.name, self.cells = name, cells
        self.numbers = [list(cell.numbers) if len(cell.numbers) > 1 else [] for cell in cells]  # the members of sets
        known_ends = [end for cell in cells for end in (cell.low, cell.high) if end is not None]
        known = [*known_ends, *(number for numbers in self.numbers for number in numbers)]
        self.unit = Fraction(1, lcm(1, *(number.denominator for number in known)))
        if any(abs(number / self.unit) >= ROOM for number in known):
            raise ParameterError(
                "the numbers are too large, or have too many digits, for estimates",
                remedy="Leave the column out of the question.", key=name,
            )  # fmt: skip
        self.low = min((self.of(end) for end in known_ends), default=0)
        self.stop = max((self.of(end) for end in known_ends), default=0) + 1
        begins, ends = cuts
        self.cuts = [-int(-cut // self.unit) for cut in begins] + [int(cut // self.unit) + 1 for cut in ends]

    def of(self, number: Fraction) -> int:
        """Return a number in units."""
        return int(number / self.unit)

    def range_of(self, cell: PublishedCell) -> tuple[int, int]:
        """Return the first multiple that a cell covers, and the one after the last."""
        if cell.low is None or cell.high is None:
            return self.low, self.stop
        return self.of(cell.low), self.of(cell.high) + (not cell.half_open or cell.low == cell.high)

    def edges(self, of_row: Codes, bins: int) -> Codes:
        """Return the ends of the atoms: quantiles of the middles of the cells of all rows, and the cuts."""
        ranges = np.array([self.range_of(cell) for cell in self.cells], np.int64)
        published = np.array([not cell.missing and not cell.withheld for cell in self.cells])
        rows = of_row[published[of_row]]
        if self.stop - self.low <= bins:
            inner = np.arange(self.low, self.stop)
        elif len(rows):
            middles = (ranges[rows, 0] + ranges[rows, 1]) // 2
            inner = np.quantile(middles, np.arange(1, bins) / bins, method="higher").astype(np.int64)
        else:
            inner = np.zeros(0, np.int64)
        within = [cut for cut in self.cuts if self.low < cut < self.stop]
        edges = np.unique(np.concatenate([[self.low, self.stop], inner, np.array(within, np.int64)]))
        return np.asarray(edges[(edges >= self.low) & (edges <= self.stop)])

    def column(self, of_row: Codes, bins: int) -> ModelColumn:
        """Return the column."""
        edges = self.edges(of_row, bins)
        atoms = len(edges) - 1
        entries = _Entries()
        absent = any(cell.missing or (cell.withheld and cell.needed) for cell in self.cells)
        for cell, numbers in zip(self.cells, self.numbers, strict=True):
            self._add(entries, cell, numbers, edges)
            entries.end(cell.needed)
        labels: list[str | None] = [str(atom) for atom in range(atoms)]
        size = np.diff(edges).astype(float)
        if absent:
            labels.append(MISSING)
            size = np.append(size, 1.0)
        closed = [not n and c.low is not None and c.needed == 2 for c, n in zip(self.cells, self.numbers, strict=True)]
        ends = [(a, b - 1) for a, b in map(self.range_of, self.cells)]
        mids = [np.nan if cell.mid is None else float(cell.mid) for cell in self.cells]
        return entries.column(
            self.name, of_row, labels, size, unit=self.unit, edges=edges, ends=np.array(ends, np.int64).reshape(-1, 2),
            has_ends=np.array(closed, bool), mids=np.array(mids, float),
        )  # fmt: skip

    def _add(self, entries: _Entries, cell: PublishedCell, numbers: Sequence[Fraction], edges: Codes) -> None:
        """Add the members of a cell: the atoms that it overlaps."""
        missing = len(edges) - 1
        if cell.missing:
            entries.add(missing)
            return
        if numbers:
            units = sorted(map(self.of, numbers))
            in_atom = np.searchsorted(edges, units, side="right") - 1
            blocks = dict(zip(map(self.of, numbers), cell.blocks or [-1] * len(numbers), strict=True))
            for atom in np.unique(in_atom).tolist():
                inside = [unit for unit, where in zip(units, in_atom.tolist(), strict=True) if where == atom]
                entries.add(atom, len(inside), blocks[inside[0]], numbers=inside)
            return
        start, stop = self.range_of(cell)
        first = int(np.searchsorted(edges, start, side="right")) - 1
        last = int(np.searchsorted(edges, stop - 1, side="right")) - 1
        for atom in range(first, last + 1):
            low, high = max(start, int(edges[atom])), min(stop, int(edges[atom + 1]))
            block = -1
            if cell.needed:  # both ends occur; of a withheld cell, a number and a missing value
                block = 0 if cell.withheld or atom == first else 1 if atom == last else -1
            entries.add(atom, high - low, block, low)
        if cell.withheld and cell.needed:
            entries.add(missing, 1, 1)
