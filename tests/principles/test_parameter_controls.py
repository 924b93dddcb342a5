"""Controls of parameters: their ends follow from the people, the values and the numbers of the table."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import ParameterError
from sfumato.principles import parameter_controls
from sfumato.registry import PRINCIPLES

PAY = [10, 10, 20, 30, 30, 30, 90]


def controls(kind, values=PAY, **schema):
    table = sf.Table(pa.table({"age": list(range(len(values))), "pay": values}), sf.Schema(["age"], ["pay"], **schema))
    return {control.name: control for control in parameter_controls(kind, table)}


def test_a_control_ends_where_the_table_does():
    assert controls(sf.KAnonymity)["k"].high == len(PAY)
    assert controls(sf.DistinctLDiversity)["l"].high == len(set(PAY))
    assert controls(sf.KEAnonymity)["e"].high == Fraction(90 - 10) / 2
    variance = controls(sf.VarianceControl)["variance"]
    assert 0 <= float(variance.high) - 0.8 * np.var(PAY) < variance.step
    assert controls(sf.NTCloseness)["n"].high == len(PAY)


def test_people_count_not_rows():
    table = sf.Table(pa.table({"who": [1, 1, 2], "age": [30, 31, 32]}), sf.Schema(["age"], person_id="who"))
    assert parameter_controls(sf.KAnonymity, table)[0].high == 2


def test_extreme_values_do_not_stretch_a_distance():
    values = [*range(100), 10**9]
    assert controls(sf.Dissimilarity, values)["epsilon"].high < 100


def test_categories_are_at_most_one_apart():
    assert 0.25 <= controls(sf.Dissimilarity, ["a", "b", "c"])["epsilon"].high < 0.26


@pytest.mark.parametrize("unit", [1, Decimal("0.1")])
def test_a_step_is_no_smaller_than_the_differences_of_values(unit):
    found = controls(sf.Dissimilarity, [number * unit for number in range(10)])
    assert found["epsilon"].step == Fraction(unit)
    assert found["delta"].step < Fraction(unit), "a share, not a distance"


def test_what_has_no_scale_has_no_ends():
    plain = {control.name: control for control in parameter_controls(sf.Dissimilarity)}
    assert plain["epsilon"].low is plain["epsilon"].high is plain["epsilon"].step is None
    assert plain["epsilon"].to_dict()["high"] is None
    assert controls(sf.KEAnonymity, ["a", "b"])["e"].high is not None  # equality is a distance
    assert controls(sf.VarianceControl, ["a", "b"])["variance"].high is None


def refusal(kind, parameters):
    """Return why a principle refuses parameters: some must not all be lax at once, whatever the range of each."""
    try:
        kind(**parameters)
    except ParameterError as error:
        return str(error)
    return ""


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=9))
def test_every_position_of_a_control_is_a_parameter(values):
    """Both ends and the first step are accepted by the principle, and a control has no more than a few hundred steps."""
    for name in PRINCIPLES:
        kind = PRINCIPLES[name]
        given_ = kind.example().principle.parameters()
        for control in controls(kind, values).values():
            if control.low is None:
                continue
            if (name, control.name) == ("guarded-values", "delta"):
                given_ = given_ | {"epsilon": 1}  # delta says nothing without it
            assert control.low <= control.high
            assert (control.high - control.low) / control.step <= 20_000
            for position in (control.low, control.high, control.low + control.step):
                value = int(position) if control.range.kind == "whole" else position
                if control.range.allows(Fraction(value)):
                    refused = refusal(kind, given_ | {control.name: value})
                    assert not any(words in refused for words in ("out of range", "whole number", "can never hold"))


@pytest.mark.parametrize("name", PRINCIPLES)
def test_what_is_out_of_range_is_refused(name):
    kind = PRINCIPLES[name]
    given_ = kind.example().principle.parameters()
    for parameter, declared in kind.ranges.items():
        if declared.kind in ("whole", "number"):
            with pytest.raises(ParameterError, match=parameter):
                kind(**given_ | {parameter: Fraction(declared.least) - 1 if declared.kind == "number" else 0})
