"""The classes that Java loads for Spark, prepared in a file: sessions of this host then start in about half the CPU time.

Java writes the file when the second session of a host ends, which takes it some seconds once; a host that starts one
session never pays for it. Java ignores a file that does not fit its own version or the classes of Spark. The file is in a
folder that nobody else can write, because Java runs what is in it.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sfumato.spark.bootstrap import host_folder

WRITING = 60
"""Seconds to wait for the end of a Java process that writes its classes."""

_ABANDONED = 3600
"""Seconds after which a file that is not complete is one of a process that died."""

# Java would warn on standard output of classes that it cannot prepare
_QUIET = "-Xlog:disable -Xlog:all=error:stderr"


@dataclass(frozen=True)
class ClassArchive:
    """Where the classes are, or will be."""

    path: Path
    fresh: Path
    """Where Java writes them, until they are complete."""
    mark: Path
    """Exists once a session has ended here, and contains the size of the file."""

    @property
    def is_whole(self) -> bool:
        """Whether the file is there with the size that it was written with: Java would crash on one that was cut off."""
        try:
            return self.mark.read_text(encoding="ascii") == str(self.path.stat().st_size)
        except (OSError, ValueError):
            return False

    @property
    def is_due(self) -> bool:
        """Whether this session writes the file when it ends."""
        return self.mark.exists() and not self.is_whole

    @property
    def driver_options(self) -> str:
        """Options of Java for the driver, which writes the file if that is due."""
        return f"{_QUIET} -XX:ArchiveClassesAtExit={self.fresh}" if self.is_due else self.executor_options

    @property
    def executor_options(self) -> str:
        """Options of Java for executors, which only read the file: they are killed at the end of a session."""
        return f"{_QUIET} -XX:SharedArchiveFile={self.path}" if self.is_whole else ""

    def keep(self, is_complete: bool) -> None:
        """Put what Java wrote in place of earlier files; remove it if Java did not end by itself."""
        with suppress(OSError):
            self.mark.touch()
            if is_complete and self.fresh.exists():
                for earlier in self.path.parent.glob("spark-classes-*.jsa"):
                    earlier.unlink(missing_ok=True)
                self.fresh.replace(self.path)
                self.mark.write_text(str(self.path.stat().st_size), encoding="ascii")
            self.fresh.unlink(missing_ok=True)
            for other in self.path.parent.glob("spark-classes-*.part"):
                if other.stat().st_mtime < time.time() - _ABANDONED:
                    other.unlink(missing_ok=True)


def class_archive() -> ClassArchive | None:
    """Return where the classes of this Java and this Spark are; None if there is no folder for them."""
    try:
        import pyspark

        home = os.environ.get("JAVA_HOME")
        java = Path(home, "bin", "java") if home else Path(shutil.which("java") or "java")
        java = java.resolve()
        status = java.stat()
        folder = host_folder()
    except (ImportError, OSError):
        return None
    if re.search(r"[\s\"':\\,$]", str(folder)):  # characters that mean something else in the options of Java or Spark
        return None
    spark = os.environ.get("SPARK_HOME") or str(Path(pyspark.__file__).parent)
    key = repr((pyspark.__version__, spark, str(java), status.st_mtime_ns, status.st_size))
    name = f"spark-classes-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
    return ClassArchive(folder / f"{name}.jsa", folder / f"{name}-{secrets.token_hex(8)}.part", folder / f"{name}.mark")
