"""Whether a release that was repeated came out as the one before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.anonymization.release_document import versions
from sfumato.errors import ReplayError
from sfumato.releases.reader import Manifest


def refuse_different(files: Mapping[str, Any], before: Manifest) -> None:
    """Raise if the files that were written are not, byte for byte, those that a release.json lists."""
    changed = [name for name, claim in before.content["files"].items() if files.get(name) != claim]
    if changed:
        why = differing_versions(before.content) or ["the versions are the same, so the original table must be another"]
        raise ReplayError(
            f"{', '.join(changed)} came out different from what is listed here, so nothing is written: {'; '.join(why)}",
            remedy="Give the same table and versions, or another seed, for a release like it.",
            file=str(before.path),
            key="files",
        )


def differing_versions(content: Mapping[str, Any]) -> list[str]:
    """What was of another version when a release was made: its bytes may then differ."""
    return [
        f"the release was made with {name} {content.get(name)}, and this is {version}"
        for name, version in versions().items()
        if content.get(name) != version
    ]
