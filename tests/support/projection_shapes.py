"""Small, deterministic projections of every shape that their report must be able to draw."""

from __future__ import annotations

import json
from functools import cache

import pyarrow as pa

import sfumato as sf
from sfumato.projections.projection_document import internal_content
from sfumato.releases.models import ProjectedDocument

ROWS = 60
EVIL = "<script>alert(1)</script>"
LINK = "<a href='javascript:alert(2)'>x</a>"

PEOPLE = {
    "age": [20 + (7 * i) % 50 for i in range(ROWS)],
    "sex": ["fm"[i % 2] for i in range(ROWS)],
    "job": [["cook", "smith", "clerk"][(i // 3) % 3] for i in range(ROWS)],
    "pay": [["low", "high"][(i // 3) % 3 == 2] for i in range(ROWS)],
    "ill": [["flu", "cold", "gout", "cough"][(i * i + i // 5) % 4] for i in range(ROWS)],
    "smokes": [["yes", "no"][(i // 7) % 2] for i in range(ROWS)],
}
SECRETS = ("job", "pay", "ill", "smokes")


def _made(people=PEOPLE, secrets=SECRETS, principles=None, **more):
    kinds = {name: "categorical" for name in secrets if name not in ("has",)}
    kinds |= {"has": "set"} if "has" in secrets else {}
    schema = sf.Schema(["age", "sex"], list(secrets), kinds=kinds)
    principles = [sf.KAnonymity(4), sf.TCloseness("0.7")] if principles is None else principles
    return sf.project(pa.table(people), schema, principles, **more)


def knee():
    """No thresholds: the knee of the trade-off."""
    return _made()


def sets():
    """A set as bits, harmless values, and given thresholds."""
    has = [";".join(item for at, item in enumerate(("cat", "dog", "car")) if (i + at) % (at + 2) == 0) for i in range(ROWS)]
    people = {**PEOPLE, "has": [held or "cat" for held in has]}
    return _made(people, (*SECRETS, "has"), alpha="0.8", beta="0.5", harmless={"smokes": ["no"]})


def apart():
    """Each attribute in its own table: nothing to join within a table."""
    return _made(alpha=1, beta=0)


def whole():
    """One table: no attributes are separated."""
    return _made(plan=[SECRETS])


def given():
    """The publisher's own plan, and no principle on the sensitive attributes."""
    return _made(plan=[("job", "ill"), ("pay", "smokes")], principles=[sf.KAnonymity(3)])


def many():
    """Too many attributes for an exhaustive search, with long names."""
    people = {key: PEOPLE[key] for key in ("age", "sex")}
    names = [f"a rather long name of an attribute, number {n}" for n in range(12)]
    people |= {name: [str((i * (n + 3) + i // (n + 2)) % (2 + n % 3)) for i in range(ROWS)] for n, name in enumerate(names)}
    return _made(people, tuple(names), principles=[sf.KAnonymity(4)], alpha=1, beta="0.2")


def evil():
    """Markup in names and values."""
    people = {"age": PEOPLE["age"], "sex": PEOPLE["sex"], EVIL: PEOPLE["job"], LINK: PEOPLE["ill"], "pay": PEOPLE["pay"]}
    people["pay"] = [EVIL if one == "low" else LINK for one in people["pay"]]
    return _made(people, (EVIL, LINK, "pay"), alpha=1, beta="0.5", harmless={"pay": [LINK]})


SHAPES = {one.__name__: one for one in (knee, sets, apart, whole, given, many, evil)}


@cache
def projection(name):
    return SHAPES[name]()


@cache
def _written(name):
    found = projection(name)
    return tuple(json.dumps(content, allow_nan=False, default=str) for content in (found.to_dict(), internal_content(found)))


def contents(name):
    """Return the content of release.json, and that of the internal report beyond it, as plain data."""
    return tuple(map(json.loads, _written(name)))


def document(content):
    """Return the typed document of plain data."""
    return ProjectedDocument.of(content)
