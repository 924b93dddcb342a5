"""Releases that somebody changes after they were written.

Each change is made consistently: digests in release.json are those of the changed files, and the report is drawn again where
release.json changes, unless the change is about them. So a change is found by what it is, not by a checksum.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import shutil
from functools import cache

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import sfumato as sf
from sfumato.releases.digests import digest
from sfumato.releases.kinds import KINDS
from sfumato.releases.model_base import as_json
from sfumato.releases.models import GroupedDocument

draw = np.random.default_rng(5)
PEOPLE = pa.table(
    {
        "name": [f"n{i}" for i in range(60)],
        "age": draw.integers(20, 60, 60),
        "town": draw.choice(["Bonn", "Jena", "Köln", "Kiel", "Trier", "Ulm"], 60),
        "ill": draw.choice(["flu", "gout", "cold", "ulcer"], 60),
        "pay": draw.integers(10, 99, 60),
    }
)
SCHEMA = sf.Schema(["age", "town"], ["ill", "pay"], identifiers=["name"])
PRINCIPLES = [sf.KAnonymity(4), sf.DistinctLDiversity(2)]
REPORT = "report.html"


@cache
def made():
    return sf.anonymize(PEOPLE, SCHEMA, PRINCIPLES, seed=1)


def stated(folder):
    return json.loads((folder / "release.json").read_text(encoding="utf-8"))


def state(folder, content, report=True):
    """Write release.json with the digests of the files, and the report that belongs to it."""
    data = next(name for name in content["files"] if name != REPORT)
    files = {data: digest(folder / data).to_dict()}
    if report:
        # a document from which no report can be drawn keeps the one that it has
        with contextlib.suppress(ValueError, TypeError, sf.SfumatoError):
            page = KINDS["groups"].load("page")(GroupedDocument.model_validate({**content, "files": files}))
            (folder / REPORT).write_text(page, encoding="utf-8")
    content["files"] = {**files, REPORT: digest(folder / REPORT).to_dict()}
    (folder / "release.json").write_text(as_json(content), encoding="utf-8")


def rows_of(folder):
    with (folder / "data.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def put(folder, rows, **more):
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n", **more)
    writer.writeheader()
    writer.writerows(rows)
    (folder / "data.csv").write_text(text.getvalue(), encoding="utf-8")
    state(folder, stated(folder))


def cells(change):
    """A change of the rows of the CSV."""
    return lambda folder: put(folder, change(rows_of(folder)))


def claims(change):
    """A change of what release.json states."""

    def tamper(folder):
        content = stated(folder)
        change(content)
        state(folder, content)

    return tamper


def text(change, name="release.json"):
    """A change of the text of a file."""

    def tamper(folder):
        before = (folder / name).read_text(encoding="utf-8")
        after = change(before)
        assert after != before
        (folder / name).write_text(after, encoding="utf-8")
        if name != "release.json":
            state(folder, stated(folder), report=name != REPORT)

    return tamper


def in_the_order_of_the_original(rows):
    """Sort rows as the original has them, as far as the secrets show."""
    order = {
        pair: place
        for place, pair in enumerate(zip(*(map(str, PEOPLE[c].to_pylist()) for c in ("ill", "pay")), strict=True))
    }
    return sorted(rows, key=lambda row: order[row["ill"], row["pay"]])


def renumbered(rows):
    last = max(int(row["group"]) for row in rows)
    return [{**row, "group": str(last + 1 - int(row["group"]))} for row in rows]


def respelled(column, old, new):
    def change(rows):
        assert any(old in row[column] for row in rows)
        return [{**row, column: row[column].replace(old, new)} for row in rows]

    return change


def first_cell(column, spelled):
    """Respell the first cell of a column that is an interval or a set."""

    def change(rows):
        old = next(row[column] for row in rows if row[column][:1] in ("[", "{"))
        assert spelled(old) != old
        group = next(row["group"] for row in rows if row[column] == old)
        return [{**row, column: spelled(old)} if row["group"] == group else row for row in rows]

    return change


def without_groups(folder):
    """Drop two groups, and call their rows suppressed: everything that release.json states is true of what is left."""
    frame = made()
    kept = [row for row in rows_of(folder) if int(row["group"]) > 2]
    fewer = sf.anonymize(PEOPLE, SCHEMA, PRINCIPLES, seed=1, suppress="0.5", method=Drop(frame, 2))
    shutil.rmtree(folder)
    fewer.save(folder)
    assert fewer.suppressed > 0
    assert kept


class Drop(sf.Method):
    """The groups of a release, but for some rows that are left in groups that are too small."""

    name = "glaze"

    def __init__(self, release, small):
        self.small = small

    def group(self, task, seed=0):
        of_row = np.asarray(sf.Glaze().group(task, seed).of_row).copy()
        of_row[-self.small :] = of_row.max() + 1
        return sf.anonymization.Grouping(sf.anonymization.renumber(of_row))

    def parameters(self):
        return {"effort": 1}


def parquet_with(change):
    """A change of the table of the Parquet file, or of how it is written."""

    def tamper(folder):
        path = folder / "data.parquet"
        table, options = change(parquet.ParquetFile(path).read())
        parquet.write_table(table, path, **options)
        state(folder, stated(folder))

    return tamper


def with_field_metadata(table):
    fields = [field.with_metadata({"rows": "5,1,3"}) if field.name == "pay" else field for field in table.schema]
    return table.cast(pa.schema(fields)), {}


def hidden(folder, name, content="n0,flu\n"):
    (folder / name).write_text(content, encoding="utf-8")


def linked(folder):
    (folder / "data.csv").rename(folder.parent / "elsewhere.csv")
    (folder / "data.csv").symlink_to(folder.parent / "elsewhere.csv")


CSV = {
    "rows in the order of the original": cells(in_the_order_of_the_original),
    "rows sorted": cells(lambda rows: sorted(rows, key=lambda row: row["pay"])),
    "rows of a group exchanged": cells(lambda rows: [rows[1], rows[0], *rows[2:]]),
    "groups numbered the other way": cells(renumbered),
    "group numbers with gaps": cells(lambda rows: [{**row, "group": str(2 * int(row["group"]))} for row in rows]),
    "group numbers from 0": cells(lambda rows: [{**row, "group": str(int(row["group"]) - 1)} for row in rows]),
    "a row less": cells(lambda rows: rows[:-1]),
    "a row twice": cells(lambda rows: [*rows, rows[-1]]),
    "a secret changed": cells(lambda rows: [{**rows[0], "pay": "100"}, *rows[1:]]),
    "an identifier": cells(lambda rows: [{**row, "name": f"n{i}"} for i, row in enumerate(rows)]),
    "another column": cells(lambda rows: [{**row, "row": str(i)} for i, row in enumerate(rows)]),
    "rows called suppressed": without_groups,
    "suppression that was not used": claims(lambda c: c.update(suppress="0.4")),
    "rows said to be suppressed": claims(lambda c: c.update(suppress="0.4", suppressed=20)),
    "a file": lambda folder: hidden(folder, "people.csv"),
    "a hidden file": lambda folder: hidden(folder, ".people"),
    "a folder": lambda folder: (folder / "more").mkdir(),
    "another data file": lambda folder: hidden(folder, "data.parquet"),
    "a link": linked,
    "an unknown key": claims(lambda c: c.update(people=["n0"])),
    "an unknown key of a column": claims(lambda c: c["columns"][1].update(hint="n0")),
    "an unknown key of the config": claims(lambda c: c["config"].update(hint="n0")),
    "an unknown key of a figure": claims(lambda c: c["figures"]["columns"][0].update(hint="n0")),
    "an unknown key of a principle": claims(lambda c: c["config"]["principles"][0].update(hint="n0")),
    "an unknown key of a level": claims(lambda c: c["principles"][0]["exact"].update(hint="n0")),
    "an unknown key of a file": text(lambda s: s.replace('"bytes": ', '"hint": "n0",\n      "bytes": ', 1)),
    "worst groups": claims(lambda c: c["principles"][0]["worst_groups"].append({"group": 1})),
    "the seed": claims(lambda c: c.update(seed=1)),
    "a key twice": text(lambda s: s.replace('"rows": 60', '"rows": 61,\n  "rows": 60', 1)),
    "a key twice within a list": text(lambda s: s.replace('"role": "group"', '"role": "n0",\n      "role": "group"', 1)),
    "spaces in release.json": text(lambda s: s.replace('"rows": 60', '"rows":  60', 1)),
    "spaces after release.json": text(lambda s: s + " \t\n"),
    "an escape in release.json": text(lambda s: s.replace('"town"', '"\\u0074own"', 1)),
    "another order of keys": text(lambda s: as_json(dict(reversed(json.loads(s).items())))),
    "another spelling of a number in release.json": text(lambda s: s.replace('"rows": 60', '"rows": 6e1', 1)),
    "another report": text(lambda s: s.replace("</body>", "<p>n0 has the flu.</p></body>"), REPORT),
    "a comment in the report": text(lambda s: s.replace("</body>", "<!-- n0 --></body>"), REPORT),
    "a comment after the report": text(lambda s: s + "<!-- n0 -->", REPORT),
    "an interval with other numbers": cells(first_cell("age", lambda cell: cell.replace(",", ".0,"))),
    "an interval with leading zeros": cells(first_cell("age", lambda cell: cell.replace("[", "[0"))),
    "an interval with a sign": cells(first_cell("age", lambda cell: cell.replace("[", "[+"))),
    "a set in another order": cells(
        first_cell("town", lambda cell: "{" + "; ".join(reversed(cell[1:-1].split("; "))) + "}")
    ),
    "a set with a member twice": cells(first_cell("town", lambda cell: "{" + cell[1:].split("; ")[0] + "; " + cell[1:])),
    "a set with quotes": cells(first_cell("town", lambda cell: f'{{"{cell[1:].split("; ")[0]}"; {cell.split("; ", 1)[1]}')),
    "a value in quotes": cells(respelled("ill", "flu", '"flu"')),
    "a number of some rows with decimals": cells(
        lambda rows: [{**row, "pay": row["pay"] + ".0"} if i % 2 else row for i, row in enumerate(rows)]
    ),
    "all cells in quotes": lambda folder: put(folder, rows_of(folder), quoting=csv.QUOTE_ALL),
    "other ends of lines": text(lambda s: s.replace("\n", "\r\n"), "data.csv"),
    "an empty line at the end": text(lambda s: s + "\n", "data.csv"),
    "a byte order mark": text(lambda s: "\ufeff" + s, "data.csv"),
    "group sizes": claims(lambda c: c["utility"]["classes"].update(discernibility=1)),
    "a level": claims(lambda c: c["principles"][0]["exact"].update(k="5")),
    "a verdict": claims(lambda c: c.update(holds=False)),
    "a weaker principle": claims(
        lambda c: (c["config"]["principles"][0].update(k=3), c["principles"][0]["parameters"].update(k=3))
    ),
    "another role": claims(lambda c: c["config"]["columns"]["pay"].update(role="other")),
    "a warning less": claims(lambda c: c.update(coverage=None)),
}

PARQUET = {
    "metadata of the file": parquet_with(lambda table: (table.replace_schema_metadata({"rows": "5,1,3"}), {})),
    "metadata of pandas": parquet_with(lambda table: (table.replace_schema_metadata({"pandas": "{}"}), {})),
    "metadata of a column": parquet_with(with_field_metadata),
    "another compression": parquet_with(lambda table: (table, {"compression": "zstd"})),
    "other row groups": parquet_with(lambda table: (table, {"row_group_size": 7})),
    "rows sorted": parquet_with(lambda table: (table.sort_by("pay"), {})),
    "no dictionaries": parquet_with(lambda table: (table, {"use_dictionary": False})),
    "a file": lambda folder: hidden(folder, "people.parquet"),
}

CASES = [*(("csv", name) for name in CSV), *(("parquet", name) for name in PARQUET)]


def tamper(folder, form, name):
    (CSV if form == "csv" else PARQUET)[name](folder)
