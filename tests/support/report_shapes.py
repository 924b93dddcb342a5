"""Releases of every shape that a report must be able to draw: small, quick to make, and the same every time."""

from __future__ import annotations

from functools import cache

import numpy as np
import pyarrow as pa

import sfumato as sf
from sfumato.anonymization.unit_groups import find_groups
from standin import Chunks

ROWS = 120
AGES = [20 + (7 * i) % 50 for i in range(ROWS)]
TOWNS = [["Rome", "Bonn", "Oslo", "Lyon", "Nice"][(i * i) % 5] for i in range(ROWS)]
ILLS = [["flu", "cold", "gout", "cough", "croup", "mumps"][i % 6] for i in range(ROWS)]
MONEY = [(i * 37) % 900 + i / 4 for i in range(ROWS)]

EVIL = "<script>alert(1)</script>"
SCRIPTS = ("возраст", "疾病", "مدينة")
"""Column names in other scripts: age, illness, town."""

TREE = sf.Hierarchy.from_rows([[ill, ill[0], "*"] for ill in sorted(set(ILLS))])


def _table(**columns):
    return pa.table(columns)


def _made(data, schema, principles, size=12, suppress=0, method=None):
    return sf.anonymize(data, schema, principles, method=method or Chunks(size), seed=5, suppress=suppress)


def numbers():
    schema = sf.Schema(["age", "town"], ["money"])
    requirements = [sf.KAnonymity(5), sf.Dissimilarity(epsilon=1, delta="0.5", k=5), sf.EpsilonMAnonymity(epsilon=1, m=2)]
    return _made(_table(age=AGES, town=TOWNS, money=MONEY), schema, requirements)


def categories():
    return _made(
        _table(age=AGES, ill=ILLS), sf.Schema(["age"], ["ill"]), [sf.DistinctLDiversity(2), sf.Dissimilarity(0, "0.1")]
    )


def taxonomy():
    schema = sf.Schema(["age"], ["ill"], hierarchies={"ill": TREE}, distance=sf.distances.Taxonomy())
    return _made(
        _table(age=AGES, ill=ILLS), schema, [sf.Dissimilarity("0.5", "0.1", 5), sf.TCloseness("0.9", "hierarchical")]
    )


def sets():
    drugs = [";".join(sorted({"ab"[i % 2], "cde"[i % 3], "fghij"[i % 5]})) for i in range(ROWS)]
    schema = sf.Schema(["town"], ["drugs"], kinds={"drugs": "set"}, distance=sf.distances.Jaccard())
    return _made(_table(town=TOWNS, drugs=drugs), schema, sf.Dissimilarity("0.4", "0.1"))


def texts():
    words = [f"{ILLS[i]} with {TOWNS[i]} {i % 17}" for i in range(ROWS)]
    schema = sf.Schema(["age"], ["word"], kinds={"word": "text"}, distance=sf.distances.Jaro())
    return _made(_table(age=AGES, word=words), schema, sf.Dissimilarity("0.1", "0.1"))


def vectors():
    schema = sf.Schema(["age"], ["profile"], vectors={"profile": ["p", "q"]}, distance=sf.distances.Lp(p=2))
    data = _table(age=AGES, p=[i % 10 for i in range(ROWS)], q=[i % 7 for i in range(ROWS)])
    return _made(data, schema, sf.Dissimilarity("0.05", "0.1"))


def several():
    schema = sf.Schema(["age"], ["ill", "money"])
    requirements = [sf.DistinctLDiversity(2, on="each"), sf.VarianceControl(1, on="money"), sf.BetaLikeness(9, on="ill")]
    return _made(_table(age=AGES, ill=ILLS, money=MONEY), schema, requirements)


