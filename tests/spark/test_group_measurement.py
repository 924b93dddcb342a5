"""What executors do, in this process: parts of a table measured apart say what the whole table says."""

from __future__ import annotations

import pickle
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from audited_tables import SCHEMAS, mixed, requests_for, said
from sfumato.audits import cluster_audit
from sfumato.spark import executor, frame_measurement


class Frames:
    """Frames of this process: a frame is a list of partitions, and a partition a list of batches."""

    def __init__(self, cluster):
        self.cluster = cluster

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def mapped(self, frame, run, shared):
        name, work = object(), SimpleNamespace(value=pickle.dumps((run, shared)))
        return [list(executor.batches_of(name, work, iter(batches))) for batches in frame]

    def spread(self, contents, partitions):
        spread = [[] for _ in range(partitions)]
        for batch in (batch for batches in contents for batch in batches):
            spread[batch.column(0)[0].as_py() % partitions].append(batch)
        return spread

    def kept(self, contents):
        return contents

    def collected(self, contents, purpose):
        batches = [batch for batches in contents for batch in batches]
        found = [(batch.column(0)[0].as_py(), batch.column(1)[0].as_py()) for batch in batches]
        for number, content in found:
            if number == executor.FAILED:
                frame_measurement.opened(content)
        return found


class Frame:
    """A frame of Spark, as far as an audit uses it."""

    def __init__(self, table, cuts):
        self.table, self.cuts, self.columns = table, cuts, table.column_names

    def select(self, *columns):
        table = self.table.select([name for name, _ in columns]).rename_columns([alias for _, alias in columns])
        return [table.slice(start, stop - start).to_batches(7) for start, stop in pairwise(self.cuts)]


@pytest.fixture
def _one_process(monkeypatch):
    monkeypatch.setattr(frame_measurement, "ClusterFrames", Frames)
    monkeypatch.setattr(executor.gc, "freeze", lambda: None)

    def columns(frame):
        return {name: SimpleNamespace(alias=lambda alias, name=name: (name, alias)) for name in frame.columns}

    monkeypatch.setattr(frame_measurement, "spark_columns", columns)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 60), st.integers(0, 2**16), st.sampled_from(list(SCHEMAS)), st.integers(1, 5))
@pytest.mark.usefixtures("_one_process")
def test_parts_measured_apart_say_what_the_whole_table_says(monkeypatch, rows, seed, name, partitions):
    monkeypatch.setattr(frame_measurement._Frame, "_partitions", lambda self: partitions if self.key_names else 1)
    table, schema, requests = mixed(rows, seed), SCHEMAS[name], requests_for(name, rows)
    cuts = sorted({0, rows, *np.random.default_rng(seed).integers(0, rows + 1, 3).tolist()})
    found = cluster_audit.audit_frame(Frame(table, cuts), schema, requests, None, None)
    assert said(found) == said(sf.audit(table, schema, requests))


@pytest.mark.usefixtures("_one_process")
def test_only_the_worst_groups_are_listed_and_they_are_the_right_ones(monkeypatch):
    monkeypatch.setattr(frame_measurement, "MOST_LISTED", 4)
    monkeypatch.setattr(frame_measurement._Frame, "_partitions", lambda self: 3)
    table, schema = mixed(300, 1), sf.Schema(["age", "town", "score", "level"], ["pay"])
    requests = [sf.KAnonymity(9), sf.Dissimilarity(2, "0.5", 2), sf.KAnonymity(1)]
    found = cluster_audit.audit_frame(Frame(table, [0, 100, 300]), schema, requests, None, None)
    local = sf.audit(table, schema, requests)
    assert found.to_json(4) == local.to_json(4)
    assert len(found[0].numbers) < local.groups.count
