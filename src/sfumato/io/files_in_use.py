"""Files that are being read: what is written never takes the place of one of them, or of a folder that contains one."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sfumato.errors import FileError
from sfumato.io.database_uri import file_of, is_uri


def refuse_in_use(target: str | Path, sources: Iterable[str | Path | None]) -> None:
    """Raise an error if a target is a source, or a folder that contains one; links are followed.

    `sources`: paths, folders, database URIs, or None for data that is in no file.

    >>> refuse_in_use("people.csv", ["./people.csv"])
    Traceback (most recent call last):
    ...
    sfumato.errors.FileError: people.csv: this is being read, and is not replaced. Name another place to write to.
    >>> refuse_in_use("release", ["release/data.csv"])
    Traceback (most recent call last):
    ...
    sfumato.errors.FileError: release: this contains release/data.csv, which is being read, and is not replaced. \
Name another place to write to.
    """
    place = Path(target).resolve()
    for source in sources:
        file = None if source is None else _file(source)
        if file is not None and place in (file.resolve(), *file.resolve().parents):
            what = "is being read" if file.resolve() == place else f"contains {file}, which is being read"
            raise FileError(f"this {what}, and is not replaced", remedy="Name another place to write to.", file=str(target))


def _file(source: str | Path) -> Path | None:
    return file_of(str(source)) if is_uri(source) else Path(source)
