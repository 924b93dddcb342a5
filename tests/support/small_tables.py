"""Small adversarial tables, and how a test measures a principle on one."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import pyarrow as pa
from hypothesis import strategies as st

import sfumato as sf

NUMBERS = [
    "0",
    "0.1",
    "0.2",
    "0.3",
    "0.30",
    "0.7",
    "1",
    "1.0",
    "1.1",
    "-0.1",
    "-0.3",
    "10",
    "1e1",
    "33.3",
    "1000000.01",
]
TEXTS = ["", "a", "b", "c", "A", " d", "NA", "0.1", "ä"]
ORDER = ["low", "mid", "high", "top"]
TREE = {"a": ("a", "X", "*"), "b": ("b", "X", "*"), "c": ("c", "Y", "*"), "d": ("d", "Y", "*"), "e": ("e", "Z", "*")}
THRESHOLDS = [Fraction(t) for t in ("0", "0.1", "0.2", "0.3", "1/3", "0.5", "2/3", "0.7", "0.8", "0.9", "1")]


def tables(values, most_rows=10, most_groups=4):
    """Rows (group, value): one group, all groups alone, duplicates and singletons all occur."""
    return st.lists(st.tuples(st.integers(0, most_groups - 1), values), min_size=1, max_size=most_rows)


def by_group(rows):
    groups = defaultdict(list)
    for group, value in rows:
        groups[group].append(value)
    return [groups[key] for key in sorted(groups)]


_GROUPS = [group for group in range(4) for _ in range(14 + group)]


def register(numeric):
    """A population of small tables: at least 14 people of each group, and one more of each group than of the one before.

    Together they have all numbers, or all texts, that small tables may have as secrets: odd people one after another, even
    ones in another order, so that each group has its own distribution.
    """
    secrets = [*NUMBERS, "2", "3", "5", "8"] if numeric else [*TEXTS, *NUMBERS]
    order = [person // 2 if person % 2 else person for person in range(len(_GROUPS))]
    return pa.table({"q": _GROUPS, "s": [secrets[place % len(secrets)] for place in order]})


REGISTER = register(numeric=True)


def measured(rows, principle, numeric=False, **schema):
    """Measure through the front door: a frame, a schema, an audit."""
    frame = pa.table({"q": [g for g, _ in rows], "s": [v for _, v in rows]})
    kinds = {"s": "numeric"} if numeric else {}
    everyone = register(numeric or not pa.types.is_string(frame.schema.field("s").type))
    declared = sf.Schema(quasi_identifiers=["q"], sensitive=["s"], kinds=kinds, population=sf.Population(everyone), **schema)
    return sf.audit(frame, declared, [principle])[0].measurement


texts = st.sampled_from(TEXTS)
numbers = st.sampled_from(NUMBERS)
