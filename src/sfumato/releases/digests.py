"""Digests of the files of a release."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import ReleaseError
from sfumato.releases.models import FileDigest

if TYPE_CHECKING:
    from sfumato.releases.reader import Manifest


def digest(path: Path) -> FileDigest:
    """Return the SHA-256 and the size of a file, as release.json states them."""
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return FileDigest(sha256=sha256, bytes=path.stat().st_size)


def check_digests(manifest: Manifest) -> None:
    """Raise an error if a file of a release is not the one that release.json lists."""
    for name, stated in manifest.files.items():
        if digest(manifest.folder / name) != stated:
            raise ReleaseError(
                "the file was changed after it was written",
                remedy="Download the release again, or ask its publisher for an intact copy.",
                file=str(manifest.folder / name),
            )
