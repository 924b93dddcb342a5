"""Build the objects that the `[risk]` section of a config describes: sensitivity, consistency, dictionaries, setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.disclosure.consistency.consistency import Consistency
from sfumato.disclosure.consistency.consistency_kinds import consistency_of
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.disclosure.generalized.attribute_levels import read_levels, written_shares
from sfumato.disclosure.risk_assumptions import RiskAssumptions
from sfumato.disclosure.sensitivity.sensitivity import SENSITIVITIES, Additive, Sensitivity
from sfumato.disclosure.setting import Setting, setting_of, with_containment
from sfumato.errors import ConfigError, SfumatoError
from sfumato.exact import as_fraction
from sfumato.io.read_table import read_table
from sfumato.registry import build
from sfumato.serialization import located
from sfumato.user_code import CodeLocation

if TYPE_CHECKING:
    from sfumato.config.risk_section import RiskSection

_READING = {"query", "table", "sheet", "delimiter", "encoding"}
"""How the source of a dictionary is read, as for the data."""


@dataclass(frozen=True)
class ConfiguredRisk:
    """What `[risk]` describes. Making it checks the parameters of the sensitivity and of every consistency.

    >>> from sfumato.config.risk_section import RiskSection
    >>> ConfiguredRisk.of(RiskSection(consistency={"age": "equality"}), Path(), Path, print).consistency
    {'age': EqualityConsistency()}
    """

    section: RiskSection
    sensitivity: Sensitivity | None
    consistency: dict[str, Consistency]
    resolve: Callable[[str], str | Path]
    """Returns the file or database that a path of the config names."""

    @classmethod
    def of(
        cls,
        section: RiskSection,
        folder: Path,
        resolve: Callable[[str], str | Path],
        check_code: Callable[[str, str], None],
    ) -> ConfiguredRisk:
        """Build what needs no data.

        `folder`: that of the config, which a function of the user's own is relative to. `check_code`: is called with the
        key and the name of each function before it is built, and raises an error if the user has not allowed code.
        """
        return cls(section, _sensitivity(section, folder, check_code), _consistency(section), resolve)

    def setting(self, records: Table, publish: bool = False) -> Setting:
        """Match the records with each dictionary. `publish`: the records are to be published, with cells withheld."""
        dictionaries = self._dictionaries(records)
        try:
            return setting_of(
                records,
                None,
                dictionaries,
                attributes=self.section.attributes,
                identity=self.section.identity,
                sensitivity=self.sensitivity,
                consistency=self.consistency,
                misfits=self.section.misfits,
                prior=self.section.prior(),
                generalize=self.section.generalize,
                publish=publish,
            )
        except SfumatoError as error:
            if error.key is None:
                raise
            raise located(error, "risk") from error

    def assumptions(self, records: Table) -> RiskAssumptions:
        """Return what the risk is measured against as plain data, for verification."""
        prior = self.section.prior()
        try:
            generalize = self.section.generalize
            levels = read_levels(records, list(generalize), generalize)
        except SfumatoError as error:
            raise located(error, "risk") from error
        return RiskAssumptions(
            tuple(self._dictionaries(records)),
            (self.sensitivity or Additive()).to_dict(),
            {name: how.parameters() for name, how in with_containment(self.consistency, levels).items()},
            self.section.misfits,
            None if prior is None else tuple(as_fraction(share, "prior") for share in prior),
            self.section.identity,
            written_shares(levels),
        )

    def _dictionaries(self, records: Table) -> list[Dictionary]:
        """Read the dictionaries; without any, the table itself is the dictionary."""
        dictionaries = [self._dictionary(number, records) for number in range(len(self.section.dictionaries))]
        # `Dictionary.of` raises an error if two rows have the same identity
        return dictionaries or [Dictionary.of(records, self.section.identity)]

    def _dictionary(self, number: int, records: Table) -> Dictionary:
        section, key = self.section.dictionaries[number], f"risk.dictionaries.{number}"
        try:
            source = records
            if section.path is not None:
                source = read_table(self.resolve(section.path), Schema(), **section.model_dump(include=_READING))
            default_name = "the table itself" if section.path is None else Path(section.path).name
            return Dictionary(
                source,
                identity=section.identity,
                columns=section.columns,
                name=section.name or default_name,
                weight=section.weight,
                missing=section.missing if section.missing is None else tuple(section.missing),
            )
        except SfumatoError as error:
            if error.file is not None and error.key is None:
                raise  # the file is at fault, not what the config declares about it
            raise located(error, key) from error


def _sensitivity(section: RiskSection, folder: Path, check_code: Callable[[str, str], None]) -> Sensitivity | None:
    """Return the sensitivity that is declared."""
    if section.sensitivity is None:
        return None
    parameters = dict(section.sensitivity)
    kind = str(parameters.pop("kind", "additive"))
    if kind not in SENSITIVITIES:
        raise ConfigError(
            f"the sensitivity {kind!r} is unknown",
            remedy=f"Write one of: {', '.join(SENSITIVITIES)}.",
            key="risk.sensitivity.kind",
            value=kind,
        )
    if isinstance(parameters.get("function"), str):
        check_code("risk.sensitivity.function", parameters["function"])
        parameters["function"] = CodeLocation(parameters["function"], folder, key="risk.sensitivity.function")
    try:
        return build(SENSITIVITIES[kind], f"the sensitivity {kind!r}", parameters)
    except SfumatoError as error:
        raise located(error, "risk.sensitivity") from error


def _consistency(section: RiskSection) -> dict[str, Consistency]:
    """Return the consistency of each attribute for which one is declared."""
    result: dict[str, Consistency] = {}
    for attribute, declared in section.consistency.items():
        try:
            result[attribute] = consistency_of(declared)
        except SfumatoError as error:
            inner = str(error.key).removeprefix("consistency.")
            raise ConfigError(
                error.problem, remedy=error.remedy, key=f"risk.consistency.{attribute}.{inner}", value=error.value
            ) from error
    return result
