"""The sensitivity of records whose cells are generalized: a share of that of the values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.data.table import Table
from sfumato.disclosure.matching.matching import Rule
from sfumato.disclosure.sensitivity.exact_weights import ExactSensitivity, RecordWeights, exact_total
from sfumato.disclosure.sensitivity.sensitivity import Additive, ConstantSensitivity, Multiplicative, Sensitivity
from sfumato.disclosure.sensitivity.sensitivity_weights import SensitivityWeights
from sfumato.errors import ParameterError

if TYPE_CHECKING:
    from sfumato.disclosure.generalized.level_steps import Levels
    from sfumato.disclosure.setting import Setting


def check_sensitivity(sensitivity: Sensitivity) -> None:
    """Raise an error if a sensitivity has no weights, so that it says nothing about generalized cells."""
    if not isinstance(sensitivity, Additive | Multiplicative | ConstantSensitivity):
        raise ParameterError(
            f"a sensitivity of kind {sensitivity.name!r} does not say how sensitive a generalized value is",
            remedy="Use an additive, multiplicative or constant sensitivity, or generalize nothing.",
            key="generalize",
            value=sensitivity.name,
        )


@dataclass(frozen=True, eq=False)
class GeneralizedSensitivity(Sensitivity):
    """Φ of records as a rule of levels discloses them.

    A cell adds its attribute's weight times the share of its level. Pairs and triples add theirs times the shares of all
    their cells. A constant sensitivity is the same whatever is disclosed.
    """

    setting: Setting
    """The records as they are."""
    levels: Levels

    @property
    def inner(self) -> Sensitivity:
        """The sensitivity of the records as they are."""
        return self.setting.sensitivity

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the inner sensitivity."""
        return self.inner.name

    @property
    def false_identification(self) -> Any:  # type: ignore[override]
        """That of the inner sensitivity."""
        return self.inner.false_identification

    def parameters(self) -> dict[str, Any]:
        """Those of the inner sensitivity."""
        return self.inner.parameters()

    def columns(self) -> tuple[str, ...]:
        """Those of the inner sensitivity."""
        return self.inner.columns()

    def weights_of(self, table: Table, attributes: Sequence[str], identity: str | None) -> SensitivityWeights:
        """Φ as arrays; the records and attributes are those of the setting."""
        del table, attributes, identity
        base = self.setting.phi
        shares = np.column_stack([each.floats() for each in self._shares])
        cells = np.multiply(base.cells, shares, out=np.zeros(shares.shape), where=shares > 0)  # 0·∞ is 0
        return replace(base, cells=cells, shares=shares)

    def exactly(self, table: Table, attributes: Sequence[str], identity: str | None, rule: Rule) -> ExactSensitivity:
        """Φ of every record under a rule that withholds further cells, without rounding."""
        if isinstance(self.inner, ConstantSensitivity):
            return self.inner.exactly(table, attributes, identity, rule)
        assert isinstance(self.inner, Additive | Multiplicative), "others are refused"
        shares, parts = self._shares, {}
        for places, weights in self.inner.parts(table, attributes).items():
            for place in places:
                weights = weights.by(shares[place])  # noqa: PLW2901
            parts[places] = weights
        return exact_total(parts, rule, exponential=self.inner.form == "product")

    @property
    def _shares(self) -> list[RecordWeights]:
        """For each attribute the share of its sensitivity that each record reveals."""
        return [
            RecordWeights.constant(Fraction(1), len(self.levels))
            if levels is None
            else RecordWeights(levels.shares, self.levels[:, j])
            for j, levels in enumerate(self.setting.in_steps.of_attribute)
        ]
