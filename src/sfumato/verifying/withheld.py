"""Verify a release of records with cells withheld, from its written files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.counting import count_of
from sfumato.errors import SfumatoError
from sfumato.schema import Schema
from sfumato.table import Table
from sfumato.verifying.checks import Check, files_check
from sfumato.verifying.manifest import Manifest
from sfumato.verifying.original import Cells, alike
from sfumato.verifying.published import original_table, published_table

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
"""A value that could be taken for something else stands in quotes, those within it doubled."""

_EDGES = 20_000_000
"""Pairs of a published and an original row that are looked at to find partners for all; beyond that, columns are."""

_NO_VALUE = -1
_WITHHELD = -2


@dataclass(frozen=True, eq=False)
class Shown:
    """The published cells as they stand in the data file: a value, or why there is none."""

    names: tuple[str, ...]
    texts: tuple[pa.Array, ...]
    """Column by column the values that are disclosed; null elsewhere."""
    withheld: NDArray[np.bool_]
    missing: NDArray[np.bool_]

    @classmethod
    def read(cls, manifest: Manifest) -> Shown:
        """Read the data file of a release; a cell that is neither a value, `*` nor empty is an error."""
        data = published_table(manifest, Schema()).data
        texts, withheld, missing = [], [], []
        for name in data.column_names:
            cells = Cells.of(data.column(name))
            distinct = cells.texts(name).to_pylist()
            hidden = np.array([cell == "*" for cell in distinct], bool)
            absent = np.array([not cell for cell in distinct], bool)
            values = [
                None if h or a else _value(cell, manifest, name) for cell, h, a in zip(distinct, hidden, absent, strict=True)
            ]
            texts.append(pa.array(values, pa.string()).take(pa.array(cells.of_row)))
            withheld.append(hidden[cells.of_row])
            missing.append(absent[cells.of_row])
        shape = (data.num_rows, len(texts))
        return cls(
            tuple(data.column_names),
            tuple(texts),
            np.array(withheld, bool).T.reshape(shape),
            np.array(missing, bool).T.reshape(shape),
        )

    @property
    def disclosed(self) -> NDArray[np.bool_]:
        """Whether a cell is disclosed."""
        return ~(self.withheld | self.missing)


def _value(cell: str, manifest: Manifest, name: str) -> str:
    if not cell.startswith('"'):
        return cell
    if _QUOTED.fullmatch(cell) is None:
        raise manifest.problem("files", f"the cell {cell!r} of {name!r} is torn", "Fetch or make the release again.")
    return cell[1:-1].replace('""', '"')


def withheld_checks(manifest: Manifest, original: Any = None, schema: Schema | None = None) -> Iterator[Check]:
    """Check the files, the columns, the counts, the rule, and, if the original is given, the rows against that.

    `schema`: how the original is read. What the release says of risk is no part of this: that takes the dictionaries.
    """
    yield files_check(manifest)
    try:
        shown = Shown.read(manifest)
    except SfumatoError as error:
        yield Check("data", False, f"the data file is not what release.json says: {error}")
        return
    columns = _columns(manifest, shown)
    yield columns
    if not columns.holds:
        return
    yield _counts(manifest, shown)
    yield _rule(manifest, shown)
    if original is not None:
        declared, _ = manifest.schema(schema)
        yield _rows(shown, original_table(manifest, original, schema or declared))


def rows_as_told(shown: Shown, original: Table, rows: NDArray[np.int64]) -> Check:
    """Check that a published row is the original row that is told, each of them once, with cells withheld."""
    mine, theirs = _coded(shown, original)
    right = np.array_equal(np.sort(rows), np.arange(original.rows)) and _fits(mine, theirs[rows]).all()
    return Check(
        "rows", bool(right), "every row is its original with cells withheld" if right else "a row is not its original"
    )


def _columns(manifest: Manifest, shown: Shown) -> Check:
    claimed = [entry.get("name") if isinstance(entry, Mapping) else None for entry in manifest.content["attributes"]]
    same = claimed == list(shown.names)
    detail = f"{count_of(len(claimed), 'attribute')} as listed"
    if not same:
        detail = f"the data has {', '.join(shown.names)}; release.json lists {', '.join(map(str, claimed))}"
    return Check("columns", same, detail)


def _counts(manifest: Manifest, shown: Shown) -> Check:
    rows, found = len(shown.withheld), {}
    if manifest.content["rows"] != rows:
        return Check("counts", False, f"{count_of(rows, 'row')}; release.json says {manifest.content['rows']}")
    for j, entry in enumerate(manifest.content["attributes"]):
        found = {
            "disclosed": int(shown.disclosed[:, j].sum()),
            "withheld": int(shown.withheld[:, j].sum()),
            "missing": int(shown.missing[:, j].sum()),
        }
        for key, count in found.items():
            if entry.get(key) != count:
                return Check(
                    "counts", False, f"{count} cells of {entry['name']!r} are {key}; release.json says {entry.get(key)}"
                )
    total = f"{int(shown.disclosed.sum()):,} cells disclosed, {int(shown.withheld.sum()):,} withheld"
    return Check("counts", True, f"{count_of(rows, 'row')}; {total}, as listed attribute by attribute")


def _rule(manifest: Manifest, shown: Shown) -> Check:
    """As many cells are disclosed as the rule says; fewer only where nothing is withheld."""
    rule = manifest.content["rule"]
    cells, per = rule.get("cells"), rule.get("per")
    axes: dict[Any, Any] = {"record": 1, "attribute": 0, "table": None}
    if per not in axes or not isinstance(cells, int) or isinstance(cells, bool):
        return Check("rule", False, f"release.json tells no rule that is known: {rule!r}")
    disclosed = np.atleast_1d(shown.disclosed.sum(axis=axes[per]))
    withheld = np.atleast_1d(shown.withheld.sum(axis=axes[per]))
    wrong = np.flatnonzero((disclosed > cells) | ((disclosed < cells) & (withheld > 0)))
    if len(wrong):
        where = {"record": f"row {wrong[0] + 1}", "attribute": f"{shown.names[wrong[0]]!r}", "table": "the table"}[per]
        return Check("rule", False, f"{where} discloses {disclosed[wrong[0]]} cells, and the rule says {cells} per {per}")
    short = int((disclosed < cells).sum())
    fewer = f"; {short:,} have fewer, and withhold none" if short else ""
    return Check("rule", True, f"{count_of(cells, 'cell')} per {per}{fewer}")


def _coded(shown: Shown, original: Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The published and the original rows over the same numbers; apart from them, what is missing or withheld."""
    mine = np.empty(shown.withheld.shape, np.int64)
    theirs = np.empty((original.rows, len(shown.names)), np.int64)
    for j, name in enumerate(shown.names):
        both = Cells.of(pa.chunked_array([shown.texts[j]])), Cells.of(original.data.column(name))
        texts = alike(*both, name, {name: original.schema.separators.get(name, ";")})
        known = np.asarray(pa.concat_arrays(texts).dictionary_encode().indices).astype(np.int64)
        mine[:, j] = known[: len(texts[0])][both[0].of_row]
        theirs[:, j] = known[len(texts[0]) :][both[1].of_row]
        column = original.column(name)
        theirs[column.codes == column.size, j] = _NO_VALUE
    mine[shown.missing], mine[shown.withheld] = _NO_VALUE, _WITHHELD
    return mine, theirs


