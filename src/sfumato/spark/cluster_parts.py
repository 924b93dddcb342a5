"""Work on the parts of a table on a Spark cluster.

The rows of each part go to an executor as one item of a data set of its own partition, `RDD.mapPartitions`, and its result
comes back the same way. Spark tries a part again elsewhere when an executor is lost; the result is the same, because it
depends on the part alone. Grouped maps over frames (`applyInArrow`, `mapInArrow`) would do the same work, but a shuffle
would sort rows into parts that the driver has sorted already, every row would pass through Java's columns, and they need
pandas.
"""

from __future__ import annotations

import importlib
import pickle
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

from sfumato.errors import ClusterError
from sfumato.part_maps import PartWork
from sfumato.spark import bootstrap
from sfumato.spark.compact_arrays import compact_pickle
from sfumato.spark.job_group import JobGroup

_JOBS = 2
"""Jobs at a time: the next one fills the cores that the last parts of a job leave idle."""

_PARTS_PER_CORE = 3
"""The parts of a job, for each core of the cluster: their rows are in the memory of the driver's Java meanwhile."""


class ClusterParts:
    """A map over parts: see `sfumato.part_maps.PartMap`.

    `session`: waits for the Spark session and returns it; called when it is first needed. `timeout`: the seconds to wait for
    an executor.
    """

    def __init__(self, session: Callable[[], Any], timeout: float) -> None:
        self._session, self.timeout = session, timeout

    @cached_property
    def session(self) -> Any:
        """The Spark session; waits until it has started."""
        return self._session()

    @property
    def context(self) -> Any:
        """The context of the session."""
        return self.session.sparkContext

    @cached_property
    def package(self) -> tuple[str, dict[str, str], Any]:
        """What an executor needs to run the same code: see `bootstrap`."""
        from sfumato.spark.executor import package_versions

        digest, archive = _package()
        # Spark sends the functions of that module by value
        importlib.import_module("pyspark.cloudpickle").register_pickle_by_value(bootstrap)
        # the archive is fetched only by executors that do not have the same files
        return digest, package_versions(), self.context.broadcast(archive)

    def close(self) -> None:
        """Free what the executors hold."""
        if "package" in self.__dict__:
            destroy(self.package[-1])

    def __call__(self, work: PartWork, progress: Callable[[float], None]) -> list[Any]:
        """Return the result of each part, in their order."""
        sent = pickle.dumps((work.run, work.warm_up, work.variant, work.shared), pickle.HIGHEST_PROTOCOL)
        broadcast = self.context.broadcast(sent)
        jobs = _Jobs(self, work, broadcast)
        try:
            jobs.run(progress)
        finally:
            destroy(broadcast)
        return [jobs.results[number] for number in range(len(work.weights))]


@cache
def _package() -> tuple[str, bytes]:
    """Return the digest and the archive of this package, as it is when the first session is used."""
    folder = Path(bootstrap.__file__).parent.parent
    return bootstrap.package_digest(folder), bootstrap.package_archive(folder)


class _Jobs:
    """The jobs that work on all parts, and their results."""

    def __init__(self, cluster: ClusterParts, work: PartWork, broadcast: Any) -> None:
        self.context, self.work = cluster.context, work
        self.results: dict[int, Any] = {}
        self.group = JobGroup(self.context, cluster.timeout, "search the parts of the table")
        self.function = partial(bootstrap.work_on_parts, *cluster.package, (self.group.name, broadcast))
        # those with much work are started first
        self._waiting = sorted(range(len(work.weights)), key=lambda number: -work.weights[number])
        self._lock = threading.Lock()

    def run(self, progress: Callable[[float], None]) -> None:
        """Run all jobs; return when every part has a result."""
        most, parts = 0, len(self.work.weights)

        def note(tasks: int) -> int:
            nonlocal most
            most = max(most, min(len(self.results) + tasks, parts))
            progress(most / parts)
            return most

        self.group.run([self._submit] * _JOBS, note)
        progress(1.0)

    def _submit(self) -> None:
        """Run one job after the other."""
        while numbers := self._next():
            parts = []
            for number in numbers:
                if self.group.stopped.is_set():
                    return
                parts.append((number, compact_pickle(self.work.part(number))))
            sent = self.context.parallelize(parts, len(parts))
            del parts
            if self.group.stopped.is_set():
                return
            found = sent.mapPartitions(self.function).collect()
            results = {number: opened(result) for number, result in found}
            with self._lock:
                self.results.update(results)

    def _next(self) -> list[int]:
        """Return the numbers of the parts of the next job."""
        count = _PARTS_PER_CORE * max(1, self.context.defaultParallelism)
        with self._lock:
            numbers, self._waiting = self._waiting[:count], self._waiting[count:]
            return numbers


def opened(result: bytes) -> Any:
    """Return what work on an executor returned, or raise the error that it raised."""
    kind, content = pickle.loads(result)
    if kind == "error":
        raise content
    if kind == "missing":
        raise ClusterError(
            f"an executor cannot run sfumato ({content})",
            remedy="Install sfumato and what it needs on every host of the cluster, in the same versions as here, and name "
            "its Python in PYSPARK_PYTHON.",
            key="engine",
            value="spark",
        )
    return content


def destroy(broadcast: Any) -> None:
    """Free what executors hold of a broadcast variable."""
    with suppress(Exception):  # the cluster may be gone
        broadcast.destroy()
