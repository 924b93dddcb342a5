"""Check that every cell is spelled in the one way in which this program spells it.

A cell could be written as [20, 30] or as [20.0, 30], a set in any order of its members: all of them are true, and which one
is written could say whose row it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sfumato.data.column import Column
from sfumato.data.schema import Kind
from sfumato.exact import written
from sfumato.exact.numbers import parse_number
from sfumato.releases.cells import (
    WITHHELD,
    hierarchy_cell,
    interval_cell,
    interval_ends,
    set_cell,
    set_members,
    value_cell,
)
from sfumato.verification.checks import Check
from sfumato.verification.row_facts import Comparison, RowFacts


def spelling_check(facts: RowFacts, compared: Comparison, recodings: Mapping[str, str], unchanged: Sequence[str]) -> Check:
    """Check the cells of quasi-identifiers against the values of the original, and that no value is written in two ways.

    `facts`, `compared`: of the published table, and of both. `recodings`: how each quasi-identifier is published.
    `unchanged`: the columns that are published unchanged.
    """
    for name in unchanged:
        if facts.is_text(name) and not compared.is_text(name):
            twice = _written_twice(facts.texts(name))
            if twice is not None:
                return Check("spelling", False, f"{name!r} has the same value in two ways, {twice[0]!r} and {twice[1]!r}")
    for name, recoding in recodings.items():
        cell = misspelled(facts.texts(name), compared.original.column(name), recoding)
        if cell is not None:
            return Check("spelling", False, f"{name!r} has the cell {cell!r}, which this program writes in another way")
    return Check("spelling", True, "every cell is written in the one way in which this program writes it")


def misspelled(cells: Iterable[str | None], column: Column, recoding: str) -> str | None:
    """Return the first cell that is not written as this program writes it; None if there is none.

    >>> import pyarrow as pa
    >>> from sfumato import Schema, Table
    >>> ages = Table(pa.table({"age": [20, 30, 41]}), Schema(["age"])).column("age")
    >>> misspelled(["20", "[20, 30]", "*", None], ages, "interval"), misspelled(["[20.0, 30]"], ages, "interval")
    (None, '[20.0, 30]')
    """
    nested = column.kind is Kind.SET
    plain = column.numbers is not None or nested
    code_of = {column.label(code): code for code in range(column.size)}
    known = {value_cell(label, plain) for label in code_of} | {WITHHELD}
    if recoding == "ancestor" and column.hierarchy is not None:
        tree = column.hierarchy
        known |= {
            hierarchy_cell(label, level, tree.height, plain) for level, labels in enumerate(tree.labels) for label in labels
        }
    for cell in cells:
        if cell is None or cell in known:
            continue
        if recoding == "interval":
            parts = interval_ends(cell, nested)
            again = interval_cell(parts[0], parts[1], plain) if parts else None
        else:
            parts = set_members(cell, nested) if recoding == "set" else []
            again = set_cell(parts, plain) if len(parts) > 1 else None
        codes = [code_of.get(part, -1) for part in parts]
        ascending = all(low < high for low, high in zip([-1, *codes], codes, strict=False))
        if cell != again or not ascending:
            return cell
    return None


def _written_twice(texts: Iterable[str | None]) -> tuple[str, str] | None:
    """Return two texts of one number; None if every number is written in one way.

    >>> _written_twice(["17", "17.0", "x"]), _written_twice(["17", "18"])
    (('17', '17.0'), None)
    """
    first: dict[str, str] = {}
    for text in texts:
        number = None if text is None else parse_number(text)
        if text is not None and number is not None and first.setdefault(written(number), text) != text:
            return first[written(number)], text
    return None
