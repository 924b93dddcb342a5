"""The order of published rows follows from the file alone, whatever it contains; any other order is found."""

from __future__ import annotations

import csv
import datetime
import json
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato._audit import table_of
from sfumato.anonymization.published_table import publish
from sfumato.io.shuffle import Contents, ranks_of, table_seed
from sfumato.io.write_files import write_csv, write_parquet
from sfumato.projections.checks.projected_table_checks import table_order_check
from sfumato.releases.declarations import resolved_schema
from sfumato.releases.digests import digest
from sfumato.releases.model_base import as_json
from sfumato.releases.models import FORMAT
from sfumato.releases.table_files import published_schema, published_table
from sfumato.seeds import PUBLIC_SEED
from standin import Chunks

TEXTS = st.sampled_from(["", "a", "b", " d", "=1+1", "'=x", "-5", "@b", 'say "c"', "a, b", "ä", "(missing)", "NA"])
KINDS = {
    "text": (TEXTS, pa.string()),
    "whole": (st.integers(-20, 20), pa.int64()),
    "float": (st.sampled_from([0.5, -0.0, 1e300, 2.0, float("nan")]), pa.float64()),
    "bool": (st.booleans(), pa.bool_()),
    "date": (st.dates(datetime.date(1999, 1, 1), datetime.date(2001, 1, 1)), pa.date32()),
    "set": (st.lists(st.sampled_from("abc"), max_size=3), pa.list_(pa.string())),
    "words": (TEXTS, pa.dictionary(pa.int32(), pa.string())),
}
SEED, PLACE = 7, 2
SEED_STATED = 4
"""The last format that states seeds."""


@st.composite
def frames(draw):
    """Two sensitive columns of any type with missing cells, and groups of the rows."""
    rows = draw(st.integers(1, 9))
    columns = {"age": pa.array(draw(st.lists(st.none() | st.integers(0, 5), min_size=rows, max_size=rows)), pa.int64())}
    for name in ("s", "t"):
        cells, kind = KINDS[draw(st.sampled_from(sorted(KINDS)))]
        columns[name] = pa.array(draw(st.lists(st.none() | cells, min_size=rows, max_size=rows)), kind)
    of_row = np.unique(draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows)), return_inverse=True)[1]
    return pa.table(columns), of_row.astype(np.int64)


def read_back(published, schema, form, folder):
    """The published table as read from its file."""
    path = Path(folder) / f"table_1.{form}"
    with path.open("wb") as file:
        write_csv(published.table.data, file, {"s": ";", "t": ";"}, ("s", "t")) if form == "csv" else write_parquet(
            published.table.data, file
        )
    manifest = SimpleNamespace(data=path, format=FORMAT)
    return published_table(manifest, published_schema(schema, published.group))


def looked_at(table):
    return table_order_check(table, PLACE, SEED_STATED, SEED, table_seed(SEED, PLACE))


class TestEveryFile:
    @given(frames(), st.sampled_from(["csv", "parquet"]), st.sampled_from(["pyarrow", "pandas", "polars"]))
    @settings(deadline=None)
    def test_published_rows_are_in_the_order_of_the_seed(self, drawn, form, library):
        frame, of_row = drawn
        if library == "pandas":
            frame = frame.to_pandas()
        elif library == "polars":
            frame = pl.from_arrow(frame)
        table = table_of(frame, sf.Schema(["age"], ["s", "t"]))
        published = publish(table, of_row, table_seed(SEED, PLACE))
        with tempfile.TemporaryDirectory() as folder:
            found = read_back(published, resolved_schema(table), form, folder)
            assert looked_at(found).holds, found.data.to_pylist()

    @given(frames(), st.sampled_from(["csv", "parquet"]), st.randoms())
    @settings(deadline=None)
    def test_any_other_order_is_found(self, drawn, form, random):
        frame, of_row = drawn
        table = table_of(frame, sf.Schema(["age"], ["s", "t"]))
        with tempfile.TemporaryDirectory() as folder:
            found = read_back(publish(table, of_row, table_seed(SEED, PLACE)), resolved_schema(table), form, folder)
        order = list(range(found.rows))
        random.shuffle(order)
        other = sf.Table(found.data.take(pa.array(order)), found.schema, untyped=found.untyped)
        assert looked_at(other).holds == (repr(other.data.to_pylist()) == repr(found.data.to_pylist()))

    @given(frames(), st.permutations(range(9)))
    @settings(deadline=None)
    def test_it_does_not_depend_on_the_order_of_the_original(self, drawn, order):
        """Rows that tie are equal in every cell; null and an empty text differ."""
        frame, of_row = drawn
        mine = [place for place in order if place < frame.num_rows]
        cells = []
        for rows in (range(frame.num_rows), mine):
            data, part = frame.take(pa.array(rows)), np.unique(of_row[list(rows)], return_inverse=True)[1]
            table = table_of(data, sf.Schema(["age"], ["s", "t"]))
            found = publish(table, part.astype(np.int64), 3).table.data
            cells.append([[repr(cell) for cell in found.column(name).to_pylist()] for name in found.column_names])
        assert cells[0] == cells[1]


