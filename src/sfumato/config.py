"""The config file: what is published, how it is declared, and what must hold; read and written as TOML."""

from __future__ import annotations

import os
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sfumato.distances import DISTANCES, Custom, Distance
from sfumato.errors import ConfigProblem, SfumatoError
from sfumato.hierarchy import Flat, Hierarchy, Intervals
from sfumato.io.read import read_table
from sfumato.principles import Principle, principle_of
from sfumato.schema import Kind, Missing, Role, Schema
from sfumato.table import Table


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class DataSection(_Section):
    """`[data]`: where the table is, and how its file is read."""

    path: str
    delimiter: str | None = Field(default=None, min_length=1, max_length=1)
    encoding: str | None = None
    person_id: str | None = None
    group: str | None = None


class HierarchySection(_Section):
    """`hierarchy = { … }` of a column: a builder instead of a file."""

    intervals: list[int | Decimal | str] | None = None
    origin: int | Decimal | str = 0
    flat: bool = False


class ColumnSection(_Section):
    """`[columns.NAME]`: one column, or one vector attribute spread over several."""

    role: Role = Role.OTHER
    kind: Kind | None = None
    order: list[str] | None = None
    hierarchy: str | HierarchySection | None = None
    separator: str | None = Field(default=None, min_length=1)
    columns: list[str] | None = None
    distance: dict[str, Any] | None = None


class MissingSection(_Section):
    """`[missing]`: what counts as missing, and what is done about it."""

    values: list[str] | None = None
    policy: str = "value"


class MethodSection(_Section):
    """`[method]`: how groups are found."""

    name: str = "auto"


class OutputSection(_Section):
    """`[output]`: where the release goes."""

    path: str


