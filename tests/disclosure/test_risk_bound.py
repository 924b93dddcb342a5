"""Theorem 1: the estimated risk bounds the true one where its conditions hold, and only there is this reported."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from pyarrow import compute

import sfumato as sf
from sfumato.data.table import Table
from sfumato.disclosure._risk import risk_of
from sfumato.disclosure.consistency.consistency import EqualityConsistency
from sfumato.disclosure.consistency.containment import ContainmentConsistency
from sfumato.disclosure.consistency.similarity import SimilarityConsistency
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.disclosure.risk_bound import upper_bound
from sfumato.disclosure.sensitivity.sensitivity import Additive, Multiplicative
from sfumato.disclosure.setting import setting_of

VALUES = st.sampled_from([None, "x", "y"])

ORDER = "the estimate precedes the attacker's dictionary (⪯), as far as the records reveal"


def frame(ids, rows, **more):
    columns = {f"a{j}": pa.array(list(values), pa.string()) for j, values in enumerate(zip(*rows, strict=True))}
    return pa.table({"id": pa.array(ids), **columns, **more})


def bound(records, estimate, attacker, rule=None, **more):
    given = {"identity": "id", "attributes": [name for name in records.column_names if name != "id"], **more}
    books = [Dictionary(estimate, identity="id", name="staff"), Dictionary(attacker, identity="id", name="book")]
    return upper_bound(setting_of(records, sf.Schema(), books, **given), "staff", "book", rule)


@st.composite
def ordered(draw):
    """Records, a dictionary with their values and others, and one that knows of more people less."""
    m = draw(st.integers(1, 3))

    def person():
        return [draw(VALUES) for _ in range(m)]

    records = [person() for _ in range(draw(st.integers(1, 4)))]
    staff = [[value if draw(st.booleans()) else None for value in row] for row in records]
    staff += [person() for _ in range(draw(st.integers(0, 2)))]
    book = [[value if draw(st.booleans()) else None for value in row] for row in staff]
    book += [person() for _ in range(draw(st.integers(0, 3)))]
    rule = np.array([[draw(st.booleans()) for _ in range(m)] for _ in records])
    phi = draw(st.sampled_from([Additive(default="0.5"), Multiplicative(), Additive({"a0": "inf"}, default=0)]))
    return records, staff, book, rule, replace(phi, false_identification=draw(st.sampled_from([0, "0.3", 1])))


@given(ordered())
def test_the_bound(case):
    records, staff, book, rule, phi = case
    tables = [frame(range(len(rows)), rows) for rows in (records, staff, book)]
    found = bound(*tables, rule, sensitivity=phi)
    assert found.holds, str(found)
    assert found.true <= found.estimated * (1 + 1e-12)


def test_no_bound_if_a_false_identification_harms_more_than_a_correct_one():
    """The attacker knows one more individual, and is wrong more often, which harms three times as much."""
    records = frame([1], [["x"]])
    staff, book = frame([1, 2], [["x"], ["x"]]), frame([1, 2, 3], [["x"], ["x"], ["x"]])
    assert bound(records, staff, book, sensitivity=Additive(false_identification=1)).holds
    found = bound(records, staff, book, sensitivity=Additive(false_identification=3))
    assert (found.estimated, found.true) == (2, pytest.approx(7 / 3))
    assert [each.name for each in found.failing] == ["a false identification harms at most as much as a correct one"]
    assert "false_identification is 3" in str(found)


CELLS = {
    "number": [None, "17", "17.00000", "017", "1.7e1", "18"],
    "text": [None, "martha", "marhta", "marta", "jim"],
    "age": [None, "*", "25", "25.0", "025", "[20, 30]", "[20, 25)", "{25; 41}", "41"],
    "town": [None, "*", "Rome", "Milan", "{Rome; Milan}", "North"],
}


@st.composite
def anyhow(draw):
    """Records and two dictionaries that may or may not be ordered, over attributes that are compared in any way."""
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=3, unique=True))
    cells = {kind: draw(st.lists(st.sampled_from(CELLS[kind]), min_size=1, max_size=4)) for kind in kinds}

    def people(most):
        return [[draw(st.sampled_from(cells[kind])) for kind in kinds] for _ in range(draw(st.integers(1, most)))]

    records = people(3)
    staff = [row if draw(st.booleans()) else [draw(st.sampled_from(cells[kind])) for kind in kinds] for row in records]
    staff += people(2)
    book = [
        [draw(st.sampled_from([value, value, *cells[kind]])) for value, kind in zip(row, kinds, strict=True)]
        for row in staff
    ]
    book += people(2)
    similar = st.sampled_from(
        [
            SimilarityConsistency("jaro", "0.8"),
            SimilarityConsistency("jaro-winkler", "0.9"),
            SimilarityConsistency("jaro", 1),
        ]
    )
    ways = {
        "number": st.one_of(st.sampled_from([EqualityConsistency(), ContainmentConsistency()]), similar),
        "text": st.one_of(st.just(EqualityConsistency()), similar),
        "age": st.just(ContainmentConsistency()),
        "town": st.just(ContainmentConsistency()),
    }
    return kinds, records, staff, book, {kind: draw(ways[kind]) for kind in kinds}, draw(st.integers(0, 99))


@given(anyhow())
def test_the_bound_however_values_are_compared(case):
    """Whenever it is said to hold, no rule breaks it."""
    kinds, records, staff, book, consistency, seed = case
    tables = [
        Table(frame([*map(str, range(len(rows)))], rows).rename_columns(["id", *kinds]), sf.Schema(), untyped=True)
        for rows in (records, staff, book)
    ]
    books = [Dictionary(tables[1], identity="id", name="staff"), Dictionary(tables[2], identity="id", name="book")]
    setting = setting_of(tables[0], sf.Schema(), books, identity="id", attributes=kinds, consistency=consistency)
    claims = [pair for pair in (("staff", "book"), ("book", "staff")) if upper_bound(setting, *pair).holds]
    event(f"{len(claims)} claims")
    for rule in rules(setting.everything, seed):
        found = {each.name: each.losses for each in risk_of(setting, rule).dictionaries}
        for estimate, attacker in claims:
            assert (found[attacker] <= found[estimate]).all()


def test_texts_that_are_equal_only_as_numbers(tmp_path):
    """Similarity reads 17 and 17.00000 as they are written: the attacker has one who fits, the estimate two."""
    written = {"people": "1,17\n", "staff": "1,17\n2,17\n", "book": "1,17\n2,17.00000\n"}
    for name, rows in written.items():
        (tmp_path / f"{name}.csv").write_text("id,code\n" + rows)
    books = [Dictionary(tmp_path / f"{name}.csv", identity="id", name=name) for name in ("staff", "book")]
    given = {"identity": "id", "attributes": ["code"]}
    found = sf.risk(tmp_path / "people.csv", sf.Schema(), books, consistency={"code": SimilarityConsistency()}, **given)
    told = found.bound("staff", "book")
    assert (told.estimated, told.true, told.holds) == (0.5, 1, False)
    assert "of '2', the attribute 'code' is '17' in the first and '17.00000' in the second" in str(told)
    assert sf.risk(tmp_path / "people.csv", sf.Schema(), books, **given).bound("staff", "book").holds


def test_generalized_dictionaries():
    """What is generalized further is known less well, and * tells nothing."""
    records = frame([1, 2], [["25"], ["41"]])
    one = frame([1, 2], [["[20, 30]"], ["41"]])
    two = frame([1, 2, 3], [["[20, 30]"], ["41"], ["*"]])
    wide = frame([1, 2], [["[20, 40]"], ["*"]])
    for estimate, attacker in ((one, two), (one, wide), (records, one)):
        found = bound(records, estimate, attacker, consistency={"a0": ContainmentConsistency()})
        assert found.holds, str(found)
        assert found.true <= found.estimated
    assert not bound(records, wide, one, consistency={"a0": ContainmentConsistency()})


def test_duplicate_identities_break_the_bound():
    """Erratum 6: Ann is twice in the estimate, so ρ counts two rows where there is one individual: 0.5 bounds nothing."""
    records = frame(["Ann"], [["x"]])
    twice = frame(["Ann", "Ann"], [["x"], ["x"]])
    with pytest.raises(sf.errors.CellError, match="'Ann' occurs in row 1 and in row 2"):
        Dictionary(twice, identity="id")
    books = [Dictionary(twice, name="staff"), Dictionary(records, identity="id", name="book")]
    setting = setting_of(records, sf.Schema(), books, identity="id", attributes=["a0"])
    found = upper_bound(setting, "staff", "book")
    assert (found.estimated, found.true, found.holds) == (0.5, 1, False)
    assert "'staff' declares no identity" in str(found)


def test_an_inconsistent_estimate_breaks_the_bound():
    """Erratum 6: the estimate has Ann's town wrong, so it finds nobody and no loss; a book without towns finds her."""
    records, wrong = frame(["Ann"], [["Rome"]]), frame(["Ann"], [["Bari"]])
    found = bound(records, wrong, frame(["Ann"], [[None]]))
    assert (found.estimated, found.true, found.holds) == (0, 1, False)
    assert [condition.name for condition in found.failing] == [
        "the records are consistent with their individuals in the estimate"
    ]
    assert "row 1 (id = Ann)" in str(found)


