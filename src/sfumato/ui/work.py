"""Long work of the browser interface: one job at a time in the worker process, and the releases that it made."""

from __future__ import annotations

import shutil
import signal
import threading
import time
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sfumato.config import MethodSection
from sfumato.errors import ConfigError, ParameterError
from sfumato.seeds import secret_seed
from sfumato.ui.job_folder import INTERNAL, KEY, RELEASE
from sfumato.ui.session import Session
from sfumato.ui.worker_process import WorkerProcess

JOB = "work"
"""The name under which progress is sent to the pages."""

KINDS = {"release": "Release", "withhold": "Withheld release", "project": "Several tables"}
"""The jobs that make a release, with what it is called."""

_DEPENDS = {
    "preview": ("data", "columns", "missing", "distance", "principles", "method", "preserve"),
    "lattice": ("data", "columns", "missing", "distance", "principles"),
    "losses": ("data", "columns", "missing", "distance", "principles", "method", "preserve"),
    "risk": ("data", "columns", "missing"),
    "curve": ("data", "columns", "missing", "distance"),
}
"""The sections of the config that a measurement depends on; what a release depends on is the whole config."""

State = Literal["running", "done", "failed", "cancelled"]


@dataclass
class Job:
    """One piece of work: what it is, how far it is, and how it ended."""

    number: int
    kind: str
    title: str
    text: str
    """The config at that time."""
    folder: Path
    seed: int
    key: Hashable
    """What its result depends on."""
    data_key: Hashable
    """Which table it is about."""
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None
    step: str = "starting"
    share: float | None = None
    step_started: float = field(default_factory=time.monotonic)
    state: State = "running"
    error: str = ""
    result: Mapping[str, Any] | None = None

    @property
    def seconds(self) -> float:
        """How long it took, or has taken so far."""
        return (self.ended or time.monotonic()) - self.started

    @property
    def is_made(self) -> bool:
        """Whether the release is written and verified, and only what attackers achieve is still measured."""
        return self.kind in KINDS and self.result is not None

    @property
    def heading(self) -> str:
        """What is in progress, or was."""
        return "Measuring what attackers achieve" if self.is_made else self.title

    @property
    def progress(self) -> str:
        """The step, its share and the time that is left of it, in words."""
        if self.share is None or self.share <= 0:
            return f"{self.step} …"
        spent = time.monotonic() - self.step_started
        left = spent / self.share * (1 - self.share)
        known = f", about {_duration(left)} left" if spent >= 1 else ""
        return f"{self.step}, {100 * self.share:.0f} %{known}"


@dataclass
class MadeRelease:
    """A release that was made, in the private folder; the person decides which one is saved."""

    number: int
    kind: str
    text: str
    """The config that it was made from."""
    folder: Path
    seed: int
    figures: Mapping[str, Any]
    seconds: float
    complete: bool
    """Whether the attacks were measured too."""
    data_key: Hashable = None
    """Which table it was made from."""
    saved: str = ""
    """Where it was saved, if it was."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Where a person last wanted its folder, its key and its internal report."""

    @property
    def name(self) -> str:
        """The name that tables and messages use."""
        return f"{KINDS[self.kind]} {self.number}"

    @property
    def release(self) -> Path:
        """The folder that may be published."""
        return self.folder / RELEASE

    @property
    def key(self) -> Path:
        """The private key."""
        return self.folder / KEY

    @property
    def internal(self) -> Path:
        """The internal report; it must not be published."""
        return self.folder / INTERNAL


