"""Requirements near those that cannot be met: the same principle with one other parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any

from sfumato.data.table import Table
from sfumato.exact import as_fraction, as_parameter
from sfumato.principles import ParameterControl, Principle, attributes_of, parameter_controls


@dataclass(frozen=True)
class NearestRequirement:
    """A requirement that is not ruled out, next to one that is: with the nearest value of one parameter.

    Not ruled out does not mean that groups exist; `joint_feasibility` of the changed requirements says what is known.

    >>> import sfumato as sf
    >>> NearestRequirement(0, "k", sf.KAnonymity(3)).to_dict()
    {'position': 0, 'parameter': 'k', 'value': 3, 'label': 'k-anonymity (k = 3)'}
    """

    position: int
    """Which of the requirements is changed, from 0."""
    parameter: str
    """The parameter that differs."""
    principle: Principle
    """The requirement with the other parameter."""

    @property
    def value(self) -> Any:
        """The parameter as a config states it."""
        return as_parameter(getattr(self.principle, self.parameter))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {
            "position": self.position,
            "parameter": self.parameter,
            "value": self.value,
            "label": self.principle.label,
        }


def nearest_requirements(
    table: Table, principles: Sequence[Principle], ruled_out: Callable[[Sequence[Principle]], frozenset[int]]
) -> tuple[NearestRequirement, ...]:
    """Return changes of one parameter of one requirement after which fewer of them are ruled out.

    `ruled_out`: which of some principles are, by their positions. Each parameter is moved, on the positions of its control,
    to where its requirement is less strict. Less strict requirements are never ruled out where stricter ones are not, so
    bisection finds the nearest position.
    """
    before = ruled_out(principles)
    found = []
    for position, principle in enumerate(principles):
        names = attributes_of(principle, table.schema)
        for control in parameter_controls(type(principle), table, names[0] if len(names) == 1 else None):
            candidates = _less_strict(principle, control)

            def improves(candidate: Principle, position: int = position) -> bool:
                return ruled_out([*principles[:position], candidate, *principles[position + 1 :]]) < before

            nearest = _last(candidates, improves)
            if nearest is not None:
                found.append(NearestRequirement(position, control.name, nearest))
    return tuple(found)


class _Candidates:
    """A principle with one parameter at each position of a control, from the least strict one to the requested one."""

    def __init__(self, principle: Principle, control: ParameterControl) -> None:
        self.principle, self.control = principle, control
        is_whole, higher = control.range.kind == "whole", control.range.stricter == "higher"
        requested = as_fraction(getattr(principle, control.name))
        assert control.high is not None and control.step is not None
        step = Fraction(1) if is_whole else control.step
        self.start = as_fraction(control.range.least) if higher else max(control.high, requested)
        self.step = step if higher else -step
        self.is_whole = is_whole
        self.count = max(0, ceil((requested - self.start) / self.step))

    def __getitem__(self, place: int) -> Principle:
        value = self.start + place * self.step
        parameters = {**self.principle.parameters(), self.control.name: int(value) if self.is_whole else value}
        return type(self.principle)(**parameters)


def _less_strict(principle: Principle, control: ParameterControl) -> _Candidates | None:
    """Return the less strict positions of a control; None if it has no positions."""
    if control.range.stricter is None or control.high is None:
        return None
    return _Candidates(principle, control)


def _last(candidates: _Candidates | None, holds: Callable[[Principle], bool]) -> Principle | None:
    """Return the last of some candidates that holds, where all before it hold and none after it; None if there is none."""
    if candidates is None or not candidates.count or not holds(candidates[0]):
        return None
    low, high = 0, candidates.count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(candidates[middle]) else (low, middle)
    return candidates[low]
