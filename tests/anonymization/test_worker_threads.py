"""Work in threads: results in order, progress in the calling thread, and a prompt end after an error or an interruption."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import pytest

from sfumato.anonymization.methods.worker_threads import map_in_threads

SOON = 2.0


def wait_until_stopped(report):
    while True:
        time.sleep(0.01)
        report("working", 0.5)


def search_threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("sfumato-search") and thread.is_alive()]


def all_ended():
    deadline = time.monotonic() + SOON
    while search_threads() and time.monotonic() < deadline:
        time.sleep(0.01)
    return not search_threads()


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_are_in_order_and_progress_is_reported_by_the_caller(workers):
    shares, callers = [], set()

    def progress(share):
        shares.append(share)
        callers.add(threading.get_ident())

    def work(item, report):
        report("working", 0.5)
        time.sleep(0.001 * (7 - item))
        return item * item

    assert map_in_threads(work, list(range(7)), list(range(1, 8)), progress, workers) == [i * i for i in range(7)]
    assert shares == sorted(shares)
    assert callers == {threading.get_ident()}


def test_an_error_is_raised_and_ends_the_other_threads():
    def work(item, report):
        if item == 2:
            raise ZeroDivisionError
        wait_until_stopped(report)

    with pytest.raises(ZeroDivisionError):
        map_in_threads(work, [1, 2, 3], [1, 1, 1], lambda share: None, workers=2)
    assert all_ended()


def test_an_interruption_ends_the_threads():
    def interrupt(share):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        map_in_threads(lambda item, report: wait_until_stopped(report), [1, 2, 3], [1, 1, 1], interrupt, workers=2)
    assert all_ended()


SEARCHING = """
import numpy as np, pyarrow as pa, sfumato as sf
from sfumato.cli.interruption import run_interruptibly
draw = np.random.default_rng(0)
table = pa.table({name: draw.integers(0, count, 90_000) for name, count in (("age", 90), ("zip", 300), ("pay", 50))})
task = sf.anonymization.Task(
    sf.Table(table, sf.Schema(["age", "zip"], ["pay"], kinds={"zip": "numeric"})),
    (sf.Dissimilarity(epsilon=3, delta="0.7", k=8),),
    lambda step, share=None: print("searching", flush=True) if share else None,
)
run_interruptibly(lambda: sf.Glaze(effort=50).group(task))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM])
def test_a_search_in_parts_is_stopped(number):
    process = subprocess.Popen([sys.executable, "-c", SEARCHING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "searching\n"
    process.send_signal(number)
    sent = time.monotonic()
    _, errors = process.communicate(timeout=60)
    assert time.monotonic() - sent < 2 * SOON
    assert (process.returncode, errors) == (128 + number, "sfumato: stopped; nothing was left half-written.\n")
