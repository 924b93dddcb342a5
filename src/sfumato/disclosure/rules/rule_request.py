"""What can be asked for: sets of rules, numbers of cells, dictionaries and a prior over them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.disclosure.matching import Matching
from sfumato.disclosure.rules.choices import MOST_ATTRIBUTES
from sfumato.errors import ParameterError

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
