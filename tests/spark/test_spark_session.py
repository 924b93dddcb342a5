"""Sessions that the engine starts are stopped; clusters that cannot be used are errors, soon."""

from __future__ import annotations

import socket
import time

import pytest
from click.testing import CliRunner
from pyarrow import csv as arrow_csv

import sfumato as sf
from sfumato.cli import main
from sfumato.engines import engine_of
from spark_clusters import people, require_spark, spark_or_skip

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning")

SCHEMA = sf.Schema(["age", "town"], ["ill", "pay"])

CONFIG = """
[data]
path = "people.csv"
[columns.age]
role = "quasi-identifier"
[columns.town]
role = "quasi-identifier"
[columns.pay]
role = "sensitive"
[[principles]]
name = "k-anonymity"
k = 4
[engine]
name = "spark"
master = "local-cluster[1,1,1024]"
folder = "spill"
timeout = 90
settings = { "spark.executor.cores" = "1" }
"""


def anonymized(engine):
    return sf.anonymize(people(700), SCHEMA, sf.KAnonymity(4), method="glaze", engine=engine)


def no_session_is_left():
    from pyspark import SparkContext

    return SparkContext._active_spark_context is None


def test_the_command_line_starts_and_stops_a_cluster_of_one_executor(tmp_path, monkeypatch):
    require_spark()
    monkeypatch.setattr(sf.Glaze, "part_rows", 150)
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    arrow_csv.write_csv(people(700), tmp_path / "people.csv")
    (tmp_path / "spill").mkdir()
    config = tmp_path / "sfumato.toml"
    config.write_text(CONFIG, encoding="utf-8")
    run = CliRunner()
    for output, more in (("spark", []), ("local", ["--engine", "local"])):
        done = run.invoke(main, ["anonymize", str(config), "--output", str(tmp_path / output), *more])
        assert done.exit_code == 0, done.output
    assert no_session_is_left()
    made = [{path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("spark", "local")]
    assert made[0] == made[1]
    arguments = ["verify", str(tmp_path / "spark"), "--original", str(tmp_path / "people.csv")]
    done = run.invoke(main, [*arguments, "--engine", "spark", "--master", "local[1]"])
    assert done.exit_code == 0, done.output
    assert no_session_is_left()


def test_a_config_names_the_cluster(tmp_path):
    (tmp_path / "spill").mkdir()
    config = tmp_path / "sfumato.toml"
    config.write_text(CONFIG, encoding="utf-8")
    declared, settings = sf.Config.load(config), {"spark.executor.cores": "1"}
    expected = sf.engines.Spark("local-cluster[1,1,1024]", folder=tmp_path / "spill", timeout=90, settings=settings)
    assert declared.chosen_engine() == expected
    assert declared.chosen_engine(master="yarn").master == "yarn"
    assert declared.chosen_engine("stream") == sf.engines.Stream(tmp_path / "spill")
    config.write_text(CONFIG.replace('name = "spark"', 'name = "local"'), encoding="utf-8")
    with pytest.raises(sf.errors.ConfigError, match="only the engine spark has a master"):
        sf.Config.load(config).chosen_engine()
    config.write_text(CONFIG.replace("timeout = 90", "timeout = 0"), encoding="utf-8")
    with pytest.raises(sf.errors.ConfigError, match="invalid timeout 0"):
        sf.Config.load(config).chosen_engine()


def test_a_cluster_without_executors_is_an_error_after_the_timeout(monkeypatch):
    require_spark()
    monkeypatch.setattr(sf.Glaze, "part_rows", 150)
    # no worker has that many cores
    engine = sf.engines.Spark("local-cluster[1,1,1024]", timeout=3, settings={"spark.executor.cores": "4"})
    with pytest.raises(sf.errors.ClusterError, match="no executor of the cluster has worked for 3 seconds") as raised:
        anonymized(engine)
    assert raised.value.key == "timeout"
    assert no_session_is_left()


@pytest.mark.parametrize(
    ("master", "problem"),
    [
        ("spark://127.0.0.1:1", "cannot be reached"),
        ("spark://nobody.invalid:7077", "cannot be reached"),
        ("spark://127.0.0.1", "not an address"),
        ("nonsense", "is not a master of Spark"),
        ("local[nonsense]", "Spark cannot be started"),
    ],
)
def test_a_wrong_master_is_an_error_soon(master, problem):
    require_spark()
    before = time.monotonic()
    with pytest.raises(sf.errors.ClusterError, match=problem) as raised:
        anonymized(sf.engines.Spark(master))
    assert raised.value.value == master
    assert time.monotonic() - before < 60
    assert no_session_is_left()


def test_an_error_of_the_work_is_raised_although_the_session_cannot_be_started_either():
    require_spark()
    with pytest.raises(sf.errors.FileError, match="nobody"):
        sf.anonymize("nobody.csv", SCHEMA, sf.KAnonymity(4), engine=sf.engines.Spark("local[nonsense]"))
    assert no_session_is_left()


@pytest.mark.long
def test_a_master_that_accepts_connections_and_never_answers_is_an_error_after_the_timeout():
    require_spark()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        master = f"spark://127.0.0.1:{silent.getsockname()[1]}"
        before = time.monotonic()
        with pytest.raises(sf.errors.ClusterError, match="has not answered for 3 seconds") as raised:
            anonymized(sf.engines.Spark(master, timeout=3))
    assert raised.value.key == "timeout"
    assert time.monotonic() - before < 60, "three seconds, and the start of Java; Spark itself gives up after 68 seconds"
    assert no_session_is_left()
    with spark_or_skip("local[1]") as session:
        assert session.range(3).count() == 3, "a new session can be started"


def test_java_is_missing(monkeypatch, tmp_path):
    pytest.importorskip("pyspark")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(sf.errors.ClusterError, match=r"not in JAVA_HOME.*Install Java 17"):
        anonymized("spark")
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(sf.errors.ClusterError, match=r"Spark needs Java, which is not found"):
        anonymized("spark")


def test_pyspark_is_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyspark.sql", None)
    with pytest.raises(sf.errors.FileError, match=r'pip install "sfumato\[spark\]"'):
        anonymized("spark")


def test_options_of_spark_are_for_spark():
    assert engine_of("spark", master="yarn") == sf.engines.Spark("yarn")
    with pytest.raises(sf.errors.ParameterError, match="only the engine spark has a master"):
        engine_of("stream", master="yarn")
    with pytest.raises(sf.errors.ParameterError, match="invalid master"):
        sf.engines.Spark(" ")
    with pytest.raises(sf.errors.FileError, match="no such folder"):
        sf.engines.Spark(folder="/nowhere/at/all")


def test_settings_may_be_secret():
    assert "hush" not in repr(sf.engines.Spark(settings={"spark.ssl.keyPassword": "hush"}))


def test_tables_of_spark_need_a_session():
    declared = sf.Config.parse(CONFIG.replace('"people.csv"', '"spark://"\ntable = "people"'))
    with pytest.raises(sf.errors.DatabaseError, match="there is no Spark session"):
        declared.table()
    declared = sf.Config.parse(CONFIG.replace('"people.csv"', '"spark://"'))
    with pytest.raises(sf.errors.SfumatoError, match="neither a table nor a query"):
        declared.table()
    declared = sf.Config.parse(CONFIG.replace('"people.csv"', '"spark://host:7077"\ntable = "people"'))
    with pytest.raises(sf.errors.SfumatoError, match=r"engine\.master"):
        declared.table()
