"""What a release says of its worth, as far as that follows from the published table: the sizes of its groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.anonymization.utility import ClassSizes
from sfumato.data.groups import Groups
from sfumato.data.table import Table
from sfumato.principles import Principle
from sfumato.releases.manifest import Manifest
from sfumato.verification.checks import Check


def worth_check(manifest: Manifest, published: Table, asked: Sequence[Principle]) -> Check:
    """Count rows and groups again; information loss and marginals need the original's domains, and are not looked at."""
    claimed = manifest.content.get("utility")
    group = published.column(str(published.schema.group))
    suppressed = manifest.content["suppressed"]
    k = max((k for principle in asked if (k := principle.implied_k) is not None), default=None)
    sizes = ClassSizes.of(Groups(group.codes.astype(np.int64), group.size, published.rows), k, suppressed)
    found: dict[str, Any] = {"rows": published.rows, "groups": group.size, "suppressed": suppressed, "k": k}
    for key, value in {**found, "classes": sizes.to_dict()}.items():
        if not isinstance(claimed, Mapping) or claimed.get(key) != value:
            return Check("utility", False, f"{key} of the utility is not what the table has")
    return Check("utility", True, "the sizes of groups are as told; loss and marginals are not looked at")
