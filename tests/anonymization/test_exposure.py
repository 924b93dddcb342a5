"""What a release exposes beyond its principles: rows that unchanged columns single out, and uncovered attributes."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_exposure as naive
import sfumato as sf
from sfumato.anonymization._anonymize import anonymize
from sfumato.anonymization.unchanged_columns import refuse_singled_out
from sfumato.data.units import Units
from sfumato.releases.exposure_models import NEAR_CONSTANT
from sfumato.releases.model_base import as_json
from sfumato.verification._verify import verify
from standin import Chunks

CELLS = st.sampled_from(["a", "b", "c", "", None, "=1"])
ROWS = st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS), min_size=2, max_size=14)


def table(rows):
    columns = dict(zip(["job", "town", "ill", "drug"], map(list, zip(*rows, strict=True)), strict=True))
    return pa.table(
        {"age": list(range(len(rows))), **{name: pa.array(cells, pa.string()) for name, cells in columns.items()}}
    )


SCHEMA = sf.Schema(
    ["age"], ["ill", "drug"], other=["job", "town"], unchanged_limit=1, accepted={"drug": "not known to outsiders"}
)


def published(release):
    """The published rows, with null as an empty text, as a CSV has it."""
    return [{name: "" if cell is None else cell for name, cell in row.items()} for row in release.frame.to_pylist()]


def failing(verification):
    return [check.name for check in verification.checks if check.holds is False]


def state(folder, change):
    path = folder / "release.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(as_json(content), encoding="utf-8")


def figures(numbers, values):
    groups, rows = naive.constant(numbers, values)
    near_groups, near_rows = naive.constant(numbers, values, NEAR_CONSTANT)
    return {
        "constant_groups": groups,
        "constant_rows": rows,
        "near_constant_groups": near_groups,
        "near_constant_rows": near_rows,
    }


@given(ROWS, st.integers(2, 6))
def test_figures_are_those_of_the_definition(rows, size):
    release = anonymize(table(rows), SCHEMA, sf.KAnonymity(2), method=Chunks(size))
    seen = published(release)
    numbers = [row["group"] for row in seen]
    unchanged = release.unchanged
    assert unchanged.columns == ["job", "town"]
    assert unchanged.rows == naive.singled_out([(row["job"], row["town"]) for row in seen])
    assert unchanged.rows_in_groups == naive.singled_out([(row["group"], row["job"], row["town"]) for row in seen])
    assert unchanged.by_column == {name: naive.singled_out([row[name] for row in seen]) for name in ("job", "town")}
    (warning,), (accepted,) = release.warnings, release.coverage.claim.accepted
    assert warning.to_dict() == {
        "kind": "uncovered", "attribute": "ill", **figures(numbers, [row["ill"] for row in seen]),
    }  # fmt: skip
    assert accepted.to_dict() == {
        "attribute": "drug", "reason": "not known to outsiders", **figures(numbers, [row["drug"] for row in seen]),
    }  # fmt: skip
    assert release.coverage.claim.unique_rows == naive.singled_out([(row["ill"], row["drug"]) for row in seen])


@settings(max_examples=15)
@given(ROWS, st.sampled_from(["csv", "parquet"]))
def test_verification_counts_the_same(tmp_path_factory, rows, form):
    folder = tmp_path_factory.mktemp("exposure") / "out"
    anonymize(table(rows), SCHEMA, sf.KAnonymity(2), method=Chunks(3)).save(folder, format=form)
    found = verify(folder, table(rows), schema=SCHEMA)
    assert found, found
    assert {"warnings", "unchanged"} <= {check.name for check in found.checks if check.holds}


@given(ROWS, st.integers(0, 10))
def test_the_limit_is_exact(rows, tenths):
    limit = Fraction(tenths, 10)
    data = table(rows)
    unique = naive.singled_out([(row["job"] or "", row["town"] or "") for row in data.to_pylist()])
    schema = replace(SCHEMA, unchanged_limit=limit)
    if unique <= limit * len(rows):
        refuse_singled_out(data, schema, None)
        return
    with pytest.raises(sf.errors.ColumnError) as caught:
        refuse_singled_out(data, schema, None)
    named = caught.value.value
    # what is named exceeds the limit, and nothing smaller does: every column alone, or the pair
    alone = {name: naive.singled_out([row[name] or "" for row in data.to_pylist()]) for name in ("job", "town")}
    beyond = [name for name in alone if alone[name] > limit * len(rows)]
    assert sorted(named) == sorted(beyond or alone)
    assert caught.value.column == named[0]
    assert f"single out {unique} of {len(rows)} rows" in caught.value.problem


@given(ROWS, st.lists(st.integers(0, 3), min_size=14, max_size=14))
def test_people_are_singled_out_by_values_that_only_their_rows_have(rows, people):
    people = people[: len(rows)]
    data = table(rows)
    cells = [(row["job"] or "", row["town"] or "") for row in data.to_pylist()]
    rivals = [{people[j] for j in range(len(rows)) if cells[j] == cells[i]} for i in range(len(rows))]
    alone = {people[i] for i in range(len(rows)) if rivals[i] == {people[i]}}
    units = Units.numbered(np.array(people), "person")
    schema = replace(SCHEMA, unchanged_limit=0)
    if not alone:
        refuse_singled_out(data, schema, None, units)
        return
    with pytest.raises(sf.errors.ColumnError) as caught:
        refuse_singled_out(data, schema, None, units)
    if not naive.singled_out(cells):  # no row is alone, but somebody's rows are
        assert f"single out {len(alone)} of {len(set(people))} p" in caught.value.problem


RECURRING = st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)), min_size=2, max_size=70)


@given(RECURRING, st.integers(2, 3), st.integers(0, 10), st.booleans())
def test_values_of_few_rows_each_are_refused_as_an_identifier_is(cells, times, tenths, by_people):
    """Every combination recurs, so that no row is singled out alone; with people, every row is another person's."""
    cells, limit = cells * times, Fraction(tenths, 10)
    data = pa.table({"job": [f"j{a}" for a, _ in cells], "town": [f"t{b}" for _, b in cells]})
    schema = sf.Schema(other=["job", "town"], unchanged_limit=limit)
    units = Units.numbered(np.arange(len(cells)), "person") if by_people else None
    beyond = []
    for values in ([a for a, _ in cells], [b for _, b in cells], cells):
        few = sum(values.count(value) < 4 for value in values)
        beyond.append(len(set(values)) >= 20 and 4 * len(set(values)) > len(cells) and few > limit * len(cells))
    if not any(beyond):
        refuse_singled_out(data, schema, None, units)
        return
    with pytest.raises(sf.errors.ColumnError, match="as those of an identifier do") as caught:
        refuse_singled_out(data, schema, None, units)
    assert caught.value.value == [["job"], ["town"], ["job", "town"]][beyond.index(True)]


