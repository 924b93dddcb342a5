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
from sfumato.anonymization.republication.matched_people import MatchedPeople, matched_people
from sfumato.anonymization.republication.republished_groups import RepublishedGroups, republished_groups
from sfumato.anonymization.republication.requirement_verdicts import refuse_wider_groups, verdicts
from sfumato.data.groups import dense_ranks
from sfumato.data.table import Table
from sfumato.errors import ParameterError, RequirementError
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
        return len(self.matched.value)

    def check(self, kept: Integers, principles: Sequence[Principle]) -> None:
        """Check the groups that are published, once more and exactly: which they are is known only at the end."""
        of_row = np.asarray(self.grouping.of_row, np.int64)
        whole = np.bincount(of_row)
        here = np.bincount(of_row[kept], minlength=len(whole))
        values = np.concatenate([self.matched.value, self.false_values])[kept]
        fails = _failing(self.table, self.matched, principles, dense_ranks(of_row[kept]), values)
        if fails.any() or ((here > 0) & (here < whole)).any():
            raise RequirementError(
                "nothing is published: a principle that compares groups with the whole table fails in "
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
    values = value_table(original, matched, foreign=False)
    rows = np.bincount(matched.value, minlength=values.rows)

    def holds(sets: Sequence[Sequence[int]]) -> list[bool]:
        owner = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
        elements = np.array([value for each in sets for value in each], np.int64)
        return [bool(good) for good in verdicts(values, task.principles, rows, owner, elements, len(sets))]

    groups = republished_groups(task, matched, method, seed, int(allowed * original.rows), holds)
    label = np.concatenate([groups.label, groups.false_group])
    inside = np.flatnonzero(label >= 0)
    candidates = np.concatenate([matched.value, groups.false_value])[inside]
    fails = _failing(original, matched, task.principles, dense_ranks(label[inside]), candidates)
    label[inside] = np.where(fails[dense_ranks(label[inside])], -1, label[inside])
    lost = label[: original.rows] < 0
    most = int(task.suppress * original.rows)
    if int(lost.sum()) > most:
        raise _impossible(original, matched, groups, after, allowed, lost, most)
    real = label[original.rows :] >= 0
    false_group, false_value = groups.false_group[real], groups.false_value[real]
    # a counterfeit has the quasi-identifiers of somebody in its group, so that no cell becomes wider
    some_row = np.zeros(int(label.max()) + 1, np.int64)
    some_row[label[: original.rows][~lost]] = np.flatnonzero(~lost)
    table = completed_table(original, matched, some_row[false_group], false_value)
    label = np.concatenate([label[: original.rows], false_group])
    label[label < 0] = int(label.max()) + 1  # those who are not published form a group that is not either
    claim = AfterClaim(
        release=after.sha256,
        version=after.history.version + 1,
        counterfeits=len(false_group),
        allowed=written(allowed),
    )
    private = (
        f"{len(matched.holder):,} of {count_of(original.rows, 'person', 'people')} continue groups of earlier releases; "
        f"{matched.changed:,} of those who were in earlier releases have other values now",
    )
    return RepublishedTable(
        table=table,
        searched=task.table if table is original else open_recodings(table, method)[1],
        grouping=Grouping(dense_ranks(label), _notes(claim, table.rows), private=private),
        kept=np.flatnonzero(np.concatenate([~lost, np.ones(len(false_group), bool)])),
        claim=claim,
        matched=matched,
        false_values=false_value,
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
    for principle in task.principles:
        if principle.reads_cells or principle.compares_groups:
            what = "whom cells match" if principle.reads_cells else "what facts about some people tell about others"
            raise ParameterError(
                f"a release that follows another one cannot satisfy {principle.title}: {what} in all releases together "
                "is not measured",
                remedy="Leave that principle or [after] out.",
                key="principles",
                value=principle.name,
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


def _failing(
    table: Table, matched: MatchedPeople, principles: Sequence[Principle], of_row: Integers, values: Integers
) -> NDArray[np.bool_]:
    """Return which groups do not satisfy the principles; groups are numbered from 0, and row i has the candidate i."""
    whole = value_table(table, matched, foreign=int(values.max(initial=0)) >= len(matched.first_rows))
    rows = np.bincount(values, minlength=whole.rows)
    return ~verdicts(whole, principles, rows, of_row, values, int(of_row.max(initial=-1)) + 1)


def _impossible(
    table: Table,
    matched: MatchedPeople,
    groups: RepublishedGroups,
    after: Predecessor,
    allowed: Fraction,
    lost: NDArray[np.bool_],
    most: int,
) -> RequirementError:
    """Return the error that says how many people cannot be published, why, and what would help."""
    total, new = int(lost.sum()), int(lost[groups.new].sum())
    back = int(lost[matched.displaced].sum())
    left = total - new - back
    parts = []
    if left:
        parts.append(
            f"{count_of(left, 'person', 'people')} share a group with people who left or have other values now, "
            f"{groups.vacant:,} in all, and nobody new has the same values as these"
        )
    if back:
        parts.append(f"{count_of(back, 'person', 'people')} return, and somebody else took their place meanwhile")
    if new:
        parts.append(f"{count_of(new, 'new person', 'new people')} cannot form groups that meet the requirements")
    which = f"at most {most:,} may be suppressed" if most else "no row may be suppressed"
    if allowed:
        which += f", and at most {int(allowed * table.rows):,} counterfeits are allowed"
    needed = groups.vacant + len(groups.false_group) if left and table.schema.person_id is None else 0
    share = f"{needed:,} counterfeits ({written(Fraction(needed, table.rows))} of the rows), or " if needed else ""
    return RequirementError(
        f"nothing is published after {after.folder}: {'; '.join(parts)}; {which}",
        remedy=f"Allow {share}a share of {written(Fraction(total, table.rows))} of the rows to be suppressed.",
        file=table.source,
        key="counterfeits" if needed else "suppress",
        value={"people": total, "counterfeits": needed},
    )
