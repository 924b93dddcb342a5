"""Sensitivities: Φ₁ to Φ₅ are those of Lebanon et al. (2006), and an invalid weight is reported by name."""

from __future__ import annotations

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
from sfumato.disclosure.sensitivity.exact_weights import present
from sfumato.disclosure.sensitivity.sensitivity import (
    SENSITIVITIES,
    Additive,
    ConstantSensitivity,
    CustomSensitivity,
    Multiplicative,
)

NAMES = ("a", "b", "c")
WEIGHTS = st.sampled_from([0, 1, 2, 0.5, "0.1", "1/3", Decimal("0.7"), "inf", math.inf, 10**6])


def exact(weight):
    return math.inf if weight in ("inf", math.inf) else Fraction(str(weight))


def table(columns, **schema):
    return sf.Table(pa.table(columns), sf.Schema(**schema))


@st.composite
def weighted(draw):
    """A table with values missing here and there, a rule, and parameters of a sensitivity with the weights they mean."""
    n = draw(st.integers(1, 4))
    values = st.sampled_from([None, "x", "y"])
    rows = [[draw(values) for _ in NAMES] for _ in range(n)]
    rule = np.array([[draw(st.booleans()) for _ in NAMES] for _ in range(n)])
    weights = draw(st.dictionaries(st.sampled_from(NAMES[:2]), WEIGHTS))
    default = draw(WEIGHTS)
    records = draw(st.none() | st.lists(WEIGHTS, min_size=n, max_size=n))
    cells = draw(st.dictionaries(st.just("c"), st.lists(WEIGHTS, min_size=n, max_size=n)))
    pairs = draw(st.dictionaries(st.sampled_from([("a", "b"), ("c", "a"), ("b", "c")]), WEIGHTS))
    triples = draw(st.dictionaries(st.sampled_from([("c", "a", "b")]), WEIGHTS))
    by_record = [Fraction(1)] * n if records is None else [exact(weight) for weight in records]
    wanted = []
    for i, row in enumerate(rows):
        each = [
            exact(cells[name][i]) if name in cells else naive.times(exact(weights.get(name, default)), by_record[i])
            for name in NAMES
        ]
        both = {
            tuple(map(NAMES.index, together)): naive.times(exact(weight), by_record[i])
            for together, weight in (*pairs.items(), *triples.items())
        }
        wanted.append(naive.linear(naive.disclosed(row, rule[i]), each, both))
    columns = {name: pa.array([row[j] for row in rows], pa.string()) for j, name in enumerate(NAMES)}
    if records is not None and draw(st.booleans()):
        columns["w"], records = pa.array([str(weight) for weight in records]), "w"
    if cells and draw(st.booleans()):
        columns["u"] = pa.array([str(weight) for weight in cells["c"]])
        cells = {"c": "u"}
    parameters = {"default": default, "records": records, "cells": cells, "pairs": pairs, "triples": triples}
    return table(columns), rule, weights, parameters, wanted


@given(weighted())
def test_the_linear_forms(case):
    records, rule, weights, parameters, wanted = case
    phi = Additive(weights, **parameters)
    shown = rule & present(records, NAMES)
    assert phi.weights_of(records, NAMES, None).of(shown) == pytest.approx(list(map(float, wanted)))
    told = phi.exactly(records, NAMES, None, shown)
    for total, infinite, want in zip(told.totals, told.infinite, wanted, strict=True):
        assert (math.inf if infinite else total * told.unit) == want
    assert SENSITIVITIES["additive"](**phi.parameters()) == phi
    assert "w" not in phi.columns() or parameters["records"] == "w"


@given(weighted())
def test_the_multiplicative_form(case):
    records, rule, weights, parameters, wanted = case
    phi = Multiplicative(weights, **parameters)
    shown = rule & present(records, NAMES)
    everything = phi.exactly(records, NAMES, None, present(records, NAMES))
    if max(everything.totals) * everything.unit > 680:
        with pytest.raises(sf.errors.ParameterError, match="Scale the weights"):
            phi.weights_of(records, NAMES, None)
        return
    powers = [float(naive.power(want)) for want in wanted]
    assert phi.weights_of(records, NAMES, None).of(shown) == pytest.approx(powers)
    assert phi.exactly(records, NAMES, None, shown).exponential


