"""Oracles: every definition written down once more, naively, in exact rationals, sharing nothing with the package.

A group is a list of values. A function returns the level of one group; whether it suffices is compared in the test.
Logarithms are taken to 60 digits, and equality is decided by integers.
"""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, permutations

INF = float("inf")


def risk(group, near):
    """Largest share of the other tuples near one value (papers 000 and 001)."""
    if len(group) == 1:
        return Fraction(1)
    return max(Fraction(sum(near(v, w) for j, w in enumerate(group) if j != i), len(group) - 1) for i, v in enumerate(group))


def most_frequent(group):
    return max(Counter(group).values())


def alpha(group):
    return Fraction(most_frequent(group), len(group))


def distinct(group):
    return len(set(group))


def frequency_l(group):
    return Fraction(len(group), most_frequent(group))


def entropy_reaches(group, l):
    """n^n >= l^n * prod f^f, in integers."""
    n, l = len(group), Fraction(l)
    product = 1
    for f in Counter(group).values():
        product *= f**f
    return n**n * l.denominator**n >= l.numerator**n * product


def recursive_level(group, l):
    counts = sorted(Counter(group).values(), reverse=True)
    tail = sum(counts[l - 1 :])
    return Fraction(counts[0], tail) if tail else INF


def window_level(group, lower, upper):
    """|G| over the fullest of the intervals [lower(x), upper(x)]."""
    return Fraction(len(group), max(sum(lower(x) <= y <= upper(x) for y in group) for x in group))


def epsilon_m(group, eps):
    return window_level(group, lambda x: x - eps, lambda x: x + eps)


def epsilon_m_relative(group, eps):
    return window_level(group, lambda x: x - eps * abs(x), lambda x: x + eps * abs(x))


def delta_l(group, delta):
    """Similar if the intervals of radius delta overlap."""
    most = max(sum(max(v, w) - delta <= min(v, w) + delta for w in group) for v in group)
    return Fraction(len(group), most)


def value_range(group):
    return max(group) - min(group)


def variance(group):
    mean = sum(group) / Fraction(len(group))
    return sum((x - mean) ** 2 for x in group) / Fraction(len(group))


def shares(group, domain):
    counts = Counter(group)
    return [Fraction(counts[v], len(group)) for v in domain]


def emd_equal(group, table):
    domain = sorted(set(table), key=repr)
    return sum(abs(p - q) for p, q in zip(shares(group, domain), shares(table, domain), strict=True)) / 2


def emd_ordered(group, table, domain):
    """Move what is too much at each place to the next place: (m - 1) steps of length 1/(m - 1)."""
    if len(domain) == 1:
        return Fraction(0)
    carried, cost = Fraction(0), Fraction(0)
    for p, q in zip(shares(group, domain), shares(table, domain), strict=True):
        carried += p - q
        cost += abs(carried)
    return cost / (len(domain) - 1)


def emd_hierarchical(group, table, paths):
    """Li et al.: at each inner node cost height/H times the smaller of surplus and lack of its children."""
    height = len(next(iter(paths.values()))) - 1
    domain = list(paths)
    extra = {(0, paths[v][0]): p - q for v, p, q in zip(domain, shares(group, domain), shares(table, domain), strict=True)}
    cost = Fraction(0)
    for level in range(1, height + 1):
        children: dict = {}
        for v in domain:
            children.setdefault((level, paths[v][level]), set()).add((level - 1, paths[v][level - 1]))
        for node, below in children.items():
            surplus = sum(extra[c] for c in below if extra[c] > 0)
            lack = -sum(extra[c] for c in below if extra[c] < 0)
            cost += Fraction(level, height) * min(surplus, lack)
            extra[node] = surplus - lack
    return cost


def n_t_level(keys, values, n, distance):
    """For each group (rows with equal keys) the least distance to rows that agree on some of the keys, if at least n."""
    width = len(keys[0])
    levels = {}
    for key in set(keys):
        group = [v for k, v in zip(keys, values, strict=True) if k == key]
        best = INF
        for size in range(width + 1):
            for places in combinations(range(width), size):
                wider = [v for k, v in zip(keys, values, strict=True) if all(k[i] == key[i] for i in places)]
                if len(wider) >= n:
                    best = min(best, distance(group, wider))
        levels[key] = best
    return levels


def gains(group, table):
    """(value's share of the table, gain) of each value of the group."""
    return [
        (p, (q - p) / p)
        for p, q in ((Fraction(table.count(v), len(table)), Fraction(group.count(v), len(group))) for v in set(group))
    ]


def log_at_least(ratio, bound):
    """ln(ratio) >= bound, to 60 digits; they are equal only if both are trivial."""
    if ratio == 1:
        return bound <= 0
    with localcontext() as context:
        context.prec = 60
        logarithm = Decimal(ratio.numerator).ln() - Decimal(ratio.denominator).ln()
        return logarithm >= Decimal(bound.numerator) / Decimal(bound.denominator)


def beta_enhanced_holds(group, table, beta):
    return all(g <= 0 or (g <= beta and log_at_least(1 / p, g)) for p, g in gains(group, table))


def disclosure(group, table):
    """The largest |ln(q/p)|; infinite for a group that lacks a value."""
    if set(group) != set(table):
        return INF
    return max(abs(math.log(group.count(v) * len(table) / (table.count(v) * len(group)))) for v in set(group))


def disclosure_holds(group, table, delta):
    if set(group) != set(table):
        return False
    for v in set(group):
        ratio = Fraction(group.count(v), len(group)) / Fraction(table.count(v), len(table))
        if log_at_least(max(ratio, 1 / ratio), delta):
            return False
    return True


# distances


def discrete(x, y):
    return Fraction(x != y)


