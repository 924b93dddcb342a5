"""Files and folders that must not outlive the process, however it ends.

Whoever makes one removes it, in a `finally`. A process that is stopped in the middle of a long call never gets there: it
calls `remove_temporaries` and exits.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_paths: set[Path] = set()

placing = threading.Lock()
"""Held while a complete folder is put in place: meanwhile nothing is removed, and no thread is interrupted."""


@contextmanager
def temporary(path: Path) -> Iterator[None]:
    """Have a path removed if the process is stopped meanwhile.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with temporary(folder):
    ...     remove_temporaries()
    >>> folder.exists()
    False
    """
    remove_at_exit(path)
    try:
        yield
    finally:
        keep(path)


def keep(path: Path) -> None:
    """Have a path no longer removed: it is complete."""
    _paths.discard(path)


def remove_at_exit(path: Path) -> None:
    """Have a path removed if the process is stopped, whenever that is."""
    _paths.add(path)


def remove_temporaries(patience: float = 0.5) -> None:
    """Remove the temporary files and folders of this process, which is about to exit.

    If a folder is being put in place for longer than `patience` seconds, nothing is removed: what is left is complete, or
    the next writer to the same target removes it.
    """
    if not placing.acquire(timeout=patience):
        return
    try:
        for path in list(_paths):
            remove(path)
    finally:
        placing.release()


def remove(path: Path) -> None:
    """Remove a file or a folder with all that it contains; a path that does not exist is no error."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
