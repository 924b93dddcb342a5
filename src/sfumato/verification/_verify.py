"""Verify a release from its written files, whatever its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sfumato._audit import table_of
from sfumato.data.schema import Schema
from sfumato.disclosure.withheld.withheld_checks import withheld_checks
from sfumato.principles import Principle
from sfumato.projections.projected_checks import projected_checks
from sfumato.projections.request_checks import Wished
from sfumato.releases.manifest import PROJECTED, WITHHELD, Manifest
from sfumato.verification.checks import Check, Verification, files_check
from sfumato.verification.declaration_checks import first_difference, in_their_order
from sfumato.verification.grouped_checks import grouped_checks


def verify(
    folder: str | Path,
    original: Any = None,
    *,
    schema: Schema | None = None,
    principles: Sequence[Principle] | None = None,
    project: Mapping[str, Any] | None = None,
) -> Verification:
    """Check a release from its files, and, if the original table is given, against that.

    `original`: a path, a frame or a Table. `schema` and `principles`: what the release is to have been made under; a
    release.json that declares anything else fails. A schema is needed where the distance is a function of your own, which
    release.json cannot hold (its functions are then used), and principles if they are of a class of your own. `project`: of
    several tables, what `sf.project` is to have been asked for beyond those, by its names: `alpha`, `beta`, `plan`,
    `harmless`, `sets`, `suppress`. What is left out, or None, is not compared.

    >>> import tempfile
    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = sf.anonymize(people, sf.Schema(["age"]), sf.KAnonymity(2)).save(f"{folder}/release")
    ...     found = verify(written, people)
    >>> found.holds, [check.name for check in found.checks][-2:]
    (True, ['rows', 'cover'])
    """
    manifest = Manifest.load(Path(folder))
    wished = None if project is None else Wished.of(project)
    if manifest.kind == WITHHELD:
        return Verification(str(folder), tuple(withheld_checks(manifest, original, schema)))
    declared, unknown = manifest.schema(schema)
    asked, differing = manifest.principles() if principles is None else tuple(principles), None
    if principles is not None:
        asked, differing = in_their_order(asked, manifest.asked)
    checks = [files_check(manifest)]
    if manifest.kind == PROJECTED:
        checks += projected_checks(manifest, declared, asked, original, schema)
    else:
        checks += grouped_checks(manifest, declared, unknown, asked, original)
    if wished is not None and manifest.kind == PROJECTED and all(check.holds is not False for check in checks):
        differing = differing or wished.first_difference(manifest, schema)
    if schema is not None or principles is not None or wished is not None:
        checks.append(_given(manifest, schema, declared, original, differing))
    return Verification(str(folder), tuple(checks))


def _given(manifest: Manifest, schema: Schema | None, declared: Schema, original: Any, differing: str | None) -> Check:
    """What release.json declares is what the reader was told elsewhere."""
    found = None
    if schema is not None:
        table = None if original is None else cache(lambda: table_of(original, schema))
        found = first_difference(schema, declared, table, _published(manifest))
    found = found or differing
    return Check("declared", found is None, found or "release.json declares what is given")


def _published(manifest: Manifest) -> list[str]:
    """The columns that are published as they were named."""
    if manifest.kind == PROJECTED:
        return []
    columns = [str(column.get("name") if isinstance(column, dict) else None) for column in manifest.content["columns"]]
    return [name for name in columns if name != manifest.content["group"]]
