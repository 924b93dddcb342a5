"""Write a release of any kind: aside first, verified from the written files, and only then renamed into place."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, TypeVar

import pyarrow as pa

from sfumato.errors import FileError, ParameterError, ReleaseError, ReplayError
from sfumato.io.atomic_replace import file_aside, folder_aside, open_to_readers, put_in_place, sync
from sfumato.io.write_files import write_csv, write_parquet
from sfumato.progress import Progress, silent
from sfumato.registry import load
from sfumato.releases.declarations import versions
from sfumato.releases.digests import digest
from sfumato.releases.expectations import Expectations
from sfumato.releases.folder import free_page, free_target, is_release, other_files
from sfumato.releases.kinds import DATA_FILES, KINDS, VERIFIER, ReleaseKind
from sfumato.releases.models import Document, FileDigest
from sfumato.releases.reader import MANIFEST, REPORT, Manifest
from sfumato.releases.row_key import is_key
from sfumato.workers import meanwhile

if TYPE_CHECKING:
    from sfumato.io.write_database import PendingRows
    from sfumato.verification.checks import Verification

D = TypeVar("D", bound=Document)


@dataclass(frozen=True, eq=False)
class TableData:
    """A table to write."""

    data: pa.Table
    separators: Mapping[str, str] = field(default_factory=dict)
    """For columns of sets what separates the items in CSV."""
    unchanged: Sequence[str] = ()
    """The columns that are published unchanged, in which an empty text of a CSV is not an empty cell."""

    def write(self, path: Path) -> None:
        """Write the table to a new file, in the format that its suffix names."""
        if path.suffix == ".csv":
            write_new(path, lambda file: write_csv(self.data, file, self.separators, self.unchanged))
        else:
            write_new(path, lambda file: write_parquet(self.data, file))


@dataclass(frozen=True)
class InternalReport(Generic[D]):
    """A report, or another text, that must not be published, written beside the release but never into it."""

    path: str | Path
    draw: Callable[[D], str]
    """Returns the text, given the document of the release."""
    step: str = "drawing the internal report"
    """What the progress reports."""


def write_release(
    kind: type[D],
    describe: Callable[[], D],
    tables: Sequence[TableData],
    folder: str | Path,
    *,
    original: Any = None,
    expected: Expectations | None = None,
    format: str = "csv",  # noqa: A002
    force: bool = False,
    internal: InternalReport[D] | None = None,
    key: InternalReport[D] | None = None,
    database: AbstractContextManager[PendingRows | None] | None = None,
    replayed: str | Path | None = None,
    progress: Progress = silent,
) -> Path:
    """Write a release to a new folder, and return the folder; if anything fails before it is in place, nothing is left.

    The data files, release.json and report.html are written to a folder beside the target. They are verified from there,
    against the original and what the maker expects, and the folder is renamed into place only if no check fails.

    `kind`: of the document. `describe`: returns the document without its files; called once the target is known to be free,
    while the data is written. `tables`: one for each data file. `original`, `expected`: what the files are verified
    against. `force`: replace a release that is there already, and nothing else. `internal`, `key`: put in place after the
    release. `replayed`: the folder of a release, or its release.json, whose files these must equal.

    `database`: writes the rows in a transaction, which is committed when the folder is in place. If that commit fails, the
    error is raised, the database is unchanged and the internal report is not written, but the new folder stays.
    """
    if format not in DATA_FILES:
        raise ParameterError(
            f"invalid format {format!r}", remedy=f"Write one of: {', '.join(DATA_FILES)}.", key="format", value=format
        )
    before = None if replayed is None else Manifest.read(Path(replayed))
    if before is not None:
        before.check_files()  # a release.json that lists no files would equal any release
    target = free_target(folder, force, _sources(original, expected, replayed))
    page = None if internal is None else free_page(internal.path, target, force)
    key_file = None if key is None else free_page(key.path, target, force, is_key)
    if page is not None and page == key_file:
        raise FileError("the internal report and the key cannot be the same file", remedy="Name two files.", file=str(page))
    with _folder_aside(folder, target) as aside:
        progress("writing")
        document = _write_files(aside, KINDS[kind.KIND], describe, tables, format)
        if before is not None:
            _refuse_different(document, before)
        progress("verifying what was written")
        # the only place where making a release uses the code that checks one
        _refuse_invalid(load(VERIFIER)(aside, original, expected or Expectations()))
        open_to_readers(aside)
        # everything is written and checked before anything takes its place
        with (
            _page_aside(page, internal, document, progress),
            _page_aside(key_file, key, document, progress),
            database or nullcontext() as pending,
        ):
            put_in_place(aside, target, _may_be_replaced if force else None)
            if pending is not None:
                pending.commit()
    return target


def _sources(original: Any, expected: Expectations | None, replayed: str | Path | None) -> list[str | Path | None]:
    """Return the files that a release is made from: its original, the dictionaries of its risk, the release it repeats."""
    assumed = None if expected is None else expected.risk
    dictionaries = () if assumed is None else assumed.dictionaries
    return [getattr(original, "source", None), replayed, *(dictionary.table.source for dictionary in dictionaries)]


def _may_be_replaced(folder: Path) -> bool:
    return is_release(folder) and not other_files(folder)


def _write_files(aside: Path, kind: ReleaseKind, describe: Callable[[], D], tables: Sequence[TableData], format: str) -> D:  # noqa: A002
    """Write the data files, the report and release.json; return the document that lists them.

    The report is drawn from the document alone, so that it can be drawn again from release.json.
    """
    paths = [aside / f"{stem}.{format}" for stem in kind.file_stems(len(tables) - len(kind.first))]
    with meanwhile(*(partial(_write_table, table, path) for table, path in zip(tables, paths, strict=True))) as written:
        document = describe()
        files = {path.name: write() for path, write in zip(paths, written, strict=True)}
    report = kind.load("page")(document.with_files(files))
    write_new(aside / REPORT, lambda file: file.write(report.encode()))
    document = document.with_files({**files, REPORT: digest(aside / REPORT)})
    write_new(aside / MANIFEST, lambda file: file.write(document.to_json().encode()))
    sync(aside)
    return document


def _write_table(table: TableData, path: Path) -> FileDigest:
    table.write(path)
    return digest(path)


def write_new(path: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Write a file that must not exist yet; until the folder is complete only its owner may read it."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())


def _refuse_invalid(result: Verification) -> None:
    """Raise if a check fails: a release is verified from its files, or not published."""
    if not result:
        raise ReleaseError(
            f"the written files are not what they state, so nothing is published ({result.failures})",
            remedy="Try the other format; if it fails too, please report this as a bug in sfumato.",
        )


def _refuse_different(document: Document, before: Manifest) -> None:
    """Raise if the written files are not, byte by byte, those that an earlier release.json lists."""
    changed = [name for name, stated in before.files.items() if document.files.get(name) != stated]
    if changed:
        reasons = differing_versions(before.document)
        if before.format != document.format:
            reasons.append(f"the release has format {before.format}, and this version writes format {document.format}")
        reasons = reasons or ["the versions are the same, so the original table or the seed differs"]
        raise ReplayError(
            f"{', '.join(changed)} differ from the files listed here, so nothing is written: {'; '.join(reasons)}",
            remedy="Use the same table, seed and versions; for a similar release, use a config.",
            file=str(before.path),
            key="files",
        )


def differing_versions(document: Document) -> list[str]:
    """Return how the versions with which a release was made differ from those here: its bytes may then differ."""
    return [
        f"the release was made with {name} {stated}, and this is {here}"
        for name, here in versions().items()
        if (stated := getattr(document, name)) != here
    ]


@contextmanager
def _folder_aside(folder: str | Path, target: Path) -> Iterator[Path]:
    """Yield a folder beside the target to write to, which is removed unless it takes the target's place."""
    try:
        with folder_aside(target) as aside:
            yield aside
    except FileExistsError as error:
        raise FileError(
            "something was created here meanwhile, and is not replaced",
            remedy="Inspect it, and name a new folder.",
            file=str(folder),
        ) from error
    except OSError as error:
        raise _unwritable(folder, error) from error


@contextmanager
def _page_aside(target: Path | None, internal: InternalReport[D] | None, document: D, progress: Progress) -> Iterator[None]:
    """Write the internal report aside; it takes its place after the release has."""
    if target is None or internal is None:
        yield
        return
    progress(internal.step)
    text = internal.draw(document)
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
        f"this cannot be written: {error.strerror}", remedy="Free some space, or name a place elsewhere.", file=str(place)
    )