def test_the_number_of_a_person_with_two_rows_is_not_published():
    numbers = [f"p{i // 2}" for i in range(60)]
    data = pa.table({"age": [20 + i % 5 for i in range(60)], "number": numbers})
    with pytest.raises(sf.errors.ColumnError, match="'number', published unchanged: 30 values"):
        anonymize(data, sf.Schema(["age"], other=["number"]), sf.KAnonymity(5))
    release = anonymize(data, sf.Schema(["age"], other=["number"], unchanged_limit=1), sf.KAnonymity(5))
    assert release.unchanged.rows == 0


def test_a_combination_that_singles_out_is_named_without_the_columns_that_do_not_matter():
    # a and b each take two values, together every row is alone; c and d are constant
    data = pa.table({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1], "c": [5] * 4, "d": ["x"] * 4, "age": [1, 1, 1, 1]})
    with pytest.raises(sf.errors.ColumnError, match="'a' \\+ 'b' together 4 rows") as caught:
        sf.anonymize(data, sf.Schema(["age"], other=["c", "a", "d", "b"]), sf.KAnonymity(2))
    assert sorted(caught.value.value) == ["a", "b"]
    assert "unchanged_limit" in caught.value.remedy


def test_a_number_per_row_is_refused_unless_the_limit_is_raised():
    data = pa.table({"age": [30] * 8, "number": range(8), "sex": ["f", "m"] * 4})
    schema = sf.Schema(["age"], other=["number", "sex"])
    with pytest.raises(sf.errors.ColumnError, match=r"single out 8 of 8 rows \(100 %\), and .* 0: 'number' alone 8"):
        sf.anonymize(data, schema, sf.KAnonymity(2))
    # a column that is kept counts like one with a role
    with pytest.raises(sf.errors.ColumnError, match="'number' alone 8 rows"):
        sf.anonymize(data, sf.Schema(["age"], undeclared="keep"), sf.KAnonymity(2))
    assert sf.anonymize(data, replace(schema, unchanged_limit=1), sf.KAnonymity(2)).unchanged.rows == 8
    assert sf.anonymize(data, sf.Schema(["age"], other=["sex"]), sf.KAnonymity(2)).unchanged.rows == 0


def test_with_suppression_the_published_rows_count():
    # the row that is singled out is the only one that must be suppressed
    data = pa.table({"age": [30] * 4 + [90], "job": ["cook"] * 4 + ["queen"]})
    schema = sf.Schema(["age"], other=["job"], hierarchies={"age": sf.Intervals((10,))})
    with pytest.raises(sf.errors.ColumnError, match="'job' alone 1 row"):
        sf.anonymize(data, schema, sf.KAnonymity(1))
    release = sf.anonymize(data, schema, sf.KAnonymity(4), suppress="0.2", method=sf.Lattice())
    assert (release.suppressed, release.unchanged.rows) == (1, 0)


