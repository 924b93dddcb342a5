"""Draft a config as commented TOML: it runs unchanged if every row has a person, and lists what a person must decide."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from textwrap import wrap
from typing import Any

from sfumato.data.column import Column
from sfumato.data.near_unique import automatic_prefix, is_near_unique
from sfumato.data.schema import Kind, Role
from sfumato.data.skeletons import hierarchy_skeleton
from sfumato.data.table import Table
from sfumato.errors import ColumnError, FileError
from sfumato.io.database_uri import file_of, is_uri, shown, without_passwords
from sfumato.plurals import count_of
from sfumato.profiling.column_facts import Facts
from sfumato.profiling.name_words import printable
from sfumato.profiling.requirement_suggestions import SuggestedRequirement
from sfumato.profiling.table_profile import ColumnProfile, Profile

WIDTH = 118
"""The most characters of a line of comment."""

_MANY = 20
"""A categorical quasi-identifier with more values than this should have a hierarchy."""

_HEADINGS = {
    Role.IDENTIFIER: "Identifiers: each identifies a person by itself. They are dropped.",
    Role.QUASI_IDENTIFIER: "Quasi-identifiers: outsiders can know them, and together they single people out. They are "
    "published in coarser form.",
    Role.SENSITIVE: "Sensitive: outsiders should not learn these about a person; the most harmful comes first. They are "
    "published unchanged, in groups that protect them.",
    Role.OTHER: "Other: published unchanged, and not covered by any principle. Alone and together they single out nobody.",
}
"""The comment above the columns of each role."""

_UNDECIDED = (
    "Not published until you decide: no role could be justified for these columns. Remove the comment signs, and choose a "
    "role, to publish one. A further quasi-identifier makes all cells coarser; a further sensitive column needs a "
    "principle; other publishes a column unchanged."
)
"""The comment above the columns without a role."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def draft(profile: Profile, path: str | Path, config: str | Path = "sfumato.toml", **source: str | None) -> str:
    r"""Return the TOML text of a config for a table that was profiled.

    `path`: the file or the database URI of the table; `config`: where the config will be written, because relative paths
    start from its folder; `source`: the `query` or the `table` of a database. The draft contains no cell of the table,
    except texts that mean missing.

    >>> import pyarrow as pa
    >>> from sfumato.profiling.table_profile import profile
    >>> people = profile(pa.table({"name": ["Ann", "Bob"] * 10, "age": [30, 41] * 10, "ill": ["flu", "gout"] * 10}))
    >>> text = draft(people, "people.csv")
    >>> from sfumato.config import Config
    >>> Config.parse(text).schema.identifiers, [principle.name for principle in Config.parse(text).requested_principles]
    (('name',), ['k-anonymity', 'distinct-l-diversity'])
    """
    check(profile)
    parts = [_head(profile, path, config), _data(profile, path, config, source), _missing(profile), *_columns(profile)]
    parts += [_principles(profile), _end()]
    return "\n".join(part for part in parts if part)


def check(profile: Profile) -> None:
    """Raise an error if no config could run: a config needs two rows and a quasi-identifier."""
    if profile.rows < 2:
        raise FileError(
            "the table has one row, so the person in it cannot be hidden among others",
            remedy="Give a table with more rows.",
            file=profile.table.source,
        )
    if not profile.of_role(Role.QUASI_IDENTIFIER):
        listed = "; ".join(f"{_inline(column.name)}: {column.suggestion.reason}" for column in profile.columns[:5])
        raise ColumnError(
            f"no column is left that can be a quasi-identifier ({listed})",
            remedy="Give a table with columns whose values recur, or write the config by hand.",
            file=profile.table.source,
            column=profile.columns[0].name,
        )


def _head(profile: Profile, path: str | Path, config: str | Path) -> str:
    name = Path(config).name
    source = shown(path) if is_uri(path) else Path(path).name
    unsure = [column.name for column in profile if not column.suggestion.certain and column.role is not None]
    lines = [
        f"A draft, written by sfumato init for {source}: {count_of(profile.rows, 'row')}, "
        f"{count_of(len(profile.columns), 'column')}.",
        f"{_readiness(profile)} It is based only on the cells and the names of columns. A person must read it before "
        "anything is published. Decide:",
        "  1. Is the role of every column correct? Can outsiders know it (quasi-identifier)? Is it a secret (sensitive)?",
        "     Other likely roles of a column are listed below its role, commented out.",
        "  2. Is a column needed that is not published yet? They are listed at the end of the columns, with the reason.",
        "  3. Do the principles protect what must be protected? Which values are too close to each other?",
        *_question_on_rows(profile),
        "Next:",
        f"  sfumato audit {name}        measure which principles hold in the table",
        f"  sfumato frontier {name}     show which requirements are possible",
        f"  sfumato anonymize {name}    write a release in which every principle holds",
    ]
    if unsure:
        lines.insert(4, f"     These columns were not recognised; decide on them first: {', '.join(map(_inline, unsure))}.")
    return _comment(*lines)


