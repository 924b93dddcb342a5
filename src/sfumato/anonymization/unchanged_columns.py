"""Columns that are published unchanged: how many rows they single out, and a limit on that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.column_encoder import missing_as_null
from sfumato.data.groups import combination_counts, combination_ranks
from sfumato.data.near_unique import ROWS_PER_VALUE, is_few_each
from sfumato.data.schema import Role, Schema
from sfumato.data.units import Units
from sfumato.errors import ColumnError
from sfumato.exact import as_fraction, written
from sfumato.io.shuffle import ranks_of
from sfumato.plurals import count_of
from sfumato.releases.exposure_models import UnchangedClaim, share_text

_NAMED = 5
"""How many columns that single out rows alone an error names."""

Codes = Mapping[str, NDArray[np.int32]]


def unchanged_columns(schema: Schema, names: Sequence[str]) -> list[str]:
    """Return those of the columns that are published unchanged, and are not sensitive.

    >>> unchanged_columns(Schema(["age"], ["ill"], other=["job"]), ["age", "ill", "job", "diary"])
    ['job']
    """
    return [name for name in names if schema.role(name) is Role.OTHER]


def unchanged_claim(data: pa.Table, schema: Schema, of_row: NDArray[np.int64]) -> UnchangedClaim | None:
    """Count the rows that the unchanged columns of a published table single out; None if there are no such columns.

    `data`: the table without its group column. `of_row`: the group of each row. Cost: that of sorting the rows, for each
    column and for all of them.
    """
    names = unchanged_columns(schema, data.column_names)
    if not names:
        return None
    codes = _codes(data, names, schema)
    groups = of_row.astype(np.int32)
    return UnchangedClaim(
        columns=names,
        limit=written(as_fraction(schema.unchanged_limit)),
        rows=_unique([*codes.values()]),
        rows_in_groups=_unique([groups, *codes.values()]),
        by_column={name: _unique([column]) for name, column in codes.items()},
    )


def refuse_singled_out(data: pa.Table, schema: Schema, source: str | None, units: Units | None = None) -> None:
    """Raise if the columns that are published unchanged single out more rows than the schema allows.

    `units`: the people or households whose rows these are. One of them is singled out if some of its rows has values that
    only its own rows have; their share must be within the limit as well. Values that recur single out nobody, but a number
    of each customer, in two rows each, is an identifier all the same: where values belong to fewer than four rows on
    average, the rows with a value that fewer than four have count as singled out.

    >>> people = pa.table({"age": [30, 30, 31, 31], "job": ["cook", "cook", "nurse", "judge"]})
    >>> try:
    ...     refuse_singled_out(people, Schema(["age"], other=["job"]), None)
    ... except ColumnError as error:
    ...     error.problem
    "the columns that are published unchanged single out 2 of 4 rows (50.0 %), and the limit is 0: 'job' alone 2 rows"
    """
    names = unchanged_columns(schema, data.column_names)
    if not names:
        return
    codes, limit = _codes(data, names, schema), as_fraction(schema.unchanged_limit)
    for counted in (None,) if units is None else (None, units):
        _refuse_counted(codes, counted, limit, data.num_rows, source)
        _refuse_near_unique(codes, counted, limit, data.num_rows, source)


def _refuse_counted(codes: Codes, units: Units | None, limit: Fraction, rows: int, source: str | None) -> None:
    """Raise if columns single out more rows, or units, than the limit allows."""
    total = rows if units is None else units.count
    nouns = ("row", "rows") if units is None else (units.noun, units.plural)
    unique = _unique([*codes.values()], units)
    if unique <= limit * total:
        return
    worst, explanation = _worst(codes, units, int(limit * total), nouns)
    raise _refusal(
        f"the columns that are published unchanged single out {share_text(unique, total, *nouns)}, and the limit is "
        f"{written(limit)}: {explanation}",
        worst,
        source,
    )


def _refuse_near_unique(codes: Codes, units: Units | None, limit: Fraction, rows: int, source: str | None) -> None:
    """Raise if columns, alone or together, have values that belong to very few rows, or units, each."""
    total = rows if units is None else units.count
    nouns = ("row", "rows") if units is None else (units.noun, units.plural)
    for names in [*((name,) for name in codes), tuple(codes)]:
        combination, unit = _combinations([codes[name] for name in names], units)
        counts = np.bincount(combination)
        few = len(np.unique(unit[counts[combination] < ROWS_PER_VALUE]))
        if is_few_each(len(counts), len(combination)) and few > limit * total:
            values = "values" if len(names) == 1 else "combinations of values"
            raise _refusal(
                f"{' + '.join(map(repr, names))}, published unchanged: {len(counts):,} {values} belong to fewer than "
                f"{ROWS_PER_VALUE} {nouns[1]} each on average, as those of an identifier do. "
                f"{share_text(few, total, *nouns)} have one that fewer than {ROWS_PER_VALUE} have, and the limit is "
                f"{written(limit)}",
                names,
                source,
            )


def _refusal(problem: str, names: Sequence[str], source: str | None) -> ColumnError:
    column = "the column" if len(names) == 1 else "one of these columns"
    return ColumnError(
        problem,
        remedy=f'Leave {column} out (role "identifier"), make it a quasi-identifier, which is recoded, or sensitive with a '
        "requirement; or raise unchanged_limit (in a config output.unchanged_limit) on purpose.",
        file=source,
        column=names[0],
        value=list(names),
    )


def _codes(data: pa.Table, names: Sequence[str], schema: Schema) -> Codes:
    """Return each column as numbers that are equal where the texts of the published cells in a CSV are."""
    texts = schema.missing.texts(None)
    ranked = {name: ranks_of(missing_as_null(data.column(name), texts), name) for name in names}
    return {name: ranks.as_text[ranks.of_row] for name, ranks in ranked.items()}


def _unique(codes: Sequence[NDArray[np.int32]], units: Units | None = None) -> int:
    """Return the number of rows, or units, that have a combination of codes that no other row, or unit, has."""
    domains = [int(column.max()) + 1 for column in codes]
    if units is None:
        return int((combination_counts(codes, domains)[1] == 1).sum())
    combination, unit = _combinations(codes, units)
    return len(np.unique(unit[np.bincount(combination)[combination] == 1]))


def _combinations(codes: Sequence[NDArray[np.int32]], units: Units | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the combination of codes of each row, numbered, and its number; with units, each pair of both once."""
    combination = combination_ranks(codes, [int(column.max()) + 1 for column in codes])
    if units is None:
        return combination, np.arange(len(combination))
    distinct = np.unique(np.stack([combination, units.of_row]), axis=1)
    return distinct[0], distinct[1]


