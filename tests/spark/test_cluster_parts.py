"""Parts on a real Spark cluster of two executor processes: the same bytes as in memory, also when an executor is killed."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.io.read_spark import from_spark
from sfumato.part_maps import PartWork
from sfumato.spark.cluster_parts import ClusterParts
from spark_clusters import executors, people, spark_or_skip

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning")

SCHEMA = sf.Schema(["age", "town"], ["ill", "pay"])


@pytest.fixture(scope="module")
def session():
    with spark_or_skip("local-cluster[2,1,1024]") as started:
        yield started


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch):
    monkeypatch.setattr(sf.Glaze, "part_rows", 150)


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


REQUIREMENTS = {
    "k": [sf.KAnonymity(4)],
    "dissimilarity": [sf.Dissimilarity(epsilon=2, delta="0.6", k=4, on="pay")],
    "closeness": [sf.KAnonymity(3), sf.TCloseness("0.5", on="ill")],
    "likeness": [sf.BetaLikeness(3, on="ill")],
    "diversity": [sf.DistinctLDiversity(3, on="ill"), sf.TCloseness("0.3", ground="ordered", on="pay")],
}


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "name",
    ["dissimilarity", "diversity", *(pytest.param(name, marks=pytest.mark.long) for name in ("k", "closeness", "likeness"))],
)
def test_a_cluster_makes_the_same_files(session, tmp_path, name, seed):
    made = []
    for engine in ("local", sf.engines.Spark(session=session)):
        release = sf.anonymize(people(700, seed), SCHEMA, REQUIREMENTS[name], method="glaze", seed=seed, engine=engine)
        folder = release.save(tmp_path / str(len(made)))
        assert sf.verify(folder, people(700, seed), engine=engine).holds
        made.append(files_of(folder))
    assert made[0] == made[1]
    assert session.range(3).count() == 3, "the session of the user is left running"


def next_job(session):
    """The number that Spark gives to its next job: it counts them all."""
    context, group = session.sparkContext, f"probe-{time.monotonic_ns()}"
    context.setJobGroup(group, "probe")
    context.parallelize([1], 1).count()
    context.setLocalProperty("spark.jobGroup.id", None)
    return max(context.statusTracker().getJobIdsForGroup(group)) + 1


def test_parts_are_searched_on_the_cluster_and_whole_tables_are_not(session):
    shares, options = [], {"method": "glaze", "engine": sf.engines.Spark(session=session)}
    before = next_job(session)
    sf.anonymize(people(700), SCHEMA, sf.KAnonymity(3), progress=lambda step, share=None: shares.append(share), **options)
    jobs = next_job(session) - 1 - before
    assert jobs >= 2, "at least one for each round"
    known = [share for share in shares if share is not None]
    assert known == sorted(known) and {0.0, 0.7, 1.0} <= set(known)
    before = next_job(session)
    sf.anonymize(people(200), SCHEMA, sf.KAnonymity(3), **options)
    assert next_job(session) - 1 == before


def test_a_killed_executor_changes_nothing(session):
    table = people(3000, 4)
    method, killed = sf.Glaze(effort=3), []

    def kill_once(step, share=None):
        if share is not None and 0.05 < share < 0.6 and not killed:
            killed.append(executors()[0])
            os.kill(killed[0], signal.SIGKILL)

    local = sf.anonymize(table, SCHEMA, REQUIREMENTS["dissimilarity"], method=method, seed=1)
    engine = sf.engines.Spark(session=session)
    spark = sf.anonymize(
        table, SCHEMA, REQUIREMENTS["dissimilarity"], method=method, seed=1, engine=engine, progress=kill_once
    )
    assert len(killed) == 1 and killed[0] not in executors()
    assert local.frame.equals(spark.frame)
    assert local.to_dict() == spark.to_dict()


def test_what_cannot_be_satisfied_is_the_same_error(session):
    errors = []
    for engine in ("local", sf.engines.Spark(session=session)):
        with pytest.raises(sf.errors.RequirementError) as raised:
            sf.anonymize(people(700), SCHEMA, sf.VarianceControl(5000, on="pay"), method="glaze", engine=engine)
        errors.append(str(raised.value))
    assert errors[0] == errors[1]


def test_an_interruption_cancels_the_jobs(session):
    def interrupt(step, share=None):
        if share:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sf.anonymize(people(3000), SCHEMA, REQUIREMENTS["dissimilarity"], method="glaze", progress=interrupt,
                     engine=sf.engines.Spark(session=session))  # fmt: skip
    deadline = time.monotonic() + 20
    while (active := session.sparkContext.statusTracker().getActiveJobsIds()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not active
    assert session.range(3).count() == 3


# ------------------------------------------------------------------------------ frames of Spark


def test_a_frame_of_spark_gives_and_takes_rows_in_any_order(session, tmp_path):
    table = people(700, 5)
    rows = table.sort_by([(name, "ascending") for name in table.column_names])
    local = sf.anonymize(rows, SCHEMA, sf.KAnonymity(4), method="glaze", seed=2)
    for seed in (0, 1):
        shuffled = table.take(np.random.default_rng(seed).permutation(700))
        frame = session.createDataFrame(shuffled).repartition(3 + seed)
        release = sf.anonymize(frame, SCHEMA, sf.KAnonymity(4), method="glaze", seed=2)
        assert type(release.frame).__module__.startswith("pyspark.")
        assert release.frame.toArrow().to_pydict() == local.frame.to_pydict()
    assert pickle.loads(pickle.dumps(release)).frame.to_pydict() == local.frame.to_pydict()
    assert sf.verify(release.save(tmp_path / "release"), frame).holds


def test_the_audit_of_a_frame_of_spark_is_that_of_its_rows(session):
    table, principles = people(700, 5), [sf.KAnonymity(4), sf.DistinctLDiversity(2, on="ill")]
    frame = session.createDataFrame(table).repartition(3)
    local = sf.audit(table, SCHEMA, principles)
    for engine in (None, "stream", "spark"):
        found = sf.audit(frame, SCHEMA, principles, engine=engine)
        assert [one.levels for one in found] == [one.levels for one in local]
        assert [one.violating_rows for one in found] == [one.violating_rows for one in local]


@pytest.mark.long
def test_cells_that_spark_takes_for_equal_have_an_order(session):
    texts = "select v collate UTF8_LCASE as v from values ('a'), ('A'), ('b'), ('B'), ('a'), ('A') as t(v)"
    lists = "select array(v) as v from values (0d), (-0d), (0d), (-0d), (-0d), (0d) as t(v)"
    numbers = session.createDataFrame(pa.table({"v": [0.0, -0.0, 0.0, -0.0, -0.0, 0.0]}))
    for frame, expected in (
        (session.sql(texts), ["A", "A", "a", "a", "B", "b"]),  # capitals have smaller codes
        (numbers, ["-0.0"] * 3 + ["0.0"] * 3),
        (session.sql(lists.replace("-0d", "double('-0.0')")), ["[-0.0]"] * 3 + ["[0.0]"] * 3),
    ):
        for partitions in (1, 2, 3, 5):
            found = from_spark(frame.repartition(partitions)).column("v").to_pylist()
            assert [str(value) for value in found] == expected


def test_tables_and_folders_of_spark_are_read(session, tmp_path):
    session.createDataFrame(people(200, 6)).write.parquet(str(tmp_path / "people"))
    session.createDataFrame(people(200, 6)).createOrReplaceTempView("people")
    config = """
        [data]
        path = "spark://"
        {}
        [columns.age]
        role = "quasi-identifier"
        [columns.ill]
        role = "sensitive"
        [[principles]]
        name = "k-anonymity"
        k = 4
        [engine]
        name = "spark"
        timeout = 30
    """
    found = []
    for source in ('table = "people"', f'table = "parquet.`{tmp_path}/people`"', 'query = "select age, ill from people;"'):
        declared = sf.Config.parse(config.format(source))
        with declared.chosen_engine().running():
            found.append(declared.table().data.select(["age", "ill"]).to_pydict())
    assert sorted(zip(*found[0].values(), strict=True)) == sorted(zip(*found[2].values(), strict=True))
    assert found[0] == found[1]
    for wrong, problem in {'table = "nobody"': "cannot be read", 'query = "drop table people"': "the query fails"}.items():
        declared = sf.Config.parse(config.format(wrong))
        with declared.chosen_engine().running(), pytest.raises(sf.errors.DatabaseError, match=problem):
            declared.table()
    assert session.table("people").count() == 200


def test_columns_without_an_order_or_with_one_name_are_refused(session):
    frame = session.sql("select map('a', 1) as pairs, 3 as age")
    with pytest.raises(sf.errors.DatabaseError, match="cannot be read"):
        sf.anonymize(frame, sf.Schema(["age"]), sf.KAnonymity(2))
    with pytest.raises(sf.errors.ColumnError, match="several columns"):
        sf.anonymize(session.sql("select 1 as age, 3 as age"), sf.Schema(["age"]), sf.KAnonymity(2))


# ------------------------------------------------------------------------------ work that fails


def evaluating(code, parts=2):
    """Work that evaluates Python code on an executor."""
    return PartWork(divmod, eval, code, code, lambda number: {}, [1] * parts)


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("__import__('os')._exit(9)", "worker exited unexpectedly"),
        pytest.param("__import__('os').kill(__import__('os').getppid(), 9)", "", marks=pytest.mark.long),
        pytest.param("bytearray(1 << 60)", "MemoryError", marks=pytest.mark.long),
    ],
    ids=["worker ends", "daemon killed", "out of memory"],
)
def test_work_that_always_fails_is_an_error(session, code, problem):
    parts = ClusterParts(lambda: session, 60)
    try:
        with pytest.raises(sf.errors.ClusterError, match=f"could not search the parts.*{problem}.*Check the logs"):
            parts(evaluating(code), lambda share: None)
    finally:
        parts.close()


def test_errors_of_the_package_come_back_as_they_are(session):
    parts = ClusterParts(lambda: session, 60)
    try:
        with pytest.raises(sf.errors.ParameterError, match="k = 0"):
            parts(evaluating("__import__('sfumato').KAnonymity(0)"), lambda share: None)
    finally:
        parts.close()


def slowly_prepared(seconds, parts):
    """Work whose parts the driver prepares slowly; executors look up an attribute of a number."""

    def part(number):
        time.sleep(seconds)
        return "real"

    return PartWork(getattr, getattr, "slowly prepared", 5, part, [1] * parts)


@pytest.mark.long
def test_a_driver_that_prepares_parts_for_longer_than_the_timeout_is_no_idle_cluster(session):
    parts = ClusterParts(lambda: session, 8)  # executors on a busy machine may need seconds to start
    try:
        before = time.monotonic()
        assert parts(slowly_prepared(1.5, 8), lambda share: None) == [5] * 8
        assert time.monotonic() - before > 9, "one job has all eight parts"
    finally:
        parts.close()


def test_no_job_is_submitted_after_an_interruption(session):
    def interrupt(share):
        raise KeyboardInterrupt

    parts = ClusterParts(lambda: session, 60)
    try:
        before, threads = next_job(session), threading.active_count()
        with pytest.raises(KeyboardInterrupt):
            parts(slowly_prepared(0.6, 12), interrupt)
        assert threading.active_count() <= threads
        assert next_job(session) - 1 == before
    finally:
        parts.close()


def test_sessions_that_cannot_be_used(session):
    with pytest.raises(sf.errors.ParameterError, match="exists, and a process has one"):
        sf.anonymize(people(20), SCHEMA, sf.KAnonymity(2), engine=sf.engines.Spark("yarn"))
    with pytest.raises(sf.errors.ParameterError, match="is not a Spark session"):
        sf.anonymize(people(20), SCHEMA, sf.KAnonymity(2), engine=sf.engines.Spark(session=3))
    with sf.engines.Spark().running():
        pass
    assert session.range(3).count() == 3
