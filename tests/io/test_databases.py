"""Tables from databases: types are preserved or refused, and errors name the problem."""

from __future__ import annotations

import datetime as dt
import sqlite3
import threading
from contextlib import closing
from decimal import Decimal
from fractions import Fraction
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import csv

import sfumato as sf
from databases import fill, run
from sfumato.io.database_uri import expanded, shown, without_passwords
from sfumato.io.typed_cells import decimals

SCHEMA = sf.Schema(["age", "sex"], ["income"])
PRINCIPLES = [sf.KAnonymity(2), sf.Dissimilarity(epsilon=2, delta="0.5", k=2), sf.TCloseness("0.3"), sf.EntropyLDiversity(2)]


@pytest.fixture(params=["postgresql", "sqlite", "sqlite+pysqlite"])
def database(request, tmp_path):
    if request.param == "postgresql":
        return request.getfixturevalue("postgresql")
    pytest.importorskip("sqlalchemy" if "+" in request.param else "adbc_driver_sqlite")
    return f"{request.param}:///{tmp_path}/people.db"


def people(rows=600):
    return sf.synthetic_census(rows=rows, seed=3).select(["age", "sex", "income"])


def read(uri, query=None, schema=None, **how):
    return sf.read_table(uri, schema or sf.Schema(), query=query, **how)


def test_the_same_verdicts_as_from_csv(database, tmp_path):
    fill(database, "people", people())
    csv.write_csv(people(), tmp_path / "people.csv")
    of_file = sf.audit(tmp_path / "people.csv", SCHEMA, PRINCIPLES).to_dict()
    of_table = sf.audit(database, SCHEMA, PRINCIPLES).to_dict()
    of_query = sf.audit(read(database, "select income, sex, age from people;", SCHEMA), None, PRINCIPLES).to_dict()
    assert of_table["principles"] == of_query["principles"] == of_file["principles"]
    assert of_table["source"] == f"{database}, table people"
    assert of_query["source"] == f"{database}, query"


@pytest.mark.data
def test_the_same_verdicts_on_real_data(postgresql, real_data):
    path = real_data / "acs2018" / "sal_occ_sample2000.csv"
    schema = sf.Schema(["age", "gender", "education", "race"], ["income"], kinds={"income": "numeric"})
    asked = [
        sf.KAnonymity(5), sf.DistinctLDiversity(3), sf.TCloseness("0.2"), sf.Dissimilarity(epsilon=5000, delta="0.6", k=5),
    ]  # fmt: skip
    fill(postgresql, "sal_occ", csv.read_csv(path))
    run(postgresql, "alter table sal_occ alter column income type numeric(12, 2)")
    found = [sf.audit(source, schema, asked).to_dict()["principles"] for source in (path, postgresql)]
    assert found[0] == found[1]
    releases = [sf.anonymize(source, schema, asked[0], seed=1) for source in (path, postgresql)]
    assert releases[0].audit.to_dict()["principles"] == releases[1].audit.to_dict()["principles"]


def test_types_of_postgresql_are_preserved(postgresql):
    numbers = ["1234567890123456789012345678.0123456789", "-0.0000000001", "0", None]
    run(
        postgresql,
        "create type mood as enum ('sad', 'ok')",
        """create table t (n numeric(38, 10), free numeric, d date, ts timestamp, tz timestamptz, b boolean, bin bytea,
        u uuid, j jsonb, items text[], c char(5), f real, m mood, whole smallint)""",
        f"insert into t (n) values {', '.join('(null)' if n is None else f'({n})' for n in numbers)}",
        """insert into t values (1, 1e-30, '2020-02-29', '2020-02-29 01:02:03.000004', '2020-02-29 01:02:03+02', true,
        '\\x00ff', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{"a": 1}', '{a,b}', 'ab', 0.1, 'ok', -1)""",
    )
    table = read(postgresql, "select * from t order by d nulls first, n desc nulls last", sf.Schema(["n", "free", "f"]))
    rows = table.data.to_pylist()
    expected = [numbers[0], "0", numbers[1], None]
    assert [row["n"] for row in rows[:4]] == [None if n is None else Decimal(n) for n in expected]
    assert rows[4] == {
        "n": Decimal(1), "free": Decimal("1e-30"), "d": dt.date(2020, 2, 29), "ts": dt.datetime(2020, 2, 29, 1, 2, 3, 4),
        "tz": dt.datetime(2020, 2, 28, 23, 2, 3, tzinfo=dt.UTC), "b": True, "bin": b"\x00\xff",
        "u": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "j": '{"a": 1}', "items": ["a", "b"], "c": "ab",
        "f": pytest.approx(0.1), "m": "ok", "whole": -1,
    }  # fmt: skip
    assert table.column("n").kind is sf.data.Kind.NUMERIC
    assert max(table.column("n").numbers) == Fraction(numbers[0])
    assert table.column("f").label(0) == "0.1"


