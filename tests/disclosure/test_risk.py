"""The risk: losses, R, Bayes and worst case are those of the definitions, and a limit is decided without rounding."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_risk as naive
import sfumato as sf
from sfumato.disclosure._risk import risk, risk_of
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.disclosure.sensitivity.sensitivity import Additive, ConstantSensitivity, CustomSensitivity, Multiplicative
from sfumato.disclosure.setting import setting_of

VALUES = st.sampled_from([None, "x", "y", "z"])
WEIGHTS = st.sampled_from([Fraction(0), Fraction(1), Fraction(1, 3), Fraction(1, 10), Fraction(7), math.inf])
TINY = Fraction(1, 10**40)


def frame(rows, **more):
    columns = {f"a{j}": pa.array(list(values), pa.string()) for j, values in enumerate(zip(*rows, strict=True))}
    return pa.table({**more, **columns})


@st.composite
def cases(draw, leaning=False):
    """Records, a rule, two dictionaries, a prior, and Φ of each form, exactly."""
    n, m = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    rows = [[draw(VALUES) for _ in range(m)] for _ in range(n)]
    rule = np.array([[draw(st.booleans()) for _ in range(m)] for _ in range(n)])
    books = [[[draw(VALUES) for _ in range(m)] for _ in range(draw(st.integers(1, 5)))] for _ in range(2)]
    share = draw(st.fractions(0, 1, max_denominator=7))
    weights = [draw(WEIGHTS) for _ in range(m)]
    pairs = {(0, m - 1): draw(WEIGHTS)} if m > 1 and draw(st.booleans()) else {}
    names = [f"a{j}" for j in range(m)]
    told = {
        "weights": dict(zip(names, weights, strict=True)),
        "pairs": {(names[j], names[h]): w for (j, h), w in pairs.items()},
    }
    false = draw(st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 3), Fraction(1), Fraction(5, 2)]))
    form = draw(st.sampled_from(["additive", "multiplicative", "constant", "function"]))
    shown = [naive.disclosed(row, rule[i]) for i, row in enumerate(rows)]
    if form == "constant":
        phi, values = ConstantSensitivity("7/3", false_identification=false), [Fraction(7, 3)] * n
    elif form == "function":
        phi, values = (
            CustomSensitivity(lambda disclosed, identity: Fraction(len(disclosed), 10), false_identification=false),
            [Fraction(sum(value is not None for value in row), 10) for row in shown],
        )
    else:
        phi = (Additive if form == "additive" else Multiplicative)(**told, false_identification=false)
        values = [naive.linear(row, weights, pairs) for row in shown]
        values = values if form == "additive" else [naive.power(value) for value in values]
    own = leans = None
    if leaning:
        own = [[draw(st.integers(0, len(book) - 1)) for _ in range(n)] for book in books]
        leans = [[draw(st.sampled_from([Fraction(0), Fraction(1), Fraction(1, 10)])) for _ in book] for book in books]
        for lean in leans:
            lean[0] = Fraction(1)
    losses = [
        [naive.times(values[i], naive.harm(shown[i], book, false, leans and leans[b], own and own[b][i])) for i in range(n)]
        for b, book in enumerate(books)
    ]
    return rows, rule, books, (share, 1 - share), phi, shown, losses, own, leans


def near(value):
    return pytest.approx(float(value), rel=1e-12)


@given(cases())
def test_the_definitions(case):
    rows, rule, books, prior, phi, shown, losses, _, _ = case
    dictionaries = [Dictionary(frame(book), name=str(b)) for b, book in enumerate(books)]
    setting = setting_of(frame(rows), sf.Schema(), dictionaries, sensitivity=phi)
    found = risk_of(setting, rule)
    risks = [naive.risk(each) for each in losses]
    for b, one in enumerate(found.dictionaries):
        assert one.sizes.tolist() == [len(naive.rho(row, books[b])) for row in shown]
        assert one.losses == pytest.approx(list(map(float, losses[b])), rel=1e-12)
        assert one.risk == near(risks[b])
    assert found.bayes is None
    assert found.risk == found.worst.risk == near(max(risks))
    expected = setting_of(frame(rows), sf.Schema(), dictionaries, sensitivity=phi, prior=prior)
    mixed = risk_of(expected, rule)
    assert mixed.risk == mixed.bayes == near(naive.bayes(prior, risks))
    assert "NaN" not in mixed.to_json()


@given(cases(), st.booleans())
def test_a_limit_is_decided_without_rounding(case, with_prior):
    rows, rule, books, prior, phi, _, losses, _, _ = case
    risks = [naive.risk(each) for each in losses]
    exact = naive.bayes(prior, risks) if with_prior else max(risks)
    setting = setting_of(
        frame(rows),
        sf.Schema(),
        [Dictionary(frame(book), name=str(b)) for b, book in enumerate(books)],
        sensitivity=phi,
        prior=prior if with_prior else None,
    )
    if exact == math.inf:
        assert risk_of(setting, rule, "1e300").holds is False
        return
    # the oracle has 100 digits of the multiplicative form, and all of the others
    assert risk_of(setting, rule, exact * (1 + TINY)).holds is True
    assert risk_of(setting, rule, exact).holds is True or phi.name == "multiplicative"
    assert exact == 0 or risk_of(setting, rule, exact * (1 - TINY)).holds is False
    assert risk_of(setting, rule).holds is None


@given(cases(leaning=True))
def test_an_attacker_who_leans(case):
    """The chance is the share that the right individual has in the weight of all consistent ones."""
    rows, rule, books, _, phi, _, losses, own, leans = case
    for b, book in enumerate(books):
        people = frame(rows, id=pa.array(own[b]))
        known = frame(book, id=pa.array(range(len(book))), w=pa.array([Decimal(str(float(lean))) for lean in leans[b]]))
        dictionary = Dictionary(known, identity="id", weight="w")
        exact = naive.risk(losses[b])
        found = risk(people, sf.Schema(), dictionary, identity="id", sensitivity=phi, rule=rule, limit=1)
        assert found.risk == near(exact)
        assert found.holds is bool(exact <= 1)
        if exact != math.inf and phi.name != "multiplicative":
            assert risk_of(found.setting, rule, exact).holds is True
            assert exact == 0 or risk_of(found.setting, rule, exact - TINY).holds is False


@given(cases(leaning=True), st.booleans())
def test_without_an_attribute_the_risk_is_that_of_the_rule_that_withholds_it(case, leaning):
    rows, rule, books, _, phi, _, _, own, leans = case
    ids = [f"p{own[0].index(v)}" if v in own[0] else f"q{v}" for v in range(len(books[0]))]
    book = frame(books[0], id=ids, lean=[str(float(lean)) for lean in leans[0]])
    people = frame(rows, id=[f"p{i}" for i in range(len(rows))])
    dictionary = Dictionary(book, identity="id", name="book", weight="lean" if leaning else None)
    setting = setting_of(people, sf.Schema(), dictionary, identity="id", sensitivity=phi)
    for j, each in enumerate(risk_of(setting, rule).by_attribute):
        without = rule & (np.arange(rule.shape[1]) != j)
        assert each.without == near(risk_of(setting, without).risk)


def book_of(*rows, name="book", **more):
    return Dictionary(frame(rows), name=name, **more)


def test_nothing_disclosed_leaves_everybody():
    """Erratum 5: |ρ| is N, not N to the power of the attributes; and erratum 9: Φ₅ of nothing is 1."""
    people = frame([["x", "y", "z"]])
    book = book_of(*[["x", "y", "z"]] * 4)
    nothing = np.zeros((1, 3), bool)
    found = risk(people, sf.Schema(), book, sensitivity=Multiplicative(), rule=nothing)
    assert found.worst.sizes.tolist() == [4]
    assert found.risk == 0.25
    assert risk(people, sf.Schema(), book, rule=nothing).risk == 0


def test_nobody_consistent_is_no_loss():
    """Erratum 9: also of infinite weights, and in the Bayes risk."""
    people = frame([["x"]])
    books = [book_of(["y"], name="one"), book_of(["x"], ["x"], name="two")]
    forbidden = risk(people, sf.Schema(), books[0], sensitivity=Additive({"a0": "inf"}))
    assert forbidden.risk == 0
    assert risk(people, sf.Schema(), books, prior=["1/2", "1/2"]).bayes == 0.25
    never = risk(people, sf.Schema(), books, prior={"two": 0, "one": 1}, sensitivity=Additive({"a0": "inf"}))
    assert never.bayes == 0, "what is never the attacker's dictionary does not count, however much it would cost"
    assert never.worst.risk == math.inf
    assert json.loads(never.to_json())["worst"] == {"dictionary": "two", "risk": "inf"}
    assert "nobody in 'one' is consistent with 1 record" in never.notes[0]


def test_by_attribute():
    """What each attribute adds: worked out by hand."""
    people = frame([["x", "u"], ["y", "u"]])
    book = book_of(["x", "u"], ["y", "u"], ["y", "v"], ["z", "u"])
    found = risk(people, sf.Schema(), book, sensitivity=Additive({"a0": 3}))
    assert found.risk == 4
    first, second = found.by_attribute
    # without a0 both records fit three individuals, and Φ is 1; without a1 they fit one and two, and Φ is 3
    assert (first.without, first.saves) == (pytest.approx(1 / 3), pytest.approx(4 - 1 / 3))
    assert (second.without, second.saves) == (2.25, 1.75)
    assert (first.alone, second.alone) == (0.75, pytest.approx(1 / 3))
    assert (first.weight, second.weight, first.disclosed) == (3, 1, 2)
    constant = risk(people, sf.Schema(), book, sensitivity=ConstantSensitivity()).by_attribute[0]
    assert constant.weight is None


def test_withholding_may_cost():
    """A value that nobody has identifies nobody; without it the record fits somebody."""
    found = risk(frame([["x", "w"]]), sf.Schema(), book_of(["x", "u"]))
    assert found.risk == 0
    assert found.by_attribute[1].saves == -1
    stays = risk(frame([["x", "u"]]), sf.Schema(), book_of(["x", "u"]), sensitivity=Additive(default="inf"))
    assert stays.by_attribute[0].saves is None


def test_worst_records():
    people = frame([["y"], ["x"], ["x"]], id=pa.array(["r", "s", "t"]))
    book = book_of(["x"], ["x"], ["y"])
    found = risk(people, sf.Schema(), book, identity="id", sensitivity=Additive(records=[1, 8, 8]))
    assert [tuple(vars(each).values()) for each in found.worst_records(2)] == [
        (2, "s", 2, 0.5, 8, 4),
        (3, "t", 2, 0.5, 8, 4),
    ]
    assert found.worst_records(1, "book")[0].row == 2
    with pytest.raises(sf.errors.ParameterError, match="unknown dictionary 'books'"):
        found.worst_records(1, "books")


def test_attackers_as_reviewers_know_them():
    """Four people alike, two alike, and one alone: the table itself, and a register with nine more."""
    rows = [["x"]] * 4 + [["y"]] * 2 + [["z"]]
    people = frame(rows, id=pa.array(range(7)))
    itself = Dictionary(people, identity="id", name="itself")
    register = Dictionary(frame(rows + [["x"]] * 6 + [["z"]] * 3, id=pa.array(range(16))), identity="id", name="register")
    anybody = Dictionary(frame(rows), name="rows")
    found = risk(people, sf.Schema(), [itself, register, anybody], identity="id")
    prosecutor, journalist, unknown = found.attackers
    assert (prosecutor.prosecutor, prosecutor.journalist, prosecutor.marketer) == (1, None, pytest.approx(3 / 7))
    assert (prosecutor.unique, dict(prosecutor.above)[Fraction(1, 5)], dict(prosecutor.above)[Fraction(1, 3)]) == (1, 7, 3)
    assert dict(prosecutor.above)[Fraction(1, 2)] == 1, "above means more than"
    assert (journalist.prosecutor, journalist.journalist) == (None, 0.5)
    assert journalist.marketer == pytest.approx((4 / 10 + 2 / 2 + 1 / 4) / 7)
    assert "contains 9 individuals in addition" in journalist.why
    assert unknown.prosecutor is None
    assert "not known" in unknown.why
    lacking = risk(frame(rows, id=pa.array(range(1, 8))), sf.Schema(), itself, identity="id").attackers[0]
    assert "lacks the individuals of 1 records" in lacking.why


def test_everything_but_what_is_set_apart_is_an_attribute():
    people = frame([["x", "y"]], id=pa.array([1]), name=pa.array(["n"]), w=pa.array([2]), person=pa.array([5]))
    schema = sf.Schema(identifiers=["name"], person_id="person")
    setting = setting_of(people, schema, book_of(["x", "y"]), identity="id", sensitivity=Additive(records="w"))
    assert setting.attributes == ("a0", "a1")
    named = setting_of(people, schema, book_of(["x", "y"]), attributes=["a1", "w"], sensitivity=Additive(records="w"))
    assert named.attributes == ("a1", "w")


def test_several_records_may_be_of_one_person():
    people = frame([["x"], ["y"]], id=pa.array([1, 1]))
    book = Dictionary(frame([["x"], ["y"]], id=pa.array([1, 2])), identity="id")
    assert risk(people, sf.Schema(), book, identity="id").risk == 1


PEOPLE = frame([["x", "y"], ["x", "z"]], id=pa.array([1, 2]))


@pytest.mark.parametrize(
    ("more", "error", "words"),
    [
        ({"prior": [1]}, sf.errors.ParameterError, "not one number for each of 2 dictionaries"),
        ({"prior": ["0.5", "0.4"]}, sf.errors.ParameterError, "sums to 0.9, not to 1"),
        ({"prior": [0.3333, 0.6666]}, sf.errors.ParameterError, "sums to 0.9999"),
        ({"prior": [2, -1]}, sf.errors.ParameterError, "prior of 'two' is negative"),
        ({"prior": {"one": 1}}, sf.errors.ParameterError, "lacks 'two'"),
        ({"prior": {"one": 1, "three": 0}}, sf.errors.ParameterError, "'three', which is not a dictionary"),
        ({"prior": [math.nan, 1]}, sf.errors.ParameterError, "prior.one.*not a number"),
        ({"prior": "one"}, sf.errors.ParameterError, "not one number"),
        ({"prior": 1}, sf.errors.ParameterError, "not one number"),
        ({"identity": "idd"}, sf.errors.ColumnError, "Did you mean 'id'"),
        ({"attributes": ["a0", "a9"]}, sf.errors.ColumnError, "column 'a9'"),
        ({"attributes": ["a0", "a0"]}, sf.errors.ColumnError, "listed twice"),
        ({"attributes": ["a0", "id"], "identity": "id"}, sf.errors.ColumnError, "also listed as an attribute"),
        ({"attributes": []}, sf.errors.ParameterError, "no columns to disclose"),
        ({"sensitivity": 3}, sf.errors.ParameterError, "3 is not a sensitivity"),
        ({"limit": "-1"}, sf.errors.ParameterError, "negative"),
        ({"limit": "much"}, sf.errors.ParameterError, "not a number"),
        ({"rule": np.ones((2, 3))}, sf.errors.ParameterError, "type float64.*booleans for 2 records"),
        ({"rule": np.ones((1, 2), bool)}, sf.errors.ParameterError, "shape"),
    ],
)
def test_bad_input(more, error, words):
    books = [book_of(["x", "y"], name="one"), book_of(["x", "z"], name="two")]
    more = {"attributes": ["a0", "a1"], **more}
    with pytest.raises(error, match=words):
        risk(PEOPLE, sf.Schema(), books, **more)


def test_bad_dictionaries():
    with pytest.raises(sf.errors.ParameterError, match="no dictionaries"):
        risk(PEOPLE, sf.Schema(), [])
    with pytest.raises(sf.errors.ParameterError, match="two dictionaries are named 'book'"):
        risk(PEOPLE, sf.Schema(), [book_of(["x", "y"]), book_of(["x", "y"])])
    with pytest.raises(sf.errors.ParameterError, match="is not a dictionary"):
        risk(PEOPLE, sf.Schema(), [frame([["x"]])])
    leaning = Dictionary(frame([["x"]], w=pa.array([2])), weight="w")
    with pytest.raises(sf.errors.ParameterError, match="Declare the identity"):
        risk(PEOPLE, sf.Schema(), leaning, attributes=["a0"])
    with pytest.raises(sf.errors.ParameterError, match="has no schema"):
        risk(PEOPLE, None, book_of(["x", "y"]))


def test_told_in_one_glance():
    books = [book_of(["x", "y"], name="one"), book_of(["x", "z"], ["x", "z"], name="two")]
    found = risk(PEOPLE, sf.Schema(), books, identity="id", prior=["0.5", "0.5"], limit="0.7")
    # against `one` the first record loses 2 and the second nothing; against `two` the second loses 1 and the first nothing
    assert repr(found).splitlines()[0] == "Risk of 2 records with 2 attributes: 0.75 over the prior, MORE THAN 0.7"
    told = json.loads(found.to_json(1))
    assert (told["risk"], told["bayes"], told["holds"], told["limit"], told["over"]) == (0.75, 0.75, False, "0.7", "prior")
    assert told["dictionaries"][1]["consistent"] == {"least": 0, "median": 1.0, "most": 2, "nobody": 1}
    assert told["worst_records"] == [
        {"row": 1, "identity": 1, "consistent": 1, "probability": 1.0, "sensitivity": 2.0, "loss": 2.0}
    ]
    assert told["sensitivity"] == {"kind": "additive", "default": "1"}


def test_a_note_counts_the_records_that_weights_make_safe():
    """One has its individual, one is absent, one is not consistent, and with one nobody is: that has a note of its own."""
    people = pa.table({"id": [1, 2, 3, 4], "age": [30, 30, 30, 99]})
    known = pa.table({"id": [1, 3, 4], "age": [30, 41, 30], "w": [0, 1, 2]})
    given = {"identity": "id", "attributes": ["age"]}
    found = sf.risk(people, sf.Schema(), Dictionary(known, identity="id", weight="w", name="book"), **given)
    assert found.worst.probabilities.tolist() == [0, 0, 0, 0]
    notes = [note for note in found.notes if "weights" in note]
    assert len(notes) == 1
    assert "'book' has weights, and the individual of 2 records is unknown" in notes[0]
    assert any("nobody in 'book' is consistent with 1 record" in note for note in found.notes)
    plain = sf.risk(people, sf.Schema(), Dictionary(known.drop_columns(["w"]), identity="id"), **given)
    assert plain.worst.probabilities.tolist() == [0.5, 0.5, 0.5, 0]
    assert not any("weights" in note for note in plain.notes)
