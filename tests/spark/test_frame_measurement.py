"""An audit by the executors of a real cluster says what the audit of the same rows in memory says."""

from __future__ import annotations

import datetime
import pickle
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.cli import main
from sfumato.data.schema import Missing
from sfumato.io import cell_counts
from sfumato.registry import PRINCIPLES
from sfumato.spark import frame_measurement, group_entries
from spark_clusters import people, spark_or_skip

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


LEVELS = ["low", "mid", "high", "never"]
TREE = sf.Hierarchy.from_rows([(name, name[0], "*") for name in ("flu", "gout", "cold", "cough")])


def mixed(rows, seed):
    """A table with a column of every kind, with missing cells and with values that are written in several ways."""
    draw = np.random.default_rng(seed)

    def some(values):
        return [values[i] for i in draw.integers(0, len(values), rows)]

    return pa.table(
        {
            "age": pa.array(some([30, 31, 32, None]), pa.int64()),
            "town": pa.array(some(["Ulm", "Bonn", " Ulm", "", "?", None]), pa.string()),
            "born": pa.array(some([datetime.date(1990, 1, 2), datetime.date(1991, 5, 6), None]), pa.date32()),
            "score": some(["1,5", "1,50", "2,25", "?"]),
            "level": some(LEVELS[:3]),
            "tags": some(["a;b", "b; a", "c", ""]),
            "ill": pa.array(some(["flu", "gout", "cold", "cough"]), pa.string()),
            "job": pa.array(some(["cook", "nurse", "", None]), pa.string()),
            "pay": pa.array(
                some([Decimal("10.50"), Decimal("12.00"), Decimal("99.99"), Decimal("-3.10")]), pa.decimal128(8, 2)
            ),
            "weight": pa.array(some([0.0, -0.0, 1.5, 80.1]), pa.float64()),
            "part": some(["x", "y", "z"]),
            "seen": pa.array(some([datetime.datetime(2020, 1, 1, hour, tzinfo=datetime.UTC) for hour in (1, 2)])),
        }
    )


MISSING = Missing(values=("", "?"))
SCHEMAS = {
    "kinds": sf.Schema(
        ["born", "score"], ["level", "tags"], orders={"level": LEVELS}, kinds={"tags": "set"}, decimals={"score": ","},
        missing=MISSING,
    ),
    "numbers": sf.Schema(["age", "town", "seen"], ["pay", "weight"], missing=MISSING),
    "group column": sf.Schema(["age", "town"], ["pay", "job"], group="part"),
    "one group": sf.Schema([], ["pay", "job"]),
    "vector": sf.Schema(["age"], ["at"], vectors={"at": ["pay", "weight"]}, distance=sf.distances.Lp()),
    "hierarchy": sf.Schema(["age", "level"], ["ill"], hierarchies={"ill": TREE}),
}  # fmt: skip
"""Schemas, by what they test."""

ANY = (
    sf.KAnonymity(2), sf.AlphaKAnonymity("0.5", k=2), sf.BetaLikeness(1), sf.BetaLikeness("0.5", variant="enhanced"),
    sf.DeltaDisclosure(1), sf.DistinctLDiversity(2), sf.EntropyLDiversity("1.5"), sf.FrequencyLDiversity(2),
    sf.PSensitivity(2, k=2), sf.RecursiveLDiversity(2, 2), sf.TCloseness("0.4"), sf.DistinctLDiversity(2, on="whole"),
)  # fmt: skip
"""Principles for every kind of attribute."""

NUMBERS = (
    sf.EpsilonMAnonymity(2, 2, on="pay"), sf.KEAnonymity(2, 5, on="pay"), sf.VarianceControl(3, on="pay"),
    sf.TCloseness("0.2", ground="ordered", on="pay"), sf.Dissimilarity("1.5", "0.5", 2, on="pay"),
    sf.DeltaLDiversity("1.5", 2, on="pay"),
)  # fmt: skip

REQUESTS = {
    "kinds": (*ANY, sf.TCloseness("0.4", ground="ordered", on="level"), sf.Dissimilarity("0.5", "0.5", on="tags")),
    "numbers": (*ANY, *NUMBERS),
    "group column": (*ANY, *NUMBERS),
    "one group": (*ANY, *NUMBERS),
    "vector": (*ANY, sf.Dissimilarity("0.2", "0.5", 2)),
    "hierarchy": (*ANY, sf.TCloseness("0.4", ground="hierarchical"), sf.Dissimilarity("0.5", "0.5", 2)),
}


def test_every_principle_is_compared():
    requested = {principle.name for requests in REQUESTS.values() for principle in requests}
    assert set(PRINCIPLES) - requested == {"n-t-closeness"}, "the one that the driver measures"


def said(audit):
    """What an audit says, and exactly."""
    return repr(audit), audit.to_json(worst=3), [finding.levels for finding in audit], audit.holds


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 60), st.integers(0, 2**16), st.sampled_from(list(SCHEMAS)), st.integers(1, 3))
@pytest.mark.usefixtures("_rows_stay")
def test_executors_measure_what_this_process_measures(session, monkeypatch, rows, seed, name, partitions):
    monkeypatch.setattr(frame_measurement._Frame, "_partitions", lambda self: partitions if self.key_names else 1)
    table, schema = mixed(rows, seed), SCHEMAS[name]
    requests = [request for request in REQUESTS[name] if (getattr(request, "k", None) or 1) <= rows]
    frame = session.createDataFrame(table).repartition(2)
    found = sf.audit(frame, schema, requests)
    assert said(found) == said(sf.audit(table, schema, requests))
    assert said(pickle.loads(pickle.dumps(found))) == said(found)


@pytest.mark.usefixtures("_rows_stay")
def test_worst_groups_of_many_partitions_have_the_numbers_of_all_groups(session, monkeypatch):
    monkeypatch.setattr(frame_measurement, "_ROWS_OF_ONE_PARTITION", 100)
    monkeypatch.setattr(frame_measurement, "_ROWS_PER_PARTITION", 500)
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
