"""Jobs of one purpose on a cluster: started by threads of the driver, watched, and cancelled by any error."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from sfumato.errors import ClusterError, SfumatoError
from sfumato.spark.spark_session import cause_of

_WAIT = 0.1
"""Seconds after which an interruption is noticed at the latest."""

_LOOK = 0.5
"""Seconds between two looks at the progress."""

_END = 5
"""Seconds to wait for the threads that start jobs."""


class JobGroup:
    """Jobs of one purpose, such as "search the parts". `timeout`: the seconds to wait for an executor."""

    def __init__(self, context: Any, timeout: float, purpose: str) -> None:
        self.context, self.timeout, self.purpose = context, timeout, purpose
        self.name = f"sfumato-{uuid.uuid4()}"
        self.stopped = threading.Event()
        """Set when no more jobs may be started."""
        self._errors: list[BaseException] = []
        self._ended: set[int] = set()
        self._threads: list[threading.Thread] = []

    def run(self, actions: Sequence[Callable[[], None]], progress: Callable[[int], int]) -> None:
        """Run actions, which start jobs, each in a thread of its own; return when all have ended.

        `progress` receives the number of tasks that jobs still running have finished, in the calling thread, and returns a
        number that grows whenever something was done. What an action raises is raised, after all jobs were cancelled.
        """
        from pyspark import InheritableThread

        self._threads = [InheritableThread(target=self._act, args=(action,), daemon=True) for action in actions]
        try:
            for thread in self._threads:
                thread.start()
            self._watch(progress)
        finally:
            self._stop()
        if self._errors:
            raise self._errors[0]

    def _watch(self, progress: Callable[[int], int]) -> None:
        """Wait for the threads; raise an error if jobs wait for executors and nothing runs."""
        done, idle, looked = 0, 0.0, time.monotonic()
        while (alive := [thread for thread in self._threads if thread.is_alive()]) and not self._errors:
            alive[0].join(_WAIT)
            if (passed := time.monotonic() - looked) < _LOOK:
                continue
            looked += passed
            tasks, is_idle = self._tasks()
            finished = progress(tasks)
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

    def _stop(self) -> None:
        """Cancel what is running, and wait for the threads."""
        self.stopped.set()
        deadline = time.monotonic() + _END
        while (alive := [thread for thread in self._threads if thread.is_alive()]) and time.monotonic() < deadline:
            with suppress(Exception):  # again: a thread may have been about to start a job
                self.context.cancelJobGroup(self.name)
            alive[0].join(_LOOK)

    def _tasks(self) -> tuple[int, bool]:
        """Return how many tasks the running jobs have finished, and whether jobs wait for executors and nothing runs.

        While the driver still prepares the next job, executors have nothing to do, and that is not their fault.
        """
        tracker, finished, active, waiting = self.context.statusTracker(), 0, 0, False
        for job in set(tracker.getJobIdsForGroup(self.name)) - self._ended:
            info = tracker.getJobInfo(job)
            if info is None or info.status != "RUNNING":
                self._ended.add(job)
                continue
            waiting = True
            for stage in info.stageIds:
                tasks = tracker.getStageInfo(stage)
                if tasks is not None:
                    finished, active = finished + tasks.numCompletedTasks, active + tasks.numActiveTasks
        return finished, waiting and not active

    def _act(self, action: Callable[[], None]) -> None:
        try:
            self.context.setJobGroup(self.name, f"sfumato: {self.purpose}", interruptOnCancel=True)
            action()
        except SfumatoError as error:
            self._errors.append(error)
        except Exception as error:
            if not self.stopped.is_set():
                self._errors.append(self._failure(error))

    def _failure(self, error: Exception) -> ClusterError:
        """Return the error for a job that Spark gave up."""
        return ClusterError(
            f"the cluster could not {self.purpose}: {cause_of(error)}",
            remedy="Check the logs of the executors. More memory may help (spark.executor.memory, memoryOverhead).",
            key="engine",
            value="spark",
        )
