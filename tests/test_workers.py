"""Work beside the calling thread: its results, its errors, its end, and where there is no other thread."""

from __future__ import annotations

import os
import threading
import time

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.storage import Storage
from sfumato.workers import available_workers, meanwhile


def ours():
    return [thread for thread in threading.enumerate() if thread.name.startswith("sfumato-meanwhile")]


def test_all_cores_that_the_process_may_use(monkeypatch):
    monkeypatch.delenv("SFUMATO_WORKERS", raising=False)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert available_workers() == cores


@pytest.mark.parametrize("wrong", ["0", "-1", "many", "1.5"])
def test_an_invalid_number_of_threads_is_an_error_for_every_table_before_it_is_read(wrong, monkeypatch, tmp_path):
    monkeypatch.setenv("SFUMATO_WORKERS", wrong)
    schema = sf.Schema(["age"], ["ill"])
    people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "gout", "flu", "cold"]})
    for data in (people, tmp_path / "no such file.csv"):
        with pytest.raises(sf.errors.ParameterError, match=f"SFUMATO_WORKERS is {wrong!r}"):
            sf.anonymize(data, schema, sf.KAnonymity(2))


@pytest.mark.parametrize("workers", ["1", "2"])
def test_results_are_those_of_the_work_which_is_done_once(workers, monkeypatch):
    monkeypatch.setenv("SFUMATO_WORKERS", workers)
    done = []
    with meanwhile(lambda: done.append("one") or 1, lambda: done.append("two") or 2) as (one, two):
        assert (two(), one(), two()) == (2, 1, 2)
    assert sorted(done) == ["one", "two"]
    assert not ours()


def test_work_runs_in_another_thread_unless_one_must_do(monkeypatch, tmp_path):
    monkeypatch.setenv("SFUMATO_WORKERS", "2")
    with meanwhile(threading.get_ident) as (other,):
        assert other() != threading.get_ident()
    with Storage(tmp_path).active(), meanwhile(threading.get_ident) as (same,):
        assert same() == threading.get_ident()
    monkeypatch.setenv("SFUMATO_WORKERS", "1")
    with meanwhile(threading.get_ident) as (same,):
        assert same() == threading.get_ident()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_error_is_raised_where_the_result_is_requested_and_only_there(workers, monkeypatch):
    monkeypatch.setenv("SFUMATO_WORKERS", workers)
    with meanwhile(lambda: 1 // 0) as (quotient,):
        pass
    with meanwhile(lambda: 1 // 0) as (quotient,), pytest.raises(ZeroDivisionError):
        quotient()


def test_the_thread_has_ended_after_an_error_of_the_caller_and_begins_nothing_more(monkeypatch):
    monkeypatch.setenv("SFUMATO_WORKERS", "2")
    begun, more = threading.Event(), []

    def first():
        begun.set()
        time.sleep(0.05)

    with pytest.raises(KeyboardInterrupt), meanwhile(first, lambda: more.append("begun")):
        begun.wait()
        raise KeyboardInterrupt
    assert not ours() and not more
