"""Assess whether several requirements can be met together, by the same groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._audit import table_of
from sfumato.anonymization.feasibility.assessment import Feasibility, Nearby, Verdict, feasibility
from sfumato.anonymization.feasibility.nearest_parameters import MORE_THAN_ONE
from sfumato.anonymization.methods import Task
from sfumato.anonymization.nearest_requirements import NearestRequirement, nearest_requirements
from sfumato.anonymization.strata_feasibility import refuse_impossible_strata
from sfumato.data.groups import Groups
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import RequirementError
from sfumato.exact import Number
from sfumato.parameters import check_share
from sfumato.plurals import count_of
from sfumato.principles import Certificate, Dissimilarity, Principle, PrincipleRequest, requested_principles

_ORDERS = 4
"""By how many sensitive attributes, one after the other, rows are sorted before they are dealt to groups."""


@dataclass(frozen=True, repr=False)
class JointFeasibility:
    """Whether groups exist that satisfy several requirements at once; see `joint_feasibility`.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> table = sf.Table(pa.table({"x": [1, 2, 3, 4, 5, 6]}), sf.Schema(sensitive=["x"]))
    >>> joint_feasibility(table, None, [sf.KAnonymity(3), sf.Dissimilarity(epsilon=2, delta=1)])
    impossible: no grouping of these rows can satisfy (ε,δ)^k-dissimilarity (epsilon = 2, delta = 1, k = 1) on x in groups of
    at least 3: the values 1 to 3 make up 3 of the 6 rows (50.0 %) and lie within ε = 2 of one another; at δ = 1 no groups of
    at least 3 can hold more than 2 such rows (33.3 %)
      nearest: k-anonymity (k = 2)
      nearest: (ε,δ)^k-dissimilarity (epsilon = 1, delta = 1, k = 1)
      nearest: (ε,δ)^k-dissimilarity (epsilon = 2, delta = 0.5, k = 1)
    """

    requirements: tuple[Feasibility, ...]
    """Each requirement alone."""
    verdict: Verdict
    """Of all of them together."""
    reason: str
    """Why, in words."""
    groups: int = 0
    """A number of groups for which it is guaranteed; 1 if only the table as one group is known to satisfy all of them."""
    certificate: Certificate | None = None
    """A certificate that they are impossible, if there is one."""
    nearest: tuple[NearestRequirement, ...] = ()
    """Requirements near those that make it impossible, each with one other parameter."""

    @property
    def only_one_group(self) -> bool:
        """Whether nothing more is known than that the table as one group satisfies them: it would publish nothing."""
        return self.groups == 1

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, ready for JSON."""
        return {
            "verdict": self.verdict,
            "reason": self.reason,
            "groups": self.groups,
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
            "requirements": [requirement.to_dict() for requirement in self.requirements],
            "nearest": [one.to_dict() for one in self.nearest],
        }

    def __repr__(self) -> str:
        return "\n".join([f"{self.verdict}: {self.reason}", *(f"  nearest: {one.principle.label}" for one in self.nearest)])


