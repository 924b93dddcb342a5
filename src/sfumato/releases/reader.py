"""Read the release.json of a folder: its typed document, and the schema and principles that it declares."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from sfumato.data.schema import Schema
from sfumato.distances import Custom, Distance
from sfumato.errors import ReleaseError, SfumatoError
from sfumato.principles import Principle, principle_of
from sfumato.registry import DISTANCES, PRINCIPLES
from sfumato.releases.kinds import DATA_FILES, KINDS, ReleaseKind, table_name
from sfumato.releases.model_base import first_problem
from sfumato.releases.models import (
    FORMAT,
    GROUPS,
    SECRET_SINCE,
    AnatomizedDocument,
    ConfigDeclaration,
    Document,
    FileDigest,
    GroupedDocument,
    GroupedTable,
    ProjectedDocument,
    Reading,
    WithheldDocument,
    stated_seeds,
)
from sfumato.serialization import distance_of, hierarchy_of, schema_of

T = TypeVar("T")
D = TypeVar("D", bound=Document)

MANIFEST = "release.json"
REPORT = "report.html"
"""The public report; a release may be without."""

_UNDECLARED_SINCE = 3
"""The first format that states what becomes of columns without a role, and how many rows columns may single out."""

AGAIN = "Download the release again, or ask its publisher for an intact copy."
"""What to do about a corrupt release."""


def _missing_function(one: Any, other: Any) -> Any:
    raise ReleaseError("the publisher's own distance function is not available", remedy="Pass the schema that contains it.")


class _Declared:
    """What a release.json declares about the original: the way back from plain data to a schema and principles."""

    path: Path
    """release.json; errors name it."""
    format: int
    """The version of the format."""

    @property
    def config(self) -> ConfigDeclaration:
        """The schema of the original and the requested principles, as plain data."""
        raise NotImplementedError

    @property
    def reading(self) -> Reading:
        """How the file of the original is read."""
        raise NotImplementedError

    @property
    def reading_options(self) -> dict[str, str]:
        """How the file of the original is read, as arguments of `read_table`."""
        options = {"delimiter": self.reading.delimiter, "encoding": self.reading.encoding}
        return {key: value for key, value in options.items() if value is not None}

    @property
    def requested(self) -> list[dict[str, Any]]:
        """The requested principles as plain data."""
        return self.config.principles or []

    def problem(self, key: str, problem: str, remedy: str = AGAIN, value: Any = None) -> ReleaseError:
        """Return the error for an invalid value of a key."""
        return ReleaseError(problem, remedy=remedy, file=str(self.path), key=key, value=value)

    def schema(self, known: Schema | None = None) -> tuple[Schema, list[str]]:
        """Return the schema of the original, and the keys of the distance functions that are not available.

        A function that release.json names is never imported: otherwise the author of the file would choose which code runs
        here. The functions of `known`, the schema that the caller passed, are used instead. So are its distances of a class
        that is not registered here, if they have the declared parameters; and its population.
        """
        unavailable: list[str] = []

        def distance(declared: Mapping[str, Any], key: str) -> Distance:
            kind = declared.get("kind")
            if kind != Custom.name and (not kind or kind in DISTANCES):
                return distance_of(declared, key)
            candidate = None
            if known is not None:  # the key is "distance", or "columns.NAME.distance", and a name may contain dots
                candidate = known.distance if key == "distance" else known.distances.get(".".join(key.split(".")[1:-1]))
            if kind != Custom.name:
                return self._unregistered_distance(declared, key, candidate)
            if isinstance(candidate, Custom):
                return candidate
            unavailable.append(key)
            return Custom(_missing_function)

        # older formats have no such keys: columns without a role were published, and no limit was set
        old = self.format < _UNDECLARED_SINCE
        more = {
            "undeclared": self.config.undeclared or ("keep" if old else "drop"),
            "unchanged_limit": int(old) if self.config.unchanged_limit is None else self.config.unchanged_limit,
        }
        declared = self._restore(lambda: schema_of(self.config.to_dict(), hierarchy_of, distance, **more))
        # a release does not contain the population that it was compared with
        return (declared if known is None else replace(declared, population=known.population)), unavailable

    def _unregistered_distance(self, declared: Mapping[str, Any], key: str, candidate: Distance | None) -> Distance:
        """Return the caller's distance if it is the declared one; otherwise raise an error that says what to pass."""
        if candidate is not None:
            section = {"kind": candidate.name, **candidate.parameters()}
            if json.loads(json.dumps(section)) == dict(declared):  # release.json has lists for tuples
                return candidate
        raise self.problem(
            f"config.{key}.kind",
            f"the distance {declared['kind']!r} is not registered here",
            "Install the package that provides it, or in Python pass the schema that contains it as schema=….",
            declared["kind"],
        )

    def principles(self) -> tuple[Principle, ...]:
        """Return the requested principles; one that is not registered here is an error that says what to pass."""
        return tuple(self._principle(position, entry) for position, entry in enumerate(self.requested))

    def _principle(self, position: int, entry: Mapping[str, Any]) -> Principle:
        parameters = dict(entry)
        name = str(parameters.pop("name", None))
        key = f"config.principles[{position}]"
        if name not in PRINCIPLES:
            raise self.problem(
                f"{key}.name",
                f"the principle {name!r} is not registered here",
                "Install the package that provides it, or in Python pass all requested principles as principles=[…].",
                name,
            )
        return self._restore(lambda: principle_of(name, parameters), key)

    def _restore(self, restore: Callable[[], T], within: str = "config") -> T:
        try:
            return restore()
        except ReleaseError:
            raise  # it names the key and the remedy already
        except SfumatoError as error:
            key = ".".join(filter(None, (within, error.key)))
            raise self.problem(key, error.problem, value=error.value) from error
        except (TypeError, AttributeError, KeyError, ValueError, IndexError) as error:
            raise self.problem(within, f"the config is corrupt ({type(error).__name__}: {error})") from error


