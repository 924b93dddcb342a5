"""The role that each column should have, and why: by its cells first, then by its name, then by the other columns.

What points at a person by itself is an identifier, and is dropped. What outsiders can know is a quasi-identifier. What they
would like to learn (money, health, work, belief) is sensitive. The rest is other, and is published as it is.
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
    Look,
    named,
    shaped,
)
from sfumato.profiling.name_words import words_of
from sfumato.profiling.person_names import NAMED_SHARE, people_named

FEW_ROWS = 20
"""In a table with fewer rows, distinct values are no evidence."""

ENOUGH = 6
"""With this many quasi-identifiers, facts that few outsiders know stay other until a person decides."""

MOST_UNKNOWN = 8
"""Unrecognised columns become quasi-identifiers while there are fewer than this in all."""

_TELLING = 0.1
"""An unrecognised text that is unique in this share of the rows is not published."""

_HARMLESS = 0.01
"""An unrecognised column that is unique in more rows than this is not published as it is."""

_FREE_TEXT = 5
"""Distinct cells with at least this many words on average are free text."""

REPEATED = 5
"""Functional dependence is tested only for columns whose values occur this often on average."""

_BIRTH_YEARS = 40
"""Dates that span more years than this are dates of birth."""

WIDELY = "outsiders can know it"
FEWER = "known to fewer outsiders"


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
    wage sensitive - named like income: a secret to outsiders
    """

    column: str
    role: Role
    reason: str
    look: str | None = None
    """The recognised pattern, in words."""
    instead: tuple[Role, ...] = ()
    """Roles that a person might choose instead."""
    rank: int = 9
    """The rank of a sensitive attribute; the most harmful comes first."""
    certain: bool = True
    """Whether cells or name were recognised; if not, the role is the cautious choice."""
    codes: bool = False
    """Whether its numbers are codes of categories."""


def suggestions(table: Table, facts: Sequence[Facts]) -> list[Suggestion]:
    """Suggest a role for every column of a table."""
    found = {fact.name: _alone(fact) for fact in facts}
    by_name = {fact.name: fact for fact in facts}
    _settle_by_others(table, by_name, found)
    # what tells most is decided first, while there is room
    unsure = sorted((fact for fact in facts if found[fact.name] is None), key=lambda fact: -fact.entropy)
    room = MOST_UNKNOWN - sum(1 for one in found.values() if one is not None and one.role is Role.QUASI_IDENTIFIER)
    for fact in unsure:
        one = _unknown(fact, room > 0)
        room -= one.role is Role.QUASI_IDENTIFIER
        found[fact.name] = one
    settled = [one for one in found.values() if one is not None]
    return _fewer_known(settled)


def _alone(fact: Facts) -> Suggestion | None:
    """Return the suggestion from the column alone; None if it is not recognised."""
    if fact.kind is None:
        return Suggestion(fact.name, Role.IDENTIFIER, "cells of its type cannot be looked at, so they are left out")
    if fact.constant:
        return Suggestion(fact.name, Role.OTHER, "every row has the same value: it tells nothing of anybody")
    says = _says(fact)
    return _by_cells(fact, says) or (None if says is None else _by_name(fact, says)) or _by_uniqueness(fact)


def _by_cells(fact: Facts, says: Look | None) -> Suggestion | None:
    """Return the suggestion from the shape of the cells, whatever the name of the column."""
    shape = shaped(fact.sample)
    if shape is not None:
        look, share = shape
        if look is DATE:
            return _date(fact, says)
        plain = fact.kind is Kind.NUMERIC and says is not None and says.role is not Role.IDENTIFIER
        if not plain:  # numbers that are called income are no bank numbers
            return Suggestion(
                fact.name,
                Role.IDENTIFIER,
                f"{_percent(share)} of its cells look like a {look.name}",
                look.name,
                () if fact.nearly_unique else (Role.QUASI_IDENTIFIER,),
            )
    if fact.sequence and (says is None or says.role is not Role.SENSITIVE):
        return Suggestion(fact.name, Role.IDENTIFIER, "it numbers the rows without gaps", "row number")
    text = fact.kind in (Kind.CATEGORICAL, Kind.TEXT)
    if text and fact.length >= _FREE_TEXT and 2 * fact.distinct > fact.rows - fact.missing:
        return Suggestion(
            fact.name,
            Role.IDENTIFIER,
            f"free text, {fact.length:.0f} words a cell and hardly two alike: it may name anybody",
            "free text",
            (Role.OTHER,) if says is None else (says.role,),
        )
    share = people_named(fact.sample)
    if text and share >= NAMED_SHARE and (says is None or says in (NAME, KEY)) and fact.distinct >= FEW_ROWS:
        return Suggestion(
            fact.name, Role.IDENTIFIER, f"{_percent(share)} of its cells hold a common name of people", NAME.name
        )
    return None


