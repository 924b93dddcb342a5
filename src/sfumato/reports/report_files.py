"""Where a report may be written that is not part of a release folder."""

from __future__ import annotations

import os
from pathlib import Path

from sfumato.errors import FileError
from sfumato.io.atomic_replace import write_file
from sfumato.releases.reader import MANIFEST

_HEAD = 8192
"""Bytes within which a report says what made it."""


def free_page(path: str | Path, folder: str | Path | None, force: bool = False) -> Path:
    """Return where a report may be written; refuse a place that is taken, or within a release, which is published.

    `folder`: the release that the report is about, which may be yet to be written; None if there is none.

    >>> free_page("release/internal.html", "release")
    Traceback (most recent call last):
    ...
    sfumato.errors.FileError: release/internal.html: this is inside the release, which is published. Name a file elsewhere.
    """
    target = Path(os.path.abspath(path))  # noqa: PTH100 - the last link is replaced, not followed
    parent = target.parent.resolve()
    within = folder is not None and Path(folder).resolve() in (parent / target.name, parent, *parent.parents)
    if within or (parent / MANIFEST).exists():
        raise FileError("this is inside the release, which is published", remedy="Name a file elsewhere.", file=str(path))
    if not target.parent.is_dir():
        raise FileError("its parent is no folder", remedy=f"Make {target.parent} first.", file=str(path))
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise FileError("its folder cannot be written to", remedy="Name a file elsewhere.", file=str(path))
    if target.is_dir():
        raise FileError("this is a folder", remedy="Name a file.", file=str(path))
    if os.path.lexists(target) and not force:
        raise FileError(
            "there is something here already", remedy="Name a new file, or force this one to be replaced.", file=str(path)
        )
    if os.path.lexists(target) and not _is_report(target):
        raise FileError(
            "what is here is no report, and is not replaced", remedy="Name a new file, or remove it.", file=str(path)
        )
    return target


def _is_report(path: Path) -> bool:
    """Whether a file is a report that was drawn here before."""
    try:
        with path.open("rb") as file:
            return not path.is_symlink() and b'<meta name="generator" content="sfumato ' in file.read(_HEAD)
    except OSError:
        return False


def write_page(text: str, target: Path, private: bool) -> None:
    """Write a report aside, and rename it into place; one that is not for publication for its owner alone."""
    try:
        write_file(target, lambda file: file.write(text.encode()), private)
    except OSError as error:
        raise FileError(
            f"the report cannot be written: {error.strerror}",
            remedy="Make room, or name a file elsewhere.",
            file=str(target),
        ) from error
