"""The audit of a frame of Spark whose rows stay on the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.audits.audit_result import Audit, Finding, values_shown
from sfumato.data.schema import Schema
from sfumato.errors import ParameterError
from sfumato.principles import Principle
from sfumato.spark.cluster_frames import ClusterFrames
from sfumato.spark.cluster_parts import ClusterParts
from sfumato.spark.frame_measurement import FrameFinding, FrameMeasurement, ListedGroup, measure_frame, measure_rows
from sfumato.spark.row_sources import RowSource


@dataclass(frozen=True, eq=False)
class ClusterFinding(Finding):
    """The result of one principle on a table whose rows are on a cluster; its measurement is that of the worst groups."""

    numbers: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """The numbers of the groups that the measurement contains."""
    group_count: int = 0
    violating_groups: int = 0
    violating_rows: int = 0

    @classmethod
    def of(cls, found: FrameFinding, groups: int, listed: Mapping[int, ListedGroup]) -> ClusterFinding:
        """Return the finding of a measurement; `groups`: the number of all groups."""
        return cls(
            found.principle,
            found.attribute,
            found.measurement,
            np.array([listed[int(number)].rows for number in found.numbers], np.int64),
            found.distance,
            found.numbers,
            groups,
            found.violating_groups,
            found.violating_rows,
        )

    @property
    def groups(self) -> int:
        """The number of groups."""
        return self.group_count

    def position(self, group: int) -> int:
        """Return where the measurement has a group."""
        at = int(np.searchsorted(self.numbers, group))
        if at == len(self.numbers) or self.numbers[at] != group:
            raise _not_listed(f"group {group} is not among the worst {len(self.numbers)} groups")
        return at

    def worst_groups(self, most: int = 5) -> list[int]:
        """Return the numbers of the worst groups, violating ones first."""
        if most > len(self.numbers) < self.group_count:
            raise _not_listed(f"{most} worst groups are requested, and {len(self.numbers)} are kept")
        return [int(number) for number in self.numbers[self.measurement.badness()[:most]]]


@dataclass(frozen=True, eq=False, repr=False)
class ClusterAudit(Audit):
    """The findings of an audit whose rows stay on a cluster: text and JSON are the same as those of `Audit`.

    It knows the worst groups of each principle, the dictionaries of the columns, and how many rows and groups there are.
    """

    listed: Mapping[int, ListedGroup] = field(default_factory=dict)
    """The worst groups, by their numbers."""

    def __getstate__(self) -> dict[str, Any]:
        _ = self.notes  # a pickle of the table leaves the dictionaries out
        return super().__getstate__()

    def quasi_identifiers(self, group: int) -> dict[str, str]:
        """Return the quasi-identifiers of a group, for display."""
        schema, found = self.table.schema, self._group(group)
        if schema.group is None:
            return dict(zip(schema.quasi_identifiers, found.key, strict=True))
        shown = [values_shown(labels, count) for labels, count in found.shown]
        return {schema.group: found.key[0], **dict(zip(schema.quasi_identifiers, shown, strict=True))}

    def rows_in(self, group: int) -> int:
        """Return the number of rows of a group."""
        return self._group(group).rows

    def details(self) -> Any:
        """Raise an error: the groups stay on the cluster."""
        raise _not_listed("the groups are on the cluster, and only the worst of them are known here")

    def _group(self, group: int) -> ListedGroup:
        if group not in self.listed:
            raise _not_listed(f"group {group} is not among the worst groups")
        return self.listed[group]


def audit_frame(
    frame: Any, schema: Schema, principles: Sequence[Principle], cluster: ClusterParts, source: str | None
) -> ClusterAudit:
    """Measure principles on a frame of Spark by the executors of a cluster; `source`: its name, for errors."""
    return _audit_of(measure_frame(frame, schema, principles, cluster, source))


def audit_rows(
    frames: ClusterFrames, rows: RowSource, schema: Schema, principles: Sequence[Principle], *, untyped: bool
) -> ClusterAudit:
    """Measure principles on rows that executors read; `untyped`: as in `Table`."""
    return _audit_of(measure_rows(frames, rows, schema, principles, untyped=untyped))


def _audit_of(found: FrameMeasurement) -> ClusterAudit:
    findings = [ClusterFinding.of(each, found.groups.count, found.listed) for each in found.findings]
    return ClusterAudit(found.table, found.groups, tuple(findings), listed=found.listed)


def _not_listed(problem: str) -> ParameterError:
    return ParameterError(
        problem, remedy='Audit with engine="stream", which keeps the rows on this machine.', key="engine", value="spark"
    )
