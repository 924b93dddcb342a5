"""The Spark session of an engine: one that exists is used and left running; one that is started here is stopped."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sfumato.errors import ClusterError, ParameterError
from sfumato.io.optional_packages import import_extra
from sfumato.io.read_spark import active_session
from sfumato.io.write_spark_table import TEMPORARY
from sfumato.spark.class_archive import WRITING, ClassArchive, class_archive
from sfumato.spark.java_process import (
    configured_master,
    end_java,
    environment,
    java_killed_after,
    listens_on_loopback,
    start_java,
)

_PYTHON = "PYSPARK_PYTHON"
"""The environment variable that names the Python of the executors."""

_MASTERS = ("local", "spark://", "k8s://")
"""How the masters begin that Spark knows, beside `yarn`; it takes seconds to refuse another one."""

_SETTINGS = {
    # the page of a session would be open to everybody on the network
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}

# Java only passes bytes on here: to compile it thoroughly takes more time from the search than it saves
_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

_ON_THIS_HOST = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.authenticate": "true",
}
"""Settings of a session on this host alone: nothing listens to other hosts, nor to other users of this one."""


@contextmanager
def spark_session(
    master: str | None, session: Any = None, settings: Mapping[str, str] | None = None, timeout: float = 60
) -> Iterator[Any]:
    """Yield the session that is given, or the active one, or else a new one, which is stopped afterwards.

    `timeout`: the seconds after which a master that does not answer is an error. In a Java process that earlier sessions of
    the user left running, Spark itself gives up instead, after about a minute.
    """
    with starting_session(master, session, settings, timeout) as started:
        yield started()


@contextmanager
def starting_session(
    master: str | None, session: Any = None, settings: Mapping[str, str] | None = None, timeout: float = 60
) -> Iterator[Callable[[], Any]]:
    """Yield a function that waits for the session and returns it; see `spark_session`.

    A new session starts in a thread meanwhile, because processes of a cluster need seconds to start. What can be checked at
    once is checked at once. If the session cannot be started, the function raises the error, and so does the end of the
    context if nobody needed the session.
    """
    sql = import_extra("pyspark.sql", "spark", "Spark sessions", "pyspark")
    found = session if session is not None else active_session()
    if found is not None:
        check_session(found, master)
        yield lambda: found
        return
    _require_java()
    _require_master(master, timeout)
    with _java(master, settings or {}) as (chosen, is_ours), ThreadPoolExecutor(1, "spark session") as thread:
        starting = thread.submit(_start, sql, master, chosen, timeout if is_ours else None)
        try:
            yield starting.result
            starting.result()
        finally:
            if starting.exception() is None:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    starting.result().stop()


@contextmanager
def _java(master: str | None, settings: Mapping[str, str]) -> Iterator[tuple[dict[str, str], bool]]:
    """Run Java for a session; yield the settings of the session, and whether Java was started here.

    What is checked before takes Spark minutes.
    """
    named = {**settings, **({"spark.master": master} if master is not None else {})}
    found, is_ours, archive = named.get("spark.master"), False, class_archive()
    try:
        with _starting(master):
            is_ours = start_java(_settings_of(found, named, archive), _is_this_host(found))
            if found is None:
                found = configured_master()
            if found.startswith("local-cluster") and not listens_on_loopback() and is_ours:
                end_java()
                start_java(_settings_of(found, named, archive), is_this_host=True)
        if found.startswith("local-cluster") and not listens_on_loopback():
            raise ClusterError(
                "the processes of a cluster of this host would listen to other hosts, because Spark was started earlier",
                remedy="Set SPARK_LOCAL_IP=127.0.0.1 before Spark is first used in this process (or in spark-env.sh, if "
                "that sets it), or use the master local[*].",
                key="master",
                value=master,
            )
        # not on the command line of Java; a cluster of several hosts has a secret of its own
        own = {"spark.authenticate.secret": secrets.token_hex(32)} if _is_this_host(found) else {}
        yield {**own, **_settings_of(found, named, archive)}, is_ours
    finally:
        if is_ours and archive is not None and _is_this_host(found):
            archive.keep(end_java(WRITING) if archive.is_due else end_java())
        elif is_ours:
            end_java()


def _is_this_host(master: str | None) -> bool:
    return (master or "").startswith("local")


def _settings_of(master: str | None, settings: Mapping[str, str], archive: ClassArchive | None) -> dict[str, str]:
    """Return all settings of a session; those that the user named take precedence."""
    chosen = dict(_SETTINGS)
    if _is_this_host(master):
        driver, executor = ("", "") if archive is None else (archive.driver_options, archive.executor_options)
        chosen |= _ON_THIS_HOST
        chosen["spark.driver.extraJavaOptions"] = f"{_JAVA} {driver}".strip()
        chosen["spark.executor.extraJavaOptions"] = f"{_JAVA} {executor}".strip()
    chosen |= settings
    return {name: str(value) for name, value in chosen.items()}


def check_session(session: Any, master: str | None = None) -> None:
    """Raise an error for a session that cannot be used, or that belongs to another cluster than the requested one."""
    if type(session).__module__.startswith("pyspark.sql.connect"):
        raise ParameterError(
            "a session of Spark Connect has no broadcast variables and no job groups, which this engine needs",
            remedy="Run where a classic session can be started, or use the engine stream.",
            key="session",
        )
    if not hasattr(session, "sparkContext"):
        raise ParameterError(
            f"a {type(session).__name__} is not a Spark session", remedy="Pass a SparkSession.", key="session"
        )
    if session.sparkContext._jsc is None:
        raise ParameterError("the Spark session was stopped", remedy="Start a new one.", key="session")
    if master is not None and session.sparkContext.master != master:
        raise ParameterError(
            f"a Spark session with the master {session.sparkContext.master!r} exists, and a process has one at a time",
            remedy="Stop it, or leave the master out to use it.",
            key="master",
            value=master,
        )


def _start(sql: Any, master: str | None, settings: Mapping[str, str], timeout: float | None) -> Any:
    """Start a session in the Java process that is running; `timeout`: the seconds after which that process may be killed.

    A process that waits for its master cannot be stopped otherwise. Processes of this host are not limited: they answer
    as soon as they have started.
    """
    builder = sql.SparkSession.builder.appName("sfumato").config(TEMPORARY, "true")
    for name, value in settings.items():
        builder = builder.config(name, value)
    if _is_this_host(master or configured_master()):
        timeout = None
    with nullcontext() if timeout is None else java_killed_after(timeout) as killed:
        try:
            with _starting(master):
                return builder.getOrCreate()
        except ClusterError as error:
            if killed is None or not killed.is_set():
                raise
            raise ClusterError(
                f"the master of the cluster has not answered for {timeout:g} seconds",
                remedy="Check its address, that it is running, and that no firewall is in between, or wait longer with a "
                "larger timeout.",
                key="timeout",
                value=timeout,
            ) from error


@contextmanager
def _starting(master: str | None) -> Iterator[None]:
    """Run the code inside, which starts Spark; what it raises becomes an error that says what may be wrong."""
    try:
        # Spark reads the variable while it starts
        with environment({_PYTHON: os.environ.get(_PYTHON) or sys.executable}):
            yield
    except Exception as error:
        is_remote = (master or "").startswith("spark://")
        raise ClusterError(
            f"Spark cannot be started: {cause_of(error)}"
            + (f"; probably no Spark master of this version answers at {master}" if is_remote else ""),
            remedy="Check the master, the settings and the version of Java; Spark 4 needs Java 17 or newer.",
            key="master",
            value=master,
        ) from error


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    program = Path(home, "bin", "java") if home else None
    if (program is not None and not program.exists()) or (program is None and shutil.which("java") is None):
        where = f"not in JAVA_HOME, which is {home}" if home else "not found"
        raise ClusterError(
            f"Spark needs Java, which is {where}",
            remedy="Install Java 17 or newer, such as openjdk-17-jre-headless, or set JAVA_HOME.",
            key="engine",
            value="spark",
        )


def _require_master(master: str | None, timeout: float) -> None:
    """Raise an error if a master is none, or nobody listens at its address; Spark itself would try for minutes."""
    if master is not None and master != "yarn" and not master.startswith(_MASTERS):
        raise ClusterError(
            f"{master!r} is not a master of Spark",
            remedy='Name one such as "local[*]", "spark://host:7077", "yarn" or "k8s://https://host:443".',
            key="master",
            value=master,
        )
    if master is None or not master.startswith("spark://"):
        return
    reasons = []
    for address in master.removeprefix("spark://").split(","):
        match = re.fullmatch(r"(?:\[([^\]]+)\]|([^:\[\]]+)):(\d{1,5})", address)
        if match is None:
            reasons.append(f"{address!r} is not an address such as host:7077")
            continue
        try:
            socket.create_connection((match[1] or match[2], int(match[3])), min(timeout, 10)).close()
            return
        except (OSError, OverflowError) as error:
            reasons.append(f"{address}: {getattr(error, 'strerror', None) or error}")
    raise ClusterError(
        f"the master of the cluster cannot be reached ({'; '.join(reasons)})",
        remedy="Check its address, and that it is running.",
        key="master",
        value=master,
    )


def cause_of(error: BaseException) -> str:
    """Return the first line of what an exception of Spark says, without the traces of Java and Python."""
    java = getattr(error, "java_exception", None)
    text = str(error if java is None else java.getMessage() or java.toString())
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # an exception of Python on an executor: its last line, before the trace of Java
    raised = [line for line in lines if re.match(r"[A-Za-z_.]*(Error|Exception)\b", line) and "Traceback" not in line]
    first = lines[0] if lines else type(error).__name__
    return " ".join(dict.fromkeys([first, *raised[-1:]]))[:500].rstrip(". ")
