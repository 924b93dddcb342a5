"""The background-join attack: who knows one sensitive value of a person reads another from the same table.

Section 1 of Fang, Ashrafi & Ng (2011).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.attacks.projected.attacker_view import AttackerView, check_views, view_attributes
from sfumato.attacks.projected.confidence import Confidence, ConfidenceGain, confidence_of_parts, most_frequent
from sfumato.data.attribute import Attribute
from sfumato.data.groups import combination_ranks
from sfumato.data.table import Table
from sfumato.errors import ParameterError
from sfumato.exact.shown_levels import level_shown
from sfumato.plurals import count_of

Knowledge = int | Literal["others"]
"""The number of attributes that the attacker knows, or "others": all of the table except the target."""

_MAX_SUBSETS = 5000
"""The most subsets of known attributes in one table: 15 attributes have 105 subsets of two."""


@dataclass(frozen=True)
class Join(ConfidenceGain):
    """What knowledge of some attributes of a person reveals about another in the same projected table.

    The mean gain is never negative, although the confidence may fall for one person.
    """

    table: int
    """The projected table, from 0."""
    known: tuple[str, ...]
    """The attributes that the attacker knows."""
    target: str
    people: int
    """The number of rows that the table publishes."""
    before: Confidence
    """The confidence from the group alone."""
    after: Confidence
    """The confidence from the group and the known attributes."""
    gain: Fraction
    """The largest increase of one person's confidence."""
    example: Mapping[str, Any]
    """A person with the largest gain: the `group`, the known `values`, the `guess`, and `among` how many rows."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""
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
            f"{' + '.join(self.known)} reveals {self.target}: "
            f"{float(self.before.mean):.4f} to {float(self.after.mean):.4f} on average, "
            f"at most {level_shown(self.before.largest)} to {level_shown(self.after.largest)}, "
            f"certain of {self.before.certain:,} to {self.after.certain:,} of {self.people:,}"
        )


@dataclass(frozen=True)
class BackgroundJoin:
    """All background joins on a release, worst first: by the people who become certain, then by the mean gain.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"job": ["a", "b"], "sick": ["x", "y"]}), Schema(sensitive=["job", "sick"]))
    >>> background_join(table, [AttackerView(("job", "sick"), np.array([0, 0]))])
    Background join: 2 joins of known attributes with a target
      job reveals sick: 0.5000 to 1.0000 on average, at most 0.5 to 1, certain of 0 to 2 of 2
      sick reveals job: 0.5000 to 1.0000 on average, at most 0.5 to 1, certain of 0 to 2 of 2
    """

    assumptions: ClassVar[str] = (
        "The attacker knows that a person is in the table, the person's group, and the true value of some sensitive "
        "attributes of one projected table."
    )

    known: Knowledge
    joins: tuple[Join, ...]

    @property
    def worst(self) -> Join | None:
        """The join that reveals most; None if no table has two attributes."""
        return self.joins[0] if self.joins else None

    @property
    def largest(self) -> Fraction | None:
        """The largest confidence that any join reaches; None if no table has two attributes."""
        return max((Fraction(join.after.largest) for join in self.joins), default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON: `known`, `largest`, and `joins`, worst first, as in `Join.to_dict`."""
        return {
            "known": self.known,
            "largest": None if self.largest is None else float(self.largest),
            "joins": [join.to_dict() for join in self.joins],
        }

    def __repr__(self) -> str:
        if not self.joins:
            return "Background join: no table has two attributes, so there is nothing to join"
        lines = [f"Background join: {count_of(len(self.joins), 'join')} of known attributes with a target"]
        lines += [f"  {join!r}" for join in self.joins[:5]]
        return "\n".join(lines)


def background_join(table: Table, views: Sequence[AttackerView], known: Knowledge = 1) -> BackgroundJoin:
    """Measure the confidence of an attacker who knows a person's group and other attributes of the same table.

    Assumptions: the attacker knows that the person is in the table, the group (from the quasi-identifiers), and the true
    value of `known` attributes of one projected table ("others": all except the target). The confidence is the share of the
    most frequent value among the group's rows with the known values. Its mean over people is also the share of correct
    guesses.

    Source: Fang, Ashrafi & Ng (2011), section 1, Example 2. Cost: near-linear in the rows for each subset of known
    attributes.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> people = {"job": ["teacher", "lawyer", "farmer", "teacher"], "diagnosis": ["HT", "HT", "DB", "AS"]}
    >>> table = Table(pa.table(people), Schema(sensitive=["job", "diagnosis"]))
    >>> result = background_join(table, [AttackerView(("job", "diagnosis"), np.array([0, 0, 1, 1]))])
    >>> result.worst
    job reveals diagnosis: 0.7500 to 1.0000 on average, at most 1 to 1, certain of 2 to 4 of 4
    >>> result.worst.gain, result.joins[1].known, result.joins[1].newly_certain
    (Fraction(1, 2), ('diagnosis',), 2)
    """
    tables = check_views(table, views)
    # All subsets first: a number of known attributes that is out of range fails before any work.
    subsets = [(number, subset) for number, view in enumerate(tables) for subset in _subsets(view.attributes, known)]
    attributes = view_attributes(table, tables)
    joins = [join for number, subset in subsets for join in _joins(attributes, tables[number], number, *subset)]
    joins.sort(key=lambda join: (-join.newly_certain, -join.mean_gain, -join.gain, join.table))
    return BackgroundJoin(known, tuple(joins))


