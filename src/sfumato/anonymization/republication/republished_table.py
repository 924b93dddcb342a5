"""Republish a table: groups that narrow nobody's candidates below the requirements, with counterfeits if allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.methods import Grouping, Method, Task
from sfumato.anonymization.recoding_choice import open_recodings
from sfumato.anonymization.republication.candidate_rows import completed_table, value_table
from sfumato.anonymization.republication.counterfeits import with_counterfeits
from sfumato.anonymization.republication.matched_people import MatchedPeople, matched_people
from sfumato.anonymization.republication.partition_checks import Partition, PartitionChecks
from sfumato.anonymization.republication.republished_groups import republished_groups
from sfumato.anonymization.republication.requirement_verdicts import RequirementVerdicts, refuse_wider_groups
from sfumato.data.groups import dense_ranks
from sfumato.data.table import Table
from sfumato.errors import ParameterError, RequirementError, SfumatoError
from sfumato.exact import written
from sfumato.plurals import count_of
from sfumato.principles import Principle
from sfumato.releases.candidates import candidate_columns
from sfumato.releases.models import AfterClaim
from sfumato.releases.predecessor import Predecessor
from sfumato.storage import active_storage

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RepublishedTable:
    """Groups of a table that was released before, and the counterfeits in them."""

    table: Table
    """The table, with counterfeits below its own rows."""
    searched: Table
    """The same under the recodings of the search."""
    grouping: Grouping
    kept: Integers
    """The rows that nobody's candidates forbid to publish."""
    claim: AfterClaim
    matched: MatchedPeople
    false_values: Integers
    """The candidate of each counterfeit."""

    @property
    def people(self) -> int:
        """The number of rows that stand for people; the others are counterfeits."""
        return len(self.matched.people.value)

    def check(self, kept: Integers, principles: Sequence[Principle]) -> None:
        """Check the rows that are published, once more and exactly: which they are is known only at the end."""
        people, of_row = self.matched.people, np.asarray(self.grouping.of_row, np.int64)
        real, false = kept[kept < self.people], kept[kept >= self.people]
        label = np.full(self.people, -1)
        label[real] = of_row[real]
        partition = Partition(label, of_row[false], self.false_values[false - self.people])
        values = value_table(self.table, self.matched, foreign=bool(len(self.false_values)))
        published = np.concatenate([people.value[real], partition.false_value])
        verdicts = RequirementVerdicts(values, principles, np.bincount(published, minlength=values.rows))
        fails = PartitionChecks(people, verdicts)(partition).fails
        if fails.any():
            raise RequirementError(
                "nothing is published: a principle that compares groups with the whole table fails over several releases in "
                f"{count_of(int(fails.sum()), 'group')} once rows are suppressed or counterfeits are added",
                remedy="Relax the requirements, or allow a larger share of the rows to be suppressed.",
                file=self.table.source,
            )


def republished_table(
    task: Task, method: Method, seed: int, after: Predecessor, allowed: Fraction, original: Table
) -> RepublishedTable:
    """Find groups for a new version of a table.

    `task`: with the table under the recodings of the search; `original`: the same table as it is published. `allowed`: the
    largest share of counterfeits. If the requirements cannot be met for everybody, rows are suppressed as far as the task
    allows; otherwise `RequirementError` says how many people are concerned, and what is missing.
    """
    _check_request(task, method, after, allowed)
    task.progress("matching people with earlier releases")
    matched = matched_people(original, after.history)
    values = value_table(original, matched, foreign=allowed > 0)
    rows = np.bincount(matched.people.value, minlength=values.rows)
    verdicts = RequirementVerdicts(values, task.principles, rows)
    partition = republished_groups(task, matched.people, verdicts, method, seed, counterfeits=allowed > 0)
    checks = PartitionChecks(matched.people, verdicts)
    dropped = _dropped(checks, partition, int(allowed * original.rows))
    if len(dropped):
        lost = np.isin(partition.label, dropped)
        most = int(task.suppress * original.rows)
        if int(lost.sum()) > most:
            raise _impossible(original, matched, partition, task.principles, after, allowed, lost, most)
    published = ~np.isin(partition.false_group, dropped)
    partition = Partition(partition.label, partition.false_group[published], partition.false_value[published])
    # a counterfeit has the quasi-identifiers of somebody in its group, so that no cell becomes wider
    some_row = np.zeros(partition.end, np.int64)
    some_row[partition.label] = np.arange(original.rows)
    table = completed_table(original, matched, some_row[partition.false_group], partition.false_value)
    label = np.concatenate([partition.label, partition.false_group])
    searched = task.table if table is original else open_recodings(table, method)[1]
    claim = AfterClaim(
        release=after.sha256,
        version=after.history.version + 1,
        counterfeits=len(partition.false_group),
        allowed=written(allowed),
    )
    notes = _notes(claim, table.rows)
    private = (
        f"{matched.known:,} of {count_of(original.rows, 'person', 'people')} are in earlier releases, "
        f"{matched.changed:,} of them with other values",
    )
    return RepublishedTable(
        table=table,
        searched=searched,
        grouping=Grouping(dense_ranks(label), notes, private=private),
        kept=np.flatnonzero(~np.isin(label, dropped)),
        claim=claim,
        matched=matched,
        false_values=partition.false_value,
    )


