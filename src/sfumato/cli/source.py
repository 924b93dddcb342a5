"""The table that an option names: a file, a database, or a config that says which."""

from __future__ import annotations

from typing import Any


def named_source(source: str | None) -> Any:
    """What a verb hands on to the library: a config's table with its query or sheet, or the path or URI as it is."""
    if source is None or not source.endswith(".toml"):
        return source
    from sfumato.config import Config

    return Config.load(source).table()
