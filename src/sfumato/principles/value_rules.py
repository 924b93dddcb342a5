"""Rules that say which values of a column are meant: a value, a node of the hierarchy, an item of sets, or a comparison."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.column import MISSING, Column
from sfumato.data.schema import Kind
from sfumato.errors import ColumnError

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
"""The longer ones first."""


def matching_codes(column: Column, rules: Sequence[str], wanted_by: str) -> NDArray[np.bool_]:
    """Return for each code of a column, that of missing cells included, whether one of the rules means it.

    A rule is a value as it is displayed, `(missing)`, a node of the column's hierarchy, which means all values below it, an
    item, which means all sets that contain it, or a comparison such as ">= 100000" for numbers, dates and ordered values.

    >>> import pyarrow as pa
    >>> from sfumato import Schema, Table
    >>> pay = Table(pa.table({"pay": [10, 20, 30]}), Schema()).column("pay")
    >>> matching_codes(pay, ["20.0", "> 25"], "an example").tolist()
    [False, True, True]
    """
    found = np.zeros(column.domain, bool)
    for rule in rules:
        found |= _matching(column, rule, wanted_by)
    return found


def is_known(column: Column, rule: str) -> bool:
    """Return whether a rule can mean a value of a column: whether the value or node exists, or it is a comparison.

    >>> import pyarrow as pa
    >>> from sfumato import Schema, Table
    >>> ill = Table(pa.table({"ill": ["flu", "hiv"]}), Schema()).column("ill")
    >>> is_known(ill, "hiv"), is_known(ill, "hvi")
    (True, False)
    """
    if _comparison(column, rule) is not None:
        return True
    tree = () if column.hierarchy is None else chain.from_iterable(column.hierarchy.labels)
    return rule in tree or rule == MISSING or bool(_matching(column, rule, "").any())


def _matching(column: Column, rule: str, wanted_by: str) -> NDArray[np.bool_]:
    found = np.zeros(column.domain, bool)
    if rule == MISSING:
        found[column.size :] = True
        return found
    comparison = _comparison(column, rule)
    if comparison is not None:
        sign, text = comparison
        found[: column.size] = _compared(column, _COMPARISONS[sign], text, rule, wanted_by)
        return found
    if column.sets:
        found[: column.size] = [rule in members for members in column.sets]
    number = None if column.numbers is None else column.numbers.parse(rule)
    if column.numbers is not None:
        equal = [number is not None and column.numbers[code] == number for code in range(column.size)]
    else:
        equal = [column.label(code) == rule for code in range(column.size)]
    found[: column.size] |= np.array(equal, bool)  # also where there are no values
    if column.hierarchy is not None and column.paths is not None:
        for level, labels in enumerate(column.hierarchy.labels):
            if rule in labels:
                below = column.paths[:, level] == labels.index(rule)
                found |= below
    return found


def _comparison(column: Column, rule: str) -> tuple[str, str] | None:
    """Return the sign and the other side of a comparison; None if the rule is a value, or the values have no order."""
    if column.numbers is None and column.kind is not Kind.ORDINAL:
        return None
    sign = next((sign for sign in _COMPARISONS if rule.startswith(sign)), None)
    return None if sign is None else (sign, rule.removeprefix(sign).strip())


def _compared(column: Column, compare: Callable[[Any, Any], bool], text: str, rule: str, wanted_by: str) -> list[bool]:
    if column.numbers is not None:
        bound = column.numbers.parse(text)
        values: Sequence[Any] = [column.numbers[code] for code in range(column.size)]
    else:
        order = [column.label(code) for code in range(column.size)]
        bound = order.index(text) if text in order else None  # type: ignore[assignment]
        values = range(column.size)
    if bound is None:
        raise ColumnError(
            f"{wanted_by}: {text!r} in the rule {rule!r} is not a value of the column",
            remedy="Compare with a number, a date, or a value of the declared order.",
            column=column.name,
            key="values",
            value=rule,
        )
    return [compare(value, bound) for value in values]
