"""Check what release.json states about attacks that the release withstands, as far as its files show it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sfumato.data.hierarchy import Intervals
from sfumato.data.hierarchy_builders.dates import Dates
from sfumato.data.public_grids import with_public_grids
from sfumato.data.schema import Kind, Schema
from sfumato.data.table import Table
from sfumato.principles import Principle
from sfumato.releases.models import GroupedTable
from sfumato.resistance import ENDS, method_problem, resisting_method
from sfumato.verification.checks import Check


def resistance_check(document: GroupedTable, requested: Sequence[Principle]) -> Check | None:
    """Check that the method, the principles, the schema and the recodings are those of the proofs; None without a claim.

    That the groups were found by this method cannot be seen in the files: repeat the release with its key for that.
    """
    resist = document.resist
    if not resist:
        return None
    problem = method_problem(resist, document.method.name)
    ends = next((column.name for column in document.columns if column.recoding == "interval"), None)
    if problem is None and ENDS in resist and ends is not None:
        problem = f"{ends!r} is published as intervals, which end at values of rows"
    if problem is not None or resisting_method(resist) is None:
        return Check("resist", problem is None, problem or f"resist {', '.join(resist)}: no cell is an interval of values")
    other = next((principle for principle in requested if not principle.histogram_only), None)
    if other is not None:
        problem = f"the proof does not cover {other.title}, which does not depend on the secrets of a group alone"
    for key in ("person_id", "household_id", "preserve"):
        if problem is None and getattr(document.config, key):
            problem = f"the proof does not cover releases with {key}"
    detail = f"resist {', '.join(resist)}: the method, the principles and the schema are those of the proof"
    return Check("resist", problem is None, problem or detail)


def with_stated_grids(
    schema: Schema, declared: Schema, resist: Sequence[str] | None, original: Callable[[Schema], Table] | None
) -> Schema:
    """Return the schema that a caller expects, with the public grids that a release has if it resists attacks on ends.

    They follow from the original; without it those that release.json declares are taken, as far as they are public grids.
    """
    if ENDS not in (resist or ()):
        return schema
    if original is not None:
        return with_public_grids(original(schema)).schema
    stated = {
        name: tree
        for name, tree in declared.hierarchies.items()
        if name not in schema.hierarchies and isinstance(tree, Intervals | Dates)
    }
    nodes = {
        name: "ancestor"
        for name in declared.quasi_identifiers
        if declared.recodings.get(name) == "ancestor" and declared.kinds.get(name) in (Kind.NUMERIC, Kind.DATE, Kind.ORDINAL)
    }
    return replace(schema, hierarchies={**schema.hierarchies, **stated}, recodings={**nodes, **schema.recodings})
