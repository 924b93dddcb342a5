"""All attacks on a release of projected tables, in one result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.attacks.attacker_view import AttackerView, checked
from sfumato.attacks.background_join_attack import BackgroundJoin, Known, background_join
from sfumato.attacks.dependence_warnings import DependentPair, warnings_of
from sfumato.attacks.intersection_attack import Intersection, intersection
from sfumato.data.table import Table
from sfumato.plurals import count_of
from sfumato.projections import Dependence, Plan


@dataclass(frozen=True)
class AttackResults:
    """What attackers reach on a release of projected tables; it depends on the original, so it is not for publishing.

    `to_dict` has this shape. Tables are numbered from 0; a confidence is {"largest": 0.5, "exact": "1/2" (None if it is no
    fraction), "mean": 0.4, "certain": people}; every list stands worst first, but for the links.

        {"tables": [["job"], ["income", "wage"]],
         "background": {
            "known": 1, "largest": 1.0 (None if there are no joins),
            "joins": [{"table": 1, "known": ["wage"], "target": "income", "people": 100,
                       "before": confidence, "after": confidence,
                       "gain": {"largest": 0.5, "mean": 0.1, "newly_certain": 3},
                       "example": {"group": 7, "values": {"wage": "10"}, "guess": "high", "among": 2}}, …]},
         "intersection": {
            "k": 5, "l": 2,
            "links": [{"tables": 1, "largest": 0.8, "exact": "0.8", "mean": 0.4, "stated": 0.8, "mended": 0.9,
                       "exceeds": false}, …],
            "inferences": [{"target": "income", "table": 1, "helper": "job", "helper_table": 0, "people": 100,
                            "before": confidence, "after": confidence, "gain": {"mean": 0.1, "newly_certain": 0},
                            "truth": {"before": 0.3, "after": 0.4}}, …],
            "left_out": [{"attributes": ["a", "b"], "why": "…"}, …]},
         "warnings": [{"attributes": ["job", "income"], "tables": [0, 1], "information": 0.2, "share": 0.3,
                       "beyond_chance": true, "text": "…"}, …]}

    >>> import numpy as np, pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"job": ["a", "b"], "sick": ["x", "y"]}), Schema(sensitive=["job", "sick"]))
    >>> found = attack(table, [AttackerView(("job", "sick"), np.array([0, 0]))])
    >>> found.background.worst.newly_certain, found.to_dict()["warnings"]
    (2, [])
    """

    tables: tuple[tuple[str, ...], ...]
    """The attributes of each projected table."""
    background: BackgroundJoin
    intersection: Intersection
    warnings: tuple[DependentPair, ...]

    def to_dict(self) -> dict[str, Any]:
        """As plain data, ready for JSON, in the shape told above."""
        return {
            "tables": [list(names) for names in self.tables],
            "background": self.background.to_dict(),
            "intersection": self.intersection.to_dict(),
            "warnings": [warned.to_dict() for warned in self.warnings],
        }

    def to_json(self) -> str:
        """The attacks as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def __repr__(self) -> str:
        lines = [f"Attacks on {count_of(len(self.tables), 'projected table')}"]
        lines += [f"  {line}" for part in (self.background, self.intersection) for line in repr(part).splitlines()]
        lines += [f"  WARNING {warned.text}" for warned in self.warnings[:3]]
        more = len(self.warnings) - 3
        if more > 0:
            lines.append(f"  and {count_of(more, 'weaker warning')} of this kind")
        return "\n".join(lines)


def attack(
    table: Table, seen: Sequence[AttackerView], dependence: Dependence | None = None, known: Known = 1
) -> AttackResults:
    """Try every attack on projected tables; `dependence` is that of their attributes, if it is known already.

    >>> import numpy as np, pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> people = {"job": ["a", "b", "c", "d"], "boss": ["x", "x", "y", "y"]}
    >>> table = Table(pa.table(people), Schema(sensitive=["job", "boss"]))
    >>> attack(table, [AttackerView(("job",), np.array([0, 0, 1, 1])), AttackerView(("boss",), np.array([0, 1, 0, 1]))])
    Attacks on 2 projected tables
      Background join: no table has two attributes, so there is nothing to join
      Intersection of 2 tables: groups of at least 2 rows and 2 values
        joined from 1: at most 0.5, on average 0.5000 (stated bound 0.5; for groups of any size 0.5)
        joined from 2: at most 0.25, on average 0.2500 (stated bound 0.25; for groups of any size 0.25)
        job of table 1 tells boss of table 2: 0.5000 to 1.0000 on average, at most 0.5 to 1, certain of 0 to 4 of 4
        boss of table 2 tells job of table 1: 0.5000 to 0.5000 on average, at most 0.5 to 0.5, certain of 0 to 0 of 4
      WARNING job (table 1) and boss (table 2) depend on each other: 1 bit, 100% of what the lesser \
of them holds. Theorem 2 does not hold there: who knows how they depend can combine the two tables.
    """
    tables = checked(table, seen)
    names = [name for each in tables for name in each.attributes]
    blocks = tuple(each.attributes for each in tables)
    known_of_them = Dependence.of(table, names) if dependence is None else dependence
    return AttackResults(
        blocks,
        background_join(table, tables, known),
        intersection(table, tables),
        warnings_of(known_of_them, Plan.of(blocks, names)),
    )