@dataclass(frozen=True)
class TableFile:
    """One of several data files, and the version of the format."""

    data: Path
    format: int


@dataclass(frozen=True)
class TableManifest(_Declared):
    """One table of rows in groups: its part of release.json, and the file that contains it."""

    path: Path
    document: GroupedTable
    data: Path
    format: int

    @property
    def config(self) -> ConfigDeclaration:
        """The schema of the original and the requested principles, as plain data."""
        return self.document.config

    @property
    def reading(self) -> Reading:
        """How the file of the original is read."""
        return self.document.reading


@dataclass(frozen=True)
class Manifest(_Declared):
    """A release.json that is valid: its path and its document."""

    path: Path
    document: Document

    @classmethod
    def load(cls, folder: Path) -> Manifest:
        """Read the release.json of a folder, and check that the files that it lists exist."""
        if not folder.is_dir():
            raise ReleaseError("no such folder", remedy="Name the folder of a release.", file=str(folder))
        manifest = cls.read(folder)
        manifest.check_files()
        manifest.check_files_exist()
        return manifest

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """Read a release.json without its folder; `path` is the file, or its folder."""
        path = path / MANIFEST if path.is_dir() else path
        content = _json_object(path)
        name = str(content.get("kind", GROUPS))
        problem = _format_problem(content.get("format"))
        if problem is not None:
            raise ReleaseError(problem[0], remedy=problem[1], file=str(path), key="format", value=content.get("format"))
        if name not in KINDS:
            raise ReleaseError(
                f"invalid kind {name!r}; expected one of: {', '.join(KINDS)}",
                remedy=AGAIN, file=str(path), key="kind", value=name,
            )  # fmt: skip
        try:
            manifest = cls(path, KINDS[name].document.model_validate(content))
        except ValidationError as error:
            key, what, value = first_problem(error)
            raise ReleaseError(what, remedy=AGAIN, file=str(path), key=key, value=value) from error
        for key, seed in stated_seeds(manifest.document):
            if seed is None and manifest.format < SECRET_SINCE:
                raise manifest.problem(key, "the key is missing")
        return manifest

    @property
    def folder(self) -> Path:
        """The folder of the release."""
        return self.path.parent

    @property
    def kind(self) -> str:
        """The name of the kind of release, a key of `KINDS`."""
        return self.document.KIND

    @property
    def release_kind(self) -> ReleaseKind:
        """The kind of release."""
        return KINDS[self.kind]

    @property
    def format(self) -> int:  # type: ignore[override]  # nobody assigns it; a table has it as a field
        """The version of the format."""
        return self.document.format

    @property
    def config(self) -> ConfigDeclaration:
        """The schema of the original and the requested principles, as plain data."""
        return self.document.config

    @property
    def reading(self) -> Reading:
        """How the file of the original is read."""
        return self.document.reading

    def _as(self, kind: type[D]) -> D:
        if not isinstance(self.document, kind):
            it_is = self.release_kind
            raise self.problem(
                "kind", f"this is a release of {it_is.description}", f"Use the command for such releases: {it_is.command}."
            )
        return self.document

    @property
    def grouped(self) -> GroupedDocument:
        """The document of a grouped release; an error if the release is of another kind."""
        return self._as(GroupedDocument)

    @property
    def projected(self) -> ProjectedDocument:
        """The document of a projected release; an error if the release is of another kind."""
        return self._as(ProjectedDocument)

    @property
    def withheld(self) -> WithheldDocument:
        """The document of a withheld release; an error if the release is of another kind."""
        return self._as(WithheldDocument)

    @property
    def anatomized(self) -> AnatomizedDocument:
        """The document of an anatomized release; an error if the release is of another kind."""
        return self._as(AnatomizedDocument)

    @property
    def files(self) -> Mapping[str, FileDigest]:
        """The digest of each file."""
        return self.document.files

    @property
    def data(self) -> Path:
        """The data file; of several tables the first."""
        return self.folder / next(name for name in self.files if name != REPORT)

    @property
    def table(self) -> TableManifest:
        """The table of a grouped release."""
        return TableManifest(self.path, self.grouped, self.data, self.format)

    def tables(self) -> tuple[TableManifest, ...]:
        """Return the tables of a projected release, in the order of its plan."""
        document = self.projected
        return tuple(
            TableManifest(self.path, table, self.data_file(table_name(number)).data, document.format)
            for number, table in enumerate(document.tables, 1)
        )

    def data_file(self, stem: str) -> TableFile:
        """Return the listed data file of a name without suffix, of which there is one."""
        return TableFile(next(self.folder / name for name in self.files if Path(name).stem == stem), self.format)

    def check_files(self) -> None:
        """Check that exactly the files of one format are listed: names that a document chooses are never opened."""
        options = _data_files(self.document)
        if self.files.keys() - {REPORT} not in map(set, options):
            ranges = ", ".join(" to ".join(dict.fromkeys((names[0], names[-1]))) for names in options if names)
            listed = ", ".join(self.files) or "none"
            raise self.problem("files", f"invalid files: {listed}; expected one of {ranges}, and optionally {REPORT}")

    def check_files_exist(self) -> None:
        """Check that the listed files are beside release.json."""
        for name in self.files:
            if not (self.folder / name).is_file():
                what = "report" if name == REPORT else "data file"
                raise ReleaseError(f"the {what} is missing", remedy=AGAIN, file=str(self.folder / name))


