"""What executors check, in this process: the same checks with the same results as where all rows are in one process."""

from __future__ import annotations

import csv
import io
import shutil
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import sfumato as sf
from executor_frames import Frames, Rows
from sfumato.releases.digests import digest
from sfumato.releases.reader import Manifest
from sfumato.spark import coded_rows, executor
from sfumato.verification import cluster_facts, cluster_tables, coverage_checks, grouped_checks
from sfumato.verification.cluster_tables import ClusterTables, opened_cluster_tables
from sfumato.verification.published_file import DataFile, UnreadFileError
from tampered_releases import CASES, PEOPLE, PRINCIPLES, SCHEMA, made, rows_of, state, stated, tamper


@pytest.fixture(autouse=True)
def _many_partitions(monkeypatch):
    monkeypatch.setattr(executor.gc, "freeze", lambda: None)
    monkeypatch.setattr(coded_rows, "_ROWS_OF_ONE_PARTITION", 0)


def cuts(rows, seed=0):
    return sorted({0, rows, *np.random.default_rng(seed).integers(0, rows + 1, 3).tolist()})


def by_executors(monkeypatch, folder, original, cores=3, published=None, **expected):
    """Verify a release with the code that runs on executors."""
    opened_by = []

    @contextmanager
    def opened(manifest, declared, requested, frame, expectations):
        rows = None if original is None else Rows(original, cuts(original.num_rows))
        copy = None if published is None else Rows(published, cuts(published.num_rows), "the published rows")
        opened_by.append(ClusterTables(Frames(cores), manifest, declared, rows, copy))
        yield opened_by[0]

    with monkeypatch.context() as patch:
        patch.setattr(grouped_checks, "opened_tables", opened)
        found = sf.verify(folder, original, engine="stream", **expected)
    assert opened_by
    return found


def same(found, local):
    """Whether two verifications say the same.

    Executors do not know the row of a cell that cannot be read, and may name another of two problems of the order. They do
    not compute figures again.
    """

    def said(result):
        hidden = ("order", "data")
        checks = [check for check in result.checks if check.name != "figures"]
        return [(check.name, check.holds, None if check.name in hidden else check.detail) for check in checks]

    return said(found) == said(local)


# ------------------------------------------------------------------------------ every way to change a release


EXPECTED = {"schema": SCHEMA, "principles": PRINCIPLES, "suppress": 0}
ELSEWHERE = ("key", "report", "release.json", "a file", "a hidden file", "a folder", "a link")
"""Changes of what the driver checks alone."""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    place = tmp_path_factory.mktemp("written")
    return {form: made().save(place / form, format=form) for form in ("csv", "parquet")}


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("cores", [1, 4])
def test_a_release_that_nobody_changed(monkeypatch, written, form, cores):
    found = by_executors(monkeypatch, written[form], PEOPLE, cores, **EXPECTED)
    assert same(found, sf.verify(written[form], PEOPLE, engine="stream", **EXPECTED))
    assert found.holds and [check.name for check in found.not_checked] == ["figures"]
    assert by_executors(monkeypatch, written[form], None) == sf.verify(written[form], engine="stream")


@pytest.mark.parametrize(("form", "name"), [case for case in CASES if not any(word in case[1] for word in ELSEWHERE)])
def test_a_changed_release_is_found_in_the_same_way(monkeypatch, written, tmp_path, form, name):
    folder = shutil.copytree(written[form], tmp_path / "release")
    tamper(folder, form, name)
    found = by_executors(monkeypatch, folder, PEOPLE, **EXPECTED)
    assert same(found, sf.verify(folder, PEOPLE, engine="stream", **EXPECTED))


# ------------------------------------------------------------------------------ any changes of any rows


LEVELS = sf.Hierarchy.from_rows([(town, town[0], "*") for town in ("Bonn", "Jena", "Kiel", "Köln")])


