"""Oracles of the attacks on tables in groups: people and rows one by one, sets of values, exact fractions.

`people`: a dict of values for each person of the original, suppressed ones last. `rows`: for each published row, which is
that of the person with the same number, its `cells` (for each quasi-identifier the set of covered values) and its `values`
(unchanged columns). `group`: for each row what identifies its group. `who`: whose row each row is; by default each is
somebody else's.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations


def fits(person, row, names):
    return all(person[name] in row["cells"][name] for name in names)


def mean(chances):
    return sum(chances, Fraction(0)) / len(chances)


def found_among(candidates, number, who):
    """The chance that a random candidate is of the person of a row, whether all are of one person, and if so rightly."""
    own = [at for at in candidates if who[at] == who[number]]
    alone = len({who[at] for at in candidates}) == 1
    return Fraction(len(own), max(1, len(candidates))), alone, alone and bool(own)


def linked(people, rows, names, published_only, who):
    """For each row of the original the chance to choose a row of its person, and whether one person's rows cover it."""
    found = []
    for number, person in enumerate(people):
        if published_only and number >= len(rows):
            continue
        found.append(found_among([at for at, row in enumerate(rows) if fits(person, row, names)], number, who))
    return found


def linked_by_some(people, rows, names, known, who):
    """The same, averaged over all sets of known names; certain by one of them."""
    runs = [linked(people, rows, chosen, True, who) for chosen in combinations(names, known)]
    return [
        (mean([one[0] for one in person]), any(one[1] for one in person), any(one[2] for one in person))
        for person in zip(*runs, strict=True)
    ]


def linked_by_all_rows(people, rows, names, who):
    """For each row the chance to choose a row of its person among those that cover all published rows of the person."""
    found = []
    for number in range(len(rows)):
        own = [person for person, one in zip(people[: len(rows)], who, strict=False) if one == who[number]]
        covering = [at for at, row in enumerate(rows) if all(fits(person, row, names) for person in own)]
        found.append(found_among(covering, number, who))
    return found


def named(people, rows, names, who):
    """For each published row the chance to name its person by a row of the original that it covers."""
    return [
        found_among([at for at, person in enumerate(people) if fits(person, row, names)], number, who)
        for number, row in enumerate(rows)
    ]


def inferred(people, rows, names, secret, own_row, who):
    """For each published row the chance to guess its secret, and whether the candidates have one value, rightly.

    `own_row`: whether the rows of the same person are candidates.
    """
    found = []
    for number in range(len(rows)):
        others = [at for at in range(len(rows)) if own_row or who[at] != who[number]]
        values = [rows[at]["values"][secret] for at in others if fits(people[number], rows[at], names)]
        certain = len(set(values)) == 1
        counts = Counter(values or [rows[at]["values"][secret] for at in others])
        best = [value for value, count in counts.items() if count == max(counts.values())]
        right = people[number][secret] in best
        found.append((Fraction(right, max(1, len(best))), certain, certain and right))
    return found


def alike(rows, names, group=None):
    """For each row the number of rows with the same values, and the same group if groups are given."""
    keys = [
        (tuple(row["values"][name] for name in names), None if group is None else group[number])
        for number, row in enumerate(rows)
    ]
    return [keys.count(key) for key in keys]


def meeting(people, rows, group, names, unchanged, who, second=None, columns=()):
    """Whether the rows of two records are in one group, are of one person, and of the person of the first record.

    `second`: the row of the second record; by default it is that of the first. `columns`: those of the first record.
    """
    result = []
    for number in range(len(rows)):
        one = people[number]
        other = people[number if second is None else second[number]]

        def known(name, one=one, other=other):
            return (one if name in columns else other)[name]

        both = [
            at
            for at, row in enumerate(rows)
            if all(known(name) in row["cells"][name] for name in names)
            and all(known(name) == row["values"][name] for name in unchanged)
        ]
        whose = {who[at] for at in both}
        result.append((len({group[at] for at in both}) == 1, len(whose) == 1, who[number] in whose))
    return result


def isolating(people, rows, group, names, tests, who):
    """For each group's predicates how many people fulfil it, and whether exactly one row can and does.

    `tests`: returns for the rows of a group some predicates on a dict of unchanged values and quasi-identifiers, each with
    whether rows show it.
    """
    counts, certain = [], []
    for wanted in dict.fromkeys(group):
        own = [row for row, number in zip(rows, group, strict=True) if number == wanted]
        cells = own[0]["cells"]
        for test, shown in tests(own):
            fulfilling = {
                one for one, person in zip(who, people, strict=True) if fits(person, own[0], names) and test(person)
            }
            counts.append(len(fulfilling))
            near = [row for row in rows if all(row["cells"][name] & cells[name] for name in names)]
            possible = [row for row in near if shown and test(row["values"])]
            inside = [row for row in own if shown and test(row["values"])]
            certain.append(len(possible) == len(inside) == 1)
    return counts, certain


def rarest(values):
    """The first, in the order given by their keys, of the least frequent values."""
    counts = Counter(values)
    return [value for value in counts if counts[value] == min(counts.values())]
