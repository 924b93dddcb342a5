"""Frequency l-diversity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from sfumato.exact import Number, Ratios
from sfumato.principles.base import Measurement, On, Part, Principle, exactly
from sfumato.principles.view import View


@dataclass(frozen=True)
class FrequencyLDiversity(Principle):
    """No sensitive value makes up more than 1/l of a group.

    In plain words: from a group no secret can be guessed with a confidence above 1/l.

    The level is the size of a group over the count of its most frequent value.

    - `l`: a value may make up at most 1/l of a group; any number from 1.

    Monotone.

    Does not protect against values that differ and yet are close: together they may make up all of a group.

    Source: Xiao and Tao, Anatomy: simple and effective privacy preservation, VLDB 2006; (δ,l)-diversity (paper 003),
    Definition 1.

    >>> FrequencyLDiversity("2.5").label
    'frequency l-diversity (l = 2.5)'
    """

    l: Number
    on: On = None

    name: ClassVar[str] = "frequency-l-diversity"
    title: ClassVar[str] = "frequency l-diversity"
    monotone: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    scope: ClassVar[Literal["each"]] = "each"

    def __post_init__(self) -> None:
        self._set_fraction("l", least=1)

    def measure(self, view: View) -> Measurement:
        """Return each group's size over the count of its most frequent value."""
        level = Ratios(view.histogram.sizes, view.histogram.largest)
        return Measurement((Part.at_least("l", level, exactly(self.l)),))
