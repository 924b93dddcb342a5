"""The Java process of a session that is started here, and ended with it.

PySpark would keep the process for later sessions, with the settings of the first one and with its addresses.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

_LOOPBACK = "127.0.0.1"

_ON_LOOPBACK = {"SPARK_LOCAL_IP": _LOOPBACK, "SPARK_LOCAL_HOSTNAME": _LOOPBACK}
"""Where the master and the workers of a cluster of this host listen, and their pages: there are no settings for that."""

_SECRET = re.compile(r"secret|password|token|access[.]?key", re.IGNORECASE)
"""Names of settings that are not put on the command line of Java, which every user of the host can read."""

_END = 10
"""Seconds to wait for the end of a Java process."""


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables while the code inside runs."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def start_java(settings: Mapping[str, str], is_this_host: bool) -> bool:
    """Start Java, unless a session of the user left it running; return whether it was started here."""
    from pyspark import SparkConf, SparkContext

    if SparkContext._gateway is not None:
        return False
    shown = [(name, value) for name, value in settings.items() if not _SECRET.search(name)]
    with environment(_ON_LOOPBACK if is_this_host else {}):
        SparkContext._ensure_initialized(conf=SparkConf(loadDefaults=False).setAll(shown))
    return True


def configured_master() -> str:
    """Return the master that the configuration of Spark names, once Java runs; "" if none."""
    from pyspark import SparkConf

    return str(SparkConf().get("spark.master", "") or "")


def listens_on_loopback() -> bool:
    """Return whether Java was started so that the processes of a cluster of this host listen to this host alone."""
    from pyspark import SparkContext

    variables = SparkContext._jvm.java.lang.System.getenv()
    return str(variables.get("SPARK_LOCAL_IP")) == _LOOPBACK and variables.get("SPARK_LOCAL_HOSTNAME") in (None, _LOOPBACK)


@contextmanager
def java_killed_after(seconds: float) -> Iterator[threading.Event]:
    """Kill the Java process if the code inside, which waits for an answer of Java, takes longer; yield whether it was.

    Then the code inside raises an exception: the connection to Java is closed.
    """
    from pyspark import SparkContext

    process, killed = getattr(SparkContext._gateway, "proc", None), threading.Event()

    def kill() -> None:
        killed.set()
        if process is not None:
            process.kill()

    timer = threading.Timer(seconds, kill)
    timer.daemon = True
    timer.start()
    try:
        yield killed
    finally:
        timer.cancel()


def end_java(seconds: float = _END) -> bool:
    """End the Java process that was started here; return whether it ended by itself within some seconds."""
    from pyspark import SparkContext

    gateway, SparkContext._gateway, SparkContext._jvm = SparkContext._gateway, None, None
    process = getattr(gateway, "proc", None)
    with suppress(Exception):  # it may be gone
        gateway.shutdown()
    if process is not None:
        with suppress(OSError):
            process.stdin.close()  # Java ends when it is closed
        try:
            return bool(process.wait(seconds) == 0)
        except Exception:
            process.kill()
            process.wait()
    return False
