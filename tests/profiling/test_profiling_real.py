"""Suggested roles of real microdata, column by column, against those that a person would give."""

from __future__ import annotations

import pytest

import sfumato as sf

pytestmark = pytest.mark.data

ADULT = {
    "quasi-identifier": "age education education-num marital-status relationship race sex native-country",
    "sensitive": "workclass occupation hours-per-week income",
    "undecided": "fnlwgt capital-gain capital-loss",
}
"""Demographics are quasi-identifiers, work and money are sensitive. The survey weight singles people out, and more than nine
in ten people have no capital gain or loss, so these are left to a person."""

KDD = {
    "quasi-identifier": "age education enrolled_edu marital_status race hispanic_origin sex hh_family_detail hh_summary "
    "family_under18 birth_father birth_mother birth_self citizenship",
    "sensitive": "income_class tax_filer_status veterans_benefits dividends num_persons_employer weeks_worked",
    "undecided": "year class_of_worker industry_code occupation_code wage_per_hour major_industry major_occupation "
    "union_member unemployment_reason employment_stat capital_gains capital_losses own_business "
    "prev_region prev_state instance_weight migr_msa migr_reg migr_within_reg same_house_1y migr_sunbelt "
    "veterans_questionnaire",
}
"""Demographics are quasi-identifiers. Work and money are sensitive: income first, then six in all, the most harmful and the
most even. Little-known facts, the weight, the year, whose name does not say that it is the survey's, and the other secrets
are left to a person."""

FEBRL = {
    "identifier": "rec_id given_name surname street_number address_1 address_2 soc_sec_id",
    "quasi-identifier": "suburb postcode state date_of_birth",
}
"""A directory: keys, names and addresses are identifiers; residence and date of birth are quasi-identifiers."""

GERMAN = {"identifier": "fname_c1 fname_c2 lname_c1 lname_c2 true_id", "quasi-identifier": "by bm bd"}

SURVEY = {
    "quasi-identifier": "age gender education marital race birthplace",
    "sensitive": "workclass occupation income income50",
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("adult/adult_raw_32561.csv", ADULT),
        ("census_income_kdd/census_income_train.csv.gz", KDD),
        ("record_linkage/febrl_dataset4a.csv", FEBRL),
        ("record_linkage/RLdata10000.csv", GERMAN),
        ("acs2018/sal_occ.csv.gz", SURVEY),
    ],
)
def test_roles_as_a_person_would_give_them(real_data, path, expected):
    found = sf.profile(real_data / path)
    wanted = {name: role for role, names in expected.items() for name in names.split()}
    assert {column.name: column.role or "undecided" for column in found} == wanted
    assert all(column.suggestion.reason for column in found)
    assert all(requirement.principle.name == "k-anonymity" or requirement.principle.on for requirement in found.requirements)


def test_names_and_addresses_are_recognised_without_a_header(real_data):
    data = sf.read_table(real_data / "record_linkage/febrl_dataset4a.csv", sf.Schema()).data
    renamed = sf.Table(data.rename_columns([f"v{i}" for i in range(data.num_columns)]), sf.Schema(), untyped=True)
    roles = dict(zip(data.column_names, (column.role for column in sf.profile(renamed)), strict=True))
    for name in ("rec_id", "given_name", "surname", "address_1", "address_2", "soc_sec_id"):
        assert roles[name] in ("identifier", None)  # neither is published
    for name in ("postcode", "state", "date_of_birth"):
        assert roles[name] == "quasi-identifier"


def test_markers_twins_codes_and_requirements(real_data):
    adult = sf.profile(real_data / "adult/adult_raw_32561.csv")
    assert adult.markers.missing == ("?",)
    assert adult.equivalent_columns == {"education-num": "education"}
    assert "income" in [
        requirement.principle.on
        for requirement in adult.requirements
        if requirement.enabled and requirement.principle.name != "k-anonymity"
    ]
    kdd = sf.profile(real_data / "census_income_kdd/census_income_train.csv.gz")
    assert "class_of_worker" in kdd.markers.doubtful["Not in universe"]
    assert kdd["industry_code"].kind.value == kdd["occupation_code"].kind.value == "categorical"
    survey = sf.profile(real_data / "acs2018/sal_occ.csv.gz")
    assert [
        requirement.principle.on
        for requirement in survey.requirements
        if requirement.principle.name == "dissimilarity" and requirement.enabled
    ] == ["income", "income50"]


def test_a_table_that_is_not_about_people(real_data):
    found = sf.profile(real_data / "catalogue/items.csv.gz")
    assert {found[name].role.value for name in ("package", "homepage", "description")} == {"identifier"}
    assert found["homepage"].suggestion.pattern == "web address"
    assert found["description"].suggestion.pattern == "free text"
    assert found.unchanged_uniqueness.unique == 0
