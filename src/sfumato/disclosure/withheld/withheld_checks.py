"""Verify a withheld release from its written files."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.disclosure.withheld.published_levels import PublishedLevels
from sfumato.disclosure.withheld.risk_checks import risk_checks
from sfumato.errors import SfumatoError
from sfumato.exact import written
from sfumato.io.shuffle import SHUFFLE, Contents
from sfumato.plurals import count_of
from sfumato.releases.cells import is_quoted, unquote
from sfumato.releases.expectations import Expectations
from sfumato.releases.reader import Manifest
from sfumato.releases.table_files import original_table, published_table
from sfumato.verification.checks import NO_ORIGINAL, Check
from sfumato.verification.declaration_checks import DECLARED, first_difference
from sfumato.verification.form_checks import OTHERS_FAIL, data_form_check
from sfumato.verification.order_checks import NO_ORDER, OLDER_FORMAT, ORDERED_SINCE, order_seed
from sfumato.verification.original_checks import Cells, comparable_texts

if TYPE_CHECKING:
    from sfumato.disclosure.risk_assumptions import RiskAssumptions

_PAIRS = 20_000_000
"""Pairs of distinct published and distinct original rows that are compared to find an original for every row."""

_NO_VALUE = -1
_WITHHELD = -2


@dataclass(frozen=True, eq=False)
class PublishedCells:
    """The published cells of a data file: a value, or the reason why there is none."""

    names: tuple[str, ...]
    texts: tuple[pa.Array, ...]
    """Column by column the disclosed values; null elsewhere."""
    withheld: NDArray[np.bool_]
    missing: NDArray[np.bool_]
    data: pa.Table
    """The cells as they are in the file."""

    @classmethod
    def read(cls, manifest: Manifest) -> PublishedCells:
        """Read the data file of a release; raise an error at a cell that is not a value, `*` or empty."""
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
            data,
        )

    @property
    def disclosed(self) -> NDArray[np.bool_]:
        """Whether a cell is disclosed."""
        return ~(self.withheld | self.missing)


def _value(cell: str, manifest: Manifest, name: str) -> str:
    if not cell.startswith('"'):
        return cell
    if not is_quoted(cell):
        raise manifest.problem("files", f"the cell {cell!r} of {name!r} is corrupt")
    return unquote(cell)


def release_checks(manifest: Manifest, original: Any, expected: Expectations) -> Iterator[Check]:
    """Check a withheld release; the entry of `KINDS`."""
    from sfumato.disclosure.risk_assumptions import RiskAssumptions

    assumptions = RiskAssumptions.expected(expected.dictionaries, expected.risk)
    yield from withheld_checks(manifest, original, expected.schema, assumptions, expected.rows)
    if expected.schema is not None:
        yield _declared(manifest, original, expected.schema)


def withheld_checks(
    manifest: Manifest,
    original: Any = None,
    schema: Schema | None = None,
    assumptions: RiskAssumptions | None = None,
    rows: NDArray[np.int64] | None = None,
) -> Iterator[Check]:
    """Check the columns, counts, rule and order; the rows, given the original; the risk, given the dictionaries.

    `schema`: how the original is read. `assumptions`: what the risk was measured against. `rows`: for each published row
    its row in the original, which only the maker of a release knows.
    """
    try:
        published_cells = PublishedCells.read(manifest)
    except SfumatoError as error:
        yield Check("data", False, f"the data file does not match release.json: {error}")
        return
    declared, _ = manifest.schema(schema)
    columns = _columns(manifest, published_cells, declared)
    yield columns
    if not columns.holds:
        return
    try:
        levels = PublishedLevels.of(manifest, published_cells.names, published_cells.texts)
    except SfumatoError as error:
        yield Check("rule", False, f"release.json is invalid: {error}")
        return
    checks = [_counts(manifest, published_cells, levels), _rule(manifest, published_cells, levels)]
    table = None
    if original is None:
        checks.append(Check("rows", None, NO_ORIGINAL))
    else:
        # the maker passes the table object that it read: a dictionary may be the same object
        table = original if rows is not None else original_table(manifest, original, schema or declared)
        checks.append(
            _rows(published_cells, levels, table, _starred(manifest))
            if rows is None
            else rows_check(manifest, published_cells, levels, table, rows)
        )
    yield from checks
    if any(check.holds is False for check in checks):
        yield Check("order", None, NO_ORDER)
        yield Check("form", None, OTHERS_FAIL)
    else:
        yield _order(manifest, published_cells)
        yield data_form_check(manifest.data, manifest.document, published_cells.data, {})
    yield from risk_checks(manifest, published_cells, assumptions, table, rows)


def _declared(manifest: Manifest, original: Any, schema: Schema) -> Check:
    """Check that release.json declares what a schema does.

    A kind that the schema leaves open is that of the original, if there is one. An attribute that is compared by
    containment may have none: its kind then follows from the cells of both sides.
    """
    declared, _ = manifest.schema(schema)
    names = [counts.name for counts in manifest.withheld.attributes]
    if original is not None:
        table = original_table(manifest, original, schema)
        open_names = [name for name in names if name not in schema.kinds and name not in _starred(manifest)]
        kinds = {name: table.column(name).kind for name in open_names if name in table.data.column_names}
        schema = replace(schema, kinds={**schema.kinds, **kinds})
    first = first_difference(schema, declared, None, names, [*names, *schema.vectors])
    return Check("declared", first is None, first or DECLARED)


def _order(manifest: Manifest, published_cells: PublishedCells) -> Check:
    """Check that the rows are in the public order, which depends on published content alone."""
    if manifest.format < ORDERED_SINCE:
        return Check("order", None, OLDER_FORMAT)
    seed, rows = order_seed(manifest.withheld.seed, manifest.format), len(published_cells.withheld)
    if seed < 0:
        return Check("order", False, f"invalid seed in release.json: {seed}")
    columns = {name: published_cells.data.column(name) for name in published_cells.names}
    keys = Contents.of(columns, rows).as_text
    # Sorting and shuffling a table that is in its order must not change it.
    order = np.argsort(keys, kind="stable")[np.random.default_rng([seed, SHUFFLE]).permutation(rows)]
    if not np.array_equal(keys[order], keys):
        return Check("order", False, "the rows are not in the public order, and may be in that of the original")
    return Check("order", True, "the rows are in the public order, which depends on published content alone")


def _starred(manifest: Manifest) -> set[str]:
    """The attributes in which a `*` of the original counts as missing: those that are compared by containment."""
    return {name for name, how in manifest.withheld.consistency.items() if how.get("kind") == "containment"}


def rows_check(
    manifest: Manifest, published_cells: PublishedCells, levels: PublishedLevels, original: Table, rows: NDArray[np.int64]
) -> Check:
    """Check that published row i is row `rows[i]` of the original with cells withheld or generalized, each of them once."""
    mine, theirs = _coded(published_cells, levels, original, _starred(manifest))
    right = np.array_equal(np.sort(rows), np.arange(original.rows)) and _fits(mine, theirs[rows]).all()
    detail = f"every row is its original with cells {_treated(levels)}" if right else "a row is not its original"
    return Check("rows", bool(right), detail)


def _treated(levels: PublishedLevels) -> str:
    return "withheld or generalized" if levels.shares else "withheld"


def _columns(manifest: Manifest, published_cells: PublishedCells, declared: Schema) -> Check:
    identifiers = declared.identifiers
    exposed = [name for name in published_cells.names if name in identifiers]
    if exposed:
        return Check("columns", False, f"the identifier {exposed[0]!r} is published")
    claimed = [counts.name for counts in manifest.withheld.attributes]
    same = claimed == list(published_cells.names)
    detail = f"{count_of(len(claimed), 'attribute')} as listed, no identifier among them"
    if not same:
        detail = f"the data has {', '.join(published_cells.names)}; release.json lists {', '.join(claimed)}"
    return Check("columns", same, detail)


def _counts(manifest: Manifest, published_cells: PublishedCells, levels: PublishedLevels) -> Check:
    rows, document = len(published_cells.withheld), manifest.withheld
    if document.rows != rows:
        return Check("counts", False, f"{count_of(rows, 'row')}; release.json states {document.rows}")
    for j, claim in enumerate(document.attributes):
        for key, claimed, flags in (
            ("disclosed", claim.disclosed, published_cells.disclosed),
            ("withheld", claim.withheld, published_cells.withheld),
            ("missing", claim.missing, published_cells.missing),
            ("generalized", claim.generalized or 0, published_cells.disclosed & (levels.levels > 0)),
        ):
            count = int(flags[:, j].sum())
            if claimed != count:
                return Check("counts", False, f"{count} cells of {claim.name!r} are {key}; release.json states {claimed}")
    total = f"{int(published_cells.disclosed.sum()):,} cells disclosed, {int(published_cells.withheld.sum()):,} withheld"
    return Check("counts", True, f"{count_of(rows, 'row')}; {total}, as listed attribute by attribute")


def _rule(manifest: Manifest, published_cells: PublishedCells, levels: PublishedLevels) -> Check:
    """Check that as many cells are disclosed as the rule says; fewer only where nothing is withheld."""
    cells, per = manifest.withheld.rule.cells, manifest.withheld.rule.per
    if levels.shares:
        return _information(cells, per, published_cells, levels)
    axis = {"record": 1, "attribute": 0, "table": None}[per]
    disclosed = np.atleast_1d(published_cells.disclosed.sum(axis=axis))
    withheld = np.atleast_1d(published_cells.withheld.sum(axis=axis))
    wrong = np.flatnonzero((disclosed > cells) | ((disclosed < cells) & (withheld > 0)))
    if len(wrong):
        where = {"record": f"row {wrong[0] + 1}", "attribute": f"{published_cells.names[wrong[0]]!r}", "table": "the table"}[
            per
        ]
        return Check("rule", False, f"{where} discloses {disclosed[wrong[0]]} cells; the rule says {cells} per {per}")
    short = int((disclosed < cells).sum())
    fewer = f"; {short:,} have fewer, and withhold none" if short else ""
    return Check("rule", True, f"{count_of(cells, 'cell')} per {per}{fewer}")


def _information(cells: int, per: str, published_cells: PublishedCells, levels: PublishedLevels) -> Check:
    """Check that each row has information of as many values as the rule says, and of less than one more.

    A row has less only where nothing is withheld or generalized.
    """
    if per != "record":
        return Check("rule", False, f"cells are generalized per record, and the rule says per {per}")
    information, unit = levels.information(published_cells.disclosed)
    changed = (published_cells.withheld | (levels.levels > 0)).any(axis=1)
    wrong = np.flatnonzero((information >= (cells + 1) * unit) | ((information < cells * unit) & changed))
    if len(wrong):
        amount = written(Fraction(int(information[wrong[0]]), unit))
        detail = f"row {wrong[0] + 1} discloses the information of {amount} values; the rule says {cells} per record"
        return Check("rule", False, detail)
    short = int((information < cells * unit).sum())
    fewer = f"; {short:,} have less, and are complete" if short else ""
    return Check("rule", True, f"the information of at least {count_of(cells, 'value')} per record{fewer}")


def _coded(
    published_cells: PublishedCells, levels: PublishedLevels, original: Table, starred: AbstractSet[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The published and the original rows over the same numbers; negative numbers for missing and withheld cells.

    An attribute that may be generalized has a column for each level. A cell is published in the column of its level, and
    withheld in the others.
    """
    mine = np.empty(published_cells.withheld.shape, np.int64)
    theirs = np.empty((original.rows, len(published_cells.names)), np.int64)
    for j, name in enumerate(published_cells.names):
        both = Cells.of(pa.chunked_array([published_cells.texts[j]])), Cells.of(original.data.column(name))
        texts = comparable_texts(*both, name, {name: original.schema.separators.get(name, ";")})
        known = np.asarray(pa.concat_arrays(texts).dictionary_encode().indices).astype(np.int64)
        mine[:, j] = known[: len(texts[0])][both[0].of_row]
        theirs[:, j] = known[len(texts[0]) :][both[1].of_row]
        column = original.column(name)
        theirs[column.codes == column.size, j] = _NO_VALUE
        if name in starred:
            stars = np.array([text == "*" for text in texts[1].to_pylist()], bool)
            theirs[stars[both[1].of_row], j] = _NO_VALUE
    mine[published_cells.missing], mine[published_cells.withheld] = _NO_VALUE, _WITHHELD
    further = [_coded_levels(published_cells, levels, original, mine, theirs, name) for name in levels.shares]
    mine[levels.levels > 0] = _WITHHELD
    return np.hstack([mine, *(ours for ours, _ in further)]), np.hstack([theirs, *(others for _, others in further)])


