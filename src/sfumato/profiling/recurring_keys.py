"""Recognise the column that tells which rows belong to one person or one household: encounters, purchases, waves."""

from __future__ import annotations

from typing import Literal

import numpy as np

from sfumato.data.column import Column
from sfumato.data.schema import Kind
from sfumato.profiling.column_facts import Facts
from sfumato.profiling.name_words import words_of

KeyOf = Literal["person", "household"]

_NUMBER = {
    "id", "ids", "nr", "no", "nbr", "num", "number", "key", "code", "uid", "identifier", "idx", "index", "nummer", "numero",
    "ref",
}  # fmt: skip
"""Words that make a name the name of a number."""

_PERSON = {
    "patient", "person", "people", "subject", "individual", "member", "customer", "client", "user", "resident", "citizen",
    "student", "pupil", "employee", "worker", "respondent", "participant", "case", "child", "mother", "donor", "driver",
    "insured", "beneficiary", "versicherten", "kunde", "personne", "indiv",
}  # fmt: skip
"""Words for a person."""

_HOUSEHOLD = {"household", "hh", "family", "haushalt", "menage", "dwelling", "foyer"}

_WHOLE_NAMES = {
    "pid": "person", "personid": "person", "patientid": "person", "subjid": "person", "usubjid": "person", "mrn": "person",
    "pnr": "person", "userid": "person", "customerid": "person", "nhs": "person", "ssn": "person", "hhid": "household",
    "hid": "household", "famid": "household", "serial": "household",
}  # fmt: skip
"""Names of one word."""

_BARE = {"id", "nr", "key", "identifier", "idnr"}
"""Names that consist of the word for a number alone."""

_IDENTIFIER = {"id", "ids", "uid", "identifier"}
"""Words for a number that never count or list something, unlike `num` in `num_child` or `no` in `person_no`."""

_CERTAIN = {"personid", "patientid", "subjid", "usubjid", "userid", "customerid", "hhid", "famid"}
"""Names of one word that have no other meaning; `pid` may be a party, and `serial` a device."""

_LEAST_VALUES = 20
"""A key has at least this many values."""

_MOST_ROWS = 100
"""A person has at most this many rows on average, unless the name says nothing but that it is the number of a person."""

_CONSTANT = 0.99
"""The share of a key's recurring values within which a lasting fact must not change; the rest may be errors."""

MOSTLY = 0.8
"""The same share for the times of events, some of which concern several people."""

_MOMENTS = 100
"""Times of day coincide by chance in at most one row of this many if there are this many moments for each row."""

_LARGEST_SHARE = 0.05
"""One person has at most this share of the rows; a code of categories usually has a value with more."""


def recurring_key(fact: Facts) -> KeyOf | None:
    """Return whether a column recurs and tells the person or the household of a row, by its name and its counts.

    `discharge_disposition_id`, with 26 values in 100,000 rows, is the code of a category, not the number of a person.

    >>> recurring_key(Facts("patient_nbr", 100, Kind.NUMERIC, distinct=70, common=3, whole=True))
    'person'
    >>> recurring_key(Facts("userId", 90_000, Kind.NUMERIC, distinct=6, common=30_000, whole=True))
    'person'
    >>> recurring_key(Facts("admission_type_id", 100, Kind.NUMERIC, distinct=8, common=50, whole=True))
    """
    words = words_of(fact.name)
    said = set(words)
    key = _key_of_name(words) or _key_of_person(words, fact)
    if key is None or not _can_be_key(fact):
        return None
    plain = said <= _PERSON | _HOUSEHOLD | _NUMBER
    recurring = 1 < fact.distinct < fact.rows - fact.missing
    # a monitor records a patient in thousands of rows, so only a name with other words limits the rows of a person
    if not (recurring and _is_certain(words)) and not _recurs_evenly(fact, fact.rows if plain else _MOST_ROWS):
        return None
    named = bool(said & (_PERSON | _HOUSEHOLD)) or "".join(words) in _WHOLE_NAMES
    # nearly unique keys number rows, such as orders or visits, unless the name is that of a person
    return None if not named and fact.nearly_unique else key