def test_cells_that_are_equal_in_a_csv_are_distinguished_last():
    cells = pa.array(["", None, "b", "", None])
    assert ranks_of(cells, "x").of_row.tolist() == [1, 0, 2, 1, 0]
    # an older format does not distinguish null from an empty text
    found = ranks_of(cells, "x", null_is_empty=True)
    assert found.as_text[found.of_row].tolist() == [0, 0, 1, 0, 0]
    contents = Contents.of({"x": cells, "y": pa.array(["q", "p", "p", "p", "p"])}, 5, null_is_empty=True)
    assert contents.as_text.tolist() == [1, 0, 2, 0, 0]
    assert len(set(contents.finest.tolist())) == 4


def test_group_numbers_that_carry_information_are_found():
    table = table_of(pa.table({"age": [1, 1, 2, 2], "s": list("abcd")}), sf.Schema(["age"], ["s"]))
    found = publish(table, np.array([0, 0, 1, 1]), table_seed(SEED, PLACE)).table
    assert looked_at(found).holds
    swapped = [3 - number for number in found.data["group"].to_pylist()]
    for numbers, message in ((swapped, "numbered in the public order"), ([2 * n for n in swapped], "from 1")):
        data = found.data.set_column(0, "group", pa.array(numbers))
        check = looked_at(sf.Table(data, found.schema))
        assert check.holds is False
        assert message in check.detail


@pytest.mark.parametrize(("seed", "whole"), [(0, 0), (-1, -1), (table_seed(0, 1), 0)])
def test_an_invalid_seed(seed, whole):
    table = table_of(pa.table({"age": [1, 1], "s": list("ab")}), sf.Schema(["age"], ["s"]))
    published = publish(table, np.array([0, 0]), 0).table
    assert table_order_check(published, 0, SEED_STATED, whole, seed).holds is False


def test_tables_that_are_linked_row_by_row(tmp_path):
    """Every figure stays true if all tables are written in the order of the original; only the order reveals it."""
    draw = np.random.default_rng(1)
    people = pa.table({"age": draw.integers(20, 60, 24), **{name: draw.choice(["x", "y", "z"], 24) for name in "abc"}})
    schema = sf.Schema(["age"], list("abc"))
    made = sf.project(people, schema, sf.KAnonymity(4), plan=["a", "b", "c"], method=Chunks(4))
    folder = made.save(tmp_path / "out")
    assert sf.verify(folder, people)
    content = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    secrets = []
    for number, release in enumerate(made.releases, 1):
        seed = table_seed(PUBLIC_SEED, number - 1)
        path = folder / f"table_{number}.csv"
        with path.open(encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file)
        back = np.argsort(publish(release.private.kept, release.private.recoding.groups.of_row, seed).rows)
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([head, *(rows[place] for place in back)])
        content["files"][path.name] = digest(path).to_dict()
        secrets.append([rows[place][-1] for place in back])
    assert list(zip(*secrets, strict=True)) == list(zip(*(people[name].to_pylist() for name in "abc"), strict=True))
    (folder / "release.json").write_text(as_json(content), encoding="utf-8")
    found = sf.verify(folder, people, schema=schema, principles=[sf.KAnonymity(4)])
    assert [check.name for check in found.checks if check.holds is False] == [f"table_{n}: order" for n in (1, 2, 3)]
