"""Changes of a config: pure functions from text to text. Comments, order and spelling of everything else stay.

Every function checks its own result: the new text must parse to the old content with the one change, and contain every
comment of the old text. Otherwise it raises, and the text can be edited by hand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from decimal import Decimal
from typing import Any

from sfumato.config.toml_text import read_toml
from sfumato.errors import ConfigError

Keys = Sequence[str | int]
"""Where a value is: names of tables, numbers of entries of a list."""


def set_value(text: str, keys: Keys, value: Any) -> str:
    r"""Return the text with one value set; tables that lack are added.

    >>> print(set_value('[columns.age]\nrole = "other"  # why\n', ["columns", "age", "role"], "sensitive"), end="")
    [columns.age]
    role = "sensitive"  # why
    """
    plain, value = read_toml(text, None), _stated(value)
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
    entry = {"name": name, **{key: _stated(value) for key, value in parameters.items()}}
    expected.setdefault("principles", []).append(entry)
    ways = [lambda: _principle_after(text, entry), lambda: _joined(text, "[[principles]]", entry)]
    return _checked(text, expected, [*ways, lambda: _append_inline(text, entry)])


def remove_principle(text: str, number: int) -> str:
    """Return the text without a principle, counted from 0."""
    return remove_value(text, ["principles", number])


def comments_of(text: str) -> list[str]:
    """Return the comments of a TOML text, as far as they are lines of their own or follow a value."""
    bare = re.sub(r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'', '""', text, flags=re.DOTALL)
    return [found.strip() for found in re.findall(r"#[^\n]*", bare)]


def line_of(text: str, keys: Keys) -> int | None:
    """Return the number of the line, from 1, at which a value is, or the section that should contain it."""
    names = [key for key in keys if isinstance(key, str)]
    number = next((key for key in keys if isinstance(key, int)), 0)
    lines = _lines(text)
    for depth in range(len(names), 0, -1):
        found = [at for at, line in enumerate(lines) if _header_names(line) == names[:depth]]
        if found:
            start = found[min(number, len(found) - 1)]
            rest = names[depth:]
            for at in range(start + 1, len(lines)):
                if lines[at].lstrip().startswith("["):
                    break
                if rest and re.match(rf"\s*[\"']?{re.escape(rest[0])}[\"']?\s*[=.]", lines[at]):
                    return at + 1
            return start + 1
    return None


def _checked(text: str, expected: dict[str, Any], ways: Sequence[Callable[[], str]], comments: bool = True) -> str:
    """Return the first result that says what is expected and keeps every comment."""
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
        remedy="Change its text by hand, below Code.",
    )


def _stated(value: Any) -> Any:
    """Return a value as the config states it: numbers that are not whole as text, which is exact."""
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _stated(part) for key, part in value.items()}
    return [_stated(part) for part in value] if isinstance(value, list | tuple) else str(value)


def _type_at(plain: Any, keys: Keys) -> type:
    for key in keys:
        plain = plain[key]
    return type(plain)


def _put(plain: Any, keys: Keys, value: Any) -> None:
    for key in keys[:-1]:
        plain = plain[key] if isinstance(key, int) else plain.setdefault(key, {})
    plain[keys[-1]] = value


def _take(plain: Any, keys: Keys) -> bool:
    """Remove a value, and then the lists and tables that are empty without it at the top; return whether it was there."""
    try:
        inner = plain
        for key in keys[:-1]:
            inner = inner[key]
        del inner[keys[-1]]
    except (KeyError, IndexError):
        return False
    if len(keys) == 2 and not inner and keys[0] in ("columns", "principles"):
        del plain[keys[0]]
    return True


def _set_by_tomlkit(text: str, keys: Keys, value: Any) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    inner: Any = document
    for at, key in enumerate(keys[:-1]):
        if not isinstance(key, int) and key not in inner and (at == 0 or key not in inner):
            inner[key] = tomlkit.table(is_super_table=at + 2 < len(keys))
        inner = inner[key]
    inner[keys[-1]] = _item(value)
    return tomlkit.dumps(document)


def _item(value: Any) -> Any:
    """Return a value as an item of tomlkit: tables inline, long lists in lines."""
    import tomlkit

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
    return _joined(text, f"[{'.'.join(_key(str(key)) for key in keys[:-1])}]", {str(keys[-1]): value})


def _joined(text: str, header: str, values: Mapping[str, Any]) -> str:
    import tomlkit

    lines = [header, *(f"{_key(key)} = {_item(value).as_string()}" for key, value in values.items())]
    _ = tomlkit
    return f"{text.rstrip()}\n\n" + "\n".join(lines) + "\n" if text.strip() else "\n".join(lines) + "\n"


def _append_inline(text: str, entry: Mapping[str, Any]) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    document["principles"].append(_item(entry))
    return tomlkit.dumps(document)


def _principle_after(text: str, entry: Mapping[str, Any]) -> str:
    """Insert a principle after the last one."""
    lines = _lines(text)
    starts = [at for at, line in enumerate(lines) if _header_names(line) == ["principles"]]
    end = _section_end(lines, starts[-1])
    head, tail = "".join(lines[:end]), "".join(lines[end:])
    return _joined(head, "[[principles]]", entry) + tail


def _remove_lines(text: str, keys: Keys) -> str:
    """Remove the lines of a section or of a value; comments before and after it stay."""
    lines = _lines(text)
    names = [key for key in keys if isinstance(key, str)]
    numbers = [key for key in keys if isinstance(key, int)]
    found = [at for at, line in enumerate(lines) if _header_names(line) == names]
    if found:
        start = found[numbers[0] if numbers else 0]
        own = lines[start : _section_end(lines, start)]
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


def _lines(text: str) -> list[str]:
    """Return the lines of TOML, which only line feeds end, with their ends."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _section_end(lines: Sequence[str], start: int) -> int:
    """Return the line after the last value of a section; comments and empty lines that follow belong to the next one."""
    end = start + 1
    while end < len(lines) and _header_names(lines[end]) is None:
        end += 1
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


_NAME = r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\])*"|'[^']*'"""
_HEADER = re.compile(rf"\s*\[\[?\s*((?:{_NAME})(?:\s*\.\s*(?:{_NAME}))*)\s*\]\]?\s*(?:#.*)?$")


def _header_names(line: str) -> list[str] | None:
    """Return the names in the header of a section; None for another line."""
    match = _HEADER.match(line.rstrip("\r\n"))
    if match is None:
        return None
    return [next(iter(read_toml(f"{part} = 1", None))) for part in re.findall(_NAME, match[1])]


def _key(name: str) -> str:
    """Return a name as a key of TOML."""
    import tomlkit

    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else tomlkit.item(name).as_string()


def _remove_by_tomlkit(text: str, keys: Keys) -> str:
    import tomlkit

    document = tomlkit.parse(text)
    inner: Any = document
    for key in keys[:-1]:
        inner = inner[key]
    del inner[keys[-1]]
    if len(keys) == 2 and not inner and keys[0] in ("columns", "principles"):
        del document[str(keys[0])]
    return tomlkit.dumps(document)


def shown_value(value: Any) -> str:
    """Return a value of a config as a person writes it.

    >>> shown_value(Decimal("0.10"))
    '0.10'
    """
    return format(value, "f") if isinstance(value, Decimal) else str(value)
