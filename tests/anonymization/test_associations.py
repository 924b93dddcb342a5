"""Associations: their attenuation by definition, and a search that preserves them."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from benchmarks.datasets.hospital import DISPOSITIONS, hospital
from fixed_groups import Fixed
from naive_limits import covered
from sfumato.anonymization.methods.association_lines import association_lines
from sfumato.anonymization.recoding import domains_of
from small_tables import TREE

QUASI = ["age", "sex", "race", "disposition"]
PAIR = [["readmitted", "disposition"]]


def naive_v(joint):
    """The mean square contingency of a dict of weights, and what Cramér's V divides it by."""
    total = sum(joint.values())
    rows, columns = Counter(), Counter()
    for (a, b), weight in joint.items():
        rows[a] += weight
        columns[b] += weight
    square = sum(
        (joint.get((a, b), 0) - r * c / total) ** 2 / (r * c / total) for a, r in rows.items() for b, c in columns.items()
    )
    return square / total, min(len(rows), len(columns)) - 1


@given(
    st.lists(
        st.tuples(st.sampled_from([*"abcde", None]), st.integers(0, 4), st.sampled_from("xyz"), st.integers(0, 2)),
        min_size=2,
        max_size=20,
    ),
    st.sampled_from(["set", "ancestor"]),
)
def test_strengths_are_those_of_the_definition(rows, recoding):
    table = pa.table(
        {
            "q": pa.array([row[0] for row in rows], pa.string()),
            "n": [row[1] for row in rows],
            "s": [row[2] for row in rows],
        }
    )
    tree = sf.Hierarchy.from_rows(TREE.values())
    schema = sf.Schema(["q", "n"], ["s"], recodings={"q": recoding}, hierarchies={"q": tree}, preserve=[["q", "n"]])
    release = sf.anonymize(
        table, schema, sf.KAnonymity(1), method=Fixed(np.unique([row[3] for row in rows], return_inverse=True)[1])
    )
    found = {(one.column, one.outcome): one for one in release.utility.associations}
    published = release.frame.to_pylist()
    values = {name: {row[j] for row in rows} for j, name in enumerate(("q", "n"))}
    leaves = {"q": set(TREE) | ({None} if None in values["q"] else set()), "n": values["n"]}

    def inside(row, name):
        whole = leaves[name] if name == "q" and recoding == "ancestor" else values[name]
        return covered(row[name], whole, TREE if name == "q" else None)

    for (column, outcome), true in (
        (("q", "s"), Counter((row[0], row[2]) for row in rows)),
        (("n", "s"), Counter((row[1], row[2]) for row in rows)),
        (("q", "n"), Counter((row[0], row[1]) for row in rows)),
    ):
        estimated = Counter()
        for row in published:
            cells = inside(row, column)
            others = inside(row, outcome) if outcome != "s" else {row["s"]}
            for a in cells:
                for b in others:
                    estimated[a, b] += 1 / len(cells) / len(others)
        square, least = naive_v(true)
        after, _ = naive_v(estimated)
        one = found[column, outcome]
        assert one.original == pytest.approx(math.sqrt(max(0, square) / least) if least else 0, abs=1e-9)
        assert one.released == pytest.approx(math.sqrt(max(0, after) / least) if least else 0, abs=1e-7)


def test_numbers_are_measured_by_their_means():
    # 20 earn 1 or 3, 30 earn 3 or 5: half of the variance, 1 of 2, is between the ages; one group of both shows none of it
    table = pa.table({"age": [20, 20, 30, 30] * 10, "pay": [1, 3, 3, 5] * 10})
    (pay,) = sf.anonymize(table, sf.Schema(["age"], ["pay"]), sf.KAnonymity(40)).utility.associations
    assert (pay.original, pay.released) == (pytest.approx(math.sqrt(0.5)), pytest.approx(0, abs=1e-9))
    (pay,) = sf.anonymize(table, sf.Schema(["age"], ["pay"]), sf.KAnonymity(20)).utility.associations
    assert pay.attenuation == pytest.approx(0)


