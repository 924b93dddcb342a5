"""t-closeness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sfumato.exact import Number
from sfumato.principles.base import Measurement, On, Part, Principle, exactly
from sfumato.principles.earth_mover import GROUNDS, Target, emd
from sfumato.principles.view import View


@dataclass(frozen=True)
class TCloseness(Principle):
    """The earth mover's distance between every group's distribution and the table's is at most t.

    In plain words: the secrets of every group are distributed much as in the whole table, so a group tells little that
    the table does not.

    Ground distance: "equal" (any two values are 1 apart), "ordered" (|i − j|/(m − 1) for the i-th and j-th of m values)
    or "hierarchical" (level of the lowest common ancestor over the height).

    - `t`: how far a group may be from the table, from 0 to 1.
    - `ground`: how far apart two values are: "equal", "ordered" or "hierarchical".

    Monotone.

    Does not protect against what is common in the whole table, nor against narrow ranges within a group.

    Source: Li, Li and Venkatasubramanian, t-closeness: privacy beyond k-anonymity and l-diversity, ICDE 2007.

    >>> TCloseness("0.2", ground="ordered").parameters()
    {'t': '0.2', 'ground': 'ordered'}
    """

    t: Number
    ground: str = "equal"
    on: On = None

    name: ClassVar[str] = "t-closeness"
    title: ClassVar[str] = "t-closeness"
    monotone: ClassVar[bool] = True
    scope: ClassVar[Literal["each"]] = "each"

    def __post_init__(self) -> None:
        self._set_fraction("t", least=0, most=1)
        self._check_choice("ground", GROUNDS)

    def measure(self, view: View) -> Measurement:
        """Return each group's distance from the table."""
        whole = Target(view.attribute.counts[None, :], np.zeros(view.groups.count, np.int64))
        level = emd(view.attribute, view.histogram, self.ground, whole)
        return Measurement((Part.at_most("t", level, exactly(self.t)),))