class Work:
    """The jobs of a session: at most one at a time. Each method may be called by several threads."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.candidates: list[MadeRelease] = []
        self.results: dict[str, Job] = {}
        """The last job of each kind that succeeded and made no release, such as the measurement of a risk."""
        self.job: Job | None = None
        """The last job, running or ended."""
        self.preparing = ""
        """What the worker does before it can begin: loading kernels, or compiling them."""
        self._count = 0
        self._lock = threading.RLock()
        self._worker = self._started()

    def _started(self) -> WorkerProcess:
        worker: list[WorkerProcess] = []

        def ended(status: int) -> None:
            if worker and worker[0] is self._worker:
                self._died(status)

        worker.append(WorkerProcess(self._received, ended))
        return worker[0]

    @property
    def running(self) -> Job | None:
        """The job that is in progress, if any."""
        return self.job if self.job is not None and self.job.state == "running" else None

    @property
    def progress(self) -> str:
        """What the running job does, in words."""
        job = self.running
        return "" if job is None else f"{self.preparing} …" if self.preparing else job.progress

    @property
    def worker_pid(self) -> int:
        """The number of the worker process."""
        return self._worker.pid

    def key_for(self, kind: str) -> Hashable:
        """Return everything in the current config that the result of a job depends on."""
        config = self.session.config
        stated = None
        if kind == "risk" and config is not None and config.risk is not None:
            stated = repr(config.risk.model_dump(exclude={"disclose", "per", "against"}))
        return self.session.key_of(*_DEPENDS.get(kind, ())), stated

    def start(self, kind: str, title: str, options: Mapping[str, Any] | None = None) -> Job:
        """Start a job over the current config; another one that is running is an error."""
        session = self.session
        with self._lock:
            config = session.config
            if config is None or session.place is None or session.text is None:
                raise session.config_error or ConfigError("nothing is open", remedy="Open a table or a config first.")
            if self.running is not None:
                raise ParameterError(f"{self.running.heading} is in progress", remedy="Wait until it is done, or cancel it.")
            self._count += 1
            folder = session.folder.new("job").parent
            seed = secret_seed((config.method or MethodSection()).seed)
            self.job = job = Job(self._count, kind, title, session.text, folder, seed, self.key_for(kind), session.data_key)
            request = {
                "number": job.number, "kind": kind, "text": job.text, "place": str(session.place), "folder": str(folder),
                "allow_code": session.allow_code, "seed": str(seed), "options": dict(options or {}),
            }  # fmt: skip
            try:
                self._worker.send(request)
            except OSError:  # it ended while nothing was asked of it
                self._worker = self._started()
                self._worker.send(request)
        session.tell_version()
        return job

    def cancel(self) -> None:
        """End the running job, if there is one: its process is killed, and another one is started."""
        with self._lock:
            job = self.running
            if job is None:
                return
            job.state, job.ended = "cancelled", time.monotonic()
            old, self._worker = self._worker, self._started()
            threading.Thread(target=self._swept, args=(old, job), daemon=True).start()
        self._tell_done()

    def _swept(self, old: WorkerProcess, job: Job) -> None:
        old.kill()
        if not any(candidate.folder == job.folder for candidate in self.candidates):
            shutil.rmtree(job.folder, ignore_errors=True)

    def close(self) -> None:
        """End the worker process."""
        self._worker.kill()

    def forget(self, number: int) -> None:
        """Remove a release that was made."""
        with self._lock:
            found = self.candidate(number)
            if self.is_measured(found):  # its result would make it appear again
                self.cancel()
            self.candidates.remove(found)
        shutil.rmtree(found.folder, ignore_errors=True)
        self.session.tell_version()

    def is_measured(self, made: MadeRelease) -> bool:
        """Return whether the attacks on a release are being measured."""
        return self.running is not None and self.running.folder == made.folder

    def candidate(self, number: int) -> MadeRelease:
        """Return a release that was made, by its number; an unknown one is an error."""
        for candidate in self.candidates:
            if candidate.number == number:
                return candidate
        raise ParameterError(f"there is no release {number}", remedy="Choose one of the list, or make one.")

    def _received(self, reply: Mapping[str, Any]) -> None:
        if "preparing" in reply:
            self.preparing = reply["preparing"]
            if self.running is not None:
                self.session.tell({"job": JOB, "step": self.progress, "share": None})
            return
        with self._lock:
            job = self.running
            if job is None or reply.get("number") != job.number:
                return
            if "step" in reply:
                if reply["step"] != job.step:
                    job.step, job.step_started = reply["step"], time.monotonic()
                job.share = reply["share"]
                self.session.tell({"job": JOB, "step": job.progress, "share": job.share})
                return
            if "made" in reply:
                self._keep(job, reply["made"], complete=False)
            elif "result" in reply:
                self._end(job, "done")
                self._keep(job, reply["result"], complete=True)
            elif "error" in reply:
                self._end(job, "failed", reply["error"])
        self._tell_done()

    def _keep(self, job: Job, result: Mapping[str, Any], complete: bool) -> None:
        """Keep the result of a job; a release that is measured further replaces what was known of it."""
        job.result = result
        if job.kind not in KINDS:
            self.results[job.kind] = job
            return
        known = next((one for one in self.candidates if one.folder == job.folder), None)
        if known is not None:
            known.figures, known.complete = result, complete
            return
        number = max((one.number for one in self.candidates), default=0) + 1
        made = MadeRelease(number, job.kind, job.text, job.folder, job.seed, result, job.seconds, complete, job.data_key)
        self.candidates.append(made)

    def _end(self, job: Job, state: State, error: str = "") -> None:
        job.state, job.error, job.ended = state, error, time.monotonic()
        if state == "failed" and not any(one.folder == job.folder for one in self.candidates):
            shutil.rmtree(job.folder, ignore_errors=True)

    def _died(self, status: int) -> None:
        """Explain that the worker ended, and start another one."""
        with self._lock:
            job = self.running
            if job is not None:
                self._end(job, "failed", _death(status))
                self._worker = self._started()
        self._tell_done()

    def _tell_done(self) -> None:
        self.session.tell({"job": JOB, "done": True})


def work_of(session: Session) -> Work:
    """Return the work of a session; the first call starts the worker process."""
    with _starting:
        if JOB not in session.jobs:
            session.jobs[JOB] = Work(session)
    found: Work = session.jobs[JOB]
    return found


def started_work(session: Session) -> Work | None:
    """Return the work of a session if a job was started or a release was looked at; it starts no process."""
    found: Work | None = session.jobs.get(JOB)
    return found


def end_work(session: Session) -> None:
    """End the worker process of a session, if it was started."""
    if JOB in session.jobs:
        session.jobs[JOB].close()


_starting = threading.Lock()


def _death(status: int) -> str:
    """Say how the worker ended, and what to do."""
    how = f"with status {status}"
    if status < 0:
        try:
            how = f"by the signal {signal.Signals(-status).name}"
        except ValueError:
            how = f"by the signal {-status}"
    memory = " The system ends processes in this way when memory runs out." if status == -9 else ""
    return (
        f"The process that makes releases was ended {how}.{memory} Nothing that was made before is lost, and another "
        "process was started: try again, with less effort or on another computer if it happens again."
    )


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
