"""Real Spark clusters for tests, on this machine; tests are skipped where pyspark or Java is missing."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sfumato.spark.cluster_frames import ClusterFrames
from sfumato.spark.spark_session import spark_session


def require_spark():
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    home = os.environ.get("JAVA_HOME")
    if not (Path(home, "bin", "java").exists() if home else shutil.which("java")):
        pytest.skip("Java is not installed")


@contextmanager
def spark_or_skip(master, settings=None):
    require_spark()
    with spark_session(master, settings=settings) as session:
        yield session


def people(rows, seed=0):
    draw = np.random.default_rng(seed)
    return pa.table(
        {
            "age": draw.integers(18, 90, rows),
            "town": draw.choice(["Ulm", "Bonn", "Köln", "Jena", "Kiel"], rows).tolist(),
            "ill": draw.choice(["flu", "gout", "cold", "cough"], rows).tolist(),
            "pay": draw.integers(0, 200, rows),
        }
    )


def executors():
    """The processes of the executors of this session's cluster."""
    found = subprocess.run(["ps", "-ewwo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout.splitlines()
    parents = {line.split(None, 2)[0]: line.split(None, 2)[1] for line in found[1:]}

    def is_ours(pid):
        while pid in parents:
            if pid == str(os.getpid()):
                return True
            pid = parents[pid]
        return False

    pids = [line.split(None, 2)[0] for line in found if "CoarseGrainedExecutorBackend" in line and "java" in line]
    return [int(pid) for pid in pids if is_ours(pid)]


def killing_one(monkeypatch, session, call):
    """Kill an executor while the jobs of a call of `ClusterFrames.collected` run, the first being 1; return whom it was."""
    collect, calls, killed = ClusterFrames.collected, [], []

    def kill():
        while not session.sparkContext.statusTracker().getActiveStageIds():
            time.sleep(0.01)
        killed.append(executors()[0])
        os.kill(killed[0], signal.SIGKILL)

    def collected(self, contents, purpose):
        calls.append(purpose)
        if len(calls) == call:
            threading.Thread(target=kill, daemon=True).start()
        return collect(self, contents, purpose)

    monkeypatch.setattr(ClusterFrames, "collected", collected)
    return killed
