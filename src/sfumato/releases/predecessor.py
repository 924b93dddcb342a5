"""The release that another one follows: read from its folder and its private key, and checked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.data.schema import Schema
from sfumato.errors import FileError, ParameterError
from sfumato.principles import Principle
from sfumato.releases.candidates import people_column
from sfumato.releases.digests import check_digests, digest
from sfumato.releases.history import History
from sfumato.releases.models import GroupedDocument
from sfumato.releases.reader import MANIFEST, REPORT, Manifest
from sfumato.releases.row_key import read_key

_REMEDY = "Name the release that this one follows, and the key that was written with it."


@dataclass(frozen=True, eq=False, repr=False)
class Predecessor:
    """A release that another one follows."""

    folder: Path
    sha256: str
    """The SHA-256 of its release.json."""
    document: GroupedDocument
    history: History

    @classmethod
    def read(cls, folder: str | Path, key: str | Path | None) -> Predecessor:
        """Read a release and its key. Files that were changed, and a key of another release, are errors."""
        place = Path(folder)
        manifest = Manifest.load(place.parent if place.name == MANIFEST else place)
        document = manifest.grouped
        check_digests(manifest)
        if key is None:
            raise ParameterError(
                "the key of the earlier release is missing, and without it nobody's earlier group is known",
                remedy="Name the private key that was written with it (--after-key; in Python after=(folder, key)).",
                key="after",
                file=str(folder),
            )
        found = read_key(key)
        if any(file.sha256 != found.data.get(name) for name, file in manifest.files.items() if name != REPORT):
            raise FileError("the key belongs to another release", remedy=_REMEDY, file=str(key))
        if found.history is None:
            raise FileError(
                "the key does not contain the history of the people",
                remedy="Make the earlier release again, with its seed (sfumato anonymize RELEASE/release.json --data TABLE "
                "--key KEY), and write a new key. Its schema must name one identifier, with one row per person, and the "
                "engine must be local.",
                file=str(key),
                key="history",
            )
        sha256 = digest(manifest.path).sha256
        if sha256 != found.release:
            raise FileError("the file was changed after it was written", remedy=_REMEDY, file=str(manifest.path))
        return cls(manifest.folder, sha256, document, found.history)

    def check(self, schema: Schema, principles: Sequence[Principle], names: Sequence[str]) -> None:
        """Raise an error if the earlier release has other requirements or columns; `names`: the columns of candidates."""
        requested = json.loads(json.dumps([{"name": p.name, **p.parameters()} for p in principles]))
        if _unordered(requested) != _unordered(self.document.config.principles or []):
            raise self._differs("other principles", "principles", "Request the same principles as the earlier release.")
        if people_column(schema) != self.history.column:
            raise self._differs(
                f"people who are identified by {self.history.column!r}", "identifiers", "Use the same identifier."
            )
        earlier = sorted(c.name for c in self.document.columns if c.role == "quasi-identifier")
        if earlier != sorted(schema.quasi_identifiers):
            raise self._differs(
                f"the quasi-identifiers {', '.join(earlier)}",
                "quasi_identifiers",
                "Publish the same columns in each version.",
            )
        if tuple(names) != self.history.columns:
            stated = ", ".join(self.history.columns) or "none"
            raise self._differs(
                f"other unchanged columns ({stated})", "columns", "Publish the same columns in each version."
            )

    def _differs(self, what: str, key: str, remedy: str) -> ParameterError:
        return ParameterError(f"the release that this one follows has {what}", remedy=remedy, key=key, file=str(self.folder))


def _unordered(principles: Sequence[Any]) -> list[str]:
    return sorted(repr(sorted(one.items(), key=str)) for one in principles)
