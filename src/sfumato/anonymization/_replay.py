"""Repeat a grouped release from its release.json and the original table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sfumato._audit import table_of
from sfumato.anonymization._anonymize import anonymize
from sfumato.anonymization.methods import Method, method_of
from sfumato.anonymization.release import Release
from sfumato.data.schema import Schema
from sfumato.errors import SfumatoError
from sfumato.io.read_table import read_table
from sfumato.parameters import check_seed, check_share
from sfumato.principles import Principle
from sfumato.progress import Progress, silent
from sfumato.releases.reader import AGAIN, Manifest

T = TypeVar("T")


def replay(
    release: str | Path,
    original: Any,
    *,
    schema: Schema | None = None,
    principles: Sequence[Principle] | Principle | None = None,
    method: Method | None = None,
    seed: int | None = None,
    progress: Progress = silent,
) -> Release:
    """Repeat a release: the same principles, method and seed, on the original table.

    With the same original and the same versions, the same bytes are written. `release`: its folder, or its release.json
    alone. `original`: a path, a frame, or a Table. `schema`, `principles`, `method`: needed where a distance is a function
    of your own, or a principle or the method is a class of your own that is not registered; release.json contains only
    their names. `seed`: another one, for a similar release.

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
    document = manifest.grouped
    manifest.check_files()
    declared, unavailable = manifest.schema(schema)
    if unavailable:
        raise manifest.problem(
            f"config.{unavailable[0]}",
            "the distance is a function of the publisher's own, which is not available",
            "Pass the schema that contains it, or repeat the release from its sfumato.toml.",
        )
    if isinstance(original, str | Path):  # unlike for verification, a missing value may be refused
        original = read_table(original, declared, **manifest.reading_options)
    return anonymize(
        table_of(original, declared),
        None,
        manifest.principles() if principles is None else principles,
        method=_method(manifest) if method is None else method,
        seed=_check(manifest, "seed", check_seed, document.seed) if seed is None else seed,
        suppress=_check(manifest, "suppress", check_share, document.suppress),
        progress=progress,
    )


def _check(manifest: Manifest, key: str, check: Callable[[Any], T], value: Any) -> T:
    try:
        return check(value)
    except SfumatoError as error:
        raise manifest.problem(key, error.problem, AGAIN, value) from error


def _method(manifest: Manifest) -> Method:
    stated = manifest.grouped.method
    try:
        return method_of(stated.name, stated.parameters)
    except SfumatoError as error:
        remedy = (
            "Install the package that provides it, or in Python pass it as method=…; "
            "otherwise use the version of sfumato that made the release."
        )
        raise manifest.problem("method", error.problem, remedy, stated.name) from error