def _rows(shown: Shown, original: Table) -> Check:
    """Every published row is an original row, each of them once, with cells withheld."""
    rows = len(shown.withheld)
    if original.rows != rows:
        return Check("rows", False, f"the original has {count_of(original.rows, 'row')}, and {rows:,} are published")
    mine, theirs = _coded(shown, original)
    partners = _partners(mine, theirs)
    if partners is None:
        return _by_column(mine, theirs, shown.names)
    lonely = np.flatnonzero(partners < 0)
    if len(lonely):
        some = f"{count_of(len(lonely), 'published row')} have no original of their own; the first: row {lonely[0] + 1}"
        return Check("rows", False, some)
    return Check("rows", True, "every published row is a row of the original, each once, with cells withheld")


def _fits(mine: NDArray[np.int64], theirs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether an original row can stand behind a published one: equal where it is shown, present where it is withheld."""
    return np.asarray(np.where(mine == _WITHHELD, theirs != _NO_VALUE, theirs == mine).all(axis=-1))


def _partners(mine: NDArray[np.int64], theirs: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """An original row for every published row, none twice (-1 where there is none); None if there are too many pairs.

    Equal published rows fit the same originals, so each distinct one is looked at once, beginning with the column in which
    fewest originals fit.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    orders = [np.argsort(theirs[:, j], kind="stable") for j in range(theirs.shape[1])]
    ordered = [theirs[order, j] for j, order in enumerate(orders)]
    distinct, number = np.unique(mine, axis=0, return_inverse=True)
    lists, edges, sizes = [], 0, np.bincount(number.ravel())
    for row, size in zip(distinct, sizes, strict=True):
        ranges = [np.searchsorted(ordered[j], [v, v + 1]) for j, v in enumerate(row) if v != _WITHHELD]
        low, high, j = min(((low, high, j) for (low, high), j in zip(ranges, np.flatnonzero(row != _WITHHELD), strict=True)),
                           key=lambda found: found[1] - found[0], default=(0, len(theirs), -1))  # fmt: skip
        some = np.arange(len(theirs)) if j < 0 else orders[j][low:high]
        fitting = some[_fits(row, theirs[some])]
        edges += int(size) * len(fitting)
        if edges > _EDGES:
            return None
        lists.append(fitting)
    every = [lists[n] for n in number.ravel()]
    starts = np.cumsum([0, *map(len, every)])
    graph = csr_matrix((np.ones(edges, bool), np.concatenate(every), starts), shape=(len(mine), len(theirs)))
    return np.asarray(maximum_bipartite_matching(graph, perm_type="column"), np.int64)


def _by_column(mine: NDArray[np.int64], theirs: NDArray[np.int64], names: Sequence[str]) -> Check:
    """Where the pairs of rows are too many: no value stands more often in a column than in the original."""
    for j, name in enumerate(names):
        shown = mine[mine[:, j] != _WITHHELD, j]
        more = np.bincount(shown + 1, minlength=theirs[:, j].max() + 2) - np.bincount(
            theirs[:, j] + 1, minlength=shown.max(initial=-1) + 2
        )
        if (more > 0).any():
            return Check("rows", False, f"a value of {name!r} is published more often than the original has it")
    return Check(
        "rows", True, "no value is published more often than the original has it; too many rows fit to be told apart"
    )
