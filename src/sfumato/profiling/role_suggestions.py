"""Suggest a role for each column, with a reason: by its cells first, then by its name, then by the other columns.

A column that identifies a person by itself is an identifier, and is dropped. A column that outsiders can know is a
quasi-identifier. A column that outsiders should not learn (money, health, work, belief) is sensitive. A column has the role
other, and is published unchanged, only if that is harmless: a constant, or the time of a survey. A column for which no role
can be justified has none, and is not published until a person decides.

The rules are ordered by the harm of a mistake. Cells come before names, because a name such as `notes` or `c4` may hide mail
addresses. If nothing is recognised, the suggestion is cautious, and is marked as uncertain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sfumato.data.groups import combined
from sfumato.data.schema import Kind, Role
from sfumato.data.table import Table
from sfumato.profiling.column_facts import Facts
from sfumato.profiling.column_patterns import (
    BIRTH,
    BIRTHPLACE,
    DATE,
    KEY,
    NAME,
    NAMES,
    WEIGHT,
    Pattern,
    is_code_of_categories,
    pattern_of_cells,
    pattern_of_name,
    year_of_cell,
)
from sfumato.profiling.identifying_combinations import uniqueness_of
from sfumato.profiling.name_words import words_of
from sfumato.profiling.person_names import NAMED_SHARE, people_named
from sfumato.profiling.recurring_keys import (
    MOSTLY,
    KeyOf,
    are_event_times,
    is_named_like_key,
    never_changes_within,
    recurring_key,
    recurs,
)

FEW_ROWS = 20
"""In a table with fewer rows, distinct values are no evidence of a key: even ages may differ in every row."""

ENOUGH = 6
"""With this many quasi-identifiers, columns that few outsiders know are not published until a person decides.

Each further quasi-identifier makes all published cells coarser, so little-known columns are not worth their cost."""

FEW_KNOWN = 2
"""Unrecognised columns are not published if at least this many quasi-identifiers are recognised."""

MOST_UNKNOWN = 8
"""If hardly anything is recognised, unrecognised columns become quasi-identifiers while there are fewer than this.

With more of them, hardly any two rows are alike, and the cells of a release would be too coarse to be useful."""

_IDENTIFYING_SHARE = 0.1
"""An unrecognised text column that is unique in more than this share of the rows is not published."""

MOST_SENSITIVE = 6
"""With this many sensitive columns, further ones are not published until a person decides.

Every sensitive column is published unchanged under a requirement of its own, and all of them must hold in every group. Many
of them together also identify whoever is known by some of them."""

_ONE_SIDED = 0.9
"""A sensitive column in which one value has more than this share of the rows is not published until a person decides.

A group with two different values of it would need many rows."""

_LASTING = ("sex", "race or ethnicity", "birth date", "birthplace")
"""Patterns of facts that do not change between two rows of one person."""

_UNEVEN = 0.9
"""A column in which one value has more than this share of the rows is constant within most keys by chance."""

_FREE_TEXT = 5
"""Distinct cells with at least this many words on average are free text."""

REPEATED = 5
"""Functional dependence is tested only for columns whose values occur this often on average.

