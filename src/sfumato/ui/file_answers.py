"""Files that the browser shows in a sandboxed frame, or stores."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sfumato.errors import FileError, ParameterError
from sfumato.ui.session import Session
from sfumato.ui.work import work_of

FRAMED = {
    "content-security-policy": (
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
    ),
    "x-frame-options": "SAMEORIGIN",
}
"""Headers of a report: it runs no script and requests nothing, whatever it contains."""

_DATE = (1980, 1, 1, 0, 0, 0)
"""The date of all files in a download, so that the same release gives the same bytes."""


@dataclass(frozen=True)
class FileAnswer:
    """A file as an answer: its content and type, and whether it is shown in a frame or stored under a name."""

    content: bytes
    media: str
    store_as: str | None = None

    @property
    def headers(self) -> dict[str, str]:
        """The headers that this answer states itself."""
        if self.store_as is None:
            return FRAMED
        return {"content-disposition": f'attachment; filename="{self.store_as}"'}


def report_answer(which: Literal["release", "internal", "risk"]) -> Callable[[Session, dict[str, str]], FileAnswer]:
    """Return what answers with a report: the public or the internal one of a release, or that of a measured risk."""

    def answer(session: Session, query: dict[str, str]) -> FileAnswer:
        from sfumato.releases.reader import REPORT

        work = work_of(session)
        if which == "risk":
            job = work.results.get("risk")
            if job is None:
                raise ParameterError("the risk was not measured", remedy="Measure it first.")
            path = job.folder / "internal.html"
        else:
            chosen = work.candidate(_number(query))
            path = chosen.release / REPORT if which == "release" else chosen.internal
        return FileAnswer(read(path), "text/html; charset=utf-8")

    return answer


def archive_answer(session: Session, query: dict[str, str]) -> FileAnswer:
    """Return the folder of a release as a ZIP file: only what may be published."""
    chosen = work_of(session).candidate(_number(query))
    name = f"release-{chosen.number}"
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in _files(chosen.release):
            archive.writestr(zipfile.ZipInfo(f"{name}/{path.name}", _DATE), read(path), zipfile.ZIP_DEFLATED)
    return FileAnswer(content.getvalue(), "application/zip", f"{name}.zip")


def read(path: Path) -> bytes:
    """Return a file of the private folder; one that vanished is an error that says what to do."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise FileError(
            f"the file cannot be read: {error.strerror}",
            remedy="The temporary folder was changed by another program. Make the release again.",
            file=path.name,
        ) from error


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise FileError(
            f"the folder of the release cannot be read: {error.strerror}", remedy="Make the release again.", file=folder.name
        ) from error


def _number(query: dict[str, str]) -> int:
    text = query.get("release", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else -1
