"""Write aside, then rename: whoever looks sees what was there before or what is there now, never something between.

What is being written stands beside its target as `.NAME.sfumato-…`, readable by its owner only, and locked while its
process lives. If the process dies its lock goes with it, and whoever next writes to the same target sweeps what was left.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

try:
    import fcntl
except ImportError:  # Windows has no such locks: what a dead process left there stays until it is removed by hand
    fcntl = None  # type: ignore[assignment]


@contextmanager
def folder_aside(target: Path) -> Iterator[Path]:
    """A new folder beside the target, to be filled and put in place; what is not in place at the end is removed."""
    sweep(target)
    lock = None
    while lock is None:  # another process may take it for something left over before it is locked, and remove it
        folder = Path(tempfile.mkdtemp(dir=target.parent, prefix=_prefix(target)))
        lock = _lock(folder, new=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def put_in_place(folder: Path, target: Path) -> None:
    """Let a folder that was written aside take its target's place, in one step where the system has one.

    Afterwards the folder's own path holds what was in the target's place, if anything was. Where two folders cannot be
    exchanged in one step, what was in place stands as `.NAME.sfumato-was` for a moment, and `sweep` brings it back.
    """
    if not os.path.lexists(target):
        folder.rename(target)
    elif not _exchange(folder, target):
        was = _was(target)
        shutil.rmtree(was, ignore_errors=True)
        target.rename(was)
        try:
            folder.rename(target)
        except BaseException:
            was.rename(target)
            raise
        shutil.rmtree(was, ignore_errors=True)
    sync(target.parent)


def write_file(target: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Write one file aside, and rename it into place.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(Path(folder) / "a.txt", lambda file: file.write(b"all of it"))
    ...     [path.name for path in Path(folder).iterdir()], (Path(folder) / "a.txt").read_text()
    (['a.txt'], 'all of it')
    """
    sweep(target)
    lock = None
    while lock is None:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=_prefix(target))
        os.close(handle)
        temporary = Path(name)
        lock = _lock(temporary, new=True)
    try:
        with temporary.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
        os.close(lock)
    sync(target.parent)


def open_to_readers(folder: Path) -> None:
    """Give a folder that is complete, and its files, the rights that new files get."""
    mask = _umask()
    for path in folder.iterdir():
        path.chmod(0o666 & ~mask)
    folder.chmod(0o777 & ~mask)


def sweep(target: Path) -> None:
    """Remove what processes that died left beside a target, and bring back what one of them had moved out of its place."""
    was = _was(target)
    if was.exists() and not os.path.lexists(target):
        was.rename(target)
    try:
        names = [path for path in target.parent.iterdir() if path.name.startswith(_prefix(target))]
    except OSError:
        return
    for path in names:
        lock = _lock(path, new=False)
        if lock is None:
            continue
        try:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        finally:
            os.close(lock)


def sync(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _prefix(target: Path) -> str:
    return f".{target.name}.sfumato-"


def _was(target: Path) -> Path:
    return target.parent / f"{_prefix(target)}was"


def _umask() -> int:
    """The rights that new files are not to have; there is no way to ask but to set them."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _lock(path: Path, new: bool) -> int | None:
    """A locked handle on something beside a target; None if somebody else holds it, or it is gone.

    Where there are no locks, what is `new` is held without, and nothing else can be told to be left over.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if (fcntl is not None or new) and os.path.samestat(path.lstat(), os.fstat(handle)):
            return handle
    except OSError as error:
        if new and error.errno not in (errno.EWOULDBLOCK, errno.ENOENT):
            return handle
    os.close(handle)
    return None


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two paths in one step; False where the system or the file system cannot."""
    if sys.platform not in ("linux", "darwin"):
        return False
    library = ctypes.CDLL(None, use_errno=True)
    here, swap = -100, 2  # AT_FDCWD; RENAME_EXCHANGE of Linux and RENAME_SWAP of macOS have the same number
    names = os.fsencode(one), os.fsencode(other)
    if hasattr(library, "renameat2"):
        failed = library.renameat2(here, names[0], here, names[1], swap)
    elif hasattr(library, "renamex_np"):
        failed = library.renamex_np(*names, swap)
    else:
        return False
    if failed and ctypes.get_errno() not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(other))
    return not failed
