"""What release.json says of several tables, checked against the files, the original and what was asked for."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import sfumato as sf
from standin import Chunks
from test_project import people
from test_project_folder import claim, failing, folder, made, told, written

__all__ = ["folder", "written"]


class TestHarmless:
    """A missing value is told as null: a text may read just as it is shown."""

    ROWS = pa.table({"age": range(24), "a": ["x", None, "(missing)", "y"] * 6, "b": list("pqppqq") * 4})
    SCHEMA = sf.Schema(["age"], ["a", "b"])

    @pytest.mark.parametrize("form", ["csv", "parquet"])
    @pytest.mark.parametrize(
        ("harmless", "shown"),
        [
            (["(missing)"], ["(missing)"]),
            ([None], [None]),
            (["x", None], ["x", None]),
            (lambda value: value is None, [None]),
        ],
    )
    def test_missing_beside_a_text_that_reads_so(self, tmp_path, form, harmless, shown):
        options = {"plan": [["a", "b"]], "harmless": {"a": harmless}, "method": Chunks(4)}
        projection = sf.project(self.ROWS, self.SCHEMA, sf.KAnonymity(4), **options)
        folder = projection.save(tmp_path / "out", format=form)
        assert told(folder)["harmless"] == {"a": shown}
        assert sf.verify(folder, self.ROWS)
        claim(folder, lambda content: content["harmless"].update(a=[*shown, "y"]))
        assert "table_1: dependence" in failing(sf.verify(folder))

    def test_the_report_calls_it_missing(self, tmp_path):
        options = {"plan": [["a", "b"]], "harmless": {"a": [None]}, "method": Chunks(4)}
        folder = sf.project(self.ROWS, self.SCHEMA, sf.KAnonymity(4), **options).save(tmp_path / "out")
        assert "a: missing values." in (folder / "report.html").read_text(encoding="utf-8")
