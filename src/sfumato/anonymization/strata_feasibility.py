"""Limits that cannot be honoured: strata whose rows satisfy no requirement among themselves."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.anonymization.methods import Task
from sfumato.anonymization.recoding.strata import Strata
from sfumato.data.groups import Groups
from sfumato.errors import RequirementError
from sfumato.exact.shown_levels import level_shown
from sfumato.plurals import count_of
from sfumato.principles import Principle
from sfumato.principles.principle import Measurement, measurement_of

_SHOWN = 3
"""How many impossible strata an error names."""


@dataclass(frozen=True, eq=False)
class _Impossible:
    """A stratum that no grouping of its rows can make satisfy a principle."""

    stratum: int
    principle: Principle
    level: str


def refuse_impossible_strata(task: Task, share: Fraction) -> None:
    """Raise an error if limits keep rows apart that cannot satisfy a requirement, unless they may all be suppressed.

    A stratum is impossible if a monotone principle fails on it as one group, or if it has fewer people than a group needs.
    Anything else is left to the method.
    """
    strata = task.strata
    if strata is None:
        return
    found = _impossible_strata(task, strata)
    rows = int(strata.sizes[list(found)].sum())
    if rows <= int(share * task.table.rows):
        return
    shown = [_sentence(strata, found[stratum]) for stratum in list(found)[:_SHOWN]]
    more = f"; and {len(found) - _SHOWN:,} more such parts of the table" if len(found) > _SHOWN else ""
    limited = ", ".join(map(repr, strata.limited))
    allowed = f", of which {int(share * task.table.rows):,} may be suppressed" if share else ""
    total = f", {count_of(rows, 'row')} in all{allowed}" if share or len(found) > 1 else ""
    raise RequirementError(
        f"nothing is published: the limits on {limited} keep rows apart that cannot meet the requirements: "
        f"{'; '.join(shown)}{more}{total}",
        remedy="List such a value together with others in never_mix, allow a coarser level, relax the requirement, or allow "
        f"{count_of(rows, 'row')} to be suppressed.",
        file=task.table.source,
        column=strata.limited[0] if len(strata.limited) == 1 else None,
        value=[strata.name(stratum) for stratum in found],
    )


def _impossible_strata(task: Task, strata: Strata) -> dict[int, _Impossible]:
    """Return the impossible strata, each with the first principle that rules it out."""
    groups = Groups.partition(task.table, strata.of_row, strata.count)
    found: dict[int, _Impossible] = {}
    for principle, names in task.requirements:
        measurement = measurement_of(principle, task.views[names].regrouped(groups))
        failing = ~measurement.group_holds
        if not principle.monotone:  # smaller groups may satisfy it, but none that is too small
            failing &= groups.heads < (principle.implied_k or 1)
        for stratum in np.flatnonzero(failing).tolist():
            found.setdefault(stratum, _Impossible(stratum, principle, _level(measurement, stratum)))
    return dict(sorted(found.items()))


def _level(measurement: Measurement, stratum: int) -> str:
    """Return what a stratum reaches as one group, in the parts in which it fails."""
    parts = [part for part in measurement.parts if not part.holds[stratum]]
    return ", ".join(f"{part.name} {level_shown(part.at(stratum), part.threshold)}, wanted {part.wanted}" for part in parts)


def _sentence(strata: Strata, impossible: _Impossible) -> str:
    size = count_of(int(strata.sizes[impossible.stratum]), "row")
    return f"{strata.name(impossible.stratum)} ({size}) cannot satisfy {impossible.principle.label}: {impossible.level}"