@pytest.mark.parametrize("limit", [-1, "1.01", "many"])
def test_a_limit_that_is_no_share(limit):
    with pytest.raises(sf.errors.ParameterError) as caught:
        sf.Schema(unchanged_limit=limit)
    assert caught.value.key == "unchanged_limit"


@pytest.mark.parametrize("accepted", [{"age": "why"}, {"nothing": "why"}, {"ill": ""}, {"ill": "  "}, {"ill": None}])
def test_what_cannot_be_accepted(accepted):
    with pytest.raises(sf.errors.ColumnError, match="is not a reason, or the column is not sensitive") as caught:
        sf.Schema(["age"], ["ill"], accepted=accepted)
    assert caught.value.column == next(iter(accepted))


PEOPLE = table([("a", "b", "flu", "x"), ("a", "b", "flu", "y"), ("a", "b", "flu", "x"), ("a", "b", "gout", "y")])


@pytest.mark.parametrize(
    ("principles", "open_"),
    [
        ([sf.KAnonymity(2)], ["ill", "drug"]),
        ([sf.KAnonymity(2), sf.DistinctLDiversity(1, on="ill")], ["drug"]),
        ([sf.DistinctLDiversity(1)], []),
        ([sf.DistinctLDiversity(1, on="whole")], []),
        ([sf.DistinctLDiversity(1, on=("ill", "drug"))], []),
        ([sf.DistinctLDiversity(1, on="ill"), sf.DistinctLDiversity(1, on="drug")], []),
    ],
)
def test_an_attribute_is_covered_if_a_requirement_measures_it(principles, open_):
    release = anonymize(PEOPLE, sf.Schema(["age"], ["ill", "drug"]), principles, method=Chunks(2))
    assert [warning.attribute for warning in release.warnings] == open_
    for name in open_:
        assert f"no requirement covers the sensitive attribute {name!r}" in repr(release)
    assert ("WARNING" in repr(release)) == bool(open_)


def test_a_covered_attribute_needs_no_acceptance():
    schema = sf.Schema(["age"], ["ill"], accepted={"ill": "why not"})
    release = anonymize(PEOPLE, schema, sf.DistinctLDiversity(1), method=Chunks(2))
    assert release.coverage.claim.accepted == []
    assert anonymize(PEOPLE, sf.Schema(["age"]), sf.KAnonymity(2)).coverage.claim is None


def test_a_vector_is_constant_if_all_its_columns_are():
    data = pa.table({"age": [1, 2, 3, 4], "x": [1, 1, 1, 1], "y": [5, 5, 5, 6]})
    schema = sf.Schema(["age"], ["v"], vectors={"v": ["x", "y"]})
    release = anonymize(data, schema, sf.KAnonymity(2), method=Chunks(2))
    assert [(warning.attribute, warning.constant_groups) for warning in release.warnings] == [("v", 1)]


class TestTampering:
    @pytest.fixture
    def folder(self, tmp_path):
        data = table([("a", "b", "flu", "x"), ("a", "c", "flu", "y"), ("a", "b", "flu", "x"), ("a", "b", "gout", "y")])
        return anonymize(data, SCHEMA, sf.KAnonymity(2), method=Chunks(2)).save(tmp_path / "out")

    @pytest.mark.parametrize(
        ("change", "names"),
        [
            (lambda c: c.update(warnings=[]), ["warnings"]),
            (lambda c: c.pop("warnings"), ["warnings"]),
            (lambda c: c["warnings"][0].update(constant_groups=0), ["warnings"]),
            (lambda c: c["warnings"][0].update(near_constant_rows=0), ["warnings"]),
            (lambda c: c["warnings"][0].update(attribute="drug"), ["warnings"]),
            (lambda c: c.pop("coverage"), ["warnings"]),
            (lambda c: c["coverage"].update(unique_rows=0), ["warnings"]),
            (lambda c: c["coverage"].update(near_constant="0.5"), ["warnings"]),
            (lambda c: c["coverage"].update(accepted=[]), ["warnings"]),
            (lambda c: c["coverage"]["accepted"][0].update(reason="other"), ["warnings"]),
            # whoever accepts afterwards must also remove the warning; then only the schema of the maker shows it
            (lambda c: c["config"]["columns"]["ill"].update(accepted="never mind"), ["warnings"]),
            (lambda c: c.pop("unchanged"), ["unchanged"]),
            (lambda c: c["unchanged"].update(rows=0), ["unchanged"]),
            (lambda c: c["unchanged"].update(rows_in_groups=0), ["unchanged"]),
            (lambda c: c["unchanged"]["by_column"].update(town=0), ["unchanged"]),
            (lambda c: c["unchanged"].update(limit="0.5"), ["unchanged"]),
            (lambda c: c["unchanged"].update(columns=["job"]), ["unchanged"]),
        ],
    )
    def test_it_is_found(self, folder, change, names):
        assert verify(folder)
        state(folder, change)
        assert failing(verify(folder)) == names

    def test_the_limit_is_checked_again(self, folder):
        def lower(content):
            content["config"]["unchanged_limit"] = "0"
            content["unchanged"]["limit"] = "0"

        state(folder, lower)
        (check,) = (check for check in verify(folder).checks if check.holds is False)
        assert (check.name, check.detail) == ("unchanged", "singled out: 1 of 4 rows (25.0 %), and the limit is 0")

    def test_what_is_accepted_and_the_limit_are_compared_with_the_schema(self, folder):
        for other in (replace(SCHEMA, accepted={}), replace(SCHEMA, unchanged_limit="1/2")):
            assert failing(verify(folder, schema=other)) == ["declared"]

    def test_an_older_format_states_none_of_it(self, folder):
        def as_format_2(content):
            content.update(format=2, seed=0)
            for key in ("warnings", "coverage", "unchanged"):
                del content[key]

        state(folder, as_format_2)
        found = verify(folder)
        assert found
        assert {"warnings", "unchanged"} <= {check.name for check in found.not_checked}


