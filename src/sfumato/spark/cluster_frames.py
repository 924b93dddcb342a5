"""Work on the partitions of a frame of Spark, where they are: no row passes through the driver.

Work receives the rows of a partition as Arrow batches, and returns numbered contents of a few large pieces. Spark moves
pieces between executors by their numbers. `mapInArrow` passes rows to Python in the format that sfumato reads; it needs
pandas, on the driver and on executors.
"""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa

from sfumato.io.optional_packages import import_extra
from sfumato.spark import bootstrap
from sfumato.spark.cluster_parts import ClusterParts, destroy, opened
from sfumato.spark.executor import FAILED
from sfumato.spark.job_group import JobGroup

_CONTENTS = "number int, content binary"
"""The columns of numbered contents."""

Shared = TypeVar("Shared")


class ClusterFrames:
    """Work on frames of Spark by the executors of a cluster; what it keeps there is freed when the context ends."""

    def __init__(self, cluster: ClusterParts) -> None:
        import_extra("pandas", "spark", "frames of Spark on executors", "pandas")
        self.cluster = cluster
        self._broadcasts: list[Any] = []
        self._kept: list[Any] = []

    def __enter__(self) -> ClusterFrames:
        return self

    def __exit__(self, *error: object) -> None:
        for frame in self._kept:
            with suppress(Exception):  # the cluster may be gone
                frame.unpersist()
        for broadcast in self._broadcasts:
            destroy(broadcast)

    def numbers(self, count: int) -> Any:
        """Return a frame of the numbers from 0, each in a partition of its own: for work that reads its rows itself."""
        return self.cluster.session.range(0, count, 1, count)

    def mapped(
        self, frame: Any, run: Callable[[Shared, Iterator[pa.RecordBatch]], Iterator[tuple[int, bytes]]], shared: Shared
    ) -> Any:
        """Return a frame of numbered contents, those that `run` makes of each partition; computed when it is needed.

        `run`: a function of this package; `shared`: what it receives beside the batches, sent once to each executor.
        """
        broadcast = self.cluster.context.broadcast(pickle.dumps((run, shared), pickle.HIGHEST_PROTOCOL))
        self._broadcasts.append(broadcast)
        function = partial(bootstrap.work_on_batches, *self.cluster.package, (str(uuid.uuid4()), broadcast))
        return frame.mapInArrow(function, _CONTENTS)

    def spread(self, contents: Any, partitions: int) -> Any:
        """Return numbered contents in so many partitions: those of one number are in one partition."""
        if hasattr(contents, "repartitionById"):
            return contents.repartitionById(partitions, "number")
        return contents.repartition(partitions, "number")  # Spark 4.0: less evenly

    def kept(self, contents: Any) -> Any:
        """Return contents that several jobs use: executors keep them on disk."""
        from pyspark import StorageLevel

        kept = contents.persist(StorageLevel.DISK_ONLY)
        self._kept.append(kept)
        return kept

    def collected(self, contents: Any, purpose: str) -> list[tuple[int, bytes]]:
        """Compute numbered contents and return them, in no particular order; `purpose`: as in `JobGroup`."""
        found: list[tuple[int, bytes]] = []

        def collect() -> None:
            found.extend((number, bytes(content)) for number, content in contents.collect())

        JobGroup(self.cluster.context, self.cluster.timeout, purpose).run([collect], lambda tasks: tasks)
        for number, content in found:
            if number == FAILED:
                opened(content)
        return found