def patients(rows, seed):
    """People with missing and empty cells, few distinct values, and a column that reveals another one."""
    draw = np.random.default_rng(seed)

    def some(values):
        return [values[i] for i in draw.integers(0, len(values), rows)]

    town = some(["Bonn", "Jena", "Kiel", "Köln"])
    return pa.table(
        {
            "age": pa.array(some([30, 31, 32, 47, 48, None]), pa.int64()),
            "town": town,
            "ill": pa.array(some(["flu", "gout", "", None]), pa.string()),
            "pay": pa.array(some([0.0, 0.5, 1.5, 2.0]), pa.float64()),
            "post": [name[:2] for name in town],
        }
    )


RELEASES = {
    "sets": (sf.Schema(["age", "town"], ["ill", "pay"], other=["post"], unchanged_limit=1), {"method": "mondrian"}),
    "levels": (
        sf.Schema(["age", "town"], ["ill"], other=["pay"], hierarchies={"town": LEVELS}, unchanged_limit=1),
        {"method": "lattice"},
    ),
    "limits": (
        sf.Schema(["age", "town"], ["pay"], never_mix={"town": "J"}, hierarchies={"town": LEVELS}),
        {"method": "mondrian", "suppress": "0.9"},
    ),
}


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    place, found = tmp_path_factory.mktemp("releases"), {}
    for seed, (name, (schema, options)) in enumerate(RELEASES.items()):
        table = patients(90, seed)
        release = sf.anonymize(table, schema, [sf.KAnonymity(3)], seed=1, **options)
        found[name] = table, release.save(place / name)
    return found


def changed(draw, rows):
    """Some rows after one change."""
    names = list(rows[0])
    one, other = (draw(st.integers(0, len(rows) - 1)) for _ in range(2))
    column = draw(st.sampled_from(names))
    what = draw(st.sampled_from(["copy", "exchange", "cell", "drop", "double", "move", "numbers"]))
    rows = [dict(row) for row in rows]
    if what == "copy":
        rows[one][column] = rows[other][column]
    elif what == "exchange":
        rows[one][column], rows[other][column] = rows[other][column], rows[one][column]
    elif what == "cell":
        rows[one][column] = draw(st.sampled_from(["*", "", "[30, 32]", "{Bonn; Kiel}", "1", "1.5", "1.50"]))
    elif what == "drop":
        del rows[one]
    elif what == "double":
        rows.insert(other, dict(rows[one]))
    elif what == "move":
        rows[one], rows[other] = rows[other], rows[one]
    else:
        numbers = {rows[one]["group"]: rows[other]["group"], rows[other]["group"]: rows[one]["group"]}
        rows = [{**row, "group": numbers.get(row["group"], row["group"])} for row in rows]
    return rows


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_change_has_the_same_result(monkeypatch, releases, tmp_path, data):
    name = data.draw(st.sampled_from(list(RELEASES)))
    table, written = releases[name]
    folder = tmp_path / "release"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(written, folder)
    rows = rows_of(folder)
    for _ in range(data.draw(st.integers(0, 2))):
        rows = changed(data.draw, rows)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    (folder / "data.csv").write_text(text.getvalue(), encoding="utf-8")
    content = stated(folder)
    for key, claim in data.draw(st.sampled_from([{}, {}, {"rows": len(rows)}, {"suppressed": 1}, {"groups": 5}])).items():
        content[key] = claim
    state(folder, content, report=False)
    cores = data.draw(st.integers(1, 4))
    limit = data.draw(st.sampled_from([0, 1 << 25]))
    monkeypatch.setattr(coverage_checks, "_BUDGET", limit)
    found = by_executors(monkeypatch, folder, table, cores, principles=[sf.KAnonymity(3)])
    local = sf.verify(folder, table, engine="stream", principles=[sf.KAnonymity(3)])
    assert same(found, local), (found, local)


# ------------------------------------------------------------------------------ rows of Spark, and files that are not there


