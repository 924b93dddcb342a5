"""Repeat a release from its release.json and the original table: the same bytes, if nothing else has changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from sfumato._audit import table_of
from sfumato.anonymization._anonymize import anonymize, checked_seed, checked_share
from sfumato.anonymization.methods import Method, method_of
from sfumato.anonymization.release import Release
from sfumato.data.schema import Schema
from sfumato.errors import ReleaseError, SfumatoError
from sfumato.io.read_table import read_table
from sfumato.progress import Progress, silent
from sfumato.releases.reader import Manifest

T = TypeVar("T")


def replay(
    release: str | Path,
    original: Any,
    *,
    schema: Schema | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> Release:
    """Repeat a release: the same principles, method and seed, on the original table.

    `release`: its folder, or its release.json alone. `original`: a path, a frame, or a Table. `schema`: needed where a
    distance is a function of your own, which release.json cannot hold. `seed`: another one, for a release like it.

    >>> import tempfile
    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = sf.anonymize(people, sf.Schema(["age"]), sf.KAnonymity(2)).save(f"{folder}/first")
    ...     again = replay(first, people).save(f"{folder}/again")
    ...     [(first / name).read_bytes() == (again / name).read_bytes() for name in ("data.csv", "release.json")]
    [True, True]
    """
    manifest = Manifest.read(Path(release))
    manifest.grouped  # noqa: B018 - any other kind is refused
    manifest.check_files()
    declared, unknown = manifest.schema(schema)
    if unknown:
        raise manifest.problem(
            f"config.{unknown[0]}",
            "the distance is a function of the publisher's own, which is not here",
            "Give the schema that holds it, or repeat the release from its sfumato.toml.",
        )
    if isinstance(original, str | Path):  # unlike for verification, a missing value may be refused
        original = read_table(original, declared, **manifest.reading_options)
    return anonymize(
        table_of(original, declared),
        None,
        manifest.principles(),
        method=_method(manifest),
        seed=_checked(manifest, "seed", checked_seed) if seed is None else seed,
        suppress=_checked(manifest, "suppress", checked_share),
        progress=progress,
    )


def _checked(manifest: Manifest, key: str, check: Callable[[Any], T]) -> T:
    try:
        return check(manifest.content.get(key))
    except SfumatoError as error:
        raise manifest.problem(key, error.problem, "Fetch or make the release again.") from error


def _method(manifest: Manifest) -> Method:
    declared = manifest.content.get("method")
    try:
        if not isinstance(declared, dict):
            raise ReleaseError("the key is missing", remedy="Fetch or make the release again.")
        return method_of(str(declared["name"]), dict(declared["parameters"]))
    except (SfumatoError, KeyError, TypeError) as error:
        problem = error.problem if isinstance(error, SfumatoError) else "the key is torn"
        raise manifest.problem("method", problem, "Repeat the release with the program that made it.") from error
