"""Cells that a spreadsheet would run: they are escaped, numbers are not, and all cells are read back unchanged."""

from __future__ import annotations

import csv
import io
import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.io.spreadsheet_formulas import escape, unescape
from sfumato.io.write_files import write_csv
from standin import Chunks

cells = st.lists(
    st.one_of(st.text(alphabet="\v\xa0\u3000\ufeff'=+-@\t\r\n ＝－12.,eE%a|!", max_size=6), st.text(max_size=5)).filter(
        lambda text: "\0" not in text
    ),
    min_size=1,
    max_size=20,
)


@given(cells)
def test_cells_are_read_back_unchanged(texts):
    array = pa.array(texts, pa.string())
    assert unescape(escape(array)).to_pylist() == texts
    assert len(set(escape(array).to_pylist())) == len(set(texts)), "two cells are never written alike"


@given(cells)
def test_only_numbers_begin_with_a_sign(texts):
    for text in escape(pa.array(texts, pa.string())).to_pylist():
        if text.strip(" \t\r\n\f\v\xa0\u3000\ufeff\u2028")[:1] in tuple("=+-@＝＋－＠") or text[:1] in ("\t", "\r", "\n"):
            assert not re.search(r"[^\s+\-0-9.,eE%]", text), text
            assert re.sub(r"[eE][+-]?[0-9]+", "", text).strip()[1:].find("-") == -1, "no sum"


@pytest.mark.parametrize("number", ["-1", "-1.5", "+3", "-2e-3", "-1,5", "-1.234,50", "-12 %", "0", "-.5"])
def test_numbers_are_not_escaped(number):
    assert escape(pa.array([number])).to_pylist() == [number]


@pytest.mark.parametrize(
    "formula",
    [
        "=1+1",
        "+1+1",
        "-1+1",
        "@SUM(A1)",
        "\t=1",
        " =1",
        "-2+3+cmd|' /C calc'!A0",
        '=HYPERLINK("x")',
        "＝1",
        "-",
        "--1",
        "\v=1",
        "\xa0=1",
        "\u2003 \u3000@x",
        "\ufeff=1",
        "\x85=1",
        "\r=1",
    ],
)
def test_formulas_are_escaped(formula):
    assert escape(pa.array([formula])).to_pylist() == ["'" + formula]


def test_a_release_escapes_cells_and_names_and_verifies(tmp_path):
    people = pa.table({
        "age": [-5, 1, 2, 3],
        "=town": ["=A1", "-b", "plain", "'=q"],
        "@ill": ["=cmd|x", "+4 days", "-3", "'"],
        "note": ["-1.5", "=1", "\tx", "ok"],
    })  # fmt: skip
    schema = sf.Schema(["age", "=town"], ["@ill"], kinds={"@ill": "categorical"}, undeclared="keep", unchanged_limit=1)
    release = sf.anonymize(people, schema, sf.KAnonymity(2), method=Chunks(2))
    folder = release.save(tmp_path / "out")
    with (folder / "data.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["group", "age", "'=town", "'@ill", "note"]
    assert {row[3] for row in rows} == {"'=cmd|x", "'+4 days", "-3", "'"}
    assert {row[4] for row in rows} == {"-1.5", "'=1", "'\tx", "ok"}
    assert sf.verify(folder, people)
    assert release.frame.column("@ill").to_pylist().count("=cmd|x") == 1, "only the CSV is escaped"


@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive", "other"])
def test_a_nul_is_an_error(tmp_path, role):
    """Readers of CSV end a text at NUL, or do not accept the file as text."""
    people = pa.table({"age": [1, 2] * 4, "note": ["a\0b", "c"] * 4})
    schema = sf.Schema(
        ["age", "note"] if role == "quasi-identifier" else ["age"], ["note"] if role == "sensitive" else [],
        other=["note"] if role == "other" else [],
    )  # fmt: skip
    release = sf.anonymize(people, schema, sf.KAnonymity(2))
    with pytest.raises(sf.errors.ColumnError, match=r"NUL.*parquet") as problem:
        release.save(tmp_path / "out")
    assert problem.value.column == "note"
    assert not list(tmp_path.iterdir())
    assert sf.verify(release.save(tmp_path / "out", format="parquet"), people)


def test_numbers_of_every_type_are_unchanged(tmp_path):
    from decimal import Decimal

    file = io.BytesIO()
    write_csv(pa.table({"a": [-1, -2], "b": [-1.5, -1e300], "c": pa.array([Decimal("-0.10"), None])}), file)
    assert file.getvalue() == b"a,b,c\n-1,-1.5,-0.10\n-2,-1e+300,\n"
