"""Oracles for people with several rows: every choice of one row per person, enumerated.

A group is a dict from a person to the list of that person's values. Shares nothing with the package.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product


def choices(group):
    """Every list of one value per person."""
    return [list(choice) for choice in product(*(sorted(set(values)) for values in group.values()))]


def worst(group, level, best_is_high):
    """The level of the choice that is worst."""
    return (min if best_is_high else max)(level(choice) for choice in choices(group))


def share_with(group, value):
    """The share of the people with at least one row of a value."""
    return Fraction(sum(value in values for values in group.values()), len(group))


def together(groups):
    """All people of some groups as one group; a person may be in several."""
    people = {}
    for group in groups:
        for person, values in group.items():
            people.setdefault(person, []).extend(values)
    return people
