"""`release.json`: what a release says of itself, and the way back from it to a schema and principles."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sfumato.data.schema import Schema
from sfumato.distances import Custom, Distance
from sfumato.errors import ReleaseError, SfumatoError
from sfumato.principles import Principle, principle_of
from sfumato.serialization import distance_of, hierarchy_of, schema_of

T = TypeVar("T")

FORMAT = 2
"""The version of the folder's format that is written, and the newest that is read."""

READING = ("delimiter", "encoding")
"""What release.json may say of how the file of the original is read."""

MANIFEST = "release.json"
DATA_FILES = {"csv": "data.csv", "parquet": "data.parquet"}
"""For each format the name of the data file."""
REPORT = "report.html"
"""The report; a release may be without."""

GROUPS, WITHHELD, PROJECTED = "groups", "withheld", "projected"
"""The kinds of releases: rows in groups, as `anonymize` makes them; records with cells withheld, as `withhold` does; several
tables of rows in groups, each with some of the sensitive attributes, as `project` does."""

_KEYS: dict[str, dict[str, type]] = {
    GROUPS: {
        "format": int,
        "holds": bool,
        "rows": int,
        "groups": int,
        "suppressed": int,
        "suppress": str,
        "group": str,
        "columns": list,
        "config": dict,
        "principles": list,
        "files": dict,
    },
    WITHHELD: {
        "format": int,
        "rows": int,
        "attributes": list,
        "rule": dict,
        "dictionaries": list,
        "config": dict,
        "files": dict,
    },
    PROJECTED: {
        "format": int,
        "seed": int,
        "holds": bool,
        "rows": int,
        "attributes": list,
        "sets": dict,
        "plan": list,
        "thresholds": list,
        "harmless": dict,
        "config": dict,
        "tables": list,
        "files": dict,
    },
}
"""For each kind, what must stand in release.json for it to be verified."""


_OTHERS = {
    WITHHELD: ("records with cells withheld, and has no groups", "sfumato risk"),
    PROJECTED: ("several tables, each with groups of its own", "sfumato project"),
}
"""What the other kinds of releases are, and the verb for them."""


def table_name(number: int) -> str:
    """What the file of one of several tables is called, but for its ending.

    >>> table_name(1)
    'table_1'
    """
    return f"table_{number}"


def _no_function(one: Any, other: Any) -> Any:
    raise ReleaseError("the publisher's own distance is not here", remedy="Give the schema that holds it.")


