"""What every privacy principle is: a condition on every group, with the level that each group achieves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ParameterError
from sfumato.exact import Number, Ratios, as_fraction, as_parameter, written
from sfumato.principles.view import View

On = str | tuple[str, ...] | None
"""Which sensitive attributes a principle is about.

None: what the principle's `scope` says. "each": every sensitive attribute alone. "whole": all of them as one. A name, or
several taken together.
"""


@dataclass(frozen=True, eq=False)
class Part:
    """One requirement of a principle: the level of every group, and whether it suffices."""

    name: str
    levels: Ratios | NDArray[np.float64]
    holds: NDArray[np.bool_]
    relation: Literal["at least", "at most", "below"]
    threshold: Fraction

    @classmethod
    def at_least(cls, name: str, levels: Ratios, threshold: Fraction) -> Part:
        """Every group's level must be at least a threshold."""
        return cls(name, levels, levels.at_least(threshold), "at least", threshold)

    @classmethod
    def at_most(cls, name: str, levels: Ratios, threshold: Fraction) -> Part:
        """Every group's level must be at most a threshold."""
        return cls(name, levels, levels.at_most(threshold), "at most", threshold)

    @classmethod
    def below(cls, name: str, levels: Ratios, threshold: Fraction) -> Part:
        """Every group's level must be below a threshold."""
        return cls(name, levels, levels.below(threshold), "below", threshold)

    @property
    def wanted(self) -> str:
        """The requirement in words, such as "at most 0.2"."""
        return f"{self.relation} {written(self.threshold)}"

    @property
    def higher_is_better(self) -> bool:
        """Whether a group is the safer the higher its level."""
        return self.relation == "at least"

    @cached_property
    def worst(self) -> Fraction | float:
        """The level of the worst group: exact where it is rational."""
        if isinstance(self.levels, Ratios):
            return self.levels.smallest() if self.higher_is_better else self.levels.largest()
        return float(self.levels.min() if self.higher_is_better else self.levels.max())

    def floats(self) -> NDArray[np.float64]:
        """The levels as floats, to show and to sort by."""
        return self.levels.floats() if isinstance(self.levels, Ratios) else self.levels

    def at(self, group: int) -> Fraction | float:
        """The level of one group."""
        return self.levels[group] if isinstance(self.levels, Ratios) else float(self.levels[group])


@dataclass(frozen=True, eq=False)
class Measurement:
    """What a principle finds in a table: its parts, group by group."""

    parts: tuple[Part, ...]

    @property
    def group_holds(self) -> NDArray[np.bool_]:
        """For each group whether every part holds in it."""
        return np.asarray(np.logical_and.reduce([part.holds for part in self.parts]))

    @property
    def holds(self) -> bool:
        """Whether the principle holds in every group."""
        return bool(self.group_holds.all())

    @property
    def level(self) -> Fraction | float:
        """The level achieved: that of the worst group in the principle's first part."""
        return self.parts[0].worst

    @property
    def levels(self) -> dict[str, Fraction | float]:
        """The level achieved in each part."""
        return {part.name: part.worst for part in self.parts}

    def badness(self) -> NDArray[np.int64]:
        """The groups from worst to best: violating ones first, then by the level of the first part that differs."""
        keys = [-part.floats() if not part.higher_is_better else part.floats() for part in reversed(self.parts)]
        return np.lexsort([*keys, self.group_holds])


class Principle(ABC):
    """A condition on every group: `measure` gives the level achieved, `holds` the verdict. Small frozen values."""

    name: ClassVar[str]
    """The name in a config."""
    title: ClassVar[str]
    """The name in the literature."""
    monotone: ClassVar[bool]
    """Whether the union of two groups that satisfy it always satisfies it (the table as a whole unchanged)."""
    absorbing: ClassVar[bool] = False
    """Whether the union of a group that satisfies it with any other group satisfies it (so it is monotone as well)."""
    relative: ClassVar[bool] = True
    """Whether a group is compared with the table as a whole, so that rows dropped elsewhere may change its verdict."""
    scope: ClassVar[Literal["groups", "each", "whole"]]
    """Looks at groups only; at each sensitive attribute alone; or at all of them as a whole."""
    asks_distance: ClassVar[bool] = False
    """Whether the attribute's distance decides it."""

    @abstractmethod
    def measure(self, view: View) -> Measurement:
        """Return the level of every group, and whether it suffices."""

    def holds(self, view: View) -> bool:
        """Whether the principle holds in every group."""
        return self.measure(view).holds

    @property
    def label(self) -> str:
        """The principle with its parameters, as it is shown."""
        return f"{self.title} ({', '.join(f'{key} = {value}' for key, value in self._shown().items())})"

    def parameters(self) -> dict[str, Any]:
        """The parameters as they stand in a config."""
        return {
            field.name: as_parameter(getattr(self, field.name))
            for field in fields(self)  # type: ignore[arg-type]
            if getattr(self, field.name) is not None
        }

    def _shown(self) -> dict[str, Any]:
        return {key: value for key, value in self.parameters().items() if key != "on"}

    def _set_fraction(self, name: str, least: Number | None = None, most: Number | None = None) -> None:
        """Replace a parameter by the exact number it was written as, and check its range."""
        value = as_fraction(getattr(self, name), name)
        if (least is not None and value < as_fraction(least)) or (most is not None and value > as_fraction(most)):
            high = f" and at most {most}" if most is not None else ""
            low = f"at least {least}" if least is not None else ""
            raise ParameterError(
                f"{self.name}: {name} = {written(value)} is out of range",
                remedy=f"Give it {low}{high}.",
                key=name,
                value=value,
            )
        object.__setattr__(self, name, value)

    def _check_whole(self, name: str, least: int = 1) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise ParameterError(
                f"{self.name}: {name} = {_shown(value)} is not a whole number from {least}",
                remedy=f"Write a whole number, at least {least}.",
                key=name,
                value=value,
            )
        object.__setattr__(self, name, int(value))

    def _check_choice(self, name: str, choices: tuple[str, ...]) -> None:
        value = getattr(self, name)
        if value not in choices:
            raise ParameterError(
                f"{self.name}: {name} = {_shown(value)} is unknown",
                remedy=f"Write one of: {', '.join(choices)}.",
                key=name,
                value=value,
            )


def _shown(value: Any) -> str:
    """A parameter as a user wrote it."""
    return str(value) if isinstance(value, Decimal | Fraction) else repr(list(value) if isinstance(value, tuple) else value)


def exactly(value: Number) -> Fraction:
    """A parameter that construction has already turned into a fraction."""
    assert isinstance(value, Fraction)
    return value


def size_part(view: View, k: int) -> Part:
    """The requirement that every group holds at least k people (rows, if the schema does not tell whose row it is)."""
    groups = view.groups
    if k > groups.population:
        counted = "rows" if groups.people is None else "people"
        raise ParameterError(
            f"k = {k} is larger than the table, which holds {groups.population} {counted}",
            remedy=f"No grouping can reach it: give k at most {groups.population}, or more rows.",
            key="k",
            value=k,
            file=view.table.source,
        )
    heads = groups.heads
    return Part.at_least("k", Ratios.whole(heads), Fraction(k))