def _data_files(document: Document) -> Sequence[Sequence[str]]:
    """Return for each format the names of the data files."""
    stems = KINDS[document.KIND].file_stems(len(getattr(document, "tables", ())))
    return [[f"{stem}.{suffix}" for stem in stems] for suffix in DATA_FILES]


def _json_object(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_distinct_keys)
    except FileNotFoundError as error:
        raise ReleaseError(
            "the folder is not a release: it contains no release.json",
            remedy="Name the folder of a release.",
            file=str(path.parent),
        ) from error
    except OSError as error:
        raise ReleaseError(
            f"the file cannot be read: {error.strerror}", remedy="Check its permissions.", file=str(path)
        ) from error
    except (ValueError, RecursionError) as error:
        raise ReleaseError(f"the file is corrupt: it is not JSON ({error})", remedy=AGAIN, file=str(path)) from error
    if not isinstance(content, dict):
        raise ReleaseError("the file is corrupt: it is not a JSON object", remedy=AGAIN, file=str(path))
    return content


def _distinct_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; one that has a key twice is an error, because nobody would look at the first value."""
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key in found if sum(other == key for other, _ in pairs) > 1)
        raise ValueError(f"the key {twice!r} occurs twice in an object")
    return found


def _format_problem(number: Any) -> tuple[str, str] | None:
    """Return what is wrong with the version of the format, and what to do; None if this version reads it."""
    if isinstance(number, int) and number > FORMAT:
        return (
            f"the release has format {number}, and this version of sfumato reads formats up to {FORMAT}",
            "Use a newer version of sfumato.",
        )
    if isinstance(number, int) and number < 1:
        return f"invalid format {number}; expected 1 to {FORMAT}", AGAIN
    return None