def test_each_projected_table_has_its_warnings(tmp_path):
    data = pa.table(
        {
            "age": [1, 2, 3, 4],
            "ill": ["flu", "flu", "flu", "gout"],
            "job": ["cook", "cook", "judge", "judge"],
            "drugs": ["a;b", "a", "a", "b"],
        }
    )
    kinds = {"drugs": "set"}
    schema = sf.Schema(["age"], ["ill", "job", "drugs"], kinds=kinds, accepted={"drugs": "sold freely"})
    plan = [["ill"], ["job"], ["drugs"]]
    projection = sf.project(data, schema, sf.KAnonymity(2), plan=plan, alpha=1, beta=1, method=Chunks(2))
    assert [[warning.attribute for warning in release.warnings] for release in projection.releases] == [["ill"], ["job"], []]
    assert [each.attribute for each in projection.releases[2].coverage.claim.accepted] == ["drugs=a", "drugs=b"]
    folder = projection.save(tmp_path / "out")
    assert verify(folder, data, schema=schema)
    assert (folder / "report.html").read_text(encoding="utf-8").count('class="alert"') == 1
    state(folder, lambda content: content["tables"][1].update(warnings=[]))
    assert failing(verify(folder)) == ["table_2: warnings"]
    bit = {"accepted": "another reason"}
    state(folder, lambda content: content["tables"][2]["config"]["columns"]["drugs=a"].update(bit))
    assert "table_3: terms" in failing(verify(folder))


class TestReport:
    @staticmethod
    def page(folder, schema, principles):
        release = anonymize(PEOPLE, schema, principles, method=Chunks(2))
        return (release.save(folder) / "report.html").read_text(encoding="utf-8")

    def test_a_red_box_warns(self, tmp_path):
        html = self.page(tmp_path / "out", SCHEMA, sf.KAnonymity(2))
        box = html[html.index('class="alert"') :]
        box = box[: box.index("</aside>")]
        assert "No requirement covers the sensitive attribute &#39;ill&#39;: in 1 group with 2 rows all rows have" in box
        assert "The sensitive values of 2 of 4 rows (50.0 %), taken together, are unique" in box
        assert "drug" not in box
        assert "Sensitive columns without a" in box
        assert "reveal quasi-identifiers" not in box
        assert html.index('class="alert"') < html.index('class="lead"')
        assert "which is accepted (not known to outsiders)" in html
        assert "published unchanged: &#39;job&#39;, &#39;town&#39;; singled out by them together: 0 of 4 rows" in html

    def test_no_red_box_without_a_warning(self, tmp_path):
        html = self.page(tmp_path / "out", SCHEMA, [sf.KAnonymity(2), sf.DistinctLDiversity(1, on="ill")])
        assert 'class="alert"' not in html
        assert "which is accepted (not known to outsiders)" in html

    def test_unique_secrets_are_stated_even_if_all_are_covered(self, tmp_path):
        covering = [sf.KAnonymity(2), sf.DistinctLDiversity(1, on="ill"), sf.DistinctLDiversity(1, on="drug")]
        html = self.page(tmp_path / "out", replace(SCHEMA, accepted={}), covering)
        assert 'class="alert"' not in html
        assert html.count("the sensitive values of 2 of 4 rows (50.0 %), taken together, are unique") == 1
