"""Verify a release of any kind from its written files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from sfumato.data.schema import Schema
from sfumato.engines import Engine, engine_of
from sfumato.errors import ParameterError
from sfumato.exact import Number
from sfumato.io.read_spark import SCHEME, is_spark_frame, open_spark
from sfumato.parameters import check_share
from sfumato.principles.requests import PrincipleRequest, requested_principles
from sfumato.releases.expectations import Expectations
from sfumato.releases.predecessor import Predecessor
from sfumato.releases.reader import Manifest
from sfumato.verification.checks import Verification, content_checks, files_check
from sfumato.verification.form_checks import form_checks
from sfumato.workers import meanwhile


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
    published: Any = None,
    after: tuple[str | Path, str | Path] | None = None,
    engine: Engine | str | None = None,
) -> Verification:
    """Check a release from its files and, if the original table is given, against the original.

    `original`: a path, a frame or a Table. `schema`, `principles`: what the release should have been made with; the check
    `declared` fails if release.json states anything else. Pass the schema if a distance is a function of your own, because
    release.json cannot contain it and a function that it names is never imported. Pass the principles if one is a class of
    your own that is not registered. `project`: for a projected release, the arguments that `sf.project` should have got:
    `alpha`, `beta`, `plan`, `harmless`, `sets`, `suppress`, `discernibility`. `dictionaries`: for a withheld release,
    those against which the risk is measured again, with the sensitivity that release.json states; `risk`: in place of
    `dictionaries`, the same with everything else that the risk depends on, as `Config.risk_assumptions` returns it.
    `key`: for a grouped release of people with several rows, or an anatomized one, the private file that `save` wrote, which
    says whose row a published row is. `suppress`: for a grouped or an anatomized release, the largest share of rows that
    should have been allowed to be suppressed. `published`: for a grouped release whose rows executors of Spark wrote as
    well, these rows, to be checked in place of the data file: a DataFrame, or a table such as
    "parquet.`/data/open/people`". `after`: for a grouped release that follows another, the folder and the key of that one;
    `sf.verify_sequence` checks all of them. `engine`: as in `sf.anonymize`; with "spark", executors check the rows if the
    original, or `published`, is a DataFrame of Spark; else the driver does. What is left out, or None, is not compared. An
    argument that releases of this kind have no check for is an error.

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
    (True, ['order', 'form', 'figures'])
    """
    expected = requested_principles(principles) if principles else None if principles is None else ()
    share = None if suppress is None else check_share(suppress)
    follows = None if after is None else Predecessor.read(*after)
    chosen = engine_of(engine, _deciding(folder, original, published))
    with chosen.running():
        frame = _published_frame(published)
        wanted = Expectations(
            schema, expected, project, dictionaries, risk, key, suppress=share, published=frame, after=follows
        )
        return verify_folder(folder, original, wanted)


def _published_frame(published: Any) -> Any:
    """Return the published rows as a frame of Spark, given as such or by name; None if they are not given."""
    frame = open_spark(f"{SCHEME}://", None, published)[0] if isinstance(published, str) else published
    if frame is not None and not is_spark_frame(frame):
        raise ParameterError(
            f"published is a {type(frame).__name__}, not a table of Spark",
            remedy="Pass a DataFrame of Spark or the name of a table, or leave it out to check the data file.",
            key="published",
        )
    return frame


def _deciding(folder: str | Path, original: Any, published: Any) -> Any:
    """Return the data that decides which engine suits: a frame of Spark, the original, or else the data file."""
    if is_spark_frame(published) or original is None:
        return next(iter(sorted(Path(folder).glob("data.*"))), None) if published is None else published
    return original


def verify_folder(folder: str | Path, original: Any, expected: Expectations) -> Verification:
    """Check a release against everything that is expected of it, what only its maker knows included."""
    manifest = Manifest.load(Path(folder))
    expected.check_kind(manifest)
    with meanwhile(partial(files_check, manifest)) as (files,):
        kind_checks = list(manifest.release_kind.load("checks")(manifest, original, expected))
        checks = [files(), *content_checks(manifest)]
    forms = form_checks(manifest, [*checks, *kind_checks])
    return Verification(str(folder), (*checks, *forms, *kind_checks), tuple(expected.remarks))
