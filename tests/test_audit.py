"""The audit as a user meets it: findings, worst groups, text, JSON, details."""

from __future__ import annotations

import json
from fractions import Fraction

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.exact.shown_levels import level_shown

FRAME = pa.table(
    {
        "zip": ["a"] * 5 + ["b"] * 4 + ["c"],
        "income": [100, 101, 102, 103, 900, 1, 200, 400, 800, 5],
    }
)
SCHEMA = sf.Schema(quasi_identifiers=["zip"], sensitive=["income"])
PRINCIPLES = [sf.KAnonymity(4), sf.DistinctLDiversity(1), sf.Dissimilarity(epsilon=3, delta="0.5", k=4)]


@pytest.fixture
def audit():
    return sf.audit(FRAME, SCHEMA, PRINCIPLES)


def test_findings(audit):
    assert not audit.holds
    assert not audit
    assert [f.holds for f in audit] == [False, True, False]
    near = audit[2]
    assert near.levels == {"risk": 1, "k": 1}
    assert near.violating_groups == 2
    assert near.violating_rows == 6
    assert near.vulnerability == Fraction(2, 3)
    assert near.worst_groups() == [2, 0, 1]
    assert [near.measurement.parts[0].at(g) for g in range(3)] == [Fraction(3, 4), 0, 1]
    assert audit.quasi_identifiers(2) == {"zip": "c"}


def test_text(audit):
    assert repr(audit).splitlines() == [
        "Audit of 10 rows in 3 groups: 1 of 3 principles hold",
        "  FAILS  k-anonymity (k = 4): k 1, wanted at least 4; 1 of 3 groups and 1 of 10 rows violate it",
        "         worst group: zip = c (1 row): k 1",
        "  holds  distinct l-diversity (l = 1) on income: l 1, wanted at least 1",
        "  FAILS  (ε,δ)^k-dissimilarity (epsilon = 3, delta = 0.5, k = 4) on income (absolute): risk 1, wanted at most 0.5, "
        "k 1, wanted at least 4; 2 of 3 groups and 6 of 10 rows violate it",
        "         worst group: zip = c (1 row): risk 1, k 1",
    ]


def test_json(audit):
    found = json.loads(audit.to_json(worst=2))
    assert found["rows"] == 10
    assert found["groups"] == 3
    assert found["holds"] is False
    near = found["principles"][2]
    assert near["name"] == "dissimilarity"
    assert near["parameters"] == {"epsilon": "3", "delta": "0.5", "k": 4}
    assert near["holds"] is False
    assert near["measured"] == {"risk": 1, "k": 1}
    assert near["attribute"] == "income"
    assert near["violating_groups"] == 2
    assert near["violating_rows"] == 6
    assert near["vulnerability"] == pytest.approx(2 / 3)
    assert [g["quasi_identifiers"] for g in near["worst_groups"]] == [{"zip": "c"}, {"zip": "a"}]
    assert near["worst_groups"][1]["measured"] == {"risk": 0.75, "k": 5}


def test_infinite_levels_are_null_in_json():
    found = sf.audit(FRAME, SCHEMA, sf.RecursiveLDiversity(2, 3)).to_dict()
    assert found["principles"][0]["measured"] == {"c": None}
    assert found["principles"][0]["exact"] == {"c": "inf"}
    json.dumps(found, allow_nan=False)


def test_details(audit):
    details = audit.details().to_pydict()
    assert details["zip"] == ["a", "b", "c"]
    assert details["rows"] == [5, 4, 1]
    risk = next(name for name in details if name.endswith(": risk"))
    assert details[risk] == [0.75, 0, 1]
    assert [name for name in details if name.endswith(": holds")]


def test_details_keep_a_column_that_is_called_rows():
    details = sf.audit(pa.table({"rows": ["x", "x", "y"]}), sf.Schema(["rows"]), sf.KAnonymity(2)).details()
    assert details["rows"].to_pylist() == ["x", "y"]
    assert details["number of rows"].to_pylist() == [2, 1]


def test_group_column():
    frame = pa.table({"age": [30, 31, 40, 41], "group": [7, 7, 9, 9], "s": ["a", "b", "a", "a"]})
    schema = sf.Schema(["age"], ["s"], group="group")
    audit = sf.audit(frame, schema, [sf.KAnonymity(2), sf.DistinctLDiversity(2)])
    assert [f.holds for f in audit] == [True, False]
    assert audit.quasi_identifiers(1) == {"group": "9", "age": "{40; 41}"}
    assert audit.details()["group"].to_pylist() == ["7", "9"]


def test_people():
    frame = pa.table({"zip": ["a", "a", "a"], "id": [1, 1, 2]})
    audit = sf.audit(frame, sf.Schema(["zip"], person_id="id"), sf.KAnonymity(2))
    assert audit[0].levels == {"k": 2}
    assert audit.to_dict()["people"] == 2
    assert audit.details()["people"].to_pylist() == [2]


def test_no_quasi_identifiers_is_one_group():
    assert sf.audit(FRAME, sf.Schema(sensitive=["income"]), sf.KAnonymity(10)).holds


def test_no_sensitive_column():
    with pytest.raises(sf.errors.ColumnError, match="no sensitive column"):
        sf.audit(FRAME, sf.Schema(["zip"]), sf.DistinctLDiversity(2))


