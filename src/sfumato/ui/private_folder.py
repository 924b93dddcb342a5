"""A temporary folder for files with data about people: only its user can read it, and it does not outlive the process.

A process that is killed cannot remove its folder. The next one does: a folder whose lock nobody holds belongs to nobody.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import IO, Any

from sfumato.temporaries import keep, remove, remove_at_exit

_NAME = "sfumato-ui-"


class PrivateFolder:
    """A new folder with mode 0700, locked while the process lives.

    >>> folder = PrivateFolder()
    >>> folder.path.is_dir()
    True
    >>> folder.close(); folder.path.exists()
    False
    """

    def __init__(self, parent: Path | None = None) -> None:
        place = Path(tempfile.gettempdir()) if parent is None else parent
        remove_abandoned(place)
        self.path = Path(tempfile.mkdtemp(prefix=_NAME, dir=place))
        remove_at_exit(self.path)
        self._lock: IO[Any] | None = (self.path / "lock").open("w")
        _locked(self._lock)

    def new(self, name: str) -> Path:
        """Return a path for a new file of this name, in a folder of its own."""
        return Path(tempfile.mkdtemp(dir=self.path)) / name

    def close(self) -> None:
        """Remove the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
        remove(self.path)
        keep(self.path)


def remove_abandoned(parent: Path) -> None:
    """Remove the folders of processes that were killed."""
    for path in parent.glob(f"{_NAME}*"):
        try:
            # the folder of a process that is just starting has no lock yet
            if (
                path.is_symlink()
                or not (path / "lock").is_file()
                or (os.name == "posix" and path.stat().st_uid != os.getuid())
            ):
                continue
            with (path / "lock").open("r+") as lock:
                if not _locked(lock):
                    continue
            remove(path)
        except OSError:
            continue  # removed meanwhile, or in use


def _locked(file: IO[Any]) -> bool:
    """Lock a file; return whether that succeeded. The lock ends with the process."""
    try:
        if os.name == "posix":
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    except OSError:
        return False
    return True