def _coded_levels(
    published_cells: PublishedCells,
    levels: PublishedLevels,
    original: Table,
    mine: NDArray[np.int64],
    theirs: NDArray[np.int64],
    name: str,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The columns of the coarser levels of one attribute, given those of its values."""
    j, codes = published_cells.names.index(name), original.column(name).codes
    texts = np.asarray(published_cells.texts[j].fill_null(""), object)
    ours, others = [], []
    for level, labels in enumerate(levels.labels(original, name), start=1):
        number = {label: at for at, label in enumerate(dict.fromkeys(labels))}
        at = np.array([*(number[label] for label in labels), _NO_VALUE])
        others.append(np.where(theirs[:, j] == _NO_VALUE, _NO_VALUE, at[np.minimum(codes, len(labels))]))
        # a label that the original does not have fits no row
        own = np.array([number.get(text, len(number)) for text in texts.tolist()], np.int64)
        ours.append(np.where(levels.levels[:, j] == level, own, np.where(mine[:, j] == _NO_VALUE, _NO_VALUE, _WITHHELD)))
    return _columns_of(ours, len(mine)), _columns_of(others, len(theirs))


def _columns_of(columns: list[NDArray[np.int64]], rows: int) -> NDArray[np.int64]:
    return np.column_stack(columns) if columns else np.zeros((rows, 0), np.int64)


def _rows(published_cells: PublishedCells, levels: PublishedLevels, original: Table, starred: AbstractSet[str]) -> Check:
    """Check that every published row is an original row, each of them once, with cells withheld."""
    rows = len(published_cells.withheld)
    if original.rows != rows:
        return Check("rows", False, f"the original has {count_of(original.rows, 'row')}; {rows:,} are published")
    unmatched = _unmatched_rows(*_coded(published_cells, levels, original, starred))
    if unmatched is None:
        return Check("rows", None, "not checked: too many distinct rows of the original fit the published ones")
    if unmatched:
        return Check("rows", False, f"{count_of(unmatched, 'published row')} without an original row of its own")
    detail = f"every published row is a row of the original, each once, with cells {_treated(levels)}"
    return Check("rows", True, detail)


def _fits(mine: NDArray[np.int64], theirs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a published row can be an original one: equal where it is disclosed, present where it is withheld."""
    return np.asarray(np.where(mine == _WITHHELD, theirs != _NO_VALUE, theirs == mine).all(axis=-1))


def _unmatched_rows(mine: NDArray[np.int64], theirs: NDArray[np.int64]) -> int | None:
    """Count the published rows without an original row of their own; None if there are too many pairs to compare.

    Equal rows, on either side, form a class. A class of published rows is assigned to classes of original rows that fit,
    none beyond its size: a maximum flow. Candidates are looked up in the column in which the fewest fit.
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_flow

    published, many = np.unique(mine, axis=0, return_counts=True)
    originals, room = np.unique(theirs, axis=0, return_counts=True)
    orders = [np.argsort(originals[:, j], kind="stable") for j in range(originals.shape[1])]
    ordered = [originals[order, j] for j, order in enumerate(orders)]
    lists, pairs = [], 0
    for row in published:
        some = np.arange(len(originals))
        for j in np.flatnonzero(row != _WITHHELD):
            low, high = np.searchsorted(ordered[j], [row[j], row[j] + 1])
            if high - low < len(some):
                some = orders[j][low:high]
        lists.append(some[_fits(row, originals[some])])
        pairs += len(lists[-1])
        if pairs > _PAIRS:
            return None
    # nodes: source 0, classes of published rows, classes of original rows, sink; capacities are sizes of classes
    left, right, sink = len(published), len(originals), len(published) + len(originals) + 1
    tails = np.concatenate([np.zeros(left), np.repeat(np.arange(left), [*map(len, lists)]) + 1, np.arange(right) + left + 1])
    heads = np.concatenate([np.arange(left) + 1, np.concatenate(lists) + left + 1, np.full(right, sink)])
    most = np.concatenate([many, np.full(pairs, len(mine)), room]).astype(np.int32)
    graph = csr_matrix((most, (tails.astype(np.int64), heads.astype(np.int64))), shape=(sink + 1, sink + 1))
    return len(mine) - int(maximum_flow(graph, 0, sink).flow_value)