def belief(table: Table, view: AttackerView, group: int, target: str, known: Mapping[str, str]) -> dict[str, Fraction]:
    """Return what an attacker believes of one person: each possible value of the target and its share, most likely first.

    Values are passed and returned as labels. The result is empty if no row of the group has the known values.

    >>> import pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"job": ["a", "b", "b"], "sick": ["x", "y", "z"]}), Schema(sensitive=["job", "sick"]))
    >>> everybody = AttackerView(("job", "sick"), np.zeros(3, np.int64))
    >>> belief(table, everybody, 0, "sick", {"job": "a"})
    {'x': Fraction(1, 1)}
    """
    attributes = view_attributes(table, check_views(table, [view]))
    rows = view.of_row == group
    for name, label in known.items():
        labels = [attributes[name].label(value) for value in range(len(attributes[name]))]
        rows &= np.array([each == label for each in labels])[attributes[name].codes]
    attribute = attributes[target]
    counts = np.bincount(attribute.codes[rows], minlength=len(attribute))
    by_count = sorted(np.flatnonzero(counts).tolist(), key=lambda value: (-counts[value], value))
    return {attribute.label(value): Fraction(int(counts[value]), int(rows.sum())) for value in by_count}


def _subsets(attributes: Sequence[str], known: Knowledge) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield each subset of attributes that the attacker may know in a table, with the remaining ones as targets."""
    others = len(attributes) - 1
    if known != "others" and (isinstance(known, bool) or not isinstance(known, int) or known < 1):
        raise ParameterError(
            f"invalid number of known attributes: known = {known!r}",
            remedy='Write the number of attributes that the attacker knows, 1 or more, or "others" for all but the target.',
            key="known",
            value=known,
        )
    size = others if known == "others" else min(known, others)
    if size == 0:
        return
    count = math.comb(len(attributes), size)
    if count > _MAX_SUBSETS:
        raise ParameterError(
            f"a table of {len(attributes)} attributes has {count:,} subsets of {size} known attributes; "
            f"at most {_MAX_SUBSETS:,} are supported",
            remedy='Use fewer known attributes, or "others".',
            key="known",
            value=known,
        )
    for subset in combinations(attributes, size):
        yield subset, tuple(name for name in attributes if name not in subset)


def _joins(
    attributes: Mapping[str, Attribute],
    view: AttackerView,
    number: int,
    known: tuple[str, ...],
    targets: tuple[str, ...],
) -> Iterator[Join]:
    """Yield the joins of one subset of known attributes, target by target."""
    # A cell is the set of published rows with the same group and the same known values, numbered from 0 without gaps.
    cell_of_row = combination_ranks(
        [view.groups, *(view.values(attributes[name]) for name in known)],
        [len(view.sizes), *(len(attributes[name]) for name in known)],
    ).astype(np.int32)
    cell_sizes = np.bincount(cell_of_row)
    group_of_cell = np.empty(len(cell_sizes), np.int64)
    group_of_cell[cell_of_row] = view.groups
    for target in targets:
        attribute = attributes[target]
        values = view.values(attribute)
        most_in_group, _ = most_frequent(view.groups, values, len(attribute))
        most_in_cell, _ = most_frequent(cell_of_row, values, len(attribute))
        gain, cell = _largest_gain(most_in_cell, cell_sizes, most_in_group[group_of_cell], view.sizes[group_of_cell])
        in_cell = cell_of_row == cell
        row = int(view.rows[np.argmax(in_cell)])  # the first row of the cell with the largest gain
        yield Join(
            table=number,
            known=known,
            target=target,
            people=len(view.rows),
            before=confidence_of_parts(most_in_group, view.sizes),
            after=confidence_of_parts(most_in_cell, cell_sizes),
            gain=gain,
            example={
                "group": int(view.of_row[row]),
                "values": {name: attributes[name].label(int(attributes[name].codes[row])) for name in known},
                "guess": attribute.label(int(np.bincount(values[in_cell]).argmax())),
                "among": int(cell_sizes[cell]),
            },
        )


def _largest_gain(
    most: NDArray[np.int64], sizes: NDArray[np.int64], most_before: NDArray[np.int64], sizes_before: NDArray[np.int64]
) -> tuple[Fraction, int]:
    """Return the largest difference of two shares, and the first index that has it.

    Floats select the candidates, fractions decide.
    """
    gains = most / sizes - most_before / sizes_before
    candidates = np.flatnonzero(gains >= gains.max() - 1e-12)
    cases = np.stack([most, sizes, most_before, sizes_before])[:, candidates]
    cases, first = np.unique(cases, axis=1, return_index=True)
    exact = [Fraction(int(a), int(n)) - Fraction(int(b), int(m)) for a, n, b, m in cases.T]
    largest = max(exact)
    return largest, int(min(candidates[first[i]] for i, gain in enumerate(exact) if gain == largest))
