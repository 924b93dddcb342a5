"""An attack: guess the most frequent value of the person's group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.attacks import AttackerView
from sfumato.data import Table


@dataclass(frozen=True)
class MostFrequent:
    """How often the most frequent value of the group is right, for each attribute."""

    success: dict[str, float]

    @property
    def assumptions(self) -> str:
        """What the attacker is assumed to know."""
        return "the attacker knows the group of the person in every table"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
        return {"assumptions": self.assumptions, "success": self.success}


def most_frequent(table: Table, views: Sequence[AttackerView]) -> MostFrequent:
    """Guess the most frequent value of each person's group, and count how often that is right."""
    success = {}
    for view in views:
        for name in view.attributes:
            attribute = table.attribute(table.schema.components(name))
            counts = np.zeros((len(view.sizes), len(attribute)), np.int64)
            np.add.at(counts, (view.groups, attribute.codes[view.rows]), 1)
            success[name] = float(counts.max(axis=1).sum() / len(view.rows))
    return MostFrequent(success)
