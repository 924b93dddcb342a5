"""The Jaro-Winkler distance of texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato.data.attribute import Attribute
from sfumato.distances.distance import BoundDistance, Distance
from sfumato.distances.jaro import bind_texts


@dataclass(frozen=True)
class JaroWinkler(Distance):
    """Jaro, nearer by a tenth per common leading character (at most 4) where the Jaro similarity is above 0.7.

    Not a metric. Source: Winkler (1990), String comparator metrics and enhanced decision rules, ASA.

    >>> JaroWinkler().is_metric
    False
    """

    name: ClassVar[str] = "jaro-winkler"
    is_metric: ClassVar[bool] = False

    def bind(self, attribute: Attribute) -> BoundDistance:
        """Bind the distance to one text or categorical column."""
        return bind_texts(attribute, self.name, winkler=True)
