"""The history of the people of a sequence of releases: the candidates that each of them still has. Never published.

A release that follows another must not narrow anybody's candidates below the requirements. For that it needs, of everybody
who was ever in the sequence, the candidates that all their groups have in common. The private key of a release contains
them, so the next version needs the key alone, and neither earlier originals nor earlier keys. Identifiers and values are
keyed hashes: the file says nothing about somebody whose identifier one does not know.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.data.missing_texts import CLEAR
from sfumato.errors import CellError
from sfumato.io.write_files import cell_texts
from sfumato.releases.candidates import Candidate

Signature = tuple[tuple[int, int], ...]
"""A multiset of candidates: pairs of the number of a candidate and how often it occurs, ascending."""

_PERSON, _VALUE = 16, 8
"""The bytes of the hash of an identifier, and of a value."""


@dataclass(frozen=True, slots=True)
class Person:
    """What the releases so far say about one person."""

    whole: int
    """The candidates that all groups of the person have in common, as the number of a signature."""
    run: int
    """The same for the groups since the candidate of the person last changed."""
    value: str
    """A hash of the person's candidate in the last release that contains the person."""
    place: tuple[int, int]
    """The last release that contains the person, numbered from 1, and the group there."""


@dataclass(frozen=True, eq=False, repr=False)
class History:
    """The candidates of everybody who was in a sequence of releases."""

    salt: bytes
    """The key of the hashes; the same in all releases of a sequence."""
    version: int
    """The number of the last release, from 1."""
    column: str
    """The column by which people are matched."""
    columns: tuple[str, ...]
    """The columns that a candidate consists of."""
    values: Sequence[Candidate]
    signatures: Sequence[Signature]
    people: Mapping[str, Person]
    """By the hash of the identifier."""

    def to_dict(self) -> dict[str, Any]:
        """Return the history as plain data, ready for JSON."""
        return {
            "salt": self.salt.hex(),
            "version": self.version,
            "column": self.column,
            "columns": list(self.columns),
            "values": [list(value) for value in self.values],
            "signatures": [[number for pair in signature for number in pair] for signature in self.signatures],
            "people": {who: [p.whole, p.run, p.value, *p.place] for who, p in self.people.items()},
        }

    @classmethod
    def of_dict(cls, content: Any) -> History:
        """Return the history of plain data; anything that is not one raises ValueError."""
        try:
            values = [tuple(_text_or_none(text) for text in value) for value in content["values"]]
            signatures = [tuple(zip(each[::2], each[1::2], strict=True)) for each in content["signatures"]]
            people = {str(who): Person(p[0], p[1], str(p[2]), (p[3], p[4])) for who, p in content["people"].items()}
            found = cls(
                bytes.fromhex(content["salt"]),
                int(content["version"]),
                str(content["column"]),
                tuple(map(str, content["columns"])),
                values,
                signatures,
                people,
            )
        except (TypeError, KeyError, IndexError, AttributeError) as error:
            raise ValueError(f"it is corrupt ({type(error).__name__})") from error
        found._check()
        return found

    def _check(self) -> None:
        numbers = [number for signature in self.signatures for pair in signature for number in pair]
        numbers += [number for p in self.people.values() for number in (p.whole, p.run, *p.place)]
        known = range(len(self.signatures))
        whole = all(type(number) is int for number in numbers)
        if not whole or any(value not in range(len(self.values)) for each in self.signatures for value, _ in each):
            raise ValueError("it names a candidate that it does not contain")
        if any(count < 1 for each in self.signatures for _, count in each):
            raise ValueError("it counts a candidate that does not occur")
        if any(p.whole not in known or p.run not in known for p in self.people.values()):
            raise ValueError("it names a signature that it does not contain")
        if any(len(value) != len(self.columns) for value in self.values):
            raise ValueError("a candidate has other columns")


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
    return [hashlib.blake2b(text.encode(), digest_size=_PERSON, key=salt).hexdigest() for text in texts]


def value_hashes(texts: Iterable[str], of_row: NDArray[np.int64], values: Sequence[Candidate], salt: bytes) -> list[str]:
    """Return a keyed hash of each person's candidate; the same candidate of two people has different hashes."""
    parts = ["".join("n" if text is None else f"{len(text)}:{text}" for text in value) for value in values]
    return [
        hashlib.blake2b(f"{len(who)}:{who}{parts[value]}".encode(), digest_size=_VALUE, key=salt).hexdigest()
        for who, value in zip(texts, of_row.tolist(), strict=True)
    ]
