"""Checks of parameters: those of principles and methods, and those that functions, configs and options share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from sfumato.errors import ParameterError
from sfumato.exact import Number, as_fraction, as_parameter, written

_SEED_BITS = 4096
"""The most bits of a seed: Python reads no text of more than 4,300 digits as a number."""


Unit = Literal["people", "population", "rows", "values", "share", "distance", "variance", "factor"]
"""What a parameter counts or measures.

people, or rows where the schema declares no people; people of the population that the schema declares; rows; distinct
sensitive values; a share from 0 to 1; a distance between two sensitive values; a variance of sensitive values; a number
without a unit.
"""


@dataclass(frozen=True)
class ParameterRange:
    """The values that a parameter may have, those that are usual, and in which direction the requirement gets stricter.

    >>> share = ParameterRange("number", "share", "lower", usual=("0.1", "0.9"), least=0, most=1)
    >>> share.allows(Fraction(1)), share.allows(Fraction(2))
    (True, False)
    """

    kind: Literal["whole", "number", "choice", "column", "columns", "values"]
    """A whole number; any number; one of `choices`; a column; a list of lists of columns; one or several values of a
    column."""
    unit: Unit | None = None
    """What it counts or measures; None if it is no number."""
    stricter: Literal["higher", "lower"] | None = None
    """In which direction the requirement gets stricter; None if it is no number."""
    usual: tuple[Number, Number] | None = None
    """From where to where people usually choose it. Of a distance or a variance: as shares of that of the whole table."""
    least: Number = 0
    most: Number | None = None
    """The largest number allowed; None if there is none."""
    above: bool = False
    """Whether the number must be above `least`: at that number the requirement could never hold."""
    choices: tuple[str, ...] = ()
    """The texts that are allowed."""

    def allows(self, value: Fraction) -> bool:
        """Return whether a number is within the range."""
        low = as_fraction(self.least)
        return (value > low if self.above else value >= low) and (self.most is None or value <= as_fraction(self.most))


def whole(unit: Unit, usual: tuple[int, int]) -> ParameterRange:
    """Return the range of a whole number from 1; the higher it is, the stricter is the requirement."""
    return ParameterRange("whole", unit, "higher", usual, least=1)


def choice(*choices: str) -> ParameterRange:
    """Return the range of a parameter that is one of some texts."""
    return ParameterRange("choice", choices=choices)


class ParameterChecks:
    """What principles and methods share: the fields of a frozen dataclass are the parameters, checked in `__post_init__`.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Sample(ParameterChecks):
    ...     share: Number
    ...     size: int = 2
    ...     name = "sample"
    ...     def __post_init__(self):
    ...         self.set_fraction("share", least=0, most=1)
    ...         self.check_whole("size")
    >>> Sample("0.5").share
    Fraction(1, 2)
    >>> Sample("0.5", size=0)
    Traceback (most recent call last):
    ...
    sfumato.errors.ParameterError: size: sample: size = 0 is not a whole number from 1. Write a whole number, at least 1.
    """

    name: ClassVar[str]
    ranges: ClassVar[Mapping[str, ParameterRange]] = {}
    """The range of each parameter but `on`, by its name; a class that declares none checks its parameters itself."""

    def check_ranges(self) -> None:
        """Check every parameter against its declared range; numbers become the exact numbers that the user wrote."""
        for name, declared in self.ranges.items():
            if declared.kind == "choice":
                self.check_choice(name, declared.choices)
            elif declared.kind == "whole":
                self.check_whole(name, int(as_fraction(declared.least)))
            elif declared.kind == "number":
                self.set_fraction(name, declared.least, declared.most, above=declared.above)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters as a config states them; none if the class is not a dataclass."""
        if not is_dataclass(self):
            return {}
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: as_parameter(value) for name, value in values.items() if value is not None}

    def set_fraction(
        self, name: str, least: Number | None = None, most: Number | None = None, *, above: bool = False
    ) -> None:
        """Replace a parameter by the exact number that the user wrote, and check its range.

        Both ends are allowed, unless `above` excludes the least, at which the requirement could never hold.
        """
        try:
            value = as_fraction(getattr(self, name), name)
        except ParameterError as error:
            raise error.inside(None, self.name) from error
        too_low = least is not None and (value <= as_fraction(least) if above else value < as_fraction(least))
        if too_low or (most is not None and value > as_fraction(most)):
            never = above and least is not None and value == as_fraction(least)
            bounds = [f"{'above' if above else 'of at least'} {least}"] * (least is not None)
            bounds += [f"{'' if bounds else 'of '}at most {most}"] * (most is not None)
            raise ParameterError(
                f"{self.name}: {name} = {written(value)} {'can never hold' if never else 'is out of range'}",
                remedy=f"Give a number {' and '.join(bounds)}.",
                key=name,
                value=value,
            )
        object.__setattr__(self, name, value)

    def check_whole(self, name: str, least: int = 1) -> None:
        """Check that a parameter is a whole number of at least `least`."""
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ParameterError(
                f"{self.name}: {name} = {_shown(value)} is not a whole number from {least}",
                remedy=f"Write a whole number, at least {least}.",
                key=name,
                value=value,
            )
        object.__setattr__(self, name, int(value))

    def check_choice(self, name: str, choices: tuple[str, ...]) -> None:
        """Check that a parameter is one of some texts."""
        value = getattr(self, name)
        if value not in choices:
            raise ParameterError(
                f"{self.name}: {name} = {_shown(value)} is unknown",
                remedy=f"Write one of: {', '.join(choices)}.",
                key=name,
                value=value,
            )


def _shown(value: Any) -> str:
    """Return a parameter as a user wrote it."""
    return str(value) if isinstance(value, Decimal | Fraction) else repr(list(value) if isinstance(value, tuple) else value)


def check_seed(seed: Any) -> int:
    """Return a seed; it must be a whole number from 0.

    >>> check_seed(7)
    7
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise ParameterError(
            f"seed = {seed!r} is not a whole number from 0", remedy="Write a whole number such as 0.", key="seed", value=seed
        )
    if int(seed).bit_length() > _SEED_BITS:
        raise ParameterError(f"the seed has more than {_SEED_BITS:,} bits", remedy="Write a smaller number.", key="seed")
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


def check_discernibility(limit: Any) -> Fraction | None:
    """Return the largest discernibility of a table as an exact number; None if there is no limit.

    >>> check_discernibility("3.5e9") == 3_500_000_000, check_discernibility(None)
    (True, None)
    """
    if limit is None:
        return None
    value = as_fraction(limit, "discernibility")
    if value <= 0:
        raise ParameterError(
            f"discernibility = {written(value)} is not positive",
            remedy="Write the largest sum of the squared sizes of the groups of a table, such as 3.5e9.",
            key="discernibility",
            value=limit,
        )
    return value