Values that hardly recur determine every other column by chance."""

_BIRTH_YEARS = 40
"""Dates that span more years than this are dates of birth: the events of most tables are closer together."""

_TIMES = {"year", "jahr", "annee", "nian", "wave", "month", "quarter"}
_SURVEYS = {"wave", "survey", "interview", "panel", "umfrage", "enquete", "diaocha"}

WIDELY = "outsiders can know it"
FEWER = "few outsiders know it"
SECRET = "outsiders should not learn it"


@dataclass(frozen=True)
class Suggestion:
    """The role that a column should have.

    >>> import pyarrow as pa
    >>> from sfumato.profiling.column_facts import facts_of
    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"sex": ["f", "m", "f"], "wage": [1, 2, 3]}), Schema())
    >>> for found in suggestions(table, [facts_of(table, "sex"), facts_of(table, "wage")]):
    ...     print(found.column, found.role, "-", found.reason)
    sex quasi-identifier - named like sex: outsiders can know it
    wage sensitive - named like income: outsiders should not learn it
    """

    column: str
    role: Role | None
    """None: no role can be justified, so the column is not published until a person decides."""
    reason: str
    pattern: str | None = None
    """The name of the recognised pattern."""
    alternatives: tuple[Role, ...] = ()
    """Roles that a person might choose instead."""
    rank: int = 9
    """The rank of a sensitive attribute; the most harmful comes first."""
    certain: bool = True
    """Whether the cells or the name were recognised; if not, the role is the cautious choice."""
    codes: bool = False
    """Whether the numbers of the column are codes of categories."""
    key: KeyOf | None = None
    """Whether the column recurs and tells which rows belong to one person or household."""


def suggestions(table: Table, facts: Sequence[Facts]) -> list[Suggestion]:
    """Suggest a role for every column of a table."""
    found = {fact.name: _suggest_alone(fact) for fact in facts}
    by_name = {fact.name: fact for fact in facts}
    _suggest_key_by_constancy(table, by_name, found)
    _suggest_by_dependence(table, by_name, found)
    # columns of high entropy single out most people, so they become quasi-identifiers first, while there is room
    unsure = sorted((fact for fact in facts if found[fact.name] is None), key=lambda fact: -fact.entropy)
    known = sum(1 for one in found.values() if one is not None and one.role is Role.QUASI_IDENTIFIER)
    room = MOST_UNKNOWN - known if known < FEW_KNOWN else 0
    for fact in unsure:
        one = _suggest_unrecognised(fact, room > 0)
        room -= one.role is Role.QUASI_IDENTIFIER
        found[fact.name] = one
    decided = _demote_little_known([one for one in found.values() if one is not None])
    settled = _limit_sensitive(_leave_out_known_secrets(table, decided, by_name), by_name)
    return _keep_harmless(table, settled)


def _suggest_alone(fact: Facts) -> Suggestion | None:
    """Return the suggestion from the column alone; None if it is not recognised."""
    if fact.kind is None:
        return Suggestion(fact.name, Role.IDENTIFIER, f"its cells cannot be read, so the column is dropped: {fact.problem}")
    if fact.constant:
        return Suggestion(fact.name, Role.OTHER, "every row has the same value, so it reveals nothing about a person")
    key = recurring_key(fact)
    if key is not None:
        return _key(fact, key, f"named like the number of a {key}")
    pattern = _name_pattern(fact)
    return _by_cells(fact, pattern) or (None if pattern is None else _by_name(fact, pattern)) or _by_uniqueness(fact)


def _key(fact: Facts, key: KeyOf, why: str) -> Suggestion:
    return Suggestion(
        fact.name,
        Role.IDENTIFIER,
        f"{why}, and its values recur ({fact.distinct:,} in {fact.rows:,} rows): it tells which rows belong to one {key}",
        KEY.name,
        key=key,
    )


def _suggest_key_by_constancy(table: Table, facts: dict[str, Facts], found: dict[str, Suggestion | None]) -> None:
    """Recognise the number of a person under any name: sex, race or birth never change within its values.

    Only if no column is named like one; of several, the one with most values. If there is none, the time of an event may
    tell which rows belong together. `found` is changed.
    """
    if any(one is not None and one.key == "person" for one in found.values()):
        return
    lasting = [
        table.column(name)
        for name, one in found.items()
        if one is not None and one.pattern in _LASTING and facts[name].common <= _UNEVEN * facts[name].rows
    ]
    candidates = [facts[name] for name, one in found.items() if one is None and recurs(facts[name])]
    for fact in sorted(candidates, key=lambda fact: -fact.distinct):
        column = table.column(fact.name)
        constant = [other.name for other in lasting if never_changes_within(column, other)]
        if constant and len(constant) == len(lasting):
            found[fact.name] = _key(fact, "person", f"{constant[0]!r} never changes within its values")
            return
    times = [name for name, one in found.items() if one is not None and one.pattern == DATE.name]
    for name in times:
        column = table.column(name)
        same = [other.name for other in lasting if never_changes_within(column, other, MOSTLY)]
        if same and len(same) == len(lasting) and are_event_times(facts[name], column):
            reason = (
                f"its times coincide far more often than by chance ({facts[name].distinct:,} in {table.rows:,} rows), and "
                f"{same[0]!r} hardly changes within one: rows with the same time are of one event, and count as one person"
            )
            found[name] = Suggestion(name, Role.IDENTIFIER, reason, DATE.name, (Role.QUASI_IDENTIFIER,), key="person")
            return


def _by_cells(fact: Facts, pattern: Pattern | None) -> Suggestion | None:
    """Return the suggestion from the shape of the cells, whatever the name of the column."""
    shape = pattern_of_cells(fact.sample)
    if fact.kind is Kind.DATE or (shape is not None and shape[0] is DATE):
        return _date(fact, pattern)
    if shape is not None:
        cell_pattern, share = shape
        named = pattern is not None and pattern.role is not Role.IDENTIFIER
        # numbers in a column called income are not bank numbers, and no number with decimals is a phone number
        plain = fact.kind is Kind.NUMERIC and (named or not fact.whole)
        if not plain:
            return Suggestion(
                fact.name,
                Role.IDENTIFIER,
                f"{_percent(share)} of its cells look like a {cell_pattern.name}",
                cell_pattern.name,
                () if fact.nearly_unique else (Role.QUASI_IDENTIFIER,),
            )
    if fact.sequence and (pattern is None or pattern.role is not Role.SENSITIVE):
        return Suggestion(fact.name, Role.IDENTIFIER, "numbers the rows without gaps", "row number")
    text = fact.kind in (Kind.CATEGORICAL, Kind.TEXT)
    if text and fact.length >= _FREE_TEXT and 2 * fact.distinct > fact.rows - fact.missing:
        return Suggestion(
            fact.name,
            Role.IDENTIFIER,
            f"free text, {fact.length:.0f} words per cell and hardly any duplicates: it may name a person",
            "free text",
            () if pattern is None else (pattern.role,),
        )
    share = people_named(fact.sample)
    if text and share >= NAMED_SHARE and (pattern is None or pattern in (NAME, KEY)) and fact.distinct >= FEW_ROWS:
        return Suggestion(
            fact.name, Role.IDENTIFIER, f"{_percent(share)} of its cells contain a common name of a person", NAME.name
        )
    return None


def _date(fact: Facts, pattern: Pattern | None) -> Suggestion:
    years = sorted(filter(None, map(year_of_cell, fact.sample)))
    wide = bool(years) and years[-1] - years[0] > _BIRTH_YEARS
    if (pattern in (BIRTH, BIRTHPLACE)) or (pattern is None and wide):
        why = (
            "named like a date of birth"
            if pattern is not None
            else f"dates that span {years[-1] - years[0]} years, as dates of birth do"
        )
        return Suggestion(
            fact.name,
            Role.QUASI_IDENTIFIER,
            f"{why}: together with sex and place it singles out most people",
            BIRTH.name,
            (Role.IDENTIFIER,),
        )
    return Suggestion(
        fact.name, Role.QUASI_IDENTIFIER, "dates: people who were present know them", "date", (Role.SENSITIVE,)
    )


def _name_pattern(fact: Facts) -> Pattern | None:
    """Return the pattern of the name, if the cells do not contradict it."""
    found = pattern_of_name(fact.name)
    # values that recur are not keys ("account_type"), so the other words of the name decide
    if found is KEY and fact.distinct < 0.5 * (fact.rows - fact.missing):
        return pattern_of_name(fact.name, [one for one in NAMES if one is not KEY])
    # a weight multiplies, so texts under the name of one are something else
    if found is WEIGHT and fact.kind is not Kind.NUMERIC:
        return pattern_of_name(fact.name, [one for one in NAMES if one is not WEIGHT])
    return None if found is NAME and fact.kind is Kind.NUMERIC else found


def _by_name(fact: Facts, pattern: Pattern) -> Suggestion:
    """Return the usual role of columns with such a name."""
    codes = fact.whole and is_code_of_categories(fact.name, pattern, fact.distinct)
    like = f"named like {'a ' if pattern.name in _COUNTED else ''}{pattern.name}"
    if pattern.role is Role.IDENTIFIER:
        alternatives = () if fact.uniqueness > 0.5 else (Role.QUASI_IDENTIFIER,)
        identifies = "part of what identifies a person" if pattern.name == "street address" else "identifies a person"
        return Suggestion(fact.name, Role.IDENTIFIER, f"{like}: {identifies}", pattern.name, alternatives)
    if pattern is WEIGHT:
        return Suggestion(
            fact.name,
            None,
            f"{like}: needed for estimates, but published unchanged it singles out {_percent(fact.uniqueness)} of the rows",
            pattern.name,
            (Role.OTHER,),
        )
    if pattern.role is Role.SENSITIVE:
        return Suggestion(
            fact.name, Role.SENSITIVE, f"{like}: {SECRET}", pattern.name,
            pattern.alternatives, pattern.rank, codes=codes,
        )  # fmt: skip
    if not pattern.widely_known:
        return Suggestion(fact.name, Role.QUASI_IDENTIFIER, f"{like}: {FEWER}", pattern.name, codes=codes)
    identifying = fact.kind is not Kind.NUMERIC and fact.uniqueness > _IDENTIFYING_SHARE and fact.rows >= FEW_ROWS
    return Suggestion(
        fact.name,
        Role.QUASI_IDENTIFIER,
        f"{like}: {WIDELY}",
        pattern.name,
        (Role.IDENTIFIER,) if identifying else pattern.alternatives,
        codes=codes,
    )


def _by_uniqueness(fact: Facts) -> Suggestion | None:
    """Return the suggestion for text or whole numbers that differ in nearly every row."""
    if fact.rows < FEW_ROWS or not fact.nearly_unique or (fact.kind is Kind.NUMERIC and not fact.whole):
        return None
    return Suggestion(
        fact.name,
        Role.IDENTIFIER,
        "differs in every row" if fact.distinct == fact.rows else "differs in nearly every row",
        "unique key",
        (Role.SENSITIVE, Role.QUASI_IDENTIFIER) if fact.kind is Kind.NUMERIC else (),
    )


def _suggest_by_dependence(table: Table, facts: dict[str, Facts], found: dict[str, Suggestion | None]) -> None:
    """Give an unrecognised column the role of a column that determines it, or that it determines; `found` is changed.

    Otherwise a numeric code of education would be published unchanged beside the protected education.
    """
    known = [one for one in found.values() if one is not None and one.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)]
    # the most harmful first; the sort is stable, so equal ranks keep the order of the columns
    known = sorted(known, key=lambda one: one.rank)
    # the rows of one person repeat the same facts, so they are no evidence that values recur
    people = min([facts[name].distinct for name, one in found.items() if one is not None and one.key], default=table.rows)
    for name in [name for name, one in found.items() if one is None]:
        fact = facts[name]
        year = _survey_year(fact, any(one is not None and one.key is not None for one in found.values()))
        if year is not None:
            found[name] = year
            continue
        if REPEATED * fact.distinct > people:
            continue
        for one in known:
            if REPEATED * facts[one.column].distinct > people:
                continue
            if _determines(table, fact, facts[one.column]):
                determines = f"it determines {one.column!r}"
            elif _determines(table, facts[one.column], fact):
                determines = f"{one.column!r} determines it"
            else:
                continue
            found[name] = Suggestion(
                name, one.role, f"{determines} in every row, so it has the same role", None, (), one.rank
            )
            break


def _determines(table: Table, fact: Facts, other: Facts) -> bool:
    """Return whether each value of a column occurs with one value of another column only."""
    mine, theirs = table.column(fact.name), table.column(other.name)
    pairs = len(combined([mine.codes, theirs.codes], [mine.domain, theirs.domain])[1])
    return pairs == fact.distinct + (fact.missing > 0)


def _leave_out_known_secrets(table: Table, found: Sequence[Suggestion], facts: dict[str, Facts]) -> list[Suggestion]:
    """Leave to a person the sensitive columns that determine a quasi-identifier, or that one determines.

    A sensitive column is published unchanged: the tax of a state would reveal the state beside its coarser form, and whoever
    knows the state would find the rows by the tax.
    """

    def telling(fact: Facts) -> bool:
        # a column with rare values, or with hardly any but one, is related to others by chance
        return REPEATED * fact.distinct <= fact.rows and fact.common <= _UNEVEN * fact.rows and fact.rows >= FEW_ROWS

    public = [facts[one.column] for one in found if one.role is Role.QUASI_IDENTIFIER and telling(facts[one.column])]

    def decided(one: Suggestion) -> Suggestion:
        fact = facts[one.column]
        if one.role is not Role.SENSITIVE or not telling(fact):
            return one
        for other in public:
            # two values determine others by chance
            if fact.distinct > 2 and _determines(table, fact, other):
                why = f"published unchanged, it would reveal {other.name!r}, which it determines in every row"
            elif other.distinct > 2 and _determines(table, other, fact):
                why = f"{other.name!r} determines it in every row, so outsiders can know it"
            else:
                continue
            return replace(one, role=None, reason=f"{one.reason}; but {why}", alternatives=(Role.QUASI_IDENTIFIER,))
        return one

    return [decided(one) for one in found]


def _survey_year(fact: Facts, several: bool) -> Suggestion | None:
    """Return the suggestion for the time of a survey; `several`: whether people have several rows.

    Only a name with a word for surveys is the time of a survey: the month of an admission, or the year of a loan or of a
    transplant, is a fact about a person, even if the name is just `year`.
    """
    words = set(words_of(fact.name))
    if not _TIMES & words or fact.distinct > 12:
        return None
    if several:
        why = "the time of the row: the times at which a person has rows can be known, and unchanged they single out rows"
        return Suggestion(fact.name, None, why, "survey time", (Role.QUASI_IDENTIFIER, Role.OTHER))
    if not _SURVEYS & words:
        why = "a time: outsiders can know it if it is the time of an event in the life of a person"
        return Suggestion(fact.name, None, why, "time", (Role.QUASI_IDENTIFIER, Role.OTHER))
    return Suggestion(
        fact.name,
        Role.OTHER,
        "the time of the survey, which does not describe a person",
        "survey time",
        (Role.QUASI_IDENTIFIER,),
    )


def _suggest_unrecognised(fact: Facts, room: bool) -> Suggestion:
    """Return the cautious choice for an unrecognised column; `room`: whether there may be a further quasi-identifier."""
    key = is_named_like_key(fact)
    shared = fact.kind is Kind.NUMERIC or fact.uniqueness <= _IDENTIFYING_SHARE or fact.rows < FEW_ROWS
    if room and shared and not key and not fact.many_texts:
        return Suggestion(
            fact.name, Role.QUASI_IDENTIFIER, "not recognised: treated as if outsiders knew it",
            None, (Role.SENSITIVE,), certain=False,
        )  # fmt: skip
    unknown = f"not recognised{', and its many texts need a hierarchy' if fact.many_texts else ''}"
    why = "named like a key, but not recognised as that of a person" if key else unknown
    return Suggestion(fact.name, None, why, None, (Role.QUASI_IDENTIFIER, Role.SENSITIVE), certain=False)


def _demote_little_known(found: Sequence[Suggestion]) -> list[Suggestion]:
    """Leave little-known columns to a person if there are enough quasi-identifiers that many outsiders know."""

    def little_known(one: Suggestion) -> bool:
        return one.role is Role.QUASI_IDENTIFIER and one.reason.endswith(FEWER)

    widely = sum(one.role is Role.QUASI_IDENTIFIER and not little_known(one) for one in found)
    if widely < ENOUGH:
        return list(found)
    reason = f", and there are {widely} quasi-identifiers that are better known"
    return [
        replace(one, role=None, reason=one.reason + reason, alternatives=(Role.QUASI_IDENTIFIER,))
        if little_known(one)
        else one
        for one in found
    ]


def _limit_sensitive(found: Sequence[Suggestion], facts: dict[str, Facts]) -> list[Suggestion]:
    """Leave to a person the sensitive columns whose requirements would need very large groups, and those beyond a limit.

    The most harmful are kept; of equals, those whose values are more even.
    """
    sensitive = [one for one in found if one.role is Role.SENSITIVE]
    by_harm = sorted(sensitive, key=lambda one: (one.rank, facts[one.column].common))
    even = [one for one in by_harm if facts[one.column].common <= _ONE_SIDED * facts[one.column].rows]
    # the most harmful column is worth large groups
    main = by_harm[:1] if not even or by_harm[0].rank < even[0].rank else []
    columns = {one.column for one in [*main, *(one for one in even if one not in main)][:MOST_SENSITIVE]}

    def undecided(one: Suggestion) -> Suggestion:
        fact = facts[one.column]
        share = fact.common / fact.rows
        why = (
            f"{_percent(share)} of the rows have one value, so groups with different values would have to be very large"
            if share > _ONE_SIDED
            else f"{len(columns)} sensitive columns are under a requirement already"
        )
        return replace(one, role=None, reason=f"{one.reason}; but {why}", alternatives=(Role.SENSITIVE,))

    return [undecided(one) if one.role is Role.SENSITIVE and one.column not in columns else one for one in found]


def _keep_harmless(table: Table, found: Sequence[Suggestion]) -> list[Suggestion]:
    """Leave columns with the role other to a person if, published unchanged, they single out a row together."""
    harmless = [one.column for one in found if one.role is Role.OTHER]
    if not uniqueness_of(table, harmless).unique:
        return list(found)
    reason = "; but the columns that would be published unchanged single out people together"
    return [
        replace(one, role=None, reason=one.reason + reason, alternatives=(Role.OTHER,)) if one.role is Role.OTHER else one
        for one in found
    ]


_COUNTED = {"person's name", "mail address", "phone number", "street address", "network address", "photograph",
            "key or number of a person", "survey weight", "test result", "birth date", "birthplace", "place"}  # fmt: skip
"""Patterns whose names take an article."""


def _percent(share: float) -> str:
    return "all" if share == 1 else f"{min(max(100 * share, 0.1), 99.9):.3g} %"
