"""Which entry of a config an error is about, and what can be used of a config that contains one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sfumato.config.toml_text import read_toml
from sfumato.config_edits.toml_sections import Keys
from sfumato.errors import SfumatoError

DATA = "data"
"""The section without which there is no table."""


def keys_of(error: SfumatoError, text: str) -> Keys:
    r"""Return where the value is that an error is about; empty if the error does not say.

    Only the config tells the name of a column with a dot from a column and a key.

    >>> from sfumato.errors import ConfigError
    >>> error = ConfigError("invalid", remedy="Fix it.", key="columns.a.b.role")
    >>> keys_of(error, '[columns."a.b"]\nrole = "x"\n'), keys_of(error, "[columns.a.b]\nrole = 1\n")
    (['columns', 'a.b', 'role'], ['columns', 'a', 'b', 'role'])
    """
    columns = _content(text).get("columns")
    names = sorted(columns, key=len, reverse=True) if isinstance(columns, dict) else []
    key = error.key or ""
    for name in names:
        if f"{key}.".startswith(f"columns.{name}."):
            return ["columns", name, *_parts(key.removeprefix(f"columns.{name}"))]
    if key:
        return _parts(key)
    return ["columns", error.column] if error.column is not None and error.column in names else []


def removable_entry(error: SfumatoError, text: str) -> Keys | None:
    r"""Return the entry that can be removed so that the rest can be used: a column, a requirement, or another value.

    None if there is none, as where the text is no TOML, or if the table itself would be lost.

    >>> from sfumato.errors import ConfigError
    >>> error = ConfigError("invalid", remedy="Fix it.", key="principles[0].k")
    >>> removable_entry(error, '[[principles]]\nname = "k-anonymity"\nk = -1\n'), removable_entry(error, "[[principles")
    (['principles', 0], None)
    """
    keys, content = keys_of(error, text), _content(text)
    if not keys or keys[0] == DATA:
        return None
    entry = keys[:2] if keys[0] in ("columns", "principles") else keys
    while entry and not _has(content, entry):
        entry = entry[:-1]
    return entry or None


def entry_name(entry: Keys, text: str) -> str:
    r"""Return what an entry is called on the screen.

    >>> text = '[columns.age]\nrole = 1\n[[principles]]\nname = "k-anonymity"\n[method]\nname = "x"\n'
    >>> [entry_name(keys, text) for keys in (["columns", "age"], ["principles", 0], ["method", "name"])]
    ['the column age', 'requirement 1 (k-anonymity)', 'method.name']
    """
    if len(entry) == 2 and entry[0] == "columns":
        return f"the column {entry[1]}"
    if len(entry) == 2 and entry[0] == "principles" and isinstance(entry[1], int):
        stated = _content(text)["principles"][entry[1]]
        name = stated.get("name") if isinstance(stated, dict) else None
        return f"requirement {entry[1] + 1}" + (f" ({name})" if isinstance(name, str) else "")
    return ".".join(map(str, entry))


def data_section_alone(text: str) -> str:
    r"""Return the section that names the table, without the rest; empty if there is none that can be read.

    >>> print(data_section_alone('[data]\npath = "p.csv"\n[columns.age]\nrole = "quasi"\n'), end="")
    [data]
    path = "p.csv"
    """
    import tomlkit

    section = _content(text).get(DATA)
    return tomlkit.dumps({DATA: section}) if isinstance(section, dict) else ""


def _content(text: str) -> dict[str, Any]:
    try:
        return read_toml(text, None)
    except SfumatoError:
        return {}


def _parts(key: str) -> list[str | int]:
    return [int(part) if part.isdigit() else part for part in re.split(r"[.\[\]]+", key) if part]


def _has(content: Any, keys: Sequence[str | int]) -> bool:
    for key in keys:
        try:
            content = content[key]
        except (KeyError, IndexError, TypeError):
            return False
    return True
