"""What a published table exposes beyond its principles, straight from the definitions: row against row."""

from __future__ import annotations

from fractions import Fraction


def singled_out(rows):
    """The number of rows that no other row equals."""
    return sum(all(row != other for j, other in enumerate(rows) if j != i) for i, row in enumerate(rows))


def groups_of(numbers):
    """For each group its rows."""
    return [[i for i, number in enumerate(numbers) if number == group] for group in sorted(set(numbers))]


def most_frequent_share(values):
    """The share of the most frequent value."""
    return Fraction(max(values.count(value) for value in values), len(values))


def constant(numbers, values, share=Fraction(1)):
    """The number of groups in which some value has at least a share of the rows, and their rows; by default all rows."""
    found = [rows for rows in groups_of(numbers) if most_frequent_share([values[i] for i in rows]) >= share]
    return len(found), sum(map(len, found))