def rows_without_key(profile: Profile) -> str:
    """Return which rows have no person or household, so that nothing can be released until they have one; "" if none.

    >>> import pyarrow as pa
    >>> from sfumato.profiling.table_profile import profile
    >>> rows_without_key(profile(pa.table({"patient_id": [1, 1, None, 2], "age": [30, 31, 50, 40]})))
    "1 row has no value of 'patient_id'"
    """
    names = [name for name in (profile.key("person"), profile.key("household")) if name is not None]
    lacking = [(name, profile[name].facts.missing) for name in names if profile[name].facts.missing]
    return ", and ".join(f"{count_of(rows, 'row has', 'rows have')} no value of {_inline(name)}" for name, rows in lacking)


def _readiness(profile: Profile) -> str:
    lacking = rows_without_key(profile)
    return f"It does not run yet: {lacking} (see [data])." if lacking else "It runs unchanged."


def _question_on_rows(profile: Profile) -> list[str]:
    """Return the question whether a person has several rows, if a column looks like the number of a person."""
    person, household = profile.key("person"), profile.key("household")
    if person is None and household is None:
        return [
            "  4. Does a person have several rows? Then name the column that identifies the person in [data]: person_id."
        ]
    listed = " and ".join(_inline(name) for name in (person, household) if name is not None)
    return [
        f"  4. Does {listed} identify the {'person' if household is None else 'person or household'} of a row? See [data]."
    ]


def data_section(path: str | Path, config: str | Path, source: Mapping[str, str | None]) -> str:
    """Return a config that names a table, and nothing else; see `draft` for the parameters.

    >>> print(data_section("people.xlsx", "sfumato.toml", {"sheet": "2020"}), end="")
    [data]
    path = "people.xlsx"
    sheet = "2020"
    """
    where = _source(path, Path(config).parent)
    lines = [f"path = {_quoted(without_passwords(where)[0] if is_uri(path) else where)}"]
    lines += [f"{key} = {_quoted(value)}" for key, value in source.items() if value is not None]
    return "\n".join(["[data]", *lines, ""])


def _data(profile: Profile, path: str | Path, config: str | Path, source: Mapping[str, str | None]) -> str:
    where = _source(path, Path(config).parent)
    variables: tuple[str, ...] = ()
    if is_uri(path):
        where, variables = without_passwords(where)
    lines = ["\n[data]", f"path = {_quoted(where)}"]
    if variables:
        what = "the password" if len(variables) == 1 else "the passwords, in this order,"
        lines.insert(
            1, _comment(f"Set {' and '.join(variables)} in the environment: {what} of the URI must not be written here.")
        )
    lines += [f"{key} = {_quoted(value)}" for key, value in source.items() if value is not None]
    lines += [f"{key} = {_quoted(value)}" for key, value in profile.table.reading.items()]
    lines.append('undeclared = "drop"    # columns without a role are not published')
    for of in ("person", "household"):
        name = profile.key(of)
        if name is not None:
            facts = profile[name].facts
            lines.append(
                _comment(
                    f"The values of {_inline(name)} recur: {facts.distinct:,} in {facts.rows:,} rows. All rows of one {of} "
                    f"stay together, and {'k counts people' if of == 'person' else 'households are counted'}. If it does "
                    f"not identify a {of}, remove the line."
                    + (
                        f" {count_of(facts.missing, 'row has', 'rows have')} no value: give each an identifier of its own, "
                        "because a release needs them all."
                        if facts.missing
                        else ""
                    )
                )
            )
            lines.append(f"{of}_id = {_quoted(name)}")
    return "\n".join(lines)


def _source(path: str | Path, folder: Path) -> str:
    """Return a path or a database URI as a config in a folder writes it."""
    if not is_uri(path):
        return _near(Path(path), folder)
    file = file_of(str(path))
    return str(path) if file is None else str(path).replace(str(file), _near(file, folder), 1)


def _near(path: Path, folder: Path) -> str:
    """Return a path as a config in a folder writes it: relative if both have a common parent."""
    there, here = path.resolve(), folder.resolve()
    try:
        shared = Path(os.path.commonpath([there, here]))
    except ValueError:  # on different drives
        return there.as_posix()
    return there.as_posix() if shared == Path(here.anchor) else Path(os.path.relpath(there, here)).as_posix()


