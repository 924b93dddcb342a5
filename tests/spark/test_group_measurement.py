"""What executors do, in this process: parts of a table measured apart say what the whole table says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from audited_tables import SCHEMAS, mixed, requests_for, said
from executor_frames import Frames, Rows
from sfumato.audits import cluster_audit
from sfumato.spark import executor, frame_measurement


@pytest.fixture(autouse=True)
def _no_freeze(monkeypatch):
    monkeypatch.setattr(executor.gc, "freeze", lambda: None)


def audited(table, cuts, schema, requests):
    return cluster_audit.audit_rows(Frames(), Rows(table, cuts), schema, requests, untyped=False)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 60), st.integers(0, 2**16), st.sampled_from(list(SCHEMAS)), st.integers(1, 5))
def test_parts_measured_apart_say_what_the_whole_table_says(monkeypatch, rows, seed, name, partitions):
    monkeypatch.setattr(frame_measurement._Frame, "_partitions", lambda self: partitions if self.key_names else 1)
    table, schema, requests = mixed(rows, seed), SCHEMAS[name], requests_for(name, rows)
    cuts = sorted({0, rows, *np.random.default_rng(seed).integers(0, rows + 1, 3).tolist()})
    found = audited(table, cuts, schema, requests)
    assert said(found) == said(sf.audit(table, schema, requests))


def test_only_the_worst_groups_are_listed_and_they_are_the_right_ones(monkeypatch):
    monkeypatch.setattr(frame_measurement, "MOST_LISTED", 4)
    monkeypatch.setattr(frame_measurement._Frame, "_partitions", lambda self: 3)
    table, schema = mixed(300, 1), sf.Schema(["age", "town", "score", "level"], ["pay"])
    requests = [sf.KAnonymity(9), sf.Dissimilarity(2, "0.5", 2), sf.KAnonymity(1)]
    found = audited(table, [0, 100, 300], schema, requests)
    local = sf.audit(table, schema, requests)
    assert found.to_json(4) == local.to_json(4)
    assert len(found[0].numbers) < local.groups.count
