"""Compile kernels with numba, and keep the machine code in a folder that only this user can write."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event

from sfumato.kernels.numba_compilers import KernelCompiler, KernelPart
from sfumato.temporaries import remove_at_exit

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

_FLOATS: dict[str, Any] = {"error_model": "numpy"}
"""Division by zero gives an infinity or NaN."""

_PART: dict[str, Any] = {**_FLOATS, "nopython": True, "_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of functions that only kernels call: no references are counted, and nothing is compiled for calls from outside."""


@cache
def sources_digest() -> str:
    """Return a digest of the sources of all kernels.

    It is part of the name of the cache folder, because numba does not notice when a kernel changes that another kernel
    calls.
    """
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def cache_folder() -> str:
    """Return the folder for compiled code: the user's cache, or a private temporary folder if that is not writable.

    Machine code is loaded from this folder and run, so a folder that another user owns or can write is not used.
    """
    try:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        folder = Path(base) / "sfumato" / f"kernels-{sources_digest()}"
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # executors of Spark use it only if it is private
        folder.mkdir(mode=0o700, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        if hasattr(os, "getuid"):
            status = folder.stat()
            if status.st_uid != os.getuid() or status.st_mode & 0o022:
                raise PermissionError
    except (OSError, RuntimeError):  # the folder is not writable, or the user has no home
        private = tempfile.mkdtemp(prefix="sfumato-kernels-")
        atexit.register(shutil.rmtree, private, ignore_errors=True)
        remove_at_exit(Path(private))
        return private
    return str(folder)


class _CompilationListener(event.Listener):  # type: ignore[misc]
    """Calls two functions when compilation begins and ends; a kernel that is compiled for another one does not count."""

    def __init__(self, began: Callable[[], None], ended: Callable[[], None]) -> None:
        self._began, self._ended, self._depth = began, ended, 0

    def on_start(self, event: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            self._began()

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._ended()


@contextmanager
def watch_compilation(began: Callable[[], None], ended: Callable[[], None]) -> Iterator[None]:
    """Call `began` and `ended` around each compilation of a kernel in this process; not when its code is in the cache."""
    listener = _CompilationListener(began, ended)
    event.register("numba:compile", listener)
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)


def kernel(function: Kernel) -> Kernel:
    """Compile a function on its first call. Floats are IEEE floats: no fast math, no reordering."""
    return _cached(function)


def borrowing_kernel(function: Kernel) -> Kernel:
    """Compile a kernel that allocates nothing, nor does any that it calls: it counts no references to its arrays.

    For hot loops over large tuples of arrays, where that counting takes most of the time.
    """
    return _cached(function, _nrt=False)


def _cached(function: Kernel, **options: bool) -> Kernel:
    # numba reads its cache folder while it decorates. The setting is changed for that moment only, and a folder that the
    # user configured takes precedence.
    configured = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(Path(configured) / sources_digest()) if configured else cache_folder()
    try:
        return numba.njit(  # type: ignore[no-any-return]
            cache=True, pipeline_class=KernelCompiler, **_FLOATS, nogil=True, no_cfunc_wrapper=True, **options
        )(function)
    finally:
        numba.config.CACHE_DIR = configured


def subroutine(function: Kernel) -> Kernel:
    """Compile a function once for all kernels that call it. It allocates nothing, nor does any that it calls."""
    return KernelPart(function, _PART)


def inlined(function: Kernel) -> Kernel:
    """Compile a function once, and copy its code to each place in a kernel that calls it. It allocates nothing.

    For functions that a hot loop calls: what they read of a record of arrays can then be read before the loop.
    """
    return KernelPart(function, _PART | {"forceinline": True})
