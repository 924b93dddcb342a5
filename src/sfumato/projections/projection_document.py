"""The release.json of a projection as plain data, and the content of its internal report.

`ProjectedDocument` in `releases/models.py` describes the keys of release.json. Of how attributes of different tables depend
on one another, release.json states only the plan and the two ratios, in hundredths. `dependence` of each table is what a
reader can compute from that table alone.

The internal report is drawn from that document and from `internal_content(projection)`:

    dependence      {"names": […], "entropy": [bits, …], "information": [[bits, …], …], "exposure": [[bits, …], …], "rows"}
                    over all attributes of the original; the entropy is on the diagonal of information
    thresholds      [{"key", "measured": exact as a float}, …]
    tradeoff        {"points": [plan, …], "merges": [plan, …], "exhaustive": bool, "knee": plan, "explanation": text}, see
                    `Tradeoff`
    search          None for the publisher's own plan, otherwise {"exhaustive": bool, "steps": [text, …],
                    "reachable_plans": [plan, …], "unreachable_blocks": [[attribute, …], …]}, see `PlanSearch`
    attacks         `AttackResults.to_dict()`
    tables          `internal_figures` of each table

where plan is {"plan": [[attribute, …], …], "label": text, "association_loss": float, "information_exposure": float}.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sfumato.anonymization.figures.figure_tables import internal_figures
from sfumato.anonymization.release import Release
from sfumato.exact import written
from sfumato.projections.plans.dependence import Dependence, PlanRatios
from sfumato.projections.plans.information import entropy
from sfumato.projections.plans.plan_search import PlanSearch
from sfumato.projections.plans.tradeoff_curve import Tradeoff
from sfumato.releases.declarations import describe_config, describe_reading, versions
from sfumato.releases.models import FORMAT, PROJECTED

if TYPE_CHECKING:
    from sfumato.projections.projection import Projection

_THRESHOLDS = {"alpha": "association loss", "beta": "information exposure"}
"""The key and the name of each threshold, in the order of release.json."""

_SYMBOLS = {"alpha": "Γ_α", "beta": "Γ_β"}
HUNDREDTH = Fraction(1, 100)
"""The step in which the ratios of a plan are published: exact ratios would reveal how separated attributes depend."""


def describe_projection(projection: Projection) -> dict[str, Any]:
    """Return the content of release.json, without the file digests."""
    return {
        "format": FORMAT,
        "kind": PROJECTED,
        **versions(),
        "rows": projection.rows,
        "holds": all(release.audit.holds for release in projection.releases),
        "attributes": list(projection.plan.attributes),
        "sets": {name: list(bits) for name, bits in projection.sets.items()},
        "plan": [list(block) for block in projection.plan.blocks],
        "chosen": _search_kind(projection.search),
        "thresholds": _thresholds(projection),
        **_quality(projection),
        "harmless": {name: list(labels) for name, labels in projection.harmless.items()},
        "left_out": list(projection.left_out),
        "config": describe_config(projection.schema, projection.principles),
        "reading": describe_reading(projection.source),
        "tables": [_table(projection, release) for release in projection.releases],
        "notes": list(projection.notes),
    }


def _search_kind(search: PlanSearch | None) -> str:
    return "given" if search is None else "exhaustive" if search.exhaustive else "greedy"


def _thresholds(projection: Projection) -> list[dict[str, Any]]:
    measured = dict(zip(_THRESHOLDS, projection.published_ratios, strict=True))
    return [
        {
            "name": name,
            "symbol": _SYMBOLS[key],
            "key": key,
            "measured": measured[key],
            "wanted": written(getattr(projection, key).limit),
            "origin": getattr(projection, key).origin,
            "holds": True,
        }
        for key, name in _THRESHOLDS.items()
    ]


def _quality(projection: Projection) -> dict[str, Any]:
    if projection.discernibility is None:
        return {}
    return {
        "quality": {
            "discernibility": list(projection.discernibilities),
            "wanted": written(projection.discernibility),
            "holds": True,
        }
    }


def _table(projection: Projection, release: Release) -> dict[str, Any]:
    content = {key: value for key, value in release.to_dict().items() if key not in ("format", *versions())}
    return {"attributes": list(release.schema.sensitive), **content, "dependence": _table_dependence(projection, release)}


def _table_dependence(projection: Projection, release: Release) -> dict[str, Any]:
    """Return how the attributes of one table depend on one another, measured on the published table."""
    names = list(release.schema.sensitive)
    if len(names) == 1:
        bits = entropy(release.table.attribute(release.schema.components(names[0]), names[0]))
        return {"names": names, "entropy": [bits], "information": [[bits]], "exposure": [[0.0]]}
    harmless = {name: projection.harmless[name] for name in names if name in projection.harmless}
    return _matrices(Dependence.of(release.table, harmless=harmless))


def _matrices(dependence: Dependence) -> dict[str, Any]:
    return {
        "names": list(dependence.names),
        "entropy": dependence.entropy.tolist(),
        "information": dependence.information.tolist(),
        "exposure": dependence.exposure.tolist(),
    }


def internal_content(projection: Projection) -> dict[str, Any]:
    """Return the content of the internal report beyond release.json; see the top of this file."""
    ratios = projection.ratios
    return {
        "dependence": {**_matrices(projection.dependence), "rows": projection.dependence.rows},
        "thresholds": [
            {"key": "alpha", "measured": ratios.association_loss},
            {"key": "beta", "measured": ratios.information_exposure},
        ],
        "tradeoff": curve_content(projection.tradeoff),
        "search": _search(projection.search),
        "attacks": projection.attacks().to_dict(),
        "tables": [
            internal_figures(release.private.original, release.audit, release.recodings).to_dict()
            for release in projection.releases
        ],
    }


def curve_content(curve: Tradeoff) -> dict[str, Any]:
    """Return the ratios of other plans. They depend on how all attributes depend, so they must not be published."""
    return {
        "points": [_plan_ratios(point) for point in curve.points],
        "merges": [_plan_ratios(point) for point in curve.merges],
        "exhaustive": curve.exhaustive,
        "knee": _plan_ratios(curve.knee),
        "explanation": curve.explanation,
    }


def _search(search: PlanSearch | None) -> dict[str, Any] | None:
    if search is None:
        return None
    return {
        "exhaustive": search.exhaustive,
        "steps": list(search.steps),
        "reachable_plans": [_plan_ratios(plan) for plan in search.reachable_plans],
        "unreachable_blocks": [list(block) for block in search.unreachable_blocks],
    }


def _plan_ratios(ratios: PlanRatios) -> dict[str, Any]:
    return {
        "plan": [list(block) for block in ratios.plan.blocks],
        "label": ratios.plan.label,
        "association_loss": ratios.association_loss,
        "information_exposure": ratios.information_exposure,
    }
