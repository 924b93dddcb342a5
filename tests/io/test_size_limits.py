"""Small files with large content: an error that says the limit, before memory is filled."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zipfile

import pyarrow as pa
import pytest
from pyarrow import parquet

import sfumato as sf
from sfumato.storage import Storage

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
import sfumato as sf
from sfumato.storage import Storage
try:
    sf.read_table(sys.argv[1], sf.Schema())
except sf.errors.FileError as error:
    print(error)
"""


def refused(path):
    """Read a file in a process with at most 8 GB of addresses, and return the error."""
    done = subprocess.run([sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_a_bomb_of_gzip(tmp_path):
    """Half a gigabyte of equal rows in 2 MB."""
    path = tmp_path / "people.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"age,ill\n")
        for _ in range(32):
            file.write(b"30,flu..\n" * ((1 << 24) // 9))
    text = refused(path)
    assert "the content is more than 256 MiB and more than 100 times as large as the file. " in text
    assert "decompress it first" in text
    with Storage(tmp_path).active(), pytest.raises(sf.errors.FileError, match="more than 256 MiB"):
        sf.read_table(path, sf.Schema())


def test_gzip_that_compresses_well_is_read(tmp_path):
    """Ten megabytes in ten kilobytes are no harm."""
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(b"age,ill\n" + b"30,flu\n" * 1_000_000))
    assert sf.read_table(path, sf.Schema()).rows == 1_000_000


def workbook(path, sheet, sheets='<sheet name="people" sheetId="1" r:id="r1"/>'):
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>',
        )
        book.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships">'
            f'<Relationship Id="r1" Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        book.writestr("xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>{sheets}</sheets></workbook>')
        book.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}/relationships">'
            f'<Relationship Id="r1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        )
        book.writestr("xl/worksheets/sheet1.xml", f'<worksheet xmlns="{main}">{sheet}</worksheet>')
    return path


def cell(place, text="1"):
    return f'<c r="{place}"><v>{text}</v></c>'


TABLE = f'<row r="1">{cell("A1")}{cell("B1", "2")}</row><row r="2">{cell("A2")}{cell("B2")}</row>'


def test_a_sheet_that_reaches_far_beyond_its_cells(tmp_path):
    """One cell in the last place would need 16,384 columns of 1,048,576 rows: 550 GB."""
    pytest.importorskip("python_calamine")
    far = f'<sheetData>{TABLE}<row r="1048576">{cell("XFD1048576")}</row></sheetData>'
    text = refused(workbook(tmp_path / "far.xlsx", far))
    assert "the sheet extends over 1,048,576 rows and 16,384 columns, and has only 5 cells. Delete the cells far" in text
    hidden = f'<sheetData>{TABLE}<row r="3">{cell("XFD1048576")}</row></sheetData>'
    assert "1,048,576 rows and 16,384 columns" in refused(workbook(tmp_path / "hidden.xlsx", hidden))


def test_a_declared_extent_is_no_extent(tmp_path):
    pytest.importorskip("python_calamine")
    path = workbook(tmp_path / "p.xlsx", f'<dimension ref="A1:XFD1048576"/><sheetData>{TABLE}</sheetData>')
    assert sf.read_table(path, sf.Schema()).data.to_pylist() == [{"1": 1, "2": 1}]


def test_a_bomb_in_a_workbook(tmp_path):
    pytest.importorskip("python_calamine")
    path = workbook(tmp_path / "p.xlsx", f"<sheetData>{TABLE}{'<row/>' * 50_000_000}</sheetData>")
    with pytest.raises(sf.errors.FileError, match="more than 256 MiB"):
        sf.read_table(path, sf.Schema())


def test_a_workbook_without_sheets(tmp_path):
    pytest.importorskip("python_calamine")
    with pytest.raises(sf.errors.FileError, match="the workbook has no sheets"):
        sf.read_table(workbook(tmp_path / "p.xlsx", "", ""), sf.Schema())


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_too_many_columns(tmp_path, monkeypatch, kind):
    path = tmp_path / f"people.{kind}"
    names = [f"c{number}" for number in range(20_001)]
    if kind == "csv":
        path.write_text(f"{','.join(names)}\n{','.join('1' for _ in names)}\n", encoding="utf-8")
    else:
        parquet.write_table(pa.table({name: [1] for name in names}), path)
    with pytest.raises(
        sf.errors.FileError, match=r"the table has 20,001 columns, and at most 20,000 are read.*SFUMATO_COLUMNS"
    ):
        sf.read_table(path, sf.Schema())
    monkeypatch.setenv("SFUMATO_COLUMNS", "20001")
    assert sf.read_table(path, sf.Schema()).data.num_columns == 20_001
    monkeypatch.setenv("SFUMATO_COLUMNS", "many")
    with pytest.raises(sf.errors.ParameterError, match="invalid number 'many'"):
        sf.read_table(path, sf.Schema())
