"""Risks of every shape that their report must be able to draw: small, quick to make, and the same every time."""

from __future__ import annotations

import json
from functools import cache

import pyarrow as pa

from sfumato import Schema
from sfumato.disclosure._risk import risk_of
from sfumato.disclosure.dictionaries.dictionary import Dictionary
from sfumato.disclosure.risk_report.risk_tables import risk_content
from sfumato.disclosure.sensitivity.sensitivity import Additive, ConstantSensitivity, Multiplicative
from sfumato.disclosure.setting import setting_of

ROWS = 60
EVIL = "<script>alert(1)</script>"
LINK = "<a href='javascript:alert(2)'>x</a>"

PEOPLE = {
    "id": [f"p{i}" for i in range(ROWS)],
    "age": [20 + (7 * i) % 50 for i in range(ROWS)],
    "town": [["Rome", "Bonn", "Oslo", None][(i * i) % 4] for i in range(ROWS)],
    "ill": [["flu", "cold", "gout", "cough", "croup", "mumps"][i % 6] for i in range(ROWS)],
    "job": [["cook", "smith", "clerk"][(i // 3) % 3] for i in range(ROWS)],
}


def _book(name="phone book", rows=ROWS, columns=("age", "town"), **more):
    data = {"id": PEOPLE["id"], **{column: PEOPLE[column] for column in columns}}
    extra = {"id": [f"q{i}" for i in range(rows)], **{c: [PEOPLE[c][(5 * i) % ROWS] for i in range(rows)] for c in columns}}
    both = {column: data[column] + extra[column] for column in data}
    return Dictionary(pa.table(both), identity="id", name=name, **more)


def _setting(dictionaries, people=PEOPLE, **more):
    return setting_of(pa.table(people), Schema(), dictionaries, **{"identity": "id", **more})


def one():
    return _setting([_book()], sensitivity=Additive({"ill": 5}))


def prior():
    books = [_book(), _book("voter list", 20, ("age", "town", "job"))]
    return _setting(books, prior={"phone book": "0.75", "voter list": "0.25"}, sensitivity=Additive({"ill": 5}))


def worst_case():
    return _setting([_book(), _book("voter list", 20, ("age", "town", "job"))])


def itself():
    """The table itself: a prosecutor."""
    book = Dictionary(pa.table(PEOPLE), identity="id", name="the table itself")
    return _setting([book], sensitivity=ConstantSensitivity())


def multiplicative():
    return _setting([_book()], sensitivity=Multiplicative({"ill": 6, "age": 3}))


def infinite():
    return _setting([_book()], sensitivity=Additive({"ill": "inf"}))


def no_identity():
    return _setting([_book()], identity=None, attributes=["age", "town", "ill", "job"])


def nobody():
    """Records that fit nobody at all."""
    return _setting([Dictionary(pa.table({"id": ["x"], "age": [999]}), identity="id", name="another world")])


def weighted():
    data = {"id": PEOPLE["id"] + ["z"], "age": PEOPLE["age"] + [27], "lean": [i % 5 for i in range(ROWS)] + [9]}
    return _setting([Dictionary(pa.table(data), identity="id", name="leaning", weight="lean")])


def tiny():
    return _setting([Dictionary(pa.table({"id": ["a"], "age": [30]}), identity="id")], people={"id": ["a"], "age": [30]})


def evil():
    people = {"id": [f"{EVIL}{i}" for i in range(8)], EVIL: [LINK, "b"] * 4, "возраст": [1, 2, 3, 4] * 2}
    book = Dictionary(pa.table(people), identity="id", name=LINK)
    return setting_of(pa.table(people), Schema(), [book], identity="id")


def many_attributes():
    people = {"id": [str(i) for i in range(30)], **{f"a{j:02d}": [(i * (j + 3)) % 7 for i in range(30)] for j in range(16)}}
    return setting_of(pa.table(people), Schema(), [Dictionary(pa.table(people), identity="id", name="all")], identity="id")


SETTINGS = {
    make.__name__: cache(make)
    for make in (
        one, prior, worst_case, itself, multiplicative, infinite, no_identity, nobody, weighted, tiny, evil, many_attributes,
    )
}  # fmt: skip


@cache
def _told(name, curves):
    setting = SETTINGS[name]()
    return json.dumps(risk_content(risk_of(setting), curves=curves), allow_nan=False)


def content(name, curves=True):
    """What the page of a shape is drawn from, as it is read from JSON; a copy that may be changed."""
    return json.loads(_told(name, curves))
