"""The report of a release that is written already, drawn again from its folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sfumato._audit import audit
from sfumato.anonymization.figures.figure_tables import internal_figures
from sfumato.data.schema import Role, Schema
from sfumato.disclosure.withheld.withheld_page import withheld_page
from sfumato.errors import ReleaseError
from sfumato.principles import Principle
from sfumato.projections.projection_page import public_page as projected_page
from sfumato.releases.models import PROJECTED, WITHHELD
from sfumato.releases.reader import Manifest
from sfumato.releases.table_files import original_table, published_schema, published_table
from sfumato.reports.grouped_page import page
from sfumato.verification._verify import verify
from sfumato.verification.checks import Verification
from sfumato.verification.declaration_checks import in_declared_order


def report(
    folder: str | Path,
    original: Any = None,
    *,
    schema: Schema | None = None,
    principles: Sequence[Principle] | None = None,
) -> str:
    """The report of a release as HTML: the public one from its release.json or, with the original, an internal one.

    The public report is drawn from release.json and from nothing else, once the release is verified from its files; a
    principle that only a distance function of the publisher's own could measure again is then taken as it is claimed, unless
    `schema` holds the function.
    The internal one tells more: the principles measured on the original as it is, its vulnerability, the true errors of
    counts. That depends on who has which secret, so it must not be published. The release is verified against the original
    first. `schema` and `principles`: as for `verify`, where functions or classes of your own are needed.

    >>> import tempfile
    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = sf.anonymize(people, sf.Schema(["age"]), sf.KAnonymity(2)).save(f"{folder}/release")
    ...     public, internal = report(written), report(written, people)
    ...     public == (written / "report.html").read_text(encoding="utf-8")
    True
    >>> ["Internal: for the review board" in text for text in (public, internal)]
    [False, True]
    """
    manifest = Manifest.load(Path(folder))
    if manifest.kind == WITHHELD:
        return _withheld(manifest, original)
    if manifest.kind == PROJECTED:
        return _projected(manifest, original, schema, principles)
    if original is None:
        _refuse_unless(_public(manifest, schema, principles))
        return page(manifest.content)
    _refuse_unless(verify(folder, original, schema=schema, principles=principles))
    declared, _ = manifest.schema(schema)
    asked = manifest.principles() if principles is None else in_declared_order(tuple(principles), manifest.requested)[0]
    published = published_table(manifest, published_schema(declared, manifest.grouped.group))
    table = original_table(manifest, original, declared)
    recodings = {
        column["name"]: column["recoding"]
        for column in manifest.content["columns"]
        if column["role"] == Role.QUASI_IDENTIFIER
    }
    figures = internal_figures(table, audit(published, None, asked), recodings, int(manifest.content["seed"]))
    return page(manifest.content, figures)


def _withheld(manifest: Manifest, original: Any) -> str:
    """The report of records with values withheld: the public one, since what an internal one tells takes dictionaries."""
    if original is not None:
        raise manifest.problem(
            "kind",
            "the internal report of records with values withheld is drawn from the config that names the dictionaries",
            "Draw it with: sfumato risk CONFIG --report FILE.",
        )
    _refuse_unless(verify(manifest.path.parent))
    return withheld_page(manifest.content)


def _projected(manifest: Manifest, original: Any, schema: Schema | None, principles: Sequence[Principle] | None) -> str:
    """The report of several tables: the public one, since what an internal one tells takes the groups of every row."""
    if original is not None:
        raise manifest.problem(
            "kind",
            "the internal report of several tables is drawn while they are made: the files do not tell whose the rows are",
            "Draw it with: sfumato project CONFIG --output FOLDER --internal FILE.",
        )
    _refuse_unless(_public(manifest, schema, principles))
    return projected_page(manifest.projected)


def _public(manifest: Manifest, schema: Schema | None, principles: Sequence[Principle] | None) -> Verification:
    """Verify a release without its original, all but what cannot be measured for want of the publisher's functions."""
    found = verify(manifest.path.parent, schema=schema, principles=principles)
    if schema is not None:
        return found
    asked = manifest.principles() if principles is None else principles
    beyond = {principle.label for principle in asked if principle.uses_distance} if manifest.schema()[1] else set()
    return Verification(found.folder, tuple(check for check in found.checks if _bare(check.name) not in beyond))


def _bare(name: str) -> str:
    """The name of a check, without that of the table it is of, where there are several."""
    table, colon, rest = name.partition(": ")
    return rest if colon and table.startswith("table_") else name


def _refuse_unless(found: Verification) -> None:
    if not found:
        raise ReleaseError(
            f"the release does not hold what it says, so nothing is reported ({found.failures})",
            remedy="Fetch or make the release again, and name the original that it was made from.",
            file=found.folder,
        )
