"""Anatomize a table: find groups in which every principle holds, and publish people and the secrets of groups apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sfumato._audit import table_of
from sfumato.anatomy.anatomy_release import Anatomy, PrivateAnatomy
from sfumato.anatomy.separated_tables import separated
from sfumato.anonymization._anonymize import anonymize
from sfumato.anonymization.methods import Method
from sfumato.anonymization.release import Release
from sfumato.anonymization.undeclared_columns import undeclared_note
from sfumato.data.schema import Schema
from sfumato.engines import Engine, Spark, engine_of
from sfumato.errors import ColumnError, ParameterError
from sfumato.exact import Number
from sfumato.io.read_spark import is_spark_frame
from sfumato.plurals import count_of
from sfumato.principles import PrincipleRequest, requested_principles
from sfumato.principles.scope import table_principles
from sfumato.progress import Progress, silent
from sfumato.projections.plans.plan import parse_plan

EXACT = "quasi-identifiers are published exactly: everybody in the table can be recognized, and nobody's presence is hidden"
"""The first note of every anatomy."""


def anatomize(
    data: Any,
    schema: Schema | None,
    principles: PrincipleRequest | Sequence[PrincipleRequest],
    *,
    plan: Iterable[Iterable[str]] | str | None = None,
    method: Method | str | None = None,
    seed: int | None = None,
    suppress: Number = 0,
    engine: Engine | str | None = None,
    progress: Progress = silent,
) -> Anatomy:
    """Find groups of rows in which every principle holds, and publish exact quasi-identifiers and the secrets apart.

    A table of people has the quasi-identifiers as they are, and the number of a group. For each table of the plan, another
    one has the secrets of each group, and how many people of the group have them. So counts over quasi-identifiers are
    exact, and which secret of a group is whose is protected as in `sf.anonymize`. Who is in the table is not protected at
    all; therefore principles about the size or the cells of groups are an error. The form is that of Xiao & Tao (2006a).

    `plan`: the sensitive attributes of each table of secrets, as lists, or as a text such as "ill,drugs|income"; by default
    each has a table of its own. Secrets in different
    tables cannot be linked within a group. For `method`, `seed`, `suppress` and `engine` see `sf.anonymize`; the engine
    spark is an error. Nobody may have several rows.

    >>> import pyarrow as pa
    >>> import sfumato as sf
    >>> people = pa.table({"age": [30, 31, 50, 51], "ill": ["flu", "gout", "flu", "cold"]})
    >>> anatomy = anatomize(people, sf.Schema(["age"], ["ill"]), sf.DistinctLDiversity(2), seed=0)
    >>> anatomy.people.column_names, anatomy.people.num_rows, anatomy.secrets[0]["count"].to_pylist()
    (['group', 'age'], 4, [1, 1, 1, 1])
    """
    requested = requested_principles(principles)
    chosen = engine_of(engine, data)
    if isinstance(chosen, Spark) or is_spark_frame(data):
        raise ParameterError(
            "the engine spark does not write anatomies",
            remedy='Pass a file with engine="stream", or publish cells with sf.anonymize.',
            key="engine",
            value="spark",
        )
    with chosen.running():
        progress("reading")
        table = table_of(data, schema)
        _refuse_several_rows(table.schema, table.source)
        tables = _plan(table.schema, plan, table.source)
        table_principles(requested, table.schema, tables)  # raises before any work is done
        release = anonymize(
            table, None, requested, method=method, seed=seed, suppress=suppress, engine=chosen, progress=progress
        )
        progress("separating secrets from people")
        return anatomy_of(release, tables)


def anatomy_of(release: Release, plan: Sequence[Sequence[str]]) -> Anatomy:
    """Return the anatomy of the groups of a release; `plan`: the sensitive attributes of each table of secrets."""
    private = release.private
    found = separated(release, plan)
    return Anatomy(
        people=found.people,
        secrets=found.secrets,
        plan=tuple(map(tuple, plan)),
        group=found.group,
        count=found.count,
        audits=found.audits,
        schema=release.schema,
        principles=release.principles,
        method=release.method,
        suppress=release.suppress,
        suppressed=release.suppressed,
        notes=_notes(release),
        private=PrivateAnatomy(
            release=release, rows=private.kept_rows[found.of_row], notes=(*private.notes, *_notes_on_content(release))
        ),
    )


def _plan(schema: Schema, plan: Iterable[Iterable[str]] | str | None, source: str | None) -> list[list[str]]:
    """Return the sensitive attributes of each table of secrets, in the order of the schema; check that each is in one."""
    if not schema.sensitive:
        raise ColumnError(
            "the schema declares no sensitive column, so there is nothing to separate from the people",
            remedy='Give a column the role "sensitive".',
            file=source,
        )
    given = [[name] for name in schema.sensitive] if plan is None else parse_plan(plan)
    listed = [name for block in given for name in block]
    if sorted(listed) != sorted(schema.sensitive) or not all(given):
        raise ParameterError(
            f"invalid plan {given!r}: each sensitive attribute must be in one table, and no table may be empty",
            remedy=f"Write lists of these, each once: {', '.join(schema.sensitive)}.",
            key="plan",
            file=source,
            value=given,
        )
    place = {name: position for position, name in enumerate(schema.sensitive)}
    return sorted((sorted(block, key=place.__getitem__) for block in given), key=lambda block: place[block[0]])


def _refuse_several_rows(schema: Schema, source: str | None) -> None:
    name = schema.person_id or schema.household_id
    if name is not None:
        raise ColumnError(
            "people may have several rows, and an anatomy counts rows: equal quasi-identifiers would show which rows are "
            "one person's",
            remedy="Publish one row per person, or publish cells with sf.anonymize.",
            file=source,
            column=name,
        )


def _notes(release: Release) -> tuple[str, ...]:
    """Return what a reader of the anatomy should know."""
    notes, original = [EXACT], release.private.original
    if release.suppressed:
        notes.append(f"{count_of(release.suppressed, 'row')} of {original.rows:,} were suppressed")
    undeclared = undeclared_note(original)
    return (*notes, *([] if undeclared is None else [undeclared]))


def _notes_on_content(release: Release) -> list[str]:
    """Return for the publisher which secrets determine a quasi-identifier: whose they are can then be told in a group."""
    return [
        f"{each.column!r} nearly determines {each.quasi_identifier!r}: within a group, whoever sees the exact "
        f"{each.quasi_identifier!r} of the people can tell whose values of {each.column!r} are whose"
        for each in release.revealing
        if each.column in release.schema.sensitive_columns()
    ]