def people():
    schema = sf.Schema(["age"], ["money"], person_id="patient")
    data = _table(patient=[i // 2 for i in range(ROWS)], age=AGES, money=MONEY)
    return sf.anonymize(data, schema, [sf.KAnonymity(5), sf.Dissimilarity(1, "0.5", 5)], method="mondrian", seed=5)


def no_secret():
    return _made(_table(age=AGES, town=TOWNS), sf.Schema(["age", "town"]), sf.KAnonymity(5))


def suppressed():
    ills = ["flu" if age < 25 else ill for age, ill in zip(AGES, ILLS, strict=True)]
    return _made(_table(age=AGES, ill=ills), sf.Schema(["age"], ["ill"]), [sf.DistinctLDiversity(2)], size=6, suppress="0.5")


def tiny():
    return _made(_table(age=[30, 31, 50, 51], x=[1, 9, 2, 8]), sf.Schema(["age"], ["x"]), sf.Dissimilarity(1, 1, 2), size=2)


def one_group():
    return _made(_table(age=AGES, x=MONEY), sf.Schema(["age"], ["x"]), sf.Dissimilarity(1, "0.5"), size=ROWS)


def missing():
    ages = [None if i % 9 == 0 else age for i, age in enumerate(AGES)]
    money = [None if i % 10 == 0 else number for i, number in enumerate(MONEY)]
    towns = [None if i % 11 == 0 else town for i, town in enumerate(TOWNS)]
    schema = sf.Schema(["age", "town"], ["money"])
    return _made(_table(age=ages, town=towns, money=money), schema, sf.Dissimilarity(1, "0.2", 5))


def everything_missing():
    data = pa.table({"age": AGES, "town": pa.array([None] * ROWS, pa.string()), "ill": ILLS})
    return _made(data, sf.Schema(["age", "town"], ["ill"]), sf.KAnonymity(5))


def scripts():
    age, ill, town = SCRIPTS
    return _made(
        pa.table({age: AGES, ill: ILLS, town: TOWNS}),
        sf.Schema([age, town], [ill]),
        [sf.KAnonymity(5), sf.PSensitivity(2, 5)],
    )


def evil():
    """Markup in every text of the publisher: a column name, quasi-identifiers, sensitive values, a node of a hierarchy."""
    tree = sf.Hierarchy.from_rows([[town, f"<img src=x onerror=alert({town[0]!r})>", "*"] for town in sorted(set(TOWNS))])
    ills = [f"<a href='javascript:alert(1)'>{ill}</a></script><script>alert(2)</script>" for ill in ILLS]
    schema = sf.Schema([EVIL, "town"], ["ill"], hierarchies={"town": tree}, recodings={"town": "ancestor"})
    requirements = [sf.KAnonymity(5), sf.Dissimilarity(0, "0.1")]
    return _made(pa.table({EVIL: AGES, "town": TOWNS, "ill": ills}), schema, requirements)


def other_column():
    data = _table(age=AGES, ill=ILLS, comment=[i % 3 for i in range(ROWS)])
    return _made(data, sf.Schema(["age"], ["ill"], other=["comment"]), [sf.RecursiveLDiversity(c=9, l=2)])


def many_values():
    """Quasi-identifiers of more values than there are bars, of each kind: numbers, an order, names, a hierarchy."""
    rows = 600
    numbers = [(i * i) % 5003 / 4 for i in range(rows)]
    ranks = [f"r{(i * 7) % 90:02}" for i in range(rows)]
    names = [f"name {(i * 11) % 70}" for i in range(rows)]
    leaves = [f"leaf {(i * 13) % 60}" for i in range(rows)]
    schema = sf.Schema(
        ["number", "rank", "name", "leaf"],
        ["secret"],
        orders={"rank": sorted(set(ranks))},
        kinds={"rank": "ordinal"},
        hierarchies={"leaf": sf.Hierarchy.from_rows([[leaf, leaf[:6], "*"] for leaf in sorted(set(leaves))])},
        recodings={"leaf": "ancestor"},
    )
    data = _table(number=numbers, rank=ranks, name=names, leaf=leaves, secret=[(i * 31) % 997 * 1000 for i in range(rows)])
    return _made(data, schema, sf.Dissimilarity(500, "0.2", 5), size=200)


def huge_numbers():
    data = _table(age=AGES, x=[str(10**30 + 10**28 * i) for i in range(ROWS)])
    return _made(data, sf.Schema(["age"], ["x"], kinds={"x": "numeric"}), sf.Dissimilarity(10**28, "0.2", 5))


SHAPES = {
    make.__name__: cache(make)
    for make in (
        numbers, categories, taxonomy, sets, texts, vectors, several, people, no_secret, suppressed, tiny, one_group,
        missing, everything_missing, scripts, evil, other_column, many_values, huge_numbers,
    )
}  # fmt: skip


def dealt_again(data, release, secrets, seed=0):
    """Return the table with the sensitive values of each group permuted among its rows, and the groups."""
    random = np.random.default_rng(seed)
    task = sf.anonymization.Task(release.private.original, release.principles)
    of_row = find_groups(task, release.method, release.private.seed).of_row
    order = np.arange(data.num_rows)
    for group in range(of_row.max() + 1):
        rows = np.flatnonzero(of_row == group)
        order[rows] = random.permutation(rows)
    for name in secrets:
        data = data.set_column(data.column_names.index(name), name, data.column(name).take(pa.array(order)))
    return data, of_row
