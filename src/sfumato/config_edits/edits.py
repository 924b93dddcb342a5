"""Changes of a config: the text of everything else stays as it is written.

Every function checks its own result: the new text must parse to the old content with the one change, and contain every
comment of the old text. Otherwise it raises, and the text can be edited by hand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from sfumato.config.toml_text import read_toml
from sfumato.config_edits.toml_sections import (
    Keys,
    comments_of,
    header_names,
    key_of,
    key_text,
    line_of,
    lines_of,
    section_end,
)
from sfumato.errors import ConfigError
from sfumato.io.optional_packages import import_extra


def set_value(text: str, keys: Keys, value: Any) -> str:
    r"""Return the text with one value set; tables that are missing are added.

    `keys` are the names of tables and the numbers of entries of lists on the way to the value, such as
    `["principles", 0, "k"]`. Numbers that are not whole are written as text, which is exact.

    >>> print(set_value('[columns.age]\nrole = "other"  # why\n', ["columns", "age", "role"], "sensitive"), end="")
    [columns.age]
    role = "sensitive"  # why
    """
    plain, value = read_toml(text, None), _stated(value, keys)
    expected = deepcopy(plain)
    _put(expected, keys, value)
    if expected == plain and _type_at(plain, keys) is type(value):
        return text
    return _checked(text, expected, [lambda: _set_by_tomlkit(text, keys, value), lambda: _set_at_end(text, keys, value)])


def remove_value(text: str, keys: Keys) -> str:
    r"""Return the text without one value or table; without it already, the text as it is.

    >>> print(remove_value('a = 1\n# about b\nb = 2\n', ["b"]), end="")
    a = 1
    # about b
    """
    plain = read_toml(text, None)
    expected = deepcopy(plain)
    if not _take(expected, keys):
        return text
    ways = [lambda: _remove_lines(text, keys), lambda: _remove_by_tomlkit(text, keys)]
    try:
        return _checked(text, expected, ways)
    except ConfigError:
        return _checked(text, expected, ways, comments=False)  # a comment inside the removed value goes with it


def set_values(text: str, keys: Keys, values: Mapping[str, Any]) -> str:
    """Return the text with several values of one table set; None removes a value."""
    for key, value in values.items():
        text = remove_value(text, [*keys, key]) if value is None else set_value(text, [*keys, key], value)
    return text


def set_role(text: str, column: str, role: str | None) -> str:
    r"""Return the text with another role of a column; None: the column is no longer declared, so it is not published.

    >>> print(set_role('[data]\npath = "p.csv"\n', "age", "quasi-identifier"), end="")
    [data]
    path = "p.csv"
    <BLANKLINE>
    [columns.age]
    role = "quasi-identifier"
    """
    return remove_value(text, ["columns", column]) if role is None else set_value(text, ["columns", column, "role"], role)


def add_principle(text: str, name: str, parameters: Mapping[str, Any]) -> str:
    r"""Return the text with a further principle, after the others.

    >>> print(add_principle('[[principles]]\nname = "k-anonymity"\nk = 5\n', "t-closeness", {"t": "0.2"}), end="")
    [[principles]]
    name = "k-anonymity"
    k = 5
    <BLANKLINE>
    [[principles]]
    name = "t-closeness"
    t = "0.2"
    """
    expected = deepcopy(read_toml(text, None))
    entry = {"name": name, **{key: _stated(value, ("principles", key)) for key, value in parameters.items()}}
    if not isinstance(expected.setdefault("principles", []), list):
        raise ConfigError("it is not a list", remedy="Write [[principles]].", key="principles")
    expected["principles"].append(entry)
    ways = [lambda: _principle_after(text, entry), lambda: _joined(text, "[[principles]]", entry)]
    return _checked(text, expected, [*ways, lambda: _append_inline(text, entry)])


def remove_principle(text: str, number: int) -> str:
    """Return the text without a principle, counted from 0."""
    return remove_value(text, ["principles", number])


def _checked(text: str, expected: dict[str, Any], ways: Sequence[Callable[[], str]], comments: bool = True) -> str:
    """Return the first result that says what is expected and keeps every comment."""
    _tomlkit()  # without it no way ends well, and the reason would be hidden
    before = Counter(comments_of(text)) if comments else Counter()
    for way in ways:
        try:
            result = way()
            right = read_toml(result, None) == expected
        except Exception:  # whatever an edit of unusual TOML raises: the next way is tried
            continue
        if right and not before - Counter(comments_of(result)):
            return result
    raise ConfigError(
        "the config is written in a way that cannot be changed without losing something",
        remedy="Change its text by hand.",
    )


def _stated(value: Any, keys: Keys) -> Any:
    """Return a value as the config states it: numbers that are not whole as text, which is exact."""
    if value is None:
        raise ConfigError("a config has no empty values", remedy="Remove the key instead.", key=key_of(keys))
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _stated(part, (*keys, str(key))) for key, part in value.items()}
    return [_stated(part, keys) for part in value] if isinstance(value, list | tuple) else str(value)


def _type_at(plain: Any, keys: Keys) -> type:
    for key in keys:
        plain = plain[key]
    return type(plain)


def _put(expected: Any, keys: Keys, value: Any) -> None:
    """Set a value in plain data; raise an error if there can be none at this place."""
    if not keys:
        raise ConfigError("no key is named", remedy="Name one, such as columns.age.role.")
    inner = expected
    for at, key in enumerate(keys):
        found: type = type(inner)
        if found is not (list if isinstance(key, int) else dict):
            kind = "a table" if found is dict else "a list" if found is list else "a value"
            raise ConfigError(
                f"it is {kind}, so {key!r} is not in it", remedy="Name another key.", key=key_of(keys[:at]) or key_of(keys)
            )
        if isinstance(key, int) and not 0 <= key < len(inner):
            raise ConfigError(
                f"there is no such entry: the list has {len(inner)}", remedy="Count from 0.", key=key_of(keys[: at + 1])
            )
        if at == len(keys) - 1:
            inner[key] = value
        else:
            inner = inner[key] if isinstance(key, int) else inner.setdefault(key, {})


def _take(plain: Any, keys: Keys) -> bool:
    """Remove a value, and then the lists and tables that are empty without it at the top; return whether it was there."""
    if any(isinstance(key, int) and key < 0 for key in keys):
        return False
    try:
        inner = plain
        for key in keys[:-1]:
            inner = inner[key]
        del inner[keys[-1]]
    except (KeyError, IndexError, TypeError):
        return False
    if len(keys) == 2 and not inner and keys[0] in ("columns", "principles"):
        del plain[keys[0]]
    return True


def _set_by_tomlkit(text: str, keys: Keys, value: Any) -> str:
    tomlkit = _tomlkit()
    document = tomlkit.parse(text)
    inner: Any = document
    for at, key in enumerate(keys[:-1]):
        if not isinstance(key, int) and key not in inner:
            inner[key] = tomlkit.table(is_super_table=at + 2 < len(keys))
        inner = inner[key]
    inner[keys[-1]] = _item(value)
    return str(tomlkit.dumps(document))


def _item(value: Any) -> Any:
    """Return a value as an item of tomlkit: tables inline, long lists in lines."""
    tomlkit = _tomlkit()
    if isinstance(value, Mapping):
        table = tomlkit.inline_table()
        for key, part in value.items():
            table[key] = _item(part)
        return table
    if isinstance(value, list):
        array = tomlkit.array()
        for part in value:
            array.append(_item(part))
        return array
    return tomlkit.item(value)


def _set_at_end(text: str, keys: Keys, value: Any) -> str:
    """Add a section for the value at the end."""
    if len(keys) < 2 or any(isinstance(key, int) for key in keys):
        raise ValueError("not a section")
    return _joined(text, f"[{'.'.join(key_text(str(key)) for key in keys[:-1])}]", {str(keys[-1]): value})


def _joined(text: str, header: str, values: Mapping[str, Any]) -> str:
    lines = [header, *(f"{key_text(key)} = {_item(value).as_string()}" for key, value in values.items())]
    return f"{text.rstrip()}\n\n" + "\n".join(lines) + "\n" if text.strip() else "\n".join(lines) + "\n"


def _append_inline(text: str, entry: Mapping[str, Any]) -> str:
    tomlkit = _tomlkit()
    document = tomlkit.parse(text)
    document["principles"].append(_item(entry))
    return str(tomlkit.dumps(document))


def _principle_after(text: str, entry: Mapping[str, Any]) -> str:
    """Insert a principle after the last one."""
    lines = lines_of(text)
    starts = [at for at, line in enumerate(lines) if header_names(line) == ["principles"]]
    end = section_end(lines, starts[-1])
    head, tail = "".join(lines[:end]), "".join(lines[end:])
    return _joined(head, "[[principles]]", entry) + tail


def _remove_lines(text: str, keys: Keys) -> str:
    """Remove the lines of a section or of a value; comments before and after it stay."""
    lines = lines_of(text)
    names = [key for key in keys if isinstance(key, str)]
    numbers = [key for key in keys if isinstance(key, int)]
    found = [at for at, line in enumerate(lines) if header_names(line) == names]
    if found:
        start = found[numbers[0] if numbers else 0]
        own = lines[start : section_end(lines, start)]
        kept = [f"{comment}\n" for line in own for comment in comments_of(line)]
        del lines[start : start + len(own)]
        lines[start:start] = kept
        return "".join(lines)
    at = (line_of(text, keys) or 0) - 1
    if at < 0 or not re.match(rf"\s*[\"']?{re.escape(names[-1])}[\"']?\s*=", lines[at]):
        raise ValueError("not a line of its own")
    trailing = comments_of(lines[at])
    lines[at : at + 1] = [f"{trailing[0]}\n"] if trailing else []
    return "".join(lines)


def _remove_by_tomlkit(text: str, keys: Keys) -> str:
    tomlkit = _tomlkit()
    document = tomlkit.parse(text)
    inner: Any = document
    for key in keys[:-1]:
        inner = inner[key]
    del inner[keys[-1]]
    if len(keys) == 2 and not inner and keys[0] in ("columns", "principles"):
        del document[str(keys[0])]
    return str(tomlkit.dumps(document))


def _tomlkit() -> Any:
    return import_extra("tomlkit", "edit", "changes of a config", "sfumato.config_edits")
