"""A synthetic table with many quasi-identifiers, some of which have very many distinct values.

A row has three hidden traits. Every column follows one of them with some noise, so that columns are associated as in real
microdata. There are flags, categories, numbers with a hierarchy of intervals and, if requested, numbers and codes from a
range of 100,000 or another number of values. Everything depends on the seed only.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.data.hierarchy import Intervals
from sfumato.data.hierarchy_builders import Prefix
from sfumato.data.schema import Schema
from sfumato.data.table import Table

DISTINCT_VALUES = 100_000
"""The usual range of a column with many distinct values."""

_TRAITS = 3
_CATEGORIES = (2, 2, 2, 3, 5, 9)
"""The numbers of values of the ordinary columns, in turn."""


def wide_table(rows: int, columns: int, long_columns: int, seed: int = 0, distinct: int = DISTINCT_VALUES) -> Table:
    """Return a table with `columns` quasi-identifiers, `long_columns` of them with up to `distinct` distinct values.

    A long column is a number with intervals of 1,000 and 10,000, or a code of five or more digits with prefixes, in turn. An
    ordinary column has no hierarchy, apart from every tenth, a number up to 99 with intervals of 5 and 25. The sensitive
    column has ten values.
    """
    random = np.random.default_rng(seed)
    traits = random.random((_TRAITS, rows))
    data: dict[str, pa.Array] = {}
    hierarchies: dict[str, Intervals | Prefix] = {}
    for j in range(columns):
        # the noise moves a place by a tenth of the range, reflected at the ends
        place = np.abs(traits[j % _TRAITS] + random.normal(0, 0.1, rows))
        place = np.clip(np.where(place > 1, 2 - place, place), 0, 1 - 1e-9)
        if j < long_columns:
            number = (place * distinct).astype(np.int64)
            if j % 2 == 0:
                data[f"number{j}"], hierarchies[f"number{j}"] = pa.array(number), Intervals((1000, 10_000))
            else:
                codes = np.char.zfill(number.astype(str), max(5, len(str(distinct - 1))))
                data[f"code{j}"], hierarchies[f"code{j}"] = pa.array(codes), Prefix((3, 1))
        elif j % 10 == 9:
            data[f"age{j}"], hierarchies[f"age{j}"] = pa.array((place * 100).astype(np.int64)), Intervals((5, 25))
        else:
            values = _CATEGORIES[j % len(_CATEGORIES)]
            # skewed: most rows have one of the first values
            data[f"kind{j}"] = pa.array([f"v{v}" for v in range(values)]).take(
                pa.array((place**2 * values).astype(np.int64))
            )
    data["illness"] = pa.array([f"i{v}" for v in range(10)]).take(pa.array(random.integers(0, 10, rows)))
    names = [name for name in data if name != "illness"]
    return Table(pa.table(data), Schema(names, ["illness"], hierarchies=hierarchies))
