"""Verification: check a release from its written files, with code that does not depend on the code that made it.

This package imports data, distances, principles, io, serialization and the release format, and nothing that makes a
release. The checks of projected and withheld releases are in `sfumato.projections` and `sfumato.disclosure`, and are reached
through `sfumato.releases.kinds.KINDS`.
"""

from sfumato.verification._verify import verify
from sfumato.verification.checks import Check, Verification, files_check

__all__ = ["Check", "Verification", "files_check", "verify"]
