"""Oracles for anatomies: files read with the csv module, people assigned to rows by trying every assignment.

Shares nothing with the package.
"""

from __future__ import annotations

import csv
from collections import Counter
from fractions import Fraction
from itertools import permutations


def rows_of(path):
    """The rows of a CSV as dicts."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def secrets_of_groups(path, columns):
    """For each group how often each combination of secrets occurs."""
    found = {}
    for row in rows_of(path):
        found.setdefault(row["group"], Counter())[tuple(row[name] for name in columns)] += int(row["count"])
    return found


def frequency_l(path, columns):
    """The largest l for which every group of a table of secrets is frequency l-diverse."""
    return min(Fraction(sum(group.values()), max(group.values())) for group in secrets_of_groups(path, columns).values())


def fits(people, secrets, original, rows):
    """Whether published person i can be row `rows[i]` of the original, for all of them together.

    `people`: for each person the exact cells and the group. `secrets`: for each table its columns and its groups.
    `original`: a list of dicts.
    """
    if any(
        original[row][name] != cell for (exact, _), row in zip(people, rows, strict=True) for name, cell in exact.items()
    ):
        return False
    for columns, groups in secrets:
        true = {}
        for (_, group), row in zip(people, rows, strict=True):
            true.setdefault(group, Counter())[tuple(original[row][name] for name in columns)] += 1
        if true != groups:
            return False
    return True


def some_assignment(people, secrets, original):
    """Whether there are rows of the original for which `fits`; each row is of one person at most."""
    return any(fits(people, secrets, original, rows) for rows in permutations(range(len(original)), len(people)))


def expected_count(people, secrets, where_people, where_secrets):
    """What a reader expects a count to be, group by group: matching people times the shares of matching secrets."""
    total = Fraction(0)
    for group in {group for _, group in people}:
        size = sum(own == group for _, own in people)
        part = Fraction(sum(own == group and where_people(exact) for exact, own in people))
        for (_, groups), accepts in zip(secrets, where_secrets, strict=True):
            part *= Fraction(sum(count for values, count in groups[group].items() if accepts(values)), size)
        total += part
    return total
