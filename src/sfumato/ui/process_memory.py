"""Settings of this process with which a server that runs for hours keeps little memory that it no longer uses.

`python -m benchmarks ui` measures what they save, and that no answer takes longer.
"""

from __future__ import annotations

import ctypes
import os
import sys
from importlib.metadata import entry_points

_ARENA_MAX, _MMAP_THRESHOLD = -8, -3
"""Numbers of parameters of `mallopt`, from malloc.h of glibc."""

_LARGE = 256 << 10
"""Arrays of at least this many bytes are returned to the system when they are dropped. glibc would raise this limit to the
size of the largest array that was dropped."""

_POOL = "ARROW_DEFAULT_MEMORY_POOL"
"""The variable that names the allocator of pyarrow."""


class _NoPandas:
    """Lets pyarrow find that pandas is not installed."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Refuse pandas, and leave every other module to others."""
        if name == "pandas":
            raise ModuleNotFoundError(name)


def keep_little_memory(foreign_code: bool) -> None:
    """Return memory to the system soon. To be called first: libraries start threads when they are imported.

    - glibc: all threads share one arena, because what is free in one is of no use to another; and the arrays of a dropped
      table or answer go back to the system, wherever they were.
    - pyarrow: the allocator of the system in place of its own, which keeps what reading a file took.
    - pandas: pyarrow imports it, if it is installed, in case that data comes from there. Here all data comes from files and
      databases, so it is not imported for that, unless `foreign_code` runs: of a config, or of plug-ins.
    """
    libc = _glibc()
    if libc is not None:
        libc.mallopt(_ARENA_MAX, 1)
        libc.mallopt(_MMAP_THRESHOLD, _LARGE)
    chosen = os.environ.get(_POOL)
    os.environ[_POOL] = chosen or "system"
    import pyarrow

    pyarrow.default_memory_pool()  # reads the variable, which other processes need not inherit
    if chosen is None:
        del os.environ[_POOL]
    if not foreign_code and "pandas" not in sys.modules:
        sys.meta_path.insert(0, _NoPandas)
        pyarrow.array([])  # tries to import pandas, once
        sys.meta_path.remove(_NoPandas)


def plug_ins_installed() -> bool:
    """Whether a distribution provides principles, methods, distances, losses or attacks."""
    return any(group.startswith("sfumato.") for group in entry_points().groups)


def return_memory() -> None:
    """Return to the system what is free between parts that are in use; takes milliseconds."""
    libc = _glibc()
    if libc is not None:
        libc.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    """Return the C library, if it is glibc."""
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "gnu_get_libc_version") else None
