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

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


@cache
def sources_digest() -> str:
    """A name for the kernels as they are: numba does not notice when a kernel that another one calls has changed."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def cache_folder() -> str:
    """The folder for compiled code: the user's own cache, or a private temporary one if that cannot be written.

    Compiled code is loaded from it, so a folder that somebody else owns or can write is not used.
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
    except (OSError, RuntimeError):  # not writable, or a user without a home
        temporary = tempfile.mkdtemp(prefix="sfumato-kernels-")
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)
        return temporary
    return str(folder)


def compiled_before() -> bool:
    """Whether any kernel was compiled here before; if not, a first use takes a minute longer."""
    return any(Path(numba.config.CACHE_DIR or cache_folder()).rglob("*.nbi"))


def kernel(function: Kernel) -> Kernel:
    """Compile a function on first call. Floats are IEEE floats: no fast math, nothing reordered."""
    # numba reads its folder when it decorates; set it for that moment only, and let a user's own setting win
    configured = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(Path(configured) / sources_digest()) if configured else cache_folder()
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]
    finally:
        numba.config.CACHE_DIR = configured


def inlined(function: Kernel) -> Kernel:
    """Compile a function into each kernel that calls it: where its arguments are large, passing them costs more than it."""
    return numba.njit(inline="always", error_model="numpy")(function)  # type: ignore[no-any-return]
