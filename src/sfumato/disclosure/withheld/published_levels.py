"""The levels on which the cells of a withheld release are published, read from the cells.

This module belongs to verification and shares no code with what makes a release. A label of a node on several levels counts
as the finest of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.hierarchy import Flat, Hierarchy, Intervals
from sfumato.data.table import Table
from sfumato.errors import ReleaseError
from sfumato.exact import as_fraction, nearest_float
from sfumato.releases.reader import Manifest


@dataclass(frozen=True, eq=False)
class PublishedLevels:
    """The level of each published cell; 0 where it is a value, is withheld or is missing.

    `hierarchies` and `shares` have an entry for each attribute that may be generalized.

    >>> towns = pa.array(["Ulm", "south", None])
    >>> tree = Hierarchy.from_rows([["Ulm", "south", "*"], ["Bonn", "west", "*"]])
    >>> found = PublishedLevels.read(["town"], [towns], {"town": tree}, {"town": ["1", "1/3", "0"]})
    >>> found.levels.tolist(), found.revealed(np.array([[True], [True], [False]])).round(2).tolist()
    ([[0], [1], [0]], [[1.0], [0.33], [0.0]])
    """

    names: tuple[str, ...]
    levels: NDArray[np.int64]
    hierarchies: Mapping[str, Hierarchy | Intervals | Flat]
    shares: Mapping[str, tuple[Fraction, ...]]

    @classmethod
    def of(cls, manifest: Manifest, names: Sequence[str], texts: Sequence[pa.Array]) -> PublishedLevels:
        """Read the levels of the cells of a release, by the hierarchies and the shares that release.json states."""
        return cls.read(names, texts, manifest.schema()[0].hierarchies, manifest.withheld.rule.shares or {})

    @classmethod
    def read(
        cls,
        names: Sequence[str],
        texts: Sequence[pa.Array],
        hierarchies: Mapping[str, Any],
        shares: Mapping[str, Sequence[str]],
    ) -> PublishedLevels:
        """Read the levels of cells; `texts` are null where nothing is disclosed."""
        levels = np.zeros((len(texts[0]), len(names)), np.int64)
        used: dict[str, Hierarchy | Intervals | Flat] = {}
        for name, declared in shares.items():
            tree = hierarchies.get(name)
            if name not in names or not isinstance(tree, Hierarchy | Intervals | Flat):
                raise _invalid(f"{name!r} has no hierarchy that its cells could be generalized by", name)
            if len(declared) != tree.height + 1:
                raise _invalid(f"{len(declared)} shares are stated for levels 0 to {tree.height} of {name!r}", name)
            used[name] = tree
            encoded = texts[names.index(name)].dictionary_encode()
            of_text = [_level(text, tree) for text in encoded.dictionary.to_pylist()]
            codes = np.asarray(encoded.indices.fill_null(len(of_text))).astype(np.int64)
            levels[:, names.index(name)] = np.array([*of_text, 0])[codes]
        exact = {name: tuple(as_fraction(share, "shares") for share in declared) for name, declared in shares.items()}
        return cls(tuple(names), levels, used, exact)

    def revealed(self, disclosed: NDArray[np.bool_]) -> NDArray[np.float64]:
        """The share of its sensitivity that each cell reveals; 0 where nothing is disclosed."""
        result = disclosed.astype(np.float64)
        for name, shares in self.shares.items():
            j = self.names.index(name)
            result[:, j] *= np.array([nearest_float(share) for share in shares])[self.levels[:, j]]
        return result

    def information(self, disclosed: NDArray[np.bool_]) -> tuple[NDArray[np.int64], int]:
        """The information of each row, and that of a whole value: a cell on level l of h counts as 1 − l/h of a value."""
        unit = lcm(*(tree.height for tree in self.hierarchies.values()))
        cells = disclosed.astype(np.int64) * unit
        for name, tree in self.hierarchies.items():
            j = self.names.index(name)
            cells[:, j] -= np.where(disclosed[:, j], self.levels[:, j] * (unit // tree.height), 0)
        return cells.sum(axis=1), unit

    def labels(self, original: Table, name: str) -> list[list[str]]:
        """For each level below the root but the first, the label of each value of an attribute of the original."""
        column = original.column(name)
        tree, paths = column.hierarchy, column.paths
        assert tree is not None and paths is not None, "the schema of the release declares the hierarchy"
        return [
            [tree.labels[level][node] for node in paths[: column.size, level].tolist()] for level in range(1, tree.height)
        ]


def _level(text: str, tree: Hierarchy | Intervals | Flat) -> int:
    """The finest level on which a text is a label; a text that is none is a value."""
    if isinstance(tree, Hierarchy):
        return next((level for level, labels in enumerate(tree.labels[:-1]) if text in labels), 0)
    return next((level for level in range(1, tree.height) if tree.is_node(text, level)), 0)


def _invalid(problem: str, name: str) -> ReleaseError:
    return ReleaseError(problem, remedy="Get the release again.", key=f"rule.shares.{name}")
