"""Relative paths of a config that is saved in another folder: they are written anew, so that they name the same files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sfumato.config.toml_text import read_toml
from sfumato.io.database_uri import is_uri
from sfumato.ui.config_edits import Keys, set_value

_PATHS = (
    ("data", "path"), ("population", "path"), ("output", "path"), ("output", "internal"), ("output", "key"),
    ("after", "release"), ("after", "key"), ("engine", "folder"),
)  # fmt: skip
"""Where a config names a file or a folder."""


def rebased(text: str, old: Path, new: Path) -> str:
    r"""Return the text of a config for a file in the folder `new`, which was one in the folder `old`.

    What the text names stays the same; absolute paths and databases stay as they are. A path without a common root with the
    new folder becomes absolute.

    >>> print(rebased('[data]\npath = "people.csv"\n', Path("/data"), Path("/data/configs")), end="")
    [data]
    path = "../people.csv"
    """
    old, new = Path(os.path.abspath(old)), Path(os.path.abspath(new))  # noqa: PTH100 - links are not followed
    if old == new:
        return text
    for keys, value in list(_stated(read_toml(text, None))):
        file, colon, function = value.rpartition(":") if keys[-1] == "function" else (value, "", "")
        moved = _moved(file, old, new)
        if moved != file:
            text = set_value(text, keys, f"{moved}{colon}{function}")
    return text


def _stated(plain: dict[str, Any]) -> Iterator[tuple[Keys, str]]:
    """Yield where a config names a file or a folder, and what it states there."""
    for section, key in _PATHS:
        value = plain.get(section, {}).get(key)
        if isinstance(value, str):
            yield (section, key), value
    for name, column in plain.get("columns", {}).items():
        if isinstance(column.get("hierarchy"), str):
            yield ("columns", name, "hierarchy"), column["hierarchy"]
        yield from _function(("columns", name, "distance"), column.get("distance"))
    yield from _function(("distance",), plain.get("distance"))
    risk = plain.get("risk", {})
    yield from _function(("risk", "sensitivity"), risk.get("sensitivity"))
    for name, how in risk.get("consistency", {}).items():
        yield from _function(("risk", "consistency", name), how)
    for number, dictionary in enumerate(risk.get("dictionaries", ())):
        if isinstance(dictionary.get("path"), str):
            yield ("risk", "dictionaries", number, "path"), dictionary["path"]


def _function(keys: tuple[str, ...], declared: Any) -> Iterator[tuple[Keys, str]]:
    function = declared.get("function") if isinstance(declared, dict) else None
    if isinstance(function, str) and ".py:" in function:
        yield (*keys, "function"), function


def _moved(path: str, old: Path, new: Path) -> str:
    if is_uri(path) or Path(path).is_absolute() or path.startswith("~") or "$" in path:
        return path
    try:
        moved = os.path.relpath(old / path, new)
    except ValueError:  # another drive
        return str(old / path)
    return Path(moved).as_posix()
