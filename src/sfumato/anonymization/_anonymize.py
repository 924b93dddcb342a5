"""Anonymize a table: find groups in which every principle holds, and publish them; or say why not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._audit import Audit, audit, finding_heading, library_of, table_of, worst_shown
from sfumato.anonymization.failure_reasons import reasons
from sfumato.anonymization.feasibility import feasibility
from sfumato.anonymization.methods import AUTO, Method, Task, default_method, method_of
from sfumato.anonymization.methods.method import FINDING
from sfumato.anonymization.published_table import PublishedTable, frame_of, publish
from sfumato.anonymization.release import PrivateRelease, Release
from sfumato.anonymization.undeclared_columns import check_undeclared
from sfumato.data.schema import Role, Schema
from sfumato.data.table import Table
from sfumato.errors import ParameterError, RequirementError
from sfumato.exact import Number
from sfumato.parameters import check_seed, check_share
from sfumato.plurals import count_of
from sfumato.principles import Principle, PrincipleRequest, attributes_of, requested_principles
from sfumato.progress import Progress, silent
from sfumato.releases.declarations import resolved_schema


def anonymize(
    data: Any,
    schema: Schema | None,
    principles: PrincipleRequest | Sequence[PrincipleRequest],
    *,
    method: Method | str | None = None,
    seed: int = 0,
    suppress: Number = 0,
    progress: Progress = silent,
) -> Release:
    """Find groups of rows in which every principle holds, and publish each group's quasi-identifiers as what covers it.

    `data`: a path, a frame of pandas, polars or pyarrow, or a Table (whose schema stands if none is given). `method`: a
    method or its name; the same data, method and seed give the same release. `suppress`: the largest share of the rows
    that may be dropped, as a last resort. `progress`: told how far the work has got, see `sf.Progress`. If the principles
    cannot be reached, `RequirementError` says how far it got, and what is known of why.

    >>> import sfumato as sf
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "gout", "flu", "cold"]})
    >>> release = anonymize(people, sf.Schema(["age"], ["ill"]), [sf.KAnonymity(2), sf.DistinctLDiversity(2)])
    >>> release.audit.holds, release.frame.column_names
    (True, ['group', 'age', 'ill'])
    """
    asked, seed, share = requested_principles(principles), check_seed(seed), check_share(suppress)
    chosen = _method(method, asked)
    return anonymized(table_of(data, schema), data, asked, chosen, seed, share, progress)


def anonymized(
    table: Table,
    data: Any,
    asked: tuple[Principle, ...],
    method: Method | str | None,
    seed: int,
    share: Fraction,
    progress: Progress = silent,
) -> Release:
    """Do so for a table whose wishes are checked; `data`: the same rows in the library that the frame is to be in."""
    chosen = _method(method, asked)
    check(table, asked)
    check_undeclared(table)
    if not share:
        progress("looking at what is possible")
        _refuse_impossible(table, asked)
    progress(FINDING)
    grouping = chosen.group(Task(table, asked, progress, share), seed)
    of_row = partition(grouping.of_row, table.rows, chosen)
    progress("publishing")
    resolved = resolved_schema(table)
    published, found, kept = _suppressed(table, resolved, of_row, grouping.levels, asked, seed, share)
    library = library_of(data)
    dropped = table.rows - len(kept)
    return Release(
        table=published.table,
        audit=replace(found, library=library),
        schema=resolved,
        principles=asked,
        method=chosen,
        seed=seed,
        suppress=share,
        suppressed=dropped,
        recodings=published.recodings,
        levels=published.levels,
        notes=_notes(table, published, dropped, grouping.notes),
        private=PrivateRelease(
            original=table,
            kept=published.original,
            kept_rows=kept,
            recoding=published.recoding,
            notes=(*reading_notes(table), *grouping.private),
            make_frame=partial(frame_of, published, data, library, kept),
        ),
    )


def _method(method: Method | str | None, asked: Sequence[Principle]) -> Method:
    if isinstance(method, Method):
        return method
    if method in (None, AUTO):
        return default_method(asked)
    if isinstance(method, str):
        return method_of(method, {})
    raise ParameterError(
        f"{method!r} is no method", remedy='Give a method or its name, such as "auto".', key="method", value=method
    )


def check(table: Table, principles: Sequence[Principle]) -> None:
    """Refuse what cannot be anonymized, before any work is done."""
    schema = table.schema
    if schema.person_id is not None:
        raise ParameterError(
            f"several rows per person (person_id = {schema.person_id!r}) are not served: a person's rows could fall into "
            "different groups and give each other away",
            remedy="Bring the table to one row per person, and drop person_id.",
            key="person_id",
            file=table.source,
            value=schema.person_id,
        )
    if schema.group is not None:
        raise ParameterError(
            f"the schema says that column {schema.group!r} tells the groups, and here the groups are to be found",
            remedy="Drop group from the schema; give the column the role identifier if it must not be published.",
            key="group",
            file=table.source,
            value=schema.group,
        )
    if not schema.quasi_identifiers:
        raise ParameterError(
            "the schema names no quasi-identifier, so there is nothing to recode",
            remedy='Give a column the role "quasi-identifier".',
            key="quasi_identifiers",
            file=table.source,
        )
    for name in (*schema.quasi_identifiers, *schema.sensitive_columns()):
        table.column(name)  # what was declared must be true of every column, asked about or not
    for principle in principles:
        attributes_of(principle, schema)


def partition(of_row: NDArray[np.int64], rows: int, method: Method) -> NDArray[np.int64]:
    """What a method returned, checked to be a partition and numbered without gaps."""
    found = np.asarray(of_row)
    if found.shape != (rows,) or not np.issubdtype(found.dtype, np.integer):
        raise ParameterError(
            f"the method {method.name} did not give every row a group",
            remedy="Mend it: it must return one whole number per row.",
            key="method",
            value=method.name,
        )
    return np.unique(found, return_inverse=True)[1].astype(np.int64)


def _suppressed(
    table: Table,
    resolved: Schema,
    of_row: NDArray[np.int64],
    levels: tuple[int, ...] | None,
    principles: tuple[Principle, ...],
    seed: int,
    share: Fraction,
) -> tuple[PublishedTable, Audit, NDArray[np.int64]]:
    """Publish, and check what is published; drop the rows of groups in breach while the share allows.

    What is left is measured anew each time, because some principles compare a group with the table as a whole.
    """
    kept = np.arange(table.rows)
    most = int(share * table.rows)
    first: Audit | None = None
    while True:
        part = table
        if len(kept) < table.rows:  # the kinds stay those of the whole table
            part = table.take(kept, resolved)
        part_of_row = np.unique(of_row[kept], return_inverse=True)[1].astype(np.int64)
        published = publish(part, part_of_row, seed, levels)
        try:
            found = audit(published.table, None, principles)
        except ParameterError:
            if first is None:
                raise
            # fewer rows are left than a principle speaks of: none of them can be published
            raise _unreached(Task(table, principles), first, most, table.rows) from None
        first = first or found
        if found.holds:
            return published, found, kept
        # the audit numbers groups from 0 in the order of their published numbers
        fine = np.logical_and.reduce([finding.measurement.group_holds for finding in found])
        left = kept[fine[published.of_group[part_of_row] - 1]]
        if table.rows - len(left) > most:
            raise _unreached(Task(table, principles), first, most, table.rows - len(left))
        kept = left


def _refuse_impossible(table: Table, asked: Sequence[Principle]) -> None:
    """Say so at once if a certificate rules a principle out: no search could end well."""
    found = [(principle, feasibility(table, None, principle, nearby=False)) for principle in asked]
    # a k beyond the table is bad input, and said so where groups are measured
    ruled_out = [p for p, outlook in found if outlook.certificate is not None and outlook.certificate.kind != "size"]
    if ruled_out:
        known = " ".join(f"{reason.text}." for reason in reasons(table, ruled_out))
        raise RequirementError(
            f"nothing is published: {known.removesuffix('.')}",
            remedy="Ask for less, or allow a share of the rows to be suppressed.",
            file=table.source,
            value=[principle.name for principle in ruled_out],
        )


def _unreached(task: Task, found: Audit, most: int, needed: int) -> RequirementError:
    """The error that says how far the method got: which principles fail, where, and by how much."""
    failing = [finding for finding in found if not finding.holds]
    rows = task.table.rows
    parts = []
    for finding in failing:
        missed = [part for part in finding.measurement.parts if not part.holds.all()]
        levels = ", ".join(f"{worst_shown(part)}, wanted {part.wanted}" for part in missed)
        parts.append(
            f"{finding_heading(finding)} fails in {finding.violating_groups:,} of {count_of(found.groups.count, 'group')} "
            f"with {finding.violating_rows:,} of {count_of(rows, 'row')} ({levels})"
        )
    allowed = (
        f"; the groups that fail hold {count_of(needed, 'row')}, and at most {most:,} may be suppressed" if most else ""
    )
    known = reasons(task.table, [finding.principle for finding in failing])
    another = "" if any(reason.impossible for reason in known) else ", or try another method"
    return RequirementError(
        f"the principles cannot be reached by this method, so nothing is published: {'; '.join(parts)}{allowed}"
        + "".join(f". {reason.text}" for reason in known),
        remedy=f"Ask for less, {'' if another else 'or '}allow a share of the rows to be suppressed{another}.",
        file=task.table.source,
        value=found.to_dict(1)["principles"],
    )


def reading_notes(table: Table) -> tuple[str, ...]:
    """How the original was understood, where that is not obvious; may name its rows and cells."""
    columns = [table.column(name) for name in (*table.schema.quasi_identifiers, *table.schema.sensitive_columns())]
    return (*table.notes, *(column.note for column in columns if column.note is not None))


def _notes(table: Table, published: PublishedTable, dropped: int, more: Sequence[str]) -> tuple[str, ...]:
    """What a reader of the release should know."""
    schema = table.schema
    notes = [*more]
    if dropped:
        notes.append(f"{count_of(dropped, 'row')} of {table.rows:,} were suppressed")
    other = [name for name in table.data.column_names if schema.role(name) is Role.OTHER]
    if other:
        notes.append(f"published as they are, and looked at by no principle: {', '.join(map(repr, other))}")
    if published.group != "group":
        notes.append(f"the groups are in column {published.group!r}, because the data has a column 'group' of its own")
    return tuple(notes)
