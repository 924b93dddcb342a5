"""Frames of Spark in this process: what executors do, without a cluster."""

from __future__ import annotations

import pickle
from itertools import pairwise
from types import SimpleNamespace

import pyarrow as pa

from sfumato.spark import executor
from sfumato.spark.cluster_parts import opened


class Partitions(list):
    """A frame: a list of partitions, and a partition is a list of batches."""

    def union(self, other):
        return Partitions([*self, *other])


class Frames:
    """What `ClusterFrames` does, in this process. `cores`: those of the cluster."""

    def __init__(self, cores=1):
        self.cluster = SimpleNamespace(context=SimpleNamespace(defaultParallelism=cores))

    def numbers(self, count):
        return Partitions([[pa.record_batch([pa.array([number])], ["id"])] for number in range(count)])

    def mapped(self, frame, run, shared):
        name, work = object(), SimpleNamespace(value=pickle.dumps((run, shared)))
        return Partitions(list(executor.batches_of(name, work, iter(batches))) for batches in frame)

    def spread(self, contents, partitions):
        spread = [[] for _ in range(partitions)]
        for batch in (batch for batches in contents for batch in batches):
            spread[batch.column(0)[0].as_py() % partitions].append(batch)
        return Partitions(spread)

    def kept(self, contents):
        return contents

    def collected(self, contents, purpose):
        batches = [batch for batches in contents for batch in batches]
        found = [(batch.column(0)[0].as_py(), batch.column(1)[0].as_py()) for batch in batches]
        for number, content in found:
            if number == executor.FAILED:
                opened(content)
        return found


class Rows:
    """A row source: the rows of a table in partitions, cut at some rows."""

    def __init__(self, table, cuts, source=None):
        self.table, self.cuts, self.source, self.names = table, cuts, source, table.column_names

    def mapped(self, frames, names, run, shared):
        table = self.table.select(names).rename_columns([str(i) for i, _ in enumerate(names)])
        cut = [table.slice(start, stop - start).to_batches(7) for start, stop in pairwise(self.cuts)]
        return frames.mapped(cut, run, shared)
