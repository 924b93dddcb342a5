"""Utility against oracles written from the definitions, in exact rationals, over what a reader of a release sees."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.anonymization.recoding import recode
from sfumato.anonymization.utility import (
    Workload,
    average_class_size,
    certainty_penalty,
    class_sizes,
    column_losses,
    discernibility,
    group_losses,
    marginals,
    mean_loss,
    normalised_loss,
    query_errors,
    utility_of,
)  # fmt: skip
from sfumato.data.groups import Groups
from sfumato.data.hierarchy import Hierarchy
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import SfumatoError
from small_tables import ORDER, TREE

QUASI = ["age", "city", "tree", "grade"]
SENSITIVE = ["income", "job"]

rows_of_tables = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from([1, 2, 4, 9, 10, None]),
        st.sampled_from(["ab", "cd", "ef", None]),
        st.sampled_from([*TREE, None]),
        st.sampled_from([*ORDER, None]),
        st.sampled_from([5, 6, 70, None]),
        st.sampled_from(["x", "y", "z", None]),
    ),
    min_size=1,
    max_size=9,
)
some_tables = st.one_of(
    rows_of_tables,
    rows_of_tables.map(lambda rows: [(0, *row[1:]) for row in rows]),  # one group
    rows_of_tables.map(lambda rows: [(i, *row[1:]) for i, row in enumerate(rows)]),  # everyone alone
    rows_of_tables.map(lambda rows: [(row[0], None, *row[2:]) for row in rows]),  # a column of missing cells
)


def made(rows, tree=TREE):
    """The table and the release of rows (group, cells…)."""
    kinds = [pa.int64(), pa.string(), pa.string(), pa.string(), pa.int64(), pa.string()]
    names = [*QUASI, *SENSITIVE]
    data = pa.table({name: pa.array([row[i + 1] for row in rows], kinds[i]) for i, name in enumerate(names)})
    schema = Schema(
        QUASI,
        SENSITIVE,
        kinds={"age": "numeric", "income": "numeric"},
        orders={"grade": ORDER},
        hierarchies={"tree": Hierarchy.from_rows(tree.values())},
    )
    table = Table(data, schema)
    numbers = {group: i for i, group in enumerate(sorted({row[0] for row in rows}))}
    of_row = np.array([numbers[row[0]] for row in rows])
    return table, recode(table, Groups(of_row, len(numbers), len(rows)))


# the oracle: cells are lists of values that may stand behind them


def present(rows, name):
    return [row[[*QUASI, *SENSITIVE].index(name) + 1] for row in rows]


def domain(rows, name):
    if name == "tree":
        return list(TREE)
    if name == "grade":
        return ORDER
    return sorted(set(present(rows, name)) - {None})


def groups_of(rows):
    groups = defaultdict(list)
    for row in rows:
        groups[row[0]].append(row)
    return [groups[key] for key in sorted(groups)]


def covered(rows, group, name):
    """The values that may stand behind a group's cell."""
    values, all_values = set(present(group, name)), domain(rows, name)
    everything = [*all_values, None] if None in present(rows, name) else all_values
    if len(values) == 1:
        return list(values)
    if None in values:
        return everything
    if name == "city":
        return sorted(values)
    if name == "tree":
        for level in (1, 2):
            nodes = {TREE[value][level] for value in values}
            if len(nodes) == 1:
                # the root is published as *, as a cell with missing values is
                return everything if level == 2 else [leaf for leaf in TREE if TREE[leaf][1] in nodes]
    places = [all_values.index(value) for value in values]
    return all_values[min(places) : max(places) + 1]


def share(rows, group, name, steps=False):
    values, all_values = set(present(group, name)), domain(rows, name)
    if len(values) == 1:
        return Fraction(0)
    if None in values:
        return Fraction(1)
    if name == "age":
        return Fraction(max(values) - min(values), all_values[-1] - all_values[0])
    leaves = len([value for value in covered(rows, group, name) if value is not None])
    return Fraction(leaves - 1, len(all_values) - 1) if steps else Fraction(leaves, len(all_values))