def test_rows_that_executors_wrote_are_checked_in_place_of_the_data_file(monkeypatch, written):
    copy = parquet.read_table(written["parquet"] / "data.parquet")
    found = by_executors(monkeypatch, written["csv"], PEOPLE, published=copy)
    assert found.holds, found.failures
    assert {check.name: check.detail for check in found.not_checked}.keys() == {"order", "form", "figures"}
    for wrong, problem in (
        (copy.slice(1), "counts"),
        (pa.concat_tables([copy.slice(1), copy.slice(2, 1)]), "rows"),
        (copy.drop_columns("pay"), "data"),
    ):
        result = by_executors(monkeypatch, written["csv"], PEOPLE, published=wrong)
        assert problem in {check.name for check in result.checks if check.holds is False}


def test_groups_that_are_numbered_otherwise_are_found_without_an_order_of_rows(monkeypatch, written):
    copy = parquet.read_table(written["parquet"] / "data.parquet")
    last = max(copy["group"].to_pylist())
    other = copy.set_column(0, "group", pa.array([last + 1 - number for number in copy["group"].to_pylist()]))
    found = by_executors(monkeypatch, written["csv"], PEOPLE, published=other)
    assert found.failures.startswith("order: its groups are not numbered in the public order")


def test_pairs_that_do_not_fit_are_not_checked(monkeypatch, written):
    monkeypatch.setattr(cluster_facts, "LARGEST", 1)
    monkeypatch.setattr("sfumato.verification.revelation_checks._LEAST", 1)
    found = by_executors(monkeypatch, written["csv"], PEOPLE)
    check = next(check for check in found.checks if check.name == "revealing")
    assert check.holds is None and "'ill' occurs with more values of other columns than fit into memory" in check.detail


def test_executors_read_the_file_of_the_driver_and_no_other(monkeypatch, written, tmp_path):
    manifest = Manifest.load(written["csv"]).table
    other = tmp_path / "other.csv"
    other.write_text("group\n1\n")
    with pytest.raises(UnreadFileError, match="sees another file of this name"):
        DataFile(manifest, SCHEMA, digest(other)).check_same()
    monkeypatch.setattr(cluster_tables, "digest", lambda path: digest(other))
    reason = opened_cluster_tables(Frames(), manifest, manifest.schema()[0], None, None)
    assert reason.startswith("an executor sees another file of this name: ")


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (lambda pay: [[each] for each in pay], "executors do not count cells of the type list"),
        (lambda pay: [{"x": each} for each in pay], "executors do not count cells of the type struct"),
        (lambda pay: [None for _ in pay], "executors do not count cells of the type null"),
        (lambda pay: np.array(pay, np.float16), "executors do not count cells of the type halffloat"),
    ],
    ids=["lists", "structs", "nothing", "short floats"],
)
def test_files_that_executors_cannot_count_are_left_to_the_driver(written, tmp_path, cells, reason):
    folder = shutil.copytree(written["parquet"], tmp_path / "release")
    data = parquet.read_table(folder / "data.parquet")
    changed_pay = pa.array(cells(data["pay"].to_pylist()))
    parquet.write_table(data.set_column(4, "pay", changed_pay), folder / "data.parquet")
    manifest = Manifest.load(folder).table
    assert opened_cluster_tables(Frames(), manifest, manifest.schema()[0], None, None).startswith(reason)


@pytest.mark.parametrize("kind", [pa.bool_(), pa.binary(), pa.large_string(), pa.time64("us"), pa.decimal128(22, 2)])
def test_other_types_of_a_file_have_the_same_result(monkeypatch, written, tmp_path, kind):
    folder = shutil.copytree(written["parquet"], tmp_path / "release")
    data = parquet.read_table(folder / "data.parquet")
    pay = data["pay"].cast(pa.int64())
    pay = pay.cast(pa.string()).cast(kind) if pa.types.is_binary(kind) else pay.cast(kind)
    parquet.write_table(data.set_column(4, "pay", pay), folder / "data.parquet")
    state(folder, stated(folder), report=False)
    assert same(by_executors(monkeypatch, folder, PEOPLE), sf.verify(folder, PEOPLE, engine="stream"))
