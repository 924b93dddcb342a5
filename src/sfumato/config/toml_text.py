"""The text of a config file, and the TOML in it: whatever the file contains, an error names it."""

from __future__ import annotations

import re
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

from sfumato.errors import ConfigError

_LARGEST = 1 << 24
"""The most characters of a config; 20,000 columns need about a million."""

_LONG_KEY = re.compile(r"(?:[\w-][ \t]*\.[ \t]*[\w-]*){500}")
"""A key of more parts than any config has. Reading one takes time and memory for the square of their number."""


def config_text(path: Path) -> str:
    """Return the text of a config file."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            text = file.read(_LARGEST + 1)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ConfigError(
            f"the config cannot be read: {reason}", remedy="Name a readable TOML file.", file=str(path)
        ) from error
    if len(text) > _LARGEST:
        raise ConfigError(
            f"the file has more than {_LARGEST:,} characters, so it is not a config", remedy="Name a config.", file=str(path)
        )
    return text


def read_toml(text: str, file: str | None) -> dict[str, Any]:
    """Return the content of a TOML text, with decimals exact."""
    if _LONG_KEY.search(text):
        raise _too_deep(file)
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        # a Windows path in double quotes is the usual cause
        escape = "hex" in str(error) or "escape" in str(error)
        remedy = "Write paths with / or in single quotes." if escape else "Fix that line."
        raise ConfigError(f"the file is not valid TOML: {error}", remedy=remedy, file=file) from error
    except RecursionError:
        raise _too_deep(file) from None
    except ValueError:
        raise ConfigError("the file is not a config: an integer has too many digits", remedy="Fix it.", file=file) from None


def _too_deep(file: str | None) -> ConfigError:
    return ConfigError("the file is not a config: it is nested too deeply", remedy="Fix it.", file=file)
