"""Digests of the files of a release."""

from __future__ import annotations

import hashlib
from pathlib import Path

from sfumato.releases.models import FileDigest


def digest(path: Path) -> FileDigest:
    """Return the SHA-256 and the size of a file, as release.json states them."""
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return FileDigest(sha256=sha256, bytes=path.stat().st_size)
