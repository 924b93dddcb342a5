"""Which values of a column may share a cell, as `never_mix` and `coarsest` declare it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.data.column import Column
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.data.text_values import text_value
from sfumato.errors import ColumnError
from sfumato.exact.numbers import parse_decimal

_SHOWN = 5
"""How many values an error lists."""


@dataclass(frozen=True, eq=False)
class CellClasses:
    """Classes of a column's values: no cell may cover values of two classes, nor be a node above a level.

    Values that `never_mix` does not list form one more class. Missing values are a class of their own, because together
    with other values they are published as `*`, which covers everything. Only values that occur count: a cell may cover a
    leaf of the hierarchy that no row has.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> ends = pa.table({"end": ["died", "home", "moved", None]})
    >>> table = sf.Table(ends, sf.Schema(["end"], never_mix={"end": ["died"]}))
    >>> cell_classes(table.column("end"), table.schema).of_code.tolist()
    [1, 0, 0, 2]
    """

    of_code: NDArray[np.int64]
    """The class of each code; that of missing values, if any are missing, is the last."""
    level: int | None
    """The coarsest level of the hierarchy that a cell may have; None if every level is allowed."""


def cell_classes(column: Column, schema: Schema) -> CellClasses | None:
    """Return the classes of a column's values; None if the schema limits no cell of it.

    A listed value that does not occur, and a level that the hierarchy does not have, are errors that name the column.
    """
    listed, level = schema.never_mix.get(column.name), schema.coarsest.get(column.name)
    if level is not None:
        level = _allowed_level(column, level)
    if listed is None and level is None:
        return None
    of_code = np.zeros(column.size, np.int64) if listed is None else _listed_classes(column, listed)
    if level is not None:
        assert column.paths is not None
        pairs = np.column_stack([of_code, column.paths[: column.size, level]])
        of_code = np.unique(pairs, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
    if column.has_missing:
        of_code = np.append(of_code, of_code.max(initial=-1) + 1)
    return CellClasses(of_code, level)


def _allowed_level(column: Column, level: int) -> int | None:
    """Return the coarsest level that is allowed; None if it is that of the root."""
    tree = column.hierarchy
    height = 0 if tree is None else tree.height
    if level > height:
        raise ColumnError(
            f"coarsest = {level}, but the hierarchy of the column has the levels 0 to {height}",
            remedy=f"Write at most {height}.",
            file=column.source,
            key="coarsest",
            column=column.name,
            value=level,
        )
    return None if level == height else level


def _listed_classes(column: Column, listed: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """Return the class of each code: 0 if `never_mix` does not list it, else the position of its class plus 1."""
    labels = {column.label(code): code for code in range(column.size)}
    numbers = {} if column.numbers is None else {column.numbers[code]: code for code in range(column.size)}
    of_code = np.zeros(column.size, np.int64)
    for number, values in enumerate(listed, start=1):
        for value in values:
            codes = _codes_of(column, value, labels, numbers)
            if (of_code[codes] > 0).any():
                raise ColumnError(
                    f"never_mix names {value!r}, and a value under it again",
                    remedy="List each value, or the node above it, once.",
                    file=column.source,
                    key="never_mix",
                    column=column.name,
                    value=value,
                )
            of_code[codes] = number
    return of_code


def limits_that_occur(table: Table, schema: Schema) -> Schema:
    """Return a schema whose `never_mix` lists only values that occur in a table, for a sample of the rows.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> schema = sf.Schema(["end"], never_mix={"end": ["died", ["home", "moved"]]})
    >>> limits_that_occur(sf.Table(pa.table({"end": ["home", "rehab"]}), sf.Schema(["end"])), schema).never_mix
    {'end': (('home',),)}
    """
    kept: dict[str, list[list[str]]] = {}
    for name, listed in schema.never_mix.items():
        column = table.column(name)
        classes = [[value for value in values if _occurs(column, value)] for values in listed]
        if any(classes):
            kept[name] = [values for values in classes if values]
    return replace(schema, never_mix=kept)


def _occurs(column: Column, value: str) -> bool:
    try:
        return len(_listed_classes(column, [[value]])) > 0
    except ColumnError:
        return False


def _codes_of(column: Column, value: str, labels: dict[str, int], numbers: dict[Fraction, int]) -> NDArray[np.int64]:
    """Return the codes that a listed text names: a value, or all values under a node of the hierarchy."""
    value = value if value in labels else text_value(value)
    if value in labels:
        return np.array([labels[value]])
    number = parse_decimal(value) if numbers else None
    if number is not None and Fraction(number) in numbers:
        return np.array([numbers[Fraction(number)]])
    tree, paths = column.hierarchy, column.paths
    if tree is not None and paths is not None:
        # the lowest level on which a node has this label; the root covers everything, so it is no class
        for level, labelled in enumerate(tree.labels[:-1]):
            if value in labelled:
                return np.flatnonzero(paths[: column.size, level] == labelled.index(value))
    shown = ", ".join(repr(column.label(each)) for each in range(min(column.size, _SHOWN)))
    more = f" and {column.size - _SHOWN:,} more" if column.size > _SHOWN else ""
    nodes = "" if tree is None else ", nor a node of its hierarchy"
    raise ColumnError(
        f"never_mix names {value!r}, which is no value of the column{nodes}",
        remedy=f"Fix or remove it. The values are: {shown}{more}.",
        file=column.source,
        key="never_mix",
        column=column.name,
        value=value,
    )
