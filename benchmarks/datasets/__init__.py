"""The tables that benchmarks measure: real data below SFUMATO_DATA, or the synthetic census if it is absent."""

from __future__ import annotations

import os
from pathlib import Path

from sfumato.errors import FileError


def data_file(*parts: str) -> Path | None:
    """Return a file below SFUMATO_DATA, or None if it does not exist."""
    home = os.environ.get("SFUMATO_DATA")
    path = Path(home, *parts) if home else None
    return path if path is not None and path.exists() else None


def required_data_file(*parts: str) -> Path:
    """Return a file below SFUMATO_DATA; raise an error if it does not exist."""
    path = data_file(*parts)
    if path is None:
        raise FileError(
            "this benchmark needs real data, and the file was not found",
            remedy="Set SFUMATO_DATA to the folder that contains it.",
            file="/".join(parts),
        )
    return path
