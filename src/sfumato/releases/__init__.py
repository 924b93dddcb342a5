"""The release format: what a release folder contains."""

from sfumato.releases.manifest import DATA_FILES, FORMAT, MANIFEST, PROJECTED, REPORT, WITHHELD, Manifest, table_name

__all__ = ["DATA_FILES", "FORMAT", "MANIFEST", "PROJECTED", "REPORT", "WITHHELD", "Manifest", "table_name"]
