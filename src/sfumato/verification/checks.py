"""What a verification looked at, and how it came out."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.plurals import count_of
from sfumato.releases.manifest import Manifest


@dataclass(frozen=True)
class Check:
    """One thing that was looked at, and how it came out."""

    name: str
    holds: bool | None
    """None if it could not be looked at: then it says nothing for or against the release."""
    detail: str


@dataclass(frozen=True, repr=False)
class Verification:
    """What a verification found; true if no check fails.

    >>> Verification("out", (Check("counts", True, "6 rows in 2 groups"), Check("groups", False, "they differ")))
    Verification of out: 1 of 2 checks hold
      holds  counts: 6 rows in 2 groups
      FAILS  groups: they differ
    """

    folder: str
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool:
        """Whether no check fails."""
        return all(check.holds is not False for check in self.checks)

    @property
    def failures(self) -> str:
        """What does not hold, in one line; empty if everything does.

        >>> Verification("out", (Check("counts", True, "6 rows"), Check("groups", False, "they differ"))).failures
        'groups: they differ'
        """
        return "; ".join(f"{check.name}: {check.detail}" for check in self.checks if check.holds is False)

    def __bool__(self) -> bool:
        return self.holds

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        checks = [{"name": check.name, "holds": check.holds, "detail": check.detail} for check in self.checks]
        return {"folder": self.folder, "holds": self.holds, "checks": checks}

    def __repr__(self) -> str:
        held = sum(check.holds is True for check in self.checks)
        lines = [f"Verification of {self.folder}: {held} of {count_of(len(self.checks), 'check')} hold"]
        words = {True: "holds", False: "FAILS", None: "  -  "}
        lines += [f"  {words[check.holds]}  {check.name}: {check.detail}" for check in self.checks]
        return "\n".join(lines)


def digest(path: Path) -> dict[str, Any]:
    """The SHA-256 and the size of a file, as release.json states them."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    return {"sha256": found, "bytes": path.stat().st_size}


def files_check(manifest: Manifest) -> Check:
    """Every file that release.json lists is as it was when it was written."""
    files = manifest.content["files"]
    for name, claimed in files.items():
        found = digest(manifest.path.parent / name)
        if any(claimed[key] != found[key] for key in found):
            return Check("file", False, f"{name}: the file was changed after it was written")
    stated = "its SHA-256 and size are" if len(files) == 1 else "the SHA-256 and size of each are"
    return Check("file", True, f"{', '.join(files)}: {stated} as release.json states")
