"""Published rows as a table of a database: checked before they are visible; if anything fails, the old table is intact."""

from __future__ import annotations

import datetime as dt
import threading
import time
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from databases import fill, run, sqlite_path, tables
from sfumato.io import write_database as sink
from sfumato.io.write_database import check_target, pending_table

SCHEMA = sf.Schema(["age"], ["income"], undeclared="keep", unchanged_limit=1)


@pytest.fixture(params=["postgresql", "sqlite"])
def database(request, tmp_path):
    if request.param == "postgresql":
        return request.getfixturevalue("postgresql")
    pytest.importorskip("adbc_driver_sqlite")
    return f"sqlite:///{tmp_path}/out.db"


def release(rows=40, seed=0):
    """A release with columns of many types beside age and income."""
    return sf.anonymize(
        pa.table(
            {
                "age": [20 + row % 30 for row in range(rows)],
                "income": pa.array(
                    [None if row % 9 == 0 else Decimal(row) / 8 for row in range(rows)], pa.decimal128(20, 10)
                ),
                "seen": [None if row % 5 == 0 else dt.date(2020, 1, 1 + row % 28) for row in range(rows)],
                'we"ird; drop table x': [f"cell '{row % 10}'" for row in range(rows)],
                "member": [row % 2 == 0 for row in range(rows)],
                "score": [float("nan") if row == 0 else row / 3 for row in range(rows)],
                "note": pa.array(["a", None] * (rows // 2)).dictionary_encode(),
            }
        ),
        SCHEMA,
        sf.KAnonymity(5),
        seed=seed,
    )


def counted(data):
    return sorted(map(repr, data.to_pylist()))


def test_written_and_read_back(database, tmp_path):
    made = release()
    made.save(tmp_path / "release", database=database, table="published")
    back = sf.read_table(database, sf.Schema(), table="published").data
    assert tables(database) == ["published"]
    assert back.column_names == made.table.data.column_names
    expected = made.table.data.set_column(
        6, "score", pa.array([None if cell != cell else cell for cell in made.table.data.column("score").to_pylist()])
    )
    if database.startswith("postgresql"):
        assert counted(back) == counted(expected.cast(back.schema))
        kinds = dict(run(database, "select attname, format_type(atttypid, atttypmod) from pg_attribute where attnum > 0 "
                                   "and attrelid = 'published'::regclass"))  # fmt: skip
        assert kinds == {
            "group": "bigint", "age": "text", "income": "numeric(20,10)", "seen": "date", 'we"ird; drop table x': "text",
            "member": "boolean", "score": "double precision", "note": "text",
        }  # fmt: skip
    else:  # decimals and dates as text, truth as 0 and 1
        rows = [
            {name: str(cell) if isinstance(cell, Decimal | dt.date) else cell for name, cell in row.items()}
            for row in expected.to_pylist()
        ]
        assert sorted(map(str, (list(row.values()) for row in back.to_pylist()))) == sorted(
            str([int(cell) if isinstance(cell, bool) else cell for cell in row.values()]) for row in rows
        )
    groups = sf.Schema(["age"], ["income"], group="group", kinds={"income": "numeric"})
    assert sf.audit(sf.read_table(database, groups, table="published"), None, sf.KAnonymity(5)).holds


def test_numbers_of_a_csv_are_numbers_in_the_database(database, tmp_path):
    lines = ["age,whole,exact,name", *(f"{20 + row},{row},{row}.{row % 10}0,n{row % 3}" for row in range(20)), "30,,,x"]
    (tmp_path / "p.csv").write_text("\n".join(lines))
    schema = sf.Schema(["age"], ["whole", "exact"], kinds={"exact": "numeric"})
    sf.anonymize(tmp_path / "p.csv", schema, sf.KAnonymity(3)).save(tmp_path / "r", database=database, table="t")
    back = sf.read_table(database, sf.Schema(), table="t").data
    assert back.schema.field("whole").type == pa.int64()
    exact = [None if cell is None else Decimal(cell) for cell in back.column("exact").to_pylist()]
    assert sorted(filter(None, exact)) == sorted(Decimal(f"{row}.{row % 10}") for row in range(1, 20))
    assert back.column("whole").null_count == back.column("exact").null_count == 1


def test_an_existing_table(database, tmp_path):
    made = release()
    made.save(tmp_path / "one", database=database, table="t")
    before = counted(sf.read_table(database, sf.Schema(), table="t").data)
    with pytest.raises(sf.errors.DatabaseError, match="a table of this name exists"):
        release(60).save(tmp_path / "two", database=database, table="t")
    with pytest.raises(sf.errors.DatabaseError, match="a table of this name exists"):
        check_target(database, "t")
    assert not (tmp_path / "two").exists()
    assert counted(sf.read_table(database, sf.Schema(), table="t").data) == before
    release(60).save(tmp_path / "two", database=database, table="t", force=True)
    assert sf.read_table(database, sf.Schema(), table="t").rows == 60
    assert tables(database) == ["t"]


def test_only_a_release_is_replaced(database, tmp_path):
    fill(database, "theirs", pa.table({"group": ["x"], "precious": [1]}))
    with pytest.raises(sf.errors.DatabaseError, match="the existing table has the columns 'group', 'precious'"):
        release().save(tmp_path / "r", database=database, table="theirs", force=True)
    columns = release().table.data.column_names
    fill(database, "texts", pa.table({name: ["x"] for name in columns}))
    with pytest.raises(sf.errors.DatabaseError, match="it is not replaced"):
        release().save(tmp_path / "r", database=database, table="texts", force=True)
    assert tables(database) == ["texts", "theirs"]
    assert not (tmp_path / "r").exists()


def test_views_and_tables_with_dependants_are_not_replaced(postgresql, tmp_path):
    release().save(tmp_path / "r", database=postgresql, table="t")
    run(postgresql, "create view v as select * from t")
    with pytest.raises(sf.errors.DatabaseError, match="not a plain table"):
        release().save(tmp_path / "s", database=postgresql, table="v", force=True)
    with pytest.raises(sf.errors.DatabaseError, match="other objects depend on it"):
        release().save(tmp_path / "s", database=postgresql, table="t", force=True)
    assert not (tmp_path / "s").exists()
    assert sf.read_table(postgresql, sf.Schema(), table="v").rows == 40


def test_schemas_and_names(postgresql, tmp_path):
    run(postgresql, 'create schema "Open"')
    name = """Open."a.b""; drop table x" """.strip()
    release().save(tmp_path / "r", database=postgresql, table=name)
    assert sf.read_table(postgresql, sf.Schema(), table=name).rows == 40
    for wrong, text in [
        ("nowhere.t", "nowhere"),
        ("t" * 64, "63 bytes"),
        ("a.b.c", "is not the name of a table"),
        ("", "is not the name of a table"),
    ]:
        with pytest.raises(sf.SfumatoError, match=text):
            release().save(tmp_path / "s", database=postgresql, table=wrong)
    assert tables(postgresql) == []


def test_columns_that_cannot_be_stored(database, tmp_path):
    data = pa.table({"group": [1], "x" * 64: ["a"], "nul": ["a\0b"]})
    if database.startswith("postgresql"):
        with pytest.raises(sf.errors.ColumnError, match="63 bytes"), pending_table(database, "t", data):
            pass
        with (
            pytest.raises(sf.errors.DatabaseError, match="0x00"),
            pending_table(database, "t", data.select(["group", "nul"])),
        ):
            pass
    else:
        with pytest.raises(sf.errors.DatabaseError, match="writing to databases of the kind"):
            check_target(database.replace("sqlite", "sqlite+pysqlite"), "t")
        with pytest.raises(sf.errors.DatabaseError, match="no schemas"):
            check_target(database, "main.t")
        with pytest.raises(sf.errors.DatabaseError, match="no folder"):
            check_target(f"sqlite:///{tmp_path}/none/out.db", "t")
    assert tables(database) == []


def test_nothing_is_visible_until_it_is_committed(database):
    data = pa.table({"group": [1, 2], "age": ["a", "b"]})
    with pytest.raises(RuntimeError), pending_table(database, "t", data):
        assert tables(database) == []
        raise RuntimeError("the folder could not be put in place")
    with pending_table(database, "t", data):
        pass
    assert tables(database) == []
    if database.startswith("sqlite"):
        assert not list(Path(sqlite_path(database)).parent.glob("out.db*"))
    with pending_table(database, "t", data) as pending:
        pending.commit()
    assert tables(database) == ["t"]


def test_changes_by_the_database_are_detected(postgresql, monkeypatch):
    """A database that rounds numbers: nothing is published in it."""
    honest = sink.storable

    def rounding(data, sqlite, separators):
        stored, types = honest(data, sqlite, separators)
        return stored, ["numeric(10, 1)" if kind.startswith("numeric") else kind for kind in types]

    monkeypatch.setattr(sink, "storable", rounding)
    data = pa.table({"group": [1], "x": [Decimal("1.25")]})
    with (
        pytest.raises(sf.errors.DatabaseError, match="does not return what was written"),
        pending_table(postgresql, "t", data),
    ):
        pass
    assert tables(postgresql) == []


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "text": st.none() | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
                "float": st.none() | st.floats(allow_nan=False),
                "whole": st.none() | st.integers(-(2**63), 2**63 - 1),
                "bytes": st.none() | st.binary(),
                "day": st.none() | st.dates(),
                "exact": st.none() | st.decimals(-(10**9), 10**9, places=4),
            }
        ),
        min_size=1, max_size=30,
    )
)  # fmt: skip
def test_any_rows_are_stored_unchanged(database, rows):
    schema = pa.schema(
        [("text", pa.string()), ("float", pa.float64()), ("whole", pa.int64()), ("bytes", pa.binary()), ("day", pa.date32()),
         ("exact", pa.decimal128(20, 4))]
    )  # fmt: skip
    data = pa.Table.from_pylist(rows, schema).add_column(0, "group", pa.array(range(len(rows))))
    with pending_table(database, "t", data, force=True) as pending:
        pending.commit()
    back = sf.read_table(database, sf.Schema(), table="t")
    assert back.rows == len(rows)


