"""Full-domain search on the Adult table: known optima, and counts that need 64 bits."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato as sf

COLUMNS = [
    "sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class",
]  # fmt: skip


def adult(folder, sensitive=(), times=1):
    schema = sf.Schema(
        [name for name in COLUMNS if name not in sensitive],
        sensitive,
        hierarchies={name: folder / "adult" / "hierarchies" / f"{name}.csv" for name in COLUMNS},
    )
    table = sf.read_table(folder / "adult" / "adult_30162.csv", schema, delimiter=";")
    return sf.Table(pa.concat_tables([table.data] * times), schema, untyped=True)


@pytest.mark.data
@pytest.mark.parametrize(
    ("k", "limit", "levels", "score", "admissible"),
    [
        (5, "0.04", [1, 0, 1, 1, 3, 2, 2, 0, 1], 255559.8546, 4452),
        (5, "0", [1, 2, 1, 1, 3, 2, 2, 1, 1], 407289.5389, 87),
        (100, "0.04", [1, 1, 1, 1, 3, 2, 2, 1, 1], 379417.3461, 474),
    ],
)
def test_known_optima(real_data, k, limit, levels, score, admissible):
    found = sf.full_domain(adult(real_data), None, sf.KAnonymity(k), loss="entropy", suppress=limit, count=True)
    assert list(found.levels.values()) == levels
    assert found.score == pytest.approx(score, abs=1e-4)
    assert (found.transformations, found.admissible, found.proven) == (12_960, admissible, True)


@pytest.mark.data
@pytest.mark.parametrize("sensitive", ["salary-class", "occupation"])
def test_counts_of_many_rows_do_not_overflow(real_data, sensitive):
    """At 600,000 rows counts times counts leave 32 bits; with t = 0.1 nothing but the table as one class will do."""
    table = adult(real_data, [sensitive], times=20)
    principles = [sf.KAnonymity(100), sf.TCloseness("0.1", "hierarchical")]
    found = sf.full_domain(table, None, principles, count=True)
    assert (found.admissible, found.suppressed) == (1, 0)
    assert all(level == height for level, height in zip(found.levels.values(), _heights(table), strict=True))


def _heights(table):
    return [table.column(name).hierarchy.height for name in table.schema.quasi_identifiers]
