"""The grammar of the cells of a published quasi-identifier.

    value        itself; in double quotes, those within it doubled, if it could be taken for something else
    interval     [low, high], or [low, high) for a node of nested intervals; of dates [1930-01-18, 1938-07-12]
    set          {a; b}; sets of sets are {{a; b}; {c}}
    node         the label of a node of a hierarchy
    *            nothing is published
    empty        the value is missing

Distinct intervals or sets have distinct texts, and a bare `*` always means that nothing is published. The functions that
write cells and those that read them are here together, and know nothing about how groups were found or recoded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from sfumato.data.column import as_member, in_quotes
from sfumato.exact.date_numbers import date_end
from sfumato.exact.numbers import parse_number

WITHHELD = "*"
"""A cell that publishes nothing."""

_SEVERAL = re.compile(r"""[{"].*|\[.*, .*[\])]""", re.DOTALL)
"""A value of this form could be taken for a set, a quoted text or an interval; `[70-80)` could not."""

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
"""A text in quotes."""
_MEMBER = re.compile(r'"(?:[^"]|"")*"|(?!\*(?:[;,]|$))[^;,{}"\s](?:[^;,{}"]*[^;,{}"\s])?')
"""A member of a set or an end of an interval: a text in quotes, or one that needs none."""
_NESTED = re.compile(r'\{(?:[^{}"]|"(?:[^"]|"")*")*\}')
"""A set that is a member of a set."""


def value_cell(label: str, plain: bool = False) -> str:
    """Return the cell of a single value.

    `plain`: the values are numbers or sets, which are never quoted.

    >>> value_cell("Ulm"), value_cell("*"), value_cell("[70-80)"), value_cell("[7, 8)"), value_cell("{a; b}", plain=True)
    ('Ulm', '"*"', '[70-80)', '"[7, 8)"', '{a; b}')
    """
    return label if plain or not (label in ("", WITHHELD) or _SEVERAL.fullmatch(label)) else in_quotes(label)


def node_cell(label: str, root: bool) -> str:
    """Return the cell of a node of a hierarchy above the leaves; only the root may be a bare `*`.

    >>> node_cell("*", root=False), node_cell("*", root=True), node_cell("[30, 40)", root=False)
    ('"*"', '*', '[30, 40)')
    """
    return in_quotes(label) if label[:1] in ("", '"') or (label == WITHHELD and not root) else label


def hierarchy_cell(label: str, level: int, height: int, plain: bool) -> str:
    """Return the cell of a node on any level, where a leaf is a value and `height` is the level of the root.

    >>> hierarchy_cell("*", 0, 2, plain=False), hierarchy_cell("*", 2, 2, plain=False)
    ('"*"', '*')
    """
    return value_cell(label, plain) if level == 0 else node_cell(label, level == height)


def set_cell(labels: Iterable[str], plain: bool = False) -> str:
    """Return the cell of several values.

    >>> set_cell(["a", "b; c"])
    '{a; "b; c"}'
    """
    return "{" + "; ".join(labels if plain else map(as_member, labels)) + "}"


def interval_cell(low: str, high: str, plain: bool = False) -> str:
    """Return the cell of the values from one to another, both included.

    >>> interval_cell("20", "30", plain=True)
    '[20, 30]'
    """
    return f"[{low}, {high}]" if plain else f"[{as_member(low)}, {as_member(high)}]"


def is_quoted(cell: str) -> bool:
    """Return whether a cell is one text in quotes.

    >>> is_quoted('"*"'), is_quoted('"a" and "b"')
    (True, False)
    """
    return _QUOTED.fullmatch(cell) is not None


def unquote(text: str) -> str:
    """Return a text in quotes as it was before it was quoted.

    >>> unquote('"the ""old"" one"')
    'the "old" one'
    """
    return text[1:-1].replace('""', '"')


def is_value(cell: str) -> bool:
    """Return whether a cell is the text of a single value, neither several values nor none.

    >>> is_value("Ulm"), is_value('"*"'), is_value("[70-80)"), is_value("{a; b}")
    (True, True, True, False)
    """
    return cell != WITHHELD and (_SEVERAL.fullmatch(cell) is None or is_quoted(cell))


def members(inner: str, separator: str, nested: bool) -> list[str]:
    """Return the members of a set, or the ends of an interval, from the text between the brackets; [] if it is invalid.

    `separator`: "; " or ", ". `nested`: the members are sets.

    >>> members('a; "b; c"', "; ", nested=False)
    ['a', 'b; c']
    """
    parts, at = [], 0
    while True:
        part = (_NESTED if nested else _MEMBER).match(inner, at)
        if part is None:
            return []
        text = part[0]
        parts.append(unquote(text) if text.startswith('"') else text)
        at = part.end()
        if at == len(inner):
            return parts
        if not inner.startswith(separator, at):
            return []
        at += len(separator)


def set_members(cell: str, nested: bool = False) -> list[str]:
    """Return the members of a set; [] if the cell is not a set. `nested`: the members are sets.

    >>> set_members('{a; "b; c"}'), set_members("[20, 30]")
    (['a', 'b; c'], [])
    """
    return members(cell[1:-1], "; ", nested) if cell.startswith("{") and cell.endswith("}") else []


def interval_ends(cell: str, nested: bool = False, half_open: bool = False) -> list[str]:
    """Return the two ends of an interval; [] if the cell is not an interval.

    `nested`: the ends are sets. `half_open`: read [low, high), a node of nested intervals, and not [low, high].

    >>> interval_ends("[20, 30]"), interval_ends("[20, 30)", half_open=True), interval_ends("[20, 30)")
    (['20', '30'], ['20', '30'], [])
    """
    ends = members(cell[1:-1], ", ", nested) if cell.startswith("[") and cell.endswith(")" if half_open else "]") else []
    return ends if len(ends) == 2 else []


def is_set_value(cell: str) -> bool:
    """Return whether a cell is a single value of a column of sets, not a set of such values.

    >>> is_set_value("{a; b}"), is_set_value("{{a}; {b}}")
    (True, False)
    """
    return cell.startswith("{") and not cell.startswith("{{")


def interval_end(text: str, dates: bool = False) -> Fraction | None:
    """Return the number at an end of an interval: a decimal, or a fraction where the decimal would not end.

    `dates`: read an ISO date or time instead, as days since 1970-01-01.

    >>> interval_end("1/3"), interval_end("n/a"), interval_end("1970-01-08", dates=True)
    (Fraction(1, 3), None, Fraction(7, 1))
    """
    return date_end(text) if dates else parse_number(text)


__all__ = [
    "WITHHELD",
    "as_member",
    "hierarchy_cell",
    "in_quotes",
    "interval_cell",
    "interval_end",
    "interval_ends",
    "is_quoted",
    "is_set_value",
    "is_value",
    "members",
    "node_cell",
    "set_cell",
    "set_members",
    "unquote",
    "value_cell",
]