@pytest.mark.parametrize(
    ("estimate", "attacker", "words"),
    [
        (["Bob"], ["Bob", "Ann"], "row 1 (id = Ann) has no individual there"),
        (["Ann", "Bob"], ["Ann"], "'Bob' is not in the second"),
    ],
)
def test_what_is_lacking_is_told(estimate, attacker, words):
    rows = {"Ann": ["x"], "Bob": ["x"]}
    tables = [frame(ids, [rows[name] for name in ids]) for ids in (["Ann"], estimate, attacker)]
    found = bound(*tables)
    assert not found
    assert words in str(found)
    assert [each["holds"] for each in found.to_dict()["conditions"]].count(False) == 1


def test_more_knowledge_breaks_the_bound():
    """The attacker has what the estimate lacks, and identifies better than it."""
    records = frame(["Ann", "Bob"], [["x"], ["y"]])
    found = bound(records, frame(["Ann", "Bob"], [[None], [None]]), records)
    assert (found.estimated, found.true, found.holds) == (0.5, 1, False)
    assert "the attribute 'a0' is (missing) in the first and 'x' in the second" in str(found)


def test_an_attacker_who_leans_breaks_the_bound():
    """The book has one individual more, but the attacker hardly thinks of him."""
    records = frame(["Ann", "Bob"], [["x"], ["x"]])
    weights = pa.table({**{name: records[name] for name in records.column_names}, "w": [98, 2]})
    books = [Dictionary(records, identity="id", name="staff"), Dictionary(weights, identity="id", name="book", weight="w")]
    setting = setting_of(records.slice(0, 1), sf.Schema(), books, identity="id", attributes=["a0"])
    found = upper_bound(setting, "staff", "book")
    assert (found.estimated, found.true, found.holds) == (0.5, 0.98, False)
    assert "'book' has weights" in str(found)


