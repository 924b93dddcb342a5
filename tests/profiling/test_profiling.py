"""Profiles: counts against naive oracles, patterns of columns, and drafts that run with any header."""

from __future__ import annotations

import string
from collections import Counter
from itertools import combinations

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.schema import Role
from sfumato.profiling import draft
from sfumato.profiling.column_facts import facts_of
from sfumato.profiling.column_patterns import pattern_of_cells, pattern_of_name
from sfumato.profiling.identifying_combinations import most_identifying, uniqueness_of
from sfumato.profiling.missing_markers import Markers

cells = st.one_of(st.none(), st.integers(0, 3))


@st.composite
def tables(draw):
    """Small tables of few values, so that rows coincide."""
    width, rows = draw(st.integers(1, 5)), draw(st.integers(1, 12))
    columns = {f"c{i}": draw(st.lists(cells, min_size=rows, max_size=rows)) for i in range(width)}
    return sf.Table(pa.table({name: pa.array(column, pa.int64()) for name, column in columns.items()}), sf.Schema()), columns


def counted(columns, names):
    """Rows, groups, unique rows and rows in groups of fewer than five, by the definition."""
    sizes = Counter(zip(*(columns[name] for name in names), strict=True))
    rows = sum(sizes.values())
    return rows, len(sizes), sum(n == 1 for n in sizes.values()), sum(n for n in sizes.values() if n < 5)


def figures(combination):
    return combination.rows, combination.groups, combination.unique, combination.small


@given(tables())
def test_uniqueness_of_combinations(drawn):
    table, columns = drawn
    for size in range(1, len(columns) + 1):
        for names in combinations(columns, size):
            assert figures(uniqueness_of(table, names)) == counted(columns, names)


@given(tables(), st.integers(1, 4))
def test_most_identifying_are_the_worst_of_each_size(drawn, listed):
    table, columns = drawn
    found = most_identifying(table, list(columns), listed)
    assert all(figures(one) == counted(columns, one.columns) for one in found)
    for size in (1, 2, 3):
        every = sorted((counted(columns, names)[2] for names in combinations(columns, size)), reverse=True)
        assert [one.unique for one in found if len(one.columns) == size] == every[:listed]


@given(tables())
def test_facts_by_the_definition(drawn):
    table, columns = drawn
    for name, column in columns.items():
        facts = facts_of(table, name)
        counts = Counter(column)
        present = {value: n for value, n in counts.items() if value is not None}
        assert (facts.distinct, facts.missing) == (len(present), counts[None])
        assert facts.unique == sum(n == 1 for n in present.values())
        assert facts.common == max(counts.values())
        assert facts.constant == (len(counts) == 1)


@pytest.mark.parametrize(
    ("cell", "pattern"),
    [
        ("ann.lee@example.org", "mail address"),
        ("https://example.org/a?b=c", "web address"),
        ("192.168.0.17", "network address"),
        ("550e8400-e29b-41d4-a716-446655440000", "universal key"),
        ("078-05-1120", "national or bank number"),
        ("DE89 3704 0044 0532 0130 00", "national or bank number"),
        ("11010519491231002X", "national or bank number"),
        ("756.9217.0769.85", "national or bank number"),
        ("1984-02-29", "date"),
        ("29.02.1984", "date"),
        ("2/29/1984", "date"),
        ("19840229", "date"),
        ("2020-01-01 10:30:00", "date"),
        ("+41 44 632 11 11", "phone number"),
        ("(212) 555-0100", "phone number"),
        ("0612345678", "phone number"),
        ("12 Stanley Street", "street address"),
        ("Hauptstraße 5a", "street address"),
        ("12 rue de la Paix", "street address"),
    ],
)
def test_shapes_of_cells(cell, pattern):
    assert pattern_of_cells([cell] * 3)[0].name == pattern


@pytest.mark.parametrize(
    "cell", ["39", "50000", "-1200.50", "01234", "White", "Some college, no degree", "C71.1", "1964", "A12"]
)
def test_plain_cells_have_no_shape(cell):
    assert pattern_of_cells([cell] * 3) is None


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("Vorname", "person's name"), ("last_name", "person's name"), ("prénom", "person's name"),
        ("xingming", "person's name"), ("Straße", "street address"), ("E-Mail", "mail address"),
        ("soc_sec_id", "key or number of a person"), ("fnlwgt", "survey weight"), ("instance_weight", "survey weight"),
        ("Einkommen", "income"), ("salaire_net", "income"), ("shouru", "income"), ("Diagnose", "health"),
        ("geburtsdatum", "birth date"), ("dateOfBirth", "birth date"), ("birth_mother", "birthplace"),
        ("Birth.outcome", "health"), ("diag_1", "health"), ("DIABETES", "health"), ("smoker", "health"),
        ("Geschlecht", "sex"), ("xingbie", "sex"), ("Familienstand", "marital status"), ("PLZ", "place"),
        ("code postal", "place"), ("Age", "age"), ("nianling", "age"), ("family income", "income"),
    ],
)  # fmt: skip
def test_names_in_four_languages(name, pattern):
    assert pattern_of_name(name).name == pattern


