"""Where comments, sections and values are in the text of a config."""

from __future__ import annotations

import re
from collections.abc import Sequence

import tomli_w

from sfumato.config.toml_text import read_toml
from sfumato.errors import ConfigError

Keys = Sequence[str | int]
"""Where a value is: names of tables, numbers of entries of a list."""


def key_of(keys: Keys) -> str:
    """Return a place as errors and the command line write it.

    >>> key_of(["principles", 0, "k"]), key_of(["columns", "zip code", "role"])
    ('principles[0].k', 'columns."zip code".role')
    """
    parts = [f"[{key}]" if isinstance(key, int) else f".{key_text(key)}" for key in keys]
    return "".join(parts).removeprefix(".")


def keys_of(text: str) -> list[str | int]:
    """Return the place that a text names as errors do: names joined by dots, and numbers of entries in brackets.

    >>> keys_of("principles[0].k"), keys_of('columns."zip code".role')
    (['principles', 0, 'k'], ['columns', 'zip code', 'role'])
    """
    keys: list[str | int] = []
    rest = text.strip()
    while rest:
        match = _STEP.match(rest if not keys or rest.startswith("[") else rest.removeprefix("."))
        if match is None or (keys and rest[0] not in ".["):
            break
        keys.append(int(match["number"]) if match["number"] else next(iter(read_toml(f"{match['name']} = 1", None))))
        rest = match.string[match.end() :]
    if rest or not keys or isinstance(keys[0], int):
        raise ConfigError(
            f"{text!r} names no place in a config", remedy="Write it as columns.age.role or principles[0].k.", value=text
        )
    return keys


def key_text(name: str) -> str:
    """Return a name as a key of TOML."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else tomli_w.dumps({name: 1}).removesuffix(" = 1\n")


def comments_of(text: str) -> list[str]:
    """Return the comments of a TOML text, as far as they are lines of their own or follow a value."""
    bare = re.sub(r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'', '""', text, flags=re.DOTALL)
    return [found.strip() for found in re.findall(r"#[^\n]*", bare)]


def line_of(text: str, keys: Keys) -> int | None:
    """Return the number of the line, from 1, at which a value is, or the section that should contain it."""
    names = [key for key in keys if isinstance(key, str)]
    number = next((key for key in keys if isinstance(key, int)), 0)
    lines = lines_of(text)
    for depth in range(len(names), 0, -1):
        found = [at for at, line in enumerate(lines) if header_names(line) == names[:depth]]
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


def lines_of(text: str) -> list[str]:
    """Return the lines of TOML, which only line feeds end, with their ends."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def section_end(lines: Sequence[str], start: int) -> int:
    """Return the line after the last value of a section; comments and empty lines that follow belong to the next one."""
    end = start + 1
    while end < len(lines) and header_names(lines[end]) is None:
        end += 1
    while end > start + 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return end


_NAME = r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\])*"|'[^']*'"""
_STEP = re.compile(rf"\[(?P<number>[0-9]{{1,6}})\]|(?P<name>{_NAME})")
_HEADER = re.compile(rf"\s*\[\[?\s*((?:{_NAME})(?:\s*\.\s*(?:{_NAME}))*)\s*\]\]?\s*(?:#.*)?$")


def header_names(line: str) -> list[str] | None:
    """Return the names in the header of a section; None for another line."""
    match = _HEADER.match(line.rstrip("\r\n"))
    if match is None:
        return None
    return [next(iter(read_toml(f"{part} = 1", None))) for part in re.findall(_NAME, match[1])]
