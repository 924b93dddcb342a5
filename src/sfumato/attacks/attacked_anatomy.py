"""An anatomy as its attackers see it: everybody's group is known, and the secrets of each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.anatomy.anatomy_release import Anatomy
from sfumato.attacks.attacked_release import AttackedRelease
from sfumato.data.groups import Groups
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import ReleaseError
from sfumato.parameters import check_share
from sfumato.principles import Principle
from sfumato.releases.anatomy_tables import SecretCounts, secrets_schema
from sfumato.releases.declarations import resolved_schema
from sfumato.releases.digests import check_digests, digest
from sfumato.releases.reader import Manifest
from sfumato.releases.row_key import read_key
from sfumato.verification.separated_files import separated_files

Integers = NDArray[np.int64]

EXACT = (
    "the quasi-identifiers are published exactly: whoever is alone with theirs is linked to their row with certainty; this "
    "attack is measured on cells only"
)
"""Why attacks on cells are not run."""


def attacked_anatomy(anatomy: Anatomy) -> AttackedRelease:
    """Return an anatomy in memory, with the people in it."""
    group_of_person = np.asarray(anatomy.people[anatomy.group]) - 1
    secrets = [
        SecretCounts(
            np.asarray(t[anatomy.group]) - 1, t.drop_columns([anatomy.group, anatomy.count]), np.asarray(t[anatomy.count])
        )
        for t in anatomy.secrets
    ]
    original = anatomy.private.release.private.original
    seen = replace(
        _seen(secrets, anatomy.schema, anatomy.group, anatomy.principles, untyped=original.untyped),
        suppress=anatomy.suppress,
        method={"name": anatomy.method.name, "parameters": anatomy.method.parameters()},
    )
    return _with_people(seen, original, anatomy.private.rows, group_of_person)


def attacked_folder(
    manifest: Manifest, original: Table | None, schema: Schema | None, key: str | Path | None
) -> AttackedRelease:
    """Return the folder of an anatomized release; with its original and its key, the people in it."""
    document = manifest.anatomized
    check_digests(manifest)
    declared, _ = manifest.schema(schema)
    files = separated_files(manifest, declared)
    seen = replace(
        _seen(files.secrets, declared, document.group, manifest.principles(), untyped=files.people.untyped),
        suppress=check_share(document.suppress),
        method={"name": document.method.name, "parameters": document.method.parameters},
    )
    if original is None:
        return seen
    if key is None:
        raise ReleaseError(
            "which person is in which group of an anatomy is known from its key only",
            remedy="Pass the key that was written with the release, or leave out the original.",
            file=str(manifest.folder),
            key="key",
        )
    found = read_key(key)
    if found.rows is None or any(found.data.get(name) != digest(manifest.folder / name).sha256 for name in found.data):
        raise ReleaseError(
            "the key belongs to another release", remedy="Name the key that was written with this release.", file=str(key)
        )
    if len(found.rows) != document.rows or not 0 <= found.rows.min() <= found.rows.max() < original.rows:
        raise ReleaseError(
            "the key names rows that the original does not have",
            remedy="Name the key and the original that belong to the release.",
            file=str(key),
        )
    return _with_people(seen, original, found.rows, files.groups.of_row)


def _seen(
    secrets: Sequence[SecretCounts], schema: Schema, group: str, principles: Sequence[Principle], *, untyped: bool
) -> AttackedRelease:
    """Return what everybody sees: one row for each person of each group, the secrets of each table in any order."""
    ordered = []
    for table in secrets:
        by_group = np.argsort(table.group, kind="stable")
        ordered.append(SecretCounts(table.group[by_group], table.values.take(pa.array(by_group)), table.counts[by_group]))
    of_row = np.repeat(ordered[0].group, ordered[0].counts)
    columns = {
        name: table.values.column(name).take(pa.array(table.row_of_person))
        for table in ordered
        for name in table.values.column_names
    }
    data = pa.table({group: pa.array(of_row + 1), **{name: columns[name] for name in schema.sensitive_columns()}})
    published = Table(data, secrets_schema(schema, schema.sensitive, group), untyped=untyped)
    groups = Groups(of_row, int(of_row.max()) + 1, len(of_row))
    return AttackedRelease(published, groups, schema, {}, tuple(principles), exact=True)


def _with_people(seen: AttackedRelease, original: Table, rows: Integers, group_of_person: Integers) -> AttackedRelease:
    """Return a release with the people in it; `rows`: for each person the row in the original."""
    order = np.argsort(rows, kind="stable")
    # any row of the group: which one is a person's is not published
    place = np.empty(len(rows), np.int64)
    place[np.argsort(group_of_person, kind="stable")] = np.argsort(seen.groups.of_row, kind="stable")
    return replace(
        seen,
        original=original.take(rows[order], resolved_schema(original)),
        rows=rows[order],
        group_of_person=group_of_person[order],
        row_of_person=place[order],
        population=original,
        rows_are_known=True,
    )
