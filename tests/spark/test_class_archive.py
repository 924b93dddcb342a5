"""Java keeps its classes from the second session on, in a file that is complete or not there."""

from __future__ import annotations

import os
import sys
import time

import pytest

from sfumato.spark import class_archive as module
from sfumato.spark.class_archive import class_archive
from sfumato.spark.spark_session import spark_session
from spark_clusters import require_spark


@pytest.fixture
def cache(monkeypatch, tmp_path):
    pytest.importorskip("pyspark")
    java = tmp_path / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("17", encoding="utf-8")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "java"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "sfumato"


def test_classes_are_written_by_the_second_session_and_read_by_the_third(cache):
    first = class_archive()
    assert "Archive" not in first.driver_options + first.executor_options
    first.keep(is_complete=True)
    second = class_archive()
    assert f"-XX:ArchiveClassesAtExit={second.fresh}" in second.driver_options
    assert second.executor_options == ""
    second.fresh.write_text("half", encoding="utf-8")
    second.keep(is_complete=False)
    assert not second.path.exists()
    assert second.is_due
    again = class_archive()
    again.fresh.write_text("all", encoding="utf-8")
    again.keep(is_complete=True)
    third = class_archive()
    for options in (third.driver_options, third.executor_options):
        assert f"-XX:SharedArchiveFile={third.path}" in options
    assert {path.name for path in cache.iterdir()} == {third.path.name, third.mark.name}


def test_another_java_has_its_own_classes_and_replaces_the_earlier_ones(cache, tmp_path):
    def written():
        archive = class_archive()
        archive.keep(is_complete=True)
        archive.fresh.write_text("classes", encoding="utf-8")
        archive.keep(is_complete=True)
        return archive.path

    before = written()
    (tmp_path / "java" / "bin" / "java").write_text("Java 21", encoding="utf-8")
    after = written()
    assert before != after
    assert [path.name for path in cache.glob("*.jsa")] == [after.name]


def test_what_a_process_that_died_left_is_removed(cache):
    archive = class_archive()
    old, new = archive.fresh.with_name("spark-classes-a.part"), archive.fresh.with_name("spark-classes-b.part")
    for path in (old, new):
        path.touch()
    os.utime(old, (time.time() - 2 * module._ABANDONED,) * 2)
    archive.keep(is_complete=False)
    assert (old.exists(), new.exists()) == (False, True)


def test_a_folder_whose_name_java_would_misread_has_no_classes(cache, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "my cache"))
    assert class_archive() is None


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_sessions_with_and_without_classes_do_the_same(monkeypatch, tmp_path):
    """Also after the file was cut off, on which Java would crash: it is written again."""
    require_spark()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    seen = []
    for cut in (False, False, False, True):
        archive = class_archive()
        if cut:
            content = archive.path.read_bytes()
            archive.path.chmod(0o600)
            archive.path.write_bytes(content[: len(content) // 2])
        with spark_session("local-cluster[1,1,1024]") as session:
            found = session.sparkContext.parallelize(range(10), 2).map(lambda n: n * n).collect()
            options = session.sparkContext.getConf().get("spark.executor.extraJavaOptions")
        assert found == [n * n for n in range(10)]
        seen.append(("SharedArchiveFile" in options, archive.path.exists()))
    assert seen == [(False, False), (False, True), (True, True), (False, True)]
