"""Single cells given and taken, until each attribute is disclosed of as many records as wanted."""

from __future__ import annotations

import numpy as np

from sfumato.disclosure.rules.choices import Choices
from sfumato.disclosure.rules.columns import Floats, Integers
from sfumato.disclosure.rules.offers import Wanted
from sfumato.disclosure.rules.searching import losses_at


def repaired(choices: Choices, wanted: Wanted, masks: Integers, shares: Floats) -> tuple[Integers, Floats]:
    """Give or take single cells where that costs least, attribute by attribute, until the demand is met.

    `masks` is what each record discloses. Returned is what each discloses then, and what it loses in each dictionary.
    To give or take a cell of one attribute leaves the others as they are, so that once round is enough.
    """
    masks = masks.copy()
    losses, costs = np.empty((choices.dictionaries, len(masks))), np.full((len(masks), choices.attributes), np.inf)

    def look(records: Integers) -> None:
        """Find what records lose, and what it would cost to turn over each of their free cells."""
        for record in records[np.argsort(choices.of_record[records], kind="stable")].tolist():
            losses[:, record], costs[record] = _turned(choices, record, int(masks[record]), shares)

    look(np.arange(len(masks)))
    for j in wanted.free.tolist():
        disclosed = (masks >> j) & 1 == 1
        lacking = int(wanted.cells[j]) - int(disclosed.sum())
        there = np.flatnonzero(choices.present[:, j] & (disclosed != (lacking > 0)))
        turned = there[np.argsort(costs[there, j], kind="stable")[: abs(lacking)]]
        masks[turned] ^= 1 << j
        look(turned)
    return masks, losses


def _turned(choices: Choices, record: int, mask: int, shares: Floats) -> tuple[Floats, Floats]:
    """What a record loses, and how much more, in the given shares, if one of its cells were turned over."""
    candidates = choices.candidates(record)
    like = int(choices.distinct[choices.of_record[record]])
    lost = losses_at(choices, like, np.array([mask, *(mask ^ (1 << candidates))], np.int64))
    cost = shares @ np.minimum(lost, choices.high)
    out = np.full(choices.attributes, np.inf)
    out[candidates] = cost[1:] - cost[0]
    return lost[:, 0], out
