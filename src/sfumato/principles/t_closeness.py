"""t-closeness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sfumato.exact import Number
from sfumato.parameters import ParameterRange, choice
from sfumato.principles.earth_mover import GROUNDS, TableDistance, Target, emd, value_levels
from sfumato.principles.principle import Measurement, On, Part, Principle, exactly
from sfumato.principles.search_conditions import HistogramCondition, table_shares
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups


@dataclass(frozen=True)
class TCloseness(Principle):
    """The earth mover's distance between every group's distribution and the table's is at most t.

    In plain words: the secrets of every group are distributed much as in the whole table, so the counts of a
    group reveal little that the table does not.

    The ground distance is "equal" (any two values are 1 apart), "ordered" (|i − j|/(m − 1) for the i-th and j-th of m
    values) or "hierarchical" (level of the lowest common ancestor over the height of the hierarchy).

    - `t`: the largest distance of a group from the table, from 0 to 1.
    - `ground`: the ground distance of two values: "equal", "ordered" or "hierarchical".

    Monotone.

    Does not protect against what is common in the whole table, nor against narrow ranges within a group.

    Source: Li, Li & Venkatasubramanian (2007), t-closeness: privacy beyond k-anonymity and l-diversity, ICDE.

    >>> TCloseness("0.2", ground="ordered").parameters()
    {'t': '0.2', 'ground': 'ordered'}
    """

    t: Number
    ground: str = "equal"
    on: On = None

    name: ClassVar[str] = "t-closeness"
    title: ClassVar[str] = "t-closeness"
    family: ClassVar[str] = "distribution"
    scope: ClassVar[Literal["each"]] = "each"
    monotone: ClassVar[bool] = True
    histogram_only: ClassVar[bool] = True
    ranges: ClassVar[Mapping[str, ParameterRange]] = {
        "t": ParameterRange("number", "share", "lower", usual=("0.05", "0.5"), most=1),
        "ground": choice(*GROUNDS),
    }

    def __post_init__(self) -> None:
        self.check_ranges()

    def measure(self, view: View) -> Measurement:
        """Return each group's distance from the table."""
        whole = Target(view.attribute.counts[None, :], np.zeros(view.groups.count, np.int64))
        level = emd(view.attribute, view.histogram, self.ground, whole)
        return Measurement((Part.at_most("t", level, exactly(self.t)),))

    def table_distance(self) -> TableDistance:
        """Return t with the ground distance."""
        return TableDistance(exactly(self.t), self.ground)

    def search_conditions(self, view: View) -> Sequence[HistogramCondition]:
        """Return the condition on the distance from the table."""
        from sfumato.kernels import group_excess as excess

        limit, attribute = float(exactly(self.t)), view.attribute
        if self.ground == "ordered":
            # Positions are those of the declared order: they include values that no row has.
            column = attribute.single("an ordered ground distance")
            along = np.zeros(column.size)
            along[attribute.parts[:, 0]] = table_shares(view)
            return (HistogramCondition(column.codes.astype(np.int64), excess.ORDERED, limit, number=along),)
        levels = value_levels(attribute, self.ground)
        nodes = tuple(np.arange(len(attribute)) if node is None else node for node in levels)
        shares = tuple(np.bincount(node, weights=table_shares(view)).astype(float) for node in nodes)
        return (HistogramCondition(attribute.codes, excess.APART, limit, nodes=nodes, shares=shares),)

    @classmethod
    def example(cls) -> Example:
        """Return a large group like the table, and a small one unlike it."""
        return two_age_groups(
            cls(t="0.2"),
            "illness",
            (
                ("flu", "flu", "flu", "flu", "gout", "gout"),
                "flu and gout are 4/6 and 2/6 of the group, 4/8 and 4/8 of the table; half the differences' sum must move",
                "(|4/6 − 4/8| + |2/6 − 4/8|)/2",
            ),
            (
                ("gout", "gout"),
                "flu and gout are 0/2 and 2/2 of the group, 4/8 and 4/8 of the table",
                "(|0/2 − 4/8| + |2/2 − 4/8|)/2",
            ),
        )