def joint_feasibility(
    data: Any,
    schema: Schema | None,
    principles: PrincipleRequest | Sequence[PrincipleRequest],
    *,
    suppress: Number = 0,
    nearby: Nearby = True,
) -> JointFeasibility:
    """Assess whether any grouping of a table can satisfy several principles at once.

    `data`, `schema` and `principles`: as in `sf.audit`. `suppress`: the share of rows that may be dropped; then only a
    certificate that rules out every part of the table counts. `nearby`: whether the nearest requirements are searched for
    where it is impossible. Many numbers of groups are tried if it is true, and few with "quick" and False.

    impossible: one of them is ruled out, alone or in groups as large as another one requires, or a limit on cells keeps rows
    apart that cannot meet them. guaranteed: a bound proves it, or groups were made and measured: the rows, sorted by a
    sensitive attribute, are dealt to the groups one after the other. Such groups ignore the quasi-identifiers, so they show
    that a release exists, not a good one. open: neither is known. Every verdict is exact.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": range(40), "ill": ["flu", "gout", "cold", "ulcer"] * 10})
    >>> wanted = [sf.KAnonymity(5), sf.FrequencyLDiversity(3), sf.TCloseness("0.2")]
    >>> joint_feasibility(people, sf.Schema(["age"], ["ill"]), wanted)
    guaranteed: 4 groups satisfy all requirements: the rows, sorted by ill, are dealt to them in turn
    """
    requested, share = requested_principles(principles), check_share(suppress)
    table = table_of(data, schema)
    alone = tuple(feasibility(table, None, principle, nearby=False) for principle in requested)
    ruled_out = _ruled_out(table, requested, share)
    if ruled_out:
        reason, certificate = next(iter(ruled_out.values()))
        near: tuple[NearestRequirement, ...] = ()
        if nearby:
            near = nearest_requirements(table, requested, lambda changed: frozenset(_ruled_out(table, changed, share)))
        return JointFeasibility(alone, "impossible", reason, 0, certificate, near)
    kept_apart = _kept_apart(Task(table, requested, suppress=share), share)
    if kept_apart is not None:
        return JointFeasibility(alone, "impossible", kept_apart)
    groups, reason = _guaranteed(table, requested, alone, nearby is True)
    if groups:
        return JointFeasibility(alone, "guaranteed", reason, groups)
    return JointFeasibility(alone, "open", "nothing rules them out together, and no bound proves that groups exist")


def least_group(principles: Sequence[Principle]) -> int:
    """Return the smallest size of groups that some principles allow together.

    >>> import sfumato as sf
    >>> least_group([sf.KAnonymity(5), sf.Dissimilarity(1, "0.5", 10)])
    10
    """
    return max((principle.implied_k or 1 for principle in principles), default=1)


def in_groups_of(principle: Principle, k: int) -> Principle:
    """Return a principle with groups of at least k, where that can be stated as a dissimilarity; else the principle."""
    near = principle.as_dissimilarity()
    return principle if near is None or near.k >= k else replace(near, k=k)


def _ruled_out(table: Table, principles: Sequence[Principle], share: Fraction) -> dict[int, tuple[str, Certificate | None]]:
    """Return the requirements that no grouping can satisfy in groups as large as all of them require, with the reasons.

    If rows may be dropped, only a certificate counts that rules out every part of the table.
    """
    k = least_group(principles)
    found: dict[int, tuple[str, Certificate | None]] = {}
    for position, principle in enumerate(principles):
        for raised in dict.fromkeys([principle, in_groups_of(principle, k)]):
            known = feasibility(table, None, raised, nearby=False)
            certificate = known.certificate
            if certificate is not None and (certificate.any_rows or not share):
                first = next(each for each in known.attributes if each.verdict == "impossible")
                on = "" if first.attribute is None else f" on {first.attribute}"
                larger = "" if raised is principle else f" in groups of at least {k}"
                text = f"no grouping of these rows can satisfy {principle.label}{on}{larger}: {first.reason}"
                found[position] = (text, certificate)
                break
    return found


def _kept_apart(task: Task, share: Fraction) -> str | None:
    """Return why limits on cells leave some rows that cannot meet the requirements; None if they do not."""
    try:
        refuse_impossible_strata(task, share)
    except RequirementError as error:
        return error.problem.removeprefix("nothing is published: ")
    return None


def _guaranteed(
    table: Table, principles: tuple[Principle, ...], alone: Sequence[Feasibility], thorough: bool
) -> tuple[int, str]:
    """Return a number of groups that exist, as many as is known, and why; 0 if none is known to exist."""
    proven, reason = _by_bounds(table, principles)
    task = Task(table, principles)
    most = Groups.of(table, ()).population // least_group(principles)
    for groups in _numbers(most, thorough):
        if groups <= proven:
            break
        dealt_by = _dealt(task, groups)
        if dealt_by is not None:
            many = count_of(groups, "group")
            return groups, f"{many} satisfy all requirements: the rows{dealt_by} are dealt to them in turn"
    if proven:
        return proven, reason
    if task.strata is None and all(each.certain_as_one_group for each in alone):
        return 1, "the table as one group satisfies all requirements; no more is guaranteed"
    return 0, ""