@given(some_tables, st.integers(0, 3), st.integers(0, 4))
def test_loss(rows, suppressed, weight):
    _, recoding = made(rows)
    groups, n = groups_of(rows), len(rows) + suppressed

    def column(name, steps=False):
        return (sum(len(group) * share(rows, group, name, steps) for group in groups) + suppressed) / Fraction(n)

    ref = {name: column(name) for name in QUASI}
    assert column_losses(recoding, suppressed) == pytest.approx({name: float(loss) for name, loss in ref.items()})
    assert mean_loss(recoding, suppressed) == pytest.approx(float(sum(ref.values()) / 4))
    ref_ncp = (weight * ref["age"] + Fraction(1, 2) * ref["tree"] + ref["city"] + ref["grade"]) / (weight + Fraction(5, 2))
    assert certainty_penalty(recoding, {"age": weight, "tree": "0.5"}, suppressed) == pytest.approx(float(ref_ncp))
    assert certainty_penalty(recoding, suppressed=suppressed) == mean_loss(recoding, suppressed)
    ref_normalised = sum(column(name, steps=True) for name in QUASI) / 4
    assert normalised_loss(recoding, suppressed) == pytest.approx(float(ref_normalised))
    ref_groups = [float(sum(share(rows, group, name) for name in QUASI)) for group in groups]
    assert group_losses(recoding).tolist() == pytest.approx(ref_groups)


@given(some_tables, st.integers(0, 3), st.integers(1, 5))
def test_class_sizes(rows, suppressed, k):
    _, recoding = made(rows)
    sizes = [len(group) for group in groups_of(rows)]
    n = len(rows) + suppressed
    ref = sum(sum(1 for other in rows if other[0] == row[0]) for row in rows) + n * suppressed
    assert discernibility(recoding.groups, suppressed) == ref
    assert average_class_size(recoding.groups, k) == float(Fraction(len(rows), len(sizes) * k))
    assert class_sizes(recoding.groups) == Counter(sizes)
    assert list(class_sizes(recoding.groups)) == sorted(set(sizes))


def accepted_values(workload, query, rows):
    """Return, for each column of a query, the values that it accepts."""
    return {
        domain_.name: domain(rows, domain_.name)[workload.low[query, i] : workload.high[query, i]]
        for i, domain_ in enumerate(workload.domains)
        if workload.column_mask[query, i]
    }