def _missing(profile: Profile) -> str:
    parts = []
    markers = profile.markers
    if markers.missing:
        listed = ", ".join(map(_quoted, ("", *markers.missing)))
        parts.append(f"\n[missing]\nvalues = [{listed}]    # cells that mean missing, in every column")
        parts.append('policy = "value"    # missing is a value of its own; "refuse" makes it an error')
    for text, columns in markers.doubtful.items():
        shown = ", ".join(map(_inline, columns[:6])) + (f" and {len(columns) - 6} more" if len(columns) > 6 else "")
        parts.append(
            _comment(
                f"{_quoted(text)} is frequent in {shown}. It may mean missing, or that a question does not apply; "
                "this draft treats it as a value. If it means missing, list it in values of [missing]."
            )
        )
    return "\n".join(parts)


def _columns(profile: Profile) -> Iterator[str]:
    for role in Role:
        columns = profile.of_role(role)
        if not columns:
            if role is Role.SENSITIVE:
                yield "\n" + _comment(
                    "No column looks sensitive, so the release protects people from being identified, and nothing more. If "
                    "a column is sensitive, give it that role, and add a principle for it."
                )
            continue
        yield "\n" + _comment(_HEADINGS[role])
        if role is Role.QUASI_IDENTIFIER:
            yield _comment(_singled_out(profile))
        for column in columns:
            yield _column(column, profile.equivalent_columns.get(column.name), profile)
    undecided = profile.of_role(None)
    if undecided:
        yield "\n" + _comment(_UNDECIDED)
        yield from map(_undecided_column, undecided)


def _singled_out(profile: Profile) -> str:
    together = profile.uniqueness
    text = (
        f"Together they single out {_share(together.unique, profile.rows)} of the rows; "
        f"{_share(together.small, profile.rows)} are in groups of fewer than 5."
    )
    worst = [one for one in profile.combinations if len(one.columns) > 1 and one.unique]
    if worst:
        most = max(worst, key=lambda one: (one.unique, -len(one.columns)))
        text += f" Worst: {', '.join(map(_inline, most.columns))} ({_share(most.unique, profile.rows)})."
    return text


def _undecided_column(column: ColumnProfile) -> str:
    """Return a column that is not published: its section as a comment, with the reason."""
    roles = column.suggestion.alternatives or (Role.QUASI_IDENTIFIER, Role.SENSITIVE)
    lines = [
        f"\n# [columns.{_key(printable(column.name))}]",
        _comment(f"{_counts(column.facts)}; {column.suggestion.reason}."),
    ]
    return "\n".join([*lines, *(f"# role = {_quoted(role)}" for role in roles)])


def _column(column: ColumnProfile, twin: str | None, profile: Profile) -> str:
    facts = column.facts
    lines = [f"\n[columns.{_key(column.name)}]", _comment(f"{_counts(facts)}; {column.suggestion.reason}.")]
    lines.append(f"role = {_quoted(str(column.role))}")
    lines += [f"# role = {_quoted(role)}" for role in column.suggestion.alternatives]
    if column.kind is not None:
        lines.append(f"kind = {_quoted(column.kind)}")
    if twin is not None:
        lines.append(_comment(f"it and {_inline(twin)} determine each other: one of them can be dropped"))
    if column.suggestion.codes:
        lines.append(_comment("its numbers are codes of categories, so the differences between them have no meaning"))
    if column.role is Role.QUASI_IDENTIFIER and column.kind in (Kind.CATEGORICAL, Kind.TEXT):
        lines += _hierarchy(column, profile)
    return "\n".join(lines)


def hierarchy_file(column: str) -> str:
    """Return the file that a draft names for the hierarchy of a column, relative to the config.

    >>> hierarchy_file("place of birth")
    'hierarchies/place_of_birth.csv'
    """
    safe = re.sub(r"[^A-Za-z0-9_-]+", "_", column)
    return f"hierarchies/{safe}.csv"


def wants_hierarchy(column: ColumnProfile) -> bool:
    """Return whether a hierarchy is worth a thought: a categorical quasi-identifier with many values."""
    return (
        column.role is Role.QUASI_IDENTIFIER
        and column.kind in (Kind.CATEGORICAL, Kind.TEXT)
        and column.facts.distinct > _MANY
    )


def hierarchy_skeletons(profile: Profile) -> dict[str, str]:
    """Return, for each column that `wants_hierarchy`, the file that the draft names and the skeleton to write there."""
    files = {}
    for column in filter(wants_hierarchy, profile):
        encoded = _as_categories(profile.table, column.name)
        files[hierarchy_file(column.name)] = hierarchy_skeleton([encoded.labels(code) for code in range(encoded.size)])
    return files


