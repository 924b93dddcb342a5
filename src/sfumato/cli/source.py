"""What options name: the table, by a file, a database or a config that says which; and what a config declares of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.principles import Principle
    from sfumato.schema import Schema


def named_source(source: str | None) -> Any:
    """What a verb hands on to the library: a config's table with its query or sheet, or the path or URI as it is."""
    if source is None or not source.endswith(".toml"):
        return source
    from sfumato.config import Config

    return Config.load(source).table()


def declared_in(config: Path | None) -> tuple[Schema | None, tuple[Principle, ...] | None]:
    """The schema and the principles of a config, to compare a release with; nothing if there is no config."""
    if config is None:
        return None, None
    from sfumato.config import Config

    declared = Config.load(config)
    return declared.schema, declared.asked