@given(some_tables, st.data())
def test_queries(rows, data):
    table, recoding = made(rows)
    available = [sum(bool(domain(rows, name)) for name in names) for names in (QUASI, SENSITIVE)]
    qd = data.draw(st.integers(0, available[0]))
    qs = data.draw(st.integers(0 if qd else 1, max(available[1], 0 if qd else 1)))
    if qs > available[1]:
        return
    selectivity = data.draw(st.sampled_from(["0.001", "0.1", "1/3", "0.5", "1"]))
    workload = Workload.random(table, 6, qd, qs, selectivity, seed=data.draw(st.integers(0, 9)))
    errors = query_errors(recoding, workload)
    known, bounded = [], []
    for query in range(len(workload)):
        accepted = accepted_values(workload, query, rows)
        ref_raw, ref = 0, Fraction(0)
        for group in groups_of(rows):
            for row in group:
                cells = dict(zip([*QUASI, *SENSITIVE], row[1:], strict=True))
                ref_raw += all(cells[name] in values for name, values in accepted.items())
                chance = Fraction(1)
                for name, values in accepted.items():
                    cover = covered(rows, group, name) if name in QUASI else [cells[name]]
                    chance *= Fraction(len(set(cover) & set(values)), len(cover))
                ref += chance
        assert errors.raw[query] == ref_raw
        assert errors.estimate[query] == pytest.approx(float(ref))
        if ref_raw:
            known.append(abs(ref - ref_raw) / ref_raw)
            assert errors.relative[query] == pytest.approx(float(known[-1]))
        else:
            assert np.isnan(errors.relative[query])
        bounded.append(abs(ref - ref_raw) / max(ref_raw, Fraction(len(rows), 1000)))
    assert errors.zeros == len(workload) - len(known)
    assert errors.bounded_mean == pytest.approx(float(sum(bounded) / len(bounded)))
    off = math.fsum(abs(errors.estimate[query] - errors.raw[query]) for query in range(len(workload)))
    assert errors.pooled == (pytest.approx(off / sum(errors.raw)) if known else None)
    if not known:
        assert errors.mean is errors.median is errors.quantiles() is None
        return
    known.sort()
    assert errors.mean == pytest.approx(float(sum(known) / len(known)))
    middle = (known[(len(known) - 1) // 2] + known[len(known) // 2]) / 2
    assert errors.median == errors.quantiles([0.5])[0.5] == pytest.approx(float(middle))
    assert errors.quantiles([0, 1]) == pytest.approx({0: float(known[0]), 1: float(known[-1])})


@given(some_tables)
def test_marginals(rows):
    _, recoding = made(rows)
    assert [marginal.name for marginal in marginals(recoding)] == QUASI
    for marginal in marginals(recoding):
        places = [*domain(rows, marginal.name), None]
        ref_true = [Fraction(present(rows, marginal.name).count(value), len(rows)) for value in places]
        ref = dict.fromkeys(places, Fraction(0))
        for group in groups_of(rows):
            cover = covered(rows, group, marginal.name)
            for value in cover:
                ref[value] += Fraction(len(group), len(cover) * len(rows))
        assert sum(ref.values()) == 1
        assert marginal.true.tolist() == pytest.approx([float(x) for x in ref_true])
        assert marginal.estimated.tolist() == pytest.approx([float(ref[value]) for value in places])
        assert [x == 0 for x in marginal.estimated] == [ref[value] == 0 for value in places], "exactly 0, without rounding"
        distance = sum(abs(a - ref[value]) for a, value in zip(ref_true, places, strict=True)) / 2
        assert marginal.distance == pytest.approx(float(distance), abs=1e-12)
        shown = ["(missing)" if value is None else str(value) for value in places]
        has_missing = None in present(rows, marginal.name)
        assert marginal.table()["value"].to_pylist() == (shown if has_missing else shown[:-1])


@given(some_tables)
def test_groups_of_equal_rows_lose_nothing(rows):
    """Groups of equal rows lose nothing, and every answer is exact."""
    distinct = {row[1:]: i for i, row in enumerate(rows)}
    rows = [(distinct[row[1:]], *row[1:]) for row in rows]
    table, recoding = made(rows)
    utility = utility_of(table, recoding, queries=5)
    assert utility.loss.mean == utility.loss.normalised == utility.loss.group_mean == 0
    assert all(marginal.distance == 0 for marginal in utility.marginals)
    if utility.queries is not None:
        assert (utility.queries.raw == utility.queries.estimate).all()


@given(st.integers(1, 3), st.integers(0, 2), st.sampled_from(["0.0001", "0.05", "0.1", "0.25", "1"]), st.integers(0, 5))
def test_random_queries(qd, qs, selectivity, seed):
    rows = [(0, i % 85, f"{i % 7:02}", "a", "low", i % 50, f"{i % 17:02}") for i in range(200)]
    table, _ = made(rows)
    workload, again = (Workload.random(table, 20, qd, qs, selectivity, seed) for _ in range(2))
    assert (workload.low == again.low).all()
    assert (workload.high == again.high).all()
    assert (workload.column_mask == again.column_mask).all()
    assert (workload.column_mask[:, :4].sum(axis=1) == qd).all()
    assert (workload.column_mask[:, 4:].sum(axis=1) == qs).all()
    sizes = [85, 7, 5, 4, 50, 17]
    with localcontext() as context:
        context.prec = 50
        for column, size in enumerate(sizes):
            wanted = size * Decimal(selectivity) ** (1 / Decimal(qd + qs))
            low, high = (ends[workload.column_mask[:, column], column] for ends in (workload.low, workload.high))
            assert (low >= 0).all()
            assert (high <= size).all()
            assert all(length >= 1 and (length == 1 or abs(length - wanted) <= Decimal("0.5")) for length in (high - low))


def test_ranges_begin_anywhere():
    table, _ = made([(0, age, "ab", "a", "low", 5, "x") for age in (1, 2, 3, 4)])
    workload = Workload.random(table, 400, 1, 0, "0.5", seed=1)
    ages = workload.low[workload.column_mask[:, 0], 0]
    assert set(ages.tolist()) == {0, 1, 2}
    assert workload.column_mask.sum(axis=0).tolist()[4:] == [0, 0]
    assert all(count > 50 for count in workload.column_mask.sum(axis=0).tolist()[:4])


WORKED = [
    # group, age, city, tree, grade, income, job
    (0, 1, "ab", "a", "low", 5, "x"),
    (0, 4, "cd", "b", "mid", 6, "y"),
    (1, 10, "ef", "c", "low", 5, "x"),
    (1, 10, "ef", "e", "top", 70, None),
]


def test_worked_example():
    """By hand: ages [1, 4] of [1, 10], and 10; cities {ab; cd} of three, and ef; X of five leaves, and *; 2 and 4 grades."""
    table, recoding = made(WORKED)
    assert group_losses(recoding).tolist() == pytest.approx([1 / 3 + 2 / 3 + 2 / 5 + 1 / 2, 0 + 0 + 1 + 1])
    assert mean_loss(recoding) == pytest.approx((1.9 + 2) / 8)
    assert normalised_loss(recoding) == pytest.approx((1 / 3 + 1 / 2 + 1 / 4 + 1 / 3 + 0 + 0 + 1 + 1) / 8)
    assert mean_loss(recoding, suppressed=4) == pytest.approx(((1.9 + 2) / 8 + 1) / 2)
    queries = [
        {"age": (1, 4)},  # both places of the first cell: exact
        {"age": 1, "city": "ab"},  # 2 rows × 1/2 × 1/2, and there is one
        {"tree": ("d", "e"), "income": (5, 5)},  # one row of income 5 in the second group × 2/5, and there is none
        {"tree": "c", "job": "x"},  # one row × 1/5, and there is one; the row of a missing job is not within x
        {"grade": ("mid", "high")},  # 2 × 1/2 + 2 × 2/4, and there is one
    ]
    errors = query_errors(recoding, Workload.from_queries(table, queries), bound="0.5")
    assert errors.raw.tolist() == [2, 1, 0, 1, 1]
    assert errors.estimate.tolist() == pytest.approx([2, 0.5, 0.4, 0.2, 2])
    assert errors.zeros == 1
    assert errors.mean == pytest.approx((0 + 0.5 + 0.8 + 1) / 4)
    assert errors.median == pytest.approx((0.5 + 0.8) / 2)
    assert errors.bounded_mean == pytest.approx((0 + 0.5 + 0.4 / 0.5 + 0.8 + 1) / 5)
    figures = errors.table().to_pylist()
    assert figures[1]["query"] == "age in {1} and city in {ab}"
    assert figures[2]["query"] == "tree in {d; e} and income in {5}"
    assert figures[4]["query"] == "grade in [mid, high]"
    assert figures[2]["relative_error"] is None
    assert errors.to_dict()["selectivity"] is None


def test_a_star_covers_missing_values_but_a_named_root_does_not():
    rows = [(0, 1, "ab", "a", "low", 5, "x"), (0, 1, "ab", "c", "low", 5, "x"), (1, 1, "ab", None, "low", 5, "x")]
    starred = marginals(made(rows)[1])[2]
    assert starred.estimated.tolist() == pytest.approx([2 / 3 / 6] * 5 + [2 / 3 / 6 + 1 / 3])
    named = marginals(made(rows, {leaf: (*path[:2], "Any") for leaf, path in TREE.items()})[1])[2]
    assert named.estimated.tolist() == pytest.approx([2 / 3 / 5] * 5 + [1 / 3])


def test_all_cells_missing():
    rows = [(0, None, None, None, None, None, None), (0, None, None, None, None, None, None)]
    table, recoding = made(rows)
    utility = utility_of(table, recoding, queries=10)  # the tree and the grades have places that no row has
    assert utility.loss.mean == 0
    assert utility.queries.zeros == 10
    assert utility.queries.mean is None
    assert utility.queries.bounded_mean == 0
    assert "no row matches any of 10 queries" in repr(utility)
    assert json.loads(json.dumps(utility.to_dict(), allow_nan=False))["queries"]["mean"] is None


def test_no_quasi_identifiers():
    table = Table(pa.table({"s": [1, 2, 2]}), Schema(sensitive=["s"]))
    recoding = recode(table, Groups.of(table))
    utility = utility_of(table, recoding, suppressed=1, queries=20)
    assert utility.loss.mean == utility.loss.group_mean == utility.loss.normalised == 0
    assert utility.classes.discernibility == 9 + 4
    assert utility.queries.mean == 0
    nothing = Table(pa.table({"s": [1, 2, 2]}), Schema())
    assert utility_of(nothing, recode(nothing, Groups.of(nothing))).queries is None


def test_summary():
    table, recoding = made(WORKED)
    utility = utility_of(table, recoding, k=2, suppressed=4, queries=50, seed=3)
    figures = json.loads(json.dumps(utility.to_dict(), allow_nan=False))
    assert figures["rows"] == 4
    assert figures["suppressed"] == 4
    assert figures["loss"]["mean"] == mean_loss(recoding, 4)
    assert figures["classes"] == {"discernibility": 2 * 4 + 4 * 8, "mean": 2.0, "average": 1.0, "histogram": [[2, 2]]}
    assert figures["queries"]["queries"] == 50
    assert (figures["queries"]["qd"], figures["queries"]["qs"]) == (3, 2)
    assert figures["queries"]["sanity_bound"] == "0.004"
    assert [marginal["column"] for marginal in figures["marginals"]] == QUASI
    assert repr(utility).startswith("Utility of 4 rows in 2 groups, 4 suppressed\n")
    assert all(len(line) <= 125 for line in repr(utility).splitlines())
    assert utility_of(table, recoding, queries=0).queries is None


def test_invalid_parameters():
    table, recoding = made(WORKED)
    other, _ = made(WORKED[:3])
    calls = [
        (lambda: mean_loss(recoding, suppressed=-1), "suppressed"),
        (lambda: discernibility(recoding.groups, -1), "suppressed"),
        (lambda: average_class_size(recoding.groups, 0), "k = 0"),
        (lambda: certainty_penalty(recoding, {"job": 1}), "not a quasi-identifier"),
        (lambda: certainty_penalty(recoding, {"age": -1}), "negative"),
        (lambda: Workload.random(table, qd=5), "from 0 to 4"),
        (lambda: Workload.random(table, qs=3), "from 0 to 2"),
        (lambda: Workload.random(table, qd=0, qs=0), "without columns"),
        (lambda: Workload.random(table, queries=0), "without queries"),
        (lambda: Workload.random(table, selectivity=0), "selectivity"),
        (lambda: Workload.random(table, selectivity="1.5"), "selectivity"),
        (lambda: Workload.from_queries(table, []), "without queries"),
        (lambda: Workload.from_queries(table, [{"agee": 1}]), "Did you mean 'age'"),
        (lambda: Workload.from_queries(table, [{"age": 3}]), "not a value"),
        (lambda: Workload.from_queries(table, [{"age": (4, 1)}]), "first value first"),
        (lambda: query_errors(recoding, Workload.random(table), bound=0), "bound"),
        (lambda: query_errors(recoding, Workload.random(other)), "another table"),
        (lambda: utility_of(other, recoding), "3"),
    ]
    for call, words in calls:
        with pytest.raises(SfumatoError, match=words):
            call()


def test_weights_of_zero():
    _, recoding = made(WORKED)
    assert certainty_penalty(recoding, dict.fromkeys(QUASI, 0)) == 0


def test_places_that_no_cell_covers_have_no_share():
    """Overlapping stretches of 3, 5, 7, … places: after the last of them the estimate is exactly 0."""
    order = [f"g{i:02}" for i in range(30)]
    ends = [(start, start + length - 1) for start, length in ((0, 3), (1, 5), (2, 7), (4, 9), (5, 11), (7, 13))]
    grades = [order[place] for pair in ends for place in pair]
    table = Table(pa.table({"grade": grades}), Schema(["grade"], orders={"grade": order}))
    (marginal,) = marginals(recode(table, Groups(np.arange(12) // 2, 6, 12)))
    assert marginal.estimated[20:].tolist() == [0] * 11
    assert marginal.estimated[19] == pytest.approx(2 / 13 / 12)
