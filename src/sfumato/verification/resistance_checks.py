"""Check what release.json states about attacks that the release withstands, as far as its files show it."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.principles import Principle
from sfumato.releases.models import GroupedTable
from sfumato.resistance import method_problem
from sfumato.verification.checks import Check


def resistance_check(document: GroupedTable, requested: Sequence[Principle]) -> Check | None:
    """Check that the method, the principles and the schema are those of the proof; None if nothing is stated.

    That the groups were found by this method cannot be seen in the files: repeat the release with its key for that.
    """
    resist = document.resist
    if not resist:
        return None
    problem = method_problem(resist, document.method.name)
    other = next((principle for principle in requested if not principle.histogram_only), None)
    if problem is None and other is not None:
        problem = f"the proof does not cover {other.title}, which does not depend on the secrets of a group alone"
    for key in ("person_id", "household_id", "preserve"):
        if problem is None and getattr(document.config, key):
            problem = f"the proof does not cover releases with {key}"
    detail = f"resist {', '.join(resist)}: the method, the principles and the schema are those of the proof"
    return Check("resist", problem is None, problem or detail)
