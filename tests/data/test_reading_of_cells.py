"""How cells become values: numbers, decimal marks, texts that are written in several ways, orders."""

from decimal import Decimal
from fractions import Fraction
from unicodedata import normalize

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.schema import Kind
from sfumato.data.table import Table
from sfumato.errors import ColumnError, DistanceError
from sfumato.io.read_table import as_table


def read(tmp_path, *cells, schema=None):
    """Return the only column of a CSV file with these cells."""
    file = tmp_path / "cells.csv"
    file.write_text("x;y\n" + "".join(f'"{cell}";1\n' for cell in cells), encoding="utf-8")
    return sf.read_table(file, schema or sf.Schema(["x"])).column("x")


@pytest.mark.parametrize("pair", [("250", "250.0"), ("0", "-0"), ("0.0", "-0"), ("250.1", "250.10"), ("1,5", "1,50")])
def test_two_spellings_of_a_number_make_a_column_categorical(tmp_path, pair):
    column = read(tmp_path, *pair, "7")
    assert column.kind is Kind.CATEGORICAL
    assert column.size == 3
    assert "would be one" in column.note


def test_decimal_commas_are_recognised(tmp_path):
    column = read(tmp_path, "1,5", "12", "-0,25", "")
    assert column.kind is Kind.NUMERIC
    assert [column.numbers[code] for code in range(3)] == [Fraction(-1, 4), Fraction(3, 2), 12]
    assert "decimal commas" in column.note


def test_a_comma_that_may_separate_thousands_is_noted(tmp_path):
    column = read(tmp_path, "1,500", "12", "2,250")
    assert column.kind is Kind.CATEGORICAL
    assert "thousands" in column.note
    declared = read(tmp_path, "1,500", "12", "2,250", schema=sf.Schema(["x"], decimals={"x": ","}))
    assert [declared.numbers[code] for code in range(3)] == [Fraction(3, 2), Fraction(9, 4), 12]


def test_a_declared_point_refuses_commas(tmp_path):
    with pytest.raises(sf.errors.CellError, match="row 1: '1,5' is not a number"):
        read(tmp_path, "1,5", "2", schema=sf.Schema(["x"], decimals={"x": "."}))


@pytest.mark.parametrize(("mark", "kinds"), [(";", {}), (",", {"x": "text"})])
def test_an_invalid_decimal_mark_is_refused(mark, kinds):
    with pytest.raises(ColumnError, match="decimal"):
        sf.Schema(["x"], decimals={"x": mark}, kinds=kinds)


def test_a_release_with_decimal_commas_is_verified(tmp_path):
    """The suppressed rows may leave only cells that look like thousands: the mark is stated in the release."""
    file = tmp_path / "people.csv"
    file.write_text("age;wage\n" + "".join(f"{30 + i % 2};{1 + i % 3},{250 + i}\n" for i in range(40)) + "50;1,5\n")
    schema = sf.Schema(["age"], ["wage"])
    release = sf.anonymize(file, schema, [sf.KAnonymity(5), sf.Dissimilarity("0.001", "0.5")], suppress="0.1")
    release.save(tmp_path / "out")
    assert release.to_dict()["config"]["columns"]["wage"]["decimal"] == ","
    assert sf.verify(tmp_path / "out", file).holds


@given(st.lists(st.sampled_from(["caf\xe9", "ångström", "flu", "n\xf1", "Ω"]), min_size=1), st.data())
def test_spelling_does_not_count(words, data):
    """The number of values is that of the words, whatever their Unicode form and the blanks around them."""
    forms = data.draw(st.lists(st.sampled_from(["NFC", "NFD"]), min_size=len(words), max_size=len(words)))
    blanks = data.draw(st.lists(st.sampled_from(["", " ", "\xa0", "\t"]), min_size=len(words), max_size=len(words)))
    cells = [blank + normalize(form, word) + blank for word, form, blank in zip(words, forms, blanks, strict=True)]
    table = Table(pa.table({"x": cells}), sf.Schema(sensitive=["x"]))
    assert table.column("x").size == len(set(words))


def test_a_blank_cell_is_missing(tmp_path):
    assert read(tmp_path, "a", " ", "").has_missing


def test_blanks_in_an_order_and_a_hierarchy_do_not_count():
    tree = sf.Hierarchy.from_rows([[" flu", "lung", "*"], ["ulcer", "gut", "*"]])
    schema = sf.Schema(["ill"], hierarchies={"ill": tree})
    assert Table(pa.table({"ill": ["flu ", "ulcer"]}), schema).column("ill").paths.shape == (2, 3)
    ordered = sf.Schema(["x"], orders={"x": ["low ", "high"]})
    assert Table(pa.table({"x": ["low", "high "]}), ordered).column("x").codes.tolist() == [0, 1]