def _notes(claim: AfterClaim, rows: int) -> tuple[str, ...]:
    follows = f"this is version {claim.version} of a sequence of releases, each of which names the release that it follows"
    if not claim.counterfeits:
        return (follows,)
    return follows, f"{claim.counterfeits:,} of {count_of(rows, 'row')} are counterfeits, which stand for nobody"


def _check_request(task: Task, method: Method, after: Predecessor, allowed: Fraction) -> None:
    """Raise an error for a request that cannot be served, before any work is done."""
    table = task.table
    if active_storage() is not None:
        raise ParameterError(
            "a release can follow another one only in memory",
            remedy='Use the engine "local".',
            key="engine",
            file=table.source,
        )
    if method.publishes_levels:
        raise ParameterError(
            f"the method {method.name} publishes every column at one level, and cannot keep earlier groups together",
            remedy="Use glaze, mondrian or xcolor.",
            key="method",
            value=method.name,
        )
    refuse_wider_groups(task.principles)
    after.check(table.schema, task.principles, candidate_columns(table.schema, table.data.column_names))
    if table.schema.person_id is not None and allowed:
        raise ParameterError(
            "counterfeits stand for nobody, and the schema declares the person of each row",
            remedy="Remove counterfeits; or remove person_id, and declare the column as the only identifier.",
            key="counterfeits",
            value=written(allowed),
        )


def _dropped(checks: PartitionChecks, partition: Partition, most: int) -> Integers:
    """Return the groups that cannot be published: those that fail, and those with more counterfeits than are allowed."""
    findings = checks(partition)
    failing = findings.groups[findings.fails]
    sizes = np.bincount(partition.label, minlength=partition.end)
    false = np.bincount(partition.false_group, minlength=partition.end)
    false[failing] = 0
    # groups that need most counterfeits for each of their people are dropped first
    order = np.argsort(-false / np.maximum(1, sizes), kind="stable")
    beyond = np.cumsum(false[order][::-1])[::-1]  # the counterfeits of a group and all after it
    excess = order[(beyond > most) & (false[order] > 0)]
    return np.concatenate([failing, excess])


def _impossible(
    table: Table,
    matched: MatchedPeople,
    partition: Partition,
    principles: Sequence[Principle],
    after: Predecessor,
    allowed: Fraction,
    lost: NDArray[np.bool_],
    most: int,
) -> RequirementError:
    """Return the error that says how many people cannot be published, why, and what would help."""
    known = int((lost & ~matched.people.new).sum())
    needed = None if table.schema.person_id is not None else _needed(table, matched, partition, principles)
    which = f"at most {most:,} may be suppressed" if most else "no row may be suppressed"
    if allowed:
        which += f", and at most {int(allowed * table.rows):,} counterfeits are allowed"
    missing = "" if not needed else f"; {count_of(needed, 'counterfeit')} in place of people who left or changed would do"
    share = "" if not needed else f"counterfeits ({written(Fraction(needed, table.rows))} of the rows), or allow "
    return RequirementError(
        f"nothing is published: together with the releases up to {after.folder}, the candidates of "
        f"{count_of(int(lost.sum()), 'person', 'people')} ({known:,} of them in earlier releases) would not meet the "
        f"requirements, and {which}{missing}",
        remedy=f"Allow {share}a share of {written(Fraction(int(lost.sum()), table.rows))} of the rows to be suppressed.",
        file=table.source,
        key="counterfeits" if needed else "suppress",
        value={"people": int(lost.sum()), "counterfeits": needed},
    )


def _needed(table: Table, matched: MatchedPeople, partition: Partition, principles: Sequence[Principle]) -> int | None:
    """Return how many counterfeits would suffice; None if counterfeits alone do not."""
    try:
        values = value_table(table, matched, foreign=True)
    except SfumatoError:
        return None
    rows = np.bincount(matched.people.value, minlength=values.rows)
    checks = PartitionChecks(matched.people, RequirementVerdicts(values, principles, rows))
    completed = with_counterfeits(checks, Partition(partition.label))
    return None if checks(completed).fails.any() else len(completed.false_group)