def end_others(uri, while_query):
    """End the connection that runs such a query, as when a server is shut down."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        ended = run(
            uri,
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() "
            f"and pid <> pg_backend_pid() and query ilike '%{while_query}%'",
        )
        if ended:
            return
        time.sleep(0.005)


@pytest.mark.parametrize("moment", ["copy", 'select \\* from "sfumato'])
def test_a_connection_lost_while_writing(postgresql, moment):
    old = pa.table({"group": [1], "filler": ["old"]})
    with pending_table(postgresql, "t", old) as pending:
        pending.commit()
    rows = 400_000
    data = pa.table({"group": range(rows), "filler": [f"{row:0200}" for row in range(rows)]})
    thread = threading.Thread(target=end_others, args=(postgresql, moment))
    thread.start()
    try:
        with pytest.raises(sf.errors.DatabaseError), pending_table(postgresql, "t", data, force=True):
            pass
    finally:
        thread.join()
    assert tables(postgresql) == ["t"]
    assert sf.read_table(postgresql, sf.Schema(), table="t").data.to_pydict() == {"group": [1], "filler": ["old"]}


def test_a_connection_lost_before_the_commit(postgresql):
    """The folder is in place by then, so the error says to check the table."""
    with pending_table(postgresql, "t", pa.table({"group": [1]})) as pending:
        end_others(postgresql, "rename to")
        with pytest.raises(sf.errors.DatabaseError, match="could not be committed"):
            pending.commit()
    assert tables(postgresql) == []