def test_undeclared_identities_and_unknown_names():
    records = frame(["Ann"], [["x"]])
    setting = setting_of(records, sf.Schema(), Dictionary(records, identity="id"), attributes=["a0"])
    found = upper_bound(setting, "dictionary", "dictionary")
    assert "the identity of the records is not declared" in str(found)
    with pytest.raises(sf.errors.ParameterError, match="unknown dictionary 'book'"):
        upper_bound(setting, "dictionary", "book")
    with_identity = bound(records, records, records)
    assert str(with_identity).startswith("the risk against 'book' is at most that against 'staff'")


def rules(everything, seed):
    rng = np.random.default_rng(seed)
    yield everything
    for share in (0.6, 0.3):
        yield everything & (rng.random(everything.shape) < share)
    only_one = np.zeros_like(everything)
    only_one[:, 0] = everything[:, 0]
    yield only_one


def nested(frame, records, seed):
    """Dictionaries of ever more people of whom ever less is known, each ⪯ the next; the first holds the records' people."""
    rng = np.random.default_rng(seed)
    names = [name for name in frame.column_names if name != "id"]
    order = np.concatenate([records, rng.permutation(np.setdiff1d(np.arange(frame.num_rows), records))])
    known = {name: np.ones(frame.num_rows, bool) for name in names}
    for step, share in enumerate((0.25, 0.5, 1)):
        rows = order[: max(len(records), int(share * frame.num_rows))]
        columns = {"id": frame["id"].take(rows)}
        for name in names:
            known[name] &= rng.random(frame.num_rows) < (1 - 0.15 * step)
            columns[name] = compute.if_else(pa.array(known[name][rows]), frame[name].take(rows), None)
        yield Dictionary(pa.table(columns), identity="id", name=f"step {step}")


@pytest.mark.data
@pytest.mark.parametrize("name", ["febrl_dataset4a", "febrl_dataset4b", "RLdata10000"])
def test_the_bound_on_real_directories(real_data, name):
    """The estimated risk bounds the true one whenever ⪯ holds, record by record, whatever is disclosed."""
    data = sf.read_table(real_data / "record_linkage" / f"{name}.csv", sf.Schema()).data
    data = data.drop_columns([column for column in ("rec_id", "true_id", "soc_sec_id") if column in data.column_names])
    data = data.append_column("id", pa.array(range(data.num_rows)))
    data = pa.table({column: data[column].cast(pa.string()) for column in data.column_names})
    data = pa.table(
        {column: compute.if_else(compute.equal(data[column], ""), None, data[column]) for column in data.column_names}
    )
    records = np.sort(np.random.default_rng(1).choice(data.num_rows, 500, replace=False))
    dictionaries = list(nested(data, records, 2))
    setting = setting_of(data.take(records), sf.Schema(), dictionaries, identity="id", sensitivity=Additive(default="0.3"))
    gaps = 0
    for rule in rules(setting.everything, 3):
        found = risk_of(setting, rule).dictionaries
        for low in range(3):
            for high in range(low + 1, 3):
                told = upper_bound(setting, f"step {low}", f"step {high}", rule)
                assert told.holds, str(told)
                assert (found[high].losses <= found[low].losses).all()
                assert told.true <= told.estimated < math.inf
                gaps += told.true < told.estimated
    assert gaps > 0, "the dictionaries must differ"
    reverse = upper_bound(setting, "step 2", "step 0")
    assert not reverse.holds


@pytest.mark.data
def test_two_directories_of_the_same_people(real_data):
    """Spelling errors make 4b no follower of 4a: nothing is claimed, and the first person who shows it is named."""
    tables = []
    for name in ("febrl_dataset4a", "febrl_dataset4b"):
        data = sf.read_table(real_data / "record_linkage" / f"{name}.csv", sf.Schema()).data
        people = compute.replace_substring_regex(data["rec_id"].cast(pa.string()), r"-(org|dup-0)$", "")
        tables.append(data.select(["given_name", "surname", "postcode"]).append_column("id", people))
    found = bound(tables[0].slice(0, 500), *tables)
    assert not found.holds
    assert [condition.name for condition in found.failing] == [ORDER]
    assert "does not precede" in str(found)
