"""The config file: what is published, how it is declared, and what must hold; read and written as TOML."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import Field, ValidationError

from sfumato.anonymization._anonymize import checked_share
from sfumato.anonymization.methods import AUTO, Method, default_method, method_of
from sfumato.config.project_section import ProjectSection
from sfumato.config.risk_section import RiskSection
from sfumato.config.sections import ColumnSection, DataSection, MethodSection, MissingSection, OutputSection, Section
from sfumato.config.validation_errors import problem_of
from sfumato.data.hierarchy import Hierarchy
from sfumato.data.schema import Kind, Role, Schema
from sfumato.data.table import Table
from sfumato.disclosure import RiskAssumptions, Setting
from sfumato.distances import Custom, Distance
from sfumato.errors import ConfigError, ParameterError, SfumatoError
from sfumato.io.atomic_replace import write_file
from sfumato.io.database_uri import beside, expanded, is_uri, shown
from sfumato.io.read_table import read_table
from sfumato.principles import Principle, principle_of
from sfumato.serialization import distance_of, hierarchy_of, hierarchy_section, located, schema_of, stated

FORMAT = 1
"""The version of the config's format that is written, and the newest that is read."""


class Config(Section):
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

    format: int = Field(default=FORMAT, ge=1, strict=True)
    data: DataSection
    columns: dict[str, ColumnSection] = Field(default_factory=dict)
    missing: MissingSection = Field(default_factory=MissingSection)
    distance: dict[str, Any] | None = None
    principles: list[dict[str, Any]] = Field(default_factory=list)
    method: MethodSection | None = None
    output: OutputSection | None = None
    risk: RiskSection | None = None
    project: ProjectSection | None = None
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
            raise ConfigError(f"the file is not TOML: {error}", remedy=remedy, file=name) from error
        if isinstance(raw.get("format"), int) and raw["format"] > FORMAT:
            raise ConfigError(
                f"the config is of format {raw['format']}, and this version reads up to {FORMAT}",
                remedy="Use a newer version of sfumato.",
                file=name,
                key="format",
                value=raw["format"],
            )
        if "source" in raw:
            raise ConfigError("the key is unknown", remedy="Drop it.", file=name, key="source")
        try:
            config = cls.model_validate({**raw, "source": source})
        except ValidationError as error:
            raise problem_of(error, name, cls) from None
        # what needs no data is checked now, so that errors name the key and not some later step
        _ = (config.schema, config.asked)
        config._check_method()
        config._check_sections()
        return config

    @classmethod
    def load(cls, path: str | Path) -> Config:
        """Read a config file."""
        if is_uri(path):
            raise ConfigError(
                "this is a database, and no config", remedy="Name it as data.path in a TOML file.", file=shown(path)
            )
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise ConfigError(
                f"the config cannot be read: {reason}", remedy="Name a readable TOML file.", file=str(path)
            ) from error
        return cls.parse(text, Path(path))

    @classmethod
    def of(
        cls,
        schema: Schema,
        path: str | Path,
        principles: Sequence[Principle] = (),
        method: Method | None = None,
        **data: Any,
    ) -> Config:
        """Return the config that states a schema, a data file, principles and a method; to write one from a program."""
        return cls.model_validate(
            {
                **stated(schema, _hierarchy_section, _distance_section),
                "data": {"path": str(path), "person_id": schema.person_id, "group": schema.group, **data},
                "principles": [{"name": p.name, **p.parameters()} for p in principles],
                "method": None if method is None else {"name": method.name, **method.parameters()},
            }
        )

    def to_toml(self) -> str:
        """Write the config as TOML; reading it again gives an equal config."""
        sections = _plain(self.model_dump(mode="python", exclude_none=True, exclude_defaults=True))
        principles = sections.pop("principles", [])
        # one [[principles]] each, as a person would write them
        sections = {"format": self.format, **sections}
        return tomli_w.dumps(sections) + "".join(f"\n[[principles]]\n{tomli_w.dumps(p)}" for p in principles)

    def save(self, path: str | Path) -> None:
        """Write the config to a file: aside first, then renamed, so that no half-written file is ever seen."""
        write_config(path, self.to_toml())

    def _near(self, path: str) -> Path:
        """A path of the config, relative to the config's own folder."""
        return Path(path) if self.source is None else self.source.parent / path

    def _located(self, error: SfumatoError, key: str) -> ConfigError:
        """Say in which file and under which key something is wrong."""
        found = error if isinstance(error, ConfigError) else located(error, key)
        if found.file is None and self.source is not None:
            return ConfigError(
                found.problem,
                remedy=found.remedy,
                file=str(self.source),
                key=found.key,
                column=found.column,
                value=found.value,
            )
        return found

    def under(self, section: str, error: SfumatoError) -> ConfigError:
        """An error that was met with the data, under the key of this file that it is about."""
        return self._located(located(error, section), "")

    @property
    def schema(self) -> Schema:  # type: ignore[override]  # a long deprecated method of pydantic has this name
        """The schema that the config declares."""
        declared = self.model_dump(mode="python", exclude_none=True, include={"columns", "missing", "distance"})

        def hierarchy(section: Any, key: str) -> Any:
            return self._near(section) if isinstance(section, str) else hierarchy_of(section, key)

        try:
            return schema_of(declared, hierarchy, self._distance, person_id=self.data.person_id, group=self.data.group)
        except ConfigError as error:
            raise self._located(error, "") from error

    def _distance(self, declared: Mapping[str, Any], key: str) -> Distance:
        if declared.get("kind") == Custom.name and self.source is not None:
            # like a script's own folder: a module beside the config can be named
            beside = str(self.source.parent.resolve())
            if beside not in sys.path:
                sys.path.insert(0, beside)
        return distance_of(declared, key)

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

    @property
    def finder(self) -> Method:
        """The method that is to find the groups."""
        section = self.method or MethodSection()
        try:
            if section.name == AUTO and not section.parameters:
                return default_method(self.asked)
            return method_of(section.name, section.parameters)
        except SfumatoError as error:
            found = self._located(error, "method")
            if error.key in section.parameters and error.remedy.startswith("Its parameters are"):
                found = ConfigError(
                    found.problem,
                    remedy=f"{found.remedy.removesuffix('.')}; beside {', '.join(MethodSection.model_fields)}.",
                    file=found.file,
                    key=found.key,
                    value=found.value,
                )
            raise found from error

    def wishes(self) -> tuple[Principle, ...]:
        """The principles that the config asks for, where there must be one."""
        if not self.asked:
            raise ConfigError(
                "the config asks for no principle",
                remedy='Add one, such as [[principles]] with name = "k-anonymity" and k = 5.',
                file=None if self.source is None else str(self.source),
                key="principles",
            )
        return self.asked

    @property
    def folder(self) -> Path | None:
        """The folder that the release goes to, if the config says."""
        return None if self.output is None else self._near(self.output.path)

    @property
    def internal(self) -> Path | None:
        """The file that the internal report goes to, if the config says."""
        return None if self.output is None or self.output.internal is None else self._near(self.output.internal)

    def _check_method(self) -> None:
        """Check what `[method]` declares; the plain default needs no check."""
        section = self.method or MethodSection()
        try:
            checked_share(section.suppress)
        except SfumatoError as error:
            raise self._located(located(error, "method"), "") from error
        if section.name != "auto" or section.parameters:
            _ = self.finder

    def _check_sections(self) -> None:
        """Check what `[risk]` and `[project]` declare, as far as that needs no data."""
        try:
            (self.risk or RiskSection()).check()
            (self.project or ProjectSection()).check()
        except SfumatoError as error:
            raise self._located(error, "") from error

    def setting(self, path: str | Path | None = None) -> Setting:
        """The records beside every dictionary of `[risk]`; the table itself is the dictionary if none is named."""
        records = self.table(path)
        try:
            return (self.risk or RiskSection()).setting(records, self._resolve)
        except ConfigError as error:
            raise self._located(error, "") from error

    def risk_assumptions(self, path: str | Path | None = None) -> RiskAssumptions:
        """What `[risk]` measures the risk against: `sf.verify` measures the risk of a withheld release again from it."""
        try:
            return (self.risk or RiskSection()).assumptions(self.table(path), self._resolve)
        except ConfigError as error:
            raise self._located(error, "") from error

    def _resolve(self, given: str) -> str | Path:
        """The database or file that a path of the config names."""
        found = expanded(given, os.environ)
        return self._database(found) if is_uri(found) else self._near(found)

    def table(self, path: str | Path | None = None) -> Table:
        """Read the data; from another path than the config's own, if one is given."""
        how = self.data.model_dump(include={"query", "table", "sheet", "delimiter", "encoding"})
        if path is not None:
            return read_table(path, self.schema, **how)
        try:
            path = expanded(self.data.path, os.environ)
        except ConfigError as error:
            raise self._located(located(error, "data.path"), "") from error
        try:
            return read_table(self._database(path) if is_uri(path) else self._near(path), self.schema, **how)
        except ParameterError as error:  # a key that does not go with the path
            raise self._located(located(error, "data"), "") from error

    @property
    def sink(self) -> tuple[str, str] | None:
        """The database and the table that the published rows go to beside the folder, if the config says."""
        if self.output is None or (self.output.database is None and self.output.table is None):
            return None
        missing = [key for key in ("database", "table") if getattr(self.output, key) is None]
        try:
            if missing:
                raise ConfigError("the key is missing", remedy="Write both output.database and output.table.")
            return self._database(expanded(str(self.output.database), os.environ)), str(self.output.table)
        except ConfigError as error:
            raise self._located(located(error, f"output.{(missing or ['database'])[0]}"), "") from error

    def _database(self, uri: str) -> str:
        """A database URI of the config: a file in it is relative to the config's own folder."""
        return uri if self.source is None else beside(uri, self.source.parent)


