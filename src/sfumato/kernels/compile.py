"""Compile kernels with numba, and keep the machine code in a folder that only this user can write."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba

from sfumato.temporaries import remove_at_exit

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


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
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
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


def compiled_before() -> bool:
    """Return whether any kernel was compiled on this machine before; if not, the first use takes a minute longer."""
    return any(Path(numba.config.CACHE_DIR or cache_folder()).rglob("*.nbi"))


def kernel(function: Kernel) -> Kernel:
    """Compile a function on its first call. Floats are IEEE floats: no fast math, no reordering."""
    return _compiled(function)


def borrowing_kernel(function: Kernel) -> Kernel:
    """Compile a kernel that allocates nothing, nor does any that it calls: it counts no references to its arrays.

    For hot loops over large tuples of arrays, where that counting takes most of the time.
    """
    return _compiled(function, _nrt=False)


def _compiled(function: Kernel, **options: bool) -> Kernel:
    # numba reads its cache folder while it decorates. The setting is changed for that moment only, and a folder that the
    # user configured takes precedence.
    configured = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(Path(configured) / sources_digest()) if configured else cache_folder()
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)  # type: ignore[no-any-return]
    finally:
        numba.config.CACHE_DIR = configured


def inlined(function: Kernel) -> Kernel:
    """Compile a function into each kernel that calls it.

    For functions that a hot loop calls with large tuples of arrays: passing those costs more than the work itself.
    """
    return numba.njit(inline="always", error_model="numpy")(function)  # type: ignore[no-any-return]
