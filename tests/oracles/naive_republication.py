"""What several releases say together about each person, read from their files row by row."""

from __future__ import annotations

import csv
import json
from collections import Counter


def published_rows(folder):
    """Each published row as a dict of texts."""
    with (folder / "data.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def owners(key, names):
    """For each published row the name of its person, or None for a counterfeit; `names`: those of the original."""
    rows = json.loads(key.read_text(encoding="utf-8"))["original_rows"]
    return [names[row - 1] if row else None for row in rows]


def common(one, other):
    """The multiset of what two multisets have in common."""
    return Counter({value: min(times, other[value]) for value, times in one.items() if other[value]})


def candidates(versions, columns):
    """For everybody in the last release the own value, and the candidates of all groups since it last changed.

    `versions`: of each release its folder, its key and the names of its original.
    """
    seen = {}  # of each person the multiset of the group and the own value, release by release
    for number, (folder, key, names) in enumerate(versions):
        rows = published_rows(folder)
        values = [tuple(row[column] for column in columns) for row in rows]
        bags = {}
        for row, value in zip(rows, values, strict=True):
            bags.setdefault(row["group"], Counter())[value] += 1
        for row, value, who in zip(rows, values, owners(key, names), strict=True):
            if who is not None:
                seen.setdefault(who, []).append((number, bags[row["group"]], value))
    found = {}
    for who, places in seen.items():
        last, run, own = places[-1]
        if last == len(versions) - 1:
            for _, bag, value in places[-2::-1]:
                if value != own:
                    break
                run = common(run, bag)
            found[who] = own, run
    return found


def entities(versions, columns):
    """For each person and run of releases with one value: the value, and the groups as pairs of a release and a number.

    Also the multiset of each such group.
    """
    bags, found, current = {}, [], {}
    for number, (folder, key, names) in enumerate(versions):
        rows = published_rows(folder)
        for row, who in zip(rows, owners(key, names), strict=True):
            place, value = (number, row["group"]), tuple(row[column] for column in columns)
            bags.setdefault(place, Counter())[value] += 1
            if who is None:
                continue
            if who not in current or current[who][0] != value:
                current[who] = value, []
                found.append(current[who])
            current[who][1].append(place)
    return found, bags


def possible_values(everybody, bags, chosen):
    """The values that one of the entities can have in some world: everybody has a value, and no group too many of one.

    The entities that share a group with it, directly or not, are assigned values in every possible way.
    """
    linked, waiting = [], [chosen]
    while waiting:
        one = waiting.pop()
        linked.append(one)
        near = [n for n, (_, places) in enumerate(everybody) if set(places) & set(everybody[one][1])]
        waiting += [n for n in near if n not in linked and n not in waiting]
    left = {place: Counter(bag) for place, bag in bags.items()}

    def solvable(rest):
        if not rest:
            return True
        places = everybody[rest[0]][1]
        for value in list(left[places[0]]):
            if all(left[place][value] > 0 for place in places):
                for place in places:
                    left[place][value] -= 1
                good = solvable(rest[1:])
                for place in places:
                    left[place][value] += 1
                if good:
                    return True
        return False

    found, places = set(), everybody[chosen][1]
    for value in list(left[places[0]]):
        if all(left[place][value] > 0 for place in places):
            for place in places:
                left[place][value] -= 1
            if solvable(linked[1:]):
                found.add(value)
            for place in places:
                left[place][value] += 1
    return found