def test_letter_case_is_noted():
    column = Table(pa.table({"x": ["Flu", "flu", "gout"]}), sf.Schema(sensitive=["x"])).column("x")
    assert column.size == 3
    assert "letter case" in column.note


def test_letter_case_of_published_cells_is_not_noted():
    """Where a column names the groups, the texts of quasi-identifiers decide nothing; those of secrets do."""
    data = pa.table({"sex": ["{F; X}", "{F; x}"], "ill": ["Flu", "flu"], "g": [1, 2]})
    table = Table(data, sf.Schema(["sex"], ["ill"], group="g"))
    assert table.column("sex").note is None
    assert "letter case" in table.column("ill").note


@pytest.mark.parametrize("cells", [["flu", "gout", "flu "], ["caf\xe9", "cafe\u0301"]])
def test_two_spellings_of_a_secret_are_noted(cells):
    """They are published as they are written, so blanks may reveal the source of a row."""
    data = pa.table({"x": cells})
    assert "blanks or Unicode form" in Table(data, sf.Schema(sensitive=["x"])).column("x").note
    assert Table(data, sf.Schema(["x"])).column("x").note is None  # published as labels, which have one spelling
    assert Table(data.slice(0, 1), sf.Schema(sensitive=["x"])).column("x").note is None


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": pd.Categorical(["low", "high", "mid"], ["low", "mid", "high"], ordered=True)}),
        pl.DataFrame({"x": pl.Series(["low", "high", "mid"], dtype=pl.Enum(["low", "mid", "high"]))}),
    ],
    ids=["pandas", "polars"],
)
def test_ordered_categories_are_ordinal(frame):
    release = sf.anonymize(frame, sf.Schema(["x"]), sf.KAnonymity(3))
    assert set(release.frame["x"]) == {"[low, high]"}
    assert release.schema.orders["x"] == ("low", "mid", "high")


def test_unordered_categories_stay_categorical():
    frame = pd.DataFrame({"x": pd.Categorical(["low", "high", "mid"])})
    assert sf.anonymize(frame, sf.Schema(["x"]), sf.KAnonymity(3)).schema.kinds["x"] is Kind.CATEGORICAL


def test_integers_beyond_64_bits_are_exact():
    frame = pd.DataFrame({"x": pd.Series([2**70, 2**70 + 1, None, 3], dtype=object)})
    column = as_table(frame, sf.Schema(["x"])).column("x")
    assert [column.value(code) for code in column.codes] == [2**70, 2**70 + 1, None, 3]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_a_float_of_any_width_means_the_decimal_that_was_typed(kind):
    assert sf.Dissimilarity(epsilon=kind(0.1), delta="0.5").epsilon == Fraction(1, 10)


def test_a_number_far_from_all_others_is_noted_and_reported(tmp_path):
    ages = [20 + i % 50 for i in range(300)]
    for extreme in (10**18, -(10**18)):
        table = pa.table({"age": [*ages, extreme], "zip": [i % 7 for i in range(301)]})
        release = sf.anonymize(table, sf.Schema(["age", "zip"]), sf.KAnonymity(7))
        assert any("very far" in note for note in release.private.notes)
        release.save(tmp_path / f"out{extreme}")


def test_an_epsilon_without_a_meaning_is_refused(tmp_path):
    file = tmp_path / "people.csv"
    file.write_text("age;wage\n30;1000\n30;1001\n30;about 1000\n")
    principle = sf.Dissimilarity(epsilon=10, delta="0.5")
    with pytest.raises(DistanceError, match="has no meaning for 'wage'"):
        sf.audit(file, sf.Schema(["age"], ["wage"]), principle)
    on_purpose = sf.audit(file, sf.Schema(["age"], ["wage"], kinds={"wage": "categorical"}), principle)
    assert on_purpose[0].distance == "discrete"
    assert sf.audit(file, sf.Schema(["age"], ["wage"]), sf.Dissimilarity(epsilon=0, delta="0.5")).holds


def test_exact_decimals_of_a_frame_stay_exact():
    table = Table(pa.table({"x": [Decimal("0.1"), Decimal("0.10")]}), sf.Schema(["x"]))
    assert table.column("x").size == 1
