"""An audit by the executors of a real cluster says what the audit of the same rows in memory says."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import sfumato as sf
from audited_tables import REQUESTS, SCHEMAS, mixed, requests_for, said
from sfumato.cli import main
from sfumato.data.schema import Missing
from sfumato.io import cell_counts
from sfumato.registry import PRINCIPLES
from sfumato.spark import coded_rows, frame_measurement, group_entries
from spark_clusters import killing_one, people, spark_or_skip

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning")


@pytest.fixture(scope="module")
def session():
    with spark_or_skip("local-cluster[2,1,1024]") as started:
        yield started


@pytest.fixture
def _rows_stay(monkeypatch):
    """Collecting the rows is an error."""

    def refuse(frame):
        raise AssertionError("the rows were collected")

    monkeypatch.setattr("sfumato.io.read_table.from_spark", refuse)


def test_every_principle_is_compared():
    requested = {principle.name for requests in REQUESTS.values() for principle in requests}
    compared = {name for name, kind in PRINCIPLES.items() if kind.uses_population or kind.uses_original}
    assert set(PRINCIPLES) - requested == compared | {"n-t-closeness", "ck-safety"}, "those that the driver measures"


@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 60), st.integers(0, 2**16), st.sampled_from(list(SCHEMAS)), st.integers(1, 3))
@pytest.mark.usefixtures("_rows_stay")
def test_executors_measure_what_this_process_measures(session, monkeypatch, rows, seed, name, partitions):
    monkeypatch.setattr(frame_measurement._Frame, "_partitions", lambda self: partitions if self.key_names else 1)
    table, schema = mixed(rows, seed), SCHEMAS[name]
    requests = requests_for(name, rows)
    frame = session.createDataFrame(table).repartition(2)
    found = sf.audit(frame, schema, requests)
    assert said(found) == said(sf.audit(table, schema, requests))
    assert said(pickle.loads(pickle.dumps(found))) == said(found)


@pytest.mark.usefixtures("_rows_stay")
def test_worst_groups_of_many_partitions_have_the_numbers_of_all_groups(session, monkeypatch):
    monkeypatch.setattr(coded_rows, "_ROWS_OF_ONE_PARTITION", 100)
    monkeypatch.setattr(coded_rows, "_ROWS_PER_PARTITION", 500)
    monkeypatch.setattr(group_entries, "_PIECE", 300)
    table, schema = people(2000, 3), sf.Schema(["age", "town", "pay"], ["ill"])
    requests = [sf.KAnonymity(3), sf.TCloseness("0.5"), sf.KAnonymity(1)]
    found, local = sf.audit(session.createDataFrame(table), schema, requests), sf.audit(table, schema, requests)
    assert found.to_json(50) == local.to_json(50)
    assert found.groups.count == local.groups.count > 1000
    with pytest.raises(sf.errors.ParameterError, match=r"200 worst groups are requested, and 100 are kept.*stream"):
        found[0].worst_groups(200)
    with pytest.raises(sf.errors.ParameterError, match="the groups are on the cluster"):
        found.details()
    with pytest.raises(AttributeError, match="rows of these groups are elsewhere"):
        _ = found.groups.sizes


@pytest.mark.usefixtures("_rows_stay")
def test_an_executor_that_is_killed_changes_nothing(session, monkeypatch):
    monkeypatch.setattr(coded_rows, "_ROWS_OF_ONE_PARTITION", 100)
    table, schema = people(2000, 3), sf.Schema(["age", "town"], ["ill", "pay"])
    requests = [sf.KAnonymity(3), sf.TCloseness("0.5", on="ill"), sf.Dissimilarity(2, "0.6", 3, on="pay")]
    killed = killing_one(monkeypatch, session, 2)
    found = sf.audit(session.createDataFrame(table).repartition(4), schema, requests)
    assert killed
    assert said(found) == said(sf.audit(table, schema, requests))


REASONS = {
    "compares the rows of a group with those": (sf.Schema(["age"], ["ill"]), sf.NTCloseness(n=2, t="0.5")),
    "rows of a person may be in several groups": (sf.Schema(["age"], ["ill"], person_id="pay"), sf.KAnonymity(2)),
    "dates are replaced by ages": (sf.Schema(["born"], ages={"born": "2020-01-01"}), sf.KAnonymity(2)),
    "no column is used": (sf.Schema(), sf.KAnonymity(2)),
}


@pytest.mark.parametrize("reason", REASONS)
def test_what_the_driver_must_measure_is_said(session, reason):
    schema, request = REASONS[reason]
    table = mixed(40, 1)
    found, local = sf.audit(session.createDataFrame(table), schema, request), sf.audit(table, schema, request)
    assert found[0].levels == local[0].levels and found[0].violating_rows == local[0].violating_rows
    assert "collected and measured by the driver" in found.notes[0] and reason in found.notes[0]


def errors(*calls):
    texts = []
    for call in calls:
        with pytest.raises(sf.SfumatoError) as raised:
            call()
        texts.append((type(raised.value), str(raised.value)))
    return texts


@pytest.mark.usefixtures("_rows_stay")
@pytest.mark.parametrize(
    ("schema", "request_"),
    [
        (sf.Schema(["age"], ["pay"]), sf.KAnonymity(50)),
        (sf.Schema(["age"], ["nope"]), sf.KAnonymity(2)),
        (sf.Schema(["pay"], ["age"]), sf.VarianceControl(2)),
        (sf.Schema(["age"], ["job"]), sf.TCloseness("0.5", ground="ordered")),
        (sf.Schema(["age"], ["pay"]), sf.TCloseness("0.5", ground="hierarchical")),
    ],
)
def test_errors_are_the_same(session, schema, request_):
    table = mixed(40, 1)
    frame = session.createDataFrame(table)
    local, found = errors(lambda: sf.audit(table, schema, request_), lambda: sf.audit(frame, schema, request_))
    assert found == local


@pytest.mark.usefixtures("_rows_stay")
def test_errors_about_cells_name_no_row_and_notes_neither(session):
    table = pa.table({"day": ["2020-01-02"] * 9 + ["soon"], "age": [1, 2, None, 3, 4, 5, 6, 7, 8, 9]})
    frame = session.createDataFrame(table)
    schema = sf.Schema(["age"], missing=Missing(policy="refuse"))
    with pytest.raises(sf.errors.CellError, match=r"'age': the value is missing in 1 rows, and missing values are refused"):
        sf.audit(frame, schema, sf.KAnonymity(2))
    with pytest.raises(sf.errors.CellError, match="is not a number") as raised:
        sf.audit(frame, sf.Schema(["day"], kinds={"day": "numeric"}), sf.KAnonymity(2))
    assert raised.value.row is None
    with pytest.raises(sf.errors.FileError, match="the table has no rows"):
        sf.audit(frame.where("age > 100"), schema, sf.KAnonymity(2))


def test_a_column_that_does_not_fit_is_named(session, monkeypatch):
    frame = session.createDataFrame(people(2000))
    monkeypatch.setattr(frame_measurement, "LARGEST", 100)
    with pytest.raises(sf.errors.ColumnError, match=r"'ill \+ pay': the columns have more combinations"):
        sf.audit(frame, sf.Schema(["age"], ["ill", "pay"]), sf.TCloseness("0.5", on="whole"))
    counts = cell_counts.CellCounts("pay", "people")
    monkeypatch.setattr(cell_counts, "LARGEST", 100)
    counts.add(pa.array(range(1000)))
    with pytest.raises(sf.errors.ColumnError, match=r"people, column 'pay': the column has 1,000 distinct values so far"):
        counts.result()


def test_a_table_that_changes_is_an_error(session):
    frame = session.range(100).selectExpr("reflect('java.util.UUID', 'randomUUID') as age")
    with pytest.raises(sf.errors.DatabaseError, match="the table changed while it was read"):
        sf.audit(frame, sf.Schema(["age"]), sf.KAnonymity(2))


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
"""


