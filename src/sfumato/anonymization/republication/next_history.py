"""The history of the people after a release: the lineages that it continues or begins, and everybody's slot."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.errors import SfumatoError
from sfumato.releases.candidates import candidate_columns, candidates_of, people_column
from sfumato.releases.history import History, Place, person_hashes, person_texts, salt_of
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
    of_row, shown = candidates_of(published.data, schema, names)
    if earlier is None:
        earlier = History(salt_of(seed), 0, column, names, (), (), {})
    number = {value: position for position, value in enumerate(earlier.values)}
    values = np.array([number.setdefault(value, len(number)) for value in shown], np.int64)[of_row]
    real = np.flatnonzero(rows >= 0)
    hashes = person_hashes((texts[row] for row in rows[real].tolist()), earlier.salt)
    who = dict(zip(real.tolist(), hashes, strict=True))
    groups: dict[int, list[int]] = {}
    for row, group in enumerate(published.data.column(str(published.schema.group)).to_pylist()):
        groups.setdefault(group, []).append(row)
    lineages, people, version = list(earlier.lineages), dict(earlier.people), earlier.version + 1
    for group in sorted(groups):
        # by the hash of the identifier, so that nothing depends on the order of the original
        members = sorted((who[row], int(values[row])) for row in groups[group] if row in who)
        kept = {}
        for one, value in members:
            place = earlier.people.get(one)
            if place is not None and earlier.lineages[place.lineage][place.slot] == value:
                kept[one] = place
        lineage = next((place.lineage for place in kept.values()), len(lineages))
        if not kept:
            lineages.append(tuple(sorted(values[groups[group]].tolist())))
        taken = {place.slot for place in kept.values()}
        for one, value in members:
            slot = kept[one].slot if one in kept else _free_slot(lineages[lineage], value, taken)
            taken.add(slot)
            people[one] = Place(lineage, slot, version)
    return History(earlier.salt, version, column, names, list(number), lineages, dict(sorted(people.items())))


def _free_slot(lineage: tuple[int, ...], value: int, taken: set[int]) -> int:
    return next(slot for slot, own in enumerate(lineage) if own == value and slot not in taken)
