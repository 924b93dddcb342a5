"""The text of a config file, and the TOML in it: whatever the file contains, an error names it."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

from sfumato.errors import ConfigError

_LARGEST = 1 << 24
"""The most characters of a config; 20,000 columns need about a million."""


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
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        # a Windows path in double quotes is the usual cause
        escape = "hex" in str(error) or "escape" in str(error)
        remedy = "Write paths with / or in single quotes." if escape else "Fix that line."
        raise ConfigError(f"the file is not valid TOML: {error}", remedy=remedy, file=file) from error
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else "an integer has too many digits"
        raise ConfigError(f"the file is not a config: {reason}", remedy="Fix it.", file=file) from None