@pytest.mark.usefixtures("_rows_stay")
def test_the_command_line_leaves_a_table_of_spark_where_it_is(session, tmp_path):
    table = people(300, 2)
    session.createDataFrame(table).createOrReplaceTempView("people")
    config = tmp_path / "sfumato.toml"
    config.write_text(CONFIG, encoding="utf-8")
    done = CliRunner().invoke(main, ["audit", str(config)])
    assert done.exit_code == 1, done.output
    assert "spark://, table people: 300 rows, 71 groups by age" in done.output
    config.write_text(CONFIG.replace('table = "people"', 'table = "nobody"'), encoding="utf-8")
    done = CliRunner().invoke(main, ["audit", str(config)])
    assert done.exit_code == 2 and "the table cannot be read" in done.output


# ------------------------------------------------------------------------------ verification


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """A table, and the folder of its release."""
    table = people(400, 7)
    schema = sf.Schema(["age", "town"], ["ill", "pay"])
    made = sf.anonymize(table, schema, [sf.KAnonymity(4), sf.DistinctLDiversity(2, on="ill")], method="mondrian", seed=1)
    return table, made.save(tmp_path_factory.mktemp("verified") / "release", format="parquet")


@pytest.mark.usefixtures("_rows_stay")
def test_executors_verify_what_this_process_verifies(session, release, monkeypatch):
    table, folder = release
    frame = session.createDataFrame(table).repartition(3)
    local = sf.verify(folder, table, engine="stream")
    killed = killing_one(monkeypatch, session, 9)
    found = sf.verify(folder, frame)
    assert killed, "an executor was lost"
    assert found.checks[:-1] == local.checks[:-1] and found.holds
    assert [check.name for check in found.not_checked] == ["figures"]


@pytest.mark.usefixtures("_rows_stay")
def test_the_rows_that_executors_wrote_are_verified(session, release, tmp_path):
    table, folder = release
    data = parquet.read_table(folder / "data.parquet")
    session.createDataFrame(data).repartition(3).write.parquet(str(tmp_path / "open"))
    named = f"parquet.`{tmp_path / 'open'}`"
    frame = session.createDataFrame(table)
    found = sf.verify(folder, frame, published=named, engine="spark")
    assert found.holds and {check.name for check in found.not_checked} == {"order", "form", "figures"}
    session.createDataFrame(data.slice(0, 1)).write.mode("append").parquet(str(tmp_path / "open"))
    found = sf.verify(folder, frame, published=named, engine="spark")
    assert "counts: 401 rows in" in found.failures and "rows: 1 published row have no original" in found.failures


def test_a_verification_that_the_driver_must_make_says_so(session, release):
    table, folder = release
    frame = session.createDataFrame(table)
    found = sf.verify(folder, frame, principles=[sf.NTCloseness(n=2, t="0.5")])
    assert found.notes == (
        "the rows were collected and checked by the driver, because (n,t)-closeness compares the rows of a group with those "
        "of other groups",
    )
    found = sf.verify(folder, table, published=session.createDataFrame(parquet.read_table(folder / "data.parquet")))
    assert found.holds and "because the original is not a table of Spark" in found.notes[0]
    assert {check.name for check in found.not_checked} == {"order", "form", "figures"}
