"""Write to a temporary place, then rename: a reader sees the old or the new content, never something between.

The temporary file or folder is beside its target as `.NAME.sfumato-…`, readable by its owner only, and locked while its
process runs. If the process dies, its lock is released, and the next writer to the same target removes what is left.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from sfumato.temporaries import placing, remove, temporary

try:
    import fcntl
except ImportError:  # Windows has no such locks: what a dead process leaves must be removed by hand
    fcntl = None  # type: ignore[assignment]


_TOKEN = 16
"""The number of random digits in the name of a temporary file or folder."""

_LONGEST = 200
"""The most bytes of a name to which a prefix and a suffix can be added."""

_KEEP, _EXCHANGE = "keep", "exchange"
"""What to do with an existing target."""


@contextmanager
def folder_aside(target: Path) -> Iterator[Path]:
    """Create a folder beside the target, to fill and to put in place; it is removed at the end unless it was."""
    with _aside(target, lambda path: path.mkdir(mode=0o700)) as folder:
        yield folder


@contextmanager
def file_aside(target: Path, private: bool = False) -> Iterator[BinaryIO]:
    """Create a file beside the target, which replaces the target at the end; after an error it is removed.

    Its permissions are those of the file that it replaces, or of new files; only the owner's if it is `private`.
    """
    with _aside(target, lambda path: path.touch(mode=0o600, exist_ok=False)) as temporary, temporary.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
        if not private:
            temporary.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        temporary.replace(target)
        sync(target.parent)


@contextmanager
def _aside(target: Path, make: Callable[[Path], Any]) -> Iterator[Path]:
    sweep(target)
    lock = None
    while lock is None:  # another process may remove it as a leftover before it is locked
        path = target.parent / f"{_prefix(target)}{secrets.token_hex(_TOKEN // 2)}"
        make(path)
        lock = _lock(path, new=True)
    with temporary(path):
        try:
            yield path
        finally:
            remove(path)
            os.close(lock)


def put_in_place(folder: Path, target: Path, may_go: Callable[[Path], bool] | None = None) -> None:
    """Replace a target by a folder, in one step where the system supports it.

    An existing target is replaced only if `may_go` returns True for it; otherwise FileExistsError is raised, and it stays.
    Afterwards the path of the folder contains the old target, if there was one. Where two folders cannot be exchanged in
    one step, the old target is `.NAME.sfumato-was` for a moment, and `sweep` restores it.
    """
    with placing:  # a stopped process must not remove an old target that it has just moved
        _replace(folder, target, may_go)
    sync(target.parent)


def _replace(folder: Path, target: Path, may_go: Callable[[Path], bool] | None) -> None:
    taken = FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    if may_go is None or not os.path.lexists(target):
        if not _rename(folder, target, _KEEP):
            if os.path.lexists(target):
                raise taken
            folder.rename(target)
    elif _rename(folder, target, _EXCHANGE):
        if not may_go(folder):  # checked after the exchange, when nobody else can change it
            _rename(folder, target, _EXCHANGE)
            raise taken
    else:
        _replace_in_two_steps(folder, target, may_go, taken)


def _replace_in_two_steps(folder: Path, target: Path, may_go: Callable[[Path], bool], taken: OSError) -> None:
    was = _was(target)
    shutil.rmtree(was, ignore_errors=True)
    target.rename(was)
    try:
        if not may_go(was):
            raise taken
        folder.rename(target)
    except BaseException:
        was.rename(target)
        raise
    shutil.rmtree(was, ignore_errors=True)


def write_file(target: Path, write: Callable[[BinaryIO], Any], private: bool = False) -> None:
    """Write a file to a temporary place, and rename it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(Path(folder) / "a.txt", lambda file: file.write(b"all of it"))
    ...     [path.name for path in Path(folder).iterdir()], (Path(folder) / "a.txt").read_text()
    (['a.txt'], 'all of it')
    """
    with file_aside(target, private) as file:
        write(file)


def open_to_readers(folder: Path) -> None:
    """Give a complete folder and its files the permissions of new files."""
    mask = _umask()
    for path in folder.iterdir():
        path.chmod(0o666 & ~mask)
    folder.chmod(0o777 & ~mask)


def sweep(target: Path) -> None:
    """Remove what dead processes left beside a target, and restore a target that one of them had moved.

    Only names of the pattern of this module are removed, and only if no process has them locked.
    """
    was = _was(target)
    if was.exists() and not os.path.lexists(target):
        was.rename(target)
    ours = re.compile(re.escape(_prefix(target)) + rf"([0-9a-f]{{{_TOKEN}}}|was)")
    try:
        names = [path for path in target.parent.iterdir() if ours.fullmatch(path.name)]
    except OSError:
        return
    for path in names:
        lock = _lock(path, new=False)
        if lock is not None:
            remove(path)
            os.close(lock)


def sync(folder: Path) -> None:
    """Wait until the entries of a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _prefix(target: Path) -> str:
    """Return the prefix of temporary names beside a target; a name that is too long is replaced by its checksum."""
    name = target.name
    if len(os.fsencode(name)) > _LONGEST:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()[:32]
    return f".{name}.sfumato-"


def _was(target: Path) -> Path:
    return target.parent / f"{_prefix(target)}was"


def _umask() -> int:
    """Return the umask; the only way to read it is to set it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _lock(path: Path, new: bool) -> int | None:
    """Return a locked handle on a temporary path; None if another process has locked it, or if it does not exist.

    Where there are no locks, a `new` path gets a handle without one, and no other path is known to be a leftover.
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


def _rename(one: Path, other: Path, how: str) -> bool:
    """Exchange two paths in one step, or rename one if the other does not exist; return False if the system cannot."""
    if sys.platform not in ("linux", "darwin"):
        return False
    library = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    if hasattr(library, "renameat2"):
        here = -100  # AT_FDCWD
        failed = library.renameat2(here, names[0], here, names[1], {_KEEP: 1, _EXCHANGE: 2}[how])
    elif hasattr(library, "renamex_np"):
        failed = library.renamex_np(*names, {_KEEP: 4, _EXCHANGE: 2}[how])
    else:
        return False
    if failed and ctypes.get_errno() not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(other))
    return not failed
