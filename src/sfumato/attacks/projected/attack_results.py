"""Run several attacks on a release of projected tables, and collect their results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sfumato.attacks.projected.attacker_view import AttackerView, check_views
from sfumato.attacks.projected.background_join_attack import BackgroundJoin
from sfumato.attacks.projected.intersection_attack import Intersection
from sfumato.data.table import Table
from sfumato.plurals import count_of
from sfumato.projections.plans.dependence import Dependence
from sfumato.projections.plans.dependent_pairs import DependentPair, dependent_pairs
from sfumato.projections.plans.plan import Plan
from sfumato.registry import PROJECTED_ATTACKS

DEFAULT_ATTACKS = ("background-join", "intersection")
"""The attacks that run if none are named. A plug-in runs only if it is named."""


class ProjectedAttackResult(Protocol):
    """The result of one attack: what was reached, and under which assumptions."""

    @property
    def assumptions(self) -> str:
        """What the attacker is assumed to know, in words."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON."""


class ProjectedAttack(Protocol):
    """An attack: the published people with their original values, and the attacker's view of each projected table."""

    def __call__(self, table: Table, views: Sequence[AttackerView], /) -> ProjectedAttackResult:
        """Run the attack."""


@dataclass(frozen=True)
class ProjectedAttackResults:
    """What attackers reach on a release of projected tables. It depends on the original, so it must not be published.

    `to_dict` has this shape. Tables are numbered from 0; a confidence is {"largest": 0.5, "exact": "1/2" (None if it is not
    a fraction), "mean": 0.4, "certain": people}; every list is sorted with the worst first, except the links.

        {"tables": [["job"], ["income", "wage"]],
         "attacks": {
            "background-join": {
                "assumptions": "…", "known": 1, "largest": 1.0 (None if there are no joins),
                "joins": [{"table": 1, "known": ["wage"], "target": "income", "people": 100,
                           "before": confidence, "after": confidence,
                           "gain": {"largest": 0.5, "mean": 0.1, "newly_certain": 3},
                           "example": {"group": 7, "values": {"wage": "10"}, "guess": "high", "among": 2}}, …]},
            "intersection": {
                "assumptions": "…", "k": 5, "l": 2,
                "links": [{"tables": 1, "largest": 0.8, "exact": "0.8", "mean": 0.4, "bound": 0.8, "corrected_bound": 0.9,
                           "exceeds": false}, …],
                "inferences": [{"target": "income", "table": 1, "helper": "job", "helper_table": 0, "people": 100,
                                "before": confidence, "after": confidence, "gain": {"mean": 0.1, "newly_certain": 0},
                                "truth": {"before": 0.3, "after": 0.4}}, …],
                "skipped": [{"attributes": ["a", "b"], "reason": "…"}, …]},
            name of a plug-in: {"assumptions": "…", …}},
         "warnings": [{"attributes": ["job", "income"], "tables": [0, 1], "information": 0.2, "share": 0.3,
                       "beyond_chance": true, "text": "…"}, …]}

    >>> import numpy as np, pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> table = Table(pa.table({"job": ["a", "b"], "sick": ["x", "y"]}), Schema(sensitive=["job", "sick"]))
    >>> results = attack_projected(table, [AttackerView(("job", "sick"), np.array([0, 0]))])
    >>> results.background.worst.newly_certain, results.to_dict()["warnings"]
    (2, [])
    """

    tables: tuple[tuple[str, ...], ...]
    """The attributes of each projected table."""
    results: Mapping[str, ProjectedAttackResult]
    """The result of each attack, by its name."""
    warnings: tuple[DependentPair, ...]
    """Dependent attributes in different tables, strongest first."""

    @property
    def background(self) -> BackgroundJoin:
        """The result of the attack "background-join"."""
        result = self.results["background-join"]
        assert isinstance(result, BackgroundJoin)
        return result

    @property
    def intersection(self) -> Intersection:
        """The result of the attack "intersection"."""
        result = self.results["intersection"]
        assert isinstance(result, Intersection)
        return result

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON, in the shape above."""
        return {
            "tables": [list(names) for names in self.tables],
            "attacks": {
                name: {"assumptions": result.assumptions, **result.to_dict()} for name, result in self.results.items()
            },
            "warnings": [pair.to_dict() for pair in self.warnings],
        }

    def to_json(self) -> str:
        """Return the results as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def __repr__(self) -> str:
        lines = [f"Attacks on {count_of(len(self.tables), 'projected table')}"]
        lines += [f"  {line}" for result in self.results.values() for line in repr(result).splitlines()]
        lines += [f"  WARNING {pair.text}" for pair in self.warnings[:3]]
        more = len(self.warnings) - 3
        if more > 0:
            lines.append(f"  and {count_of(more, 'weaker warning')} of this kind")
        return "\n".join(lines)


def attack_projected(
    table: Table,
    views: Sequence[AttackerView],
    names: Sequence[str] | None = None,
    *,
    dependence: Dependence | None = None,
) -> ProjectedAttackResults:
    """Run attacks on projected tables.

    `names`: the attacks, by their names in `sfumato.registry.PROJECTED_ATTACKS`; by default the built-in ones.
    `dependence`: that of the attributes, if it was computed before.

    >>> import numpy as np, pyarrow as pa
    >>> from sfumato.data.schema import Schema
    >>> people = {"job": ["a", "b", "c", "d"], "boss": ["x", "x", "y", "y"]}
    >>> table = Table(pa.table(people), Schema(sensitive=["job", "boss"]))
    >>> views = [AttackerView(("job",), np.array([0, 0, 1, 1])), AttackerView(("boss",), np.array([0, 1, 0, 1]))]
    >>> attack_projected(table, views)
    Attacks on 2 projected tables
      Background join: no table has two attributes, so there is nothing to join
      Intersection of 2 tables: groups of at least 2 rows and 2 values
        joined from 1: at most 0.5, on average 0.5000 (stated bound 0.5; corrected bound 0.5)
        joined from 2: at most 0.25, on average 0.2500 (stated bound 0.25; corrected bound 0.25)
        job of table 1 reveals boss of table 2: 0.5000 to 1.0000 on average, at most 0.5 to 1, certain of 0 to 4 of 4
        boss of table 2 reveals job of table 1: 0.5000 to 0.5000 on average, at most 0.5 to 0.5, certain of 0 to 0 of 4
      WARNING job (table 1) and boss (table 2) depend on each other: 1 bit, 100% of the smaller entropy. \
The bound of Theorem 2 does not hold for them: an attacker who knows how they depend can combine the two tables.
    """
    tables = check_views(table, views)
    attacks: dict[str, ProjectedAttack] = {
        name: PROJECTED_ATTACKS.find(name, key="names") for name in (DEFAULT_ATTACKS if names is None else names)
    }
    attributes = [name for view in tables for name in view.attributes]
    blocks = tuple(view.attributes for view in tables)
    measured = Dependence.of(table, attributes) if dependence is None else dependence  # only for the warnings
    return ProjectedAttackResults(
        blocks,
        {name: run(table, tables) for name, run in attacks.items()},
        dependent_pairs(measured, Plan.of(blocks, attributes)),
    )
