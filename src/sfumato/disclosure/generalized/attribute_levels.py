"""The levels on which the values of one attribute can be disclosed, and what each of them reveals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.column import Column
from sfumato.data.hierarchy import ROOT, Flat, Hierarchy, Intervals
from sfumato.data.schema import Kind, Schema
from sfumato.data.table import Table
from sfumato.disclosure.consistency.consistency import AttributePairing
from sfumato.disclosure.consistency.containment import ContainmentConsistency
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.errors import ColumnError, HierarchyError, ParameterError
from sfumato.exact import as_fraction, written

KINDS = (Kind.NUMERIC, Kind.CATEGORICAL, Kind.ORDINAL)
"""The kinds of columns whose cells can be generalized."""

Generalize = Sequence[str] | Mapping[str, Sequence[Any] | None]
"""The attributes whose cells may be generalized, or for each of them the share of its sensitivity by level."""


class CellLabels(NamedTuple):
    """What is published in place of the values of an attribute."""

    labels: tuple[str, ...]
    of_record: NDArray[np.int64]
    """The label of each record; -1 for its value."""


@dataclass(frozen=True, eq=False)
class AttributeLevels:
    """One attribute on every level of its hierarchy.

    Level 0 is the value as it is; on the last level, the height, it is withheld. The information of a cell on level l of
    height h is 1 − l/h of a value: each level takes away as much. `shares[l]` is the share of the attribute's sensitivity
    that a cell on level l reveals: by default the same, at least 0, and not more on a coarser level.

    A label may occur on several levels, if it covers the same values on all of them: a reader cannot tell the levels
    apart, so it counts as the finest of them. A label of the root counts as withheld.

    >>> towns = pa.table({"town": ["Ulm", "Bonn"]})
    >>> tree = Hierarchy.from_rows([["Ulm", "south", "*"], ["Bonn", "west", "*"]])
    >>> levels = AttributeLevels.of(Table(towns, Schema(["town"], hierarchies={"town": tree})), "town")
    >>> levels.labels, levels.shares
    ((('Bonn', 'Ulm'), ('west', 'south')), (Fraction(1, 1), Fraction(1, 2), Fraction(0, 1)))
    """

    column: Column
    labels: tuple[tuple[str, ...], ...]
    """For each level below the last and each code of the column its label."""
    shares: tuple[Fraction, ...]
    distinct: NDArray[np.bool_]
    """For each code and level below the last whether the label is that of no finer level, nor the root's."""

    @classmethod
    def of(cls, table: Table, name: str, shares: Sequence[Any] | None = None) -> AttributeLevels:
        """Read the levels of an attribute from the hierarchy that the schema declares.

        `shares`: for each level, the last included, the share of the sensitivity.
        """
        declared = table.schema.hierarchies.get(name)
        if declared is None:
            raise ColumnError(
                "the column is to be generalized, and has no hierarchy",
                remedy=f"Declare columns.{name}.hierarchy, or leave the column out: its values are then withheld at most.",
                file=table.source,
                column=name,
                key="generalize",
            )
        if not isinstance(declared, str | Path | Hierarchy | Intervals | Flat):
            # a node can stand for values of the dictionaries, which such a hierarchy does not have
            raise ColumnError(
                f"a hierarchy of {type(declared).__name__} is built from the column's values, and lacks those of others",
                remedy="Write the hierarchy to a file, with the values of the dictionaries, or use intervals.",
                file=table.source,
                column=name,
                key="generalize",
            )
        column = table.column(name)
        if column.kind not in KINDS:
            raise ColumnError(
                f"a column of kind {str(column.kind)!r} cannot be generalized",
                remedy=f"Declare one of the kinds {', '.join(map(str, KINDS))}, or leave the column out.",
                file=table.source,
                column=name,
                key="generalize",
            )
        tree, paths = column.hierarchy, column.paths
        assert tree is not None and paths is not None, "a column with a declared hierarchy has one"
        labels = [tuple(column.label(code) for code in range(column.size))]
        _refuse_ambiguous(tree, labels[0], paths[:, 0].tolist(), name)
        _refuse_missing(tree, table.schema, name)
        labels += [
            tuple(tree.labels[level][node] for node in paths[: column.size, level].tolist())
            for level in range(1, tree.height)
        ]
        root = tree.labels[-1][0]
        distinct = np.array(
            [
                [
                    labels[level][code] not in {ROOT, root, *(finer[code] for finer in labels[:level])}
                    for level in range(tree.height)
                ]
                for code in range(column.size)
            ],
            bool,
        ).reshape(column.size, tree.height)
        distinct[:, 0] = True  # a value that is written like the root is still a value
        return cls(column, tuple(labels), _shares(shares, tree.height, name), distinct)

    @property
    def name(self) -> str:
        """The attribute."""
        return self.column.name

    @property
    def height(self) -> int:
        """The level on which a cell is withheld."""
        return len(self.labels)

    @cached_property
    def coarser(self) -> NDArray[np.int64]:
        """For each code and level the next coarser level with a label of its own; the height if there is none."""
        found = np.empty(self.distinct.shape, np.int64)
        above = np.full(len(found), self.height)
        for level in range(self.height - 1, -1, -1):
            found[:, level] = above
            above = np.where(self.distinct[:, level], level, above)
        return found

    def step_shares(self) -> NDArray[np.float64]:
        """For each code and level the share of the sensitivity that it reveals beyond the next coarser one."""
        exact = [
            [float(self.shares[level] - self.shares[up]) for up in range(self.height + 1)] for level in range(self.height)
        ]
        return np.asarray(np.array(exact)[np.arange(self.height), self.coarser])

    def labels_at(self, levels: NDArray[np.int64]) -> CellLabels:
        """The label of each record on its level, if that is neither its value nor withheld."""
        generalized = (levels > 0) & (levels < self.height)
        places = np.where(generalized, (levels - 1) * self.column.size + self.column.codes, -1)
        return CellLabels(tuple(label for labels in self.labels[1:] for label in labels), places)

    def pair(self, dictionary: Dictionary, schema: Schema) -> AttributePairing:
        """Number the labels of all levels, level by level, and find the dictionary's values that each is consistent with.

        Of level l and code c the number is `record_values[l · size + c]`.
        """
        texts = [label for labels in self.labels for label in labels]
        declared = Schema(
            kinds={self.name: self.column.kind},
            hierarchies={self.name: schema.hierarchies[self.name]},
            orders={self.name: schema.orders[self.name]} if self.column.kind is Kind.ORDINAL else {},
            missing=schema.missing,
        )
        every = Table(pa.table({self.name: pa.array(texts, pa.string())}), declared, self.column.source, untyped=True)
        return ContainmentConsistency().pair(every, self.name, dictionary)


