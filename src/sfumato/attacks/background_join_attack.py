"""The background-join attack (paper 004, Section 1): who knows one secret of a person reads another from the same table."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato._audit import level_shown
from sfumato.attacks.attacker_view import AttackerView, checked, secrets
from sfumato.attacks.confidence import Confidence, commonest, confidence_of
from sfumato.data.attribute import Attribute
from sfumato.data.groups import combination_ranks
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.plurals import count_of

Known = int | Literal["others"]

_MOST = 5000
"""How many joins are tried at most: 15 attributes in one table make 210 pairs, and 1,365 ways to know two of a third."""


@dataclass(frozen=True)
class Join:
    """What the knowledge of some attributes of a person tells of another in the same projected table."""

    table: int
    """The projected table, from 0."""
    known: tuple[str, ...]
    target: str
    people: int
    """Rows that the table publishes."""
    before: Confidence
    """Of who knows the group alone."""
    after: Confidence
    """Of who knows the attributes besides."""
    gain: Fraction
    """The largest rise of one person's confidence."""
    example: Mapping[str, Any]
    """A person of whom he gains most: the `group`, the `values` that he knows, his `guess`, and `among` how many rows."""

    @property
    def mean_gain(self) -> Fraction:
        """The rise of the confidence, on average over people; never negative, though one person's may fall."""
        return Fraction(self.after.mean) - Fraction(self.before.mean)

    @property
    def newly_certain(self) -> int:
        """People of whom the target becomes certain by what is known."""
        return self.after.certain - self.before.certain

    def to_dict(self) -> dict[str, Any]:
        """As plain data, ready for JSON."""
        return {
            "table": self.table,
            "known": list(self.known),
            "target": self.target,
            "people": self.people,
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "gain": {"largest": float(self.gain), "mean": float(self.mean_gain), "newly_certain": self.newly_certain},
            "example": dict(self.example),
        }

    def __repr__(self) -> str:
        return (
            f"{' + '.join(self.known)} tells {self.target}: "
            f"{float(self.before.mean):.4f} to {float(self.after.mean):.4f} on average, "
            f"at most {level_shown(self.before.largest)} to {level_shown(self.after.largest)}, "
            f"certain of {self.before.certain:,} to {self.after.certain:,} of {self.people:,}"
        )


@dataclass(frozen=True)
class BackgroundJoin:
    """Every background-join attack on a release, worst first: by the people who become certain, then by the mean gain.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"job": ["a", "b"], "sick": ["x", "y"]}), Schema(sensitive=["job", "sick"]))
    >>> background_join(table, [AttackerView(("job", "sick"), np.array([0, 0]))])
    Background join: 2 ways to use what is known of a person
      job tells sick: 0.5000 to 1.0000 on average, at most 0.5 to 1, certain of 0 to 2 of 2
      sick tells job: 0.5000 to 1.0000 on average, at most 0.5 to 1, certain of 0 to 2 of 2
    """

    known: Known
    joins: tuple[Join, ...]

    @property
    def worst(self) -> Join | None:
        """The join that gives most away; None if no table has two attributes."""
        return self.joins[0] if self.joins else None

    @property
    def largest(self) -> Fraction | None:
        """The largest confidence that any join reaches."""
        return max((Fraction(join.after.largest) for join in self.joins), default=None)

    def to_dict(self) -> dict[str, Any]:
        """As plain data, ready for JSON: `known`, `largest`, and `joins`, worst first, as of `Join.to_dict`."""
        return {
            "known": self.known,
            "largest": None if self.largest is None else float(self.largest),
            "joins": [join.to_dict() for join in self.joins],
        }

    def __repr__(self) -> str:
        if not self.joins:
            return "Background join: no table has two attributes, so there is nothing to join"
        lines = [f"Background join: {count_of(len(self.joins), 'way')} to use what is known of a person"]
        lines += [f"  {join!r}" for join in self.joins[:5]]
        return "\n".join(lines)


def background_join(table: Table, seen: Sequence[AttackerView], known: Known = 1) -> BackgroundJoin:
    """How sure an attacker is of each attribute who knows a person's group and another attribute of the same table.

    Assumed: he knows that the person is in the table, the group (from the quasi-identifiers), and the true value of `known`
    attributes of one projected table ("others": all of it but the target). His confidence is the share of the likeliest
    value among the group's rows that have what he knows. Its mean over people is also the share of people whom he
    guesses right. Paper 004, Section 1, Example 2. Cost: near-linear in the rows for each way of knowing.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> people = {"job": ["teacher", "lawyer", "farmer", "teacher"], "diagnosis": ["HT", "HT", "DB", "AS"]}
    >>> table = Table(pa.table(people), Schema(sensitive=["job", "diagnosis"]))
    >>> found = background_join(table, [AttackerView(("job", "diagnosis"), np.array([0, 0, 1, 1]))])
    >>> found.worst
    job tells diagnosis: 0.7500 to 1.0000 on average, at most 1 to 1, certain of 2 to 4 of 4
    >>> found.worst.gain, found.joins[1].known, found.joins[1].newly_certain
    (Fraction(1, 2), ('diagnosis',), 2)
    """
    tables = checked(table, seen)
    ways = [(place, way) for place, each in enumerate(tables) for way in _ways(each.attributes, known)]
    known_of = secrets(table, tables)
    joins = [join for place, way in ways for join in _joins(known_of, tables[place], place, *way)]
    joins.sort(key=lambda join: (-join.newly_certain, -join.mean_gain, -join.gain, join.table))
    return BackgroundJoin(known, tuple(joins))


