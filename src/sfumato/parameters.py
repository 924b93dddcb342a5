"""Range checks of parameters that a config, a function and a command-line option share. They need no data."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.errors import ParameterError
from sfumato.exact import Number, as_fraction, written


def check_seed(seed: Any) -> int:
    """Return a seed; it must be a whole number from 0.

    >>> check_seed(7)
    7
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ParameterError(
            f"seed = {seed!r} is not a whole number from 0", remedy="Write a whole number such as 0.", key="seed", value=seed
        )
    return int(seed)


def check_share(suppress: Any) -> Fraction:
    """Return the share of rows that may be dropped, exactly; it must be at least 0 and below 1.

    >>> check_share("0.05")
    Fraction(1, 20)
    """
    share = as_fraction(suppress, "suppress")
    if not 0 <= share < 1:
        raise ParameterError(
            f"suppress = {written(share)} is out of range",
            remedy="Give the share of rows that may be dropped, at least 0 and below 1, such as 0.05.",
            key="suppress",
            value=suppress,
        )
    return share


def check_ratio(value: Number, key: str) -> Fraction:
    """Return a threshold on a plan, exactly; it must be from 0 to 1.

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


def check_risk_limit(limit: Number) -> Fraction:
    """Return the largest risk that is allowed, exactly; it must not be negative.

    >>> check_risk_limit("0.05")
    Fraction(1, 20)
    """
    share = as_fraction(limit, "limit")
    if share < 0:
        raise ParameterError(
            "the limit is negative", remedy="Write the largest risk allowed, such as 0.05.", key="limit", value=limit
        )
    return share