def test_special_cases_of_the_paper():
    """Φ₂ is the record's weight times what is disclosed of it; Φ₃ may be a product; Φ₄ adds pairs and triples."""
    records = table({"a": [1, 2], "b": [3, None], "w": [2, 5]})

    def of(phi, names=("a", "b")):
        return phi.weights_of(records, names, None).of(present(records, names)).tolist()

    assert of(Additive({"a": 3}, default="0.5")) == [3.5, 3]
    assert of(Additive(records="w")) == [4, 5]
    assert of(Additive({"a": 3}, records=[2, 5])) == [8, 15]
    assert of(Additive(cells={"a": "w", "b": [7, 8]})) == [9, 5]
    assert of(Additive(pairs={("b", "a"): 4}, records="w")) == [12, 5]
    assert of(Additive(triples={("w", "b", "a"): 4}), ["a", "b", "w"]) == [7, 2]
    assert of(Additive(triples=[["a", "b", "w", 4]], records="w"), ["a", "b", "w"]) == [14, 10]
    assert of(Multiplicative({"a": 0}, default=1)) == pytest.approx([math.e, 1])
    assert of(ConstantSensitivity("2.5")) == [2.5, 2.5]


def test_nothing_disclosed_weighs_nothing_and_in_the_multiplicative_form_one():
    """Erratum 9."""
    records = table({"a": [1]})
    nothing = np.zeros((1, 1), bool)
    assert Additive({"a": "inf"}).weights_of(records, ["a"], None).of(nothing).tolist() == [0]
    assert Multiplicative({"a": "inf"}).weights_of(records, ["a"], None).of(nothing).tolist() == [1]


def test_zero_times_infinity_is_zero():
    records = table({"a": [1, 2], "b": [1, 2], "w": [0, 3]})
    everything = present(records, ["a", "b"])
    phi = Additive({"a": "inf"}, default=0, records="w", pairs={("a", "b"): "inf"})
    assert phi.weights_of(records, ["a", "b"], None).of(everything).tolist() == [0, math.inf]
    assert phi.exactly(records, ["a", "b"], None, everything).infinite.tolist() == [False, True]


def test_a_column_of_floats_may_hold_infinity():
    records = table({"a": [1, 2], "w": pa.array([0.1, math.inf])})
    phi = Additive(records="w")
    assert phi.weights_of(records, ["a"], None).cells.tolist() == [[0.1], [math.inf]]
    assert phi.columns() == ("w",)


def test_the_user_own_function():
    seen = []

    def phi(shown, identity):
        seen.append((dict(shown), identity))
        return Fraction(len(shown), 3)

    records = table({"id": ["x", "y"], "a": [1, None], "b": ["u", "v"]})
    own = CustomSensitivity(phi)
    weights = own.weights_of(records, ["a", "b"], "id")
    assert weights.of(np.array([[True, False], [True, True]])).tolist() == [1 / 3, 1 / 3]
    assert seen == [({"a": 1}, "x"), ({"b": "v"}, "y")]
    told = own.exactly(records, ["a", "b"], "id", np.ones((2, 2), bool))
    assert [total * told.unit for total in told.totals] == [Fraction(2, 3), Fraction(1, 3)]
    assert own.to_dict()["kind"] == "function"
    assert CustomSensitivity("builtins:len").to_dict() == {"kind": "function", "function": "builtins:len"}
    mistaken = CustomSensitivity("builtins:len", false_identification=2).to_dict()
    assert mistaken == {"kind": "function", "function": "builtins:len", "false_identification": "2"}


@pytest.mark.parametrize("answer", [-1, math.nan, "much", None, True, -math.inf, np.nan, "nan"])
def test_a_wrong_answer_names_the_record(answer):
    records = table({"id": ["x", "y"], "a": [1, 2]})
    phi = CustomSensitivity(lambda shown, identity: 1 if identity == "x" else answer)
    with pytest.raises(sf.errors.ParameterError, match=r"row 2: .*'a': 2.*identity 'y'.*at least 0") as caught:
        phi.weights_of(records, ["a"], "id").of(np.ones((2, 1), bool))
    assert caught.value.row == 2


def test_a_function_that_fails_or_is_none():
    records = table({"a": [1]})
    weights = CustomSensitivity(lambda shown, identity: 1 / 0).weights_of(records, ["a"], None)
    with pytest.raises(sf.errors.ParameterError, match="ZeroDivisionError"):
        weights.of(np.ones((1, 1), bool))
    with pytest.raises(sf.errors.ParameterError, match="not a function"):
        CustomSensitivity(3)
    for name in ("no_such_module:f", "math:no_such", "math:pi", "math"):
        with pytest.raises(sf.errors.ParameterError, match="module"):
            CustomSensitivity(name).weights_of(records, ["a"], None)