@pytest.mark.parametrize("name", ["estate", "average", "stage", "x1", "", "statement", "message", "product_name", "made_by"])
def test_names_that_only_contain_a_word(name):
    assert pattern_of_name(name) is None


def people(rows, **columns):
    """A table as from a file, with an ordinary quasi-identifier beside the tested columns."""
    texts = {"age": [str(20 + i % 7) for i in range(rows)], **{n: list(map(str, c)) for n, c in columns.items()}}
    return sf.Table(pa.table(texts), sf.Schema(), untyped=True)


def role(data, name):
    return sf.profile(data)[name].role


def test_numbers_with_more_decimals_than_64_bits_hold():
    """Weights of surveys have 19 decimals: each fits, but their unit, 10^-19, makes 1 too large."""
    weights = [f"0.00086433056276291{10 + i % 20}" for i in range(60)]
    assert not facts_of(people(60, share=weights), "share").whole
    assert facts_of(people(60, share=["0.0000000000000000000"] * 60), "share").whole


@pytest.mark.parametrize("name", ["survey_year", "wave", "interview_month"])
def test_the_time_of_a_survey_describes_nobody(name):
    assert role(people(60, **{name: [1 + i % 3 for i in range(60)]}), name) is Role.OTHER


@pytest.mark.parametrize("name", ["year", "Jahr", "issue_month", "admission_year", "month", "quarter_of_discharge"])
def test_the_time_of_an_event_is_left_to_a_person(name):
    """Whoever knows when somebody took a loan would find the rows, so such a time is not published unchanged."""
    found = sf.profile(people(60, **{name: [1 + i % 3 for i in range(60)]}))[name]
    assert found.role is None
    assert "time of an event" in found.suggestion.reason


def test_cells_decide_for_any_column_name():
    firsts = ["Anna", "Peter", "Marie", "Jonas", "Zelda", "Xiu", "Omar", "Ivo", "Nele", "Bo"]
    lasts = ["Weber", "Smith", "Stone", "Lake", "Field", "Ford"]
    data = people(
        60,
        c1=[f"u{i}@example.org" for i in range(60)],
        c2=[f"{firsts[i % 10]} {lasts[i % 6]}" for i in range(60)],
        c3=range(1, 61),
        c4=[f"19{30 + i}0{1 + i % 9}12" for i in range(60)],
        c5=[f"the {i}th patient came in with pain and went home" for i in range(60)],
        c6=["same"] * 60,
        c7=[f"K{i:04}" for i in range(60)],
    )
    found = sf.profile(data)
    assert {c.name: c.role.value for c in found} == {
        "age": "quasi-identifier",
        "c1": "identifier",
        "c2": "identifier",
        "c3": "identifier",
        "c4": "quasi-identifier",
        "c5": "identifier",
        "c6": "other",
        "c7": "identifier",
    }
    assert found["c4"].suggestion.pattern == "birth date"
    assert found["c5"].suggestion.pattern == "free text"
    assert found["c3"].suggestion.pattern == "row number"


def test_unique_columns_are_never_published_unchanged():
    data = people(
        40, note=[f"w{i}" for i in range(40)], code=[(i * 7919) % 10_007 for i in range(40)], wage=range(100, 900, 20)
    )
    found = sf.profile(data)
    assert role(data, "note") == role(data, "code") == "identifier"
    assert role(data, "wage") == "sensitive", "exact amounts are unlike, and still a secret"
    assert all(column.role.value != "other" for column in found)


def test_codes_that_recur_are_not_keys():
    data = people(60, region_id=[i % 4 for i in range(60)], industry_code=[i % 9 for i in range(60)])
    found = sf.profile(data)
    assert found["region_id"].role.value == "quasi-identifier"
    assert (found["industry_code"].role.value, found["industry_code"].kind.value) == ("sensitive", "categorical")


def test_a_column_that_determines_another_has_its_role():
    wage = [100 * (i % 6) for i in range(60)]
    data = people(60, wage=wage, band=["low" if w < 300 else "high" for w in wage])
    assert role(data, "band") == "sensitive"
    twins = people(60, education=["abc"[i % 3] for i in range(60)], years=[str(8 + i % 3) for i in range(60)])
    found = sf.profile(twins)
    assert found["years"].role.value == "quasi-identifier"
    assert found.equivalent_columns == {"years": "education"}


