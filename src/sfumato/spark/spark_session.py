"""The Spark session of an engine: one that exists is used and left running; one that is started here is stopped."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sfumato.errors import ClusterError, ParameterError
from sfumato.io.optional_packages import import_extra

_PYTHON = "PYSPARK_PYTHON"
"""The environment variable that names the Python of the executors."""

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
    "spark.driver.extraJavaOptions": _JAVA,
    "spark.executor.extraJavaOptions": _JAVA,
}
"""Settings of a session without a cluster: nothing listens to other hosts."""


@contextmanager
def spark_session(
    master: str | None, session: Any = None, settings: Mapping[str, str] | None = None, timeout: float = 60
) -> Iterator[Any]:
    """Yield the session that is given, or the active one, or else a new one, which is stopped afterwards."""
    sql = import_extra("pyspark.sql", "spark", "Spark sessions", "pyspark")
    found = session if session is not None else _active_session(sql)
    if found is not None:
        check_session(found, master)
        yield found
        return
    started = _start(sql, master, settings or {}, timeout)
    try:
        yield started
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            started.stop()


def _active_session(sql: Any) -> Any:
    """Return the session of this process, if there is one: a process has at most one."""
    from pyspark import SparkContext

    if SparkContext._active_spark_context is None:
        return None
    return sql.SparkSession.getActiveSession() or sql.SparkSession.builder.getOrCreate()


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


def _start(sql: Any, master: str | None, settings: Mapping[str, str], timeout: float) -> Any:
    """Start a session; what can be wrong is checked before Spark tries, which takes it minutes or ends in a long trace."""
    _require_java()
    _require_master(master, timeout)
    builder = sql.SparkSession.builder.appName("sfumato")
    chosen = {**_SETTINGS, **(_ON_THIS_HOST if (master or "").startswith("local") else {}), **settings}
    for name, value in chosen.items():
        builder = builder.config(name, str(value))
    if master is not None:
        builder = builder.master(master)
    declared = os.environ.get(_PYTHON)
    os.environ[_PYTHON] = declared or sys.executable  # Spark reads it now
    try:
        with warnings.catch_warnings():
            # versions of other packages that Spark has not been tested with: what is used here is tested
            warnings.simplefilter("ignore")
            return builder.getOrCreate()
    except Exception as error:
        raise ClusterError(
            f"Spark cannot be started: {cause_of(error)}",
            remedy="Check the master, the settings and the version of Java; Spark 4 needs Java 17 or newer.",
            key="master",
            value=master,
        ) from error
    finally:
        if declared is None:
            del os.environ[_PYTHON]


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
    """Raise an error if nobody listens at the address of a master; Spark itself would try for minutes."""
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
