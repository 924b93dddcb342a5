"""`[risk]`: what an attacker may know, how sensitive a disclosed value is, and how much is disclosed.

The section is plain data. `sfumato.disclosure.configured_risk` builds the objects that it describes.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Literal

from pydantic import Field

from sfumato.config.sections import Section
from sfumato.errors import ConfigError, SfumatoError
from sfumato.parameters import check_risk_limit
from sfumato.serialization import located


class DictionarySection(Section):
    """One of `[[risk.dictionaries]]`: what an attacker may know; the table itself if it has no path."""

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
    """`[risk]`: the records, the dictionaries, and how much is to be disclosed."""

    identity: str | None = None
    attributes: list[str] | None = None
    sensitivity: dict[str, Any] | None = None
    consistency: dict[str, str | dict[str, Any]] = Field(default_factory=dict)
    misfits: int = Field(default=0, ge=0, strict=True)
    generalize: list[str] | dict[str, list[int | Decimal | str]] = Field(default_factory=list)
    dictionaries: list[DictionarySection] = Field(default_factory=list)
    limit: int | Decimal | str | None = None
    disclose: int | str | None = None
    per: Literal["record", "attribute", "table"] = "record"
    against: Literal["prior", "worst"] | None = None
    search: Literal["best", "min-risk"] = "best"

    def check(self) -> None:
        """Check the limit and the priors. Weights and kinds are checked when the objects are built."""
        try:
            if self.limit is not None:
                check_risk_limit(self.limit)
        except SfumatoError as error:
            raise located(error, "risk") from error
        self.prior()

    def prior(self) -> list[int | Decimal | str] | None:
        """Return the prior of each dictionary; None if none has one."""
        shares = [section.prior for section in self.dictionaries]
        if None in shares and any(share is not None for share in shares):
            remedy = "Write a prior for every dictionary, or for none."
            key = f"risk.dictionaries.{shares.index(None)}.prior"
            raise ConfigError("the key is missing", remedy=remedy, key=key)
        return [share for share in shares if share is not None] or None

    def functions(self) -> Iterator[tuple[str, Any]]:
        """Yield the key and the name of each function that the section names."""
        if self.sensitivity is not None and self.sensitivity.get("kind") == "function":
            yield "risk.sensitivity.function", self.sensitivity.get("function")
