"""The assumptions of a disclosure risk as plain data: the dictionaries, and how values are compared and weighted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sfumato.errors import ParameterError

if TYPE_CHECKING:
    from sfumato.disclosure.dictionaries.dictionary import Dictionary


@dataclass(frozen=True, eq=False)
class RiskAssumptions:
    """What a risk is measured against: `sf.verify` measures the risk of a withheld release again from it.

    Only the dictionaries are required. None means "as release.json states it". What is given is compared with
    release.json, and a difference is a failed check.

    >>> import pyarrow as pa
    >>> from sfumato.disclosure import Dictionary
    >>> book = Dictionary(pa.table({"age": [30, 41]}), name="book")
    >>> RiskAssumptions.of(book).names
    ('book',)
    """

    dictionaries: tuple[Dictionary, ...]
    sensitivity: Mapping[str, Any] | None = None
    """The sensitivity as `Sensitivity.to_dict` returns it, with the weights of single records."""
    consistency: Mapping[str, Mapping[str, Any]] | None = None
    """For an attribute its consistency as `Consistency.parameters` returns it; equality for all others."""
    misfits: int | None = None
    prior: tuple[Fraction, ...] | None = None
    identity: str | None = None
    """The column of the original that identifies the individual of each record."""
    shares: Mapping[str, Sequence[str]] | None = None
    """For each attribute that may be generalized the share of its sensitivity by level."""

    @classmethod
    def of(cls, dictionaries: Dictionary | Sequence[Dictionary]) -> RiskAssumptions:
        """Wrap one dictionary or several; everything else is taken from release.json."""
        from sfumato.disclosure.dictionaries.dictionary import Dictionary

        several = tuple(dictionaries) if isinstance(dictionaries, list | tuple) else (dictionaries,)
        for each in several:
            if not isinstance(each, Dictionary):
                raise ParameterError(
                    f"{each!r} is not a dictionary",
                    remedy="Pass a sfumato.disclosure.Dictionary, or a list of them.",
                    key="dictionaries",
                    value=each,
                )
        return cls(several)

    @classmethod
    def expected(cls, dictionaries: Any, risk: Any) -> RiskAssumptions | None:
        """Return what the arguments `dictionaries` and `risk` of `sf.verify` assume; None if neither is given."""
        if risk is None:
            return None if dictionaries is None else cls.of(dictionaries)
        if dictionaries is not None:
            raise ParameterError(
                "dictionaries and risk are both given, and risk contains dictionaries already",
                remedy="Leave out one of them.",
                key="dictionaries",
            )
        if not isinstance(risk, cls):
            raise ParameterError(
                f"{risk!r} is not what a risk is measured against",
                remedy="Pass a sfumato.disclosure.RiskAssumptions, such as Config.risk_assumptions() returns.",
                key="risk",
                value=risk,
            )
        return risk

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the dictionaries."""
        return tuple(dictionary.name for dictionary in self.dictionaries)
