"""The first code that runs on an executor: make this package importable there, and work on parts.

Spark sends these functions by value, because an executor may not have the package, or may have another version of it. So
this file imports the standard library only. An executor uses the package that it has if its files are the same as those of
the driver; otherwise it fetches a copy of the driver's files, once on each host.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import io
import os
import pickle
import platform
import stat
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

PACKAGE = "sfumato"


def package_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a package in a folder, each with its name within the package, in an order."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def package_digest(folder: Path) -> str:
    """Return a digest of all files of a package in a folder."""
    digest = hashlib.sha256()
    for name, content in package_files(folder):
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def package_archive(folder: Path) -> bytes:
    """Return all files of a package in a folder as one archive."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in package_files(folder):
            file.writestr(f"{PACKAGE}/{name}", content)
    return archive.getvalue()


def _is_ours(path: Path, others: int = 0) -> bool:
    """Return whether a file or folder, and no link, belongs to this user, and others have none of some permissions."""
    try:
        status = path.lstat()
    except FileNotFoundError:  # Python writes compiled files under other names first
        return True
    if stat.S_ISLNK(status.st_mode):
        return False
    return not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & others)


def _private_folder(path: Path) -> Path:
    """Create a folder, or check one: code that others can write there would be run.

    `sfumato.kernels.compile.cache_folder` checks its folder in the same way; this file cannot import it.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not _is_ours(path, 0o022):
        raise PermissionError(f"the folder {path} belongs to another user, or others can write it")
    with tempfile.TemporaryFile(dir=path):
        return path


def host_folder() -> Path:
    """Return a folder that all processes of this user on this host share, and that nobody else can write.

    It is the user's cache. On clusters the user often has no home: then a folder beside other temporary files takes its
    place, also for compiled kernels; also if others can write the cache.
    """
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / PACKAGE
        return _private_folder(base.resolve())
    except (OSError, RuntimeError):
        user = os.getuid() if hasattr(os, "getuid") else ""
        try:
            base = _private_folder(Path(tempfile.gettempdir()) / f"{PACKAGE}-{user}")
            found = _private_folder(base / PACKAGE)
        except OSError as error:
            raise ImportError(str(error)) from None
        os.environ["XDG_CACHE_HOME"] = str(base)
        return found


def _is_intact(folder: Path, digest: str) -> bool:
    """Return whether a folder contains the files that were sent, and nobody else has put files there, nor can do so."""
    try:
        # Python adds compiled files, which the digest does not cover
        is_private = _is_ours(folder, 0o077) and all(_is_ours(path) for path in folder.rglob("*"))
        return is_private and package_digest(folder / PACKAGE) == digest
    except OSError:
        return False


def unpacked(digest: str, archive: Callable[[], bytes], base: Path) -> Path:
    """Return the folder with a copy of the package; it is unpacked unless it is there already, and intact."""
    target = base / f"package-{digest}"
    if not _is_intact(target, digest):
        with tempfile.TemporaryDirectory(dir=base, ignore_cleanup_errors=True) as aside:
            fresh = Path(aside, "fresh")
            fresh.mkdir(mode=0o700)
            with zipfile.ZipFile(io.BytesIO(archive())) as file:
                file.extractall(fresh)
            with suppress(FileNotFoundError):
                target.rename(Path(aside, "replaced"))
            try:
                fresh.rename(target)
            except OSError:  # another process was faster
                if not _is_intact(target, digest):
                    raise
    return target


def import_package(digest: str, archive: Callable[[], bytes]) -> None:
    """Make the driver's version of the package importable; ImportError if another version is loaded already."""
    base = host_folder()
    loaded = sys.modules.get(PACKAGE)
    found = importlib.util.find_spec(PACKAGE) if loaded is None else loaded.__spec__
    places = list(found.submodule_search_locations or []) if found is not None else []
    if places and package_digest(Path(places[0])) == digest:
        return
    if loaded is not None:
        raise ImportError(f"another version of {PACKAGE} is loaded already, from {places}")
    sys.path.insert(0, str(unpacked(digest, archive, base)))
    importlib.invalidate_caches()


def work_on_parts(
    digest: str, versions: dict[str, str], archive: Any, work: tuple[str, Any], parts: Iterable[tuple[int, bytes]]
) -> Iterator[tuple[int, bytes]]:
    """Yield the pickled result of each part with its number.

    `archive`: the package, as a broadcast variable of bytes. `work`: a name of its own, and the pickled work as another one.
    """
    try:
        executor = _executor(digest, versions, archive)
    except ImportError as error:  # a retry would not help
        for number, _ in parts:
            yield number, _missing(error)
        return
    for number, part in parts:
        yield number, executor.result_of(*work, part)


def work_on_batches(
    digest: str, versions: dict[str, str], archive: Any, work: tuple[str, Any], batches: Iterator[Any]
) -> Iterator[Any]:
    """Yield what work makes of the Arrow batches of a partition, as batches of numbers and contents; see `work_on_parts`."""
    try:
        executor = _executor(digest, versions, archive)
    except ImportError as error:
        arrow = importlib.import_module("pyarrow")
        yield arrow.record_batch([arrow.array([-1], arrow.int32()), arrow.array([_missing(error)])], ["number", "content"])
        return
    yield from executor.batches_of(*work, batches)


def _executor(digest: str, versions: dict[str, str], archive: Any) -> Any:
    """Return the module that runs work, of the driver's version of the package; ImportError if that is not possible."""
    executor: Any = sys.modules.get(f"{PACKAGE}.spark.executor")
    if executor is None or getattr(executor, "digest", None) != digest:
        import_package(digest, lambda: bytes(archive.value))
        executor = importlib.import_module(f"{PACKAGE}.spark.executor")
        executor.check_versions(versions)
        executor.digest = digest
    return executor


def _missing(error: ImportError) -> bytes:
    return pickle.dumps(("missing", f"{platform.node()}: {error}"))
