"""The config file: what is published, how it is declared, and what must hold. Read from TOML and written as TOML.

Loading a config imports no method, report, release, disclosure or projection code; the properties that need it import it.
Nor does it import a kernel, because numba takes longer to import than all the rest: distances and principles import the
kernels that they call inside the functions that call them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli_w
from pydantic import Field, ValidationError

from sfumato.config.after_section import AfterSection
from sfumato.config.project_section import ProjectSection
from sfumato.config.risk_section import RiskSection
from sfumato.config.sections import (
    AnatomySection,
    ColumnSection,
    DataSection,
    EngineSection,
    MethodSection,
    MissingSection,
    OutputSection,
    PopulationSection,
    Section,
)
from sfumato.config.toml_text import config_text, read_toml
from sfumato.config.toml_values import toml_distance, toml_hierarchy, toml_value
from sfumato.config.validation_errors import config_error
from sfumato.data.schema import Schema
from sfumato.distances import Custom, Distance
from sfumato.engines import Engine, engine_of
from sfumato.errors import ConfigError, ParameterError, SfumatoError
from sfumato.exact import as_parameter
from sfumato.io.atomic_replace import write_file
from sfumato.io.database_uri import beside, expanded, is_uri, shown
from sfumato.io.missing_files import refuse_missing
from sfumato.io.read_spark import is_spark_uri, open_spark
from sfumato.parameters import check_ratio, check_share
from sfumato.principles import Principle, attributes_of, principle_of
from sfumato.registry import METHODS
from sfumato.resistance import check_resist
from sfumato.serialization import distance_of, hierarchy_of, located, schema_of, stated
from sfumato.user_code import CodeLocation

if TYPE_CHECKING:
    from sfumato.anonymization.methods import Method
    from sfumato.data.population import Population
    from sfumato.data.table import Table
    from sfumato.disclosure import RiskAssumptions, Setting
    from sfumato.disclosure.configured_risk import ConfiguredRisk

FORMAT = 1
"""The version of the config format that is written, and the newest that is read."""

_DATA_FILES = (".csv", ".tsv", ".gz", ".parquet", ".pq", ".xlsx", ".xlsm")
"""How the names of data files end, which are sometimes passed instead of a config."""

_INTERNAL = ("source", "allow_code")
"""Fields of Config that are not keys of the file."""


class Config(Section):
    """A config file, checked: every key is known and of the right type.

    >>> config = Config.parse('''
    ... [data]
    ... path = "people.csv"
    ... [columns.age]
    ... role = "quasi-identifier"
    ... [[principles]]
    ... name = "k-anonymity"
    ... k = 5
    ... ''')
    >>> config.schema.quasi_identifiers, config.requested_principles
    (('age',), (KAnonymity(k=5),))
    """

    format: int = Field(default=FORMAT, ge=1, strict=True)
    data: DataSection
    population: PopulationSection | None = None
    columns: dict[str, ColumnSection] = Field(default_factory=dict)
    missing: MissingSection = Field(default_factory=MissingSection)
    distance: dict[str, Any] | None = None
    preserve: list[Any] | None = None
    principles: list[dict[str, Any]] = Field(default_factory=list)
    method: MethodSection | None = None
    engine: EngineSection | None = None
    output: OutputSection | None = None
    after: AfterSection | None = None
    risk: RiskSection | None = None
    project: ProjectSection | None = None
    anatomy: AnatomySection | None = None
    source: Path | None = Field(default=None, exclude=True)
    """The file that the config was read from; relative paths start at its folder."""
    allow_code: bool = Field(default=False, exclude=True)
    """Whether functions that the config names may be loaded and called."""

    @classmethod
    def parse(cls, text: str, source: Path | None = None, *, allow_code: bool = False) -> Config:
        """Read a config from TOML text; numbers stay the decimals that were written.

        `allow_code`: whether the config may name functions of the user's own. To call one, its file must be run. A config
        that names one is refused by default, because it may come from somebody else.
        """
        file = None if source is None else str(source)
        raw = read_toml(text, file)
        if isinstance(raw.get("format"), int) and raw["format"] > FORMAT:
            raise ConfigError(
                f"the config has format {raw['format']}, and this version reads up to {FORMAT}",
                remedy="Use a newer version of sfumato.",
                file=file,
                key="format",
                value=raw["format"],
            )
        for key in _INTERNAL:
            if key in raw:
                raise ConfigError("the key is unknown", remedy="Remove it.", file=file, key=key)
        try:
            config = cls.model_validate({**raw, "source": source, "allow_code": allow_code})
        except ValidationError as error:
            raise config_error(error, file, cls) from None
        # what needs no data is checked now, so that errors name the key and not a later step
        config._check_scopes()
        config._check_sections()
        return config

    @classmethod
    def load(cls, path: str | Path, *, allow_code: bool = False) -> Config:
        """Read a config file; see `parse` for `allow_code`."""
        if is_uri(path):
            raise ConfigError(
                "this is a database, not a config", remedy="Name it as data.path in a TOML file.", file=shown(path)
            )
        refuse_missing(path, ConfigError)
        if Path(path).suffix.lower() in _DATA_FILES:
            raise ConfigError(
                "this is a data file, not a config",
                remedy=f"Write a config for it first: sfumato init {path}.",
                file=str(path),
            )
        return cls.parse(config_text(Path(path)), Path(path), allow_code=allow_code)

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
        sections = stated(schema, toml_hierarchy, toml_distance)
        units = {key: sections.pop(key) for key in ("person_id", "household_id")}
        distances = [sections["distance"], *(column.get("distance") for column in sections["columns"].values())]
        return cls.model_validate(
            {
                **sections,
                "data": {
                    "path": str(path),
                    "undeclared": schema.undeclared,
                    **units,
                    "group": schema.group,
                    **data,
                },
                "population": None if schema.population is None else schema.population.section(),
                "output": {"unchanged_limit": as_parameter(schema.unchanged_limit)} if schema.unchanged_limit else None,
                "principles": [{"name": p.name, **p.parameters()} for p in principles],
                "method": None if method is None else {"name": method.name, **method.parameters()},
                # the program itself named the function
                "allow_code": any(distance is not None and distance["kind"] == Custom.name for distance in distances),
            }
        )

    def to_toml(self) -> str:
        """Write the config as TOML; reading it again gives an equal config."""
        sections = toml_value(self.model_dump(mode="python", exclude_none=True, exclude_defaults=True))
        principles = sections.pop("principles", [])
        # one [[principles]] each, as a person would write them
        sections = {"format": self.format, **sections}
        return tomli_w.dumps(sections) + "".join(f"\n[[principles]]\n{tomli_w.dumps(p)}" for p in principles)

    def save(self, path: str | Path) -> None:
        """Write the config to a file, at once or not at all."""
        write_config(path, self.to_toml())

    @property
    def _folder(self) -> Path:
        """The folder that relative paths start at."""
        return Path() if self.source is None else self.source.parent

    def _near(self, path: str) -> Path:
        """Return a path of the config, relative to the config's own folder."""
        return Path(path) if self.source is None else self.source.parent / path

    def _located(self, error: SfumatoError, key: str) -> ConfigError:
        """Return an error with the file and the key that it is about."""
        result = error if isinstance(error, ConfigError) else located(error, key)
        if result.file is None and self.source is not None:
            return ConfigError(
                result.problem,
                remedy=result.remedy,
                file=str(self.source),
                key=result.key,
                column=result.column,
                value=result.value,
            )
        return result

    def locate(self, section: str, error: SfumatoError) -> ConfigError:
        """Return an error that appeared with the data, under the key of this file that it is about."""
        return self._located(located(error, section), "")

    @property
    def schema(self) -> Schema:  # type: ignore[override]  # a long deprecated method of pydantic has this name
        """The schema that the config declares."""
        declared = self.model_dump(mode="python", exclude_none=True, include={"columns", "missing", "distance", "preserve"})

        def hierarchy(section: Any, key: str) -> Any:
            return self._near(section) if isinstance(section, str) else hierarchy_of(section, key)

        try:
            more = self.data.model_dump(include={"undeclared", "person_id", "household_id", "group"})
            more |= {"unchanged_limit": self._unchanged_limit, "population": self._population}
            return schema_of(declared, hierarchy, self._distance, **more)
        except ConfigError as error:
            raise self._located(error, "") from error

    @property
    def _population(self) -> Population | None:
        """The population that the config names; nothing of it is read yet."""
        if self.population is None:
            return None
        from sfumato.data.population import Population

        options = self.population.model_dump(exclude={"path"}, exclude_none=True)
        try:
            return Population(self._resolve(self.population.path), options)
        except ConfigError as error:
            raise located(error, "population.path") from error

    @property
    def _unchanged_limit(self) -> Fraction:
        """The largest share of rows that columns published unchanged may single out."""
        try:
            return check_ratio(0 if self.output is None else self.output.unchanged_limit, "unchanged_limit")
        except ParameterError as error:
            raise located(error, "output") from error

    def _distance(self, declared: Mapping[str, Any], key: str) -> Distance:
        function = declared.get("function")
        if str(declared.get("kind")) == Custom.name and isinstance(function, str):
            self._check_code(f"{key}.function", function)
            file = None if self.source is None else str(self.source)
            location = CodeLocation(function, self._folder, file, f"{key}.function")
            location.check_file()
            declared = {**declared, "function": location}
        return distance_of(declared, key)

    def _check_code(self, key: str, function: str) -> None:
        """Raise an error if the config names a function and the user has not allowed that."""
        if not self.allow_code:
            raise ConfigError(
                f"the config names code to run, the function {function!r}, and code is not allowed",
                remedy="Read that code. If you trust it, pass --allow-code (in Python allow_code=True).",
                file=None if self.source is None else str(self.source),
                key=key,
                value=function,
            )

    @property
    def requested_principles(self) -> tuple[Principle, ...]:
        """The principles that the config requests, with their parameters."""
        principles = []
        for position, declared in enumerate(self.principles):
            parameters = dict(declared)
            name = parameters.pop("name", "")
            try:
                principles.append(principle_of(str(name), parameters))
            except SfumatoError as error:
                raise self._located(error, f"principles[{position}]") from error
        return tuple(principles)

    def _check_scopes(self) -> None:
        """Check that each principle names sensitive attributes of the schema."""
        schema = self.schema
        for position, principle in enumerate(self.requested_principles):
            if not schema.sensitive:
                continue  # an audit reports that, if it comes to one
            try:
                attributes_of(principle, schema)
            except SfumatoError as error:
                raise self._located(error, f"principles[{position}]") from error

    def require_principles(self) -> tuple[Principle, ...]:
        """Return the principles that the config requests; none is an error."""
        if not self.requested_principles:
            raise ConfigError(
                "the config requests no principle",
                remedy='Add one, such as [[principles]] with name = "k-anonymity" and k = 5.',
                file=None if self.source is None else str(self.source),
                key="principles",
            )
        return self.requested_principles

    @property
    def grouping_method(self) -> Method:
        """The method that finds the groups; its parameters are checked here, not when the config is loaded."""
        from sfumato.anonymization.methods import AUTO, default_method, method_of
        from sfumato.anonymization.methods.method_choice import refuse_other_method

        section = self.method or MethodSection()
        try:
            if section.name == AUTO and not section.parameters:
                return default_method(self.requested_principles, section.resist)
            method = method_of(section.name, section.parameters)
            refuse_other_method(method, section.resist)
            return method
        except SfumatoError as error:
            result = self._located(error, "method")
            if error.key in section.parameters and error.remedy.startswith("Its parameters are"):
                result = ConfigError(
                    result.problem,
                    remedy=f"{result.remedy.removesuffix('.')}; in addition to {', '.join(MethodSection.model_fields)}.",
                    file=result.file,
                    key=result.key,
                    value=result.value,
                )
            raise result from error

    def resisting(self, resist: Sequence[str]) -> Config:
        """Return the same config with other attacks that the groups must withstand; itself if none is given."""
        section = (self.method or MethodSection()).model_copy(update={"resist": list(check_resist(resist))})
        return self.model_copy(update={"method": section}) if resist else self

    def chosen_engine(
        self, name: str | None = None, data: str | Path | None = None, folder: Path | None = None, master: str | None = None
    ) -> Engine:
        """Return the engine that a name, the config or the size of the data requests.

        `data`, `master`: in place of the config's own. `folder`: where large arrays are if the config does not say so.
        """
        section = self.engine or EngineSection()
        path = self.data_source(data)
        try:
            own = None if section.folder is None else self._near(section.folder)
            chosen = name or section.name
            options = section.options(chosen, master)
            return engine_of(chosen, None if is_uri(str(path)) else path, own or folder, **options)
        except SfumatoError as error:
            raise self._located(error, "engine") from error

    @property
    def output_folder(self) -> Path | None:
        """The folder that the release is written to, if the config declares one."""
        return None if self.output is None or self.output.path is None else self._near(self.output.path)

    @property
    def internal_report(self) -> Path | None:
        """The file that the internal report is written to, if the config declares one."""
        return None if self.output is None or self.output.internal is None else self._near(self.output.internal)

    @property
    def key_file(self) -> Path | None:
        """The file that the key is written to, which says whose row each published row is, if the config declares one."""
        return None if self.output is None or self.output.key is None else self._near(self.output.key)

    @property
    def follows(self) -> dict[str, Any]:
        """The release that a new version of the table follows, as arguments of `sf.anonymize`."""
        return {} if self.after is None else self.after.arguments(self._near)

    def _check_sections(self) -> None:
        """Check what `[method]`, `[risk]` and `[project]` declare, as far as that needs neither data nor their code."""
        section = self.method or MethodSection()
        risk = self.risk or RiskSection()
        try:
            self._check_method_name(section.name)
            try:
                check_share(section.suppress)
                check_resist(section.resist)
            except SfumatoError as error:
                raise located(error, "method") from error
            for key, function in risk.functions():
                self._check_code(key, str(function))
            risk.check()
            (self.project or ProjectSection()).check()
            if self.after is not None:
                self.after.check()
        except SfumatoError as error:
            raise self._located(error, "") from error

    @staticmethod
    def _check_method_name(name: str) -> None:
        """Raise an error if no method has this name; no method is imported for that."""
        if name != "auto" and name not in METHODS:
            raise ConfigError(f"there is no method {name!r}", remedy=METHODS.suggestion(name), key="method.name", value=name)

    def _configured_risk(self) -> ConfiguredRisk:
        from sfumato.disclosure.configured_risk import ConfiguredRisk

        return ConfiguredRisk.of(self.risk or RiskSection(), self._folder, self._resolve, self._check_code)

    def setting(self, path: str | Path | None = None, *, publish: bool = False) -> Setting:
        """Match the records with every dictionary of `[risk]`; without any, the table itself is the dictionary.

        `publish`: the records are to be published, with cells withheld, so a column needs a role.
        """
        try:
            return self._configured_risk().setting(self.table(path), publish)
        except ConfigError as error:
            raise self._located(error, "") from error

    def risk_assumptions(self, path: str | Path | None = None) -> RiskAssumptions:
        """Return what `[risk]` measures the risk against; `sf.verify` measures that of a withheld release again from it."""
        try:
            return self._configured_risk().assumptions(self.table(path))
        except ConfigError as error:
            raise self._located(error, "") from error

    def _resolve(self, path: str) -> str | Path:
        """Return the database or file that a path of the config names."""
        result = expanded(path, os.environ)
        return self._database(result) if is_uri(result) else self._near(result)

    def data_source(self, path: str | Path | None = None) -> str | Path:
        """Return the database or file that `data.path` names; `path` instead, if it is given."""
        if path is not None:
            return path
        try:
            return self._resolve(self.data.path)
        except ConfigError as error:
            raise self._located(located(error, "data.path"), "") from error

    def table(self, path: str | Path | None = None) -> Table:
        """Read the data; from `path` instead of the config's own, if it is given."""
        from sfumato.io.read_table import read_table

        options = self.data.model_dump(include={"query", "table", "sheet", "delimiter", "encoding"})
        if path is not None:
            return read_table(path, self.schema, **options)
        path = self.data_source()
        try:
            return read_table(path, self.schema, **options)
        except ParameterError as error:  # a key that cannot be combined with this path
            raise self._located(located(error, "data"), "") from error

    def spark_frame(self) -> tuple[Any, str] | None:
        """Return the table or query of Spark that `data` names, of which nothing is read yet, and its name; None for others.

        It needs an active session.
        """
        path = self.data_source()
        if not is_spark_uri(path):
            return None
        try:
            return open_spark(str(path), self.data.query, self.data.table)
        except ParameterError as error:
            raise self._located(located(error, "data"), "") from error

    @property
    def sink(self) -> tuple[str, str] | None:
        """The database and the table that the published rows are written to as well, if the config declares them."""
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
        """Return a database URI of the config; a file in it is relative to the config's own folder."""
        return uri if self.source is None else beside(uri, self.source.parent)


def write_config(path: str | Path, text: str) -> None:
    """Write a config's text to a file: to a temporary one first, then renamed, so that no partial file is ever visible."""
    try:
        write_file(Path(path), lambda file: file.write(text.encode()))
    except OSError as error:
        raise ConfigError(
            f"the config cannot be written: {error.strerror}", remedy="Name a writable file.", file=str(path)
        ) from error
