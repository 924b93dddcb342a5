"""The history of the people of a sequence of releases: with whom each of them shares their candidates. Never published.

A *lineage* is a group that later releases continue. It has *slots*, each with a candidate, which never change. Whoever is in
the group occupies a slot that has their own candidate. When they leave, somebody new with the same candidate, or a
counterfeit, takes the slot. So every release publishes the same candidates for the lineage, and nothing says which of them
belongs to which slot.

The private key of a release contains the lineages and the slot of everybody who was ever in the sequence, so the next
version needs the key of the last release alone. Identifiers are keyed hashes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sfumato.data.missing_texts import CLEAR
from sfumato.errors import CellError
from sfumato.io.write_files import cell_texts
from sfumato.releases.candidates import Candidate

_BYTES = 16
"""The length of the hash of an identifier."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a person is in a sequence of releases."""

    lineage: int
    slot: int
    version: int
    """The last release that contains the person, numbered from 1."""


@dataclass(frozen=True, eq=False, repr=False)
class History:
    """The lineages of a sequence of releases, and the place of everybody who was in one."""

    salt: bytes
    """The key of the hashes; the same in all releases of a sequence."""
    version: int
    """The number of the last release, from 1."""
    column: str
    """The column by which people are matched."""
    columns: tuple[str, ...]
    """The columns that a candidate consists of."""
    values: Sequence[Candidate]
    lineages: Sequence[tuple[int, ...]]
    """For each lineage the number of the candidate of each slot. A later release adds lineages, and changes none."""
    people: Mapping[str, Place]
    """By the hash of the identifier."""

    def to_dict(self) -> dict[str, Any]:
        """Return the history as plain data, ready for JSON."""
        return {
            "salt": self.salt.hex(),
            "version": self.version,
            "column": self.column,
            "columns": list(self.columns),
            "values": [list(value) for value in self.values],
            "lineages": [list(lineage) for lineage in self.lineages],
            "people": {who: [place.lineage, place.slot, place.version] for who, place in self.people.items()},
        }

    @classmethod
    def of_dict(cls, content: Any) -> History:
        """Return the history of plain data; anything that is not one raises ValueError."""
        try:
            found = cls(
                bytes.fromhex(content["salt"]),
                int(content["version"]),
                str(content["column"]),
                tuple(map(str, content["columns"])),
                [tuple(_text_or_none(text) for text in value) for value in content["values"]],
                [tuple(_number(value, len(content["values"])) for value in lineage) for lineage in content["lineages"]],
                {str(who): Place(*map(_number, place)) for who, place in content["people"].items()},
            )
        except (TypeError, KeyError, IndexError, AttributeError) as error:
            raise ValueError(f"it is corrupt ({type(error).__name__})") from error
        sizes = dict(enumerate(map(len, found.lineages)))
        if any(place.slot >= sizes.get(place.lineage, 0) for place in found.people.values()):
            raise ValueError("it names a slot that it does not contain")
        if any(len(value) != len(found.columns) for value in found.values) or not found.salt:
            raise ValueError("a candidate has other columns")
        return found


def _number(value: Any, end: int | None = None) -> int:
    if type(value) is not int or value < 0 or (end is not None and value >= end):
        raise TypeError
    return value


def _text_or_none(text: Any) -> str | None:
    if text is not None and not isinstance(text, str):
        raise TypeError
    return text


def salt_of(seed: int) -> bytes:
    """Return the key of the hashes of a sequence that begins with a release of this seed."""
    return hashlib.shake_256(f"sfumato history:{seed:x}".encode()).digest(32)


def person_texts(data: pa.Table, column: str, source: str | None = None) -> list[str]:
    """Return the identifier of each row as text; a missing one, and one that occurs twice, are errors.

    >>> person_texts(pa.table({"who": [7, 8]}), "who")
    ['7', '8']
    """
    texts: list[str] = cell_texts(data.column(column), column).to_pylist()
    first: dict[str, int] = {}
    for row, text in enumerate(texts):
        if text is None or text.strip() in CLEAR or not text.strip():
            raise CellError(
                "the identifier of this row is missing, so the person cannot be found in other versions",
                remedy="Fill the cell, or give each person an identifier.",
                file=source,
                column=column,
                row=row + 1,
            )
        if first.setdefault(text, row) != row:
            raise CellError(
                f"the same person is in row {first[text] + 1:,}; a sequence of releases has one row per person",
                remedy="Reduce the table to one row per person, or name the column that identifies people.",
                file=source,
                column=column,
                row=row + 1,
                value=text,
            )
    return texts


def person_hashes(texts: Iterable[str], salt: bytes) -> list[str]:
    """Return a keyed hash of each identifier."""
    return [hashlib.blake2b(text.encode(), digest_size=_BYTES, key=salt).hexdigest() for text in texts]