@given(
    st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=9, max_value=10**25, min_value=-(10**25)), min_size=1)
)
def test_decimals_keep_every_digit(numbers):
    assert decimals([f"{number:f}" for number in numbers]).to_pylist() == numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("12.5::money", 'Cast it in the query, such as "x"::numeric AS "x"'),
        ("'1 day'::interval", '"x"::text AS "x"'),
        ("'10.0.0.1'::inet", '"x"::text AS "x"'),
        ("'{1.5}'::numeric[]", '"x"::text[] AS "x"'),
        ("int4range(1, 3)", '"x"::text AS "x"'),
        ("'infinity'::date", "row 1: the date is infinite"),
        ("'-infinity'::timestamp", "row 1: the date is infinite"),
        ("'0044-03-15 BC'::date", "outside the years 1 to 9999"),
        ("'Infinity'::numeric", "a value is infinite"),
        ("repeat('7', 77)::numeric", "more than 76 digits"),
    ],
)
def test_types_that_would_change_are_refused(postgresql, value, text):
    with pytest.raises(sf.SfumatoError) as problem:
        read(postgresql, f"select {value} as x")
    assert problem.value.column == "x"
    assert text in str(problem.value)


def test_not_a_number_is_missing(postgresql):
    assert read(postgresql, "select 'NaN'::numeric as x union all select 1").data.column("x").null_count == 1


def test_sqlite_cells_of_several_types(tmp_path):
    pytest.importorskip("adbc_driver_sqlite")
    path = tmp_path / "p.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        for name, cells in {
            "nulls": [None] * 70_000 + ["01"],
            "texts": [*range(70_000), "x"],
            "floats": [*range(70_000), 0.1],
            "digits": [0.1, 2**60 + 1],
            "mixed": [0.1, "n/a"],
        }.items():
            connection.execute(f"create table {name} (x)")
            connection.executemany(f"insert into {name} values (?)", [(cell,) for cell in cells])
    uri = f"sqlite:///{path}"
    assert read(uri, table="nulls").data.column("x").to_pylist()[-1] == "01"
    assert read(uri, table="texts").data.column("x").to_pylist()[-2:] == ["69999", "x"]
    assert read(uri, table="floats").data.column("x").to_pylist()[-2:] == [69999, 0.1]
    for name, cells in {"digits": [Decimal("0.1"), 2**60 + 1], "mixed": ["0.1", "n/a"]}.items():
        with pytest.raises(sf.errors.ColumnError, match=r"sqlite\+pysqlite"):
            read(uri, table=name)
        assert read(f"sqlite+pysqlite:///{path}", table=name).data.column("x").to_pylist() == cells


def test_reading_changes_nothing(postgresql, tmp_path):
    fill(postgresql, "people", people(20))
    fill(f"sqlite:///{tmp_path}/p.db", "people", people(20))
    for uri in (postgresql, f"sqlite:///{tmp_path}/p.db"):
        with pytest.raises(sf.errors.DatabaseError, match=r"read-?only"):
            read(uri, "with x as (select 1) delete from people returning age")
        assert read(uri).rows == 20


