"""Rows that executors write to a folder: read back before they get their name, and nothing is left if anything fails."""

from __future__ import annotations

import pyarrow as pa
import pytest
from click.testing import CliRunner

import sfumato as sf
from sfumato.cli import main
from sfumato.io import write_spark_folder
from sfumato.io.write_database import check_target
from sfumato.io.write_spark import pending_spark_rows
from sfumato.io.write_spark_table import TEMPORARY
from spark_clusters import people, spark_or_skip

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning")

ROWS = pa.table({"group": [1, 1, 2], "age": ["[1, 2]", "[1, 2]", None], "pay": [0.5, -0.0, 0.0], "ill": [["a"], [], None]})


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    warehouse = {"spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse"))}
    with spark_or_skip("local-cluster[1,1,1024]", warehouse) as started:
        yield started


def table_of(folder):
    return f"parquet.`{folder}`"


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_gets_its_name_when_it_is_committed(session, tmp_path):
    target = tmp_path / "open"
    with pending_spark_rows("spark://", table_of(target), ROWS) as pending:
        assert not target.exists() and len(names_in(tmp_path)) == 1
        pending.commit()
    assert names_in(tmp_path) == ["open"]
    back = session.read.parquet(str(target)).toArrow()
    assert sorted(map(str, back.to_pylist())) == sorted(map(str, ROWS.to_pylist()))


def test_nothing_is_left_without_a_commit(session, tmp_path):
    with pending_spark_rows("spark://", table_of(tmp_path / "open"), ROWS):
        pass
    with pytest.raises(KeyboardInterrupt), pending_spark_rows("spark://", table_of(tmp_path / "open"), ROWS):
        raise KeyboardInterrupt
    assert names_in(tmp_path) == []


def test_only_an_earlier_release_is_replaced(session, tmp_path):
    target = tmp_path / "open"
    with pending_spark_rows("spark://", table_of(target), ROWS) as pending:
        pending.commit()
    with (
        pytest.raises(sf.errors.DatabaseError, match="a folder of this name exists"),
        pending_spark_rows("spark://", table_of(target), ROWS),
    ):
        pass
    with pending_spark_rows("spark://", table_of(target), ROWS.slice(0, 2), force=True) as pending:
        assert session.read.parquet(str(target)).count() == 3, "the old one is still there"
        pending.commit()
    assert names_in(tmp_path) == ["open"] and session.read.parquet(str(target)).count() == 2
    others = ROWS.rename_columns(["group", "age", "pay", "illness"])
    with (
        pytest.raises(sf.errors.DatabaseError, match="the existing folder has the columns 'group', 'age', 'pay', 'ill'"),
        pending_spark_rows("spark://", table_of(target), others, force=True),
    ):
        pass
    assert names_in(tmp_path) == ["open"] and session.read.parquet(str(target)).count() == 2


def test_a_failed_rename_puts_the_old_folder_back(session, tmp_path, monkeypatch):
    target = tmp_path / "open"
    with pending_spark_rows("spark://", table_of(target), ROWS) as pending:
        pending.commit()
    rename = write_spark_folder.PendingFolder._rename

    def failing(self, one, other):
        if one is self.staging:
            raise OSError("the disk is gone")
        rename(self, one, other)

    monkeypatch.setattr(write_spark_folder.PendingFolder, "_rename", failing)
    with (
        pytest.raises(sf.errors.DatabaseError, match="could not be put in place: the disk is gone"),
        pending_spark_rows("spark://", table_of(target), ROWS.slice(0, 2), force=True) as pending,
    ):
        pending.commit()
    assert names_in(tmp_path) == ["open"] and session.read.parquet(str(target)).count() == 3


