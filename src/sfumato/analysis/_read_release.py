"""Read a release as an analyst does: check its files, and return its table with what every cell may stand for."""

from __future__ import annotations

from pathlib import Path

from sfumato.analysis.cell_values import PublishedCell
from sfumato.analysis.released_anatomy import ReleasedAnatomy
from sfumato.analysis.released_column import ReleasedColumn
from sfumato.analysis.released_table import ReleasedTable, ReleasedTables
from sfumato.data.schema import Kind, Schema
from sfumato.plurals import count_of
from sfumato.releases.cells import WITHHELD as NOTHING
from sfumato.releases.cells import interval_end, is_quoted, unquote
from sfumato.releases.digests import check_digests
from sfumato.releases.models import ANATOMIZED, PROJECTED, WITHHELD
from sfumato.releases.reader import Manifest, TableManifest
from sfumato.releases.table_files import published_schema, published_table
from sfumato.verification.grouped_checks import refuse_inconsistent


def read_release(folder: str | Path) -> ReleasedTable | ReleasedTables | ReleasedAnatomy:
    """Read the folder of a release, and check that its files are those that release.json lists.

    Returns the table, with estimates; of a projected release its tables; of an anatomized one the people and the secrets of
    their groups, with expected counts. The cells of a withheld release can be read, but
    there are no estimates from them. To check that the principles hold, use `sf.verify`.

    >>> import tempfile
    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "gout", "flu", "flu"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release = sf.anonymize(people, sf.Schema(["age"], ["ill"]), sf.KAnonymity(2))
    ...     table = read_release(release.save(f"{folder}/release"))
    >>> table
    <ReleasedTable: 4 rows in 2 groups; age 2 generalized cells, ill exact>
    >>> table.to_arrow().column_names
    ['group', 'age', 'age_lo', 'age_hi', 'age_mid', 'ill']
    """
    manifest = Manifest.load(Path(folder))
    check_digests(manifest)
    if manifest.kind == WITHHELD:
        return _withheld(manifest)
    if manifest.kind == PROJECTED:
        return ReleasedTables(tuple(_grouped(table) for table in manifest.tables()), manifest.projected.rows)
    if manifest.kind == ANATOMIZED:
        return ReleasedAnatomy.read(manifest)
    return _grouped(manifest.table)


def _grouped(manifest: TableManifest) -> ReleasedTable:
    document = manifest.document
    declared, _ = manifest.schema()
    table = published_table(manifest, published_schema(declared, document.group))
    refuse_inconsistent(manifest, table, declared)
    columns = {}
    for column in document.columns:
        if column.name != document.group:
            columns[column.name] = ReleasedColumn.read(column, table, declared)
    group = table.column(document.group)
    notes = []
    if document.suppressed:
        notes.append(
            f"{count_of(document.suppressed, 'row')} of the original {'is' if document.suppressed == 1 else 'are'} not "
            f"published, and no figure includes them"
        )
    cells = table.data.column(document.group)
    codes = group.codes.astype("int64")
    return ReleasedTable(columns, codes, document.group, cells, document.method.name, tuple(notes))


def _withheld(manifest: Manifest) -> ReleasedTable:
    """Read a withheld release: a cell is a value, `*` or missing, and there are no groups."""
    document = manifest.withheld
    declared, _ = manifest.schema()
    table = published_table(manifest, Schema())
    columns = {}
    for name in table.data.column_names:
        encoded = table.with_schema(Schema(kinds={name: Kind.CATEGORICAL})).column(name)
        kind = Kind(declared.kinds.get(name, Kind.CATEGORICAL))
        cells = []
        for code in range(encoded.domain):
            text = encoded.label(code) if code < encoded.size else None
            if text == NOTHING:
                cells.append(PublishedCell(text, withheld=True))
                continue
            value = unquote(text) if text is not None and is_quoted(text) else text
            number = interval_end(value, kind is Kind.DATE) if kind in (Kind.NUMERIC, Kind.DATE) and value else None
            cells.append(PublishedCell(text, () if value is None else (value,), number, number, missing=value is None))
        role = str(declared.role(name))
        columns[name] = ReleasedColumn(name, role, kind, cells, encoded.codes.astype("int64"))
    hidden = sum(attribute.withheld for attribute in document.attributes)
    note = f"{count_of(hidden, 'cell')} withheld; which ones depends on their values, so there are no estimates"
    return ReleasedTable(columns, None, None, None, notes=(note,))