@pytest.mark.parametrize(("method", "most"), [("glaze", 0.5), ("mondrian", 0.8)])  # mondrian cuts at medians only
def test_preserve_keeps_the_deadly_disposition_apart(method, most):
    table = hospital(2000)
    required = [sf.KAnonymity(10), sf.TCloseness("0.5", on="readmitted")]
    plain, kept = (
        sf.anonymize(table, sf.Schema(QUASI, ["readmitted", "diagnosis"], preserve=pairs), required, method=method)
        for pairs in ((), PAIR)
    )
    assert kept.audit.holds

    def expired(release):
        """The rate of readmission of the dead, as a reader estimates it."""
        weight = again = 0.0
        for row in release.frame.to_pylist():
            inside = covered(row["disposition"], DISPOSITIONS)
            if "expired" in inside:
                weight += 1 / len(inside)
                again += (row["readmitted"] != "NO") / len(inside)
        return again / weight

    before, after = (
        next(one for one in release.utility.associations if (one.column, one.outcome) == ("disposition", "readmitted"))
        for release in (plain, kept)
    )
    assert before.original == after.original
    assert after.attenuation < most * before.attenuation
    assert expired(kept) < most * expired(plain)
    assert kept.loss < 1.2 * plain.loss


def test_the_lattice_pays_for_mixed_outcomes():
    # 20 rows of each combination: q as X costs 1/2 of a column and mixes the outcomes, n as * costs a whole column
    rows = {"q": ["a", "b"] * 40, "n": list("ppqq") * 20, "s": ["no", "yes"] * 40}
    tree = sf.Hierarchy.from_rows([["a", "X", "*"], ["b", "X", "*"], ["c", "Y", "*"], ["d", "Y", "*"]])
    schemas = [sf.Schema(["q", "n"], ["s"], hierarchies={"q": tree}, preserve=pairs) for pairs in ((), [["s", "q"]])]
    plain, kept = (sf.anonymize(pa.table(rows), schema, sf.KAnonymity(40), method="lattice") for schema in schemas)
    assert (plain.levels, kept.levels) == ({"q": 1, "n": 0}, {"q": 0, "n": 1})
    assert plain.utility.associations[0].attenuation == pytest.approx(1)
    assert kept.utility.associations[0].attenuation == pytest.approx(0)


def test_the_outcome_of_a_few_rows_hardly_moves_a_line():
    """A value that one person has gets nearly the mean of the table, whatever the secret of that person is."""
    base = {"q": ["a"] * 500 + ["b"] * 500 + ["rare"], "s": ["no"] * 500 + ["no", "yes"] * 250}
    positions = []
    for secret in ("no", "yes"):
        table = sf.Table(pa.table({**base, "s": [*base["s"], secret]}), sf.Schema(["q"], ["s"], preserve=[["s", "q"]]))
        (line,) = association_lines(table, domains_of(table), 5)
        positions.append(line.outcome[2])
    assert abs(positions[0] - positions[1]) < 0.11
    assert 0.4 < np.mean(positions) < 0.6


def test_the_internal_report_shows_attenuation_and_the_public_one_does_not(tmp_path):
    release = sf.anonymize(hospital(400), sf.Schema(QUASI, ["readmitted", "diagnosis"]), sf.KAnonymity(5))
    key = tmp_path / "key.json"
    folder = release.save(tmp_path / "out", internal=tmp_path / "internal.html", key=key)
    assert "Attenuation" in (tmp_path / "internal.html").read_text(encoding="utf-8")
    for name in ("report.html", "release.json"):
        assert "ttenuation" not in (folder / name).read_text(encoding="utf-8")
    drawn = sf.report(folder, hospital(400), key=key)
    assert drawn == (tmp_path / "internal.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("pairs", "error", "message"),
    [
        ([["s"]], sf.errors.ParameterError, "not a pair"),
        ([["s", "s"]], sf.errors.ParameterError, "not a pair"),
        (["sq"], sf.errors.ParameterError, "not a pair"),
        ([["s", "z"]], sf.errors.ParameterError, "no quasi-identifier"),
        ([["id", "q"]], sf.errors.ColumnError, "not published"),
    ],
)
def test_invalid_pairs(pairs, error, message):
    with pytest.raises(error, match=message):
        sf.Schema(["q"], ["s", "z"], identifiers=["id"], preserve=pairs)


def test_a_set_cannot_be_preserved():
    table = pa.table({"q": [1, 2], "s": [["a"], ["b"]]})
    with pytest.raises(sf.errors.ColumnError, match="kind 'set'") as caught:
        sf.anonymize(table, sf.Schema(["q"], ["s"], preserve=[["s", "q"]]), sf.KAnonymity(2))
    assert caught.value.column == "s"
