"""The private key of a release: for each published row its row in the original. Never published.

Rows are shuffled, so only the key tells whose row a published row is. With it the people of each group can be counted again.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import FileError
from sfumato.releases.models import Document

FORMAT = 1
"""The version of the key file."""


def key_text(document: Document, rows: NDArray[np.int64]) -> str:
    """Return the content of a key file; `rows`: for each published row its row in the original, from 0.

    The file states which data file it belongs to, by its SHA-256, and numbers rows from 1.
    """
    data = {name: file.sha256 for name, file in document.files.items() if not name.endswith(".html")}
    return json.dumps({"sfumato_key": FORMAT, "data": data, "original_rows": (rows + 1).tolist()})


def is_key(path: Path) -> bool:
    """Return whether a file is a key of this program."""
    try:
        with path.open("rb") as file:
            return not path.is_symlink() and file.read(14) == b'{"sfumato_key"'
    except OSError:
        return False


def read_key(path: str | Path) -> tuple[dict[str, Any], NDArray[np.int64]]:
    """Return the SHA-256 of each data file that a key belongs to, and for each published row its original row, from 0."""
    remedy = "Name the key file that was written with the release."
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not JSON"
        raise FileError(f"the key cannot be read: {reason}", remedy=remedy, file=str(path)) from error
    rows = content.get("original_rows") if isinstance(content, dict) else None
    whole = isinstance(rows, list) and all(isinstance(row, int) and 0 < row < 1 << 62 for row in rows)
    if not whole or content.get("sfumato_key") != FORMAT or not isinstance(content.get("data"), dict):
        raise FileError("this is not the key of a release", remedy=remedy, file=str(path))
    return content["data"], np.array(rows, np.int64) - 1
