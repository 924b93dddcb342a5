"""The audit benchmark runs without real data, and reports a peer that is missing."""

from __future__ import annotations

import json
import sys

from commandline import benchmark


def test_bench_runs_without_the_data():
    env = {"SFUMATO_DATA": ""}
    done = benchmark("audit", "--rows", "2000", "--json", env=env)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["source"] == "synthetic census"
    assert figures["audit / lexsort"] > 0


def test_bench_with_a_peer_that_is_not_there():
    done = benchmark("audit", "--rows", "1000", "--pycanon", sys.executable, env={"SFUMATO_DATA": ""})
    assert done.returncode == 2
    assert "pycanon cannot be run" in done.stderr
