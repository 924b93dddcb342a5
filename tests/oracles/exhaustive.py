"""The best of all groupings of a small table, by definition: the oracle of a method."""

from __future__ import annotations

import random
from fractions import Fraction

import pyarrow as pa

import naive
import sfumato as sf

TREE = [["a", "X", "*"], ["b", "X", "*"], ["c", "Y", "*"], ["d", "Y", "*"], ["e", "Z", "*"]]
PARENT = {leaf: node for leaf, node, _ in TREE}


def near(epsilon):
    return lambda x, y: abs(x - y) <= epsilon


def random_case(seed):
    """Return a table of 4 to 10 rows with a number, a category, a leaf of a tree and a secret; and a principle for it."""
    draw = random.Random(seed)
    n = draw.randint(4, 10)
    rows = [(draw.randint(20, 32), draw.choice("fm"), draw.choice("abcde"), draw.randint(0, 12)) for _ in range(n)]
    k = draw.choice([1, 2, 2, 3, 4])
    kind = draw.choice(
        ["dissimilarity", "dissimilarity", "k", "distinct", "frequency", "alpha", "epsilon-m", "delta-l", "k-e"]
    )
    epsilon = draw.choice([0, 1, 2, 3])
    part = draw.choice([Fraction(1, 2), Fraction(2, 3), Fraction(3, 4), Fraction(4, 5), Fraction(1)])
    l = draw.choice([2, 2, 3])
    principle, fine = {
        "dissimilarity": (
            sf.Dissimilarity(epsilon=epsilon, delta=part, k=k),
            lambda secrets: naive.risk(secrets, near(epsilon)) <= 1 - part,
        ),
        "k": (sf.KAnonymity(k), lambda secrets: True),
        "distinct": (sf.DistinctLDiversity(l), lambda secrets: len(set(secrets)) >= l),
        "frequency": (sf.FrequencyLDiversity(l), lambda secrets: max(map(secrets.count, secrets)) * l <= len(secrets)),
        "alpha": (
            sf.AlphaKAnonymity(alpha=part, k=k),
            lambda secrets: Fraction(max(map(secrets.count, secrets)), len(secrets)) <= part,
        ),
        "epsilon-m": (
            sf.EpsilonMAnonymity(epsilon=epsilon, m=l),
            lambda secrets: all(sum(abs(x - y) <= epsilon for y in secrets) * l <= len(secrets) for x in secrets),
        ),
        "delta-l": (
            sf.DeltaLDiversity(delta=Fraction(epsilon, 2), l=l),
            lambda secrets: all(sum(abs(x - y) <= epsilon for y in secrets) * l <= len(secrets) for x in secrets),
        ),
        "k-e": (
            sf.KEAnonymity(k=l, e=epsilon),
            lambda secrets: len(set(secrets)) >= l and max(secrets) - min(secrets) >= epsilon,
        ),
    }[kind]
    least = k if kind in ("dissimilarity", "k", "alpha") else 1
    return rows, principle, lambda secrets: len(secrets) >= least and fine(secrets)


def table_of(rows):
    ages, sexes, places, secrets = zip(*rows, strict=True)
    frame = pa.table({"age": ages, "sex": sexes, "place": places, "secret": secrets})
    schema = sf.Schema(
        ["age", "sex", "place"],
        ["secret"],
        hierarchies={"place": sf.Hierarchy.from_rows(TREE)},
        recodings={"place": "ancestor"},
    )
    return sf.Table(frame, schema)


def loss_of(groups, rows):
    """Return the loss by its definition: the mean over rows and attributes of the share of the published cell."""
    ages, sexes = [row[0] for row in rows], {row[1] for row in rows}
    width = max(ages) - min(ages)
    total = Fraction(0)
    for group in groups:
        mine = [rows[i] for i in group]
        if width:
            total += len(mine) * Fraction(max(r[0] for r in mine) - min(r[0] for r in mine), width)
        if len({r[1] for r in mine}) > 1:
            total += len(mine) * Fraction(len({r[1] for r in mine}), len(sexes))
        leaves = {r[2] for r in mine}
        if len(leaves) > 1:
            nodes = {PARENT[leaf] for leaf in leaves}
            under = len(TREE) if len(nodes) > 1 else sum(PARENT[leaf] in nodes for leaf in PARENT)
            total += len(mine) * Fraction(under, len(TREE))
    return total / (3 * len(rows))


def best_loss(rows, fine):
    """Return the least loss of any grouping whose groups are all fine, by trying all of them; None if there is none."""
    n = len(rows)
    cost = {}
    for subset in range(1, 1 << n):
        group = [i for i in range(n) if subset >> i & 1]
        if fine([rows[i][3] for i in group]):
            cost[subset] = loss_of([group], rows)
    best = {0: Fraction(0)}
    for whole in range(1, 1 << n):
        lowest = whole & -whole
        rest = whole ^ lowest
        part = rest
        found = None
        while True:
            subset = part | lowest
            other = whole ^ subset
            if subset in cost and other in best:
                total = cost[subset] + best[other]
                found = total if found is None or total < found else found
            if part == 0:
                break
            part = (part - 1) & rest
        if found is not None:
            best[whole] = found
    full = (1 << n) - 1
    return best.get(full)
