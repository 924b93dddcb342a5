"""Excel sheets: cells keep their types, and a cell of unknown value is an error that names it."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

import sfumato as sf

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")


def write(path, rows, sheet="people", more=()):
    book = openpyxl.Workbook()
    book.active.title = sheet
    for row in rows:
        book.active.append(row)
    for title, other in more:
        extra = book.create_sheet(title)
        for row in other:
            extra.append(row)
    book.save(path)
    return path


def read(path, **how):
    return sf.read_table(path, sf.Schema(), **how)


def test_cells_keep_their_types(tmp_path):
    day, moment = dt.date(2020, 2, 29), dt.datetime(2020, 2, 29, 1, 2, 3)
    path = write(
        tmp_path / "p.xlsx",
        [
            ["zip", "age", "weight", "member", "born", "seen", "at", "empty"],
            ["01234", 5.0, 0.1, True, day, moment, dt.time(9, 30), None],
            ["9", None, 70, False, day, day, dt.time(10), None],
        ],
    )
    data = read(path).data
    assert data.to_pylist() == [
        {
            "zip": "01234", "age": 5, "weight": 0.1, "member": True, "born": day, "seen": moment, "at": dt.time(9, 30),
            "empty": None,
        },
        {
            "zip": "9", "age": None, "weight": 70.0, "member": False, "born": day, "seen": dt.datetime(2020, 2, 29),
            "at": dt.time(10), "empty": None,
        },
    ]  # fmt: skip
    assert data.schema.field("age").type == pa.int64()
    assert data.schema.field("zip").type == pa.string()


def test_kinds_follow_the_types(tmp_path):
    path = write(tmp_path / "p.xlsx", [["zip", "age"], ["01234", 30], ["00001", 31]])
    table = sf.read_table(path, sf.Schema(quasi_identifiers=["zip", "age"]))
    assert [table.column(name).kind.value for name in ("zip", "age")] == ["categorical", "numeric"]


def test_the_same_verdicts_as_from_csv(tmp_path):
    people = sf.synthetic_census(rows=500, seed=3).select(["age", "sex", "income"])
    write(tmp_path / "p.xlsx", [people.column_names, *zip(*people.to_pydict().values(), strict=True)])
    from pyarrow import csv

    csv.write_csv(people, tmp_path / "p.csv")
    schema = sf.Schema(["age", "sex"], ["income"])
    asked = [sf.KAnonymity(2), sf.Dissimilarity(epsilon=2, delta="0.5", k=2), sf.TCloseness("0.3")]
    found = [sf.audit(tmp_path / name, schema, asked).to_dict() for name in ("p.xlsx", "p.csv")]
    assert found[0]["principles"] == found[1]["principles"]


def test_a_column_of_several_types_is_text_and_noted(tmp_path):
    day = dt.date(2020, 1, 2)
    path = write(tmp_path / "p.xlsx", [["a", "b"], [1, 1.5], ["n/a", 2], [2.5, True], [day, dt.timedelta(hours=30)]])
    table = read(path)
    assert table.data.column("a").to_pylist() == ["1", "n/a", "2.5", "2020-01-02"]
    assert table.data.column("b").to_pylist() == ["1.5", "2", "true", "30:00:00"]
    assert [note.partition(": ")[2] for note in table.notes] == [
        "column 'a' mixes types, so it is read as text: row 2 is 'n/a'; declare its kind to be sure",
        "column 'b' mixes types, so it is read as text: row 3 is 'true'; declare its kind to be sure",
    ]
    declared = sf.Schema(["a"], kinds={"a": "numeric"}, missing=sf.data.Missing(values=("n/a", "2020-01-02")))
    assert sf.read_table(path, declared).column("a").numbers is not None


def test_empty_rows_and_columns_are_skipped(tmp_path):
    path = write(tmp_path / "p.xlsx", [[], [None, "age", None, None], [None, 1, None, "x"], [], [None, 2, None, "y"]])
    assert read(path).data.to_pydict() == {"age": [1, 2], "column_3": ["x", "y"]}


def test_sheets_are_chosen_by_name(tmp_path):
    path = write(tmp_path / "p.xlsx", [["a"], [1]], more=[("Zweites Blatt", [["b"], [2]])])
    assert read(path).data.column_names == ["a"]
    assert read(path, sheet="Zweites Blatt").data.column_names == ["b"]
    with pytest.raises(sf.errors.ParameterError, match="The sheets are: 'people', 'Zweites Blatt'"):
        read(path, sheet="people ")


def test_numbers_of_many_digits_are_unchanged(tmp_path):
    path = write(tmp_path / "p.xlsx", [["a"], [1e300], [1 / 3], [2**53 - 1]])
    assert read(path).data.column("a").to_pylist() == [1e300, 1 / 3, 2**53 - 1]


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([["a", "b"], [1, "#N/A"]], "cell people!B2: the cell contains an error"),
        ([["a", "b"], [1, "=1/2"]], "cell people!B2: the cell contains a formula that was never calculated"),
        ([["a", "a"], [1, 2]], "contains 'a' more than once"),
        ([["a"]], "has a header and no rows"),
        ([], "the sheet is empty"),
    ],
)
def test_cells_of_unknown_value_are_refused(tmp_path, rows, text):
    with pytest.raises(sf.SfumatoError, match=text):
        read(write(tmp_path / "p.xlsx", rows))


def test_a_formula_with_its_value_is_read(tmp_path):
    """Written as spreadsheet programs do: the value beside the formula, an empty text as a text."""
    import zipfile

    path = write(tmp_path / "p.xlsx", [["a", "b"], [1, 2]])
    cells = {
        b'<c r="A2" t="n"><v>1</v></c>': b'<c r="A2"><f>3*4</f><v>12</v></c>',
        b'<c r="B2" t="n"><v>2</v></c>': b'<c r="B2" t="str"><f>""</f><v></v></c>',
    }
    changed = tmp_path / "q.xlsx"
    with zipfile.ZipFile(path) as book, zipfile.ZipFile(changed, "w") as other:
        for name in book.namelist():
            content = book.read(name)
            for old, new in cells.items():
                assert name != "xl/worksheets/sheet1.xml" or old in content
                content = content.replace(old, new)
            other.writestr(name, content)
    assert read(changed).data.to_pylist() == [{"a": 12, "b": None}]


def test_files_that_are_not_a_workbook(tmp_path):
    (tmp_path / "text.xlsx").write_text("a,b\n1,2\n")
    (tmp_path / "corrupt.xlsx").write_bytes(write(tmp_path / "p.xlsx", [["a"], [1]]).read_bytes()[:2000])
    for name in ("text.xlsx", "corrupt.xlsx"):
        with pytest.raises(sf.errors.FileError, match="not an Excel workbook, or is corrupt"):
            read(tmp_path / name)
    with pytest.raises(sf.errors.FileError, match="the file does not exist"):
        read(tmp_path / "none.xlsx")
    with pytest.raises(sf.errors.FileError, match=r"\.xlsx"):
        read(tmp_path / "old.xls")


def test_keys_of_other_sources_are_refused(tmp_path):
    path = write(tmp_path / "p.xlsx", [["a"], [1]])
    with pytest.raises(sf.errors.ParameterError, match="a query is given, and this is not a database"):
        read(path, query="select 1")
    (tmp_path / "p.csv").write_text("a\n1\n")
    with pytest.raises(sf.errors.ParameterError, match="a sheet is given, and this is not an Excel file"):
        read(tmp_path / "p.csv", sheet="people")
