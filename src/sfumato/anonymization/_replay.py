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
from sfumato.errors import FileError, ParameterError, SfumatoError
from sfumato.io.read_table import read_table
from sfumato.parameters import check_seed, check_share
from sfumato.principles import Principle, requested_principles
from sfumato.progress import Progress, silent
from sfumato.releases.models import SECRET_SINCE
from sfumato.releases.reader import AGAIN, REPORT, Manifest
from sfumato.releases.row_key import read_key
from sfumato.resistance import check_resist

T = TypeVar("T")


def replay(
    release: str | Path,
    original: Any,
    *,
    schema: Schema | None = None,
    principles: Sequence[Principle] | Principle | None = None,
    method: Method | None = None,
    key: str | Path | None = None,
    seed: int | None = None,
    after: tuple[str | Path, str | Path] | None = None,
    progress: Progress = silent,
) -> Release:
    """Repeat a release: the same principles, method and seed, on the original table.

    With the same original and the same versions, the same bytes are written. `release`: its folder, or its release.json
    alone. `original`: a path, a frame, or a Table. `key`: the private key file that `Release.save` wrote; it contains the
    seed, which release.json does not. `seed`: in place of the key, the seed itself; with another seed than that of the
    release, a similar one is made. Before format 5 release.json stated the seed, and neither is needed. `after`: if the
    release follows another, the folder and the key of that one. `schema`,
    `principles`, `method`: needed where a distance is a function of your own, or a principle or the method is a class of
    your own that is not registered; release.json contains only their names. The schema is also needed for its population,
    if a principle compares the release with one.

    >>> import tempfile
    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release = sf.anonymize(people, sf.Schema(["age"]), sf.KAnonymity(2))
    ...     first = release.save(f"{folder}/first", key=f"{folder}/key.json")
    ...     again = replay(first, people, key=f"{folder}/key.json").save(f"{folder}/again")
    ...     [(first / name).read_bytes() == (again / name).read_bytes() for name in ("data.csv", "release.json")]
    [True, True]
    """
    # Long because of its docstring: the parameters are explained once, here.
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
    requested = manifest.principles() if principles is None else principles
    if declared.population is None and any(p.uses_population for p in requested_principles(requested)):
        raise manifest.problem(
            "config.principles",
            "the release was compared with a population, which it does not contain",
            "Pass the schema that names the population, or repeat the release from its sfumato.toml.",
        )
    chosen = _method(manifest) if method is None else method
    share = _check(manifest, "suppress", check_share, document.suppress)
    secret = _seed(manifest, key, seed)
    if document.after is not None and after is None:
        raise manifest.problem(
            "after",
            "the release follows another one, without which it cannot be repeated",
            "Name that release and its key: --after FOLDER --after-key FILE (in Python after=(folder, key)).",
        )
    if isinstance(original, str | Path):  # unlike for verification, a missing value may be refused
        original = read_table(original, declared, **manifest.reading_options)
    return anonymize(
        table_of(original, declared),
        None,
        requested,
        method=chosen,
        seed=secret,
        suppress=share,
        resist=_check(manifest, "resist", check_resist, document.resist or ()),
        after=after,
        counterfeits=0 if document.after is None else document.after.allowed,
        progress=progress,
    )


def _seed(manifest: Manifest, key: str | Path | None, seed: int | None) -> int:
    """Return the seed with which a release is repeated: one that is given, that of its key, or the one that it states."""
    if key is not None and seed is not None:
        raise ParameterError(
            "both a key and a seed are given", remedy="Pass one of them: the key contains the seed.", key="seed", value=seed
        )
    if seed is not None:
        return check_seed(seed)
    if key is not None:
        return _seed_of_key(manifest, key)
    stated = manifest.grouped.seed
    if stated is None or manifest.format >= SECRET_SINCE:
        raise manifest.problem(
            "seed",
            "the seed of the release is not published, and without it the release cannot be repeated",
            "Name the key file that was written with the release: --key FILE (in Python key=…), or the seed itself.",
        )
    return _check(manifest, "seed", check_seed, stated)


def _seed_of_key(manifest: Manifest, key: str | Path) -> int:
    """Return the seed of a key file; it must be that of the release."""
    found = read_key(key)
    if found.seed is None:
        raise FileError(
            "the key contains no seed: an older version wrote it", remedy="Pass the seed itself.", file=str(key), key="seed"
        )
    if any(file.sha256 != found.data.get(name) for name, file in manifest.files.items() if name != REPORT):
        raise FileError(
            "the key belongs to another release", remedy="Name the key file that was written with this one.", file=str(key)
        )
    return found.seed


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
