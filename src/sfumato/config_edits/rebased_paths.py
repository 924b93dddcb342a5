"""Relative paths of a config that is saved in another folder: they are written anew, so that they name the same files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sfumato.config.toml_text import read_toml
from sfumato.config_edits.edits import set_value
from sfumato.config_edits.toml_sections import Keys
from sfumato.io.database_uri import has_variable, is_uri, with_file

_PATHS = (
    ("data", "path"), ("population", "path"), ("output", "path"), ("output", "internal"), ("output", "key"),
    ("output", "database"), ("after", "release"), ("after", "key"), ("engine", "folder"),
)  # fmt: skip
"""Where a config names a file or a folder."""


def rebase_paths(text: str, old: str | Path, new: str | Path) -> str:
    r"""Return the text of a config for a file in the folder `new`, which was one in the folder `old`.

    Every relative path is written anew, also those of databases that are files, so that the config names the same files;
    everything else stays as it is. A path without a common root with the new folder becomes absolute. A module that is named
    without its file, as in `"module:name"`, stays as well: it must be found from the new folder, or be installed.

    >>> print(rebase_paths('[data]\npath = "people.csv"  # of May\n', "/data", "/data/configs"), end="")
    [data]
    path = "../people.csv"  # of May
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
    """Return what names the same file or database from the new folder."""
    if has_variable(path):
        return path
    if is_uri(path):
        return with_file(path, lambda file: _moved(file, old, new))
    if Path(path).is_absolute():
        return path
    try:
        moved = os.path.relpath(old / path, new)
    except ValueError:  # another drive
        return str(old / path)
    return Path(moved).as_posix()
