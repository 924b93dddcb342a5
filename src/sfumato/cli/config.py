"""`sfumato config`: change a config from a script, without losing its comments."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import click

from sfumato.cli.completion import config_files, principle_names
from sfumato.cli.streams import complain

_config_argument = click.argument("config", type=click.Path(path_type=Path), shell_complete=config_files)


@click.group("config")
def config_group() -> None:
    """Change a config: one value, one requirement, or its folder. Comments, and everything else, stay as they are."""


@config_group.command(
    "set",
    epilog="""\b
Example:
  sfumato config set study.toml columns.age.role quasi-identifier
  sfumato config set study.toml "principles[0].k" 10
  sfumato config set study.toml columns.zip.hierarchy "{ prefix = [3, 2] }" """,
)
@_config_argument
@click.argument("key")
@click.argument("value")
def set_(config: Path, key: str, value: str) -> None:
    """Set the value of KEY in CONFIG to VALUE; sections that are missing are added.

    KEY is written as in error messages: names joined by dots, and [0] for the first entry of a list. VALUE is written as in
    TOML; quotes around a text can be left out. A change after which the config would be invalid is refused, unless it was
    invalid before. Exit status: 0 written; 2 bad input.
    """
    from sfumato.config_edits import keys_of, set_value

    _change(config, lambda text: set_value(text, keys_of(key), _value(value)))


@config_group.command(
    "remove",
    epilog="""\b
Example:
  sfumato config remove study.toml columns.nickname
  sfumato config remove study.toml "principles[1]" """,
)
@_config_argument
@click.argument("key")
def remove(config: Path, key: str) -> None:
    """Remove KEY from CONFIG: a value, a section, or an entry of a list.

    A column that is no longer declared is not published. Exit status: 0 written; 2 bad input.
    """
    from sfumato.config_edits import keys_of, remove_value
    from sfumato.errors import ConfigError

    def change(text: str) -> str:
        result = remove_value(text, keys_of(key))
        if result == text:
            raise ConfigError("it is not in the config, so it cannot be removed", remedy="Name another key.", key=key)
        return result

    _change(config, change)


@config_group.command(
    "require",
    epilog="""\b
Example:
  sfumato config require study.toml k-anonymity k=5
  sfumato config require study.toml dissimilarity epsilon=5000 delta=0.8 on=income""",
)
@_config_argument
@click.argument("principle", shell_complete=principle_names)
@click.argument("parameters", nargs=-1)
def require(config: Path, principle: str, parameters: tuple[str, ...]) -> None:
    """Add a requirement to CONFIG, after those that it has: a PRINCIPLE with its PARAMETERS, such as k=5.

    `sfumato explain` names the principles and their parameters. Exit status: 0 written; 2 bad input.
    """
    from sfumato.config_edits import add_principle
    from sfumato.errors import ParameterError

    values = {}
    for parameter in parameters:
        name, sign, value = parameter.partition("=")
        if not sign or not name or name in values:
            problem = "the parameter is stated twice" if name in values else "this is not a parameter"
            raise ParameterError(problem, remedy="Write each once, as k=5.", key=name or parameter, value=parameter)
        values[name] = _value(value)
    _change(config, lambda text: add_principle(text, principle, values))


@config_group.command(
    "copy",
    epilog="""\b
Example:
  sfumato config copy study.toml archive/2026/study.toml""",
)
@_config_argument
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace an existing config.")
def copy(config: Path, target: Path, force: bool) -> None:
    """Write CONFIG to TARGET, with relative paths that name the same files from there.

    Exit status: 0 written; 2 bad input.
    """
    from sfumato.config_edits import rebase_paths
    from sfumato.errors import ConfigError

    if os.path.lexists(target) and not force:
        raise ConfigError("the file exists", remedy="Use --force, or name another file.", file=str(target))
    _change(config, lambda text: rebase_paths(text, config.absolute().parent, target.absolute().parent), target)


def _change(path: Path, change: Callable[[str], str], target: Path | None = None) -> None:
    """Write a config after a change; nothing is written if the change would make a valid config invalid."""
    from sfumato.config import write_config
    from sfumato.config.toml_text import config_text
    from sfumato.errors import ConfigError

    text = config_text(path)
    try:
        changed = change(text)
    except ConfigError as error:
        raise ConfigError(
            error.problem, remedy=error.remedy, file=str(path), key=error.key, column=error.column, value=error.value
        ) from error
    before, after = _error(text, path), _error(changed, path)
    if after is not None and before is None:
        raise after
    ends = "\r\n" if b"\r\n" in path.read_bytes() else "\n"
    write_config(target or path, changed.replace("\n", ends))
    if after is not None:
        complain(f"sfumato: written, but the config is still invalid: {after}")


def _error(text: str, path: Path) -> Exception | None:
    """Return what is invalid in a config; None if nothing is."""
    from sfumato.config import Config
    from sfumato.errors import SfumatoError

    try:
        Config.parse(text, path, allow_code=True).requested_principles  # noqa: B018 - parsing runs no code that it names
    except SfumatoError as error:
        return error
    return None


def _value(text: str) -> Any:
    """Return a value as TOML reads it; what is no value of TOML is a text."""
    try:
        read = tomllib.loads(f"value = {text}", parse_float=Decimal)
    except (ValueError, RecursionError):
        return text
    value = read.get("value")
    if len(read) != 1 or not isinstance(value, bool | int | str | list | dict | Decimal):
        return text
    return text.strip().replace("_", "") if isinstance(value, Decimal) else value  # a decimal keeps its zeros
