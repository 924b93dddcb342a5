"""The result of a verification, and the checks that do not depend on the kind of release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sfumato.plurals import count_of
from sfumato.principles import Principle
from sfumato.releases.digests import digest
from sfumato.releases.expectations import Expectations
from sfumato.releases.model_base import unknown_keys
from sfumato.releases.models import SECRET_SINCE, stated_seeds
from sfumato.releases.reader import MANIFEST, Manifest, TableManifest
from sfumato.verification.declaration_checks import in_declared_order
from sfumato.visible_text import one_line

NO_ORIGINAL = "not checked: pass the original"
"""Why a check that compares the release with its original was not made."""


@dataclass(frozen=True)
class Check:
    """One thing that was checked, and its result."""

    name: str
    holds: bool | None
    """None if it was not checked; then it says nothing for or against the release."""
    detail: str

    @property
    def state(self) -> str:
        """The result in words: "holds", "FAILS" or "not checked".

        >>> Check("risk", None, "no dictionaries were given").state
        'not checked'
        """
        return {True: "holds", False: "FAILS", None: "not checked"}[self.holds]


@dataclass(frozen=True, repr=False)
class Verification:
    """The result of a verification; true if no check fails.

    >>> Verification("out", (Check("counts", True, "6 rows in 2 groups"), Check("groups", False, "they differ")))
    Verification of out: 1 of 2 checks hold
      holds  counts: 6 rows in 2 groups
      FAILS  groups: they differ
    """

    folder: str
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()
    """Remarks on how the checks were made."""

    @property
    def holds(self) -> bool:
        """Whether no check fails. A check that was not made does not fail; see `not_checked`."""
        return all(check.holds is not False for check in self.checks)

    @property
    def failures(self) -> str:
        """The checks that fail, in one line; empty if none does.

        >>> Verification("out", (Check("counts", True, "6 rows"), Check("groups", False, "they differ"))).failures
        'groups: they differ'
        """
        return "; ".join(one_line(f"{check.name}: {check.detail}") for check in self.checks if check.holds is False)

    @property
    def not_checked(self) -> tuple[Check, ...]:
        """The checks that could not be made with what was given."""
        return tuple(check for check in self.checks if check.holds is None)

    def __bool__(self) -> bool:
        return self.holds

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        checks = [{"name": check.name, "holds": check.holds, "detail": check.detail} for check in self.checks]
        return {"folder": self.folder, "holds": self.holds, "checks": checks, "notes": list(self.notes)}

    def __repr__(self) -> str:
        passed = sum(check.holds is True for check in self.checks)
        unchecked = f", {len(self.not_checked)} not checked" if self.not_checked else ""
        lines = [
            f"Verification of {one_line(self.folder)}: {passed} of {count_of(len(self.checks), 'check')} hold{unchecked}"
        ]
        width = max((len(check.state) for check in self.checks), default=0)
        lines += [f"  {check.state:{width}}  {one_line(f'{check.name}: {check.detail}')}" for check in self.checks]
        lines += [f"  Note: {one_line(note)}" for note in self.notes]
        return "\n".join(lines)


def files_check(manifest: Manifest) -> Check:
    """Check that every listed file has the digest and the size that release.json states."""
    for name, stated in manifest.files.items():
        if digest(manifest.folder / name) != stated:
            return Check("file", False, f"{name}: the file was changed after it was written")
    claim = "its SHA-256 and size are" if len(manifest.files) == 1 else "the SHA-256 and size of each are"
    return Check("file", True, f"{', '.join(manifest.files)}: {claim} as release.json states")


def content_checks(manifest: Manifest) -> list[Check]:
    """Check that the folder contains no other file, and release.json no other key, than the format has.

    Anything else could reveal single people, or join tables, and no other check would look at it.
    """
    expected = {MANIFEST, *manifest.files}
    files = sorted(path.name for path in manifest.folder.iterdir() if path.name not in expected or path.is_symlink())
    keys = list(unknown_keys(manifest.document))
    if manifest.format >= SECRET_SINCE:
        keys += [key for key, seed in stated_seeds(manifest.document) if seed is not None]
    return [
        Check("folder", not files, f"{files[0]!r} is not a file of the release" if files else "it contains no other file"),
        Check("keys", not keys, f"unknown key {keys[0]}" if keys else "release.json has no unknown key"),
    ]


def expected_principles(
    expected: Expectations, manifest: Manifest | TableManifest
) -> tuple[tuple[Principle, ...], str | None]:
    """Return the principles to measure, in the order of release.json; and the first difference from what it states."""
    if expected.principles is None:
        return manifest.principles(), None
    return in_declared_order(expected.principles, manifest.requested)