def _as_categories(table: Table, name: str) -> Column:
    return table.with_schema(replace(table.schema, kinds={name: Kind.CATEGORICAL})).column(name)


def _hierarchy(column: ColumnProfile, profile: Profile) -> list[str]:
    """Return the hierarchy of a near-unique column, and the advice for one with many values."""
    encoded, units = _as_categories(profile.table, column.name), profile.table_with_roles.units
    if is_near_unique(encoded, units):
        prefix = automatic_prefix(encoded, units)
        builder = f"prefix = {_value(prefix.lengths)}" if prefix is not None else "frequent = [20, 5]"
        why = "few rows share a value, so sets of values would list who is in the table; declare what suits the values:"
        return [_comment(why), f"hierarchy = {{ {builder} }}"]
    if not wants_hierarchy(column):
        return []
    return [
        _comment(
            "sets of its values lose least; labels of a hierarchy (lines leaf;level1;…;*) are easier to read and lose more:"
        ),
        f"# hierarchy = {_quoted(hierarchy_file(column.name))}",
        '# recoding = "ancestor"',
    ]


def _counts(facts: Facts) -> str:
    if facts.kind is None:
        return "not read"
    parts = [count_of(facts.distinct, "distinct value")]
    parts.append(f"{_share(facts.missing, facts.rows)} missing" if facts.missing else "none missing")
    parts.append(f"unique in {_share(facts.unique, facts.rows)} of the rows" if facts.unique else "unique in no row")
    return ", ".join(parts)


def _principles(profile: Profile) -> str:
    parts = ["\n" + _comment("Requirements: each must hold in every group of the release.")]
    if profile.of_role(Role.SENSITIVE):
        covered = {name for requirement in profile.requirements if requirement.enabled for name in _on(requirement)}
        left = [column.name for column in profile.of_role(Role.SENSITIVE) if column.name not in covered]
        if left:
            parts.append(
                _comment(
                    f"No principle that was tried can hold for {', '.join(map(_inline, left))}. The release will warn about "
                    'it: remove the column, or state why that is acceptable: accepted = "…" in its section.'
                )
            )
    else:
        parts.append(_comment("Only k-anonymity: no column looks sensitive."))
    return "\n".join([*parts, *map(_section, profile.requirements)])


def _on(requirement: SuggestedRequirement) -> tuple[str, ...]:
    on = getattr(requirement.principle, "on", None)
    return (on,) if isinstance(on, str) else tuple(on or ())


def _section(requirement: SuggestedRequirement) -> str:
    stated: dict[str, Any] = {"name": requirement.principle.name, **requirement.principle.parameters()}
    lines = ["[[principles]]", *(f"{key} = {_value(value)}" for key, value in stated.items())]
    if not requirement.enabled:
        lines = [f"# {line}" for line in lines]
    return "\n".join(["", _comment(f"{requirement.reason}."), *lines])


def _end() -> str:
    return "\n".join(
        [
            "\n[method]",
            'name = "auto"',
            "# seed = 7    # the same seed gives the same release; by default one is drawn; it is never published",
            '# suppress = "0.01"    # the largest share of rows that may be dropped, as a last resort',
            "\n[output]",
            'path = "release"',
            'format = "csv"    # or "parquet"',
            "",
        ]
    )


def _value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return str(value) if isinstance(value, int) else _quoted(str(value))


def _key(name: str) -> str:
    """Return a name as a key of TOML."""
    return name if _BARE.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    r"""Return a text as TOML writes it.

    >>> print(_quoted('a "b"\n'))
    "a \"b\"\n"
    """
    return '"' + "".join(map(_escaped, text)) + '"'


_ESCAPES = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def _escaped(letter: str) -> str:
    if letter in _ESCAPES:
        return _ESCAPES[letter]
    return f"\\u{ord(letter):04X}" if ord(letter) < 32 or ord(letter) == 127 else letter


def _inline(name: str) -> str:
    """Return a name for a sentence, in quotes, on one line."""
    return f"'{printable(name)}'"


def _comment(*lines: str) -> str:
    """Return sentences as a comment; line breaks in them cannot end it."""
    return "\n".join(
        f"# {part}"
        for line in map(printable, lines)
        for part in wrap(
            line, WIDTH - 2, subsequent_indent=" " * (len(line) - len(line.lstrip())), break_long_words=False,
            break_on_hyphens=False,
        )
    )  # fmt: skip


def _share(count: int, rows: int) -> str:
    """Return a share in percent; only an exact 0 or 1 is shown as 0 or 100."""
    if count in (0, rows):
        return "none" if not count else "100 %"
    percent = 100 * count / rows
    return "< 0.1 %" if percent < 0.1 else f"{min(percent, 99.9):.1f} %"
