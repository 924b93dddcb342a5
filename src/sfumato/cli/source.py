"""What options name: the table, by a file, a database or a config that says which; and what a config declares of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.config import Config
    from sfumato.data.schema import Schema
    from sfumato.disclosure import RiskAssumptions
    from sfumato.principles import Principle


def named_source(source: str | None) -> Any:
    """What a verb hands on to the library: a config's table with its query or sheet, or the path or URI as it is."""
    if source is None or not source.endswith(".toml"):
        return source
    from sfumato.config import Config

    return Config.load(source).table()


def projected_in(config: Path | None) -> dict[str, Any] | None:
    """What a config asks of several tables beyond schema and principles; nothing if there is no config."""
    if config is None:
        return None
    from sfumato.config import Config, MethodSection, ProjectSection

    declared = Config.load(config)
    asked = (declared.project or ProjectSection()).options()
    asked["suppress"] = (declared.method or MethodSection()).suppress
    return {key: value for key, value in asked.items() if key != "search"}


def risk_in(config: Path | None) -> RiskAssumptions | None:
    """What the risk of a withheld release is measured against, by a config; None if there is no config."""
    if config is None:
        return None
    from sfumato.config import Config

    return Config.load(config).risk_assumptions()


def declared_in(config: Path | None) -> tuple[Schema | None, tuple[Principle, ...] | None]:
    """The schema and the principles of a config, to compare a release with; nothing if there is no config."""
    if config is None:
        return None, None
    from sfumato.config import Config

    declared = Config.load(config)
    return declared.schema, declared.asked


def release_folder(declared: Config | None, config: Path, output: Path | None) -> Path:
    """Where the release goes: as the option says, else as the config does; `declared` is None for a release.json."""
    from sfumato.errors import ConfigError

    folder = declared.folder if declared is not None and output is None else output
    if folder is None:
        raise ConfigError(
            "the config does not say where the release goes",
            remedy="Use --output." if declared is None else 'Write [output] with path = "release", or use --output.',
            file=str(config),
            key="output.path",
        )
    return folder
