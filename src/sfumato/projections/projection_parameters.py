"""The parameters of a projection that can be checked without data. This module is light, because configs import it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sfumato.errors import ParameterError
from sfumato.exact import Number, as_fraction, written

SEARCHES = ("auto", "greedy", "exhaustive")
"""The strategies of `search_plans`."""

SETS = ("bits", "whole")
"""How a set-valued attribute is published: one bit for each item, or one attribute whose values are sets."""


def check_ratio(value: Number, key: str) -> Fraction:
    """Return a threshold on a plan as an exact number; it must be from 0 to 1.

    >>> check_ratio("0.3", "alpha")
    Fraction(3, 10)
    """
    ratio = as_fraction(value, key)
    if not 0 <= ratio <= 1:
        raise ParameterError(
            f"{key} = {written(ratio)} is out of range",
            remedy="It is a share: write a number from 0 to 1, such as 0.3.",
            key=key,
            value=value,
        )
    return ratio


def check_search(search: Any) -> None:
    """Raise an error unless the search strategy exists."""
    if search not in SEARCHES:
        raise ParameterError(
            f"unknown search {search!r}", remedy=f"Expected one of: {', '.join(SEARCHES)}.", key="search", value=search
        )


def check_sets(sets: Any) -> None:
    """Raise an error unless sets can be published in this way."""
    if sets not in SETS:
        raise ParameterError(
            f"invalid sets = {sets!r}", remedy=f"Expected one of: {', '.join(SETS)}.", key="sets", value=sets
        )
