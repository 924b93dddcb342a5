"""The domains of a table's quasi-identifiers as arrays that kernels read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.kernels.space import LINE, SET, TABLE, TREE, Space
from sfumato.recoding import Domain, How

_PAIRS = 512
"""Trees of up to so many leaves are tabulated by pairs of places; larger ones are climbed."""


def space_of(domains: Sequence[Domain]) -> Space:
    """Lay the domains out: `kernels.space.stretch_cost` then gives `Domain.share` for all but sets."""
    kinds, base, first, costs, levels, first_node, nodes = [], [], [], [np.zeros(0)], [], [], [np.zeros(1, np.int32)]
    for domain in domains:
        first.append(sum(map(len, costs)))
        first_node.append(sum(map(len, nodes)))
        levels.append(len(domain.above))
        base.append(0.0)
        if domain.how is How.SET:
            kinds.append(SET)
        elif domain.numeric:
            kinds.append(LINE)
            costs.append(domain.at)
        elif domain.how is How.INTERVAL:
            kinds.append(LINE)
            costs.append(np.arange(domain.size) / domain.size)
            base[-1] = 1 / domain.size
        else:
            shares = np.array([domain.leaves[level][above] for level, above in enumerate(domain.above)]) / domain.size
            kinds.append(TABLE if domain.size <= _PAIRS else TREE)
            if kinds[-1] == TREE:
                costs.append(shares.ravel())
                nodes.append(domain.above.ravel())
                continue
            pairs = np.ones((domain.size, domain.size))
            for share, above in zip(shares[::-1], domain.above[::-1], strict=True):
                pairs = np.where(above[:, None] == above[None, :], share[:, None], pairs)
            costs.append(pairs.ravel())
    sizes = [domain.size for domain in domains]
    return Space(
        np.array(kinds, np.int64), np.array(sizes, np.int64), np.array(base), np.array(first, np.int64),
        np.concatenate(costs), np.array(levels, np.int64), np.array(first_node, np.int64), np.concatenate(nodes),
    )  # fmt: skip
