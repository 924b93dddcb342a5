"""The utility of a release, computed again from its published table and the original: for verification.

Nothing that only the maker of a release knows is used: neither the recoding nor whose row a row is. The cells are parsed
from their texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.figures.cell_ranges import covers_of
from sfumato.anonymization.recoding import Domain, Recoding, RecodingKind
from sfumato.anonymization.release_document import published_utility
from sfumato.anonymization.utility.cell_cover import Cover
from sfumato.anonymization.utility.information_loss import Loss
from sfumato.anonymization.utility.marginals import marginal_of
from sfumato.audits.audit_result import Audit
from sfumato.data.groups import Groups
from sfumato.data.schema import Schema
from sfumato.data.table import Table


def recounted_utility(
    original: Table, published_audit: Audit, recodings: Mapping[str, str], schema: Schema
) -> dict[str, Any]:
    """Return the loss and the marginals of a release without suppressed rows, as release.json states them.

    `published_audit`: the audit of the published table. `recodings`: how each quasi-identifier is published.
    """
    groups = published_audit.groups
    covers = covers_of(original, published_audit.table, groups, recodings)
    parsed = _ParsedCells(groups, tuple(_ParsedColumn(cover.domain, _shares(cover)) for cover in covers))
    cells = cast(Recoding, parsed)  # a loss depends on groups, domains and shares only
    utility = {
        "loss": Loss.of(cells, weights=schema.weights).to_dict(),
        "marginals": [marginal_of(cover, groups.sizes).to_dict() for cover in covers],
    }
    return published_utility(utility, schema, original.rows)


@dataclass(frozen=True, eq=False)
class _ParsedColumn:
    domain: Domain
    shares: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _ParsedCells:
    groups: Groups
    columns: tuple[_ParsedColumn, ...]


def _shares(cover: Cover) -> NDArray[np.float64]:
    """Return for each group the loss of its cell; see `Domain.share`."""
    domain, sizes = cover.domain, cover.sizes
    low, high = cover.first[cover.offsets[:-1]], cover.stop[cover.offsets[1:] - 1] - 1
    if domain.recoding is RecodingKind.SET:
        shares = sizes / max(1, domain.total)
    elif domain.numeric:
        at = np.append(domain.at, 0.0)  # the missing place has no position; its cells are single or withheld
        shares = at[high] - at[low]
    else:
        shares = sizes / max(1, domain.size)
    assert cover.level is not None  # the cells were parsed
    shares = np.where(cover.level < 0, 1.0, shares)
    return np.asarray(np.where(sizes == 1, 0.0, shares)[cover.cell], np.float64)
