"""Apply the published transformation of a release to new rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato._audit import audit, library_of
from sfumato.audits.audit_result import Audit
from sfumato.data.column_encoder import missing_as_null
from sfumato.data.groups import Groups, combination_ranks
from sfumato.data.schema import Kind, Role, Schema
from sfumato.data.table import Table
from sfumato.errors import CellError, ColumnError, FileError, HierarchyError, ReleaseError, RequirementError
from sfumato.exact import as_fraction, written
from sfumato.io.atomic_replace import write_file
from sfumato.io.files_in_use import refuse_in_use
from sfumato.io.shuffle import Contents, ranks_of, shuffled
from sfumato.io.write_files import cell_texts, write_csv, write_parquet
from sfumato.plurals import count_of
from sfumato.principles import Principle
from sfumato.releases.digests import check_digests
from sfumato.releases.exposure_models import share_text
from sfumato.releases.models import MARKED_SINCE
from sfumato.releases.reader import Manifest, TableManifest
from sfumato.releases.table_files import original_table, published_schema, published_table
from sfumato.transformation import Assignment, Transformation
from sfumato.verification.grouped_checks import refuse_inconsistent

_SHOWN = 5
"""How many rows that fit no group a message lists."""


@dataclass(frozen=True)
class UnfitRow:
    """A new row that fits no group. Private: it says something about a person who is not in the release.

    >>> UnfitRow(2, 7, ("age",))
    row 2: group 7 is nearest, but does not cover age
    """

    row: int
    """The number of the row in the new data, from 1."""
    group: int
    """The group that covers most of its quasi-identifiers."""
    columns: tuple[str, ...]
    """The columns that this group does not cover."""

    def __repr__(self) -> str:
        return f"row {self.row}: group {self.group} is nearest, but does not cover {', '.join(self.columns)}"


@dataclass(frozen=True, eq=False, repr=False)
class Application:
    """New rows as the release publishes them. Made by `sf.apply`.

    >>> import tempfile
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release = sf.anonymize(people, sf.Schema(["age"]), sf.KAnonymity(2)).save(f"{folder}/r")
    ...     sf.apply(release, pa.table({"age": [30, 31]}))
    2 of 2 new rows fit a group of the release
    the release and the new rows together: 1 of 1 principles hold
    """

    data: pa.Table
    """The rows that fit, with the columns and the cells of the release, in an order that reveals nothing."""
    unfit: tuple[UnfitRow, ...]
    """The rows that fit no group, and are not in `data`. Do not publish them."""
    combined: Audit
    """The principles of the release, measured on its rows and the new ones together."""
    dropped: tuple[str, ...] = ()
    """The columns of the new data that the release does not declare; they are not in `data`."""
    library: str = "pyarrow"
    separators: tuple[tuple[str, str], ...] = ()
    unchanged: tuple[str, ...] = ()
    """The columns in which an empty text of a CSV is not an empty cell."""
    reading: tuple[str | None, ...] = ()
    """The files that the rows were made from, which `save` never replaces."""

    @property
    def holds(self) -> bool:
        """Whether all principles hold in the release together with the new rows."""
        return self.combined.holds

    @property
    def frame(self) -> Any:
        """The rows in the library that the data came in; pyarrow for files."""
        if self.library == "pandas":
            return self.data.to_pandas()
        if self.library == "polars":
            import polars

            return polars.from_arrow(self.data)
        return self.data

    def __repr__(self) -> str:
        total = self.data.num_rows + len(self.unfit)
        lines = [f"{self.data.num_rows:,} of {count_of(total, 'new row')} fit a group of the release"]
        lines += [f"  {row!r}" for row in self.unfit[:_SHOWN]]
        if len(self.unfit) > _SHOWN:
            lines.append(f"  … and {len(self.unfit) - _SHOWN:,} more rows that fit no group")
        if self.dropped:
            more = f" and {len(self.dropped) - _SHOWN:,} more" if len(self.dropped) > _SHOWN else ""
            lines.append(f"not in the release, and dropped: {', '.join(map(repr, self.dropped[:_SHOWN]))}{more}")
        lines.append(f"the release and the new rows together: {self.combined.summary()}")
        return "\n".join(lines)

    def save(self, path: str | Path, force: bool = False) -> Path:
        """Write the rows to a CSV or Parquet file; `force`: replace a file that exists, but none that was read."""
        target = Path(path)
        if target.suffix not in (".csv", ".parquet"):
            raise FileError("the kind of file is not known", remedy="Name a .csv or .parquet file.", file=str(path))
        if target.exists() and not force:
            raise FileError("something exists here already", remedy="Name a new file, or use force.", file=str(path))
        refuse_in_use(target, self.reading)
        if target.suffix == ".csv":
            write_file(target, lambda file: write_csv(self.data, file, dict(self.separators), self.unchanged))
        else:
            write_file(target, lambda file: write_parquet(self.data, file))
        return target


def apply(
    folder: str | Path, data: Any, *, schema: Schema | None = None, seed: int = 0, strict: bool = False,
    insist: bool = False,
) -> Application:  # fmt: skip
    """Put new rows into the groups of a release, and return them with the cells of their groups.

    A row gets the most specific group whose cells cover all its quasi-identifiers. Rows that no group covers are listed in
    `unfit`; with `strict` they are an error. The result has the columns of the release: identifiers and columns that are not
    published are dropped. All principles of the release are measured on its rows and the new ones together; if one does not
    hold, that is an error, unless `insist`. Columns that are published unchanged must not single out more of the new rows
    than the release allows. A release that counts people or households is refused. `schema`: the one of the publisher, if
    a distance is a function of their own.

    What this does not protect: whoever has the release and the new rows knows which rows are new, so a group with one new
    row reveals that row's secret. Add many rows at once, or make a new release.

    >>> import tempfile
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "gout", "flu", "gout"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release = sf.anonymize(people, sf.Schema(["age"], ["ill"]), sf.KAnonymity(2))
    ...     added = sf.apply(release.save(f"{folder}/r"), pa.table({"age": [31, 40], "ill": ["flu", "flu"]}))
    >>> added.data.column("age").to_pylist(), added.unfit[0].row, added.holds
    (['[30, 31]'], 2, True)
    """
    manifest = Manifest.load(_folder(folder))
    table = manifest.table
    check_digests(manifest)
    declared, unavailable = table.schema(schema)
    _refuse_units(manifest, declared)
    principles = table.principles()
    if unavailable and any(principle.uses_distance for principle in principles):
        raise ReleaseError(
            "the principles use a distance function of the publisher's own, which is not available",
            remedy="Pass the schema that contains it.", file=str(manifest.path), key=f"config.{unavailable[0]}",
        )  # fmt: skip
    _refuse_compared(manifest, principles)
    released = published_table(table, published_schema(declared, table.document.group))
    refuse_inconsistent(table, released, declared)
    new = _new_rows(table, data, declared, released)
    assignment = Transformation.of(table.document, released, declared).assign(new)
    unfit = _unfit(assignment)
    rows = np.flatnonzero(assignment.group >= 0)
    _refuse_unfit(unfit, new, strict)
    published = _published(new, assignment, rows, released, table, seed)
    together = _together(released, published)
    _refuse_singled_out(together, released.rows, declared, new.source)
    combined = audit(Table(together, released.schema, untyped=released.untyped), None, list(principles))
    if not insist:
        _refuse_breach(combined, new.source)
    known = {*declared.named_columns(), *published.column_names}
    dropped = tuple(name for name in new.data.column_names if name not in known)
    recoded = {table.document.group, *declared.quasi_identifiers}
    unchanged = [name for name in published.column_names if name not in recoded and table.format >= MARKED_SINCE]
    separators = _separators(declared)
    read = (new.source, str(manifest.data), str(manifest.path))
    return Application(published, unfit, combined, dropped, library_of(data), separators, tuple(unchanged), read)


def _folder(folder: str | Path) -> Path:
    """Return the folder of a release, which may be named by its release.json."""
    path = Path(folder)
    return path.parent if path.name == "release.json" else path


def _separators(schema: Schema) -> tuple[tuple[str, str], ...]:
    return tuple((name, schema.separators.get(name, ";")) for name in schema.sensitive_columns())


def _new_rows(manifest: TableManifest, data: Any, declared: Schema, released: Table) -> Table:
    """Read the new rows under the schema of the original; identifiers need not be there."""
    schema = replace(declared, identifiers=(), person_id=None, household_id=None)
    new = original_table(manifest, data, schema)
    group = manifest.document.group
    if group in new.data.column_names:
        raise ColumnError(
            "this is a published table: it has the group column", remedy="Pass new rows as they are.", file=new.source,
            column=group,
        )  # fmt: skip
    present = {group, *new.data.column_names}
    absent = [name for name in released.data.column_names if name not in present]
    if absent:
        raise ColumnError(
            "the new rows do not have this column of the release",
            remedy=f"Their columns are: {', '.join(map(repr, new.data.column_names))}.", file=new.source, column=absent[0],
        )  # fmt: skip
    for name in (*schema.quasi_identifiers, *schema.sensitive_columns()):
        _encode(new, name)
    return new


def _encode(new: Table, name: str) -> None:
    """Read a column under its declared kind; a value that its hierarchy lacks is an error with the row."""
    try:
        new.column(name)
    except HierarchyError as error:
        absent = error.value[0] if isinstance(error.value, list) and error.value else error.value
        plain = new.with_schema(replace(new.schema, hierarchies={}, recodings={})).column(name)
        labels = [plain.label(code) for code in range(plain.size)]
        row = int(np.argmax(plain.codes == labels.index(absent))) + 1 if absent in labels else None
        raise CellError(
            f"{absent!r} is not in the hierarchy of the release",
            remedy="Leave the row out, or make a new release with a hierarchy that contains it.", file=new.source,
            column=name, row=row, value=absent,
        ) from error  # fmt: skip


def _refuse_unfit(unfit: tuple[UnfitRow, ...], new: Table, strict: bool) -> None:
    """Raise an error if no row fits a group or, with `strict`, if some row does not."""
    if unfit and strict:
        listed = "; ".join(map(repr, unfit[:_SHOWN]))
        raise RequirementError(
            f"{len(unfit):,} of {count_of(new.rows, 'row')} fit no group ({listed})",
            remedy="Leave these rows out, or make a new release.", file=new.source,
        )  # fmt: skip
    if len(unfit) == new.rows:
        raise RequirementError(
            f"none of {count_of(new.rows, 'row')} fits a group", remedy="Make a new release.", file=new.source
        )


def _refuse_breach(combined: Audit, source: str | None) -> None:
    """Raise an error if a principle does not hold in the release together with the new rows."""
    worst = next((finding for finding in combined if not finding.holds), None)
    if worst is not None:
        raise RequirementError(
            f"the release and the new rows together do not satisfy {worst.principle.label} "
            f"({count_of(worst.violating_groups, 'group')} in breach)",
            remedy="Make a new release, leave rows out, or insist (--insist, insist=True).", file=source,
        )  # fmt: skip


def _unfit(assignment: Assignment) -> tuple[UnfitRow, ...]:
    numbers = assignment.transformation.numbers
    return tuple(
        UnfitRow(row + 1, int(numbers[assignment.nearest[row]]), assignment.misses(row))
        for row in np.flatnonzero(assignment.group < 0).tolist()
    )


def _published(
    new: Table, assignment: Assignment, rows: NDArray[np.int64], released: Table, manifest: TableManifest, seed: int
) -> pa.Table:
    """Return rows as the release has them: its columns, the cells of their groups, shuffled by the seed."""
    group = manifest.document.group
    cells = assignment.published(rows)
    columns: dict[str, Any] = {group: pa.array(assignment.transformation.numbers[assignment.group[rows]], pa.int64())}
    separators = dict(_separators(new.schema))
    for name in released.data.column_names:
        if name in cells:
            columns[name] = cells[name]
        elif name != group:
            column = new.data.column(name).take(pa.array(rows))
            if manifest.format >= MARKED_SINCE:
                kind = Kind(released.schema.kinds[name]) if name in released.schema.sensitive_columns() else None
                column = missing_as_null(column, new.schema.missing.texts(kind))
            columns[name] = _as_released(column, name, released, separators, new.source)
    one_group = Groups(np.zeros(len(rows), np.int64), 1, len(rows))
    order, _ = shuffled(Contents.of(columns, len(rows), separators), one_group, seed)
    return pa.table(columns).take(pa.array(order))


def _as_released(
    column: pa.ChunkedArray, name: str, released: Table, separators: dict[str, str], source: str | None
) -> pa.ChunkedArray:
    """Return a column in the type that it has in the release."""
    if released.untyped:
        return pa.chunked_array([cell_texts(column, name, separators)])
    wanted = released.data.column(name).type
    try:
        return column.cast(wanted)
    except (pa.ArrowException, NotImplementedError) as error:
        raise ColumnError(
            f"the column is of the type {column.type}, and the release has {wanted}",
            remedy="Convert it to that type.", file=source, column=name,
        ) from error  # fmt: skip


def _together(released: Table, published: pa.Table) -> pa.Table:
    """Return the rows of a release, followed by new ones."""
    columns = []
    for name in released.data.column_names:
        old = released.data.column(name)
        kind = old.type.value_type if pa.types.is_dictionary(old.type) else old.type
        columns.append(pa.chunked_array([*old.cast(kind).chunks, *_chunks(published.column(name).cast(kind))], kind))
    return pa.Table.from_arrays(columns, released.data.column_names)


def _refuse_units(manifest: Manifest, declared: Schema) -> None:
    """Raise an error if the release counts people or households, which nobody can tell apart in its rows."""
    name = declared.household_id or declared.person_id
    if name is not None:
        raise ReleaseError(
            f"the release keeps all rows of a value of {name!r} in one group, and does not say whose row a row is: new rows "
            "of the same people could be in other groups, and people in the groups cannot be counted",
            remedy="Make a new release of all rows.",
            file=str(manifest.path),
            key="config.household_id" if declared.household_id else "config.person_id",
        )


def _refuse_compared(manifest: Manifest, principles: Sequence[Principle]) -> None:
    """Raise an error if a principle compares cells with the people of the original, which is not known here."""
    for principle in principles:
        if principle.uses_original:
            raise ReleaseError(
                f"{principle.title} compares the cells of the release with the people of its original, and new rows are "
                "about others",
                remedy="Make a new release of all rows.",
                file=str(manifest.path),
                key="config.principles",
                value=principle.name,
            )


def _refuse_singled_out(together: pa.Table, old: int, declared: Schema, source: str | None) -> None:
    """Raise an error if columns that are published unchanged single out more of the new rows than the release allows.

    The first `old` rows are those of the release. New rows cannot single out any of them.
    """
    names = [name for name in together.column_names if declared.role(name) is Role.OTHER]
    if not names:
        return
    ranks = [ranks_of(together.column(name), name) for name in names]
    codes = [each.as_text[each.of_row] for each in ranks]
    combination = combination_ranks(codes, [int(column.max()) + 1 for column in codes])
    unique = int((np.bincount(combination)[combination[old:]] == 1).sum())
    limit, rows = as_fraction(declared.unchanged_limit), together.num_rows - old
    if unique > limit * rows:
        raise RequirementError(
            f"{', '.join(map(repr, names))}, published unchanged, would single out "
            f"{share_text(unique, rows, 'new row', 'new rows')}, and the limit of the release is {written(limit)}",
            remedy="Leave these rows out, or make a new release.", file=source, value=names,
        )  # fmt: skip


def _chunks(column: Any) -> list[pa.Array]:
    return list(column.chunks) if isinstance(column, pa.ChunkedArray) else [column]
