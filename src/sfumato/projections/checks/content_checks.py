"""Whether several tables come with nothing beside them: no file, and no key of release.json, that nobody looks at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sfumato.releases.reader import MANIFEST, Manifest
from sfumato.verification.checks import Check

_WHOLE = """
format kind sfumato python numpy pyarrow jinja2 plotly seed rows holds attributes sets plan chosen thresholds harmless
left_out config reading tables notes files
"""
_TABLE = """
attributes seed method rows groups suppressed suppress holds group columns config reading principles utility figures notes
dependence
"""

KEYS = {
    "": frozenset(_WHOLE.split()),
    "tables": frozenset(_TABLE.split()),
    "thresholds": frozenset(["name", "symbol", "key", "measured", "wanted", "origin", "holds"]),
    "columns": frozenset(["name", "role", "kind", "recoding", "level"]),
}
"""What may stand in release.json, as a whole, for each table and threshold, and for each column of a table."""


def known_checks(manifest: Manifest) -> list[Check]:
    """Check that nothing lies in the folder, and nothing stands in release.json, but what a projection has.

    Whatever else there is could join the tables, or tell of single people, and no other check would look at it.
    """
    allowed = {MANIFEST, *manifest.content["files"]}
    strays = sorted(path.name for path in manifest.path.parent.iterdir() if path.name not in allowed)
    detail = f"{strays[0]!r} lies in the folder, and is no file of the release" if strays else "no other file lies beside"
    stray_keys = list(_unknown(manifest.content))
    told = (
        f"the key {stray_keys[0]} is unknown" if stray_keys else "release.json has no other keys than those of a projection"
    )
    return [Check("folder", not strays, detail), Check("keys", not stray_keys, told)]


def _unknown(content: Mapping[str, object]) -> Iterator[str]:
    yield from sorted(content.keys() - KEYS[""])
    for key in ("thresholds", "tables"):
        for number, entry in enumerate(_entries(content.get(key)), 1):
            yield from (f"{key}.{number}.{name}" for name in sorted(entry.keys() - KEYS[key]))
            for column in _entries(entry.get("columns")):
                yield from (f"{key}.{number}.columns.{name}" for name in sorted(column.keys() - KEYS["columns"]))


def _entries(told: object) -> list[Mapping[str, object]]:
    """What is a table of keys among the entries of a list; what is torn is found by others."""
    return [entry for entry in told if isinstance(entry, Mapping)] if isinstance(told, list) else []
