"""The report of a release folder, drawn again from its files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sfumato._audit import audit
from sfumato.anonymization.figures.figure_tables import internal_figures
from sfumato.attacks._attack import attack
from sfumato.data.schema import Schema
from sfumato.errors import ReleaseError
from sfumato.principles import Principle
from sfumato.releases.kinds import KINDS
from sfumato.releases.reader import Manifest
from sfumato.releases.table_files import original_table, published_schema, published_table
from sfumato.reports.grouped_page import grouped_page
from sfumato.verification._verify import verify
from sfumato.verification.checks import Verification
from sfumato.verification.declaration_checks import in_declared_order
from sfumato.verification.order_checks import order_seed


def report(
    folder: str | Path,
    original: Any = None,
    *,
    schema: Schema | None = None,
    principles: Sequence[Principle] | None = None,
    key: str | Path | None = None,
) -> str:
    """Return the report of a release as HTML: the public one or, with the original, the internal one.

    The release is verified first; if a check fails, nothing is drawn. The public report is drawn from release.json alone.
    A principle that needs the publisher's own distance function can be measured again only where that function is
    available: without `schema` its claim is accepted, and everything else is verified.

    The internal report also contains the principles measured on the original, its vulnerability, and the true errors of
    counts, and what attackers achieve. These depend on who has which sensitive value, so it must not be published. `schema`
    and `principles`: as for `verify`, where your own functions or classes are needed. `key`: the private file that was
    written with the release, which says whose row is whose; without it people are matched with rows for the attacks.

    >>> import tempfile
    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = sf.anonymize(people, sf.Schema(["age"]), sf.KAnonymity(2)).save(f"{folder}/release")
    ...     public, internal = report(path), report(path, people)
    ...     public == (path / "report.html").read_text(encoding="utf-8")
    True
    >>> ["Internal: for the review board" in text for text in (public, internal)]
    [False, True]
    """
    manifest = Manifest.load(Path(folder))
    kind = KINDS[manifest.kind]
    if original is None:
        _refuse_unless(_verify_public(manifest, schema, principles))
        page: str = kind.load("page")(manifest.document)
        return page
    if kind.internal_command:
        raise manifest.problem(
            "kind",
            f"the internal report of a release of {kind.description} cannot be drawn from its files",
            f"Draw it with: {kind.internal_command}.",
        )
    _refuse_unless(verify(folder, original, schema=schema, principles=principles, key=key))
    return _internal(manifest, original, schema, principles, key)


def _internal(
    manifest: Manifest,
    original: Any,
    schema: Schema | None,
    principles: Sequence[Principle] | None,
    key: str | Path | None,
) -> str:
    """Return the internal report of a grouped release."""
    document = manifest.grouped
    declared, _ = manifest.schema(schema)
    requested = manifest.principles() if principles is None else in_declared_order(tuple(principles), manifest.requested)[0]
    published = published_table(manifest, published_schema(declared, document.group))
    table = original_table(manifest, original, declared)
    recodings = {
        column.name: column.recoding
        for column in document.columns
        if column.role == "quasi-identifier" and column.recoding is not None
    }
    try:
        attacks = attack(manifest.folder, original, schema=schema, key=key).to_dict()
    except ReleaseError as error:
        if key is not None:
            raise
        # without a key, people can be matched with rows in smaller tables only
        attacks = {"attacks": [], "not_measured": [{"attack": "every attack", "reason": f"{error.problem}. {error.remedy}"}]}
    seed = order_seed(document.seed, document.format)
    figures = internal_figures(table, audit(published, None, requested), recodings, seed, attacks=attacks)
    return grouped_page(document, figures)


def _verify_public(manifest: Manifest, schema: Schema | None, principles: Sequence[Principle] | None) -> Verification:
    """Verify a release without its original, except principles that need the publisher's own distance function."""
    result = verify(manifest.folder, schema=schema, principles=principles)
    if schema is not None or not manifest.schema()[1]:
        return result
    requested = manifest.principles() if principles is None else principles
    unmeasurable = {principle.label for principle in requested if principle.uses_distance}
    checks = tuple(check for check in result.checks if _without_table(check.name) not in unmeasurable)
    return Verification(result.folder, checks, result.notes)


def _without_table(name: str) -> str:
    """Return the name of a check without the name of its table, which precedes it where there are several tables."""
    table, colon, rest = name.partition(": ")
    return rest if colon and table.startswith("table_") else name


def _refuse_unless(result: Verification) -> None:
    if not result:
        raise ReleaseError(
            f"the release failed verification, so no report is drawn ({result.failures})",
            remedy="Download or make the release again, and pass the original that it was made from.",
            file=result.folder,
        )
