"""Where a release, or a report that does not belong to one, may be written."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from sfumato.errors import FileError
from sfumato.io.atomic_replace import sweep, write_file
from sfumato.io.files_in_use import refuse_in_use
from sfumato.releases.kinds import DATA_FILES, KINDS
from sfumato.releases.reader import MANIFEST, REPORT

_OWN_FILES = re.compile(rf"{re.escape(MANIFEST)}|{re.escape(REPORT)}|(data|table_[1-9][0-9]*)\.({'|'.join(DATA_FILES)})")
"""The files that a release folder may contain, beside those of its kind; a folder with any other file is never replaced."""

_HEAD = 8192
"""A report states what made it within this many bytes."""


def free_target(folder: str | Path, force: bool = False, reading: Iterable[str | Path | None] = ()) -> Path:
    """Return where a release may be written; refuse a place that is taken, or that cannot be written to.

    `force`: a release that is there already may be replaced, and nothing else. `reading`: the files that the release is made
    from; a folder that contains one is never replaced.

    >>> free_target("/")
    Traceback (most recent call last):
    ...
    sfumato.errors.FileError: /: this is not a name for a folder. Name a new folder.
    """
    target = Path(os.path.abspath(folder))  # noqa: PTH100 - links are not to be followed
    if not target.name or "\0" in str(folder):
        raise FileError("this is not a name for a folder", remedy="Name a new folder.", file=str(folder))
    if not target.parent.is_dir():
        raise FileError("its parent is not a folder", remedy=f"Create {target.parent} first.", file=str(folder))
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise FileError("its parent is not writable", remedy="Name a folder elsewhere.", file=str(folder))
    sweep(target)
    try:
        target.lstat()
    except FileNotFoundError:
        return target
    except OSError as error:
        raise FileError(f"this cannot be a folder: {error.strerror}", remedy="Name another.", file=str(folder)) from error
    if not force:
        raise FileError(
            "something exists here already",
            remedy="Name a new folder, or replace the release that is here with --force (in Python force=True).",
            file=str(folder),
        )
    if not is_release(target):
        raise FileError(
            "what is here is not a release, and is not replaced", remedy="Name a new folder, or remove it.", file=str(folder)
        )
    others = other_files(target)
    if others:
        raise FileError(
            f"the folder of the release also contains {others[0]!r}, so it is not replaced",
            remedy="Move that elsewhere, or name a new folder.",
            file=str(folder),
        )
    refuse_in_use(target, reading)
    return target


def is_release(folder: Path) -> bool:
    """Return whether a path is a folder with a release.json of this program, and not a link to one.

    Other programs write files of that name too.
    """
    if folder.is_symlink() or not folder.is_dir():
        return False
    return {"format", "sfumato", "files"} <= _stated(folder).keys()


def _stated(folder: Path) -> dict[str, Any]:
    """Return the content of the release.json of a folder; nothing if there is none."""
    try:
        content = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def other_files(folder: Path) -> list[str]:
    """Return the names in a folder that its release does not have.

    A name such as people.csv is that of a release only if this release is of a kind that has it: it may be an original.
    """
    kind = KINDS.get(str(_stated(folder).get("kind")))
    own = set() if kind is None else {f"{stem}.{suffix}" for stem in kind.first for suffix in DATA_FILES}
    names = sorted(entry.name for entry in folder.iterdir())
    return [name for name in names if name not in own and not _OWN_FILES.fullmatch(name)]


def free_page(
    path: str | Path, folder: str | Path | None, force: bool = False, replaceable: Callable[[Path], bool] | None = None
) -> Path:
    """Return where a report may be written; refuse a place that is taken, or inside a release, which is published.

    `folder`: the release that the report is about, which need not exist yet; None if there is none. `replaceable`: which
    files `force` replaces, if not reports.

    >>> free_page("release/internal.html", "release")
    Traceback (most recent call last):
    ...
    sfumato.errors.FileError: release/internal.html: this is inside the release, which is published. Name a file elsewhere.
    """
    target = Path(os.path.abspath(path))  # noqa: PTH100 - the last link is replaced, not followed
    if "\0" in str(path):
        raise FileError("this is not a name for a file", remedy="Name a file.", file=str(path))
    parent = target.parent.resolve()
    within = folder is not None and Path(folder).resolve() in (parent / target.name, parent, *parent.parents)
    if within or (parent / MANIFEST).exists():
        raise FileError("this is inside the release, which is published", remedy="Name a file elsewhere.", file=str(path))
    if not target.parent.is_dir():
        raise FileError("its parent is not a folder", remedy=f"Create {target.parent} first.", file=str(path))
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise FileError("its folder is not writable", remedy="Name a file elsewhere.", file=str(path))
    if target.is_dir():
        raise FileError("this is a folder", remedy="Name a file.", file=str(path))
    if os.path.lexists(target) and not force:
        raise FileError(
            "something exists here already",
            remedy="Name a new file, or replace this one with --force (in Python force=True).",
            file=str(path),
        )
    if os.path.lexists(target) and not (replaceable or _is_report)(target):
        raise FileError(
            f"what is here is not a {'report' if replaceable is None else 'key'}, and is not replaced",
            remedy="Name a new file, or remove it.",
            file=str(path),
        )
    return target


def _is_report(path: Path) -> bool:
    """Return whether a file is a report of this program."""
    try:
        with path.open("rb") as file:
            return not path.is_symlink() and b'<meta name="generator" content="sfumato ' in file.read(_HEAD)
    except OSError:
        return False


def write_page(text: str, target: Path, private: bool) -> None:
    """Write a report aside, and rename it into place; `private`: only its owner may read it."""
    try:
        write_file(target, lambda file: file.write(text.encode()), private)
    except OSError as error:
        raise FileError(
            f"the report cannot be written: {error.strerror}",
            remedy="Free some space, or name a file elsewhere.",
            file=str(target),
        ) from error
