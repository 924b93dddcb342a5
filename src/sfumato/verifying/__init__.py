"""Verification: a release is checked from its written files, by code that shares nothing with what made it."""

from sfumato.verifying.manifest import DATA_FILES, FORMAT, MANIFEST, REPORT, Manifest
from sfumato.verifying.published import original_table, published_table
from sfumato.verifying.verify import Check, Verification, digest, files_check, published_schema, verify

__all__ = [
    "DATA_FILES",
    "FORMAT",
    "MANIFEST",
    "REPORT",
    "Check",
    "Manifest",
    "Verification",
    "digest",
    "files_check",
    "original_table",
    "published_schema",
    "published_table",
    "verify",
]