def test_wrong_tables_and_queries(database):
    fill(database, "people", people(20))
    cases = [
        ({"table": "People2"}, sf.errors.DatabaseError, "Did you mean 'people'"),
        ({"table": 'x"; drop table people; --'}, sf.errors.DatabaseError, "there is no table"),
        ({"table": "a.b.c"}, sf.errors.ParameterError, "not the name of a table"),
        ({"query": "select from where"}, sf.errors.DatabaseError, "syntax error"),
        ({"query": "select nonsense from people"}, sf.errors.DatabaseError, "nonsense"),
        ({"query": " "}, sf.errors.ParameterError, "the query is empty"),
        ({"query": "select 1", "table": "people"}, sf.errors.ParameterError, "a query and a table"),
        ({"query": "select * from people where age < 0"}, sf.errors.FileError, "no rows"),
        ({"query": "select age as a, sex as a from people"}, sf.errors.ColumnError, "several columns have this name"),
        ({"schema": SCHEMA, "query": "select age, sex from people"}, sf.errors.ColumnError, "there is no such column"),
    ]
    for how, kind, text in cases:
        with pytest.raises(kind, match=text):
            read(database, **how)
    assert read(database).rows == 20
    fill(database, "others", people(20))
    with pytest.raises(sf.errors.ParameterError, match="'others'"):
        read(database)


def test_names_are_quoted(database):
    data = people(20).rename_columns(["Age", 's"; drop table people', "in come"])
    fill(database, "people", data)
    assert read(database, table="people").data.column_names == data.column_names


def test_databases_that_do_not_exist(tmp_path):
    pytest.importorskip("adbc_driver_postgresql")
    for uri, text in [
        ("postgresql://me:s3cret@127.0.0.1:1/people", "refused"),
        ("postgresql://me:s3cret@nowhere.invalid/people", "nowhere.invalid"),
        ("postgresql://me:s3/cret@127.0.0.1/people", "special character"),
        ("postgresql://me:s3@cret@127.0.0.1/people", "special character"),
        ("postgresql://me:s3%cret@127.0.0.1/people", "special character"),
        (f"sqlite:///{tmp_path}/none.db", "there is no file"),
        ("sqlite://", "contains no file"),
        ("nonsense://me:s3cret@127.0.0.1/people", "not supported here"),
        ("mssql+pyodbc://me:s3cret@127.0.0.1/people", "need the package 'pyodbc'"),
    ]:
        with pytest.raises((sf.errors.DatabaseError, sf.errors.FileError), match=text) as problem:
            read(uri, table="people")
        assert "s3" not in str(problem.value)
        assert "cret" not in str(problem.value)
    assert not list(tmp_path.iterdir())
    (tmp_path / "text.db").write_text("no database, whatever its name says")
    with pytest.raises(sf.errors.DatabaseError, match="not a database"):
        read(f"sqlite:///{tmp_path}/text.db", table="people")


def test_a_connection_lost_while_reading(postgresql):
    """Its connection is ended from another one, as when a server is shut down."""
    query = "select g, repeat('x', 200) || g as filler, pg_sleep(case when g % 20000 = 0 then 0.05 end) is null as slow \
from generate_series(1, 2000000) g"
    ended = threading.Event()

    def end():
        while not ended.wait(0.05):
            if run(
                postgresql,
                "select pg_terminate_backend(pid) from pg_stat_activity where query like '%filler%' and state = 'active' "
                "and datname = current_database() and pid <> pg_backend_pid()",
            ):
                return

    thread = threading.Thread(target=end)
    thread.start()
    try:
        with pytest.raises(sf.errors.DatabaseError, match=r"reading failed|refused"):
            read(postgresql, query)
    finally:
        ended.set()
        thread.join()


def test_uris_are_shown_without_secrets():
    assert shown("postgresql://me:s3cret@host:5432/db?password=s3cret") == "postgresql://me:***@host:5432/db"
    assert shown("postgresql://me@host/db") == "postgresql://me@host/db"
    assert shown("sqlite:///a:b@c.db") == "sqlite:///a:b@c.db"
    assert shown("postgresql://me:s3cret") == "postgresql://me:***"
    assert shown("postgresql://host:5432/db") == "postgresql://host:5432/db"
    assert shown("sqlite:///x.db?mode=ro&Password=s3cret") == "sqlite:///x.db?mode=ro&Password=***"


