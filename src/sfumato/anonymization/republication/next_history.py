"""The history of the people after a release: what is left of everybody's candidates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.anonymization.republication.multisets import Multisets
from sfumato.data.groups import dense_ranks
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import SfumatoError
from sfumato.releases.candidates import Candidate, candidate_columns, candidates_of, people_column
from sfumato.releases.history import History, Person, person_hashes, person_texts, salt_of, value_hashes
from sfumato.storage import active_storage

Integers = NDArray[np.int64]


def history_after(
    original: Table, published: Table, rows: Integers, schema: Schema, seed: int, earlier: History | None
) -> History | None:
    """Return the history that the key of a release contains; None if people cannot be matched with another version.

    `original`: with the identifiers. `rows`: for each published row its row in the original, -1 for a counterfeit.
    `earlier`: the history of the release that this one follows, if it follows one. A table with several rows per person,
    or without an identifier, has no history, and neither has one that is not in memory.
    """
    if active_storage() is not None:
        return None
    try:
        column = people_column(schema)
        texts = person_texts(original.data, column, original.source)
    except SfumatoError:
        if earlier is not None:
            raise
        return None
    names = candidate_columns(schema, published.data.column_names)
    of_row, values = candidates_of(published.data, schema, names)
    group = np.asarray(published.data.column(str(published.schema.group))).astype(np.int64)
    salt = salt_of(seed) if earlier is None else earlier.salt
    version = 1 if earlier is None else earlier.version + 1
    # everything about earlier signatures is numbered over the candidates of both
    number = {value: position for position, value in enumerate(values)}
    before = np.array([number.setdefault(v, len(number)) for v in (() if earlier is None else earlier.values)], np.int64)
    old = Multisets.listed(() if earlier is None else earlier.signatures)
    old = Multisets.of(old.owner, before[old.values], len(old), old.counts)
    dense = dense_ranks(group)
    new = Multisets.of(dense, of_row, int(dense.max()) + 1)
    real = np.flatnonzero(rows >= 0)
    people = [texts[row] for row in rows[real].tolist()]
    hashes = person_hashes(people, salt)
    shown = value_hashes(people, of_row[real], values, salt)
    found = _Signatures(list(number))
    kept = {} if earlier is None else dict(earlier.people)
    starts = found.numbers(new)  # those of people who are new
    wanted = []
    for who, value in zip(hashes, shown, strict=True):
        person = kept.get(who)
        same = person is not None and person.value == value
        wanted.append((-1, -1) if person is None else (person.whole, person.run if same else -1))
    pairs = np.array(wanted, np.int64).reshape(-1, 2)
    sets = np.column_stack([_narrowed(found, old, pairs[:, side], new, dense[real], starts) for side in (0, 1)])
    here = set(hashes)
    absent = _carried(found, old, {who: person for who, person in kept.items() if who not in here})
    present = {
        who: Person(whole, run, value, (version, at))
        for who, whole, run, value, at in zip(hashes, *sets.T.tolist(), shown, group[real].tolist(), strict=True)
    }
    # sorted by hash, so that the order of the original is not in the file
    everybody = dict(sorted({**absent, **present}.items()))
    return found.history(salt, version, column, names, everybody)


class _Signatures:
    """Collects distinct signatures."""

    def __init__(self, values: list[Candidate]) -> None:
        self.values = values
        self.known: dict[bytes, int] = {}
        self.content: list[tuple[tuple[int, int], ...]] = []

    def numbers(self, sets: Multisets) -> Integers:
        """Return the number of each of some multisets."""
        result = np.empty(len(sets), np.int64)
        for at, (key, start, stop) in enumerate(zip(sets.keys(), sets.offsets[:-1], sets.offsets[1:], strict=True)):
            if key not in self.known:
                self.known[key] = len(self.content)
                entries = zip(sets.values[start:stop].tolist(), sets.counts[start:stop].tolist(), strict=True)
                self.content.append(tuple(entries))
            result[at] = self.known[key]
        return result

    def history(self, salt: bytes, version: int, column: str, names: tuple[str, ...], people: dict[str, Person]) -> History:
        """Return a history with the signatures that people have, and the candidates that occur in them."""
        used = sorted({number for p in people.values() for number in (p.whole, p.run)})
        place = {number: position for position, number in enumerate(used)}
        occurring = sorted({value for number in used for value, _ in self.content[number]})
        renamed = {value: position for position, value in enumerate(occurring)}
        return History(
            salt,
            version,
            column,
            names,
            [self.values[value] for value in occurring],
            [tuple((renamed[value], count) for value, count in self.content[number]) for number in used],
            {who: Person(place[p.whole], place[p.run], p.value, p.place) for who, p in people.items()},
        )


def _narrowed(
    found: _Signatures, old: Multisets, before: Integers, new: Multisets, group: Integers, starts: Integers
) -> Integers:
    """Return for each person the number of what is left of a signature in the group; -1 before: all of the group."""
    result = starts[group]
    known = np.flatnonzero(before >= 0)
    if len(known):
        width = len(new)
        pairs, inverse = np.unique(before[known] * width + group[known], return_inverse=True)
        left = old.common(pairs // width, new, pairs % width)
        result[known] = found.numbers(left)[inverse]
    return result


def _carried(found: _Signatures, old: Multisets, people: dict[str, Person]) -> dict[str, Person]:
    """Return the people who are not in this release, as they were."""
    used = np.unique(np.array([number for p in people.values() for number in (p.whole, p.run)], np.int64))
    numbers = dict(zip(used.tolist(), found.numbers(old.take(used)).tolist(), strict=True))
    return {who: Person(numbers[p.whole], numbers[p.run], p.value, p.place) for who, p in people.items()}
