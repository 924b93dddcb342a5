"""Small releases of every kind, each with identifiers whose values occur nowhere else."""

from __future__ import annotations

import pyarrow as pa

import sfumato as sf

IDENTIFIERS = [f"Secretname{letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWX"]
"""Values of the identifier column, to search for."""

PEOPLE = pa.table(
    {
        "name": IDENTIFIERS,
        "age": [20 + i for i in range(24)],
        "town": ["Ulm", "Bonn", "Kiel"] * 8,
        "income": [100 * (i % 12) for i in range(24)],
        "ill": ["flu", "gout", "cold", "ache"] * 6,
    }
)
SCHEMA = sf.Schema(["age", "town"], ["income", "ill"], ["name"])


def grouped(**options):
    schema = sf.Schema(["age", "town"], ["income"], ["name"], other=["ill"])
    return sf.anonymize(PEOPLE, schema, [sf.KAnonymity(4), sf.Dissimilarity(50, "0.5", 4)], **options)


def projected(**options):
    options = {"alpha": 1, "plan": [["income"], ["ill"]], "harmless": {"ill": ["cold"]}, **options}
    return sf.project(PEOPLE, SCHEMA, sf.KAnonymity(4), **options)


def register():
    return sf.disclosure.Dictionary(PEOPLE.select(["name", "age", "town"]), identity="name", name="register")


def withheld(**options):
    people, schema = PEOPLE.select(["name", "age", "town"]), sf.Schema(["age", "town"], identifiers=["name"])
    return sf.withhold(people, schema, register(), cells=1, identity="name", **options)


def anatomized(**options):
    schema = sf.Schema(["age", "town"], ["income"], ["name"], other=["ill"])
    return sf.anatomize(PEOPLE, schema, sf.Dissimilarity(50, "0.5", 4), **options)


MAKERS = {"groups": grouped, "projected": projected, "withheld": withheld, "anatomized": anatomized}
"""For each kind of release a function that makes one."""
