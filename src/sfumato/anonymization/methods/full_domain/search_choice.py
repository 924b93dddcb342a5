"""Which search suits a lattice: one that knows every transformation, or one within a budget."""

from __future__ import annotations

import math

from sfumato.anonymization.methods.full_domain.bounded_search import DEFAULT_CHECKS, BoundedSearch
from sfumato.anonymization.methods.full_domain.equivalence_classes import TransformationCube
from sfumato.anonymization.methods.full_domain.transformation_checks import SearchResult, TransformationChecks
from sfumato.anonymization.methods.full_domain.transformation_search import TransformationSearch
from sfumato.anonymization.methods.method import Task

LARGEST_LATTICE = 1 << 24
"""The largest number of transformations that are all kept in memory: one float and one byte for each."""


def search_lattice(
    task: Task,
    loss: str,
    *,
    settled: bool,
    count: bool = False,
    checks: int | None = None,
    seconds: float | None = None,
) -> tuple[TransformationChecks, SearchResult]:
    """Search the lattice of a task; return the search, with its cube, and the result.

    Up to `LARGEST_LATTICE` transformations the search ends with the optimum unless `checks` or `seconds` stop it. A larger
    lattice is searched within a budget: `checks`, `seconds` or, if neither is set, `DEFAULT_CHECKS`.
    """
    cube = TransformationCube(task)
    if is_small(cube):
        search = TransformationSearch(task, loss, settled=settled, cube=cube)
        return search, search.best(count=count, checks=checks, seconds=seconds)
    bounded = BoundedSearch(task, loss, settled=settled, cube=cube)
    if checks is None and seconds is None:
        checks = DEFAULT_CHECKS
    return bounded, bounded.best(checks=checks, seconds=seconds)


def is_small(cube: TransformationCube) -> bool:
    """Return whether a search can keep every transformation in memory."""
    return math.prod(height + 1 for height in cube.heights) <= LARGEST_LATTICE