@pytest.mark.parametrize("kind", [Additive, Multiplicative])
@pytest.mark.parametrize(
    ("parameters", "key", "words"),
    [
        ({"weights": {"a": -1}}, "weights.a", "-1 is negative"),
        ({"weights": {"a": math.nan}}, "weights.a", "nan is not a number"),
        ({"weights": {"a": "much"}}, "weights.a", "'much' is not a number"),
        ({"weights": {"a": None}}, "weights.a", "None is not a number"),
        ({"weights": {"a": True}}, "weights.a", "True is not a number"),
        ({"weights": {"a": -math.inf}}, "weights.a", "-inf is not a number"),
        ({"weights": {"a": "1e200"}}, "weights.a", "too large"),
        ({"weights": [1, 2]}, "weights", "not a mapping"),
        ({"default": "-0.1"}, "default", "'-0.1' is negative"),
        ({"records": 3}, "records", "not a column or a list"),
        ({"records": [1, -1]}, "records[1]", "-1 is negative"),
        ({"cells": {"a": [math.nan]}}, "cells.a[0]", "nan is not a number"),
        ({"weights": {"a": 1}, "cells": {"a": [1]}}, "cells.a", "in one of the two"),
        ({"pairs": {("a", "a"): 1}}, "pairs", "not a pair"),
        ({"pairs": {"ab": 1}}, "pairs", "not a pair"),
        ({"pairs": [["a", "b", 1], ["b", "a", 1]]}, "pairs", "twice"),
        ({"pairs": [["a", 1]]}, "pairs", "not a pair"),
        ({"pairs": 3}, "pairs", "invalid pairs"),
        ({"pairs": {("a", "b"): -2}}, "pairs.a,b", "-2 is negative"),
        ({"triples": {("a", "b"): 1}}, "triples", "not a triple"),
        ({"triples": [["a", "b", "a", 1]]}, "triples", "not a triple"),
        ({"triples": [["a", "b", "c", 1], ["c", "a", "b", 1]]}, "triples", "twice"),
        ({"triples": {("a", "b", "c"): "x"}}, "triples.a,b,c", "'x' is not a number"),
    ],
)
def test_what_is_no_weight_is_refused_by_name(kind, parameters, key, words):
    with pytest.raises(sf.errors.ParameterError) as caught:
        kind(**parameters)
    assert caught.value.key == key
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("phi", "column", "words"),
    [
        (Additive({"agee": 1}), "agee", "Did you mean 'age'"),
        (Additive({"id": 1}), "id", "not an attribute"),
        (Additive(cells={"other": [1, 1]}), "other", "no such column"),
        (Additive(pairs={("age", "zip"): 1}), "zip", "no such column"),
        (Additive(triples={("age", "age2", "zip"): 1}), "age2", "no such column"),
        (Additive(records="weight"), "weight", "no such column"),
    ],
)
def test_an_unknown_attribute_is_refused_by_name(phi, column, words):
    with pytest.raises(sf.errors.ColumnError, match=words) as caught:
        phi.weights_of(table({"id": [1, 2], "age": [30, 41]}), ["age"], "id")
    assert caught.value.column == column


@pytest.mark.parametrize(
    ("cell", "words"), [("-1", "negative"), ("", "missing"), ("many", "not a number"), ("nan", "number")]
)
def test_a_wrong_weight_in_a_column_names_its_row(cell, words):
    records = table({"age": [30, 41], "w": ["1", cell]})
    with pytest.raises(sf.errors.CellError, match=words) as caught:
        Additive(records="w").weights_of(records, ["age"], None)
    assert (caught.value.column, caught.value.row) == ("w", 2)


def test_a_list_of_weights_must_be_as_long_as_the_records():
    with pytest.raises(sf.errors.ParameterError, match="has 1 weights for 2 records"):
        Additive(records=[1]).weights_of(table({"age": [30, 41]}), ["age"], None)


@pytest.mark.parametrize("kind", [Additive, Multiplicative, ConstantSensitivity])
def test_a_false_identification(kind):
    assert kind(false_identification="0.50").to_dict()["false_identification"] == "0.5"
    assert "false_identification" not in kind().to_dict()
    assert kind(false_identification="1/4").weights_of(table({"a": [1]}), ["a"], None).false_identification == 0.25
    for wrong in (-1, 10**7, "much", math.inf):
        with pytest.raises(sf.errors.ParameterError, match="false_identification"):
            kind(false_identification=wrong)


def test_powers_that_no_float_holds_are_refused():
    records = table({"a": [1, None], "b": [2, 3]})
    phi = Multiplicative({"a": 700})
    with pytest.raises(sf.errors.ParameterError, match=r"row 1 add up to 701.*Scale the weights"):
        phi.weights_of(records, ["a", "b"], None)
    assert np.isfinite(Multiplicative({"a": 639}).weights_of(records, ["a", "b"], None).of(np.ones((2, 2), bool))).all()


def test_sensitivities_are_frozen_and_told():
    phi = Additive({"income": "5.50"}, default="inf", records="w")
    assert phi.to_dict() == {"kind": "additive", "weights": {"income": "5.5"}, "default": "inf", "records": "w"}
    with pytest.raises(AttributeError):
        phi.default = 2
    assert set(SENSITIVITIES) == {"additive", "multiplicative", "constant", "function"}
    assert SENSITIVITIES["constant"]("1/3").parameters() == {"value": "1/3"}
    with pytest.raises(sf.errors.ParameterError, match="negative"):
        ConstantSensitivity(-1)
