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
    """For everybody in the last release: the own value, the candidates of all releases, those since the value changed.

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
        last, _, own = places[-1]
        if last != len(versions) - 1:
            continue
        whole = places[0][1]
        for _, bag, _ in places[1:]:
            whole = common(whole, bag)
        run = places[-1][1]
        for _, bag, value in places[-2::-1]:
            if value != own:
                break
            run = common(run, bag)
        found[who] = own, whole, run
    return found