def absolute(x, y):
    return abs(x - y)


def total_variation(p, q):
    return sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2


def min_coordinate(p, q):
    return min(abs(a - b) for a, b in zip(p, q, strict=True))


def jaccard(a, b):
    return Fraction(0) if not a | b else 1 - Fraction(len(a & b), len(a | b))


def common_level(path_x, path_y):
    return next(level for level, (a, b) in enumerate(zip(path_x, path_y, strict=True)) if a == b)


def neighbour_counts(groups, near):
    """For each group and each of its tuples: how many tuples of the group are near it, itself included."""
    return [[sum(near(v, w) for w in group) for v in group] for group in groups]


def rarest_combination(group, m):
    """The number of sets of a group that contain the rarest combination of up to m items of one of them."""
    known = {frozenset(some) for one in group for size in range(1, m + 1) for some in combinations(one, size)}
    return min((sum(some <= set(one) for one in group) for some in known), default=INF)


def cell_of(values, kind, tree=None):
    """The values that the smallest cell over some values covers, as a predicate; None is a missing value.

    `kind`: "interval", "set" or "ancestor". `tree`: for each leaf its path to the root, the leaf first.
    """
    present = {value for value in values if value is not None}
    if present and None in values:
        return lambda value: True
    if not present:
        return lambda value: value is None
    if kind == "interval":
        return lambda value: value is not None and min(present) <= value <= max(present)
    if kind == "set" or len(present) == 1:
        return lambda value: value in present
    height = len(next(iter(tree.values())))
    level = next(at for at in range(height) if len({tree[value][at] for value in present}) == 1)
    node = tree[next(iter(present))][level]
    # the root is published as *, which covers missing values too
    return lambda value: level == height - 1 or (value is not None and tree[value][level] == node)


def people_matching(group, population, kinds, tree=None):
    """The people of a population, as tuples, who match a group of rows, as tuples: every cell covers their value."""
    cells = [cell_of([row[place] for row in group], kind, tree) for place, kind in enumerate(kinds)]
    return [person for person in population if all(cell(value) for cell, value in zip(cells, person, strict=True))]


def presence(groups, population, kinds, tree=None):
    """For each group the least and the largest share of the people who match it that may be in the table.

    Of the rows of other groups only their number is known, and whom they match; groups that match the same are one. People
    are numbers here: those with equal values are different people.
    """
    tagged = [(number, person) for number, person in enumerate(population)]
    matching = []
    for group in groups:
        found = set(people_matching(group, population, kinds, tree))
        matching.append(frozenset(number for number, person in tagged if person in found))
    rows = Counter()
    cells = []
    for group in groups:
        values = [(frozenset(row[place] for row in group), kind) for place, kind in enumerate(kinds)]
        cells.append(tuple(_cell_key(present, kind, tree) for present, kind in values))
    of_cells = dict(zip(cells, matching, strict=True))
    for key, group in zip(cells, groups, strict=True):
        rows[key] += len(group)
    shares = []
    for key in cells:
        here = of_cells[key]
        least = sum(max(0, rows[other] - len(there - here)) for other, there in of_cells.items())
        most = sum(min(rows[other], len(there & here)) for other, there in of_cells.items())
        shares.append((Fraction(least, len(here)), Fraction(min(most, len(here)), len(here))))
    return shares


def _cell_key(values, kind, tree):
    """What is published for some values: equal for equal cells."""
    present = values - {None}
    if None in values:
        return "*" if present else None
    if kind == "interval":
        return min(present), max(present)
    if kind == "set" or len(present) == 1:
        return present
    height = len(next(iter(tree.values())))
    level = next(at for at in range(height) if len({tree[value][at] for value in present}) == 1)
    return "*" if level == height - 1 else (level, tree[next(iter(present))][level])


def deals(secrets):
    """All ways to deal the secrets of a group out to its people; equal secrets are the same."""
    return set(permutations(secrets))


def largest_belief(secrets, weight):
    """The largest probability that somebody has some secret, if deals count by the product of `weight(person, secret)`."""
    worth = {deal: math.prod(weight(person, secret) for person, secret in enumerate(deal)) for deal in deals(secrets)}
    total = sum(worth.values())
    beliefs = Counter()
    for deal, value in worth.items():
        for person, secret in enumerate(deal):
            beliefs[person, secret] += Fraction(value, 1) / total
    return max(beliefs.values())


def smoothed_frequency(people, place, value, secret, smoothing):
    """How often a value of a quasi-identifier occurs with a secret, up to a factor that depends on the secret alone.

    `people`: pairs of quasi-identifiers and a secret.
    """
    have = Fraction(sum(row[place] == value for row, _ in people), len(people))
    both = sum(row[place] == value and own == secret for row, own in people)
    return both + smoothing * len({row[place] for row, _ in people}) * have


def spread(cells, people, one, other, smoothing):
    """The product over the cells of the largest over the smallest evidence of a value of the people that a cell covers."""
    product = Fraction(1)
    for place, cell in enumerate(cells):
        evidence = [
            smoothed_frequency(people, place, value, one, smoothing)
            / smoothed_frequency(people, place, value, other, smoothing)
            for value in {row[place] for row, _ in people}
            if cell(value)
        ]
        product *= max(evidence) / min(evidence)
    return product


def credibility(rows, secrets, people, kinds, smoothing, tree=None):
    """The level of one group: of each secret its count over those of all secrets of the group, each over its spread."""
    cells = [cell_of([row[place] for row in rows], kind, tree) for place, kind in enumerate(kinds)]
    counts = Counter(secrets)
    return max(
        count / sum((number / spread(cells, people, one, other, smoothing) for other, number in counts.items()), Fraction(0))
        for one, count in counts.items()
    )
