"""A best rule that was found, with what is known of how good it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, isinf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.disclosure.matching.matching import Matching, Rule
from sfumato.disclosure.rules.choice_losses import MOST_ATTRIBUTES
from sfumato.errors import ParameterError, SfumatoError
from sfumato.exact import as_fraction

ROUNDING = 1e-9
"""Risks that differ by less than this share are the same but for rounding."""


@dataclass(frozen=True, eq=False)
class DisclosureRule:
    """The rule of least risk that was found, and a bound that no rule of its set is below.

    >>> import numpy as np
    >>> found = DisclosureRule(np.ones((1, 2), bool), risk=0.5, bound=0.4, short=0, how="by search")
    >>> found.exact, round(found.gap, 3)
    (False, 0.2)
    """

    disclosed: Rule
    """Whether attribute j of record i is disclosed, as `disclosed[i, j]`."""
    risk: float
    """Its risk: under the prior, or in the worst case."""
    bound: float
    """No rule that discloses as much has less risk than this."""
    short: int
    """How many records, or attributes, have fewer values than were to be disclosed, and so disclose all that they have;
    of the whole table, by how many cells it falls short."""
    how: str
    """How it was found, in words."""

    @property
    def gap(self) -> float:
        """How far the risk may be above the least, as a share of the risk: 0 if it is the least."""
        if self.risk <= self.bound or (isinf(self.risk) and isinf(self.bound)):
            return 0.0
        return 1.0 if isinf(self.risk) else (self.risk - self.bound) / self.risk

    @property
    def exact(self) -> bool:
        """Whether no rule that discloses as much has less risk, but for rounding."""
        return self.gap <= ROUNDING


def mean(losses: NDArray[np.float64]) -> float:
    """The mean of records' losses, added without rounding so that their order does not matter; of none, 0.

    >>> mean(np.array([0.25, 0.5, 0.75])), mean(np.zeros(0)), mean(np.array([1.0, np.inf]))
    (0.5, 0.0, inf)
    """
    return fsum(losses) / len(losses) if len(losses) else 0.0


SETS = ("table", "record", "attribute")
"""The sets of rules: k cells in all (Δ₁), of each record (Δ₂), of each attribute (Δ₃)."""


def check(
    matchings: Sequence[Matching],
    cells: int,
    per: str,
    prior: Sequence[float] | None,
    most_attributes: int | None = MOST_ATTRIBUTES,
) -> None:
    """Raise a typed error if there is no such set of rules, or nothing to choose them for."""
    if per not in SETS:
        raise ParameterError(
            f"there is no set of rules {per!r}", remedy=f"Choose one of {', '.join(SETS)}.", key="per", value=per
        )
    if not matchings:
        raise ParameterError("there is no dictionary", remedy="Give at least one dictionary.", key="dictionaries")
    first = matchings[0]
    for matching in matchings:
        if not np.array_equal(matching.everything, first.everything):
            raise ParameterError(
                "the dictionaries are not matched with the same records",
                remedy="Match each with the same records and attributes.",
                key="dictionaries",
            )
    if most_attributes is not None and first.attributes > most_attributes:
        raise ParameterError(
            f"a best rule over {first.attributes} attributes cannot be sought; over {most_attributes} it can",
            remedy="Name fewer attributes.",
            key="attributes",
            value=first.attributes,
        )
    most = {"table": first.records * first.attributes, "record": first.attributes, "attribute": first.records}[per]
    if not 0 <= cells <= most:
        raise ParameterError(
            f"{cells} cells per {per} cannot be disclosed",
            remedy=f"Choose a number from 0 to {most}.",
            key="cells",
            value=cells,
        )
    if prior is not None:
        _check_prior(prior, len(matchings))


def _check_prior(prior: Sequence[float], dictionaries: int) -> None:
    if len(prior) != dictionaries:
        raise ParameterError(
            f"the prior has {len(prior)} probabilities for {dictionaries} dictionaries",
            remedy="Give one for each dictionary.",
            key="prior",
        )
    if not all(0 <= share <= 1 for share in prior) or abs(sum(prior) - 1) > 1e-9:
        raise ParameterError(
            f"the prior {', '.join(map(str, prior))} is not a distribution",
            remedy="Give probabilities from 0 to 1 that add up to 1.",
            key="prior",
        )


def number_of_cells(amount: Any, per: str, present: Rule) -> int:
    """The number of values that are disclosed per record, per attribute, or in the whole table.

    A share such as "25%" is of the attributes, of the records, or of all the values that there are; what is left beyond a
    whole number is not disclosed. `present`: which values there are.

    >>> import numpy as np
    >>> every = np.ones((100, 22), bool)
    >>> [number_of_cells(*request, every) for request in (("25%", "record"), (7, "attribute"), ("100%", "table"))]
    [5, 7, 2200]
    """
    if per not in SETS:
        raise ParameterError(f"per = {per!r} is unknown", remedy=f"Write one of: {', '.join(SETS)}.", key="per", value=per)
    records, attributes = present.shape
    most = {"record": attributes, "attribute": records, "table": records * attributes}[per]
    wrong = ParameterError(
        f"{amount!r} cells per {per} cannot be disclosed",
        remedy=f'Write a whole number from 0 to {most:,}, or a share such as "50%".',
        key="cells",
        value=amount,
    )
    text = str(amount).strip()
    try:
        found = as_fraction(text[:-1], "cells") / 100 if text.endswith("%") else as_fraction(amount, "cells")
    except SfumatoError as error:
        raise wrong from error
    if text.endswith("%"):
        found *= int(present.sum()) if per == "table" else most
    elif found.denominator != 1:
        raise wrong
    if isinstance(amount, bool) or not 0 <= found <= most:
        raise wrong
    return math.floor(found)


def nearest(number: Fraction) -> int:
    """The whole number nearest to a number; of two, the larger.

    >>> nearest(Fraction(11, 2)), nearest(Fraction(7, 3))
    (6, 2)
    """
    return math.floor(number + Fraction(1, 2))
