"""What a release must not reveal: figures that confirm guesses, the order of the original, values of suppressed rows."""

from __future__ import annotations

import json
import pickle
import re
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import sfumato as sf
from sfumato.anonymization._anonymize import anonymize
from sfumato.anonymization.figures.rounding_steps import in_steps, step_of
from sfumato.io.plain_types import unused_value
from sfumato.releases.digests import digest
from sfumato.verification._verify import verify
from standin import Chunks

ROWS = 24
TOWNS = ["Rome", "Bonn", "Oslo", "Lyon"]


def table(**more):
    columns = {"age": [20 + i % 12 for i in range(ROWS)], "ill": [["flu", "cold", "gout"][i % 3] for i in range(ROWS)]}
    return pa.table({**columns, **more})


SCHEMA = sf.Schema(["age"], ["ill"], undeclared="keep", unchanged_limit=1)


def numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return [number for inner in value for number in numbers(inner)]
    return [value] if isinstance(value, float) else []


class TestFiguresOfTheOriginal:
    def test_queries_are_not_published(self, tmp_path):
        release = anonymize(table(), SCHEMA, sf.KAnonymity(5), method=Chunks(7), seed=3)
        text = (release.save(tmp_path / "out") / "release.json").read_text(encoding="utf-8")
        assert "quer" not in text
        assert "queries" not in release.to_dict()["utility"]
        assert release.utility.queries is not None, "the publisher still sees them"
        assert "query error" in repr(release.utility)

    def test_marginals_are_rounded(self):
        release = anonymize(table(), SCHEMA, sf.KAnonymity(5), method=Chunks(7))
        (exact,), (published,) = release.utility.marginals, release.to_dict()["utility"]["marginals"]
        step = step_of(ROWS)
        assert step == Fraction(1, 2), "two decimals of so few rows would be exact"
        assert exact.distance not in (0, in_steps(exact.distance, step))
        assert published == {"column": "age", "distance": in_steps(exact.distance, step)}
        many = anonymize(pa.concat_tables([table()] * 100), SCHEMA, sf.KAnonymity(5), method=Chunks(7))
        assert many.to_dict()["utility"]["marginals"][0]["distance"] == round(many.utility.marginals[0].distance, 2)
        assert release.to_dict()["utility"]["loss"]["mean"] == release.loss

    def test_loss_is_rounded_where_it_counts_original_values(self):
        schema = sf.Schema(["age"], ["ill"], hierarchies={"age": sf.Intervals((5, 10))})
        release = anonymize(table(), schema, sf.KAnonymity(5), method=Chunks(7))
        figures = numbers(release.to_dict()["utility"]["loss"])
        assert figures == [in_steps(figure, step_of(ROWS)) for figure in figures]

    def test_the_name_of_a_sheet_is_not_published(self, tmp_path):
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        sheet = book.create_sheet("Oncology 2020")
        for row in [("age", "ill"), *zip(*table().to_pydict().values(), strict=True)]:
            sheet.append(row)
        book.save(tmp_path / "p.xlsx")
        original = sf.read_table(tmp_path / "p.xlsx", SCHEMA, sheet="Oncology 2020")
        folder = anonymize(original, None, sf.KAnonymity(5), method=Chunks(6)).save(tmp_path / "out")
        assert not [path for path in folder.iterdir() if b"Oncology" in path.read_bytes()]
        assert json.loads((folder / "release.json").read_text(encoding="utf-8"))["reading"] == {}


