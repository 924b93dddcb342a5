"""Verification: a release is checked from its written files, by code that shares nothing with what made it."""

from sfumato.verifying.checks import Check, Verification, digest, files_check
from sfumato.verifying.grouped import published_schema
from sfumato.verifying.manifest import DATA_FILES, FORMAT, MANIFEST, PROJECTED, REPORT, WITHHELD, Manifest, table_name
from sfumato.verifying.published import original_table, published_table
from sfumato.verifying.verify import verify
from sfumato.verifying.withheld import Shown

__all__ = [
    "DATA_FILES",
    "FORMAT",
    "MANIFEST",
    "PROJECTED",
    "REPORT",
    "WITHHELD",
    "Check",
    "Manifest",
    "Shown",
    "Verification",
    "digest",
    "files_check",
    "original_table",
    "published_schema",
    "published_table",
    "table_name",
    "verify",
]
