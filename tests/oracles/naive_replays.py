"""An oracle of the replay attack: people one by one, lists of rows, and a table made anew for each exchange."""

from __future__ import annotations

from collections import Counter


def as_partition(groups):
    """The sets of rows of groups, whatever their numbers."""
    return {frozenset(row for row, own in enumerate(groups) if own == group) for group in set(groups)}


def replayed(groups, who, secrets, target, run):
    """Return how often each list of secrets occurs in a person's group, and those with which the groups appear.

    `groups`: that of each row. `who`: whose row each is. `run(secrets)`: the groups that the method finds, or None. Only
    people with as many rows as the target can exchange secrets with the target.
    """
    rows = {person: [row for row, own in enumerate(who) if own == person] for person in dict.fromkeys(who)}
    own = rows[target]
    alike = [one for one in rows if groups[rows[one][0]] == groups[own[0]] and len(rows[one]) == len(own)]
    values = Counter(tuple(secrets[row] for row in rows[one]) for one in alike)
    possible = set()
    for value in values:
        mine = tuple(secrets[row] for row in own)
        other = target if value == mine else next(one for one in alike if tuple(secrets[r] for r in rows[one]) == value)
        exchanged = list(secrets)
        for row, secret in [*zip(own, value, strict=True), *zip(rows[other], mine, strict=True)]:
            exchanged[row] = secret
        found = run(exchanged)
        if len(values) == 1 or (found is not None and as_partition(found) == as_partition(groups)):
            possible.add(value)
    return values, possible