class TestOrderOfTheOriginal:
    """The same people in another order: nothing of the frame may differ."""

    cells: ClassVar = [TOWNS[i % 4] for i in range(ROWS)]
    turned = np.arange(ROWS)[::-1]

    @staticmethod
    def published(frame, schema=SCHEMA):
        return anonymize(frame, schema, sf.KAnonymity(5), method=Chunks(6)).frame

    @pytest.mark.parametrize(
        "cells", [cells, [c.encode() + b"\xff" for c in cells], [len(c) * i for i, c in enumerate(cells)]]
    )
    def test_pyarrow(self, cells):
        dictionaries = []
        for order in (np.arange(ROWS), self.turned):
            plain = table(other=cells).take(pa.array(order))
            place = plain.column_names.index("other")
            encoded = plain.set_column(place, "other", plain.column("other").dictionary_encode())
            schema = replace(SCHEMA, other=["other"])
            dictionaries.append(self.published(encoded, schema).column("other").chunk(0).dictionary.to_pylist())
        assert dictionaries[0] == dictionaries[1] == sorted(set(cells), key=str)

    def test_a_value_twice_in_the_dictionary(self):
        twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2] * 8, pa.int32()), pa.array(["b", "a", "b"]))
        found = self.published(table(town=twice)).column("town").chunk(0)
        assert found.dictionary.to_pylist() == ["a", "b"]
        assert sorted(found.to_pylist()) == ["a"] * 8 + ["b"] * 16

    def test_an_order_that_was_declared_stays(self):
        indices = pa.array([i % 3 for i in range(ROWS)], pa.int32())
        ordered = pa.DictionaryArray.from_arrays(indices, pa.array(["low", "mid", "high", "none"]), ordered=True)
        found = self.published(table(level=ordered)).column("level")
        assert found.type.ordered
        assert found.chunk(0).dictionary.to_pylist() == ["low", "mid", "high"]

    @pytest.mark.parametrize("ordered", [False, True])
    def test_pandas(self, ordered):
        declared = pd.CategoricalDtype([*TOWNS, "Nice"], ordered=ordered)
        frame = table(town=self.cells).to_pandas().astype({"town": declared})
        found = self.published(frame)["town"]
        assert list(found.cat.categories) == (TOWNS if ordered else sorted(TOWNS))
        assert found.cat.ordered is ordered
        assert sorted(found) == sorted(self.cells) or ordered

    def test_pandas_over_arrow(self):
        frame = table(town=self.cells).to_pandas()
        encoded = pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(self.cells).dictionary_encode()]))
        found = self.published(frame.assign(town=encoded))["town"]
        assert found.array.__arrow_array__().combine_chunks().dictionary.to_pylist() == sorted(TOWNS)

    def test_polars(self):
        frame = pl.from_arrow(table(town=self.cells)).with_columns(pl.col("town").cast(pl.Categorical))
        found = self.published(frame)["town"]
        assert sorted(found.to_list()) == sorted(self.cells)
        # polars numbers categories for the whole process; what leaves it is in the order of the published rows
        assert found.to_arrow().dictionary.to_pylist() == list(dict.fromkeys(found.to_list()))

    def test_parquet(self, tmp_path):
        for number, order in enumerate((np.arange(ROWS), self.turned)):
            encoded = table(town=pa.array(self.cells).dictionary_encode()).take(pa.array(order))
            release = anonymize(encoded, SCHEMA, sf.KAnonymity(5), method=Chunks(6))
            release.save(tmp_path / str(number), format="parquet")
        assert len({(tmp_path / str(n) / "data.parquet").read_bytes() for n in (0, 1)}) == 1


def test_a_method_that_is_no_dataclass(tmp_path):
    class Everyone(sf.Method):
        def group(self, task, seed=0):
            return sf.anonymization.Grouping(np.zeros(task.table.rows, np.int64))

    release = anonymize(table(), SCHEMA, sf.KAnonymity(5), method=Everyone())
    content = json.loads((release.save(tmp_path / "out") / "release.json").read_text(encoding="utf-8"))
    assert content["method"] == {"name": "Everyone", "parameters": {}}


class TestBinary:
    cells: ClassVar = [bytes([255, i % 3]) if i else None for i in range(ROWS)]

    def test_parquet(self, tmp_path):
        original = table(photo=pa.array(self.cells, pa.binary()))
        folder = anonymize(original, SCHEMA, sf.KAnonymity(5), method=Chunks(6)).save(tmp_path / "out", format="parquet")
        assert parquet.read_table(folder / "data.parquet").column("photo").type == pa.binary()
        assert verify(folder, original)
        other = table(photo=pa.array(self.cells[::-1], pa.binary()))
        assert not verify(folder, other)

    def test_csv_says_what_to_do(self, tmp_path):
        release = anonymize(table(photo=pa.array(self.cells)), SCHEMA, sf.KAnonymity(5), method=Chunks(6))
        with pytest.raises(
            sf.errors.ColumnError, match=re.escape("binary cannot be written as text. Convert it to text, or write")
        ):
            release.save(tmp_path / "out")
        assert not list(tmp_path.iterdir())


SECRET = "Suppressedvalue"
"""The value of a row that is suppressed."""


def suppressed_value_columns():
    """Return columns of many types; in each the last row, and a dictionary or buffer of all rows, contains the secret."""
    encoded, ends = pa.array(["x", "y"] * 12 + [SECRET]).dictionary_encode(), pa.array(range(26), pa.int32())
    lists = pa.ListArray.from_arrays(ends, encoded)
    return {
        "dictionary": encoded,
        "list": lists,
        "large list": pa.LargeListArray.from_arrays(ends.cast(pa.int64()), encoded),
        "fixed-size list": pa.FixedSizeListArray.from_arrays(encoded, 1),
        "struct": pa.StructArray.from_arrays([encoded], ["f"]),
        "map": pa.MapArray.from_arrays(ends, pa.array(["k"] * 25), encoded),
        "list of structs": pa.ListArray.from_arrays(ends, pa.StructArray.from_arrays([lists], ["f"])),
        "list view": pa.ListViewArray.from_arrays(ends[:25], pa.array([1] * 25, pa.int32()), encoded),
    }