class Config(_Section):
    """A config file, checked: every key known and of the right type.

    >>> config = Config.parse('''
    ... [data]
    ... path = "people.csv"
    ... [columns.age]
    ... role = "quasi-identifier"
    ... [[principles]]
    ... name = "k-anonymity"
    ... k = 5
    ... ''')
    >>> config.schema.quasi_identifiers, config.asked
    (('age',), (KAnonymity(k=5),))
    """

    data: DataSection
    columns: dict[str, ColumnSection] = Field(default_factory=dict)
    missing: MissingSection = Field(default_factory=MissingSection)
    distance: dict[str, Any] | None = None
    principles: list[dict[str, Any]] = Field(default_factory=list)
    method: MethodSection | None = None
    output: OutputSection | None = None
    source: Path | None = Field(default=None, exclude=True)
    """The file that it was read from; relative paths start at its folder."""

    @classmethod
    def parse(cls, text: str, source: Path | None = None) -> Config:
        """Read a config from TOML text; numbers stay the decimals that were written."""
        name = None if source is None else str(source)
        try:
            raw = tomllib.loads(text, parse_float=Decimal)
        except tomllib.TOMLDecodeError as error:
            escaped = "hex" in str(error) or "escape" in str(error)
            remedy = "Write paths with / or in single quotes." if escaped else "Mend the line named."
            raise ConfigProblem(f"the file is not TOML: {error}", remedy=remedy, file=name) from error
        if "source" in raw:
            raise ConfigProblem("the key is unknown", remedy="Drop it.", file=name, key="source")
        try:
            config = cls.model_validate({**raw, "source": source})
        except ValidationError as error:
            raise _problem(error, name) from None
        # what needs no data is checked now, so that errors name the key and not some later step
        _ = (config.schema, config.asked)
        return config

    @classmethod
    def load(cls, path: str | Path) -> Config:
        """Read a config file."""
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise ConfigProblem(
                f"the config cannot be read: {reason}", remedy="Name a readable TOML file.", file=str(path)
            ) from error
        return cls.parse(text, Path(path))

    @classmethod
    def of(cls, schema: Schema, path: str | Path, principles: Sequence[Principle] = (), **data: Any) -> Config:
        """Return the config that states a schema, a data file and principles; for writing one from a program."""
        columns: dict[str, dict[str, Any]] = {}
        names = [*schema.identifiers, *schema.quasi_identifiers, *schema.sensitive, *schema.named_columns()]
        within = {column for parts in schema.vectors.values() for column in parts}
        for name in dict.fromkeys(names):
            declared: dict[str, Any] = {}
            role = Role.SENSITIVE if name in schema.vectors else schema.role(name)
            if (name not in within and role is not Role.OTHER) or name in schema.other:
                declared["role"] = role
            declared |= {
                "kind": schema.kinds.get(name),
                "order": list(schema.orders[name]) if name in schema.orders else None,
                "hierarchy": _hierarchy_section(name, schema.hierarchies.get(name)),
                "separator": schema.separators.get(name),
                "columns": list(schema.vectors[name]) if name in schema.vectors else None,
                "distance": _distance_section(schema.distances.get(name)),
            }
            declared = {key: value for key, value in declared.items() if value is not None}
            if declared:
                columns[name] = declared
        values = None if schema.missing.values is None else list(schema.missing.values)
        return cls.model_validate(
            {
                "data": {"path": str(path), "person_id": schema.person_id, "group": schema.group, **data},
                "columns": columns,
                "missing": {"values": values, "policy": schema.missing.policy},
                "distance": _distance_section(schema.distance),
                "principles": [{"name": p.name, **p.parameters()} for p in principles],
            }
        )

    def to_toml(self) -> str:
        """Write the config as TOML; reading it again gives an equal config."""
        sections = _plain(self.model_dump(mode="python", exclude_none=True, exclude_defaults=True))
        principles = sections.pop("principles", [])
        # one [[principles]] each, as a person would write them
        return tomli_w.dumps(sections) + "".join(f"\n[[principles]]\n{tomli_w.dumps(p)}" for p in principles)

    def save(self, path: str | Path) -> None:
        """Write the config to a file: aside first, then renamed, so that no half-written file is ever seen."""
        target = Path(path)
        text = self.to_toml()
        try:
            handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text)
                Path(temporary).replace(target)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise ConfigProblem(
                f"the config cannot be written: {error.strerror}", remedy="Name a writable file.", file=str(path)
            ) from error

    def _near(self, path: str) -> Path:
        """A path of the config, relative to the config's own folder."""
        return Path(path) if self.source is None else self.source.parent / path

    def _located(self, error: SfumatoError, key: str) -> ConfigProblem:
        """Say in which file and under which key something is wrong."""
        if isinstance(error, ConfigProblem):
            return error
        inner = ".".join(filter(None, (key, (error.key or "").removeprefix("distance."))))
        return self._wrong(error.problem, error.remedy, inner, error.value, error.column)

    def _wrong(self, problem: str, remedy: str, key: str, value: Any = None, column: str | None = None) -> ConfigProblem:
        name = None if self.source is None else str(self.source)
        return ConfigProblem(problem, remedy=remedy, file=name, key=key, value=value, column=column)

    @property
    def schema(self) -> Schema:  # type: ignore[override]  # a long deprecated method of pydantic has this name
        """The schema that the config declares."""

        def of_role(role: Role) -> list[str]:
            return [name for name, column in self.columns.items() if column.role is role]

        columns = self.columns.items()
        within = {part for _, column in columns for part in column.columns or ()}
        vectors = {name: column.columns for name, column in columns if column.columns is not None}
        distances = {
            name: self._distance(column.distance, f"columns.{name}.distance")
            for name, column in columns
            if column.distance is not None
        }
        whole = None if self.distance is None else self._distance(self.distance, "distance")
        try:
            return Schema(
                quasi_identifiers=of_role(Role.QUASI_IDENTIFIER),
                sensitive=of_role(Role.SENSITIVE),
                identifiers=of_role(Role.IDENTIFIER),
                other=[name for name in of_role(Role.OTHER) if name not in within],
                kinds={name: column.kind for name, column in columns if column.kind is not None},
                orders={name: column.order for name, column in columns if column.order is not None},
                hierarchies={
                    name: self._hierarchy(column.hierarchy, name) for name, column in columns if column.hierarchy is not None
                },
                vectors=vectors,
                separators={name: column.separator for name, column in columns if column.separator is not None},
                distance=whole,
                distances=distances,
                missing=Missing(None if self.missing.values is None else tuple(self.missing.values), self.missing.policy),
                person_id=self.data.person_id,
                group=self.data.group,
            )
        except SfumatoError as error:
            raise self._located(error, f"columns.{error.column}" if error.column else "") from error

    def _hierarchy(self, declared: str | HierarchySection, column: str) -> Path | Intervals | Flat:
        if isinstance(declared, str):
            return self._near(declared)
        key = f"columns.{column}.hierarchy"
        if declared.intervals is not None and not declared.flat:
            try:
                return Intervals(tuple(declared.intervals), declared.origin)
            except SfumatoError as error:
                raise self._located(error, key) from error
        if declared.flat and declared.intervals is None:
            return Flat()
        raise self._wrong(
            "a hierarchy is either intervals or flat",
            "Write a file name, { intervals = [5, 10] } or { flat = true }.",
            key,
        )

    def _distance(self, declared: Mapping[str, Any], key: str) -> Distance:
        parameters = dict(declared)
        name = parameters.pop("kind", None)
        kind = DISTANCES.get(str(name))
        if kind is None:
            problem = f"the distance kind {name!r} is unknown" if name else "a distance has no kind"
            raise self._wrong(problem, f"Write one of: {', '.join(DISTANCES)}.", f"{key}.kind", name)
        known = [field.name for field in fields(kind)]  # type: ignore[arg-type]
        remedy = f"Its parameters are: {', '.join(known) or 'none'}."
        for parameter, value in parameters.items():
            if parameter not in known:
                problem = f"the distance {name!r} has no parameter {parameter!r}"
                raise self._wrong(problem, remedy, f"{key}.{parameter}", value)
        if name == Custom.name:
            if not isinstance(parameters.get("function"), str):
                problem = "a distance of the kind 'function' names no function"
                raise self._wrong(problem, 'Write function = "module:function".', f"{key}.function")
            if self.source is not None and str(self.source.parent.resolve()) not in sys.path:
                # like a script's own folder: a module beside the config can be named
                sys.path.insert(0, str(self.source.parent.resolve()))
        try:
            return kind(**parameters)
        except SfumatoError as error:
            raise self._located(error, key) from error
        except (TypeError, AttributeError) as error:
            problem = f"a parameter of the distance {name!r} has the wrong type: {error}"
            raise self._wrong(problem, remedy, key) from error

    @property
    def asked(self) -> tuple[Principle, ...]:
        """The principles that the config asks for."""
        found = []
        for position, declared in enumerate(self.principles):
            parameters = dict(declared)
            name = parameters.pop("name", "")
            try:
                found.append(principle_of(str(name), parameters))
            except SfumatoError as error:
                raise self._located(error, f"principles[{position}]") from error
        return tuple(found)

    def table(self) -> Table:
        """Read the data."""
        path = self._near(self.data.path)
        return read_table(path, self.schema, delimiter=self.data.delimiter, encoding=self.data.encoding)


