"""The private key of a release: the seed of its method, and whose row each published row is. Never published.

The key may also contain the history of the people, with which a next version of the table can follow the release.

The seed is not published, so only the key allows to repeat the release. Rows are shuffled, so only the key says whose row a
published row is. With it the people of each group can be counted again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import FileError
from sfumato.releases.history import History
from sfumato.releases.models import Document

FORMAT = 2
"""The version of the key file; the first had no seed."""

_DIGITS = 4000
"""A seed with more digits is not read: Python refuses to."""


@dataclass(frozen=True, eq=False, repr=False)
class KeyFile:
    """The content of a key file."""

    data: Mapping[str, Any]
    """The SHA-256 of each data file that the key belongs to."""
    seed: int | None
    """The seed of the method; None if the file has the first format."""
    rows: NDArray[np.int64] | None
    """For each published row its row in the original, from 0, and -1 for a counterfeit; None for a release of several tables
    or without groups."""
    history: History | None = None
    """The candidates of the people so far, for the next version; None if they cannot be matched with it."""
    release: str | None = None
    """The SHA-256 of release.json, if there is a history."""


def key_text(document: Document, seed: int, rows: NDArray[np.int64] | None = None, history: History | None = None) -> str:
    """Return the content of a key file; `rows`: for each published row its row in the original, from 0.

    The file states which data file it belongs to, by its SHA-256, and numbers rows from 1; 0 is that of a counterfeit. The
    seed is a text, because many programs round large numbers.
    """
    data = {name: file.sha256 for name, file in document.files.items() if not name.endswith(".html")}
    content: dict[str, Any] = {"sfumato_key": FORMAT, "seed": str(seed), "data": data}
    if rows is not None:
        content["original_rows"] = (rows + 1).tolist()
    if history is not None:
        content["release"] = hashlib.sha256(document.to_json().encode()).hexdigest()
        content["history"] = history.to_dict()
    return json.dumps(content)


def is_key(path: Path) -> bool:
    """Return whether a file is a key of this program."""
    try:
        with path.open("rb") as file:
            return not path.is_symlink() and file.read(14) == b'{"sfumato_key"'
    except OSError:
        return False


def read_key(path: str | Path) -> KeyFile:
    """Read a key file."""
    remedy = "Name the key file that was written with the release."
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not JSON"
        raise FileError(f"the key cannot be read: {reason}", remedy=remedy, file=str(path)) from error
    content = content if isinstance(content, dict) else {}
    rows, seed, version = content.get("original_rows"), content.get("seed"), content.get("sfumato_key")
    whole = isinstance(rows, list) and all(isinstance(row, int) and 0 <= row < 1 << 62 for row in rows)
    known = isinstance(seed, str) and seed.isascii() and seed.isdigit() and len(seed) <= _DIGITS
    valid = whole if version == 1 else version == FORMAT and known and (whole or rows is None)
    if not valid or not isinstance(content.get("data"), dict):
        raise FileError("this is not the key of a release", remedy=remedy, file=str(path))
    numbers = None if rows is None else np.array(rows, np.int64) - 1
    try:
        history = None if content.get("history") is None else History.of_dict(content["history"])
    except ValueError as error:
        raise FileError(f"the history in this key is invalid: {error}", remedy=remedy, file=str(path)) from error
    return KeyFile(content["data"], int(str(seed)) if known else None, numbers, history, content.get("release"))