@dataclass(frozen=True)
class Manifest:
    """A release.json that has every key that is needed, of the right type."""

    path: Path
    content: Mapping[str, Any]

    @classmethod
    def load(cls, folder: Path) -> Manifest:
        """Read the release.json of a folder; anything that is missing or torn is an error that names it."""
        if not folder.is_dir():
            raise ReleaseError("there is no such folder", remedy="Name the folder of a release.", file=str(folder))
        manifest = cls.read(folder)
        manifest.check_files()
        manifest.check_files_are_there()
        return manifest

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """Read a release.json alone; `path` is the file, or its folder."""
        path = path / MANIFEST if path.is_dir() else path
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise ReleaseError(
                "the folder is no release: it holds no release.json",
                remedy="Name the folder of a release.",
                file=str(path.parent),
            ) from error
        except OSError as error:
            raise ReleaseError(
                f"the file cannot be read: {error.strerror}", remedy="Make it readable.", file=str(path)
            ) from error
        except (ValueError, RecursionError) as error:
            raise ReleaseError(
                f"the file is torn: it is not JSON ({error})", remedy="Fetch or make the release again.", file=str(path)
            ) from error
        manifest = cls(path, content if isinstance(content, dict) else {})
        if isinstance(manifest.content.get("format"), int) and manifest.content["format"] > FORMAT:
            raise manifest.problem(
                "format",
                f"the release is of format {manifest.content['format']}, and this version reads up to {FORMAT}",
                "Verify it with a newer version of sfumato.",
            )
        if isinstance(manifest.content.get("format"), int) and manifest.content["format"] < 1:
            raise manifest.problem(
                "format", f"there is no format {manifest.content['format']}", "Fetch or make the release again."
            )
        if manifest.kind not in _KEYS:
            raise manifest.problem(
                "kind", f"the kind {manifest.kind!r} is unknown", f"It must be one of: {', '.join(_KEYS)}."
            )
        manifest.check_keys()
        return manifest

    def check_keys(self, within: str = "") -> None:
        """Check that every key that is needed is there, and of the right type; `within`: what stands before it in errors."""
        for key, kind in _KEYS[self.kind].items():
            value = self.content.get(key)
            if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
                what = "is missing" if key not in self.content else f"is no {_WORDS[kind]}"
                raise self.problem(f"{within}{key}", f"the key {what}", "Fetch or make the release again.")

    @property
    def kind(self) -> str:
        """The kind of release: rows in groups if nothing is said."""
        return str(self.content.get("kind", GROUPS))

    def of_groups(self) -> Manifest:
        """Return the same, if it is a release of rows in groups."""
        if self.kind != GROUPS:
            what, verb = _OTHERS[self.kind]
            raise self.problem("kind", f"this is a release of {what}", f"Make or look at such a release with: {verb}.")
        return self

    def tables(self) -> tuple[Manifest, ...]:
        """Each table of a release of several as a release of rows in groups, of which release.json tells the same."""
        found = []
        for number, entry in enumerate(self.content["tables"], 1):
            name = f"tables.{number}"
            if not isinstance(entry, dict):
                raise self.problem(name, "the key is no table of keys", "Fetch or make the release again.")
            (file,) = (file for file in self.content["files"] if Path(file).stem == table_name(number))
            files = {file: self.content["files"][file]}
            table = Manifest(self.path, {**entry, "format": self.content["format"], "kind": GROUPS, "files": files})
            table.check_keys(f"{name}.")
            found.append(table)
        return tuple(found)

    def problem(self, key: str, problem: str, remedy: str) -> ReleaseError:
        """The error for something that is wrong under a key."""
        return ReleaseError(problem, remedy=remedy, file=str(self.path), key=key)

    def check_files(self) -> None:
        """Check that the data files and perhaps a report are named, by names that lead nowhere else."""
        files = self.content["files"]
        options = self._data_files()
        if files.keys() - {REPORT} not in map(set, options):
            told = ", ".join(" to ".join(dict.fromkeys((names[0], names[-1]))) for names in options if names)
            raise self.problem(
                "files",
                f"exactly one of {told} must be named, and nothing else but {REPORT}",
                "Fetch or make the release again.",
            )
        for name, claim in files.items():
            if not isinstance(claim, dict) or not {"sha256", "bytes"} <= claim.keys():
                raise self.problem(f"files.{name}", "the SHA-256 or the size is missing", "Fetch or make the release again.")

    def _data_files(self) -> list[list[str]]:
        """For each format the names of the data files."""
        if self.kind != PROJECTED:
            return [[name] for name in DATA_FILES.values()]
        numbers = range(1, len(self.content["tables"]) + 1)
        return [[f"{table_name(number)}.{ending}" for number in numbers] for ending in DATA_FILES]

    def check_files_are_there(self) -> None:
        """Check that the files that are named lie beside release.json."""
        for name in self.content["files"]:
            if not (self.path.parent / name).is_file():
                what = "report" if name == REPORT else "data file"
                raise ReleaseError(
                    f"the {what} is missing", remedy="Fetch or make the release again.", file=str(self.path.parent / name)
                )

    @property
    def data(self) -> Path:
        """The data file; of several tables the first."""
        return self.path.parent / next(str(name) for name in self.content["files"] if name != REPORT)

    def schema(self, known: Schema | None = None) -> tuple[Schema, list[str]]:
        """The schema of the original table; with the keys of distances that are functions which are not at hand.

        A function that release.json names is never imported: whoever wrote the file would choose what runs here. The
        functions of the schema that is given are used instead.
        """
        unknown: list[str] = []

        def distance(declared: Mapping[str, Any], key: str) -> Distance:
            if declared.get("kind") != Custom.name:
                return distance_of(declared, key)
            parts = key.split(".")
            found = None
            if known is not None:
                found = known.distance if key == "distance" else known.distances.get(".".join(parts[1:-1]))
            if isinstance(found, Custom):
                return found
            unknown.append(key)
            return Custom(_no_function)

        return self._restored(lambda: schema_of(self.content["config"], hierarchy_of, distance)), unknown

    @property
    def reading(self) -> dict[str, str]:
        """How the file of the original was declared to be read: its delimiter, its encoding."""
        found = self.content.get("reading", {})
        if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
            raise self.problem("reading", "the key is torn", "Fetch or make the release again.")
        return {key: found[key] for key in READING if key in found}

    @property
    def asked(self) -> list[Any]:
        """The principles of the config as they stand there."""
        found = self.content["config"].get("principles")
        return found if isinstance(found, list) else []

    def principles(self) -> tuple[Principle, ...]:
        """The principles that the release was made for."""

        def restored() -> tuple[Principle, ...]:
            found = []
            for declared in self.content["config"]["principles"]:
                parameters = dict(declared)
                found.append(principle_of(str(parameters.pop("name")), parameters))
            return tuple(found)

        return self._restored(restored)

    def _restored(self, restore: Callable[[], T]) -> T:
        try:
            return restore()
        except SfumatoError as error:
            key = ".".join(filter(None, ("config", error.key)))
            raise self.problem(key, error.problem, "Fetch or make the release again.") from error
        except (TypeError, AttributeError, KeyError, ValueError, IndexError) as error:
            raise self.problem(
                "config", f"the config is torn ({type(error).__name__}: {error})", "Fetch or make the release again."
            ) from error


_WORDS = {int: "whole number", bool: "true or false", str: "text", list: "list", dict: "table of keys"}
