"""Guarded values: k, l, ε and δ for some sensitive values only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.table import Table
from sfumato.distances.neighbour_graph import GuardedNeighbours, NeighbourGraph
from sfumato.errors import ParameterError
from sfumato.exact import Number, Ratios
from sfumato.parameters import ParameterRange, whole
from sfumato.principles.certificate import Certificate, whole_table_certificate
from sfumato.principles.clique_capacity import allowed_neighbours
from sfumato.principles.principle import Measurement, On, Part, Principle, exactly
from sfumato.principles.search_conditions import HistogramCondition, NeighbourLimit
from sfumato.principles.stronger_protection import rules_of, set_protection, set_rules
from sfumato.principles.value_rules import is_known, matching_codes
from sfumato.principles.view import View
from sfumato.principles.worked_example import Example, two_age_groups


@dataclass(frozen=True)
class GuardedValues(Principle):
    """A group with guarded values has at least k rows, at most 1/l guarded, each with at most (1−δ)(|G|−1) ε-neighbours.

    In plain words: whose secret is one of the guarded values is better hidden than others: in a larger group, among more
    people with other secrets, and with a wider range around the secret.

    The level is the size of a group over the count of its guarded values, all of them together; infinite in a group without
    any. State one requirement for each set of values that needs its own protection, beside those for everybody.

    - `values`: the guarded values: a value, a node of the column's hierarchy, an item of sets, `(missing)`, or a comparison
      such as ">= 100000"; one or several.
    - `l`: guarded values may make up at most 1/l of a group; 1 does not limit them.
    - `k`: the smallest number of people in a group with a guarded value.
    - `epsilon`: the largest distance at which another value is near a guarded one; without it, nearness is not limited.
    - `delta`: the share of the others in a group that must be farther than that; all of them unless stated.

    Not monotone if ε is given: {40,60} and {50,80} with all values guarded at ε = 15 have risk 0, their union 2/3.

    Does not protect against learning that somebody has none of the guarded values; nor does it hide values that are not
    guarded. A group that is unusually large shows that somebody in it may have a guarded value.

    Source: Xiao & Tao (2006b), Personalized privacy preservation, SIGMOD, for the share of guarded values taken together;
    Wang & Liu (2010), XColor: protecting general proximity privacy, ICDE, for ε and δ.

    >>> GuardedValues("HIV", l=5, k=10).label
    'guarded values (values = HIV, l = 5, k = 10)'
    """

    values: Any
    l: Number = 1
    k: int = 1
    epsilon: Number | None = None
    delta: Number | None = None
    on: On = None

    name: ClassVar[str] = "guarded-values"
    title: ClassVar[str] = "guarded values"
    family: ClassVar[str] = "diversity"
    scope: ClassVar[Literal["each"]] = "each"
    monotone: ClassVar[bool] = False
    covers: ClassVar[bool] = False
    uses_distance: ClassVar[bool] = True
    histogram_only: ClassVar[bool] = True
    ranges: ClassVar[Mapping[str, ParameterRange]] = {
        "values": ParameterRange("values"),
        "l": ParameterRange("number", "factor", "higher", usual=(2, 20), least=1),
        "k": whole("people", usual=(2, 50)),
        "epsilon": ParameterRange("number", "distance", "higher", usual=(0, "0.25")),
        "delta": ParameterRange("number", "share", "higher", usual=("0.1", 1), most=1),
    }

    def __post_init__(self) -> None:
        set_rules(self)
        set_protection(self, "values")
        # sizes and shares alone are monotone
        object.__setattr__(self, "monotone", self.epsilon is None)

    def check_table(self, table: Table, attributes: Sequence[tuple[str, ...]]) -> None:
        """Raise an error if a value is not one of the attributes, because it would guard nothing."""
        columns = [column for names in attributes for name in names for column in table.schema.components(name)]
        for rule in rules_of(self):
            if not any(is_known(table.column(column), rule) for column in columns):
                raise ParameterError(
                    f"{self.name}: no row has the value {rule!r}, and no hierarchy contains it: nothing would be guarded",
                    remedy="Write the value as it is in the data, name its column with `on`, or remove it.",
                    key="values",
                    value=rule,
                    file=table.source,
                )

    def guarded(self, view: View) -> NDArray[np.bool_]:
        """Return for each sensitive value whether it is guarded."""
        column = view.attribute.single(self.title)
        return matching_codes(column, rules_of(self), self.title)[view.attribute.parts[:, 0]]

    def measure(self, view: View) -> Measurement:
        """Return each group's size over its guarded values, its size if it has any, and the risk of the guarded values."""
        histogram = view.histogram
        guarded = self.guarded(view)[histogram.values]
        count = np.add.reduceat(np.where(guarded, histogram.counts, 0), histogram.starts)
        any_guarded = (count > 0).astype(np.int64)
        parts = [
            Part.at_least("l", Ratios(histogram.sizes, count), exactly(self.l)),
            Part.at_least("k", Ratios(view.groups.heads, any_guarded), self.k),
        ]
        if self.epsilon is not None:
            near = np.where(guarded, view.near_counts(self._graph(view)), 0)
            largest = np.maximum.reduceat(near, histogram.starts)
            alone = histogram.sizes == 1
            others = np.where(alone, any_guarded, np.maximum(largest - 1, 0))
            risk = Ratios(others, np.where(alone, 1, histogram.sizes - 1))
            parts.append(Part.at_most("risk", risk, 1 - exactly(self.delta)))  # type: ignore[arg-type]
        return Measurement(tuple(parts))

    def _graph(self, view: View) -> NeighbourGraph:
        return view.graph(exactly(self.epsilon))  # type: ignore[arg-type]

    def neighbours(self, view: View) -> NeighbourGraph | None:
        """Return the ε-neighbour graph under the declared distance, if ε is given."""
        return None if self.epsilon is None else self._graph(view)

    def search_conditions(self, view: View) -> Sequence[NeighbourLimit | HistogramCondition]:
        """Return the condition on the share and the size, and the limit on ε-neighbours of guarded values."""
        from sfumato.kernels import group_excess as excess

        codes, guarded = view.attribute.codes, self.guarded(view)
        least = self.k if self.epsilon is None or not self.delta else max(self.k, 2)  # a group of one has risk 1
        share = float(1 / exactly(self.l))
        condition = HistogramCondition(guarded.astype(np.int64)[codes], excess.GUARDED, least, share)
        if self.epsilon is None:
            return (condition,)
        delta = exactly(self.delta)  # type: ignore[arg-type]
        near = GuardedNeighbours.of(self._graph(view), guarded)
        return (condition, NeighbourLimit(codes, near, lambda size: allowed_neighbours(size, delta)))

    def certificate(self, view: View) -> Certificate | None:
        """Rule the requirement out by the share and the number of the guarded values in the table as one group."""
        if self.epsilon is not None and self.l == 1 and self.k == 1:
            return None
        return whole_table_certificate(replace(self, epsilon=None, delta=None), view)

    @classmethod
    def example(cls) -> Example:
        """Return a group in which one of four has a guarded illness, and one in which two of four have."""
        return two_age_groups(
            cls("HIV", l=3),
            "illness",
            (("HIV", "flu", "gout", "ulcer"), "HIV is the illness of 1 of the 4", "4/1"),
            (("HIV", "HIV", "flu", "gout"), "HIV is the illness of 2 of the 4", "4/2"),
        )
