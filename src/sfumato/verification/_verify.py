"""Verify a release of any kind from its written files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.data.schema import Schema
from sfumato.engines import Engine, engine_of
from sfumato.exact import Number
from sfumato.parameters import check_share
from sfumato.principles.requests import PrincipleRequest, requested_principles
from sfumato.releases.expectations import Expectations
from sfumato.releases.predecessor import Predecessor
from sfumato.releases.reader import Manifest
from sfumato.verification.checks import Verification, content_checks, files_check
from sfumato.verification.form_checks import form_checks


def verify(
    folder: str | Path,
    original: Any = None,
    *,
    schema: Schema | None = None,
    principles: Sequence[PrincipleRequest] | PrincipleRequest | None = None,
    project: Mapping[str, Any] | None = None,
    dictionaries: Any = None,
    risk: Any = None,
    key: str | Path | None = None,
    suppress: Number | None = None,
    after: tuple[str | Path, str | Path] | None = None,
    engine: Engine | str | None = None,
) -> Verification:
    """Check a release from its files and, if the original table is given, against the original.

    `original`: a path, a frame or a Table. `schema`, `principles`: what the release should have been made with; the check
    `declared` fails if release.json states anything else. Pass the schema if a distance is a function of your own, because
    release.json cannot contain it and a function that it names is never imported. Pass the principles if one is a class of
    your own that is not registered. `project`: for a projected release, the arguments that `sf.project` should have got:
    `alpha`, `beta`, `plan`, `harmless`, `sets`, `suppress`. `dictionaries`: for a withheld release, those against which the
    risk is measured again, with the sensitivity that release.json states; `risk`: in place of `dictionaries`, the same with
    everything else that the risk depends on, as `Config.risk_assumptions` returns it. `key`: for a grouped release of people
    with several rows, the private file that `Release.save` wrote, which says whose row a published row is. `suppress`: for a
    grouped release, the largest share of rows that should have been allowed to be suppressed. `after`: for a grouped release
    that follows another, the folder and the key of that one; `sf.verify_sequence` checks all of them. `engine`: as in
    `sf.anonymize`. What is left out, or None, is not compared. An argument that releases of this kind have no check for is
    an error.

    A check has three results: it holds, it fails, or it was not checked. A release holds if no check fails;
    `Verification.not_checked` lists what could not be checked with the arguments.

    >>> import tempfile
    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = sf.anonymize(people, sf.Schema(["age"]), sf.KAnonymity(2)).save(f"{folder}/release")
    ...     result = verify(written, people)
    >>> result.holds, [check.name for check in result.checks][-3:]
    (True, ['revealing', 'order', 'form'])
    """
    expected = requested_principles(principles) if principles else None if principles is None else ()
    share = None if suppress is None else check_share(suppress)
    follows = None if after is None else Predecessor.read(*after)
    published = next(iter(sorted(Path(folder).glob("data.*"))), None)
    with engine_of(engine, published if original is None else original).running():
        return verify_folder(
            folder, original, Expectations(schema, expected, project, dictionaries, risk, key, None, share, follows)
        )


def verify_folder(folder: str | Path, original: Any, expected: Expectations) -> Verification:
    """Check a release against everything that is expected of it, what only its maker knows included."""
    manifest = Manifest.load(Path(folder))
    expected.check_kind(manifest)
    kind_checks = list(manifest.release_kind.load("checks")(manifest, original, expected))
    checks = [files_check(manifest), *content_checks(manifest)]
    forms = form_checks(manifest, [*checks, *kind_checks])
    return Verification(str(folder), (*checks, *forms, *kind_checks))
