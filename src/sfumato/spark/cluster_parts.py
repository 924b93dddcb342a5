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
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from sfumato.errors import ClusterError, SfumatoError
from sfumato.part_maps import PartWork
from sfumato.spark import bootstrap
from sfumato.spark.compact_arrays import compact_pickle
from sfumato.spark.spark_session import cause_of

_WAIT = 0.1
"""Seconds after which an interruption is noticed at the latest."""

_LOOK = 0.5
"""Seconds between two looks at the progress."""

_END = 5
"""Seconds to wait for the threads that start jobs."""

_JOBS = 2
"""Jobs at a time: the next one fills the cores that the last parts of a job leave idle."""

_PARTS_PER_CORE = 3
"""The parts of a job, for each core of the cluster: their rows are in the memory of the driver's Java meanwhile."""


class ClusterParts:
    """A map over parts: see `sfumato.part_maps.PartMap`. `timeout`: the seconds to wait for an executor."""

    def __init__(self, session: Any, timeout: float) -> None:
        self.context, self.timeout = session.sparkContext, timeout
        folder = Path(bootstrap.__file__).parent.parent
        self.digest = bootstrap.package_digest(folder)
        # fetched only by executors that do not have the same files
        self.archive = self.context.broadcast(bootstrap.package_archive(folder))

    def close(self) -> None:
        """Free what the executors hold."""
        _destroy(self.archive)

    def __call__(self, work: PartWork, progress: Callable[[float], None]) -> list[Any]:
        """Return the result of each part, in their order."""
        # Spark sends the functions of this module by value
        cloudpickle = importlib.import_module("pyspark.cloudpickle")
        cloudpickle.register_pickle_by_value(bootstrap)
        sent = pickle.dumps((work.run, work.warm_up, work.variant, work.shared), pickle.HIGHEST_PROTOCOL)
        broadcast = self.context.broadcast(sent)
        jobs = _Jobs(self, work, broadcast)
        try:
            jobs.run(progress)
        finally:
            jobs.stop()
            _destroy(broadcast)
        return [jobs.results[number] for number in range(len(work.weights))]


class _Jobs:
    """The jobs that work on all parts, started by threads of the driver, and their results."""

    def __init__(self, cluster: ClusterParts, work: PartWork, broadcast: Any) -> None:
        from sfumato.spark.executor import package_versions

        self.context, self.timeout, self.work = cluster.context, cluster.timeout, work
        self.group = f"sfumato-{uuid.uuid4()}"
        self.results: dict[int, Any] = {}
        self.function = partial(
            bootstrap.work_on_parts, cluster.digest, package_versions(), cluster.archive, (self.group, broadcast)
        )
        # those with much work are started first
        self._waiting = sorted(range(len(work.weights)), key=lambda number: -work.weights[number])
        self._errors: list[BaseException] = []
        self._ended: set[int] = set()
        self._lock, self._stopped = threading.Lock(), threading.Event()
        self._threads: list[threading.Thread] = []

    def run(self, progress: Callable[[float], None]) -> None:
        """Run all jobs; return when every part has a result."""
        from pyspark import InheritableThread

        self._threads = [InheritableThread(target=self._submit, daemon=True) for _ in range(_JOBS)]
        for thread in self._threads:
            thread.start()
        done, idle, looked = 0, 0.0, time.monotonic()
        while (alive := [thread for thread in self._threads if thread.is_alive()]) and not self._errors:
            alive[0].join(_WAIT)
            if (passed := time.monotonic() - looked) < _LOOK:
                continue
            looked += passed
            finished, is_idle = self._tasks()
            # a driver that is busy looks late: tasks may have run in between
            idle = idle + min(passed, 2 * _LOOK) if is_idle and finished <= done else 0.0
            done = max(done, finished)
            if idle > self.timeout:
                raise ClusterError(
                    f"no executor of the cluster has worked for {self.timeout:g} seconds",
                    remedy="Check that executors are running and that they have free cores and memory, or wait longer with "
                    "a larger timeout.",
                    key="timeout",
                    value=self.timeout,
                )
            progress(done / len(self.work.weights))
        if self._errors:
            raise self._errors[0]
        progress(1.0)

    def stop(self) -> None:
        """Cancel what is running, and wait for the threads."""
        self._stopped.set()
        deadline = time.monotonic() + _END
        while (alive := [thread for thread in self._threads if thread.is_alive()]) and time.monotonic() < deadline:
            with suppress(Exception):  # again: a thread may have been about to start a job
                self.context.cancelJobGroup(self.group)
            alive[0].join(_LOOK)

    def _tasks(self) -> tuple[int, bool]:
        """Return the number of parts that are finished, and whether jobs wait for executors and nothing runs.

        While the driver still prepares the parts of the next job, executors have nothing to do, and that is not their fault.
        """
        tracker, finished, active, waiting = self.context.statusTracker(), len(self.results), 0, False
        for job in set(tracker.getJobIdsForGroup(self.group)) - self._ended:
            info = tracker.getJobInfo(job)
            if info is None or info.status != "RUNNING":
                self._ended.add(job)
                continue
            waiting = True
            for stage in info.stageIds:
                tasks = tracker.getStageInfo(stage)
                if tasks is not None:
                    finished, active = finished + tasks.numCompletedTasks, active + tasks.numActiveTasks
        return min(finished, len(self.work.weights)), waiting and not active

    def _submit(self) -> None:
        """Run one job after the other."""
        try:
            self.context.setJobGroup(self.group, "sfumato: searching parts", interruptOnCancel=True)
            while numbers := self._next():
                parts = []
                for number in numbers:
                    if self._stopped.is_set():
                        return
                    parts.append((number, compact_pickle(self.work.part(number))))
                sent = self.context.parallelize(parts, len(parts))
                del parts
                if self._stopped.is_set():
                    return
                found = sent.mapPartitions(self.function).collect()
                results = {number: _opened(result) for number, result in found}
                with self._lock:
                    self.results.update(results)
        except SfumatoError as error:
            self._errors.append(error)
        except Exception as error:
            if not self._stopped.is_set():
                self._errors.append(_failure(error))

    def _next(self) -> list[int]:
        """Return the numbers of the parts of the next job."""
        count = _PARTS_PER_CORE * max(1, self.context.defaultParallelism)
        with self._lock:
            numbers, self._waiting = self._waiting[:count], self._waiting[count:]
            return numbers


def _opened(result: bytes) -> Any:
    """Return the result of a part, or raise the error that its work raised."""
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


def _failure(error: Exception) -> ClusterError:
    """Return the error for a job that Spark gave up."""
    return ClusterError(
        f"the cluster could not search the parts of the table: {cause_of(error)}",
        remedy="Check the logs of the executors. More memory may help (spark.executor.memory, memoryOverhead).",
        key="engine",
        value="spark",
    )


def _destroy(broadcast: Any) -> None:
    with suppress(Exception):  # the cluster may be gone
        broadcast.destroy()
