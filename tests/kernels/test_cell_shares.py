"""The share of a cell: lines, trees and sets, with and without a table of pairs, against its definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernel_inputs import compiled, random_domain, share_arrays, unset
from sfumato.kernels import cell_shares
from sfumato.kernels.cell_shares import shares_of

share = compiled(cell_shares.share)


@given(st.integers(0, 2**31), st.booleans())
def test_every_cell(seed, tabulated):
    draw = np.random.default_rng(seed)
    domains = [random_domain(draw) for _ in range(4)]
    shares = share_arrays(domains, draw if tabulated else None)
    cells = []
    for j, domain in enumerate(domains):
        for low in range(domain.size + 1):
            for high in range(low, domain.size + 1):
                places = {low, high} | set(draw.integers(low, high + 1, 2).tolist())
                expected = domain.share(places if domain.kind == 2 else {low, high})
                assert share(shares, j, low, high, len(places)) == expected
                cells.append((j, low, high, len(places), expected))
    # one group per cell of each attribute
    count = min(sum(cell[0] == j for cell in cells) for j in range(4))
    table = np.array([[cell[1:] for cell in cells if cell[0] == j][:count] for j in range(4)]).transpose(1, 0, 2)
    low, high, distinct = (np.ascontiguousarray(table[:, :, i].astype(np.int64)) for i in range(3))
    out = unset((count, 4))
    shares_of(shares, low, high, distinct, out)
    assert (out == table[:, :, 3]).all()
