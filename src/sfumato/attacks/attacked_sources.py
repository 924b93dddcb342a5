"""What can be attacked: a release in memory, the folder of one, or the table that another tool published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._audit import table_of
from sfumato.anatomy.anatomy_release import Anatomy
from sfumato.anonymization.release import Release
from sfumato.attacks.attacked_anatomy import attacked_anatomy, attacked_folder
from sfumato.attacks.attacked_release import SAMPLE, AttackedRelease
from sfumato.attacks.people_matching import matched_rows
from sfumato.data.groups import Groups
from sfumato.data.schema import Role, Schema
from sfumato.data.table import Table
from sfumato.data.units import units_of
from sfumato.errors import ParameterError, ReleaseError
from sfumato.parameters import check_share
from sfumato.plurals import count_of
from sfumato.principles import Principle
from sfumato.releases.declarations import resolved_schema
from sfumato.releases.digests import check_digests, digest
from sfumato.releases.models import ANATOMIZED
from sfumato.releases.reader import MANIFEST, Manifest
from sfumato.releases.row_key import read_key
from sfumato.releases.table_files import original_table, published_schema, published_table
from sfumato.verification.unit_checks import mapping_problem

Integers = NDArray[np.int64]


def attacked_release(
    release: Any,
    original: Any = None,
    *,
    schema: Schema | None = None,
    principles: Sequence[Principle] = (),
    key: str | Path | None = None,
    sample: int = SAMPLE,
) -> AttackedRelease:
    """Return a release as its attackers see it; for the arguments see `sf.attack`."""
    if isinstance(release, Release):
        found = _of_release(release)
    elif isinstance(release, Anatomy):
        found = attacked_anatomy(release)
    elif isinstance(release, str | Path) and Path(release).suffix.lower() not in (".csv", ".parquet"):
        folder = Path(release)
        found = _of_folder(folder.parent if folder.name == MANIFEST else folder, original, schema, key)
    else:
        _refuse_file_of_release(release)
        found = _of_other_tool(release, original, schema, tuple(principles))
    return replace(found, sample=sample)


def _of_release(release: Release) -> AttackedRelease:
    private = release.private
    order = _people_first(private.rows)
    groups = release.audit.groups
    return AttackedRelease(
        published=release.table,
        groups=Groups(groups.of_row, groups.count, release.table.rows),
        schema=release.schema,
        recodings=release.recodings,
        principles=release.principles,
        original=private.original.take(private.rows[order], resolved_schema(private.original)),
        rows=private.rows[order],
        group_of_person=groups.of_row[order],
        row_of_person=order,
        population=private.original,
        rows_are_known=True,
        suppress=release.suppress,
        method={"name": release.method.name, "parameters": release.method.parameters()},
        notes=_unit_notes(private.original),
    )


def _of_folder(folder: Path, original: Any, schema: Schema | None, key: str | Path | None) -> AttackedRelease:
    manifest = Manifest.load(folder)
    if manifest.kind == ANATOMIZED:
        declared = manifest.schema(schema)[0]
        people = None if original is None else original_table(manifest, original, declared)
        return attacked_folder(manifest, people, schema, key)
    table, document = manifest.table, manifest.grouped
    check_digests(manifest)
    declared, _ = table.schema(schema)
    published = published_table(table, published_schema(declared, document.group))
    found = AttackedRelease(
        published=published,
        groups=Groups.of(published),
        schema=declared,
        recodings={c.name: str(c.recoding) for c in document.columns if c.role == str(Role.QUASI_IDENTIFIER)},
        principles=table.principles(),
        suppress=check_share(document.suppress),
        file=table.data,
        method={"name": document.method.name, "parameters": document.method.parameters},
    )
    if original is None:
        return found
    people = original_table(table, original, declared)
    rows, notes = rows_of_key(table.data, key), _unit_notes(people)
    are_known = rows is not None
    if rows is None:
        rows, note = matched_rows(published, people, found, manifest.format)
        notes = (*notes, note)
    elif problem := mapping_problem(table, published.data, people, declared, rows):
        raise ReleaseError(problem, remedy="Name the key and the original that belong to the release.", file=str(key))
    order = _people_first(rows)
    return replace(
        found,
        original=people.take(rows[order], resolved_schema(people)),
        rows=rows[order],
        group_of_person=found.groups.of_row[order],
        row_of_person=order,
        population=people,
        rows_are_known=are_known,
        notes=notes,
    )


def _people_first(rows: Integers) -> Integers:
    """Return the published rows in the order of the original; counterfeits, which stand for nobody, are left out."""
    order = np.argsort(rows, kind="stable")
    return order[rows[order] >= 0]


def rows_of_key(data: Path, key: str | Path | None) -> Integers | None:
    """Return for each published row its row in the original, as a key says; None without a key."""
    if key is None:
        return None
    found = read_key(key)
    if found.data.get(data.name) != digest(data).sha256:
        raise ReleaseError(
            "the key belongs to another release",
            remedy="Name the key that was written with this release.",
            file=str(key),
        )
    return found.rows


def _refuse_file_of_release(data: Any) -> None:
    """Raise an error for the data file of a release: its rows are shuffled, and not those of another tool."""
    if isinstance(data, str | Path) and (Path(data).parent / MANIFEST).is_file():
        raise ParameterError(
            "this is the data file of a release",
            remedy="Name the folder of the release.",
            key="release",
            file=str(data),
        )


def _of_other_tool(data: Any, original: Any, schema: Schema | None, principles: tuple[Principle, ...]) -> AttackedRelease:
    """Return a table that another tool published: rows with equal cells are one group, in the order of the original."""
    if schema is None:
        raise ParameterError(
            "the published table has no schema",
            remedy="Pass the roles of its columns as a Schema, or a config that declares them (--config).",
            key="schema",
        )
    released = table_of(data, replace(published_schema(schema, "group"), group=None, kinds=_kinds(schema)))
    groups = Groups.of(released)
    found = AttackedRelease(
        published=released,
        groups=Groups(groups.of_row, groups.count, released.rows),
        schema=schema,
        recodings={name: _recoding(schema, name) for name in schema.quasi_identifiers},
        principles=principles,
    )
    if original is None:
        return found
    people = table_of(original, schema)
    if people.rows != released.rows:
        raise ParameterError(
            f"the published table has {released.rows:,} rows and the original {people.rows:,}, so it is not known which row "
            "is whose",
            remedy="Give tables with the same people in the same order; mark suppressed rows with * instead of leaving them "
            "out, or leave them out of the original too.",
            key="original",
            file=people.source,
        )
    note = "row i of the published table is taken to be row i of the original"
    changed = _changed_secrets(released, people)
    if changed:
        note += f"; {count_of(changed, 'row')} of {people.rows:,} have other secrets there, so guesses are wrong more often"
    rows = np.arange(people.rows)
    return replace(
        found,
        original=people,
        rows=rows,
        group_of_person=groups.of_row,
        row_of_person=rows,
        population=people,
        notes=(*_unit_notes(people), note),
    )


def _changed_secrets(released: Table, people: Table) -> int:
    """Return in how many rows a sensitive value is not that of the original: it was changed, or the order differs."""
    differs = np.zeros(people.rows, bool)
    for name in people.schema.sensitive_columns():
        shown, true = released.column(name), people.column(name)
        number = {shown.value(code): code for code in range(shown.domain)}
        of_code = np.array([number.get(true.value(code), -1) for code in range(true.domain)], np.int64)
        differs |= of_code[true.codes] != shown.codes
    return int(differs.sum())


def _kinds(schema: Schema) -> dict[str, Any]:
    """Return the declared kinds of sensitive columns; cells of quasi-identifiers are texts."""
    kinds = {name: kind for name, kind in schema.kinds.items() if name in schema.sensitive_columns()}
    return {**kinds, **dict.fromkeys(schema.quasi_identifiers, "categorical")}


def _recoding(schema: Schema, name: str) -> str:
    """Return how the cells of a column are read: nodes of its hierarchy, or else intervals, which may be single values."""
    return "ancestor" if name in schema.hierarchies else "interval"


def _unit_notes(original: Table) -> tuple[str, ...]:
    units = units_of(original)
    return () if units is None else (f"{units.plural} have several rows, and each row is attacked by itself",)
