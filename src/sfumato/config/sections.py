"""The sections of a config file, each with its keys."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from sfumato.data.schema import Kind, Role
from sfumato.masking import masked
from sfumato.summaries import short_call


class Section(BaseModel):
    """Part of a config: unknown keys are refused, and nothing changes after reading."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Mask passwords of databases: a repr ends up in tracebacks and logs."""
        for name, value in super().__repr_args__():
            yield name, masked(value) if isinstance(value, str) else value

    def __repr__(self) -> str:
        return short_call(self, self.__repr_args__())


class DataSection(Section):
    """`[data]`: the file or database of the table, and how to read it."""

    path: str
    query: str | None = None
    table: str | None = None
    sheet: str | None = None
    delimiter: str | None = Field(default=None, min_length=1, max_length=1)
    encoding: str | None = None
    undeclared: Literal["drop", "refuse", "keep"] = "drop"
    person_id: str | None = None
    household_id: str | None = None
    group: str | None = None


class PopulationSection(Section):
    """`[population]`: the people from whom those of the table were drawn, and how to read them."""

    path: str
    query: str | None = None
    table: str | None = None
    sheet: str | None = None
    delimiter: str | None = Field(default=None, min_length=1, max_length=1)
    encoding: str | None = None


_Ends = list[int | Decimal | str]


class HierarchySection(Section):
    """`hierarchy = { … }` of a column: a builder instead of a file, and its parameters."""

    intervals: list[int | Decimal | str] | None = None
    origin: int | Decimal | str | None = None
    flat: bool = False
    prefix: list[int] | None = None
    mask: list[int] | None = None
    side: Literal["right", "left"] | None = None
    character: str | None = None
    ranges: list[_Ends | dict[str, _Ends]] | None = None
    quantiles: list[int] | None = None
    groups: list[dict[str, list[str]]] | None = None
    rest: str | list[str] | None = None
    consecutive: list[int] | None = None
    bounds: list[list[str]] | None = None
    numeric: bool = False
    frequent: list[int] | None = None
    dates: list[str] | None = None
    icd: int | None = None


def _as_text(value: Any) -> Any:
    """Return a date as text: TOML has dates without quotes."""
    return value.isoformat() if isinstance(value, date) else value


class ColumnSection(Section):
    """`[columns.NAME]`: one column, or one vector attribute over several columns."""

    role: Role | None = None
    kind: Kind | None = None
    order: list[str] | None = None
    hierarchy: str | HierarchySection | None = None
    recoding: Literal["interval", "ancestor", "set"] | None = None
    separator: str | None = Field(default=None, min_length=1)
    decimal: Literal[".", ","] | None = None
    format: str | None = None
    timezone: str | None = None
    age_at: Annotated[str | None, BeforeValidator(_as_text)] = None
    columns: list[str] | None = None
    distance: dict[str, Any] | None = None
    accepted: str | None = None
    weight: Any = None
    never_mix: list[Any] | None = None
    coarsest: Any = None


class MissingSection(Section):
    """`[missing]`: which cells are missing, and how they are treated."""

    values: list[str] | None = None
    policy: str = "value"


class MethodSection(Section):
    """`[method]`: how groups are found. All other keys are parameters of the method."""

    model_config = ConfigDict(extra="allow")

    name: str = "auto"
    seed: int | None = Field(default=None, ge=0, strict=True)
    suppress: int | Decimal | str = 0
    resist: list[str] = Field(default_factory=list)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the method."""
        return dict(self.model_extra or {})


class EngineSection(Section):
    """`[engine]`: where the computation runs."""

    name: Literal["local", "stream", "spark"] | None = None
    folder: str | None = None
    master: str | None = None
    timeout: int | float | None = None
    settings: dict[str, str] | None = None

    def options(self, chosen: str | None, master: str | None) -> dict[str, Any]:
        """Return what the engine spark alone has; nothing if another engine is named in place of this one."""
        if chosen not in (self.name, "spark"):
            return {"master": master}
        return {"master": master or self.master, "timeout": self.timeout, "settings": self.settings}


class AnatomySection(Section):
    """`[anatomy]`: the sensitive attributes of each table of secrets."""

    plan: list[list[str]] | None = None


class OutputSection(Section):
    """`[output]`: the folder and format of the release, a database table for its rows, and the internal report."""

    path: str | None = None
    format: Literal["csv", "parquet"] = "csv"
    database: str | None = None
    table: str | None = None
    internal: str | None = None
    unchanged_limit: int | Decimal | str = 0
    key: str | None = None
