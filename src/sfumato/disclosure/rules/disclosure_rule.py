"""A disclosure rule that was found, and what can be requested: sets of rules, numbers of cells, dictionaries, a prior."""

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
from sfumato.disclosure.rules.choice_space import Steps
from sfumato.errors import ParameterError, SfumatoError
from sfumato.exact import as_fraction

ROUNDING = 1e-9
"""Risks that differ by less than this share are the same but for rounding."""


@dataclass(frozen=True, eq=False)
class DisclosureRule:
    """The rule of least risk that was found, and a bound that no rule of its set is below.

    >>> import numpy as np
    >>> rule = DisclosureRule(np.ones((1, 2), bool), risk=0.5, bound=0.4, short=0, how="by search")
    >>> rule.exact, round(rule.gap, 3)
    (False, 0.2)
    """

    disclosed: Rule
    """Whether attribute j of record i is disclosed, as `disclosed[i, j]`."""
    risk: float
    """Its risk: under the prior, or in the worst case."""
    bound: float
    """No rule that discloses as much has a smaller risk."""
    short: int
    """The records, or attributes, that have fewer values than requested, and so disclose all of them; for the whole table,
    the number of missing cells."""
    how: str
    """How it was found, in words."""
    levels: NDArray[np.int64] | None = None
    """The level on which each cell is disclosed: 0 as it is, the height of its hierarchy (or 1) if it is withheld or
    missing. None if no attribute may be generalized."""

    @property
    def gap(self) -> float:
        """How far the risk may be above the least, as a share of the risk: 0 if it is the least."""
        if self.risk <= self.bound or (isinf(self.risk) and isinf(self.bound)):
            return 0.0
        return 1.0 if isinf(self.risk) else (self.risk - self.bound) / self.risk

    @property
    def exact(self) -> bool:
        """Whether no rule that discloses as much has a smaller risk, but for rounding."""
        return self.gap <= ROUNDING


def mean(losses: NDArray[np.float64]) -> float:
    """The mean of losses, summed without rounding so that their order does not matter; 0 of none.

    >>> mean(np.array([0.25, 0.5, 0.75])), mean(np.zeros(0)), mean(np.array([1.0, np.inf]))
    (0.5, 0.0, inf)
    """
    return fsum(losses) / len(losses) if len(losses) else 0.0


SETS = ("table", "record", "attribute")
"""The sets of rules: k cells in the whole table (Δ₁), of each record (Δ₂), of each attribute (Δ₃)."""


def check(
    matchings: Sequence[Matching],
    cells: int,
    per: str,
    prior: Sequence[float] | None,
    most_attributes: int | None = MOST_ATTRIBUTES,
    steps: Steps | None = None,
) -> None:
    """Raise an error if the set of rules is unknown, or the request does not fit the records and dictionaries."""
    if per not in SETS:
        raise ParameterError(f"unknown per = {per!r}", remedy=f"Expected one of: {', '.join(SETS)}.", key="per", value=per)
    if not matchings:
        raise ParameterError("there is no dictionary", remedy="Pass at least one dictionary.", key="dictionaries")
    first = matchings[0]
    for matching in matchings:
        if not np.array_equal(matching.everything, first.everything):
            raise ParameterError(
                "the dictionaries are not matched with the same records",
                remedy="Match each with the same records and attributes.",
                key="dictionaries",
            )
    attributes = first.attributes if steps is None else steps.attributes
    if steps is not None and first.attributes > MOST_ATTRIBUTES:
        raise ParameterError(
            f"the attributes have {first.attributes} levels together: a best rule can be found for up to {MOST_ATTRIBUTES}",
            remedy="Generalize fewer attributes, or declare hierarchies with fewer levels.",
            key="generalize",
            value=first.attributes,
        )
    if most_attributes is not None and first.attributes > most_attributes:
        raise ParameterError(
            f"{first.attributes} attributes are too many: a best rule can be found for up to {most_attributes}",
            remedy='Name fewer attributes, or search by MinRisk (search="min-risk"), which takes any number.',
            key="attributes",
            value=first.attributes,
        )
    most = {"table": first.records * attributes, "record": attributes, "attribute": first.records}[per]
    if not 0 <= cells <= most:
        raise ParameterError(
            f"{cells} cells per {per} cannot be disclosed",
            remedy=f"Pass a number from 0 to {most}.",
            key="cells",
            value=cells,
        )
    if prior is not None:
        _check_prior(prior, len(matchings))


def _check_prior(prior: Sequence[float], dictionaries: int) -> None:
    if len(prior) != dictionaries:
        raise ParameterError(
            f"the prior has {len(prior)} probabilities for {dictionaries} dictionaries",
            remedy="Pass one for each dictionary.",
            key="prior",
        )
    if not all(0 <= share <= 1 for share in prior) or abs(sum(prior) - 1) > 1e-9:
        raise ParameterError(
            f"the prior {', '.join(map(str, prior))} is not a distribution",
            remedy="Pass probabilities from 0 to 1 that sum to 1.",
            key="prior",
        )


def number_of_cells(amount: Any, per: str, present: Rule) -> int:
    """Return the number of values to disclose per record, per attribute, or in the whole table.

    A share such as "25%" is of the attributes, of the records, or of all values that exist; it is rounded down.
    `present`: which values exist.

    >>> import numpy as np
    >>> every = np.ones((100, 22), bool)
    >>> [number_of_cells(*request, every) for request in (("25%", "record"), (7, "attribute"), ("100%", "table"))]
    [5, 7, 2200]
    """
    if per not in SETS:
        raise ParameterError(f"unknown per = {per!r}", remedy=f"Expected one of: {', '.join(SETS)}.", key="per", value=per)
    records, attributes = present.shape
    most = {"record": attributes, "attribute": records, "table": records * attributes}[per]
    wrong = ParameterError(
        f"{amount!r} cells per {per} cannot be disclosed",
        remedy=f'Pass an integer from 0 to {most:,}, or a share such as "50%".',
        key="cells",
        value=amount,
    )
    text = str(amount).strip()
    try:
        number = as_fraction(text[:-1], "cells") / 100 if text.endswith("%") else as_fraction(amount, "cells")
    except SfumatoError as error:
        raise wrong from error
    if text.endswith("%"):
        number *= int(present.sum()) if per == "table" else most
    elif number.denominator != 1:
        raise wrong
    if isinstance(amount, bool) or not 0 <= number <= most:
        raise wrong
    return math.floor(number)


def nearest(number: Fraction) -> int:
    """Round to the nearest integer; of two, the larger.

    >>> nearest(Fraction(11, 2)), nearest(Fraction(7, 3))
    (6, 2)
    """
    return math.floor(number + Fraction(1, 2))
