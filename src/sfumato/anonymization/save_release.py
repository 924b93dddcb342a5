"""Write a release: aside first, verified from the written files, and only then renamed into place."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa

from sfumato.anonymization.database_rows import rows_in_database
from sfumato.anonymization.figures.figure_tables import internal_figures
from sfumato.anonymization.release_document import described
from sfumato.anonymization.replay_comparison import refuse_different
from sfumato.data.schema import Kind
from sfumato.errors import ColumnError, FileError, ParameterError, ReleaseError
from sfumato.io.atomic_replace import file_aside, folder_aside, open_to_readers, put_in_place, sweep, sync
from sfumato.io.write_files import write_csv, write_parquet
from sfumato.progress import Progress, silent
from sfumato.releases.digests import digest
from sfumato.releases.kinds import DATA_FILES
from sfumato.releases.reader import MANIFEST, REPORT, Manifest
from sfumato.reports.grouped_page import page
from sfumato.reports.report_files import free_page
from sfumato.verification._verify import verify
from sfumato.verification.checks import Verification

if TYPE_CHECKING:
    from sfumato.anonymization.release import Release

_OWN_FILES = re.compile(rf"{re.escape(MANIFEST)}|{re.escape(REPORT)}|(data|table_[1-9][0-9]*)\.({'|'.join(DATA_FILES)})")
"""What a release folder may hold; a folder with anything else in it is never replaced."""


def free_target(folder: str | Path, force: bool = False) -> Path:
    """Return where a release may be written; refuse a place that is taken, or that cannot be written to.

    >>> free_target("/")
    Traceback (most recent call last):
    ...
    sfumato.errors.FileError: /: this is no name for a folder. Name a new folder.
    """
    target = Path(os.path.abspath(folder))  # noqa: PTH100 - links are not to be followed
    if not target.name:
        raise FileError("this is no name for a folder", remedy="Name a new folder.", file=str(folder))
    if not target.parent.is_dir():
        raise FileError("its parent is no folder", remedy=f"Make {target.parent} first.", file=str(folder))
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise FileError("its parent cannot be written to", remedy="Name a folder elsewhere.", file=str(folder))
    sweep(target)
    try:
        target.lstat()
    except FileNotFoundError:
        return target
    except OSError as error:
        raise FileError(f"this cannot be a folder: {error.strerror}", remedy="Name another.", file=str(folder)) from error
    if not force:
        raise FileError(
            "there is something here already", remedy="Name a new folder, or force the release that is here to be replaced.",
            file=str(folder),
        )  # fmt: skip
    if not _is_release(target):
        raise FileError(
            "what is here is no release, and is not replaced", remedy="Name a new folder, or remove it.", file=str(folder)
        )
    foreign = _foreign(target)
    if foreign:
        raise FileError(
            f"beside the release there is {foreign[0]!r} here, so it is not replaced",
            remedy="Move that elsewhere, or name a new folder.",
            file=str(folder),
        )
    return target


def _is_release(folder: Path) -> bool:
    return not folder.is_symlink() and folder.is_dir() and (folder / MANIFEST).is_file()


def _foreign(folder: Path) -> list[str]:
    """What is in a release folder that is not ours."""
    return sorted(entry.name for entry in folder.iterdir() if not _OWN_FILES.fullmatch(entry.name))


def check_format(format: str) -> None:  # noqa: A002
    """Refuse a format of the data file that nobody knows."""
    if format not in DATA_FILES:
        raise ParameterError(
            f"format = {format!r} is unknown", remedy=f"Write one of: {', '.join(DATA_FILES)}.", key="format", value=format
        )


def save(
    release: Release,
    folder: str | Path,
    *,
    force: bool = False,
    format: str = "csv",  # noqa: A002
    internal: str | Path | None = None,
    database: str | None = None,
    table: str | None = None,
    expected: str | Path | None = None,
    progress: Progress = silent,
) -> Path:
    """Write a release to a new folder, and its rows to a database; if anything goes wrong nothing is left behind."""
    check_format(format)
    refuse_what_cannot_be_held(release, format)
    before = None if expected is None else Manifest.read(Path(expected))
    target = free_target(folder, force)
    private = None if internal is None else free_page(internal, target, force)
    with written_aside(folder, target) as aside:
        progress("writing")
        data = aside / DATA_FILES[format]
        write_rows(release, data)
        write_told(aside, described(release), [data], page)
        if before is not None:
            refuse_different(Manifest.load(aside).content["files"], before)
        progress("verifying what was written")
        refuse_unless(verify(aside, release.source, schema=release.schema, principles=release.principles))
        open_to_readers(aside)
        # everything is written and checked before anything takes its place
        with (
            report_aside(private, lambda: _internal_page(release, aside), progress),
            rows_in_database(release, database, table, force) as pending,
        ):
            take_place(aside, target, force)
            if pending is not None:
                pending.commit()
    return target


@contextmanager
def written_aside(folder: str | Path, target: Path) -> Iterator[Path]:
    """A folder beside the target to write to, gone again if anything fails; what the system refuses is told as ours."""
    try:
        with folder_aside(target) as aside:
            yield aside
    except FileExistsError as error:
        raise FileError(
            "something has come to be here meanwhile, and is not replaced",
            remedy="Look at it, and name a new folder.",
            file=str(folder),
        ) from error
    except OSError as error:
        raise _unwritable(folder, error) from error


def take_place(aside: Path, target: Path, force: bool) -> None:
    """Let what was written aside take its place; of what is there, only a release is replaced, and only by force."""
    put_in_place(aside, target, (lambda old: _is_release(old) and not _foreign(old)) if force else None)


def _internal_page(release: Release, aside: Path) -> str:
    figures = internal_figures(release.original, release.audit, release.recodings, release.seed)
    return page(Manifest.load(aside).content, figures)


@contextmanager
def report_aside(target: Path | None, draw: Callable[[], str], progress: Progress) -> Iterator[None]:
    """Write the report that is not for publication aside; it takes its place once the release has."""
    if target is None:
        yield
        return
    progress("drawing the internal report")
    text = draw()
    with file_aside(target, private=True) as file:
        try:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        except OSError as error:
            raise _unwritable(target, error) from error
        yield


def _unwritable(place: str | Path, error: OSError) -> FileError:
    return FileError(
        f"this cannot be written: {error.strerror}", remedy="Make room, or name a place elsewhere.", file=str(place)
    )


def refuse_what_cannot_be_held(release: Release, format: str) -> None:  # noqa: A002
    """An empty cell of a CSV must mean missing, if cells are missing."""
    if format != "csv":
        return
    missing = release.schema.missing
    for name in release.schema.sensitive_columns():
        column = release.table.data.column(name)
        kind = Kind(release.schema.kinds[name])
        empty = column.null_count or (pa.types.is_floating(column.type) and release.table.column(name).has_missing)
        if empty and "" not in missing.texts(kind):
            raise ColumnError(
                "cells are missing, and an empty cell of a CSV would not count as missing here",
                remedy='Write format = "parquet", or list "" under missing.values.',
                column=name,
            )


def write_rows(release: Release, data: Path) -> None:
    """Write the published rows to a file, in the format that its name says."""
    if data.suffix == ".csv":
        sets = {name: release.schema.separators.get(name, ";") for name in release.schema.sensitive_columns()}
        write_new(data, lambda file: write_csv(release.table.data, file, sets))
    else:
        write_new(data, lambda file: write_parquet(release.table.data, file))


def write_told(
    aside: Path, content: Mapping[str, Any], data: Sequence[Path], draw: Callable[[Mapping[str, Any]], str]
) -> None:
    """Write release.json, and the report from what that says, so that it can be drawn again from it."""
    content = {**content, "files": {path.name: digest(path).to_dict() for path in data}}
    report = draw(json.loads(as_json(content)))
    write_new(aside / REPORT, lambda file: file.write(report.encode()))
    content["files"][REPORT] = digest(aside / REPORT).to_dict()
    write_new(aside / MANIFEST, lambda file: file.write(as_json(content).encode()))
    sync(aside)


def as_json(content: Mapping[str, Any]) -> str:
    """What is written to release.json."""
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def write_new(path: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Write a file that must not be there, for its owner alone as yet."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())


def refuse_unless(found: Verification) -> None:
    """Promise 2: verified from the files, or not published."""
    if not found:
        raise ReleaseError(
            f"the written files do not hold what they claim, so nothing is published ({found.failures})",
            remedy="Try the other format; if it fails too, please report this as a fault of sfumato.",
        )