def belief(table: Table, seen: AttackerView, group: int, target: str, known: Mapping[str, str]) -> dict[str, Fraction]:
    """What an attacker believes of one person: each possible value of the target and its share, likeliest first.

    Values are given and told by their labels. Empty if no row of the group has what is known.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"job": ["a", "b", "b"], "sick": ["x", "y", "z"]}), Schema(sensitive=["job", "sick"]))
    >>> everybody = AttackerView(("job", "sick"), np.zeros(3, np.int64))
    >>> belief(table, everybody, 0, "sick", {"job": "a"})
    {'x': Fraction(1, 1)}
    """
    found = secrets(table, checked(table, [seen]))
    rows = seen.of_row == group
    for name, label in known.items():
        labels = [found[name].label(value) for value in range(len(found[name]))]
        rows &= np.array([each == label for each in labels])[found[name].codes]
    sought = found[target]
    counts = np.bincount(sought.codes[rows], minlength=len(sought))
    likeliest = sorted(np.flatnonzero(counts).tolist(), key=lambda value: (-counts[value], value))
    return {sought.label(value): Fraction(int(counts[value]), int(rows.sum())) for value in likeliest}


def _ways(attributes: Sequence[str], known: Known) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Each set of attributes that may be known in a table, and the targets that are left."""
    others = len(attributes) - 1
    if known != "others" and (isinstance(known, bool) or not isinstance(known, int) or known < 1):
        raise ParameterError(
            f"known = {known!r} is no number of attributes",
            remedy='Write how many attributes the attacker knows, 1 or more, or "others" for all but the target.',
            key="known",
            value=known,
        )
    size = others if known == "others" else min(known, others)
    if size == 0:
        return
    ways = math.comb(len(attributes), size)
    if ways > _MOST:
        raise ParameterError(
            f"a table of {len(attributes)} attributes has {ways:,} ways to know {size} of them: more than {_MOST:,}",
            remedy='Ask for fewer known attributes, or for "others".',
            key="known",
            value=known,
        )
    for chosen in combinations(attributes, size):
        yield chosen, tuple(name for name in attributes if name not in chosen)


def _joins(
    found: Mapping[str, Attribute], seen: AttackerView, place: int, known: tuple[str, ...], targets: tuple[str, ...]
) -> Iterator[Join]:
    """The joins of one set of known attributes, target by target."""
    cell = combination_ranks(
        [seen.groups, *(seen.values(found[name]) for name in known)],
        [len(seen.sizes), *(len(found[name]) for name in known)],
    ).astype(np.int32)
    cell_sizes = np.bincount(cell)
    group_of_cell = np.empty(len(cell_sizes), np.int64)
    group_of_cell[cell] = seen.groups
    for target in targets:
        sought = found[target]
        values = seen.values(sought)
        within, _ = commonest(seen.groups, values, len(sought))
        most, _ = commonest(cell, values, len(sought))
        gain, cell_of_example = _largest_gain(most, cell_sizes, within[group_of_cell], seen.sizes[group_of_cell])
        alike = cell == cell_of_example
        row = int(seen.rows[np.argmax(alike)])
        yield Join(
            table=place,
            known=known,
            target=target,
            people=len(seen.rows),
            before=confidence_of(within, seen.sizes),
            after=confidence_of(most, cell_sizes),
            gain=gain,
            example={
                "group": int(seen.of_row[row]),
                "values": {name: found[name].label(int(found[name].codes[row])) for name in known},
                "guess": sought.label(int(np.bincount(values[alike]).argmax())),
                "among": int(cell_sizes[cell_of_example]),
            },
        )


def _largest_gain(
    most: NDArray[np.int64], sizes: NDArray[np.int64], most_before: NDArray[np.int64], sizes_before: NDArray[np.int64]
) -> tuple[Fraction, int]:
    """The largest difference of two shares, and the first place that has it: floats choose who may, fractions decide."""
    gains = most / sizes - most_before / sizes_before
    places = np.flatnonzero(gains >= gains.max() - 1e-12)
    cases = np.stack([most, sizes, most_before, sizes_before])[:, places]
    cases, first = np.unique(cases, axis=1, return_index=True)
    exact = [Fraction(int(a), int(n)) - Fraction(int(b), int(m)) for a, n, b, m in cases.T]
    best = max(exact)
    return best, int(min(places[first[i]] for i, gain in enumerate(exact) if gain == best))