def test_k_larger_than_the_table():
    with pytest.raises(sf.errors.ParameterError, match="k = 11 is larger than the table, which contains 10 rows"):
        sf.audit(FRAME, SCHEMA, sf.KAnonymity(11))


@pytest.mark.parametrize(
    ("level", "text"),
    [
        (Fraction(5), "5"),
        (Fraction(1, 3), "0.3333"),
        (Fraction(999_999, 1_000_000), "0.999999"),
        (Fraction(1_000_001, 1_000_000), "1.000001"),
        (float("inf"), "∞"),
        (Fraction(4678, 10), "467.8"),
    ],
)
def test_levels_are_never_rounded_onto_a_whole_number(level, text):
    assert level_shown(level) == text


def test_declared_columns_are_checked_whether_measured_or_not():
    frame = pa.table({"zip": ["a"], "income": ["much"]})
    with pytest.raises(sf.errors.CellError, match="'much' is not a number"):
        sf.audit(frame, sf.Schema(["zip"], ["income"], kinds={"income": "numeric"}), sf.KAnonymity(1))
    with pytest.raises(sf.errors.HierarchyError, match="cannot be read"):
        sf.audit(frame, sf.Schema(["zip"], ["income"], hierarchies={"income": "absent.csv"}), sf.KAnonymity(1))


def test_another_schema_for_the_same_table():
    table = sf.Table(FRAME, SCHEMA)
    assert sf.audit(table, None, sf.KAnonymity(1)).groups.count == 3
    assert sf.audit(table, sf.Schema(["income"]), sf.KAnonymity(1)).groups.count == 10


@pytest.mark.parametrize("on", [[], "", ("income", "income"), 5])
def test_on_names_nothing(on):
    with pytest.raises(sf.SfumatoError):
        sf.audit(FRAME, SCHEMA, sf.DistinctLDiversity(1, on=on))


@pytest.mark.parametrize("principle", [sf.KAnonymity, None, 5, {"k": 5}, {"name": 5}])
def test_anything_else_is_not_a_principle(principle):
    for requested in (principle, [principle]):
        with pytest.raises(sf.errors.ParameterError, match="is not a principle"):
            sf.audit(FRAME, SCHEMA, requested)


@pytest.mark.parametrize("request_", ["k-anonymity", {"name": "k-anonymity"}])
@pytest.mark.parametrize("function", [sf.audit, sf.anonymize, sf.feasibility, sf.full_domain])
def test_a_name_without_its_parameters_says_what_is_missing(function, request_):
    with pytest.raises(sf.errors.ParameterError, match=r"k-anonymity requires 'k'. Pass sf.KAnonymity\(k=3\) or"):
        function(FRAME, SCHEMA, request_)


def test_principles_by_name_and_by_dict():
    named = sf.audit(FRAME, SCHEMA, [{"name": "k-anonymity", "k": 2}, sf.DistinctLDiversity(2)])
    assert [finding.principle for finding in named] == [sf.KAnonymity(2), sf.DistinctLDiversity(2)]
    release = sf.anonymize(FRAME, SCHEMA, {"name": "k-anonymity", "k": 2})
    assert release.principles == (sf.KAnonymity(2),)
    with pytest.raises(sf.errors.ParameterError, match="Did you mean 'k-anonymity'"):
        sf.audit(FRAME, SCHEMA, "k-anonymit")
    with pytest.raises(sf.errors.ParameterError, match="k-anonymity has no parameter 'l'"):
        sf.audit(FRAME, SCHEMA, {"name": "k-anonymity", "k": 2, "l": 3})
    with pytest.raises(sf.errors.ParameterError, match="no principle is requested"):
        sf.audit(FRAME, SCHEMA, [])


def test_errors_name_the_principle_and_the_file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("zip,ill\na,flu\n", encoding="utf-8")
    with pytest.raises(sf.errors.ColumnError) as caught:
        sf.audit(path, sf.Schema(["zip"], ["ill"]), sf.VarianceControl(1))
    assert str(caught.value).startswith(f"{path}, column 'ill': variance control requires numbers")


def test_people_of_an_ordinal_column_are_those_that_occur():
    frame = pa.table({"zip": ["a", "a"], "id": ["x", "y"]})
    schema = sf.Schema(["zip"], person_id="id", orders={"id": ["w", "x", "y", "z"]})
    with pytest.raises(sf.errors.ParameterError, match="contains 2 people"):
        sf.audit(frame, schema, sf.KAnonymity(3))


def test_no_quasi_identifiers_is_noted():
    audit = sf.audit(FRAME, sf.Schema(sensitive=["income"]), sf.KAnonymity(10))
    assert "no quasi-identifiers" in audit.notes[0]


def test_control_characters_do_not_reach_the_terminal():
    frame = pa.table({"zip": ["\x1b[31mred\nx", "b" * 300], "income": [1, 2]})
    text = repr(sf.audit(frame, SCHEMA, sf.KAnonymity(2)))
    assert "\x1b" not in text
    assert "\\x1b[31mred\\nx" in text


def test_a_level_shown_is_on_its_side_of_the_threshold():
    assert level_shown(Fraction(10001, 2001), Fraction("4.998")) == "4.998001"
    assert level_shown(Fraction("4.998"), Fraction("4.998")) == "4.998"
