"""Verification: check a release from its written files, with code that does not depend on the code that made it."""

from sfumato.verification._verify import verify
from sfumato.verification.checks import Check, Verification, digest, files_check
from sfumato.verification.grouped_checks import published_schema
from sfumato.verification.published_tables import original_table, published_table

__all__ = [
    "Check",
    "Verification",
    "digest",
    "files_check",
    "original_table",
    "published_schema",
    "published_table",
    "verify",
]