def _date(fact: Facts, says: Look | None) -> Suggestion:
    years = sorted(filter(None, map(_year, fact.sample)))
    wide = bool(years) and years[-1] - years[0] > _BIRTH_YEARS
    if (says in (BIRTH, BIRTHPLACE)) or (says is None and wide):
        why = "named like a date of birth" if says is not None else f"dates over {years[-1] - years[0]} years, as of birth"
        return Suggestion(
            fact.name,
            Role.QUASI_IDENTIFIER,
            f"{why}: with sex and place it singles out most people",
            BIRTH.name,
            (Role.IDENTIFIER,),
        )
    if fact.nearly_unique and fact.rows >= FEW_ROWS:
        return Suggestion(
            fact.name, Role.IDENTIFIER, "dates or times that differ in nearly every row", "time stamp",
            (Role.QUASI_IDENTIFIER,),
        )  # fmt: skip
    return Suggestion(
        fact.name, Role.QUASI_IDENTIFIER, "dates: who was there knows them", "date", (Role.SENSITIVE, Role.OTHER)
    )


def _year(cell: str) -> int | None:
    head, tail = cell[:4], cell[-4:]
    found = head if head.isdigit() else tail if tail.isdigit() else ""
    return int(found) if found and found.isascii() and 1800 <= int(found) < 2100 else None


def _says(fact: Facts) -> Look | None:
    """Return the suggestion from the name, if the cells do not contradict it."""
    found = named(fact.name)
    if found is KEY and fact.distinct < 0.5 * (fact.rows - fact.missing):  # codes that recur are no keys; other words count
        return named(fact.name, [look for look in NAMES if look is not KEY])
    return None if found is NAME and fact.kind is Kind.NUMERIC else found


def _by_name(fact: Facts, says: Look) -> Suggestion:
    """Return the usual role of columns with such a name."""
    codes = fact.whole and "code" in words_of(fact.name)
    like = f"named like {_article(says.name)}"
    if says.role is Role.IDENTIFIER:
        instead = () if fact.uniqueness > 0.5 else (Role.QUASI_IDENTIFIER,)
        points = "part of what points at a person" if says.name == "street address" else "points at a person"
        return Suggestion(fact.name, Role.IDENTIFIER, f"{like}: {points}", says.name, instead)
    if says is WEIGHT:
        rare = f"; but {_percent(fact.uniqueness)} of the rows have one of their own" if fact.uniqueness > 0.01 else ""
        return Suggestion(
            fact.name, Role.OTHER, f"{like}: needed to count, known to nobody{rare}", says.name, (Role.IDENTIFIER,)
        )
    if says.role is Role.SENSITIVE:
        return Suggestion(
            fact.name, Role.SENSITIVE, f"{like}: a secret to outsiders", says.name,
            says.doubt, says.rank, codes=codes,
        )  # fmt: skip
    if not says.widely:
        return Suggestion(fact.name, Role.QUASI_IDENTIFIER, f"{like}: {FEWER}", says.name, (Role.OTHER,), codes=codes)
    telling = fact.kind is not Kind.NUMERIC and fact.uniqueness > _TELLING and fact.rows >= FEW_ROWS
    return Suggestion(
        fact.name,
        Role.QUASI_IDENTIFIER,
        f"{like}: {WIDELY}",
        says.name,
        (Role.IDENTIFIER,) if telling else says.doubt,
        codes=codes,
    )


def _by_uniqueness(fact: Facts) -> Suggestion | None:
    """Return the suggestion for text or whole numbers that differ in nearly every row."""
    if fact.rows < FEW_ROWS or not fact.nearly_unique or (fact.kind is Kind.NUMERIC and not fact.whole):
        return None
    return Suggestion(
        fact.name,
        Role.IDENTIFIER,
        "differs in every row" if fact.distinct == fact.rows else "differs in nearly every row: it tells each by itself",
        "unique key",
        (Role.SENSITIVE, Role.QUASI_IDENTIFIER) if fact.kind is Kind.NUMERIC else (),
    )


