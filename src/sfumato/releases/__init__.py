"""The release format: what a release folder contains."""

from sfumato.releases.kinds import DATA_FILES, table_name
from sfumato.releases.models import FORMAT, PROJECTED, WITHHELD
from sfumato.releases.reader import MANIFEST, REPORT, Manifest

__all__ = ["DATA_FILES", "FORMAT", "MANIFEST", "PROJECTED", "REPORT", "WITHHELD", "Manifest", "table_name"]