def _by_bounds(table: Table, principles: Sequence[Principle]) -> tuple[int, str]:
    """Return how many groups a bound guarantees for one dissimilarity and sizes of groups; 0 if there is more than that."""
    near = [principle for principle in principles if not principle.size_only]
    limited = bool(table.schema.never_mix or table.schema.coarsest)
    if limited or len(near) != 1 or not isinstance(raised := in_groups_of(near[0], least_group(principles)), Dissimilarity):
        return 0, ""
    found = feasibility(table, None, raised, nearby=False).attributes
    return (found[0].groups, found[0].reason) if len(found) == 1 and found[0].bounds is not None else (0, "")


def _numbers(most: int, thorough: bool) -> list[int]:
    """Return the numbers of groups that are tried, the largest first, each more than one."""
    shifts = range(most.bit_length())
    tried = [most >> shift for shift in shifts] if thorough else [most, isqrt(most), MORE_THAN_ONE]
    return [number for number in dict.fromkeys(tried) if MORE_THAN_ONE <= number <= most]


def _dealt(task: Task, groups: int) -> str | None:
    """Deal the rows to about a number of groups, by one attribute after the other; return which satisfies everything."""
    table, strata = task.table, task.strata
    stratum = np.zeros(table.rows, np.int64) if strata is None else strata.of_row
    codes = {" + ".join(names): view.attribute.codes for names, view in task.views.items() if names}
    for names, view in task.views.items():  # an attribute of several columns has no natural order: try that of each column
        if len(names) > 1:
            codes |= {column.name: column.codes.astype(np.int64) for column in view.attribute.columns}
    for first in list(codes)[:_ORDERS] or [""]:
        keys = [codes[name] for name in codes if name != first] + [codes[name] for name in codes if name == first]
        of_row = dealt_rows(stratum, keys, groups, None if table.units is None else table.units.of_row)
        if task.satisfied(of_row).all():
            return first and f", sorted by {first},"
    return None


def dealt_rows(
    stratum: NDArray[np.int64], keys: Sequence[NDArray[np.int64]], groups: int, units: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Sort rows by some keys, the last one first, and deal them to groups one after the other, within each stratum.

    `units`: whose row each row is; the rows of one unit go to one group if they are in one stratum. Each stratum gets groups
    according to its size, at least one.

    >>> rows = dealt_rows(np.zeros(6, np.int64), [np.array([0, 1, 2, 0, 1, 2])], 2)
    >>> rows.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    rows = len(stratum)
    order = np.lexsort([*keys, stratum])
    if units is None:
        dealt = order
    else:  # the first row of each unit in each stratum stands for the unit
        _, first = np.unique(stratum[order] * (int(units.max()) + 1) + units[order], return_index=True)
        dealt = order[np.sort(first)]
    sizes = np.bincount(stratum[dealt])
    shares = np.maximum(sizes * groups // len(dealt), 1) * (sizes > 0)
    starts, offsets = np.cumsum(sizes) - sizes, np.cumsum(shares) - shares
    place = np.arange(len(dealt)) - starts[stratum[dealt]]
    number = offsets[stratum[dealt]] + place % np.maximum(shares, 1)[stratum[dealt]]
    of_row = np.empty(rows, np.int64)
    of_row[dealt] = number
    if units is not None:
        width = int(units.max()) + 1
        ids, position = np.unique(stratum[dealt] * width + units[dealt], return_index=True)
        of_row = number[position[np.searchsorted(ids, stratum * width + units)]]
    return of_row