def _worst(codes: Codes, units: Units | None, allowed: int, nouns: tuple[str, str]) -> tuple[tuple[str, ...], str]:
    """Return the columns that single out most, and how many in words.

    They are the columns that exceed the limit alone, worst first. If none does, columns are combined, each time with the
    one that singles out most, until the limit is exceeded; then those that are not needed for that are left out.
    """

    def unique(*names: str) -> int:
        return _unique([codes[name] for name in names], units)

    alone = {name: unique(name) for name in codes}
    beyond = sorted((name for name in codes if alone[name] > allowed), key=lambda name: -alone[name])
    if beyond:
        shown = [f"{name!r} alone {count_of(alone[name], *nouns)}" for name in beyond[:_NAMED]]
        more = len(beyond) - len(shown)
        return tuple(beyond), ", ".join(shown) + (f", and {count_of(more, 'more column')} exceed it alone" if more else "")
    chosen: list[str] = [max(alone, key=lambda name: alone[name])]
    while unique(*chosen) <= allowed:
        rest = [name for name in codes if name not in chosen]
        chosen.append(max(rest, key=lambda name: unique(*chosen, name)))
    for name in chosen[:-1]:
        fewer = [other for other in chosen if other != name]
        if unique(*fewer) > allowed:
            chosen = fewer
    return tuple(chosen), f"{' + '.join(map(repr, chosen))} together {count_of(unique(*chosen), *nouns)}"