def write_config(path: str | Path, text: str) -> None:
    """Write a config's text to a file: aside first, then renamed, so that no half-written file is ever seen."""
    try:
        write_file(Path(path), lambda file: file.write(text.encode()))
    except OSError as error:
        raise ConfigError(
            f"the config cannot be written: {error.strerror}", remedy="Name a writable file.", file=str(path)
        ) from error


def _hierarchy_section(column: str, declared: Any) -> str | dict[str, Any]:
    built = hierarchy_section(declared)
    if built is not None:
        return built
    path = declared.source if isinstance(declared, Hierarchy) else str(declared)
    if path is None:
        raise ConfigError(
            "a hierarchy that was built in the program has no file to name",
            remedy="Write it to a file of lines leaf;level1;…;* and declare that.",
            key=f"columns.{column}.hierarchy",
        )
    return str(path)


def _distance_section(distance: Distance | None) -> dict[str, Any] | None:
    if distance is None:
        return None
    if callable(getattr(distance, "function", None)):
        raise ConfigError(
            "a function that was written in the program cannot be written to a config",
            remedy='Put it into a module and name it "module:function".',
            key="distance.function",
        )
    return {"kind": distance.name, **distance.parameters()}


def _plain(value: Any) -> Any:
    """Values that TOML has: enumerations as their text."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, Role | Kind) else value