def _settle_by_others(table: Table, facts: dict[str, Facts], found: dict[str, Suggestion | None]) -> None:
    """Give an unrecognised column the role of a column that determines it, or that it determines."""
    known = [one for one in found.values() if one is not None and one.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE)]
    # what hurts most first, then what is on the list first
    known = sorted(known, key=lambda one: one.rank)
    for name in [name for name, one in found.items() if one is None]:
        fact = facts[name]
        year = _survey_year(fact)
        if year is not None:
            found[name] = year
            continue
        if REPEATED * fact.distinct > fact.rows:
            continue
        column = table.column(name)
        for one in known:
            if REPEATED * facts[one.column].distinct > fact.rows:
                continue
            other = table.column(one.column)
            pairs = len(combined([column.codes, other.codes], [column.domain, other.domain])[1])
            mine, theirs = fact.distinct + (fact.missing > 0), facts[one.column].distinct + (facts[one.column].missing > 0)
            if pairs in (mine, theirs):
                tells = f"it tells {one.column!r}" if pairs == mine else f"{one.column!r} tells it"
                found[name] = Suggestion(
                    name, one.role, f"{tells} in every row, so it has the same role", None, (Role.OTHER,), one.rank
                )
                break


def _survey_year(fact: Facts) -> Suggestion | None:
    years = {"year", "jahr", "annee", "nian", "wave", "month", "quarter"} & set(words_of(fact.name))
    if not years or fact.distinct > 12:
        return None
    return Suggestion(
        fact.name, Role.OTHER, "when the data was gathered, not who a person is", "survey time", (Role.QUASI_IDENTIFIER,)
    )


def _unknown(fact: Facts, room: bool) -> Suggestion:
    """Return the cautious choice for an unrecognised column."""
    unlike = f"unique in {_percent(fact.uniqueness)} of the rows"
    enough = fact.rows >= FEW_ROWS
    if fact.kind is not Kind.NUMERIC and fact.uniqueness > _TELLING and enough:
        return Suggestion(
            fact.name, Role.IDENTIFIER, f"nothing tells what it is, and it is {unlike}: not published until decided",
            None, (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.OTHER), certain=False,
        )  # fmt: skip
    if room:
        return Suggestion(
            fact.name, Role.QUASI_IDENTIFIER, "nothing tells what it is: careful, as if outsiders knew it",
            None, (Role.SENSITIVE, Role.OTHER), certain=False,
        )  # fmt: skip
    if fact.uniqueness > _HARMLESS and enough:
        return Suggestion(
            fact.name, Role.IDENTIFIER, f"nothing tells what it is, and it is {unlike}: not published until decided",
            None, (Role.SENSITIVE, Role.QUASI_IDENTIFIER), certain=False,
        )  # fmt: skip
    return Suggestion(
        fact.name, Role.OTHER, "nothing tells what it is; published as it is unless you decide otherwise",
        None, (Role.QUASI_IDENTIFIER, Role.SENSITIVE), certain=False,
    )  # fmt: skip


def _fewer_known(found: Sequence[Suggestion]) -> list[Suggestion]:
    """If there are enough quasi-identifiers that many outsiders know, leave the others to a person."""

    def few(one: Suggestion) -> bool:
        return one.role is Role.QUASI_IDENTIFIER and one.reason.endswith(FEWER)

    widely = sum(one.role is Role.QUASI_IDENTIFIER and not few(one) for one in found)
    if widely < ENOUGH:
        return list(found)
    reason = f", and there are {widely} that more know"
    return [
        replace(one, role=Role.OTHER, reason=one.reason + reason, instead=(Role.QUASI_IDENTIFIER,)) if few(one) else one
        for one in found
    ]


def _article(name: str) -> str:
    return f"a {name}" if name in _COUNTED else name


_COUNTED = {"person's name", "mail address", "phone number", "street address", "network address", "photograph",
            "key or number of a person", "survey weight", "test result", "birth date", "birthplace", "place"}  # fmt: skip
"""Patterns whose names take an article."""


def _percent(share: float) -> str:
    return "all" if share == 1 else f"{min(max(100 * share, 0.1), 99.9):.3g} %"
