"""All tables that the report of a grouped release is drawn from, as plain data.

What is published, `public_figures`, is a function of the published table, the original quasi-identifiers, the schema and
the parameters; never of which original row has which sensitive value. `internal_figures` is not, and is for the
publisher and the review board.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato._audit import audit
from sfumato.anonymization.figures.cell_ranges import covers_of
from sfumato.anonymization.figures.column_distributions import columns
from sfumato.anonymization.figures.contour_tables import contours
from sfumato.anonymization.figures.level_histograms import levels
from sfumato.anonymization.figures.query_errors import expected_errors, true_errors
from sfumato.anonymization.figures.reidentification_risk import histogram, risk
from sfumato.anonymization.figures.rounding_steps import step_of
from sfumato.anonymization.figures.worst_group_graph import neighbourhoods
from sfumato.anonymization.utility.associations import associations
from sfumato.anonymization.utility.cell_cover import Cover
from sfumato.audits.audit_result import Audit
from sfumato.data.groups import Groups, combined
from sfumato.data.table import Table
from sfumato.data.units import Units
from sfumato.exact import written
from sfumato.principles import Principle, describe
from sfumato.registry import PUBLIC_ATTACKS, load
from sfumato.reports.grouped_page import InternalFigures
from sfumato.seeds import PUBLIC_SEED
from sfumato.workers import meanwhile


def public_figures(
    original: Table,
    published_audit: Audit,
    recodings: Mapping[str, str],
    loss: Mapping[str, float],
    units: Units | None = None,
) -> dict[str, Any]:
    """Return everything that the public report draws.

    `original`: all its rows; only their quasi-identifiers are used. `published_audit`: the audit of the published table.
    `recodings`: how each quasi-identifier is published. `loss`: the information loss of each quasi-identifier. `units`: the
    person or household of each published row, if those are counted. Then the figures of single groups are left out: next to
    the published rows they would reveal which rows belong together.
    """
    published, groups = published_audit.table, published_audit.groups
    covers = covers_of(original, published, groups, recodings)
    before = Groups.of(original).heads
    after = _class_sizes(covers, groups.counting(units))
    step = step_of(original.rows)
    principles = [principle for principle, _ in published_audit.principles]
    attacks = partial(load(PUBLIC_ATTACKS), published, groups, original.schema, recodings, principles)
    with meanwhile(partial(expected_errors, published, groups, covers), attacks) as (errors, attacked):
        return {
            "words": [words(finding.principle, units is not None) for finding in published_audit],
            "step": written(step),
            "risk": {"before": risk(before, step), "after": risk(after)},
            "sizes": histogram(before, after, step),
            "levels": levels(published_audit) if units is None else [],
            "neighbourhoods": neighbourhoods(published_audit) if units is None else [],
            "columns": columns(original, published, covers, groups.sizes, loss, step),
            "errors": errors(),
            "contours": contours(published_audit) if units is None else [],
            "attacks": attacked(),
        }


def _class_sizes(covers: Sequence[Cover], groups: Groups) -> NDArray[np.int64]:
    """Return the sizes of classes of rows with equal cells, or their people; groups with equal cells are one class."""
    cells = [cover.cell.astype(np.int32) for cover in covers]
    of_group, classes = combined(cells, [len(cover.offsets) - 1 for cover in covers])
    return np.bincount(of_group, groups.heads, len(classes)).astype(np.int64)


def words(principle: type[Principle] | Principle, units: bool = False) -> dict[str, str]:
    """Return the meaning of a principle, what it does not protect against, and its source, from its docstring.

    `units`: also how it counts people with several rows.

    >>> from sfumato import KAnonymity
    >>> words(KAnonymity)["definition"]
    'Every group contains at least k people.'
    """
    description = describe(principle)
    return {
        "definition": description.definition,
        "plain": description.plain,
        "body": description.body,
        "not_protected": description.not_protected,
        **({"units": description.units} if units else {}),
        "source": description.source,
    }


def internal_figures(
    original: Table,
    published_audit: Audit,
    recodings: Mapping[str, str],
    seed: int = PUBLIC_SEED,
    notes: Sequence[str] = (),
    attacks: Mapping[str, Any] | None = None,
) -> InternalFigures:
    """Return what only the internal report draws: the principles on the original, true errors of counts, associations.

    `seed`: of the queries of the public figures; formats before 5 state it. `notes`: what only the publisher may know.
    `attacks`: what attackers achieve, as `Attacks.to_dict` returns it.
    """
    covers = covers_of(original, published_audit.table, published_audit.groups, recodings)
    before = audit(original, None, [principle for principle, _ in published_audit.principles])
    tables = {
        "principles": before.to_dict(0)["principles"],
        "levels": levels(before),
        "neighbourhoods": neighbourhoods(before),
        "errors": true_errors(original, published_audit.table, published_audit.groups, covers, seed),
        "contours": contours(before),
        "associations": [
            one.to_dict() for one in associations(original, published_audit.table, published_audit.groups, covers)
        ],
        "notes": list(notes),
        "attacks": [] if attacks is None else attacks["attacks"],
        "unmeasured_attacks": [] if attacks is None else attacks["not_measured"],
    }
    return InternalFigures.model_validate(tables)
