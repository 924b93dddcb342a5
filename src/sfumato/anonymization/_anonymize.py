"""Anonymize a table: find groups in which every principle holds and publish them, or explain why there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._audit import audit_table, library_of, table_of
from sfumato.anonymization.coverage import note_on_unique_people
from sfumato.anonymization.failure_reasons import reasons
from sfumato.anonymization.feasibility import feasibility
from sfumato.anonymization.methods import AUTO, Grouping, Method, Task, default_method, method_of
from sfumato.anonymization.methods.association_lines import check_preserved
from sfumato.anonymization.methods.method import FINDING, check_method_class
from sfumato.anonymization.methods.method_choice import refuse_other_method
from sfumato.anonymization.published_table import PublishedTable, frame_of, publish
from sfumato.anonymization.recoding import Recoding
from sfumato.anonymization.recoding.strata import Strata
from sfumato.anonymization.recoding_choice import choice_notes, for_publication, open_recodings
from sfumato.anonymization.recurring_identifiers import recurring_identifiers
from sfumato.anonymization.release import PrivateRelease, Release
from sfumato.anonymization.republication.followed_release import FollowedRelease, followed_release
from sfumato.anonymization.republication.republished_table import republished_table
from sfumato.anonymization.strata_feasibility import refuse_impossible_strata
from sfumato.anonymization.unchanged_columns import refuse_singled_out
from sfumato.anonymization.undeclared_columns import refuse_undeclared, undeclared_note
from sfumato.anonymization.unit_groups import find_groups
from sfumato.audits.audit_result import Audit, finding_heading, worst_shown
from sfumato.data.groups import dense_ranks
from sfumato.data.public_grids import with_public_grids
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.data.units import unit_notes, units_of
from sfumato.engines import Engine, engine_of
from sfumato.errors import ParameterError, RequirementError
from sfumato.exact import Number
from sfumato.parameters import check_share
from sfumato.plurals import count_of
from sfumato.principles import Principle, PrincipleRequest, attributes_of, requested_principles
from sfumato.progress import Progress, silent
from sfumato.releases.declarations import resolved_schema
from sfumato.releases.exposure_models import share_text
from sfumato.resistance import ENDS, check_resist
from sfumato.seeds import PUBLIC_SEED, secret_seed
from sfumato.storage import active_storage, stored
from sfumato.workers import available_workers

_LOST = Fraction(1, 20)
"""A column that loses a larger share of its cells to missing values is noted."""


def anonymize(
    data: Any,
    schema: Schema | None,
    principles: PrincipleRequest | Sequence[PrincipleRequest],
    *,
    method: Method | str | None = None,
    seed: int | None = None,
    suppress: Number = 0,
    resist: Sequence[str] = (),
    after: tuple[str | Path, str | Path] | None = None,
    counterfeits: Number = 0,
    engine: Engine | str | None = None,
    progress: Progress = silent,
) -> Release:
    """Find groups of rows in which every principle holds, and publish each group's quasi-identifiers as one cell per column.

    `data`: a path, a frame of pandas, polars, pyarrow or Spark, or a Table (which has a schema of its own). `method`: a
    method or its name; by default sfumato chooses one. `seed`: a whole number from 0; the same data, method and seed give
    the same release. By default 128 bits are drawn. The seed is `release.private.seed` and is never published: with it,
    anybody could test guesses of secrets by running the method again. `suppress`: the largest share of the rows that may be
    dropped, as a last resort. `resist`: attacks that the release must provably withstand; `["minimality"]` uses the method
    deal, at a higher loss, and `["ends"]` publishes intervals with public ends. `engine`: "local" keeps the table in memory,
    "stream" on disk, and "spark" also searches
    its parts on a cluster, see `sf.engines`; by default a file that is too large for memory is streamed. `progress`: a
    function that is called with each step, see `sfumato.progress`. If the requirements cannot be met, `RequirementError`
    says how far the method got, and what is known about the reason.

    `after`: for a new version of a table that was released before, the folder of the last release and its private key. Then
    the candidates that a person has in all releases together also satisfy every principle. `counterfeits`: the largest
    share of rows, of those of the table, that may be added although they stand for nobody, where people left whose values
    others need. See docs/republication.md.

    >>> import sfumato as sf
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "gout", "flu", "cold"]})
    >>> release = anonymize(people, sf.Schema(["age"], ["ill"]), [sf.KAnonymity(2), sf.DistinctLDiversity(2)])
    >>> release.audit.holds, release.frame.column_names
    (True, ['group', 'age', 'ill'])
    """
    requested, secret, share = requested_principles(principles), secret_seed(seed), check_share(suppress)
    withstood = check_resist(resist)
    chosen = _method(method, requested, withstood)
    available_workers()  # raises if the number in the environment is invalid, also where one thread is enough
    follows = followed_release(after, counterfeits)
    with engine_of(engine, data).running():
        table = table_of(data, schema)
        return anonymize_table(table, data, requested, chosen, secret, share, progress, resist=withstood, follows=follows)


def anonymize_table(
    table: Table,
    data: Any,
    principles: tuple[Principle, ...],
    method: Method | str | None,
    seed: int,
    share: Fraction,
    progress: Progress = silent,
    order_seed: int = PUBLIC_SEED,
    resist: tuple[str, ...] = (),
    follows: FollowedRelease | None = None,
) -> Release:
    """Anonymize a table with parameters that are checked already; see `anonymize`.

    `data`: the same rows in the library that the released frame will have. `order_seed`: the public seed of the order of
    the published rows. `resist`: the attacks that the method withstands. `follows`: the release that this one follows.
    """
    # Long because of what a release holds: each step is one call.
    chosen = _method(method, principles, resist)
    check(table, principles)
    table = with_public_grids(table) if ENDS in resist else table
    table, searched = open_recodings(table, chosen, principles)
    if not share:
        refuse_singled_out(table.data, table.schema, table.source, units_of(table))
    progress("assessing feasibility")
    _refuse_impossible(table, principles, bool(share))
    task = Task(searched, principles, progress, share)
    refuse_impossible_strata(task, share)
    progress(FINDING)
    again = None if follows is None else republished_table(task, chosen, seed, *follows, table)
    grouping = find_groups(task, chosen, seed) if again is None else again.grouping
    del task  # it holds arrays of the length of the table
    grouping = replace(grouping, of_row=stored(np.asarray(grouping.of_row, np.int64)))
    of_row = grouping.of_row
    progress("publishing")
    original, start = table, None
    if again is not None:
        table, searched, start = again.table, again.searched, again.kept
    published, result, kept = _publish_groups(table, searched, grouping, principles, order_seed, share, start)
    if again is not None:
        again.check(kept, principles)
    if share:  # which rows are published is known only now
        part = table.take(kept)
        refuse_singled_out(part.data, part.schema, table.source, units_of(part))
    library = library_of(data)
    dropped = table.rows - len(kept)
    recurring = recurring_identifiers(original, kept[kept < original.rows], of_row, principles)
    rows = kept[published.rows]
    completed = None if table is original else table
    return Release(
        table=published.table,
        audit=replace(result if table.units is None else result.without_single_groups(), library=library),
        schema=resolved_schema(table),
        principles=principles,
        method=chosen,
        resist=resist,
        suppress=share,
        suppressed=dropped,
        recodings=published.recodings,
        levels=published.levels,
        notes=(*_notes(table, published, dropped, grouping.notes), *recurring.public),
        private=PrivateRelease(
            seed=seed,
            original=original,
            kept=published.original,
            kept_rows=kept,
            rows=stored(np.where(rows < original.rows, rows, -1)),
            recoding=published.recoding,
            notes=(*reading_notes(original), *grouping.private, *recurring.private, *_notes_on_content(published)),
            make_frame=partial(frame_of, published, data, library, kept),
            storage=active_storage(),
            completed=completed,
            follows=None if follows is None else follows.release,
        ),
        after=None if again is None else again.claim,
    )


def _notes_on_content(published: PublishedTable) -> tuple[str, ...]:
    """Return what the publisher should know about the cells and the secrets of a release."""
    return (*missing_notes(published.recoding), *note_on_unique_people(published.original))


def _method(method: Method | str | None, principles: Sequence[Principle], resist: Sequence[str] = ()) -> Method:
    """Return the method that was requested, or the default one; one that does not withstand an attack is an error."""
    if method in (None, AUTO):
        return default_method(principles, resist)
    if isinstance(method, Method):
        check_method_class(type(method))
        refuse_other_method(method, resist)
        return method
    if isinstance(method, str):
        found = method_of(method, {})
        refuse_other_method(found, resist)
        return found
    raise ParameterError(
        f"{method!r} is not a method", remedy='Pass a method or its name, such as "auto".', key="method", value=method
    )


def check(table: Table, principles: Sequence[Principle]) -> None:
    """Raise an error for a table that cannot be anonymized, before any work is done."""
    schema = table.schema
    _ = table.units  # raises if a person or a household is missing
    if schema.group is not None:
        raise ParameterError(
            f"the schema declares {schema.group!r} as the group column, but anonymizing finds the groups itself",
            remedy="Remove group from the schema; give the column the role identifier if it must not be published.",
            key="group",
            file=table.source,
            value=schema.group,
        )
    refuse_undeclared(table)
    if not schema.quasi_identifiers:
        raise ParameterError(
            "the schema has no quasi-identifier, so there is nothing to recode",
            remedy='Give a column the role "quasi-identifier".',
            key="quasi_identifiers",
            file=table.source,
        )
    for name in (*schema.quasi_identifiers, *schema.sensitive_columns()):
        table.column(name)  # raises if a declaration does not fit the column, whether a principle uses it or not
    for principle in principles:
        principle.check_table(table, attributes_of(principle, schema))
    check_preserved(table)


def _publish_groups(
    table: Table,
    searched: Table,
    grouping: Grouping,
    principles: tuple[Principle, ...],
    order_seed: int,
    share: Fraction,
    start: NDArray[np.int64] | None = None,
) -> tuple[PublishedTable, Audit, NDArray[np.int64]]:
    """Publish the groups and audit the result; drop the rows of violating groups while the share allows.

    `start`: the rows that may be published, if not all.

    Returns the published table, its audit and the rows that were kept. What is left is measured again each time, because
    some principles compare a group with the whole table. Rows that are dropped decide about no recoding either.
    """
    resolved, of_row = resolved_schema(table), np.asarray(grouping.of_row, np.int64)
    kept = stored(np.arange(table.rows) if start is None else start)
    most = int(share * table.rows)
    first: Audit | None = None  # the audit before anything is dropped, for the error
    while True:
        part = table
        if len(kept) < table.rows:  # the kinds of the columns stay those of the whole table
            part = table.take(kept, resolved)
        part_of_row = of_row
        if part is not table:
            part_of_row = stored(dense_ranks(of_row[kept]))
        recoded = for_publication(part, searched, Grouping(part_of_row, levels=grouping.levels))
        published = publish(recoded, part_of_row, order_seed, grouping.levels)
        try:
            units = None if table.units is None else table.units.take(kept[published.rows])
            result = audit_table(published.table, principles, units)
        except ParameterError:
            if first is None:
                raise
            # fewer rows are left than a principle requires: none of them can be published
            raise _requirement_error(Task(table, principles), first, most, table.rows) from None
        first = first or result
        if result.holds:
            return published, result, kept
        # published groups are numbered from 1; the audit numbers them from 0 in the same order
        fine = np.logical_and.reduce([finding.measurement.group_holds for finding in result])
        left = kept[fine[published.of_group[part_of_row] - 1]]
        if table.rows - len(left) > most:
            bad = np.setdiff1d(kept, left)
            raise _requirement_error(Task(table, principles), first, most, table.rows - len(left), bad)
        kept = left


def _refuse_impossible(table: Table, principles: Sequence[Principle], suppressing: bool) -> None:
    """Raise an error if a certificate rules a principle out: no search could succeed.

    If rows may be suppressed, only a certificate that rules out every part of the table counts.
    """
    known = [(principle, feasibility(table, None, principle, nearby=False).certificate) for principle in principles]
    # a k larger than the table is bad input, and an error where groups are measured
    certificates = [(p, one) for p, one in known if one is not None and one.kind != "size"]
    # a bound on every part of the table stays however many rows are suppressed
    suppression = not any(one.any_rows for _, one in certificates)
    if certificates and not (suppressing and suppression):
        ruled_out = [p for p, one in certificates if one.any_rows or not suppressing]
        explanation = ". ".join(reason.text for reason in reasons(table, ruled_out))
        raise RequirementError(
            f"nothing is published: {explanation[:1].lower()}{explanation[1:]}",
            remedy=f"Relax the requirement{', or allow a share of the rows to be suppressed' if suppression else ''}.",
            file=table.source,
            value=[principle.name for principle in ruled_out],
        )


def _requirement_error(
    task: Task, result: Audit, most: int, needed: int, bad: NDArray[np.int64] | None = None
) -> RequirementError:
    """Return the error that says how far the method got: which principles fail, where, and by how much.

    `most` rows may be suppressed, and `needed` rows would have to be. `bad`: rows of failing groups, if they are known.
    """
    failing = [finding for finding in result if not finding.holds]
    rows = task.table.rows
    parts = []
    for finding in failing:
        missed = [part for part in finding.measurement.parts if not part.holds.all()]
        levels = ", ".join(f"{worst_shown(part)}, wanted {part.wanted}" for part in missed)
        parts.append(
            f"{finding_heading(finding)} fails in {finding.violating_groups:,} of {count_of(result.groups.count, 'group')} "
            f"with {finding.violating_rows:,} of {count_of(rows, 'row')} ({levels})"
        )
    allowed = (
        f"; the failing groups contain {count_of(needed, 'row')}, and at most {most:,} may be suppressed" if most else ""
    )
    if task.strata is not None and bad is not None:
        parts.append(_failing_strata(task.strata, bad))
    explanations = reasons(task.table, [finding.principle for finding in failing])
    another = "" if any(reason.impossible for reason in explanations) else ", or try another method"
    share = f"allow a {'larger ' if most else ''}share of the rows to be suppressed"
    return RequirementError(
        f"this method cannot meet the requirements, so nothing is published: {'; '.join(parts)}{allowed}"
        + "".join(f". {reason.text}" for reason in explanations),
        remedy=f"Relax the requirements, {'' if another else 'or '}{share}{another}.",
        file=task.table.source,
        value=result.to_dict(1)["principles"],
    )


def _failing_strata(strata: Strata, bad: NDArray[np.int64]) -> str:
    """Return in which parts of the table, that limits keep apart, the failing groups are."""
    counts = np.bincount(strata.of_row[bad], minlength=strata.count)
    worst = np.argsort(-counts, kind="stable")[:3]
    shown = [f"{strata.name(int(s))} ({counts[s]:,} of {count_of(int(strata.sizes[s]), 'row')})" for s in worst if counts[s]]
    return f"limits on cells keep {strata.count:,} parts of the table apart, and groups fail in {', '.join(shown)}"


def reading_notes(table: Table) -> tuple[str, ...]:
    """Return how the original was interpreted where that is not obvious. May contain row numbers and cells: private."""
    columns = [table.column(name) for name in (*table.schema.quasi_identifiers, *table.schema.sensitive_columns())]
    return (*table.notes, *unit_notes(table), *(column.note for column in columns if column.note is not None))


def missing_notes(recoding: Recoding) -> list[str]:
    """Return the columns that lose many cells to missing values: with other values in a group, they are published as `*`.

    Private: where a hierarchy has a root `*`, a reader cannot tell which of them cover missing values.
    """
    if recoding.levels is not None:  # every cell is on one level, with or without missing values
        return []
    sizes, notes = recoding.groups.sizes, []
    for column in recoding.columns:
        mixed = (column.low < column.domain.size) & (column.high == column.domain.size)
        rows, total = int(sizes[mixed].sum()), int(sizes.sum())
        if rows > _LOST * total:
            notes.append(
                f"{column.domain.name!r} is * in {share_text(rows, total)}, because missing values are in a group with "
                f"others; fill them in, or leave the column out"
            )
    return notes


def _notes(table: Table, published: PublishedTable, dropped: int, more: Sequence[str]) -> tuple[str, ...]:
    """Return what a reader of the release should know."""
    notes = [*more, *choice_notes(table, published.recodings)]
    if dropped:
        notes.append(f"{count_of(dropped, 'row')} of {table.rows:,} were suppressed")
    dropped_columns = undeclared_note(table)
    notes += [] if dropped_columns is None else [dropped_columns]
    if published.group != "group":
        notes.append(f"the group column is {published.group!r}, because the data already has a column 'group'")
    return tuple(notes)
