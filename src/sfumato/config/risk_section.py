"""`[risk]`: what an attacker may know, how sensitive what he learns is, and how much is disclosed."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from sfumato.config.sections import Section
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.disclosure import (
    SENSITIVITIES,
    Additive,
    Consistency,
    Dictionary,
    RiskAssumptions,
    Sensitivity,
    Setting,
    consistency_of,
    setting_of,
)
from sfumato.errors import ConfigError, SfumatoError
from sfumato.exact import as_fraction
from sfumato.io.read_table import read_table
from sfumato.registry import build
from sfumato.serialization import located

_READING = {"query", "table", "sheet", "delimiter", "encoding"}
"""How the source of a dictionary is read: as that of the data."""


class DictionarySection(Section):
    """One of `[[risk.dictionaries]]`: what an attacker may know; the table itself, if no path is given."""

    name: str | None = None
    path: str | None = None
    query: str | None = None
    table: str | None = None
    sheet: str | None = None
    delimiter: str | None = Field(default=None, min_length=1, max_length=1)
    encoding: str | None = None
    identity: str | None = None
    columns: dict[str, str] = Field(default_factory=dict)
    weight: str | None = None
    missing: list[str] | None = None
    prior: int | Decimal | str | None = None


class RiskSection(Section):
    """`[risk]`: the records' side, the dictionaries, and what is to be disclosed."""

    identity: str | None = None
    attributes: list[str] | None = None
    sensitivity: dict[str, Any] | None = None
    consistency: dict[str, str | dict[str, Any]] = Field(default_factory=dict)
    misfits: int = Field(default=0, ge=0, strict=True)
    dictionaries: list[DictionarySection] = Field(default_factory=list)
    limit: int | Decimal | str | None = None
    disclose: int | str | None = None
    per: Literal["record", "attribute", "table"] = "record"
    against: Literal["prior", "worst"] | None = None

    def check(self) -> None:
        """Check what needs no data: weights, thresholds, the prior."""
        self.sensitivities()
        self.consistencies()
        if self.limit is not None and as_fraction(self.limit, "risk.limit") < 0:
            remedy = "Write what the risk may be at most, such as 0.05."
            raise ConfigError("the limit is negative", remedy=remedy, key="risk.limit", value=self.limit)

    def sensitivities(self) -> Sensitivity | None:
        """The sensitivity that is declared."""
        if self.sensitivity is None:
            return None
        parameters = dict(self.sensitivity)
        kind = str(parameters.pop("kind", "additive"))
        if kind not in SENSITIVITIES:
            raise ConfigError(
                f"the sensitivity {kind!r} is unknown",
                remedy=f"Write one of: {', '.join(SENSITIVITIES)}.",
                key="risk.sensitivity.kind",
                value=kind,
            )
        try:
            return build(SENSITIVITIES[kind], f"the sensitivity {kind!r}", parameters)
        except SfumatoError as error:
            raise located(error, "risk.sensitivity") from error

    def consistencies(self) -> dict[str, Consistency]:
        """The consistency of each attribute for which one is declared."""
        found: dict[str, Consistency] = {}
        for attribute, declared in self.consistency.items():
            try:
                found[attribute] = consistency_of(declared)
            except SfumatoError as error:
                inner = str(error.key).removeprefix("consistency.")
                raise ConfigError(
                    error.problem, remedy=error.remedy, key=f"risk.consistency.{attribute}.{inner}", value=error.value
                ) from error
        return found

    def read_dictionaries(self, records: Table, find: Callable[[str], str | Path]) -> list[Dictionary]:
        """Read the dictionaries; without any, the table itself is the dictionary. `find` resolves a path of the config."""
        dictionaries = [self._dictionary(number, records, find) for number in range(len(self.dictionaries))]
        # `Dictionary.of` raises an error if two rows have the same identity
        return dictionaries or [Dictionary.of(records, self.identity)]

    def assumptions(self, records: Table, find: Callable[[str], str | Path]) -> RiskAssumptions:
        """What the risk is measured against, as plain data, for verification."""
        prior = self._prior()
        return RiskAssumptions(
            tuple(self.read_dictionaries(records, find)),
            (self.sensitivities() or Additive()).to_dict(),
            {name: how.parameters() for name, how in self.consistencies().items()},
            self.misfits,
            None if prior is None else tuple(as_fraction(share, "prior") for share in prior),
            self.identity,
        )

    def _prior(self) -> list[int | Decimal | str] | None:
        shares = [section.prior for section in self.dictionaries]
        if None in shares and any(share is not None for share in shares):
            remedy = "Write a prior for every dictionary, or for none."
            key = f"risk.dictionaries.{shares.index(None)}.prior"
            raise ConfigError("the key is missing", remedy=remedy, key=key)
        return [share for share in shares if share is not None] or None

    def setting(self, records: Table, find: Callable[[str], str | Path]) -> Setting:
        """Match the records with each dictionary. `find` resolves a path of the config."""
        dictionaries = self.read_dictionaries(records, find)
        try:
            return setting_of(
                records,
                None,
                dictionaries,
                attributes=self.attributes,
                identity=self.identity,
                sensitivity=self.sensitivities(),
                consistency=self.consistencies(),
                misfits=self.misfits,
                prior=self._prior(),
            )
        except SfumatoError as error:
            if error.key is None:
                raise
            raise located(error, "risk") from error

    def _dictionary(self, number: int, records: Table, find: Callable[[str], str | Path]) -> Dictionary:
        section, key = self.dictionaries[number], f"risk.dictionaries.{number}"
        try:
            source = records
            if section.path is not None:
                source = read_table(find(section.path), Schema(), **section.model_dump(include=_READING))
            usual = "the table itself" if section.path is None else Path(section.path).name
            return Dictionary(
                source,
                identity=section.identity,
                columns=section.columns,
                name=section.name or usual,
                weight=section.weight,
                missing=section.missing if section.missing is None else tuple(section.missing),
            )
        except SfumatoError as error:
            if error.file is not None and error.key is None:
                raise  # the file is at fault, not what the config says of it
            raise located(error, key) from error