def test_rows_that_come_back_changed_are_not_published(session, tmp_path, monkeypatch):
    reader = type(session.read)
    read = reader.parquet
    monkeypatch.setattr(reader, "parquet", lambda self, path: read(self, path).limit(2))
    with (
        pytest.raises(sf.errors.DatabaseError, match="the executors do not read what was written"),
        pending_spark_rows("spark://", table_of(tmp_path / "open"), ROWS),
    ):
        pass
    assert names_in(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_an_error(session, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(sf.errors.DatabaseError), pending_spark_rows("spark://", table_of(tmp_path / "file" / "open"), ROWS):
        pass
    assert names_in(tmp_path) == ["file"]


@pytest.mark.parametrize("table", ["parquet.``", "csv.`/data/people`", "a.b.c.d", "people; drop table x", "a..b", ""])
def test_other_tables_are_errors(table):
    with pytest.raises(sf.errors.DatabaseError, match="is neither a folder of Parquet files nor a table of a catalog"):
        check_target("spark://", table)


def test_a_cluster_is_named_elsewhere():
    with pytest.raises(sf.errors.ParameterError, match=r"without a cluster.*engine\.master.*output\.table"):
        check_target("spark://host:7077", "parquet.`/data`")


# ------------------------------------------------------------------------------ tables of a catalog


@pytest.fixture
def catalog(session):
    """A database of a session that its user goes on with."""
    session.conf.unset(TEMPORARY)
    session.sql("create database register")
    yield session
    session.sql("drop database register cascade")
    session.conf.set(TEMPORARY, "true")


def tables_in(session, database="register"):
    return sorted(table.name for table in session.catalog.listTables(database))


def test_a_table_gets_its_name_when_it_is_committed(catalog):
    with pytest.raises(KeyboardInterrupt), pending_spark_rows("spark://", "register.people", ROWS):
        raise KeyboardInterrupt
    assert tables_in(catalog) == []
    with pending_spark_rows("spark://", "register.people", ROWS) as pending:
        assert len(tables_in(catalog)) == 1 and not catalog.catalog.tableExists("register.people")
        pending.commit()
    assert tables_in(catalog) == ["people"]
    assert sorted(map(str, catalog.table("register.people").toArrow().to_pylist())) == sorted(map(str, ROWS.to_pylist()))
    with (
        pytest.raises(sf.errors.DatabaseError, match="a table of this name exists"),
        pending_spark_rows("spark://", "register.people", ROWS),
    ):
        pass
    with pending_spark_rows("spark://", "register.people", ROWS.slice(0, 2), force=True) as pending:
        assert catalog.table("register.people").count() == 3, "the old one is still there"
        pending.commit()
    assert tables_in(catalog) == ["people"] and catalog.table("register.people").count() == 2


def test_a_failed_rename_leaves_the_old_table(catalog, monkeypatch):
    with pending_spark_rows("spark://", "register.people", ROWS) as pending:
        pending.commit()
    with pending_spark_rows("spark://", "register.people", ROWS.slice(0, 2), force=True) as pending:
        catalog.sql(f"drop table {pending.staging}")
        with pytest.raises(sf.errors.DatabaseError, match="the table could not be put in place"):
            pending.commit()
    assert tables_in(catalog) == ["people"] and catalog.table("register.people").count() == 3


def test_only_tables_of_a_release_are_replaced(catalog):
    catalog.createDataFrame(ROWS).createOrReplaceTempView("shown")
    catalog.sql("create table register.other as select 1 as id")
    problems = {"shown": "not one that Spark manages", "register.other": "the existing table has the columns 'id'"}
    for name, problem in problems.items():
        with pytest.raises(sf.errors.DatabaseError, match=problem), pending_spark_rows("spark://", name, ROWS, force=True):
            pass
    assert catalog.table("register.other").count() == 1 and catalog.table("shown").count() == 3
    catalog.catalog.dropTempView("shown")
    with (
        pytest.raises(sf.errors.DatabaseError, match="cannot be written"),
        pending_spark_rows("spark://", "nowhere.people", ROWS),
    ):
        pass


def test_a_table_that_would_be_lost_is_refused(session):
    with (
        pytest.raises(sf.errors.DatabaseError, match=r"in memory, so the table would be lost.*metastore"),
        pending_spark_rows("spark://", "people", ROWS),
    ):
        pass
    assert tables_in(session, "default") == []


CONFIG = """
[data]
path = "spark://"
table = "people"
[columns.age]
role = "quasi-identifier"
[columns.pay]
role = "sensitive"
[[principles]]
name = "k-anonymity"
k = 4
[engine]
name = "spark"
[output]
path = "release"
database = "spark://"
table = "parquet.`{folder}`"
"""


def test_a_release_of_a_config_is_written_by_executors(session, tmp_path):
    session.createDataFrame(people(300)).createOrReplaceTempView("people")
    config, target = tmp_path / "sfumato.toml", tmp_path / "open"
    config.write_text(CONFIG.format(folder=target), encoding="utf-8")
    done = CliRunner().invoke(main, ["anonymize", str(config)])
    assert done.exit_code == 0, done.output
    assert f"Wrote its rows to the table parquet.`{target}` of spark://" in done.output
    schema = sf.Schema(["age"], ["pay"], group="group")
    published = session.read.parquet(str(target))
    assert sf.audit(published, schema, sf.KAnonymity(4)).holds
    assert published.count() == 300
    done = CliRunner().invoke(main, ["anonymize", str(config)])
    assert done.exit_code == 2 and "exists" in done.output
    config.write_text(CONFIG.format(folder=target).replace("parquet.", "orc."), encoding="utf-8")
    done = CliRunner().invoke(main, ["anonymize", str(config), "--output", str(tmp_path / "other")])
    assert done.exit_code == 2 and "is neither a folder of Parquet files nor" in done.output
    assert names_in(tmp_path) == ["open", "release", "sfumato.toml"]