def is_named_like_key(fact: Facts) -> bool:
    """Return whether a column numbers something, by its name and its counts: a film, a shop, a physician.

    >>> is_named_like_key(Facts("movieId", 90_000, Kind.NUMERIC, distinct=9_000, common=300, whole=True))
    True
    >>> is_named_like_key(Facts("type_id", 90_000, Kind.NUMERIC, distinct=6, common=30_000, whole=True))
    False
    """
    return bool(set(words_of(fact.name)) & _NUMBER) and _can_be_key(fact) and _recurs_evenly(fact, fact.rows)


def recurs(fact: Facts) -> bool:
    """Return whether a column could be a key by its counts: many values, none of them with many rows.

    >>> recurs(Facts("x", 100, Kind.NUMERIC, distinct=70, common=3, whole=True))
    True
    """
    return _can_be_key(fact) and _recurs_evenly(fact)


def _can_be_key(fact: Facts) -> bool:
    return fact.whole or fact.kind in (Kind.CATEGORICAL, Kind.TEXT)


def _recurs_evenly(fact: Facts, most_rows: int = _MOST_ROWS) -> bool:
    present = fact.rows - fact.missing
    spread = fact.common <= max(_LARGEST_SHARE * fact.rows, 3)
    return spread and _LEAST_VALUES <= fact.distinct < present <= most_rows * fact.distinct


def are_event_times(fact: Facts, column: Column) -> bool:
    """Return whether points in time recur far more often than by chance, so that rows with the same one are of one event.

    The reports of one police operation have the same second, as have the items of one purchase. Days recur by chance.
    """
    numbers = column.numbers
    if column.kind is not Kind.DATE or numbers is None or fact.nearly_unique or not _recurs_evenly(fact):
        return False
    moments = int(numbers.integers[-1]) - int(numbers.integers[0])
    return numbers.unit < 1 and moments >= _MOMENTS * fact.rows


def never_changes_within(key: Column, other: Column, share: float = _CONSTANT) -> bool:
    """Return whether a column has one value within each value of a key, in this share of the values that recur.

    >>> import pyarrow as pa
    >>> from sfumato import Schema, Table
    >>> table = Table(pa.table({"x": [1, 1, 2, 2], "sex": ["f", "f", "m", "m"], "wave": [1, 2, 1, 2]}), Schema())
    >>> [never_changes_within(table.column("x"), table.column(name)) for name in ("sex", "wave")]
    [True, False]
    """
    rows = np.bincount(key.codes, minlength=key.domain)
    pairs = np.unique(key.codes.astype(np.int64) * other.domain + other.codes) // other.domain
    values = np.bincount(pairs, minlength=key.domain)
    recurring = (rows > 1) & (np.arange(key.domain) < key.size)
    return bool(recurring.any()) and float((values[recurring] == 1).mean()) >= share


def _is_certain(words: tuple[str, ...]) -> bool:
    """Return whether a name says that it identifies a person or a household, and nothing else."""
    said = set(words)
    named = bool(said & (_PERSON | _HOUSEHOLD) and said & _IDENTIFIER and said <= _PERSON | _HOUSEHOLD | _NUMBER)
    return named or "".join(words) in _CERTAIN


def _key_of_person(words: tuple[str, ...], fact: Facts) -> KeyOf | None:
    """Return what a column without a word for a number is the number of: `patient` if its cells are 17 or P17, not cooks."""
    if len(words) != 1 or not all(any(letter.isdigit() for letter in cell) for cell in fact.sample):
        return None
    return "person" if words[0] in _PERSON else "household" if words[0] in _HOUSEHOLD else None


def _key_of_name(words: tuple[str, ...]) -> KeyOf | None:
    """Return what a name is the number of."""
    whole = _WHOLE_NAMES.get("".join(words))
    if whole is not None:
        return "household" if whole == "household" else "person"
    said = set(words)
    if not said & _NUMBER:
        return None
    if said & _HOUSEHOLD:
        return "household"
    return "person" if said & _PERSON or (len(words) == 1 and words[0] in _BARE) else None
