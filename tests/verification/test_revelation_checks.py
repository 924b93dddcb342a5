"""Values that are left out because they cannot narrow a quasi-identifier are those of which nothing is possible."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.table import Table
from sfumato.releases.models import FORMAT
from sfumato.verification.revelation_checks import _Narrowing
from sfumato.verification.row_facts import LocalComparison, Pairs

SCHEMA = sf.Schema(["age", "town"], ["band"], kinds={"age": "numeric", "town": "categorical", "band": "categorical"})


def narrowing(ages, towns, bands, name):
    data = pa.table(
        {"age": pa.array(ages, pa.int64()), "town": pa.array(towns, pa.string()), "band": pa.array(bands, pa.string())}
    )
    published = data.set_column(0, "age", data["age"].cast(pa.string()))
    compared = LocalComparison(published, Table(data, SCHEMA), ["band"], SCHEMA, FORMAT)
    return _Narrowing(compared, name, "interval" if name == "age" else "set"), compared


def possible_entries(found, each):
    """The entries of which something is possible, found one by one."""
    places = zip(each.starts.tolist(), each.ends.tolist(), strict=True)
    slices = [slice(start, end) for start, end in places]
    return [
        entry
        for entry, here in enumerate(slices)
        if found.possible(dict(zip(each.others[here].tolist(), each.rows[here].tolist(), strict=True)))
    ]


@settings(max_examples=60)
@given(
    st.integers(20, 900),
    st.integers(0, 999),
    st.sampled_from([2, 5, 30, 60]),
    st.sampled_from([0, 0.005, 0.02]),
    st.sampled_from([0, 0.01, 0.3]),
    st.sampled_from(["age", "town"]),
)
def test_nothing_is_possible_with_a_value_that_is_left_out(rows, seed, width, errors, missing, name):
    random = np.random.default_rng(seed)
    age = random.integers(0, 90, rows)
    band = np.where(random.random(rows) < errors, random.integers(0, 90, rows), age) // width
    gone = (random.random(rows) < missing).tolist()
    ages = [None if absent else one for absent, one in zip(gone, age.tolist(), strict=True)]
    towns = [None if absent else f"t{one // 20}" for absent, one in zip(gone, age.tolist(), strict=True)]
    found, compared = narrowing(ages, towns, [str(one) for one in band], name)
    each = compared.together_original("band", name, 0)
    kept = found.may_narrow(each)
    assert len(kept) == len(each.starts)
    assert set(possible_entries(found, each)) <= set(np.flatnonzero(kept).tolist())


def test_a_value_that_determines_the_age_is_kept_and_one_of_all_ages_is_not():
    ages = [*range(30, 40), *range(50, 60)] * 20
    bands = ["young" if age < 40 else "old" if number < 300 else "any" for number, age in enumerate(ages)]
    found, compared = narrowing(ages, ["t"] * 400, bands, "age")
    each = compared.together_original("band", "age", 0)
    # "young" has ages from 30 to 39; "old" and "any" share those from 50 to 59
    assert found.may_narrow(each).all() and len(possible_entries(found, each)) == 3
    ages, bands = [*range(30, 60)] * 20, ["any"] * 600
    found, compared = narrowing(ages, ["t"] * 600, bands, "age")
    assert found.may_narrow(compared.together_original("band", "age", 0)).tolist() == [False]


@pytest.mark.parametrize(
    ("occurring", "expected"),
    [
        ({"a": 495, "b": 495, "c": 10}, "ab"),  # 1 % of the rows are exceptions
        ({"a": 494, "b": 495, "c": 11}, "abc"),  # more are not
        ({"a": 988, "c": 6, "d": 6}, "acd"),  # nor are two values that are rare, and together are not
        ({"a": 990, "c": 5, "d": 5}, "a"),
    ],
)
def test_values_of_one_row_in_a_hundred_are_exceptions(occurring, expected):
    towns = [town for town, count in occurring.items() for _ in range(count)]
    bands = ["north"] * len(towns) + ["south"] * 4000
    found, compared = narrowing([30] * len(bands), towns + ["e"] * 4000, bands, "town")
    codes = {label: code for code, label in enumerate("".join(sorted({*towns, "e"})))}
    assert [compared.original.column("town").label(codes[town]) for town in expected] == list(expected)
    assert sorted(found.possible({codes[town]: count for town, count in occurring.items()})) == [codes[t] for t in expected]


@pytest.mark.parametrize(
    ("occurring", "expected"),
    [
        ({20: 5, 30: 490, 32: 500, 50: 5}, (30, 31, 32)),  # half a percent at each end
        ({20: 6, 30: 489, 32: 500, 50: 5}, (20, 30, 31, 32)),  # more at the lower one
        ({20: 5, 30: 489, 32: 500, 50: 6}, (30, 31, 32, 50)),
        ({20: 3, 21: 3, 30: 494, 32: 500}, (21, 30, 31, 32)),  # the second is no exception any more
    ],
)
def test_half_a_percent_of_the_rows_at_either_end_are_exceptions(occurring, expected):
    """All values between two that are possible are possible, also those that do not occur."""
    ages = [age for age, count in occurring.items() for _ in range(count)]
    bands = ["young"] * len(ages) + ["old"] * 4001
    ages += [80] * 4000 + [31]
    found, _ = narrowing(ages, ["t"] * len(ages), bands, "age")
    codes = {age: code for code, age in enumerate(sorted(set(ages)))}
    assert found.possible({codes[age]: count for age, count in occurring.items()}) == [codes[age] for age in expected]


def test_no_pairs_are_no_values():
    found, _ = narrowing([30, 31], ["t", "t"], ["a", "b"], "age")
    none = np.zeros(0, np.int64)
    assert found.may_narrow(Pairs(none, none, none)).tolist() == []