def read_levels(table: Table, attributes: Sequence[str], generalize: Generalize) -> dict[str, AttributeLevels]:
    """Read the levels of all attributes that may be generalized.

    >>> towns = Table(pa.table({"town": ["Ulm"]}), Schema(["town"], hierarchies={"town": Flat()}))
    >>> read_levels(towns, ["town"], ["town"])["town"].height
    1
    """
    names = (generalize,) if isinstance(generalize, str) else tuple(generalize)
    for name in names:
        if name not in attributes:
            raise ParameterError(
                f"{name!r} is to be generalized, and is not an attribute",
                remedy=f"The attributes are: {', '.join(map(repr, attributes))}.",
                key="generalize",
                value=name,
            )
    shares = generalize if isinstance(generalize, Mapping) else dict.fromkeys(names)
    return {name: AttributeLevels.of(table, name, shares[name]) for name in names}


def written_shares(levels: Mapping[str, AttributeLevels]) -> dict[str, list[str]]:
    """Return the shares of the sensitivity by attribute and level as a config or release.json states them.

    >>> written_shares({})
    {}
    """
    return {name: [written(share) for share in each.shares] for name, each in levels.items()}


def _shares(declared: Sequence[Any] | None, height: int, name: str) -> tuple[Fraction, ...]:
    if declared is None:
        return tuple(1 - Fraction(level, height) for level in range(height + 1))
    key = f"generalize.{name}"
    remedy = f"List the share of the sensitivity on each level from 0 to {height}: from 1 to 0, each at most the one before."
    if isinstance(declared, str) or not isinstance(declared, Sequence):
        raise ParameterError(f"{declared!r} is not a list of shares", remedy=remedy, key=key, value=declared)
    shares = tuple(as_fraction(share, key) for share in declared)
    if len(shares) != height + 1:
        problem = f"{len(shares)} shares are declared for levels 0 to {height} of {name!r}"
        raise ParameterError(problem, remedy=remedy, key=key, value=declared)
    if shares[0] != 1 or shares[-1] != 0 or any(fine < coarse for fine, coarse in pairwise(shares)):
        listed = ", ".join(map(written, shares))
        raise ParameterError(
            f"the shares {listed} of {name!r} do not fall from 1 to 0", remedy=remedy, key=key, value=declared
        )
    return shares


def _refuse_missing(tree: Hierarchy, schema: Schema, name: str) -> None:
    """Raise an error if the label of a node counts as missing: a generalized cell would seem to have no value."""
    for labels in tree.labels[1:-1]:
        for label in labels:
            if label in schema.missing.texts(Kind.CATEGORICAL):
                raise HierarchyError(
                    f"the label {label!r} counts as missing",
                    remedy="Give the node another label, or remove it from missing.values.",
                    file=tree.source,
                    column=name,
                    value=label,
                )


def _refuse_ambiguous(tree: Hierarchy, values: Sequence[str], leaves_of: Sequence[int], name: str) -> None:
    """Raise an error if a label covers different values on different levels: a reader could not tell which.

    `values`: the values of the column as they are displayed; value i is the leaf `leaves_of[i]`.
    """
    below = {label: frozenset([leaf]) for label, leaf in zip(values, leaves_of, strict=False)}
    for level, labels in enumerate(tree.labels[:-1]):
        for node, label in enumerate(labels):
            leaves = frozenset(np.flatnonzero(tree.paths[:, level] == node).tolist())
            if below.setdefault(label, leaves) != leaves:
                raise HierarchyError(
                    f"the label {label!r} covers other values on level {level} than on a finer level",
                    remedy="Give the nodes different labels, so that a generalized cell has one meaning.",
                    file=tree.source,
                    column=name,
                    value=label,
                )
