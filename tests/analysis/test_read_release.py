"""What an analyst reads from a release, and what the estimates are worth."""

from __future__ import annotations

import os
from datetime import date

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from benchmarks.datasets.analyst_cases import CASES
from benchmarks.datasets.hospital import hospital, hospital_schema
from benchmarks.experiments.analysis_coverage import answers, released

THOROUGH = os.environ.get("SFUMATO_PROFILE") == "thorough"
MONTHS = ["jan", "feb", "mar", "apr"]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Two groups, so that every cell is known: ages 20 to 30 and 50, towns {Rome; Ulm} and missing."""
    people = pa.table(
        {
            "age": [20, 25, 30, 50, 50, 50],
            "town": ["Ulm", "Rome", "Rome", None, None, None],
            "seen": [date(2020, 1, day) for day in (1, 5, 9)] + [date(2020, 3, 1)] * 3,
            "month": ["jan", "mar", "feb", "apr", "apr", "apr"],
            "income": [1.5, None, 2.5, 3, 4, 5],
            "ill": ["flu", "gout", "flu", "flu", None, "gout"],
        }
    )  # fmt: skip
    schema = sf.Schema(["age", "town", "seen", "month"], ["income", "ill"], orders={"month": MONTHS})
    folder = tmp_path_factory.mktemp("small")
    release = sf.anonymize(people, schema, sf.KAnonymity(3), method="mondrian")
    return {name: sf.read_release(release.save(folder / name, format=name)) for name in ("csv", "parquet")}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_frames_have_values_where_exact_and_ends_where_not(small, kind):
    table = small[kind]
    rows = sorted(table.to_arrow().to_pylist(), key=lambda row: (row["age_lo"], row["income"] or 0))
    assert [row["age"] for row in rows] == [None] * 3 + [50] * 3
    assert [(row["age_lo"], row["age_hi"], row["age_mid"]) for row in rows] == [(20, 30, 25)] * 3 + [(50, 50, 50)] * 3
    assert [row["town"] for row in rows] == ["{Rome; Ulm}"] * 3 + [None] * 3
    assert [row["income"] for row in rows] == [None, 1.5, 2.5, 3, 4, 5]
    assert [row["seen_lo"] for row in rows] == [date(2020, 1, 1)] * 3 + [date(2020, 3, 1)] * 3
    assert [row["seen_mid"] for row in rows] == [date(2020, 1, 5)] * 3 + [date(2020, 3, 1)] * 3
    assert table.to_arrow("text").column("age").to_pylist().count("[20, 30]") == 3
    assert table.members("town") == {"{Rome; Ulm}": ("Rome", "Ulm")}
    assert table.members("month") == {"[jan, mar]": ("jan", "feb", "mar")}
    assert table.to_pandas()["income"].dtype == np.float64
    assert table.to_polars().columns == table.to_arrow().column_names


def test_exact_questions_have_exact_answers(small):
    table = small["csv"]
    rate = table.rate("ill", "flu", by="ill")
    assert [(row.keys["ill"], row.estimate, row.low, row.high) for row in rate] == [
        ("flu", 1, 1, 1), ("gout", 0, 0, 0), (None, 0, 0, 0),
    ]  # fmt: skip
    (mean,) = table.mean("income")
    assert mean.estimate == mean.low == mean.high == pytest.approx((1.5 + 2.5 + 3 + 4 + 5) / 5)
    assert table.count({"age": (0, 40)})[()].estimate == 3
    assert table.count({"seen": ("2020-02-01", None)})[()].estimate == 3
    assert table.count({"ill": None})[()].estimate == 1


def test_imputations_are_possible_and_complete(small):
    """Every value is covered by its cell, every member of a set occurs, and both ends of every range do."""
    table = small["csv"]
    group = np.array(table.to_arrow().column("group").to_pylist())
    low = table.to_arrow().column("age_lo").to_pylist()
    inside = np.isin(group, [g for g, at in zip(group, low, strict=True) if at == 20])
    frames = list(table.imputations(["age", "town", "month", "seen", "ill"], m=8, seed=3))
    for frame in frames:
        ages, towns = np.array(frame.column("age").to_pylist()), np.array(frame.column("town").to_pylist())
        assert {20, 30} <= set(ages[inside]) and ages[inside].min() == 20 and ages[inside].max() == 30
        assert set(towns[inside]) == {"Rome", "Ulm"} and set(towns[~inside]) == {None}
        assert {"jan", "mar"} <= set(np.array(frame.column("month").to_pylist())[inside])
        assert set(np.array(frame.column("seen").to_pylist())[~inside]) == {date(2020, 3, 1)}
    again = list(table.imputations(["age", "town", "month", "seen", "ill"], m=8, seed=3))
    assert all(one.equals(other) for one, other in zip(frames, again, strict=True))


def test_weights_of_a_row_sum_to_one(small):
    table = small["csv"]
    frame = table.weighted_frame(["town", "age", "ill"]).to_pandas()
    assert np.allclose(frame.groupby("row")["weight"].sum(), 1)
    assert set(frame["row"]) == set(range(6))
    assert sum(table.weights("town", given="ill")["{Rome; Ulm}"].values()) == pytest.approx(1)


def test_combining_follows_rubin():
    """A textbook case: within 0.04, between 0.04, m = 3, so the total is 0.04 + 4/3 · 0.04."""
    result = sf.combine([1.0, 1.2, 0.8], [0.04, 0.05, 0.03])
    assert result.variance == pytest.approx(0.04 + 4 / 3 * 0.04)
    assert result.freedom == pytest.approx(2 * (1 + 0.04 / (4 / 3 * 0.04)) ** 2)
    scipy = pytest.importorskip("scipy.stats")
    reach = scipy.t.ppf(0.975, result.freedom) * result.variance**0.5
    assert (result.low, result.high) == (pytest.approx(1 - reach), pytest.approx(1 + reach))


@pytest.mark.parametrize(
    ("ask", "problem"),
    [
        (lambda t: t.rate("il", "flu"), "no such column"),
        (lambda t: t.rate("ill", "plague"), "plague"),
        (lambda t: t.mean("ill"), "numbers"),
        (lambda t: t.count(by="income", bands={"income": ["x"]}), "invalid"),
        (lambda t: t.rate("ill", "flu", level=1), "level"),
        (lambda t: t.rate("ill", "flu", draws=1), "draws"),
        (lambda t: t.rate("ill", "flu", target="world"), "target"),
        (lambda t: t.odds_ratio("ill", "flu", by="town", reference="Oslo"), "Oslo"),
        (lambda t: list(t.imputations("ill", library="excel")), "library"),
        (lambda t: t.to_arrow("codes"), "cells"),
        (lambda t: sf.combine([1.0], [1.0]), "two"),
    ],
)
def test_invalid_questions_are_errors(small, ask, problem):
    with pytest.raises(sf.SfumatoError, match=problem):
        ask(small["csv"])


@pytest.mark.long
@pytest.mark.parametrize(("case", "method"), [(CASES[0], "mondrian"), (CASES[1], "glaze")], ids=["usual", "strong"])
def test_intervals_cover_the_figures_of_the_original(case, method):
    """Patients with several encounters, dates and a deadly outcome: at least nine of ten figures are covered."""
    found, errors = [], np.zeros(2)
    for seed in range(100, 110 if THOROUGH else 101):
        rows = hospital(2000 if THOROUGH else 800, seed, **case.options)
        table, frame = released(rows, case, method, seed), rows.to_pandas()
        for question in case.questions if THOROUGH else [case.questions[i] for i in (0, 1, 3, 4, 9)]:
            some = list(answers(table, frame, question))
            found += [estimate.covers(truth) for estimate, truth in some]
            if question.what == "count" and not question.bands:
                errors += np.sum([[abs(one.estimate - truth), abs(one.naive - truth)] for one, truth in some], axis=0)
        assert table.rate("readmitted", "<30", by="disposition")["expired"].covers(0)
    assert len(found) >= 30
    assert np.mean(found) >= 0.9
    assert errors[0] < errors[1], "the naive counts are further off"


@pytest.mark.data
@pytest.mark.long
@pytest.mark.parametrize("case", [case for case in CASES if not case.options], ids=lambda case: case.name)
def test_intervals_cover_the_figures_of_real_tables(case):
    """The width was not chosen on these tables: a census with large groups, whose rows resemble each other."""
    found = []
    for seed in range(5 if THOROUGH else 1):
        rows = case.table(2000, seed)
        if rows is None:
            pytest.skip("needs SFUMATO_DATA")
        table = released(rows, case, "mondrian", seed)
        for question in case.questions if THOROUGH else case.questions[1:3]:
            found += [estimate.covers(truth) for estimate, truth in answers(table, rows.to_pandas(), question)]
    assert np.mean(found) >= 0.9


def test_rows_of_a_group_that_are_alike_widen_the_intervals(tmp_path):
    """Kish's formula: 1 + (m - 1) ρ, with ρ = 1 if all rows of a group have the same secret, and 0 if it is a coin."""
    groups = np.repeat(np.arange(40), 5)
    coin = np.random.default_rng(0).integers(0, 2, 200)
    for secret, low, high in ((groups % 2, 5, 5), (coin, 1, 1.8)):
        people = pa.table({"age": groups, "ill": np.where(secret, "flu", "gout")})
        release = sf.anonymize(people, sf.Schema(["age"], ["ill"]), sf.KAnonymity(5), method="mondrian")
        effect = sf.read_release(release.save(tmp_path / str(high))).design_effect
        assert low - 1e-9 <= effect <= high + 1e-9


def test_intervals_for_the_population_are_wider(tmp_path):
    rows = hospital(600, 1)
    release = sf.anonymize(rows, hospital_schema(), [sf.KAnonymity(5)], method="mondrian")
    table = sf.read_release(release.save(tmp_path / "r"))
    one = table.rate("readmitted", "<30", by="sex")
    other = table.rate("readmitted", "<30", by="sex", target="population")
    assert all(b.high - b.low > a.high - a.low for a, b in zip(one, other, strict=True))
