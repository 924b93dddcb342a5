"""Work on one part in a Python process of an executor."""

from __future__ import annotations

import gc
import hashlib
import importlib.metadata
import pickle
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import SfumatoError
from sfumato.kernels.compile import cache_folder
from sfumato.progress import silent
from sfumato.spark.compact_arrays import compact_pickle

digest: str | None = None
"""The digest of the files of the package, once it was compared with that of the driver."""

_NAMES = ("numpy", "numba", "llvmlite")
"""The packages whose version may matter for a result."""

FAILED = -1
"""The number of a content that is an error."""

_works: dict[str, Any] = {}
"""The work that this process did last, by its name: kept until the next work arrives or the process ends."""


def package_versions() -> dict[str, str]:
    """Return the versions of the packages that compute results."""
    return {name: importlib.metadata.version(name) for name in _NAMES}


def check_versions(versions: dict[str, str]) -> None:
    """Raise ImportError if a package of this process has another version than that of the driver."""
    for name, found in package_versions().items():
        if found != versions[name]:
            raise ImportError(f"{name} has version {found}, and {versions[name]} where the release is made")


def result_of(name: str, work: Any, part: bytes) -> bytes:
    """Return the pickled result of a part, or the error that it raises; `work`: a broadcast variable."""
    is_first = name not in _works
    run, warm_up, variant, shared = _loaded(name, work)
    content = pickle.loads(part)
    try:
        warm(variant, warm_up, shared, content)
        result = compact_pickle(("result", run(shared, content, silent)))
    except SfumatoError as error:
        return pickle.dumps(("error", error))
    if is_first:
        # Spark collects garbage after every task: that takes longer than many a part, with all modules and kernels loaded
        gc.freeze()
    return result


def batches_of(name: str, work: Any, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield what work makes of the batches of a partition, as batches of numbers and contents; `work`: as in `result_of`.

    An error of this work, or of work that made the batches, is yielded in place of a result, with the number `FAILED`.
    """
    is_first = name not in _works
    run, shared = _loaded(name, work)
    try:
        for number, content in run(shared, batches):
            yield _batch(number, content)
    except SfumatoError as error:
        yield _batch(FAILED, pickle.dumps(("error", error)))
    except _EarlierError as error:
        yield _batch(FAILED, error.args[0])
    if is_first:
        gc.freeze()


def contents_of(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, bytes]]:
    """Yield the numbers and contents of batches that `batches_of` made."""
    for batch in batches:
        for number, content in zip(*(batch.column(i) for i in range(2)), strict=True):
            if number.as_py() == FAILED:
                raise _EarlierError(content.as_py())
            yield number.as_py(), content.as_py()


class _EarlierError(Exception):
    """An error of the work that made a batch; its argument is the content."""


def _batch(number: int, content: bytes) -> pa.RecordBatch:
    return pa.record_batch([pa.array([number], pa.int32()), pa.array([content], pa.binary())], ["number", "content"])


def _loaded(name: str, work: Any) -> Any:
    """Return work that a broadcast variable contains."""
    if name not in _works:
        _works.clear()  # that of an earlier round
        _works[name] = pickle.loads(work.value)
    return _works[name]


_warmed: set[str] = set()
"""The variants of work whose kernels are in the cache, as far as this process knows."""


def warm(variant: str, warm_up: Any, shared: Any, part: Any) -> None:
    """Let one process of this host compile the kernels, while the others wait; then all load them from the cache."""
    if variant in _warmed:
        return
    key = f"{variant} {package_versions()} {platform.python_version()} {platform.processor()}"
    mark = Path(cache_folder()) / f"warm-{hashlib.sha256(key.encode()).hexdigest()[:16]}"
    with host_lock(mark.with_suffix(".lock")):
        if not mark.exists():
            warm_up(shared, part)
            mark.touch()
    _warmed.add(variant)


@contextmanager
def host_lock(path: Path) -> Iterator[None]:
    """Let one process of a host run the code inside at a time. The system frees the lock of a process that ends."""
    try:
        import fcntl
    except ImportError:  # Windows: processes compile side by side
        yield
        return
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
