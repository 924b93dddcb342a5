"""What release.json says of several tables, and what the internal report is drawn from.

release.json of the kind "projected" holds, beside the versions that every release.json holds:

    format, kind    kind is "projected"
    seed            the seed of the projection; each table has its own, derived from it
    rows            rows of the table that was projected, those that were suppressed included
    holds           true: both thresholds are met, and every principle holds in every table
    attributes      the sensitive attributes in order, sets spread into bits ("name=item")
    sets            {name: [its bits]} of each set that was spread; empty if none was
    plan            [[attribute, …], …], one list for each table, in the order of the tables
    chosen          "given" | "greedy" | "exhaustive": how the plan came about
    thresholds      [{"name": "association loss" | "information exposure", "symbol": "Γ_α" | "Γ_β", "key": "alpha" | "beta",
                    "measured": in hundredths, "wanted": the threshold as it was written, "origin": "given" | "knee" |
                    "near" | "least" | "open", "holds": true}, …]: α first
    harmless        {attribute: [its values that are not sensitive, null for a missing one]}, where some are
    left_out        columns that are in no table, because they would link the tables row by row
    config          the schema of the original and the principles, as for a release of groups
    reading         how the original's file is read
    tables          one for each table, see below
    notes           [text, …]
    files           {"table_1.csv": {sha256, bytes}, …, "report.html": …}

Each of `tables` holds what the release.json of a release of groups holds, but for format, versions and files (`seed`,
`method`, `rows`, `groups`, `suppressed`, `suppress`, `holds`, `group`, `columns`, `config`, `reading`, `principles`,
`utility`, `figures`, `notes`; see `describe.described`), and

    attributes      its sensitive attributes
    dependence      {"names": […], "entropy": [bits, …], "information": [[bits, …], …], "exposure": [[bits, …], …]}: what a
                    reader can compute from this table alone, and so all of the heat map that may be published; on the
                    diagonal of information stands the entropy

How attributes of different tables go together is what the tables keep apart: only the two ratios, in hundredths, and the
plan depend on it.

The internal report is drawn from that and from `internal_content(projection)`:

    dependence      the same keys over all attributes, on the original table, and "rows"
    thresholds      [{"key", "measured": exact as a float}, …]
    tradeoff        {"points": [weighed, …], "merges": [weighed, …], "exhaustive": bool, "knee": weighed, "why": text}, see
                    `Tradeoff`
    search          None if the plan was given, else {"exhaustive": bool, "steps": [text, …], "examined": [weighed, …],
                    "refused": [[attribute, …], …]}
    attacks         `Attacks.to_dict()`
    tables          one for each table: what `internal_figures` tells of it

where weighed is {"plan": [[attribute, …], …], "label": text, "association_loss": float, "information_exposure": float}.
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


def described_projection(projection: Projection) -> dict[str, Any]:
    """A projection as plain data; see the top of this file."""
    return {
        "format": FORMAT,
        "kind": PROJECTED,
        **versions(),
        "seed": projection.seed,
        "rows": projection.rows,
        "holds": all(release.audit.holds for release in projection.releases),
        "attributes": list(projection.plan.attributes),
        "sets": {name: list(bits) for name, bits in projection.sets.items()},
        "plan": [list(block) for block in projection.plan.blocks],
        "chosen": _chosen(projection.search),
        "thresholds": _thresholds(projection),
        "harmless": {name: list(labels) for name, labels in projection.harmless.items()},
        "left_out": list(projection.left_out),
        "config": describe_config(projection.schema, projection.principles),
        "reading": describe_reading(projection.source),
        "tables": [_table(projection, release) for release in projection.releases],
        "notes": list(projection.notes),
    }


def _chosen(search: PlanSearch | None) -> str:
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


def _table(projection: Projection, release: Release) -> dict[str, Any]:
    content = {key: value for key, value in release.to_dict().items() if key not in ("format", *versions())}
    return {"attributes": list(release.schema.sensitive), **content, "dependence": _within(projection, release)}


def _within(projection: Projection, release: Release) -> dict[str, Any]:
    """How the attributes of one table depend on one another, as the table itself tells."""
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
    """What the report that is not for publication tells beyond release.json; see the top of this file."""
    weighed = projection.ratios
    return {
        "dependence": {**_matrices(projection.dependence), "rows": projection.dependence.rows},
        "thresholds": [
            {"key": "alpha", "measured": weighed.association_loss},
            {"key": "beta", "measured": weighed.information_exposure},
        ],
        "tradeoff": curve_content(projection.tradeoff),
        "search": _search(projection.search),
        "attacks": projection.attacks().to_dict(),
        "tables": [
            internal_figures(release.private.original, release.audit, release.recodings, release.seed)
            for release in projection.releases
        ],
    }


def curve_content(curve: Tradeoff) -> dict[str, Any]:
    """What other plans would lose and expose; it depends on how all attributes go together, so it is not for publication."""
    return {
        "points": [_weighed(point) for point in curve.points],
        "merges": [_weighed(point) for point in curve.merges],
        "exhaustive": curve.exhaustive,
        "knee": _weighed(curve.knee),
        "explanation": curve.explanation,
    }


def _search(search: PlanSearch | None) -> dict[str, Any] | None:
    if search is None:
        return None
    return {
        "exhaustive": search.exhaustive,
        "steps": list(search.steps),
        "reachable_plans": [_weighed(weighed) for weighed in search.reachable_plans],
        "unreachable_blocks": [list(block) for block in search.unreachable_blocks],
    }


def _weighed(weighed: PlanRatios) -> dict[str, Any]:
    return {
        "plan": [list(block) for block in weighed.plan.blocks],
        "label": weighed.plan.label,
        "association_loss": weighed.association_loss,
        "information_exposure": weighed.information_exposure,
    }