_HINTS = {
    "principles": "Write [[principles]], in double brackets, before each one.",
    "distance": 'Write a table, such as { kind = "lp" }.',
    "columns": "Write a table, such as [columns.age].",
}
"""What to write where something of another type stands, by the last word of the key."""


def _problem(error: ValidationError, name: str | None) -> ConfigProblem:
    """The first thing that is wrong, under the key as the user wrote it; a misspelt key before what it leaves missing."""
    problems = error.errors(include_url=False)
    first = next((problem for problem in problems if problem["type"] == "extra_forbidden"), problems[0])
    # a column's hierarchy is a text or a table; the branch that was not meant is not worth a word
    place = [str(part) for part in first["loc"] if part not in ("str", "HierarchySection")]
    key, last = ".".join(place), place[-1]
    if first["type"] == "extra_forbidden":
        close = get_close_matches(last, _known_keys(place), n=1)
        remedy = f"Did you mean {close[0]!r}?" if close else f"The keys here are: {', '.join(_known_keys(place))}."
        return ConfigProblem("the key is unknown", remedy=remedy, file=name, key=key, value=first["input"])
    if first["type"] == "missing":
        return ConfigProblem("the key is missing", remedy="Add it.", file=name, key=key)
    message = first["msg"][0].lower() + first["msg"][1:]
    shown = repr(first["input"]) if isinstance(first["input"], str | int) else "what stands there"
    return ConfigProblem(
        f"{shown} is not right: {message}", remedy=_HINTS.get(last, "Mend the value."), file=name, key=key,
        value=first["input"],
    )  # fmt: skip


def _known_keys(place: Sequence[str]) -> list[str]:
    """The keys that may stand where an unknown one does."""
    sections: dict[str, type[_Section]] = {
        "data": DataSection, "missing": MissingSection, "method": MethodSection, "output": OutputSection,
    }  # fmt: skip
    if len(place) == 1:
        return [key for key in Config.model_fields if key != "source"]
    if place[0] == "columns":
        return list((HierarchySection if "hierarchy" in place[2:-1] else ColumnSection).model_fields)
    return list(sections[place[0]].model_fields)


def _hierarchy_section(column: str, declared: Any) -> str | dict[str, Any] | None:
    if declared is None:
        return None
    if isinstance(declared, Flat):
        return {"flat": True}
    if isinstance(declared, Intervals):
        return {
            "intervals": [_toml_number(width) for width in declared.widths],
            "origin": _toml_number(declared.origin),
        }
    path = declared.source if isinstance(declared, Hierarchy) else str(declared)
    if path is None:
        raise ConfigProblem(
            "a hierarchy that was built in the program has no file to name",
            remedy="Write it to a file of lines leaf;level1;…;* and declare that.",
            key=f"columns.{column}.hierarchy",
        )
    return str(path)


def _distance_section(distance: Distance | None) -> dict[str, Any] | None:
    if distance is None:
        return None
    if callable(getattr(distance, "function", None)):
        raise ConfigProblem(
            "a function that was written in the program cannot be written to a config",
            remedy='Put it into a module and name it "module:function".',
            key="distance.function",
        )
    return {"kind": distance.name, **distance.parameters()}


def _toml_number(value: Any) -> int | str:
    return value if isinstance(value, int) else str(value)


def _plain(value: Any) -> Any:
    """Values that TOML has: enumerations as their text."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, Role | Kind) else value
