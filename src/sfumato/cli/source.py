"""What options name: the table, by a file, a database or a config; and what a config declares about it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.config import Config
    from sfumato.data.schema import Schema
    from sfumato.disclosure import RiskAssumptions
    from sfumato.engines import Engine
    from sfumato.principles import Principle


def named_source(source: str | None, allow_code: bool, *, as_frame: bool = False) -> Any:
    """Return what the library reads: the table of a config with its query or sheet, or the path or URI as it is.

    `as_frame`: a table of Spark is returned as a DataFrame, of which nothing is read yet.
    """
    if source is None or not source.endswith(".toml"):
        return source
    from sfumato.config import Config

    declared = Config.load(source, allow_code=allow_code)
    frame = declared.spark_frame() if as_frame else None
    return declared.table() if frame is None else frame[0]


def named_engine(
    engine: str | None, master: str | None, original: str | None, config: Path | None, allow_code: bool
) -> Engine:
    """Return the engine of a verification: that of the option, or of the config that names the original.

    Settings of the engine are those of that config, or else of the one to compare the release with.
    """
    from sfumato.config import Config
    from sfumato.engines import engine_of

    named = original if original is not None and original.endswith(".toml") else None
    source = named or (config if engine is not None else None)
    if source is None:
        return engine_of(engine, original, master=master)
    return Config.load(source, allow_code=allow_code).chosen_engine(engine, master=master)


def requested_projection(config: Path | None, allow_code: bool) -> dict[str, Any] | None:
    """Return what a config requests of several tables beyond schema and principles; None if there is no config."""
    if config is None:
        return None
    from sfumato.config import Config, MethodSection, ProjectSection

    declared = Config.load(config, allow_code=allow_code)
    options = (declared.project or ProjectSection()).options()
    options["suppress"] = (declared.method or MethodSection()).suppress
    return {key: value for key, value in options.items() if key not in ("search", "attacks")}


def requested_suppression(config: Path | None, allow_code: bool) -> Any:
    """Return the share of rows that a config allows to be suppressed; None if there is no config."""
    if config is None:
        return None
    from sfumato.config import Config, MethodSection

    return (Config.load(config, allow_code=allow_code).method or MethodSection()).suppress


def risk_assumptions(config: Path | None, allow_code: bool) -> RiskAssumptions | None:
    """Return what a config measures the risk of a withheld release against; None if there is no config."""
    if config is None:
        return None
    from sfumato.config import Config

    return Config.load(config, allow_code=allow_code).risk_assumptions()


def requested_terms(config: Path | None, allow_code: bool) -> tuple[Schema | None, tuple[Principle, ...] | None]:
    """Return the schema and the principles of a config, to compare a release with; None if there is no config."""
    if config is None:
        return None, None
    from sfumato.config import Config

    declared = Config.load(config, allow_code=allow_code)
    return declared.schema, declared.requested_principles


def release_folder(declared: Config | None, config: Path, output: Path | None) -> Path:
    """Return the folder of the release: that of the option, else that of the config (None for a release.json)."""
    from sfumato.errors import ConfigError

    folder = declared.output_folder if declared is not None and output is None else output
    if folder is None:
        raise ConfigError(
            "the config does not say where to write the release",
            remedy="Use --output." if declared is None else 'Write [output] with path = "release", or use --output.',
            file=str(config),
            key="output.path",
        )
    return folder


def private_files(
    declared: Config | None, internal: Path | None, key: Path | None, folder: Path, force: bool
) -> tuple[Path | None, Path | None]:
    """Return where the internal report and the key are written, if anywhere; a place that is taken is an error."""
    from sfumato.releases.folder import free_page
    from sfumato.releases.row_key import is_key

    report = internal if internal is not None or declared is None else declared.internal_report
    key = key if key is not None or declared is None else declared.key_file
    if report is not None:
        free_page(report, folder, force)
    if key is not None:
        free_page(key, folder, force, is_key)
    return report, key
