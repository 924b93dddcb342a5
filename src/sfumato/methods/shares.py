"""The shares of published cells as arrays that kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.shares import LINE, SET, TREE
from sfumato.recoding import Domain, How


class Shares(NamedTuple):
    """`Domain.share` of several domains, laid out for `kernels.shares`: give its fields as the kernel's first arguments.

    >>> import pyarrow as pa
    >>> from sfumato.kernels.shares import share
    >>> from sfumato.recoding import domains_of
    >>> from sfumato.schema import Schema
    >>> from sfumato.table import Table
    >>> domains = domains_of(Table(pa.table({"age": [20, 30, 60], "sex": ["f", "m", "f"]}), Schema(["age", "sex"])))
    >>> shares = Shares.of(domains)
    >>> share(*shares, 0, 0, 1, 2), share(*shares, 1, 0, 1, 2)
    (0.25, 1.0)
    """

    kind: NDArray[np.int64]
    """For each domain LINE, TREE or SET."""
    size: NDArray[np.int64]
    at: NDArray[np.float64]
    least: NDArray[np.float64]
    above: NDArray[np.int32]
    wide: NDArray[np.float64]

    @classmethod
    def of(cls, domains: Sequence[Domain]) -> Shares:
        """Lay out the domains, those of different sizes in arrays of the largest."""
        count = len(domains)
        lines = [domain for domain in domains if domain.how is How.INTERVAL]
        trees = [domain for domain in domains if domain.how is How.ANCESTOR]
        kinds = {How.INTERVAL: LINE, How.ANCESTOR: TREE, How.SET: SET}
        at = np.zeros((count, max((domain.size for domain in lines), default=0)))
        levels = max((len(domain.above) for domain in trees), default=0)
        above = np.zeros((count, levels, max((domain.size for domain in trees), default=0)), np.int32)
        wide, least = np.zeros(above.shape), np.zeros(count)
        for j, domain in enumerate(domains):
            if domain.numeric:
                at[j, : domain.size] = domain.at
            elif domain.how is How.INTERVAL:
                at[j, : domain.size] = np.arange(domain.size) / domain.size
                least[j] = 1 / domain.size
            for level, nodes in enumerate(domain.above):
                above[j, level, : domain.size] = nodes
                wide[j, level, : domain.size] = domain.leaves[level][nodes] / domain.size
        return cls(
            np.array([kinds[domain.how] for domain in domains], np.int64),
            np.array([domain.size for domain in domains], np.int64),
            at,
            least,
            above,
            wide,
        )