def test_a_secret_that_reveals_a_quasi_identifier_is_left_to_a_person():
    state = [i * 7 % 12 for i in range(120)]
    data = people(
        120,
        birthplace=[f"S{s}" for s in state],
        income_tax=[1000 + 13 * s for s in state],  # one to one with the state
        wage_tax=[1000 + 13 * (s // 4) for s in state],  # a function of the state
        wage=[(i * i) % 23 for i in range(120)],  # of no column
    )
    found = sf.profile(data)
    assert (found["income_tax"].role, found["wage_tax"].role, found["wage"].role.value) == (None, None, "sensitive")
    assert "reveal 'birthplace'" in found["income_tax"].suggestion.reason
    assert "'birthplace' determines it" in found["wage_tax"].suggestion.reason
    assert found.schema.sensitive == ("wage",)


def test_the_time_of_a_row_is_left_to_a_person_if_people_have_several_rows():
    year, sex = [2001 + i % 3 for i in range(90)], ["fm"[i // 3 % 2] for i in range(90)]
    assert role(people(90, survey_year=year, sex=sex), "survey_year") == "other"
    several = sf.profile(people(90, patient_id=[f"p{i // 3}" for i in range(90)], survey_year=year, sex=sex))
    assert several["patient_id"].suggestion.key == "person"
    assert several["survey_year"].role is None


def test_markers_of_missing_values():
    data = pa.table({"a": ["?", "b", "c"], "n": ["1", "NA", "2"], "land": ["DE", "NA", "FR"], "u": ["unknown", "x", "x"]})
    found = Markers.of(data)
    assert set(found.missing) == {"?", "NA"}, "NA stands among numbers, so it is missing"
    assert found.doubtful == {"unknown": ("u",)}
    assert Markers.of(pa.table({"land": ["DE", "NA", "FR"]})).missing == (), "Namibia"
    profile = sf.profile(sf.Table(data, sf.Schema(), untyped=True))
    assert profile["n"].kind.value == "numeric"
    assert (profile["a"].facts.missing, profile["u"].facts.missing) == (1, 0)


def test_frames_of_all_types():
    import datetime

    data = pa.table(
        {
            "age": [20 + i % 5 for i in range(40)],
            "born": [datetime.date(1950 + i, 1, 1) for i in range(40)],
            "smokes": [i % 2 == 0 for i in range(40)],
            "drugs": [["a", "b"][: 1 + i % 2] for i in range(40)],
            "where": [{"x": i} for i in range(40)],
            "raw": [bytes([i % 3]) for i in range(40)],
            "dictionary": pa.array(["f", "m"] * 20).dictionary_encode(),
            "nothing": pa.nulls(40),
        }
    )
    found = sf.profile(data)
    assert found["drugs"].kind.value == "set"
    assert found["where"].kind is None
    assert found["where"].role.value == "identifier"
    assert found["nothing"].role.value == "other"
    release = sf.anonymize(
        data, found.schema, [requirement.principle for requirement in found.requirements if requirement.enabled]
    )
    assert release.audit.holds


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_libraries(library):
    frames = pytest.importorskip(library)
    found = sf.profile(frames.DataFrame({"sex": ["f", "m"] * 10, "wage": [1.5, 2.5] * 10}))
    assert [column.role.value for column in found] == ["quasi-identifier", "sensitive"]


def test_everything_as_plain_data():
    import json

    found = sf.profile(people(30, wage=[i % 9 for i in range(30)]))
    plain = json.loads(json.dumps(found.to_dict()))
    assert [column["name"] for column in plain["columns"]] == ["age", "wage"]
    assert plain["uniqueness"]["unique"] == found.uniqueness.unique
    assert plain["principles"][0]["name"] == "k-anonymity"


headers = st.lists(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
    | st.sampled_from(["a.b", 'q"q', "new\nline", "é", "each", "whole", "group", "#", "'", "\\", "\x7f", "\u2028", "name"]),
    min_size=1,
    max_size=5,
    unique=True,
)


@given(headers)
@example(["", "whole", "income"])
@example(['"""', "]\n[data]", "income\n# x"])
@example(["WT", "weight"])
def test_any_header_is_drafted_exactly(names):
    """A table with a quasi-identifier, and a sensitive column under each of the names in turn."""
    names = [name for name in names if name not in ("age ", "wage ")]
    columns = {"age ": [20 + i % 4 for i in range(24)], "wage ": [i % 5 for i in range(24)]}
    columns |= {name: ["xyz"[(i + j) % 3] for i in range(24)] for j, name in enumerate(names)}
    found = sf.profile(pa.table(columns))
    config = sf.Config.parse(draft(found, 'da"ta\\.csv'))
    # columns without a role, such as QUARTER, are comments
    assert [c.name for c in found] == list(columns)
    assert {name: section.role for name, section in config.columns.items()} == {
        c.name: c.role for c in found if c.role is not None
    }
    assert config.data.path.endswith('da"ta\\.csv')
    assert config.requested_principles == tuple(
        requirement.principle for requirement in found.requirements if requirement.enabled
    )


@st.composite
def microdata(draw):
    """Tables as read from files: texts of many kinds under names of many kinds."""
    rows = draw(st.integers(2, 40))
    sorts = {
        "number": st.integers(-5, 30).map(str),
        "money": st.decimals(0, 1000, places=2).map(str),
        "letter": st.sampled_from("abc"),
        "text": st.text(string.ascii_letters + " ,;\"'?", max_size=12),
        "holey": st.sampled_from(["", "?", "NA", "1", "2", "7.5"]),
        "same": st.just("x"),
    }
    names = draw(
        st.lists(
            st.sampled_from(["age", "sex", "income", "diagnosis", "job", "x", "y", "id", "name", "weight", "birth", "wgt"]),
            min_size=1, max_size=5, unique=True,
        )
    )  # fmt: skip
    return pa.table(
        {n: draw(st.lists(sorts[draw(st.sampled_from(sorted(sorts)))], min_size=rows, max_size=rows)) for n in names}
    )


@settings(max_examples=60)
@given(microdata())
def test_drafts_run(data):
    table = sf.Table(data, sf.Schema(), untyped=True)
    found = sf.profile(table)
    try:
        config = sf.Config.parse(draft(found, "people.csv"))
    except sf.errors.ColumnError as error:
        assert "no column is left" in str(error)
        assert not found.schema.quasi_identifiers
        return
    ready = sf.Table(data, config.schema, untyped=True)
    sf.audit(ready, None, config.requested_principles)
    release = sf.anonymize(ready, None, config.requested_principles, method=config.grouping_method)
    assert release.audit.holds


def test_the_draft_contains_no_cell():
    words = ["zanzibar", "timbuktu", "ouagadougou"]
    data = people(
        30,
        town=[words[i % 3] for i in range(30)],
        name=[f"Qwertz{i}" for i in range(30)],
        ill=[f"ill{i % 4}" for i in range(30)],
    )
    text = draft(sf.profile(data), "people.csv")
    assert not any(word in text for word in (*words, "Qwertz", "ill1"))


def test_requirements_suit_the_sensitive_attribute():
    amounts = [1000 + 37 * i for i in range(200)]
    near = sf.profile(people(200, income=amounts)).requirements
    assert [requirement.principle.name for requirement in near if requirement.enabled] == ["k-anonymity", "dissimilarity"]
    mostly_zero = sf.profile(people(200, income=[0] * 190 + amounts[:10])).requirements
    assert [requirement.principle.name for requirement in mostly_zero if requirement.enabled] == [
        "k-anonymity",
        "distinct-l-diversity",
    ]
    nothing = sf.profile(people(200, town=["abc"[i % 3] for i in range(200)])).requirements
    assert [requirement.principle for requirement in nothing] == [sf.KAnonymity(5)]
    assert "t-closeness" in [requirement.principle.name for requirement in near if not requirement.enabled]


def test_little_known_columns_are_left_to_a_person():
    known = {n: ["ab"[i % 2] for i in range(30)] for n in ("sex", "race", "marital", "education", "country")}
    few = people(30, **known, veteran=["yn"[i % 3 == 0] for i in range(30)])
    assert role(few, "veteran") is None
    assert role(people(30, veteran=["yn"[i % 3 == 0] for i in range(30)]), "veteran") == "quasi-identifier"


@given(st.lists(st.lists(st.sampled_from("abc?"), min_size=40, max_size=40), min_size=2, max_size=5))
def test_columns_that_determine_each_other_are_found_by_definition(cells):
    """As many pairs of values as values of each; the missing value is one too."""
    cells = [*cells, [{"a": "x", "b": "y", "c": "z", "?": "?"}[cell] for cell in cells[0]]]
    found = sf.profile(pa.table({f"v{place}": column for place, column in enumerate(cells)}))
    expected = {}
    for place, column in enumerate(cells):
        usable = [other for other in range(place) if f"v{other}" not in expected and len(set(cells[other])) >= 3]
        twins = [f"v{other}" for other in usable if len({*zip(column, cells[other], strict=True)}) == len({*column})
                 == len({*cells[other]})]  # fmt: skip
        if len(set(column)) >= 3 and twins:
            expected[f"v{place}"] = twins[0]
    assert found.equivalent_columns == expected
