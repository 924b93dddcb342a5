"""The content of the risk report as plain data: the risk, its distribution, and its curves."""

from __future__ import annotations

from itertools import permutations
from typing import Any

from sfumato.disclosure._k_anonymity_levels import levels_of_matching
from sfumato.disclosure._risk import Risk
from sfumato.disclosure.matching.joint_matching import joint_sizes
from sfumato.disclosure.risk_bound import upper_bound
from sfumato.disclosure.risk_report.loss_tables import consistent_histogram, loss_histogram
from sfumato.disclosure.risk_report.risk_curves import (
    QUARTERS,
    by_cells,
    by_dictionary_size,
    cells_of,
    true_against_estimated,
)
from sfumato.disclosure.rules.minrisk_algorithm import applies, independence_costs
from sfumato.disclosure.setting import Setting
from sfumato.progress import Progress, silent
from sfumato.version import __version__

BOUNDED = 4
"""The most dictionaries for which bounds are checked: every pair of them is checked."""
WORST = 20
"""The number of records that are listed by default."""


def risk_content(
    measured: Risk, *, curves: bool = True, worst: int = WORST, seed: int = 0, progress: Progress = silent
) -> dict[str, Any]:
    """Return everything that `risk_page` draws.

    `curves`: whether to compute the curves too; `seed`: of the parts of dictionaries in them. `worst`: the number of
    records that are listed.

    >>> import pyarrow as pa
    >>> from sfumato import Schema
    >>> from sfumato.disclosure.dictionaries.dictionary import Dictionary
    >>> from sfumato.disclosure._risk import risk
    >>> book = Dictionary(pa.table({"age": [30, 30, 41]}), name="book")
    >>> risk_content(risk(pa.table({"age": [30, 41]}), Schema(), book))["figures"]["fitting"]
    [{'bins': ['0', '1', '2'], 'records': [0, 1, 1]}]
    """
    setting = measured.setting
    progress("matching records jointly")
    return {
        "sfumato": __version__,
        **measured.to_dict(worst),
        "figures": {
            "losses": loss_histogram(measured.worst.losses),
            "fitting": [consistent_histogram(each.sizes) for each in measured.dictionaries],
        },
        "joint": [_joint(measured, place) for place in range(len(measured.dictionaries))],
        "k_anonymity": _levels(measured),
        "consistency": {name: how.parameters() for name, how in setting.consistency.items()},
        "bounds": [
            upper_bound(setting, mine, theirs, measured.rule).to_dict()
            for mine, theirs in (permutations(setting.names, 2) if len(setting.names) <= BOUNDED else ())
        ],
        "independence": _independence(setting, progress) if curves else [],
        "curves": _curves(setting, seed, progress) if curves else {"cells": None, "sizes": [], "scatter": []},
    }


def _joint(measured: Risk, place: int) -> dict[str, Any]:
    """What a joint matching with one dictionary leaves: the records with one individual, and those with one only then."""
    matching, alone = measured.setting.matchings[place], measured.dictionaries[place]
    joint = joint_sizes(matching, measured.rule)
    figures: dict[str, Any] = {"dictionary": alone.name, "least": joint.least, "one": None, "more": None, "why": joint.why}
    if joint.sizes is not None:
        one = joint.sizes == 1
        figures |= {"one": int(one.sum()), "more": int((one & (alone.sizes > 1)).sum())}
    return figures


def _levels(measured: Risk) -> dict[str, Any]:
    levels = levels_of_matching(measured.setting.itself, measured.rule)
    return {"release": levels.release, "joint": levels.joint, "consistent": levels.consistent, "why": levels.why}


def _independence(setting: Setting, progress: Progress) -> list[dict[str, Any]]:
    """The cost of MinRisk, by dictionary and for several numbers of values; empty if it does not apply."""
    rows = []
    for name, matching in zip(setting.names, setting.matchings, strict=True):
        if applies(matching, setting.phi):
            cells = cells_of(QUARTERS, len(setting.attributes))
            costs = independence_costs(matching, setting.phi, cells, progress)
            rows += [{"dictionary": name, **cost.to_dict()} for cost in costs]
    return rows


def _curves(setting: Setting, seed: int, progress: Progress) -> dict[str, Any]:
    return {
        "cells": by_cells(setting, progress).to_dict(),
        "sizes": [curve.to_dict() for curve in by_dictionary_size(setting, seed=seed, progress=progress)],
        "scatter": [points.to_dict() for points in true_against_estimated(setting, seed=seed, progress=progress)],
    }
