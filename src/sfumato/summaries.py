"""Representations that stay short, also for a table with hundreds of columns."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

from sfumato.exact import written

_ITEMS = 6
"""Items of a list, a mapping or a set that are shown."""

_LINES = 30
"""Lines of a result that are shown."""


class _ShortRepr(reprlib.Repr):
    """Show few items of a collection, and the shape of an array instead of its cells."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlist = self.maxtuple = self.maxdict = self.maxset = self.maxfrozenset = _ITEMS
        self.maxstring = self.maxother = 200
        self.maxlong = 60

    def repr_Fraction(self, number: Fraction, level: int) -> str:  # noqa: N802 - reprlib looks it up by the type's name
        """Show an exact number as it may be written: 10, or '0.1'."""
        return str(number) if number.denominator == 1 else repr(written(number))

    def repr_ndarray(self, array: Any, level: int) -> str:
        """Show the type and the shape of an array of numpy."""
        return f"<{array.dtype} array of shape {array.shape}>"


_SHORT = _ShortRepr()


def short_repr(instance: Any) -> str:
    """Return the representation of a dataclass, with few items of long collections.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Columns:
    ...     names: tuple
    ...     __repr__ = short_repr
    >>> Columns(tuple(range(200)))
    Columns(names=(0, 1, 2, 3, 4, 5, ...))
    """
    if not is_dataclass(instance):
        return object.__repr__(instance)
    return short_call(instance, [(each.name, getattr(instance, each.name)) for each in fields(instance) if each.repr])


def short_call(instance: Any, arguments: Iterable[tuple[str | None, Any]]) -> str:
    """Return an object as the call that makes it, with few items of long collections."""
    return f"{type(instance).__name__}({', '.join(f'{name}={_SHORT.repr(value)}' for name, value in arguments)})"


def listed(names: Sequence[str]) -> str:
    """Return the first names of a list, and the number of the others.

    >>> listed(["a", "b"]), listed(list("abcdefgh"))
    ('a, b', 'a, b, c, d, e, f and 2 more')
    """
    rest = len(names) - _ITEMS
    return ", ".join(names[:_ITEMS]) + (f" and {rest:,} more" if rest > 0 else "")


def first_lines(lines: Sequence[str], noun: str, most: int = _LINES) -> list[str]:
    """Return the first lines of a result, and one that counts the others.

    >>> first_lines(["a", "b", "c"], "columns", most=2)
    ['a', 'b', '  … and 1 more columns']
    """
    rest = len(lines) - most
    return [*lines[:most], *([f"  … and {rest:,} more {noun}"] if rest > 0 else [])]
