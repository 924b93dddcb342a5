"""Replace dates of birth by ages, before anything else sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.column import Column
from sfumato.data.column_encoder import encode_column
from sfumato.data.schema import Kind, Schema
from sfumato.errors import CellError, ColumnError
from sfumato.exact.date_numbers import moment_or_none

_AGE = pa.uint8()
"""The type of ages. No date fits into it, so a column of this type has been replaced already."""

_OLDEST = 255

Ints = NDArray[np.int64]


def with_ages(data: pa.Table, schema: Schema, *, untyped: bool, source: str | None) -> pa.Table:
    """Return the data with every column in `schema.ages` replaced by the age in completed years.

    The age at a date is the number of birthdays until that date, the date itself included. Who was born on 29 February has
    the birthday on 1 March in other years. The age is missing where the birth or the reference date is.

    >>> people = pa.table({"birth": ["2000-02-29", "1999-06-01"]})
    >>> schema = Schema(["birth"], ages={"birth": "2023-02-28"})
    >>> with_ages(people, schema, untyped=True, source=None).column("birth").to_pylist()
    [22, 23]
    """

    def column(name: str) -> Column:
        only = Schema(
            kinds={name: Kind.DATE},
            formats=_only(schema.formats, name),
            timezones=_only(schema.timezones, name),
            missing=schema.missing,
        )
        return encode_column(data.column(name), name, only, untyped=untyped, source=source)

    result = data
    for name, reference in schema.ages.items():
        if name not in data.column_names or data.schema.field(name).type == _AGE:
            continue
        births = column(name)
        if moment_or_none(reference) is not None:
            years, months, days = (np.array([int(part)]) for part in reference[:10].split("-"))
            missing = np.zeros(data.num_rows, bool)
        elif reference in data.column_names:
            others = column(reference)
            missing = others.codes == others.size
            years, months, days = _calendar(others)
        else:
            raise ColumnError(
                f"age_at = {reference!r} is neither an ISO date nor a column",
                remedy='Write a date such as "2024-01-01", or the name of a column of dates.',
                file=source,
                column=name,
                value=reference,
            )
        missing = missing | (births.codes == births.size)
        born = _calendar(births)
        ages = years - born[0] - ((months < born[1]) | ((months == born[1]) & (days < born[2])))
        _refuse(ages, missing, births, reference, source)
        position = data.column_names.index(name)
        result = result.set_column(position, name, pa.array(np.where(missing, 0, ages).astype(np.uint8), mask=missing))
    return result


def _only(mapping: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {name: mapping[name]} if name in mapping else {}


def _calendar(column: Column) -> tuple[Ints, Ints, Ints]:
    """Return the year, month and day of each row, by the clock of the column's zone; 1 where it is missing."""
    labels = [column.labels(code)[:10].split("-") for code in range(column.size)]
    parts = np.array([*([int(part) for part in label] for label in labels), [1, 1, 1]], np.int64)
    years, months, days = parts[column.codes].T
    return years, months, days


def _refuse(ages: Ints, missing: NDArray[np.bool_], births: Column, reference: str, source: str | None) -> None:
    """Raise an error for a birth after the reference date, or an age that no person reaches."""
    bad = np.flatnonzero(((ages < 0) | (ages > _OLDEST)) & ~missing)
    if not len(bad):
        return
    row = int(bad[0])
    birth = births.label(int(births.codes[row]))
    problem = (
        f"the date {birth} is after {reference}, where the age is taken"
        if ages[row] < 0
        else f"the date {birth} is more than {_OLDEST} years before {reference}, where the age is taken"
    )
    raise CellError(
        problem,
        remedy="Fix the cell, list it under missing.values, or take the age at another date.",
        file=source,
        column=births.name,
        row=row + 1,
        value=birth,
    )
