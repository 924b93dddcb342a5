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
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
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


def host_folder() -> Path:
    """Return a folder that all processes of this user on this host share, and that nobody else can write.

    It is the user's cache. On clusters the user often has no home: then a folder beside other temporary files takes its
    place, also for compiled kernels.
    """
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / PACKAGE
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=base):
            return base
    except (OSError, RuntimeError):
        user = os.getuid() if hasattr(os, "getuid") else ""
        base = Path(tempfile.gettempdir()) / f"{PACKAGE}-{user}"
        base.mkdir(mode=0o700, exist_ok=True)
        status = base.lstat()
        if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022 or base.is_symlink()):
            raise ImportError(f"the folder {base} belongs to another user, or others can write it") from None
        os.environ["XDG_CACHE_HOME"] = str(base)
        (base / PACKAGE).mkdir(mode=0o700, exist_ok=True)
        return base / PACKAGE


def unpacked(digest: str, archive: bytes, base: Path) -> Path:
    """Return the folder with a copy of the package; it is unpacked unless it is there already."""
    target = base / f"package-{digest}"
    if not (target / PACKAGE).is_dir():
        with tempfile.TemporaryDirectory(dir=base) as aside, zipfile.ZipFile(io.BytesIO(archive)) as file:
            file.extractall(aside)
            target.mkdir(mode=0o700, exist_ok=True)
            try:
                Path(aside, PACKAGE).rename(target / PACKAGE)
            except OSError:  # another process was faster
                if not (target / PACKAGE).is_dir():
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
    sys.path.insert(0, str(unpacked(digest, archive(), base)))
    importlib.invalidate_caches()


def work_on_parts(
    digest: str, versions: dict[str, str], archive: Any, work: tuple[str, Any], parts: Iterable[tuple[int, bytes]]
) -> Iterator[tuple[int, bytes]]:
    """Yield the pickled result of each part with its number.

    `archive`: the package, as a broadcast variable of bytes. `work`: a name of its own, and the pickled work as another one.
    """
    executor = sys.modules.get(f"{PACKAGE}.spark.executor")
    if executor is None or getattr(executor, "digest", None) != digest:
        try:
            import_package(digest, lambda: bytes(archive.value))
            executor = importlib.import_module(f"{PACKAGE}.spark.executor")
            executor.check_versions(versions)
            executor.digest = digest  # type: ignore[attr-defined]
        except ImportError as error:  # a retry would not help
            for number, _ in parts:
                yield number, pickle.dumps(("missing", f"{os.uname().nodename}: {error}"))
            return
    for number, part in parts:
        yield number, executor.result_of(*work, part)