@given(st.text(min_size=3), st.text(alphabet="abc", min_size=1))
def test_no_password_is_shown(password, user):
    uri = expanded("postgresql://${USER}:${PASSWORD}@host/db", {"USER": user, "PASSWORD": password})
    assert shown(uri) == f"postgresql://{user}:***@host/db"
    assert shown(f"postgresql://{user}:{password}@host/db") == f"postgresql://{user}:***@host/db"


@given(st.text(min_size=1), st.text(min_size=1), st.sampled_from(["sslpassword", "TOKEN", "pwd", "client_secret"]))
def test_passwords_become_variables(password, other, key):
    uri = f"postgresql://me:{quote(password, safe='')}@host/db?a=b&{key}={quote(other, safe='')}&c=d"
    kept, names = without_passwords(uri)
    assert kept == f"postgresql://me:${{SFUMATO_PASSWORD}}@host/db?a=b&{key}=${{{names[-1]}}}&c=d"
    assert expanded(kept, dict(zip(names, [password, other], strict=False))) == uri
    assert without_passwords(kept) == (kept, ())
    plain = "postgresql://me@host:5432/db?a=b"
    assert without_passwords(plain) == (plain, ())


WRITING = [
    "drop table people", "DROP TABLE people;", "/* all */ drop table people", "(delete from people)",
    "delete from people returning age", "with gone as (delete from people returning age) select * from gone",
    "with x as (select 1) delete from people returning age", "insert into people select * from people",
    "create table copied as select * from people", "select * into copied from people",
    "select age from people; drop table people", "drop table people; select 1", "commit; drop table people", "begin",
    "attach '{folder}/new.db' as new", "select 1; attach '{folder}/new.db' as new", "vacuum into '{folder}/new.db'",
    "vacuum", "pragma query_only = 0", "pragma journal_mode = wal", "pragma user_version = 7",
    "pragma writable_schema = 1", "copy people to '{folder}/new.db'", "copy people to program 'touch {folder}/new.db'",
    "set transaction read write", "explain analyze delete from people",
]  # fmt: skip


@pytest.mark.parametrize("query", WRITING)
def test_a_query_writes_nothing(database, tmp_path, query):
    fill(database, "people", people(20))
    files = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(sf.errors.DatabaseError) as caught:
        read(database, query.format(folder=tmp_path))
    assert caught.value.file == shown(database), "the error names the source"
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == files, "no file is created or changed"
    assert read(database, table="people").rows == 20


@pytest.mark.parametrize(
    "query",
    ["(select age from people)", "with old as (select age from people) select * from old", "values (1), (2)"]
    + [f"-- drop table people;\nselect '{word}; ''delete' as age from people; -- end" for word in ("into", "drop")],
)
def test_queries_that_read(database, query):
    fill(database, "people", people(20))
    if "sqlite" in database and query.startswith("("):
        query = query[1:-1]  # SQLite has no queries in parentheses
    assert read(database, query).rows in (2, 20)


def test_full_text_search_of_sqlite_can_be_read(tmp_path):
    pytest.importorskip("sqlalchemy")
    with closing(sqlite3.connect(tmp_path / "people.db")) as connection:
        connection.execute("create virtual table people using fts5 (name)")
        connection.execute("insert into people values ('Ann Lee'), ('Bob Day')")
        connection.commit()
    assert read(f"sqlite+pysqlite:///{tmp_path}/people.db", "select name from people where people match 'ann'").rows == 1


def test_a_database_without_read_only_transactions_gets_no_word_that_writes():
    """Some need no semicolon between statements."""
    from sfumato.io.read_only_query import checked_query

    for query in ("select 1 drop table people commit", "with x as (select 1) merge into people using x", "select 1 exec p"):
        with pytest.raises(sf.errors.DatabaseError, match="only queries that read are run"):
            checked_query(query, "mssql://me:secret@host/people", enforced=False)
    assert checked_query('select "update", [drop] from people', "mssql://host/people", enforced=False)
