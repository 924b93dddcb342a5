"""Real Spark clusters for tests, on this machine; tests are skipped where pyspark or Java is missing."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

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
