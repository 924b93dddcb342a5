"""Small published tables with arbitrary cells, as attackers see them and as oracles do."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

import sfumato as sf
from sfumato.attacks.attacked_sources import attacked_release

NAMES = ("age", "town")
UNCHANGED = ("ill", "pay", "plan")
SCHEMA = sf.Schema(NAMES, ["ill", "pay"], other=["plan"], kinds={"age": "numeric", "town": "categorical", "pay": "numeric"})


@dataclass
class SmallRelease:
    attacked: Any
    people: list
    rows: list
    group: list
    who: list = field(default_factory=list)
    """Whose row each row of the original is."""

    @property
    def attacked_rows(self):
        """The rows that are attacked: one row of each person that is published."""
        attacked = self.attacked.one_row_each.tolist()
        assert len(attacked) == len({self.who[row] for row in attacked}) == len({*self.who[: len(self.rows)]})
        return attacked


def covered(name, cell, everybody):
    """The values of the original that a cell covers, by the grammar of cells."""
    values = {person[name] for person in everybody}
    if cell == "*":
        return values
    if cell is None:
        return values & {None}
    if cell.startswith("["):
        low, high = (int(end) for end in cell.strip("[]").split(", "))
        return {value for value in values if value is not None and low <= value <= high}
    return {value for value in values if str(value) == cell and value is not None}


def small_release(everybody, texts, principles=(), sample=20_000, who=None):
    """Publish the first people with the given cells; the others are suppressed. `who`: whose row each is, of several."""
    people = everybody[: len(texts)]
    columns = (*NAMES, *UNCHANGED)
    types = {"age": pa.int64(), "pay": pa.int64()}
    whole = pa.table({name: pa.array([p[name] for p in everybody], types.get(name, pa.string())) for name in columns})
    shown = {name: [text[name] for text in texts] for name in NAMES}
    shown |= {name: whole[name][: len(texts)] for name in UNCHANGED}
    published = pa.table({name: pa.array(v, pa.string()) if name in NAMES else v for name, v in shown.items()})
    schema = SCHEMA
    if who is not None:
        whole, schema = whole.append_column("who", pa.array(who)), replace(SCHEMA, person_id="who")
    attacked = attacked_release(published, whole[: len(texts)], schema=schema, principles=principles, sample=sample)
    attacked = replace(attacked, population=sf.Table(whole, schema))
    rows = []
    for person, text in zip(people, texts, strict=True):
        cells = {}
        for name in NAMES:
            cells[name] = covered(name, text[name], everybody)
            if not cells[name]:  # unreadable: the values of the people in it
                cells[name] = {p[name] for p, t in zip(people, texts, strict=True) if t[name] == text[name]}
        rows.append({"cells": cells, "values": {name: person[name] for name in UNCHANGED}})
    whose = list(range(len(everybody))) if who is None else who
    return SmallRelease(attacked, everybody, rows, [tuple(text[name] for name in NAMES) for text in texts], whose)


@st.composite
def small_releases(draw, most=7, several=False):
    """Cells may be wide, narrow, missing, unreadable, or not cover the person; people may be suppressed.

    `several`: people may have several rows, which may be in several groups.
    """
    person = st.fixed_dictionaries(
        {
            "age": st.sampled_from([1, 2, 3, 4, None]),
            "town": st.sampled_from(["a", "b", "c", None]),
            "ill": st.sampled_from(["flu", "gout", "ulcer"]),
            "pay": st.sampled_from([5, 6, 7, None]),
            "plan": st.sampled_from(["x", "y"]),
        }
    )
    count = draw(st.integers(2, most))
    everybody = draw(st.lists(person, min_size=count, max_size=count + 2))
    # columns without any value have no kind
    everybody[0] = {**everybody[0], "age": everybody[0]["age"] or 1, "town": everybody[0]["town"] or "a"}
    everybody[0]["pay"] = everybody[0]["pay"] or 5
    kinds = st.sampled_from(["own", "own", "around", "around", "*", "odd", "other"])
    who = None
    if several and draw(st.booleans()):
        who = draw(st.lists(st.integers(0, 3), min_size=len(everybody), max_size=len(everybody)))
    return small_release(everybody, [_texts(draw, kinds, one) for one in everybody[:count]], who=who)


def _texts(draw, kinds, person):
    age, town = draw(kinds), draw(kinds)
    low = person["age"]
    ages = {
        "own": None if low is None else str(low),
        "around": None if low is None else f"[{max(1, low - 1)}, {low + draw(st.integers(0, 2))}]",
        "*": "*",
        "odd": draw(st.sampled_from(["young", "old"])),
        "other": "[1, 2]",
    }
    towns = {"own": person["town"], "around": person["town"], "*": "*", "odd": "region 1", "other": "a"}
    return {"age": ages[age], "town": towns[town]}
