"""Public grids: nested intervals whose ends are round, and every one of which has three possible parts or more."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.public_grids import fewest_parts, public_grid, with_public_grids

decimals = st.decimals(-(10**6), 10**6, places=2, allow_nan=False, allow_infinity=False).map(str)
wholes = st.integers(-(10**9), 10**9).map(str)


def column_of(texts, kind="numeric"):
    return sf.Table(pa.table({"x": texts}), sf.Schema(["x"], kinds={"x": kind})).column("x")


@given(st.one_of(st.lists(decimals, min_size=1, max_size=8), st.lists(wholes, min_size=1, max_size=8)))
def test_grids_of_numbers(texts):
    column, numbers = column_of(texts), [Fraction(text) for text in texts]
    grid = public_grid(column)
    widths, origin = [Fraction(width) for width in grid.widths], Fraction(grid.origin)
    # the narrowest width is round, and so is every end
    digits = str(widths[0].numerator * 10**9 // widths[0].denominator).rstrip("0")
    assert digits in ("1", "2", "5")
    assert (origin / widths[0]).denominator == 1
    # whatever occurs, no node has fewer than four parts
    assert widths[0] >= 5 * column.numbers.unit
    assert [b / a for a, b in pairwise(widths)] == [4, 5] * ((len(widths) - 1) // 2) + [4] * ((len(widths) - 1) % 2)
    assert fewest_parts(grid, column) >= 4
    # one interval contains all numbers, and no narrower level has only one that does
    assert origin <= min(numbers) < origin + widths[0]
    assert max(numbers) < origin + widths[-1]
    assert len(widths) == 1 or max(numbers) >= origin + widths[-2]
    tree = grid.build([column.label(code) for code in range(column.size)], "x")
    assert len(tree.labels[-2]) == 1


@given(st.fractions(Fraction(1, 1000), 10**6))
def test_the_narrowest_interval_is_the_roundest_that_is_wide_enough(width):
    low = public_grid(column_of(["0", str(int(width * 20))]))
    wanted = max(Fraction(int(width * 20), 20), Fraction(5))
    every = sorted(Fraction(factor) * Fraction(10) ** power for factor in (1, 2, 5) for power in range(-4, 8))
    assert Fraction(low.widths[0]) == next(one for one in every if one >= wanted)


def test_which_columns_get_a_grid():
    own = sf.Intervals((10, 30))
    frame = pa.table(
        {
            "age": [20, 31],
            "pay": [1, 2],
            "day": ["2020-01-01", "2021-05-01"],
            "sex": ["f", "m"],
            "size": ["S", "L"],
            "ill": ["a", "b"],
        }
    )
    schema = sf.Schema(
        ["age", "pay", "day", "sex", "size"],
        ["ill"],
        kinds={"day": "date"},
        hierarchies={"pay": own},
        recodings={"size": "set"},
        orders={"size": ("S", "L")},
    )
    found = with_public_grids(sf.Table(frame, schema)).schema
    assert found.hierarchies.keys() == {"age", "pay", "day"}
    assert found.hierarchies["pay"] == own
    assert found.recodings == {"age": "ancestor", "pay": "ancestor", "day": "ancestor", "size": "set"}
    assert with_public_grids(sf.Table(frame, found)).schema == found
    assert fewest_parts(own, sf.Table(frame, schema).column("pay")) == 3
    assert fewest_parts(sf.Intervals((5, 10)), sf.Table(frame, schema).column("pay")) == 2
    assert fewest_parts(sf.data.Flat(), sf.Table(frame, schema).column("sex")) == 0


@pytest.mark.parametrize(
    "changes", [{"recodings": {"size": "interval"}, "kinds": {"size": "numeric"}}, {"orders": {"size": ("1", "2")}}]
)
def test_intervals_that_no_grid_replaces(changes):
    table = sf.Table(pa.table({"size": ["1", "2"]}), sf.Schema(["size"], **changes))
    with pytest.raises(sf.errors.ColumnError, match="publishes no interval that ends at values of rows"):
        with_public_grids(table)