class TestValuesOfSuppressedRows:
    """A dictionary or a view is shared by all rows: that of the published rows must not contain values of others."""

    schema = sf.Schema(["age"], ["ill"], other=["tags"])

    @staticmethod
    def people(tags):
        return pa.table({"age": [30] * 24 + [99], "ill": ["flu", "cold"] * 12 + ["flu"], "tags": tags})

    def check(self, data, folder):
        release = anonymize(data, self.schema, sf.KAnonymity(5), method="lattice", suppress="0.2")
        assert release.suppressed == 1
        assert SECRET.encode() not in pickle.dumps(release)
        release.save(folder, format="parquet")
        for path in folder.iterdir():
            assert SECRET.encode() not in path.read_bytes()
        assert verify(folder, data)
        return release

    @pytest.mark.parametrize("name", suppressed_value_columns())
    def test_pyarrow(self, name, tmp_path):
        column = suppressed_value_columns()[name]
        release = self.check(self.people(column), tmp_path / "out")
        published, original = release.frame.column("tags").to_pylist(), column.to_pylist()[:24]
        assert sorted(published, key=str) == sorted(original, key=str)

    @pytest.mark.parametrize("name", ["dictionary", "list", "struct"])
    def test_pandas_over_arrow(self, name, tmp_path):
        column = pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([suppressed_value_columns()[name]])))
        self.check(self.people(["x"] * 25).to_pandas().assign(tags=column), tmp_path / "out")

    @pytest.mark.parametrize("kind", [pl.Categorical, pl.List(pl.Categorical), pl.List(pl.Enum(["x", "y", SECRET]))])
    def test_polars(self, kind, tmp_path):
        cells = ["x", "y"] * 12 + [SECRET]
        tags = pl.Series([[cell] for cell in cells] if isinstance(kind, pl.List) else cells, dtype=kind)
        self.check(pl.from_arrow(self.people(["x"] * 25)).with_columns(tags=tags), tmp_path / "out")

    def test_sensitive_sets(self, tmp_path):
        sets = pa.ListArray.from_arrays(pa.array(range(26), pa.int32()), suppressed_value_columns()["dictionary"])
        people, schema = self.people(["x"] * 25).set_column(1, "ill", sets), sf.Schema(["age"], ["ill"], other=["tags"])
        release = anonymize(people, schema, sf.KAnonymity(5), method="lattice", suppress="0.2")
        folder = release.save(tmp_path / "out", format="parquet")
        assert SECRET.encode() not in pickle.dumps(release) + (folder / "data.parquet").read_bytes()

    def test_a_projection(self, tmp_path):
        people = self.people(suppressed_value_columns()["list"]).append_column(
            "job", pa.array(["cook"] * 13 + ["nurse"] * 12)
        )
        schema = sf.Schema(["age"], ["ill", "job"], other=["tags"])
        projection = sf.project(people, schema, sf.KAnonymity(5), alpha=1, beta=1, suppress="0.2", method="lattice")
        folder = projection.save(tmp_path / "out", format="parquet")
        content = b"".join(path.read_bytes() for path in folder.iterdir())
        assert SECRET.encode() not in pickle.dumps(projection) + content

    def test_a_file_that_stores_such_a_value_is_refused(self, tmp_path):
        people = self.people(suppressed_value_columns()["list"])
        folder = tmp_path / "out"
        self.check(people, folder)
        data = parquet.read_table(folder / "data.parquet")
        plain = data.column("tags").combine_chunks().values.dictionary_encode()
        encoded = pa.DictionaryArray.from_arrays(plain.indices, pa.concat_arrays([plain.dictionary, pa.array([SECRET])]))
        lists = pa.ListArray.from_arrays(pa.array(range(25), pa.int32()), encoded)
        changed = data.set_column(data.column_names.index("tags"), "tags", lists)
        assert unused_value(folder / "data.parquet") is None
        parquet.write_table(changed, folder / "data.parquet")
        assert unused_value(folder / "data.parquet") == "tags"
        manifest = json.loads((folder / "release.json").read_text(encoding="utf-8"))
        manifest["files"]["data.parquet"] = digest(folder / "data.parquet").model_dump()
        (folder / "release.json").write_text(json.dumps(manifest), encoding="utf-8")
        assert "stores values that no row has" in verify(folder, people).failures
